//! The input of a chat: keys become lines, the same way while a run works and while nothing does.

use super::completing::ChatCompletions;
use crossterm::event::{Event, KeyCode, KeyEvent};
use everloop_app::secrets;
use everloop_console::screen::ScreenTerminal;
use everloop_console::{Console, Exit, Failure, screen, terminal};
use everloop_terminal::{
    EditorEffect, EditorTexts, InputHistory, InstantAnswers, InstantStep, KeyInput, KeyReader,
    LineEditor,
};
use everloop_text as text;
use everloop_types::Lang;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A second Esc within this time goes back in the conversation.
const ESCAPE_AGAIN: Duration = Duration::from_millis(800);

/// How long nothing may have been typed before a question that allows something can be answered.
const QUIET: Duration = Duration::from_millis(120);

/// Keys that are waited out at most.
const QUIET_KEYS_MAX: usize = 10_000;

/// What stands before the input until a question can be answered.
const NOT_YET: &str = "… ";

/// Lines of a message above which only its beginning stays on the screen, and how many stay.
const SENT_LINES_MAX: usize = 20;
const SENT_LINES_SHOWN: usize = 5;

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditorInput {
    Line(String),
    /// An answer of one key; whether the return key followed it.
    Instant(char, bool),
    /// Ctrl-C, on a line that was empty or not.
    Interrupt {
        empty: bool,
    },
    Escape,
    /// Esc twice on an empty line.
    Rewind,
    Plan,
    Unfold,
    /// The terminal has another size, or was cleared.
    Redraw,
    /// Ctrl-D.
    End,
    /// The terminal is gone.
    Gone,
}

/// Reads lines.
pub(super) struct Editor {
    keys: KeyReader,
    line: LineEditor,
    texts: EditorTexts,
    instant: InstantAnswers,
    completions: ChatCompletions,
    prompt: Option<String>,
    lang: Lang,
    draft: PathBuf,
    escaped: Option<Instant>,
    /// Dropped last: it gives the terminal back.
    _terminal: ScreenTerminal,
}

impl Editor {
    pub(super) fn start(app: &Console, workspace: &Path) -> Result<Self, Failure> {
        let screen = ScreenTerminal::open();
        let keys = KeyReader::start()
            .map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
        screen.set_reader(keys.switch());
        let data = app.home.data();
        Ok(Self {
            keys,
            line: LineEditor::new(InputHistory::open(&data.join("history.txt"))),
            texts: texts(app.lang),
            instant: InstantAnswers::default(),
            completions: ChatCompletions::new(app, workspace),
            prompt: None,
            lang: app.lang,
            // Two chats of one home have a draft each.
            draft: data.join(format!("draft-{}.md", std::process::id())),
            escaped: None,
            _terminal: screen,
        })
    }

    /// What Tab and the menu propose.
    pub(super) fn completions(&mut self) -> &mut ChatCompletions {
        &mut self.completions
    }

    /// Shows the input. `typed` stands in it if nothing else does. The answers of one key are the
    /// first letters of `instant`.
    pub(super) fn ask(&mut self, app: &Console, prompt: &str, typed: &str, instant: &[&str]) {
        if self.lang != app.lang {
            self.lang = app.lang;
            self.texts = texts(app.lang);
        }
        self.completions.set_app(app);
        if !typed.is_empty() {
            self.put(typed);
        }
        self.prompt = Some(prompt.to_owned());
        self.instant.set(instant);
        self.escaped = None;
        self.draw();
    }

    /// No key answers at once any more: the question is gone.
    pub(super) fn forget_question(&mut self, prompt: &str) {
        self.instant.set(&[]);
        if self.prompt.is_some() {
            self.prompt = Some(prompt.to_owned());
        }
        self.draw();
    }

    /// Puts text into the line. What was typed before stands behind it.
    pub(super) fn put(&mut self, text: &str) {
        let before = self.line.take();
        let gap = if before.is_empty() { "" } else { "\n" };
        self.line.set(&format!("{text}{gap}{before}"));
    }

    /// A line as it stays on the screen once it is sent: of a long one the beginning.
    pub(super) fn folded(&self, line: &str) -> String {
        let count = line.lines().count();
        if count <= SENT_LINES_MAX {
            return line.to_owned();
        }
        let start: Vec<&str> = line.lines().take(SENT_LINES_SHOWN).collect();
        format!("{}\n{}", start.join("\n"), (self.texts.pasted)(count - SENT_LINES_SHOWN))
    }

    /// Whether nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Drops what is typed.
    pub(super) fn discard(&mut self) {
        self.line.take();
    }

    /// Takes the input away; what is typed stays for the next time.
    pub(super) fn hide(&mut self) {
        self.prompt = None;
        self.instant.set(&[]);
        self.draw();
    }

    /// Waits until nobody types any more. What comes meanwhile was not typed as an answer: it stays
    /// in the line and sends nothing.
    pub(super) async fn await_quiet(&mut self) {
        self.prompt = Some(NOT_YET.to_owned());
        self.draw();
        for _ in 0..QUIET_KEYS_MAX {
            let Ok(Some(input)) = tokio::time::timeout(QUIET, self.keys.next()).await else {
                break;
            };
            match input.event {
                Event::Key(key) if key.code == KeyCode::Enter => self.line.insert("\n"),
                Event::Key(key) => drop(self.line.press(key, &self.completions)),
                Event::Paste(text) => drop(self.line.paste(&text, &self.completions)),
                _ => {}
            }
            self.draw();
        }
    }

