//! Where a tool runs: a file that is unchanged here says nothing about a call that ran elsewhere.
//!
//! A place is a data folder on a machine. Two machines may share the folder, and two folders a
//! machine, so both are named.
//!
//! Deliberately absent: proof that a workspace is shared. What another place shows may prove that
//! something happened, never that it did not.

use crate::record::RecordFolder;
use everloop_ports::{Intent, Probe};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Names of the machine, the best first. The second is another one after a restart.
const MACHINE: [&str; 2] = ["/etc/machine-id", "/proc/sys/kernel/random/boot_id"];

/// The name of this place, for the intent; nothing if it has none.
pub async fn here(records: Option<PathBuf>) -> Option<String> {
    let look = move || {
        let folder = match records {
            Some(folder) => RecordFolder::new(folder).place().ok()?,
            None => String::new(),
        };
        let machine = MACHINE.iter().filter_map(|file| fs::read_to_string(file).ok());
        let machine = machine.map(|id| id.trim().to_owned()).find(|id| !id.is_empty());
        Some(format!("{folder}@{}", machine.unwrap_or_default()))
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// What a probe can say of a call that began elsewhere, or at an unknown place.
pub(crate) async fn only_here(found: Probe, intent: &Intent, records: Option<PathBuf>) -> Probe {
    match (found, here(records).await, &intent.before["place"]) {
        (found @ Probe::Happened(_), ..) => found,
        (found, Some(here), Value::String(there)) if here == *there => found,
        (Probe::Unknown(why), ..) => Probe::Unknown(why),
        (Probe::DidNot, ..) => {
            Probe::unknown("it began in another place, whose files are not here")
        }
    }
}
