//! Room for the temporary files of queries: SQLite sorts on the disk, and a query without end would
//! fill it for everybody.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the disk is looked at.
const OFTEN: Duration = Duration::from_millis(100);

/// Where SQLite looks for a folder for temporary files, after its variables.
const FOLDERS: [&str; 3] = ["/var/tmp", "/usr/tmp", "/tmp"];

/// What a query may take of the disk: half of what was free when it began.
#[derive(Debug)]
pub(crate) struct TempRoom {
    folder: PathBuf,
    /// Bytes that have to stay free.
    least: u64,
    looked_at: Instant,
}

impl TempRoom {
    /// The room for a query that begins now.
    pub(crate) fn new() -> Self {
        let named = ["SQLITE_TMPDIR", "TMPDIR"].into_iter().filter_map(std::env::var_os);
        let mut folders = named.map(PathBuf::from).chain(FOLDERS.map(PathBuf::from));
        let folder = folders.find(|folder| folder.is_dir()).unwrap_or_default();
        let mut room = Self { folder, least: 0, looked_at: Instant::now() };
        room.least = room.free().map_or(0, |free| free / 2);
        room
    }

    /// Whether it is used up. The disk is only looked at now and then.
    pub(crate) fn is_used_up(&mut self) -> bool {
        if self.looked_at.elapsed() < OFTEN {
            return false;
        }
        self.looked_at = Instant::now();
        self.free().is_some_and(|free| free < self.least)
    }

    /// Bytes that are free; none where that cannot be found out.
    fn free(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(&self.folder).ok()?;
        found.f_frsize.checked_mul(found.f_bavail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_used_up_when_less_is_free_than_has_to_stay() {
        let mut room = TempRoom::new();
        let is_used_up = |room: &mut TempRoom| {
            room.looked_at = Instant::now().checked_sub(OFTEN).unwrap();
            room.is_used_up()
        };
        assert!(room.least > 0, "{room:?}");
        room.least = 0;
        assert!(!is_used_up(&mut room));
        room.least = u64::MAX;
        assert!(is_used_up(&mut room));
        assert!(!room.is_used_up(), "it has been looked at just now");
    }
}
