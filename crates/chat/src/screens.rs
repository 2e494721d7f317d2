//! What the chat shows as commands of the shell do (`/setup`, `/doctor`, `/mcp`, `/memory edit`),
//! and the person's own commands (`!ls`).

use super::editor::EditorInput;
use super::look::keep_for_later;
use super::person::TerminalUi;
use super::{Chat, clipboard};
use everloop_app::AppError;
use everloop_app::context::custom_commands::CustomCommand;
use everloop_app::conversation::{ChatScreen, CommandWatch, OwnCommandEnd, Queue, Reaction};
use everloop_console::show::{own_command_line, seen_line, status_row, turning_mark};
use everloop_console::{Console, Failure, LineMode, screen, terminal};
use everloop_ports::OnOutput;
use everloop_text::{self as text, Meaning};
use everloop_types::{Ending, one_line, spelled};
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// Lines of a stranger's command that are shown before it is used.
const SHOWN_LINES: usize = 40;

/// How often the status of a command moves.
const TICK: Duration = Duration::from_millis(250);

/// What a command of the shell does while a chat waits.
pub type PageFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + 'a>>;

/// A command of the shell that a chat shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellPage<'a> {
    /// What is there and whether it works.
    Doctor,
    /// The MCP servers.
    Mcp,
    /// The memory of this workspace, in the person's editor.
    EditMemory(&'a Path),
    /// The tour, without pauses: the chat has the keys.
    Tour,
}

/// Commands of the shell that a chat shows too. The program that opens the chat has them.
pub trait ShellPages {
    /// Asks for a model and its key; the console with the settings that were chosen.
    fn set_up<'a>(&'a self, app: &'a Console) -> PageFuture<'a, Console>;

    /// Shows what the command shows.
    fn show<'a>(&'a self, app: &'a Console, page: ShellPage<'a>) -> PageFuture<'a, ()>;
}

impl TerminalUi {
    /// Shows a screen. Says whether the chat has to begin again with other settings.
    pub(super) async fn show_screen(&mut self, screen: ChatScreen) -> bool {
        let _lines = LineMode::begin();
        if screen == ChatScreen::Setup {
            return match self.chat.pages.set_up(&self.chat.app).await {
                Ok(console) => {
                    self.set_up = Some(console);
                    true
                }
                Err(failure) => {
                    say_failure(&failure);
                    false
                }
            };
        }
        if let Err(failure) = shown(&self.chat, screen).await {
            say_failure(&failure);
        }
        false
    }

    /// Shows a command that came with the workspace, and asks once whether it may be used.
    pub(super) async fn approve_command(&mut self, command: &CustomCommand) -> bool {
        let chat = &self.chat;
        let (name, file) = (&command.name, command.file.display());
        terminal::print_line(&chat.text(text::custom::asks(name, &file)));
        for line in command.body.lines().take(SHOWN_LINES) {
            terminal::print_line(&format!("  │ {}", spelled(line)));
        }
        if command.body.lines().count() > SHOWN_LINES {
            terminal::print_line("  │ …");
        }
        let wants = [("--loop", &command.loop_name), ("--model", &command.model)];
        let wants: Vec<String> = wants
            .into_iter()
            .filter_map(|(flag, value)| Some(format!("{flag} {}", one_line(value.as_ref()?))))
            .collect();
        if !wants.is_empty() {
            terminal::print_line(&chat.text(text::custom::wants(&wants.join(" "))));
        }
        // A prompt is cut where the terminal is narrow; a line is wrapped.
        terminal::print_line(&chat.text(text::custom::question()));
        let prompt = chat.text(text::custom::prompt());
        let is_allowed = self.agrees(&prompt).await;
        let chat = &self.chat;
        if !is_allowed {
            terminal::print_line(&chat.text(text::custom::declined()));
            return false;
        }
        match command.approve(&chat.app).map_err(AppError::Home) {
            Ok(()) => true,
            Err(error) => {
                terminal::print_line(&chat.fail(error).words);
                false
            }
        }
    }

    /// Asks for a yes, which one key is. What was typed before the question is no answer to it.
    async fn agrees(&mut self, prompt: &str) -> bool {
        self.editor.await_quiet().await;
        self.editor.ask(&self.chat.app, prompt, "", &["yes", "no"]);
        let is_yes = loop {
            let input = tokio::select! {
                input = self.editor.next() => input,
                exit = self.signals.next() => {
                    self.ended_by = Some(exit);
                    break false;
                }
            };
            match input {
                EditorInput::Instant(answer, _) => break answer == 'y',
                EditorInput::Line(line) => match everloop_text::meaning(&line) {
                    Meaning::Yes | Meaning::Always => break true,
                    Meaning::No { .. } => break false,
                    _ if line.trim().is_empty() => break false,
                    // A message is no answer: it stands in the line again after the question.
                    _ => {
                        self.unsent = line;
                        break false;
                    }
                },
                EditorInput::Plan | EditorInput::Unfold | EditorInput::Redraw => {}
                _ => break false,
            }
        };
        self.editor.hide();
        is_yes
    }

