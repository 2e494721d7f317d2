//! `search_code`: lines of the workspace's files that hold a text, looked up as they are now.
//!
//! ```text
//!   walk (.gitignore, nothing hidden, no links) ──► open within the workspace ──► lines that match
//!     │    └── the index rules out files that are as they were ──► not opened
//!     └── every bound, a cancel and the deadline are looked at between two files
//! ```
//!
//! The walk only finds names. Each file is opened like any other file of the workspace, so a folder
//! that is replaced by a link meanwhile is refused.
//!
//! Deliberately absent: matches over several lines, files that git would not keep. The index is
//! made by `index_repo`; without one every file is opened.

use crate::access::closes_file;
use crate::clip::counted;
use crate::code_index::{CodeIndex, FileKind, IndexAnswer, IndexSetting, IndexStamp, query_grams};
use crate::read_file::reading;
use crate::{Workspace, clean, clip};
use everloop_ports::{AccessRules, CallContext, Tool, ToolReturn};
use everloop_types::{DataFlow, Ending, Handling, Observation};
use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, Walk, WalkBuilder};
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Matching lines that are shown; more than that do not help a model to find the one.
const MATCHES_MAX: usize = 100;

/// Characters of a line that is shown.
const LINE_CHARS_MAX: usize = 300;

/// Larger files are data, not code; they are counted, not searched.
pub(crate) const FILE_BYTES_MAX: u64 = 4_000_000;

/// Bytes and entries of a whole search.
const BYTES_MAX: u64 = 1_000_000_000;
const ENTRIES_MAX: usize = 500_000;

/// A search that takes longer tells what it has found so far.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Memory of a compiled expression.
const EXPRESSION_BYTES_MAX: usize = 4_000_000;

/// The arguments of `search_code`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchCodeArgs {
    /// `a|b` finds either one.
    pub query: String,
    /// Folder or file.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// Such as src/**/*.ts.
    #[serde(default)]
    pub glob: Option<String>,
    /// As an expression.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub regex: bool,
    /// Ignore case.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub ignore_case: bool,
}

/// Searches the files.
#[derive(Debug)]
pub struct SearchCode {
    /// Where it may look.
    pub workspace: Arc<Workspace>,
    /// Where its index is.
    pub index: Option<IndexSetting>,
}

impl Tool for SearchCode {
    const NAME: &'static str = "search_code";
    type Args = SearchCodeArgs;

    fn description(&self) -> &'static str {
        "Find text in files: path:line:text. Skips dot files, binary and ignored ones."
    }

    fn handling(&self) -> Handling {
        Handling { flow: Some(DataFlow::below()), ..reading() }
    }

    fn text_arg() -> Option<&'static str> {
        Some("query")
    }

    fn leads_to(&self, args: &SearchCodeArgs) -> Option<String> {
        self.workspace.leads_to(args.path.as_deref()?)
    }

    async fn call(&self, args: SearchCodeArgs, context: &CallContext) -> ToolReturn {
        let (workspace, chars) = (Arc::clone(&self.workspace), context.observation_chars);
        let soon = Instant::now() + TIME_MAX;
        let until = context.deadline.map_or(soon, |deadline| deadline.min(soon));
        let bounds =
            SearchBounds { cancel: context.cancel.clone(), until, bars: context.bars.clone() };
        let index = self.index.clone();
        crate::read_file::blocking(move || match search(&workspace, &args, &bounds, index) {
            Ok(_) if bounds.cancel.is_cancelled() => {
                Observation { ending: Ending::Canceled, text: "stopped: canceled".to_owned() }
            }
            Ok(found) => Observation::ok(found.shown(chars)),
            Err(words) => Observation::error(clip::head(&words, chars)),
        })
        .await
    }
}

/// When a search has to stop, and what is closed to it.
struct SearchBounds {
    cancel: CancellationToken,
    until: Instant,
    bars: AccessRules,
}

/// What was found, and why there may be more.
#[derive(Default)]
struct CodeMatches {
    lines: Vec<String>,
    files: usize,
    bytes: u64,
    too_large: usize,
    closed: usize,
    stopped: Option<String>,
    /// How a query that is not one plain text was read.
    read_as: Option<String>,
    /// Files that the index ruled out.
    ruled_out: usize,
}

