//! Open files that this process inherited: we keep them, and none of our children gets them.
//!
//! A descriptor bypasses every sandbox: a shell's `exec 3<file`, a build's job server, a socket
//! that a service manager handed over.

/// The first descriptor that is neither input nor output.
const FIRST: i32 = 3;

/// Hands no file that is open now on to a program that this process starts, or becomes.
///
/// Call it before anything else starts threads.
pub fn hand_on_no_files() {
    close_fds::set_fds_cloexec(FIRST, &[]);
}
