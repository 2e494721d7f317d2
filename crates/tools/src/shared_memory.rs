//! How much shared memory some processes hold. The kernel limits the private memory of a process,
//! not its shared memory.
//!
//! Deliberately absent: System V segments that no process has attached.

use rustix::process::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes of shared memory on the whole machine: a cheap check before an expensive one.
pub(crate) fn of_machine() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    bytes_of(&text, "Shmem:")
}

/// Bytes that these processes hold, each page once.
pub(crate) fn of_processes(pids: &[Pid]) -> u64 {
    let mut mapped = 0;
    let mut files = BTreeMap::new();
    for pid in pids {
        let folder = format!("/proc/{}", pid.as_raw_pid());
        let text = fs::read_to_string(format!("{folder}/smaps_rollup")).unwrap_or_default();
        mapped += bytes_of(&text, "Pss_Shmem:");
        for entry in fs::read_dir(format!("{folder}/fd")).into_iter().flatten().flatten() {
            if let (true, Ok(found)) = (is_memory(&entry.path()), fs::metadata(entry.path())) {
                files.insert((found.dev(), found.ino()), found.blocks() * 512);
            }
        }
    }
    // What is mapped of a file is in both numbers, so the larger one counts.
    mapped.max(files.values().sum())
}

/// Whether an open file is memory without a name on any disk.
fn is_memory(link: &Path) -> bool {
    let goal = fs::read_link(link).unwrap_or_default();
    goal.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// A line such as `Shmem:   120 kB`.
fn bytes_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or_default() * 1_024
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn a_line_is_read_in_bytes() {
        let text = "Shmem:             120 kB\nShmemHugePages:      7 kB\n";
        assert_eq!(bytes_of(text, "Shmem:"), 120 * 1_024);
        assert_eq!(bytes_of(text, "None:"), 0);
    }
}