impl CodeMatches {
    fn shown(self, chars_max: usize) -> String {
        let mut notes = Vec::new();
        if self.lines.is_empty() {
            let files = counted(self.files as u64, "file");
            notes.push(format!("nothing was found in {files}"));
        }
        notes.extend(self.read_as);
        if self.ruled_out > 0 {
            let files = counted(self.files as u64, "file");
            notes.push(format!("[the index ruled out {} of {files}]", self.ruled_out));
        }
        notes.extend(self.stopped.map(|why| format!("[{why}: there may be more; narrow it]")));
        if self.too_large > 0 {
            let files = counted(self.too_large as u64, "file");
            notes.push(format!("[{files} too large, not searched]"));
        }
        if self.closed > 0 {
            let files = counted(self.closed as u64, "file");
            notes.push(format!("[{files} denied by a rule, not searched]"));
        }
        let notes = notes.join("\n");
        let room = chars_max.saturating_sub(notes.chars().count() + 1);
        let lines = clip::head(&self.lines.join("\n"), room);
        let parts = [lines, notes].into_iter().filter(|part| !part.is_empty());
        clip::head(&parts.collect::<Vec<_>>().join("\n"), chars_max)
    }
}

fn search(
    workspace: &Workspace,
    args: &SearchCodeArgs,
    bounds: &SearchBounds,
    index: Option<IndexSetting>,
) -> Result<CodeMatches, String> {
    let expression = expression(args)?;
    let glob = args.glob.as_deref().map(glob).transpose()?;
    let start = args.path.clone().unwrap_or_else(|| PathBuf::from("."));
    let start = workspace.folder_or_file(&start).map_err(|error| error.text())?;
    // The walk asks about every folder but the first.
    if !can_be_walked(&workspace.root().join(&start)) {
        return Err("its .gitignore or .ignore is not a plain file, so it is not read".to_owned());
    }
    let index = index.and_then(|setting| answer_of_index(&setting, workspace.root(), args));
    let mut found = CodeMatches { read_as: any_of(args), ..CodeMatches::default() };
    for (number, entry) in walk(workspace, &start).enumerate() {
        if bounds.cancel.is_cancelled() {
            break;
        }
        let late = Instant::now() >= bounds.until;
        if late || number >= ENTRIES_MAX || found.bytes >= BYTES_MAX {
            let why = if late { "out of time" } else { "too many files" };
            found.stopped = Some(why.to_owned());
            break;
        }
        // A file that cannot be read, or is gone, does not end the search.
        let Ok(entry) = entry else { continue };
        let Some(relative) = file_of(workspace, &entry) else { continue };
        if glob.as_ref().is_some_and(|glob| !glob.is_match(&relative)) {
            continue;
        }
        if closes_file(&bounds.bars, &relative) {
            found.closed += 1;
            continue;
        }
        if let Some(kind) = ruled_out(index.as_ref(), &relative, &entry) {
            found.files += 1;
            found.ruled_out += 1;
            found.too_large += usize::from(kind == FileKind::TooLarge);
            continue;
        }
        if search_file(workspace, &relative, &expression, &mut found).is_break() {
            found.stopped = Some(format!("more than {MATCHES_MAX} lines"));
            break;
        }
    }
    Ok(found)
}

/// What the index knows about a query. An expression is not looked up, nor is a text of one or two
/// letters: then every file is opened, as without an index.
fn answer_of_index(
    setting: &IndexSetting,
    root: &Path,
    args: &SearchCodeArgs,
) -> Option<IndexAnswer> {
    // Letters of other scripts have more than one other form.
    if args.regex || (args.ignore_case && !args.query.is_ascii()) {
        return None;
    }
    let words = alternatives(args).unwrap_or_else(|| vec![args.query.as_str()]);
    let parts: Vec<Vec<String>> = words.into_iter().map(query_grams).collect::<Option<_>>()?;
    CodeIndex::open_to_read(setting, root)?.candidates(&parts).ok()
}