    pub(super) async fn next(&mut self) -> EditorInput {
        loop {
            let due = self.instant.due();
            let wait = tokio::time::sleep_until(due.unwrap_or_else(Instant::now).into());
            let input = tokio::select! {
                biased;
                input = self.keys.next() => input,
                () = wait, if due.is_some() => {
                    if let Some(answer) = self.instant.fire_due(Instant::now()) {
                        return EditorInput::Instant(answer, false);
                    }
                    continue;
                }
            };
            let Some(input) = input else { return EditorInput::Gone };
            if let Some(came) = self.take_all(input) {
                return came;
            }
        }
    }

    /// Takes a key and all that have come behind it; then the line is drawn once.
    fn take_all(&mut self, first: KeyInput) -> Option<EditorInput> {
        let mut next = Some(first);
        while let Some(input) = next {
            if let Some(came) = self.take(input) {
                self.draw();
                return Some(came);
            }
            next = self.keys.try_next();
        }
        self.draw();
        None
    }

    fn take(&mut self, input: KeyInput) -> Option<EditorInput> {
        let key = match input.event {
            Event::Key(key) => key,
            Event::Paste(text) => {
                self.line.paste(&text, &self.completions);
                return None;
            }
            Event::Resize(..) => return Some(EditorInput::Redraw),
            _ => return None,
        };
        match self.instant.take(key, input.at, self.line.is_empty()) {
            InstantStep::Pass => {}
            InstantStep::Text(text) => self.line.insert(&text),
            InstantStep::Held | InstantStep::Dropped => return None,
            InstantStep::Fire(answer, sent) => return Some(EditorInput::Instant(answer, sent)),
        }
        self.press(key, input.at)
    }

    fn press(&mut self, key: KeyEvent, at: Instant) -> Option<EditorInput> {
        let was_empty = self.line.is_empty();
        match self.line.press(key, &self.completions) {
            EditorEffect::Nothing | EditorEffect::Changed => None,
            EditorEffect::Send(line) => {
                self.line.remember(&secrets::redactor().text(&line));
                Some(EditorInput::Line(line))
            }
            EditorEffect::Interrupt { was_empty } => {
                Some(EditorInput::Interrupt { empty: was_empty })
            }
            EditorEffect::Escape => {
                let before = self.escaped.replace(at).filter(|_| was_empty);
                let again = before.is_some_and(|before| at - before < ESCAPE_AGAIN);
                Some(if again { EditorInput::Rewind } else { EditorInput::Escape })
            }
            EditorEffect::End => Some(EditorInput::End),
            EditorEffect::ShowPlan => Some(EditorInput::Plan),
            EditorEffect::Unfold => Some(EditorInput::Unfold),
            EditorEffect::ClearScreen => {
                screen::clear();
                Some(EditorInput::Redraw)
            }
            EditorEffect::OpenEditor => {
                self.edit_outside();
                None
            }
        }
    }

    fn draw(&self) {
        let Some(prompt) = &self.prompt else {
            return screen::draw_input(|_| (None, Vec::new()));
        };
        screen::draw_input(|room| {
            let input = self.line.rows(prompt, self.instant.held(), room, &self.texts);
            let color = terminal::has_color();
            let menu = self.line.menu().map(|menu| menu.rows(room.0, color));
            (Some(input), menu.unwrap_or_default())
        });
    }

    /// Lets the person write in the editor that they have named.
    fn edit_outside(&mut self) {
        let Some(mut command) = outside_editor(&self.draft) else {
            terminal::print_line(&text::chat::no_editor().in_lang(self.lang));
            return;
        };
        if let Err(error) = write_private(&self.draft, &self.line.content()) {
            terminal::print_line(&text::error::system(&error).in_lang(self.lang));
            return;
        }
        let ended = {
            let _own = screen::suspend();
            command.status()
        };
        let written = ended.and_then(|_| std::fs::read_to_string(&self.draft));
        let _ = std::fs::remove_file(&self.draft);
        match written {
            Ok(written) => self.line.set(written.trim_end_matches('\n')),
            Err(error) => terminal::print_line(&text::error::system(&error).in_lang(self.lang)),
        }
    }
}

fn texts(lang: Lang) -> EditorTexts {
    EditorTexts {
        search: text::chat::search_history().in_lang(lang),
        pasted: Box::new(move |lines| text::chat::pasted(&lines).in_lang(lang)),
    }
}

fn write_private(file: &Path, content: &str) -> std::io::Result<()> {
    // What an earlier process of the same number left keeps neither its content nor its rights.
    let _ = std::fs::remove_file(file);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(file)?.write_all(content.as_bytes())
}

/// The editor that the person has named, about to open the file.
fn outside_editor(draft: &Path) -> Option<std::process::Command> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let program = named.filter(|name| !name.trim().is_empty())?;
    let mut words = program.split_whitespace();
    let name = everloop_tools::find_program(words.next()?)?;
    let mut command = std::process::Command::new(name);
    command.args(words).arg(draft).env("PATH", everloop_tools::search_path());
    Some(command)
}
