//! The state that an unfinished rebase or cherry-pick leaves in a repository.

use super::folders::read_in;
use crate::git_settings::{BYTES_MAX, parse};
use std::os::fd::OwnedFd;

/// Steps of a rebase that run no program.
const STEPS: [&str; 28] = [
    "pick",
    "p",
    "reword",
    "r",
    "edit",
    "e",
    "squash",
    "s",
    "fixup",
    "f",
    "drop",
    "d",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "noop",
    "break",
    "b",
    "update-ref",
    "u",
    "revert",
    "#",
    "",
    "-c",
    "-C",
];

/// Options of a sequence of picks that run no program.
const OPTIONS: [&str; 11] = [
    "options.allow-empty",
    "options.allow-empty-message",
    "options.allow-ff",
    "options.allow-rerere-auto",
    "options.default-msg-cleanup",
    "options.drop-redundant-commits",
    "options.edit",
    "options.keep-redundant-commits",
    "options.mainline",
    "options.record-origin",
    "options.signoff",
];

/// Whether a file of one makes git run nothing: the list of what is left may say `exec`, and a
/// strategy is a program unless it is git's own.
pub(crate) fn is_plain_step(folder: &OwnedFd, name: &str) -> bool {
    let Ok(bytes) = read_in(folder, name, BYTES_MAX) else { return false };
    match name {
        "strategy" => matches!(bytes.trim_ascii(), b"ort" | b"recursive"),
        "opts" => {
            let (options, is_whole) = parse(&bytes);
            let is_plain = |name: &str| OPTIONS.contains(&name);
            is_whole && options.iter().all(|option| is_plain(&option.name))
        }
        _ if name.starts_with("git-rebase-todo") || name == "todo" => {
            let text = String::from_utf8_lossy(&bytes);
            let mut steps = text.split(['\n', '\r']).map(|line| match line.trim_start() {
                line if line.starts_with('#') => "#",
                line => line.split_whitespace().next().unwrap_or_default(),
            });
            steps.all(|step| STEPS.contains(&step))
        }
        _ => true,
    }
}