/// What kind of file it is, if the index knows that nothing can be found in it.
fn ruled_out(index: Option<&IndexAnswer>, path: &Path, entry: &DirEntry) -> Option<FileKind> {
    let index = index?;
    let found = entry.metadata().ok()?;
    index.rules_out(path, IndexStamp::of(&found))
}

fn expression(args: &SearchCodeArgs) -> Result<Regex, String> {
    if args.query.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    if args.query.contains('\n') {
        return Err("the query holds a line break; each line is searched by itself".to_owned());
    }
    let query = match alternatives(args) {
        Some(words) => words.iter().map(|word| regex::escape(word)).collect::<Vec<_>>().join("|"),
        None if args.regex => args.query.clone(),
        None => regex::escape(&args.query),
    };
    let mut builder = RegexBuilder::new(&query);
    builder.case_insensitive(args.ignore_case).size_limit(EXPRESSION_BYTES_MAX);
    builder.build().map_err(|error| format!("not a regular expression: {error}"))
}

/// The words of a plain query such as `color|background`, which means either. A bar with nothing or
/// a blank beside it is code (`a || b`, `|x| x`, `ls | wc`), and is searched literally.
fn alternatives(args: &SearchCodeArgs) -> Option<Vec<&str>> {
    let words: Vec<&str> = args.query.split('|').collect();
    let is_word = |word: &&str| !word.is_empty() && *word == word.trim();
    (!args.regex && words.len() > 1 && words.iter().all(is_word)).then_some(words)
}

fn any_of(args: &SearchCodeArgs) -> Option<String> {
    let words = alternatives(args)?;
    Some(format!("[lines with any of: {}]", words.join(", ")))
}

/// A pattern without a slash is meant for the name, wherever the file is.
fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.trim_start_matches("./");
    let everywhere = format!("**/{pattern}");
    let pattern = if pattern.contains('/') { pattern } else { &everywhere };
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("not a glob: {error}"))
}

/// In a fixed order, so that the same files give the same answer.
pub(crate) fn walk(workspace: &Workspace, start: &Path) -> Walk {
    WalkBuilder::new(workspace.root().join(start))
        .current_dir(workspace.root())
        .follow_links(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| {
            !entry.file_name().eq_ignore_ascii_case(".git") && can_be_walked(entry.path())
        })
        .sort_by_file_name(Ord::cmp)
        .build()
}

/// Whether the lists of what to leave out in a folder are plain files. The walk opens them by their
/// names, and a link to a device or a pipe would block it.
pub(crate) fn can_be_walked(folder: &Path) -> bool {
    [".gitignore", ".ignore"].iter().all(|name| {
        let found = folder.join(name).symlink_metadata();
        found.map_or(true, |found| found.is_file())
    })
}

/// The path of an entry within the workspace, if it is a file.
pub(crate) fn file_of(workspace: &Workspace, entry: &DirEntry) -> Option<PathBuf> {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let relative = entry.path().strip_prefix(workspace.root()).ok()?;
    is_file.then(|| relative.strip_prefix(".").unwrap_or(relative).to_owned())
}

/// Breaks off when enough was found.
fn search_file(
    workspace: &Workspace,
    path: &Path,
    expression: &Regex,
    found: &mut CodeMatches,
) -> ControlFlow<()> {
    // A protected file, a link that appeared, a pipe: refused like any other time.
    let Ok((bytes, size)) = workspace.read(path, FILE_BYTES_MAX) else {
        return ControlFlow::Continue(());
    };
    found.files += 1;
    found.bytes += bytes.len() as u64;
    if bytes.contains(&0) {
        return ControlFlow::Continue(());
    }
    if size > bytes.len() as u64 {
        found.too_large += 1;
        return ControlFlow::Continue(());
    }
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !expression.is_match(line) {
            continue;
        }
        if found.lines.len() == MATCHES_MAX {
            return ControlFlow::Break(());
        }
        let text = clip_line(&clean(line));
        let path = clean(path.to_string_lossy().as_bytes()).replace('\n', " ");
        found.lines.push(format!("{path}:{}:{text}", number + 1));
    }
    ControlFlow::Continue(())
}

fn clip_line(line: &str) -> String {
    let line = line.trim_end().replace('\n', " ");
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", &line[..end]),
        None => line,
    }
}
