//! `read_file`: a text file of the workspace, as far as it fits.

use crate::{CallContext, Done, Tool, Workspace, clean, clip};
use everloop_types::{Approval, EffectClass, Flow, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are read of a file, however long it is.
const READ_BYTES_MAX: u64 = 2_000_000;

/// The arguments of `read_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileArgs {
    /// Path of the file, relative to the workspace.
    pub path: PathBuf,
}

/// Reads a file.
#[derive(Debug)]
pub struct ReadFile {
    /// Where it may read.
    pub workspace: Arc<Workspace>,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    type Args = ReadFileArgs;

    fn description(&self) -> &'static str {
        "Read a text file of the workspace. Long files are cut, with a line that says how much is \
         left out."
    }

    fn handling(&self) -> Handling {
        reading()
    }

    fn text_arg() -> Option<&'static str> {
        Some("path")
    }

    async fn call(&self, args: ReadFileArgs, context: &CallContext) -> Done {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        blocking(move || read(&workspace, &args.path, chars)).await
    }
}

/// How the runtime treats a tool that only reads files.
pub(crate) fn reading() -> Handling {
    Handling {
        class: EffectClass::Pure,
        approval: Approval::Allow,
        on_unknown: OnUnknown::TellModel,
        timeout_ms: 30_000,
        grace_ms: 1_000,
        flow: Some(Flow::workspace()),
        ..Handling::default()
    }
}

/// Runs file work on a thread of its own: a slow disk must not hold up other runs.
pub(crate) async fn blocking(work: impl FnOnce() -> Observation + Send + 'static) -> Done {
    match tokio::task::spawn_blocking(work).await {
        Ok(seen) => Done::Seen(seen),
        Err(error) => Done::Seen(Observation::error(format!("the tool broke off: {error}"))),
    }
}

fn read(workspace: &Workspace, path: &Path, chars_max: usize) -> Observation {
    let (bytes, size) = match workspace.read(path, READ_BYTES_MAX) {
        Ok(found) => found,
        Err(error) => return Observation::error(clip::head(&error.text(), chars_max)),
    };
    if bytes.contains(&0) {
        let text = format!("{} is a binary file of {size} bytes; not shown", path.display());
        return Observation::error(clip::head(&text, chars_max));
    }
    let text = clean(&bytes);
    if size <= bytes.len() as u64 {
        return Observation::ok(clip::head(&text, chars_max));
    }
    let note = format!("\n[only the first {} of {size} bytes were read]", bytes.len());
    let shown = clip::head(&text, chars_max.saturating_sub(note.len()));
    Observation::ok(clip::head(&(shown + &note), chars_max))
}
