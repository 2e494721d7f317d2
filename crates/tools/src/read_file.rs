//! `read_file`: a text file of the workspace, as far as it fits.

use crate::clip::counted;
use crate::near_names::describe_error;
use crate::replace::short_hash;
use crate::write_file::judged;
use crate::{Workspace, clean, clip};
use everloop_ports::{CallContext, CallPolicy, Tool, ToolReturn};
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes that are read of a file, however long it is.
const READ_BYTES_MAX: u64 = 2_000_000;

/// The arguments of `read_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileArgs {
    /// The file.
    pub path: PathBuf,
    /// Counted from 1.
    #[serde(default)]
    pub from_line: Option<usize>,
    /// For expect_hash.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub hash: bool,
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
        "Read a text file. A long one is cut; from_line reads on."
    }

    fn handling(&self) -> Handling {
        reading()
    }

    fn text_arg() -> Option<&'static str> {
        Some("path")
    }

    fn leads_to(&self, args: &ReadFileArgs) -> Option<String> {
        self.workspace.leads_to(&args.path)
    }

    fn is_delicate(&self, args: &ReadFileArgs) -> bool {
        self.workspace.outside(&args.path).is_some()
    }

    async fn judge(&self, args: &ReadFileArgs) -> CallPolicy {
        judged(self.is_delicate(args))
    }

    async fn call(&self, args: ReadFileArgs, context: &CallContext) -> ToolReturn {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        blocking(move || read(&workspace, &args, chars)).await
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
        flow: Some(DataFlow::workspace()),
        ..Handling::default()
    }
}

/// Runs file work on a thread of its own: a slow disk must not hold up other runs.
pub(crate) async fn blocking(work: impl FnOnce() -> Observation + Send + 'static) -> ToolReturn {
    match tokio::task::spawn_blocking(work).await {
        Ok(seen) => ToolReturn::Seen(seen),
        Err(error) => ToolReturn::Seen(Observation::error(format!("the tool broke off: {error}"))),
    }
}

fn read(workspace: &Workspace, args: &ReadFileArgs, chars_max: usize) -> Observation {
    let path = &args.path;
    let (bytes, size) = match workspace.read(path, READ_BYTES_MAX) {
        Ok(found) => found,
        Err(error) => {
            return Observation::error(clip::head(&describe_error(workspace, &error), chars_max));
        }
    };
    if bytes.contains(&0) {
        let size = counted(size, "byte");
        let text = format!("{} is a binary file of {size}; not shown", path.display());
        return Observation::error(clip::head(&text, chars_max));
    }
    let text = clean(&bytes);
    let text = from_line(&text, args.from_line.unwrap_or(1));
    let note = match size > bytes.len() as u64 {
        true => format!("[only the first {} of {size} bytes were read]", bytes.len()),
        false if args.hash => hash_note(&bytes),
        // A loop may hand the text on as the content of another file, so it is nothing but that.
        false => return Observation::ok(clip::head(text, chars_max)),
    };
    let mut shown = clip::head(text, chars_max.saturating_sub(note.len() + 1));
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    Observation::ok(clip::head(&(shown + &note), chars_max))
}

/// With the note in between, a last line without a newline would look like any other.
fn hash_note(bytes: &[u8]) -> String {
    let hash = short_hash(bytes);
    match bytes.last() {
        None | Some(b'\n') => format!("[hash {hash}]"),
        Some(_) => format!("[hash {hash}; no newline at the end]"),
    }
}

fn from_line(text: &str, line: usize) -> &str {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    &text[before..]
}
