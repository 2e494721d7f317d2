//! No core files: one would hold whatever this process knows, keys included, in the folder where it
//! works.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Forbids core files of this process and of all that it starts, and closes its memory to others of
/// the account. Where the system refuses, things stay as they are.
pub fn leave_no_core() {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // A core may also be handed to a program, whatever its size.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
