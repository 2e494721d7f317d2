//! Hands an open file to another process over a socket.
//!
//! Inheriting it would be shorter, but a process that is started at the same moment by another
//! thread would inherit it too and hold it open.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// A file travels with at least one byte.
const CARRIER: [u8; 1] = [b'F'];

/// Sends an open file; the receiver has it even after we closed ours.
pub(crate) fn send(socket: impl AsFd, file: impl AsFd) -> io::Result<()> {
    let files = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut cargo = SendAncillaryBuffer::new(&mut space);
    if !cargo.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    sendmsg(socket, &[IoSlice::new(&CARRIER)], &mut cargo, SendFlags::empty())?;
    Ok(())
}

/// Takes the file that was sent.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut carrier = CARRIER;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut cargo = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut carrier)];
    recvmsg(socket, &mut parts, &mut cargo, RecvFlags::empty())?;
    let files = cargo.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.flatten().next().ok_or(io::ErrorKind::UnexpectedEof)?;
    fcntl_setfd(&file, FdFlags::CLOEXEC)?;
    Ok(file)
}
