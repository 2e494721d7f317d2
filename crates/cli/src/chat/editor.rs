//! The line editor: the terminal's real cursor, history, completion, several lines.
//!
//! It reads on a thread of its own, because it waits for keys. What is printed meanwhile goes
//! through it and stands above the line that is being typed.

use super::history::CleanHistory;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crossterm::event::DisableBracketedPaste;
use crossterm::style::Print;
use everloop_app::slash::completions;
use everloop_text as text;
use reedline::{
    ColumnarMenu, Completer, CompletionResult, EditCommand, Emacs, ExternalPrinter,
    FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode,
    PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion,
    ValidationResult, Validator, default_emacs_keybindings,
};
use std::borrow::Cow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Lines that are remembered.
const HISTORY_MAX: usize = 2_000;

/// Lines of news that wait for the editor at most.
const PRINTED_MAX: usize = 1_000;

const MENU: &str = "commands";
const INTERRUPT: &str = "interrupt";
const ESCAPE: &str = "escape";
const PLAN: &str = "plan";

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditorInput {
    Line(String),
    /// Ctrl-C, on a line that was empty or not.
    Interrupt {
        empty: bool,
    },
    Escape,
    Plan,
    End,
}

/// A line that is wanted.
struct EditorRequest {
    prompt: String,
    /// What stands in it already.
    typed: String,
}

/// Reads lines.
pub(super) struct Editor {
    asks: Sender<EditorRequest>,
    typed: UnboundedReceiver<EditorInput>,
    printer: SyncSender<String>,
}

impl Editor {
    pub(super) fn start(app: &Console) -> Result<Self, Failure> {
        let (asks, asked) = channel();
        let (sender, typed) = unbounded_channel();
        let printer = ExternalPrinter::new(PRINTED_MAX);
        let sent = printer.sender();
        let data = app.home.data();
        let files = EditorFiles { history: data.join("history.txt"), draft: data.join("draft.md") };
        let reading = std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || read(&asked, &sender, printer, &files));
        reading.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
        Ok(Self { asks, typed, printer: sent })
    }

    /// Begins to wait for a line, in which `typed` stands already.
    pub(super) fn ask(&self, prompt: &str, typed: String) {
        // A thread that is gone has said why: the next line is the end.
        let _ = self.asks.send(EditorRequest { prompt: prompt.to_owned(), typed });
    }

    pub(super) async fn next(&mut self) -> EditorInput {
        self.typed.recv().await.unwrap_or(EditorInput::End)
    }

    /// Shows lines above the one that is being typed.
    pub(super) fn print(&self, text: &str) {
        // The chat never waits for its own editor; so much news at once nobody would read.
        let _ = self.printer.try_send(everloop_tools::clean(text.as_bytes()));
    }
}

impl Drop for Editor {
    /// The thread may still wait for keys when a signal ends the chat. The terminal must not stay
    /// as the editor has set it.
    fn drop(&mut self) {
        if crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) {
            let _ = crossterm::execute!(std::io::stdout(), DisableBracketedPaste, Print("\r\n"));
            let _ = crossterm::terminal::disable_raw_mode();
        }
    }
}

fn read(
    asked: &Receiver<EditorRequest>,
    typed: &UnboundedSender<EditorInput>,
    printer: ExternalPrinter<String>,
    files: &EditorFiles,
) {
    let mut editor = editor(printer, files);
    while let Ok(ask) = asked.recv() {
        if !ask.typed.is_empty() {
            editor.run_edit_commands(&[EditCommand::InsertString(ask.typed)]);
        }
        let signal = editor.read_line(&EditorLine(ask.prompt));
        let empty = editor.current_buffer_contents().trim().is_empty();
        let came = match signal {
            Ok(Signal::Success(line)) => {
                // Written now: this thread does not live to see an orderly end.
                let _ = editor.sync_history();
                EditorInput::Line(line.replace("\\\n", "\n"))
            }
            Ok(Signal::HostCommand(name)) if name == INTERRUPT => {
                editor.run_edit_commands(&[EditCommand::Clear]);
                EditorInput::Interrupt { empty }
            }
            Ok(Signal::HostCommand(name)) if name == ESCAPE => EditorInput::Escape,
            Ok(Signal::HostCommand(name)) if name == PLAN => EditorInput::Plan,
            Ok(Signal::CtrlC) => EditorInput::Interrupt { empty: true },
            Ok(Signal::CtrlD) | Err(_) => EditorInput::End,
            Ok(_) => EditorInput::Escape,
        };
        if typed.send(came).is_err() {
            return;
        }
    }
}

/// Where the editor keeps what was typed.
struct EditorFiles {
    history: PathBuf,
    draft: PathBuf,
}

/// A file that nobody else can read, made if it is missing.
fn private(file: &Path) -> bool {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(file).is_ok()
}

fn editor(printer: ExternalPrinter<String>, files: &EditorFiles) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    let host = |name: &str| ReedlineEvent::ExecuteHostCommand(name.to_owned());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), host(INTERRUPT));
    keys.add_binding(KeyModifiers::NONE, KeyCode::Esc, host(ESCAPE));
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('t'), host(PLAN));
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('g'), ReedlineEvent::OpenEditor);
    let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    let complete = ReedlineEvent::UntilFound(complete);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    let menu = ColumnarMenu::default().with_name(MENU);
    let mut editor = Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_completer(Box::new(Commands))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_validator(Box::new(Backslash))
        .with_ansi_colors(terminal::has_colour())
        .use_bracketed_paste(true)
        .with_external_printer(printer);
    if private(&files.history)
        && let Ok(history) = FileBackedHistory::with_file(HISTORY_MAX, files.history.clone())
    {
        editor = editor.with_history(Box::new(CleanHistory(history)));
    }
    with_outside_editor(editor, &files.draft)
}

/// Ctrl-G opens the person's own editor, if they have named one.
fn with_outside_editor(editor: Reedline, draft: &Path) -> Reedline {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let Some(program) = named.filter(|name| !name.trim().is_empty()) else { return editor };
    let mut words = program.split_whitespace();
    let Some(name) = words.next() else { return editor };
    if !private(draft) {
        return editor;
    }
    let Some(name) = everloop_tools::find_program(name) else { return editor };
    let mut command = std::process::Command::new(name);
    command.args(words).arg(draft).env("PATH", everloop_tools::search_path());
    editor.with_buffer_editor(command, draft.to_owned())
}

/// A line that ends with a backslash goes on.
struct Backslash;

impl Validator for Backslash {
    fn validate(&self, line: &str) -> ValidationResult {
        match line.ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Complete,
        }
    }
}

/// The names of commands and what may follow them.
struct Commands;

impl Completer for Commands {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let typed = &line[..pos];
        let start = typed.rfind(' ').map_or(0, |at| at + 1);
        let suggestions: Vec<Suggestion> = completions(typed)
            .into_iter()
            .map(|value| Suggestion {
                value,
                span: Span::new(start, pos),
                append_whitespace: true,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

/// What stands before the cursor.
struct EditorLine(String);

impl Prompt for EditorLine {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(? {}) ", search.term))
    }
}