    /// `!command`: shows its output as it comes. Ctrl-C stops it.
    pub(super) async fn run_command(&mut self, command: &str) {
        if command.is_empty() {
            return terminal::print_line(&self.chat.text(text::own::usage()));
        }
        let (sender, mut output) = unbounded_channel::<String>();
        let on_output: OnOutput = Arc::new(move |text: &str| drop(sender.send(text.to_owned())));
        let cancel = CancellationToken::new();
        let watch = CommandWatch { on_output, cancel: cancel.clone() };
        let mut lines = OutputLines::default();
        let app = self.chat.app.clone();
        let (begun, mut ticks) = (Instant::now(), tokio::time::interval(TICK));
        let mut is_gone = false;
        self.show_busy_input();
        let ended = {
            let mut running = pin!(self.chat.conversation.run_command(command, watch));
            loop {
                tokio::select! {
                    biased;
                    Some(text) = output.recv() => lines.take(&text),
                    _ = ticks.tick() => draw_status(&app, command, begun.elapsed()),
                    ended = &mut running => break ended,
                    input = self.editor.next(), if !is_gone => {
                        is_gone = input == EditorInput::Gone;
                        if stops_command(&app, &mut self.queue, input) {
                            cancel.cancel();
                        }
                    }
                    exit = self.signals.next() => {
                        self.ended_by = Some(exit);
                        cancel.cancel();
                    }
                }
            }
        };
        screen::draw_live(Vec::new());
        self.editor.hide();
        while let Ok(text) = output.try_recv() {
            lines.take(&text);
        }
        lines.end();
        let chat = &self.chat;
        match ended {
            Ok(OwnCommandEnd::Ran { ending, status }) => {
                if ending != Ending::Ok {
                    terminal::print_line(&seen_line(&chat.app, &status));
                }
                terminal::print_line(&chat.text(text::own::kept()));
            }
            Ok(OwnCommandEnd::Refused(why)) => {
                let why = seen_line(&chat.app, &why);
                terminal::print_line(&chat.text(text::own::refused(&why)));
            }
            Err(error) => terminal::print_line(&chat.fail(error).words),
        }
    }
}

/// Whether what was typed stops the command. A line is kept until it has ended.
fn stops_command(app: &Console, queue: &mut Queue, input: EditorInput) -> bool {
    if let EditorInput::Line(line) = &input
        && !line.trim().is_empty()
    {
        keep_for_later(app, queue, line.trim());
    }
    matches!(
        input,
        EditorInput::Interrupt { empty: true } | EditorInput::Escape | EditorInput::Gone
    )
}

/// What runs, for how long, and how it is stopped.
fn draw_status(app: &Console, command: &str, running: Duration) {
    let ms = i64::try_from(running.as_millis()).unwrap_or(i64::MAX);
    let style = terminal::line_style();
    let room = style.width.saturating_sub(4);
    let mark = turning_mark(terminal::marks().now, ms);
    let row = status_row(mark, own_command_line(app.lang, command, ms, room));
    screen::draw_live(vec![row.clipped(&style)]);
}

/// Output that comes in pieces, shown line by line.
#[derive(Default)]
struct OutputLines {
    rest: String,
}

impl OutputLines {
    fn take(&mut self, text: &str) {
        self.rest.push_str(text);
        while let Some(end) = self.rest.find('\n') {
            terminal::print_line(&self.rest[..end]);
            self.rest.drain(..=end);
        }
    }

    fn end(&mut self) {
        if !self.rest.is_empty() {
            terminal::print_line(&std::mem::take(&mut self.rest));
        }
    }
}

fn say_failure(failure: &Failure) {
    if !failure.words.is_empty() {
        terminal::print_line(&failure.words);
    }
}

async fn shown(chat: &Chat, screen: ChatScreen) -> Result<(), Failure> {
    let page = match screen {
        ChatScreen::Doctor => ShellPage::Doctor,
        ChatScreen::Mcp => ShellPage::Mcp,
        ChatScreen::EditMemory => ShellPage::EditMemory(chat.conversation.choice().workspace()),
        // It changes the settings of the chat: `show_screen` does it.
        ChatScreen::Setup => return Ok(()),
    };
    chat.pages.show(&chat.app, page).await
}

/// Plays the tour.
pub(super) async fn show_tour(chat: &Chat) {
    if let Err(failure) = chat.pages.show(&chat.app, ShellPage::Tour).await {
        terminal::print_line(&failure.words);
    }
}

/// What a chat without a terminal answers to what only a terminal can do. Nothing for other
/// reactions.
pub(super) async fn without_terminal(chat: &Chat, reaction: &Reaction) -> Option<String> {
    let needs = |name: &str, command: &str| {
        Some(chat.text(text::chat::screen_needs_terminal(&name, &command)))
    };
    match reaction {
        Reaction::RunCommand(_) => Some(chat.text(text::own::only_terminal())),
        Reaction::Copy(text) => Some(clipboard::copy(&chat.app, text)),
        Reaction::Approve(command, _) => {
            let file = command.file.display();
            Some(chat.text(text::custom::needs_terminal(&command.name, &file)))
        }
        Reaction::Screen(ChatScreen::Setup) => needs("setup", "everloop config setup"),
        Reaction::Screen(ChatScreen::EditMemory) => needs("memory edit", "everloop memory edit"),
        Reaction::Screen(screen) => match shown(chat, *screen).await {
            Ok(()) => Some(String::new()),
            Err(failure) => Some(failure.words),
        },
        _ => None,
    }
}
