//! The next line of a person, while nothing works: reminders and news are shown above it, and a
//! question that allows something is answered with one key.

use super::editor::EditorInput;
use super::person::TerminalUi;
use super::words;
use everloop_app::conversation::Reaction;
use everloop_app::conversations::{self, ConversationQuery};
use everloop_app::reminding;
use everloop_app::slash;
use everloop_console::{Exit, terminal};
use everloop_engine::Update;
use everloop_store::RunFilter;
use everloop_text::{self as text, Text};
use everloop_types::{CallPreview, Question, QuestionKind};
use std::time::{Duration, Instant};

/// A second Ctrl-C within this time leaves.
const AGAIN: Duration = Duration::from_secs(2);

/// Runs that `/resume` and `/fork` propose.
const RUNS_PROPOSED: usize = 20;

/// What the input line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePurpose {
    Message,
    /// Why something is not allowed.
    Reason,
    /// The command, or the other argument, that is to be used instead.
    NewText,
}

/// What is being asked for.
struct LineRequest {
    prompt: String,
    purpose: LinePurpose,
    /// When Ctrl-C was pressed on an empty line.
    leaving: Option<Instant>,
}

impl TerminalUi {
    /// The next line, while reminders and the news of runs in the background are shown above it.
    pub(super) async fn next_line(&mut self) -> Result<String, Exit> {
        if let Some(exit) = self.ended_by.take() {
            return Err(exit);
        }
        self.propose_names().await;
        let mut request = self.ask_for_message().await;
        let mut reminders = tokio::time::interval(reminding::LOOK);
        loop {
            let input = tokio::select! {
                input = self.editor.next() => input,
                Some(update) = self.chat.conversation.watch().recv() => {
                    self.show_update(&update, &mut request).await;
                    if self.shows_next_question().await {
                        request = self.ask_for_message().await;
                    }
                    continue;
                }
                _ = reminders.tick() => {
                    self.show_reminders(&mut request).await;
                    continue;
                }
                exit = self.signals.next() => return Err(exit),
            };
            if let Some(line) = self.take_input(input, &mut request).await? {
                self.editor.hide();
                let typed = match request.purpose {
                    LinePurpose::Message => line.as_str(),
                    // Without the letter that stands before it.
                    LinePurpose::Reason | LinePurpose::NewText => line.get(2..).unwrap_or(""),
                };
                let shown = self.editor.folded(typed).replace('\n', "\n  ");
                if !shown.trim().is_empty() {
                    terminal::print_line(&format!("{}{shown}", request.prompt));
                }
                return Ok(line);
            }
        }
    }

    /// What a key came to; the line, if it is complete.
    async fn take_input(
        &mut self,
        input: EditorInput,
        request: &mut LineRequest,
    ) -> Result<Option<String>, Exit> {
        let is_message = request.purpose == LinePurpose::Message;
        match input {
            EditorInput::Line(line) => return Ok(Some(whole_line(request.purpose, &line))),
            EditorInput::Instant(answer, sent) => {
                return Ok(self.take_instant(answer, sent, request));
            }
            EditorInput::End | EditorInput::Gone if is_message => return Err(Exit::Done),
            EditorInput::Gone => return Err(Exit::Done),
            // Back to the question itself.
            EditorInput::Interrupt { .. } | EditorInput::Escape | EditorInput::Rewind
                if !is_message =>
            {
                self.editor.discard();
                *request = self.ask_for_message().await;
            }
            // A key that stops is a no.
            EditorInput::Interrupt { .. } | EditorInput::Escape if self.proposed.is_some() => {
                self.proposed = None;
                terminal::print_line(&self.chat.text(text::rule::dropped()));
                *request = self.ask_for_message().await;
            }
            EditorInput::Interrupt { .. } | EditorInput::Escape
                if self.chat.conversation.questions_mut().drop_scope_menu() =>
            {
                self.ask_again(request).await;
            }
            EditorInput::Escape if self.chat.conversation.questions().seen().is_some() => {
                terminal::print_line(&self.chat.text(text::chat::question_waits()));
            }
            EditorInput::Interrupt { empty: true } => self.interrupted(request)?,
            EditorInput::Rewind if slash::find("rewind").is_some() => {
                return Ok(Some("/rewind".to_owned()));
            }
            EditorInput::Unfold => self.folded.iter().for_each(terminal::print_styled),
            EditorInput::Plan => self.show_plan(request).await,
            EditorInput::Interrupt { .. }
            | EditorInput::Escape
            | EditorInput::Rewind
            | EditorInput::Redraw
            | EditorInput::End => {}
        }
        Ok(None)
    }

