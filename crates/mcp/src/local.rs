//! A server on this machine: a process that ends with us, and a log of its standard error.

use super::McpConnectError;
use super::secret::{ResolvedValues, SecretMask};
use everloop_tools::{CommandHandle, LocalServer};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};

/// Bytes of a log.
const LOG_BYTES_MAX: u64 = 256 * 1024;

/// Bytes of one line of a log.
const LINE_BYTES_MAX: u64 = 4 * 1024;

/// A server to start.
pub(super) struct ServerCommand<'l> {
    pub(super) guard: Option<&'l Path>,
    /// Where it runs: never in a workspace, whose files could take the place of its own.
    pub(super) folder: &'l Path,
    /// Truncated by every start.
    pub(super) log: PathBuf,
    pub(super) program: &'l str,
    pub(super) args: &'l [String],
    pub(super) env: &'l ResolvedValues,
}

/// A server that runs.
pub(super) struct StartedServer {
    pub(super) output: Receiver,
    pub(super) input: Sender,
    pub(super) life: CommandHandle,
}

impl ServerCommand<'_> {
    pub(super) fn start(self) -> Result<StartedServer, McpConnectError> {
        let guard = self.guard.ok_or(McpConnectError::NoGuard)?;
        let log = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.log)
            .map_err(McpConnectError::Start)?;
        let argv: Vec<&str> =
            std::iter::once(self.program).chain(self.args.iter().map(String::as_str)).collect();
        let values = &self.env.values;
        let variables: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = LocalServer { guard, folder: self.folder, argv: &argv, variables: &variables };
        let running = server.start().map_err(McpConnectError::Start)?;
        tokio::spawn(keep_log(running.log, log, self.env.secrets.clone()));
        Ok(StartedServer { output: running.output, input: running.input, life: running.life })
    }
}

/// The writer never blocks: the excess is read and dropped.
async fn keep_log(from: Receiver, mut to: File, secrets: SecretMask) {
    let (mut from, mut line, mut left) = (BufReader::new(from), Vec::new(), LOG_BYTES_MAX);
    loop {
        line.clear();
        match (&mut from).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(n) if n as u64 <= left => {
                left -= n as u64;
                let text = secrets.scrub(&everloop_tools::clean(&line));
                // A log that cannot be written must not end the server.
                let _ = to.write_all(text.as_bytes());
            }
            Ok(_) => left = 0,
        }
    }
}