    /// The plan, above the input.
    async fn show_plan(&mut self, request: &mut LineRequest) {
        let had_menu = self.chat.conversation.questions_mut().drop_scope_menu();
        if let Ok(Reaction::Reply(reply)) = self.chat.send("/plan", None).await {
            self.chat.show_reply(reply);
        }
        if had_menu {
            self.ask_again(request).await;
        }
    }

    /// Asks the question again, once the list of what "always" may mean is gone.
    async fn ask_again(&mut self, request: &mut LineRequest) {
        self.remind_of_question();
        let seen = self.chat.conversation.questions().seen();
        seen.iter().for_each(|open| words::show_answers(&self.chat.app, open));
        *request = self.ask_for_message().await;
    }

    /// Ctrl-C on an empty line: a second one leaves.
    fn interrupted(&self, request: &mut LineRequest) -> Result<(), Exit> {
        if request.leaving.is_some_and(|at| at.elapsed() < AGAIN) {
            return Err(Exit::Done);
        }
        request.leaving = Some(Instant::now());
        let asks = self.chat.conversation.questions().seen().is_some();
        let key = if asks { text::chat::question_stays() } else { text::exit::again() };
        terminal::print_line(&self.chat.text(key));
        Ok(())
    }

    /// An answer of one key. A no asks for a reason, unless the return key came right behind it; an
    /// edit puts the command into the line.
    fn take_instant(
        &mut self,
        answer: char,
        sent: bool,
        request: &mut LineRequest,
    ) -> Option<String> {
        let question = self.chat.conversation.questions().seen();
        let question = question.filter(|_| self.proposed.is_none());
        let Some((purpose, prompt, typed)) =
            question.and_then(|open| line_after(answer, sent, &open.question))
        else {
            return Some(answer.to_string());
        };
        request.purpose = purpose;
        request.prompt = self.chat.text(prompt);
        self.editor.ask(&self.chat.app, &request.prompt, &typed, &[]);
        None
    }

    /// Shows the prompt, below the command that waits for a yes. A question that allows something
    /// can be answered once nobody types any more.
    async fn ask_for_message(&mut self) -> LineRequest {
        let (prompt, words) = match &self.proposed {
            Some(command) => {
                terminal::print_line(&words::confirmation(&self.chat.app, command));
                (self.chat.text(text::rule::prompt()), vec!["yes", "no", "edit"])
            }
            None => {
                let questions = self.chat.conversation.questions();
                let seen = questions.seen().map(|open| &open.question);
                let prompt = seen.map_or_else(text::chat::you, answer_prompt);
                let scopes = questions.asked_scopes();
                let words = seen.map(|question| answer_keys(question, scopes)).unwrap_or_default();
                (self.chat.text(prompt), words)
            }
        };
        let seen = self.chat.conversation.questions().seen();
        let id = seen.map(|open| format!("{} {}", open.run, open.question.id)).unwrap_or_default();
        if id != self.ready_for && !words.is_empty() {
            self.editor.await_quiet().await;
        }
        self.ready_for = id;
        let unsent = std::mem::take(&mut self.unsent);
        self.editor.ask(&self.chat.app, &prompt, &unsent, &words);
        LineRequest { prompt, purpose: LinePurpose::Message, leaving: None }
    }

    /// The newest runs, people's own commands and files can be named by the Tab key.
    async fn propose_names(&mut self) {
        let conversation = &self.chat.conversation;
        let mut custom = conversation.commands().list();
        custom.retain(|command| command.owner.is_some());
        self.editor.completions().set_place(custom, conversation.choice().workspace());
        let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_PROPOSED };
        // A store that fails for a moment proposes what it did before.
        if let Ok(rows) = self.chat.conversation.store().runs().list(&filter).await {
            self.editor.completions().set_runs(rows);
        }
        let query = ConversationQuery { most: RUNS_PROPOSED, ..ConversationQuery::default() };
        let (app, store) = (&self.chat.app, self.chat.conversation.store());
        if let Ok(rows) = conversations::list(app, store, query).await {
            self.editor.completions().set_conversations(rows);
        }
    }

    /// Shows a question that came while nothing is typed: the next line answers it. Whoever is
    /// typing is asked after the line.
    async fn shows_next_question(&mut self) -> bool {
        let is_asked = self.chat.conversation.questions().seen().is_some();
        if is_asked || self.proposed.is_some() || !self.editor.is_empty() {
            return false;
        }
        self.show_question().await;
        self.chat.conversation.questions().seen().is_some()
    }

    /// What is typed is a message again, once the question is gone.
    fn note_gone(&mut self, is_gone: bool, request: &mut LineRequest) {
        if !is_gone {
            return;
        }
        if request.purpose == LinePurpose::Message && self.proposed.is_none() {
            request.prompt = self.chat.text(text::chat::you());
        }
        self.editor.forget_question(&request.prompt);
    }

    async fn show_update(&mut self, update: &Update, request: &mut LineRequest) {
        let gone = match self.chat.conversation.questions().asks_in(update) {
            true => self.chat.gone_question().await,
            false => None,
        };
        self.note_gone(gone.is_some(), request);
        gone.iter().for_each(|line| terminal::print_line(line));
        self.chat.show_news_in(update).await;
    }

    async fn show_reminders(&mut self, request: &mut LineRequest) {
        self.chat.show_new_reminders().await;
        let gone = self.chat.gone_question().await;
        self.note_gone(gone.is_some(), request);
        gone.iter().for_each(|line| terminal::print_line(line));
        self.chat.show_missed_news().await;
        self.chat.show_news_elsewhere().await;
    }
}

/// The words whose first letters answer a question at once. Where it was asked what "always"
/// covers, the number of one of these `scopes` does.
pub(super) fn answer_keys(question: &Question, scopes: usize) -> Vec<&'static str> {
    if scopes > 0 {
        return SCOPE_KEYS[..scopes.min(SCOPE_KEYS.len())].to_vec();
    }
    match question.kind {
        QuestionKind::Ask => Vec::new(),
        QuestionKind::Settle => vec!["1", "2", "3"],
        QuestionKind::Approve if editable_text(question).is_some() => {
            vec!["yes", "always", "no", "edit"]
        }
        QuestionKind::Approve => vec!["yes", "always", "no"],
    }
}

/// The keys that choose what "always" covers.
const SCOPE_KEYS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// What stands before the answer to a question.
pub(super) fn answer_prompt(question: &Question) -> Text {
    match question.kind {
        QuestionKind::Ask => text::answer::prompt_words(),
        QuestionKind::Approve => text::answer::prompt_allow(),
        QuestionKind::Settle => text::answer::prompt_settle(),
    }
}

/// The line that an answer of one key opens: why something is not allowed, unless the return key
/// came right behind it, or the command to change. Its purpose, its prompt and what stands in it.
pub(super) fn line_after(
    answer: char,
    sent: bool,
    question: &Question,
) -> Option<(LinePurpose, Text, String)> {
    match (question.kind, answer) {
        (QuestionKind::Approve, 'n') if !sent => {
            Some((LinePurpose::Reason, text::chat::reason(), String::new()))
        }
        (QuestionKind::Approve, 'e') => {
            let request = question.request.as_ref();
            let is_command =
                request.is_some_and(|it| matches!(it.preview, CallPreview::Command { .. }));
            let prompt =
                if is_command { text::chat::new_command() } else { text::answer::new_text() };
            Some((LinePurpose::NewText, prompt, editable_text(question).unwrap_or_default()))
        }
        _ => None,
    }
}

/// The one argument of the call that a person may change: a command, an address, a text.
fn editable_text(question: &Question) -> Option<String> {
    let name = question.request.as_ref()?.editable.as_ref()?;
    let args: serde_json::Value = serde_json::from_str(&question.text).ok()?;
    Some(args.get(name)?.as_str()?.to_owned())
}

/// The line as it is sent.
pub(super) fn whole_line(purpose: LinePurpose, typed: &str) -> String {
    let typed = match purpose {
        LinePurpose::Message => return typed.to_owned(),
        _ => typed.trim().trim_start_matches([',', '，', ':', '：', ' ']),
    };
    let key = if purpose == LinePurpose::Reason { "n" } else { "e" };
    format!("{key} {typed}").trim_end().to_owned()
}
