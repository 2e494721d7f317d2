//! An answer to an open question: what it means.
//!
//! Every surface reads answers here, before anything is sent: what is not understood is asked
//! again, and is never a yes, a no or a new goal.

use crate::app::App;
use crate::conversation;
use crate::error::AppError;
use crate::router::OpenQuestion;
use crate::runs::{RunDetails, front, question_text};
use crate::settling::SettleWord;
use crate::slash;
use everloop_engine::{Engine, QuestionAnswer};
use everloop_store::{InboxSendResult, Store};
use everloop_text::{AlwaysWord, PermissionAnswer};
use everloop_types::journal::WaitingOn;
use everloop_types::{ApprovalScope, Question, QuestionKind, RunId, spelled};

/// How an answer was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerReading {
    /// It is sent in this form, and means this.
    Send {
        /// What is sent.
        text: String,
        /// What it means.
        meaning: AnswerMeaning,
    },
    /// "Always", which may cover several things: a person is asked which.
    WhichScope,
    /// The call is to be changed, and how was not said, or it cannot be.
    HowToEdit,
    /// It is not understood: the question is asked again.
    Unclear,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerMeaning {
    /// Words for the model.
    Words(String),
    /// Allowed this once.
    AllowedOnce,
    /// Allowed from now on.
    AllowedAlways(AlwaysScope),
    /// Allowed once, changed to this.
    Edited(String),
    /// Not allowed, and why.
    Denied(Option<String>),
    /// What happened to a call.
    Settled(SettleWord),
}

/// What "always" covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlwaysScope {
    /// The same call: its file, its host or its arguments.
    Standing,
    /// Commands that fit this pattern.
    Pattern(String),
    /// Every call of this tool in the conversation.
    Conversation(String),
    /// It counts once: such a call is asked about every time.
    AskedEachTime,
    /// This run, to this place.
    ThisPlace,
}

/// What somebody answers: words that are read, or what a button or a program means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerIntent {
    /// Words, as they were typed.
    Words(String),
    /// Yes, this once.
    Accept,
    /// Yes, and from now on; how far, by the word of a scope that the question offers.
    AcceptAlways(Option<String>),
    /// Yes, but with this in place of what the model wrote.
    Edit(String),
    /// No, and perhaps why.
    Decline(Option<String>),
}

impl AnswerIntent {
    /// The words that mean it.
    fn words(&self) -> String {
        match self {
            Self::Words(text) => text.clone(),
            Self::Accept => "y".to_owned(),
            Self::AcceptAlways(None) => "always".to_owned(),
            Self::AcceptAlways(Some(scope)) => format!("always {scope}"),
            Self::Edit(value) => format!("e {value}"),
            Self::Decline(None) => "n".to_owned(),
            Self::Decline(Some(reason)) => format!("n {reason}"),
        }
    }

    /// What it means as an answer to a question. Only a permission can be given or refused without
    /// words; other questions take the words.
    pub(crate) fn read(&self, question: &Question) -> AnswerReading {
        let line = self.words();
        if question.kind != QuestionKind::Approve {
            return read_answer(question, &line, ScopeChoice::Exact);
        }
        let meaning = match self {
            Self::Words(_) => return read_answer(question, &line, ScopeChoice::Exact),
            Self::Accept => AnswerMeaning::AllowedOnce,
            Self::AcceptAlways(scope) => return read_scope(question, scope.as_deref()),
            Self::Edit(_) if !is_editable(question) => return AnswerReading::HowToEdit,
            Self::Edit(value) => AnswerMeaning::Edited(value.clone()),
            Self::Decline(reason) => AnswerMeaning::Denied(reason.clone()),
        };
        AnswerReading::Send { text: line, meaning }
    }
}

/// "Always" with the word of a scope. A word that the question does not offer is not understood.
fn read_scope(question: &Question, scope: Option<&str>) -> AnswerReading {
    let Some(scope) = scope else {
        return read_always(question, "always", AlwaysWord::Unsaid, ScopeChoice::Exact);
    };
    match everloop_text::always_word(scope) {
        Some(word) => read_always(question, &format!("always {scope}"), word, ScopeChoice::Exact),
        None => AnswerReading::Unclear,
    }
}

/// An answer from outside of a conversation: to a run, and perhaps to one question of it.
#[derive(Debug, Clone)]
pub struct RunAnswer {
    /// What was answered.
    pub intent: AnswerIntent,
    /// The id of the question that it was meant for.
    pub question: Option<String>,
}

/// Why a run was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The answer is empty.
    #[error("the answer is empty")]
    Empty,
    /// The run asks nothing.
    #[error("the run asks nothing")]
    AsksNothing,
    /// The run asks something else by now: this.
    #[error("the run asks something else by now")]
    OtherQuestion(String),
    /// The answer is not understood.
    #[error("the answer is not understood")]
    Unclear {
        /// The question.
        question: Box<Question>,
        /// What was answered.
        text: String,
    },
    /// The run cannot be read.
    #[error(transparent)]
    App(#[from] AppError),
}

/// A question of a run, and what an answer to it means.
#[derive(Debug, Clone)]
pub struct AnswerDraft {
    /// The run that asks: the one that was named, or one below it.
    run: RunId,
    question_id: String,
    text: String,
    /// What the answer means.
    pub meaning: AnswerMeaning,
}

impl AnswerDraft {
    /// Finds the open question of a run, and reads the answer to it. Nothing is sent yet.
    ///
    /// # Errors
    /// [`AnswerError`]. `on_question` is called with the question before the answer is read.
    pub async fn read(
        app: &App,
        store: &Store,
        run: &RunId,
        answer: RunAnswer,
        on_question: impl FnOnce(&Question, &str),
    ) -> Result<Self, AnswerError> {
        if answer.intent.words().trim().is_empty() {
            return Err(AnswerError::Empty);
        }
        let asks = front(store, run).await?;
        let waiting = RunDetails::read(app, store, &asks).await?.waiting_on;
        let Some(WaitingOn::Person { question }) = waiting else {
            return Err(AnswerError::AsksNothing);
        };
        let asked = question_text(store, &asks, &question).await?.unwrap_or_default();
        let asked = spelled(&asked);
        // Somebody else may have answered, and the run may ask something else by now.
        if answer.question.is_some_and(|id| id != question.id) {
            return Err(AnswerError::OtherQuestion(asked));
        }
        on_question(&question, &asked);
        let AnswerReading::Send { text, meaning } = answer.intent.read(&question) else {
            let question = Box::new(question);
            return Err(AnswerError::Unclear { question, text: answer.intent.words() });
        };
        Ok(Self { run: asks, question_id: question.id, text, meaning })
    }

    /// Sends it. Tells whether this answer counts; not if the question was answered before.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn send(&self, engine: &Engine) -> Result<bool, AppError> {
        self.send_as(engine, "user").await
    }

    /// The same in this name.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn send_as(&self, engine: &Engine, by: &str) -> Result<bool, AppError> {
        let question = self.question_id.clone();
        let answer = QuestionAnswer { question, text: self.text.clone(), by: by.to_owned() };
        Ok(engine.answer(&self.run, answer).await? != InboxSendResult::AlreadySent)
    }
}

/// Lets a run go on now, however often it was interrupted before.
///
/// # Errors
/// If the store fails.
pub async fn let_go_on(engine: &Engine, run: &RunId) -> Result<(), AppError> {
    engine.store().queue().reset_stall_count(run).await?;
    let front = front(engine.store(), run).await?;
    engine.wake_now(&front).await?;
    Ok(())
}

/// What a line means where only a question can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionLine {
    /// It answers the question.
    Answer {
        /// What is sent.
        text: String,
        /// What it means.
        meaning: AnswerMeaning,
    },
    /// It cancels the run.
    Cancel,
    /// It is empty: the question is asked again.
    Empty,
    /// It is a command, which cannot be carried out here.
    Command,
    /// "Always", which may cover several things: the next line says which.
    WhichScope,
    /// The call is to be changed, and how was not said, or it cannot be.
    HowToEdit,
    /// It is not understood.
    Unclear,
}

/// What "always" alone means, and whether only its scope is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeChoice {
    /// Exactly this call: nobody can be asked.
    Exact,
    /// The person is asked.
    Ask,
    /// The person was asked: a number or a word alone is the scope.
    Asked,
}

impl QuestionLine {
    /// Reads a line.
    ///
    /// # Errors
    /// If the home has no conversation.
    pub fn read(
        app: &App,
        open: &OpenQuestion,
        line: &str,
        choice: ScopeChoice,
    ) -> Result<Self, AppError> {
        if line.trim().is_empty() {
            return Ok(Self::Empty);
        }
        let stops = open.question.kind != QuestionKind::Approve
            && everloop_text::is_stop(line)
            && !open.offers(line);
        let router = conversation::router(app, "");
        if stops || router.is_cancel_request(line) {
            return Ok(Self::Cancel);
        }
        if slash::is_command(line) {
            return Ok(Self::Command);
        }
        Ok(match read_answer(&open.question, line, choice) {
            AnswerReading::Send { text, meaning } => Self::Answer { text, meaning },
            AnswerReading::WhichScope => Self::WhichScope,
            AnswerReading::HowToEdit => Self::HowToEdit,
            AnswerReading::Unclear => Self::Unclear,
        })
    }
}

/// What an answer to a question means.
#[must_use]
pub(crate) fn read_answer(question: &Question, line: &str, choice: ScopeChoice) -> AnswerReading {
    let (text, meaning) = match question.kind {
        QuestionKind::Approve => return read_permission(question, line, choice),
        QuestionKind::Ask => (line.to_owned(), AnswerMeaning::Words(line.to_owned())),
        QuestionKind::Settle => {
            let Some(word) = SettleWord::read(line) else { return AnswerReading::Unclear };
            let text = match word {
                SettleWord::Happened => "happened",
                SettleWord::DidNot => "not",
                // The run that waits tells its model to inspect first.
                SettleWord::Probe => "unknown",
            };
            (text.to_owned(), AnswerMeaning::Settled(word))
        }
    };
    AnswerReading::Send { text, meaning }
}

fn read_permission(question: &Question, line: &str, choice: ScopeChoice) -> AnswerReading {
    let answer = match everloop_text::always_word(line) {
        Some(word) if choice == ScopeChoice::Asked => PermissionAnswer::Always(word),
        _ => everloop_text::permission_answer(line),
    };
    let meaning = match answer {
        PermissionAnswer::Once => AnswerMeaning::AllowedOnce,
        PermissionAnswer::No { reason } => AnswerMeaning::Denied(reason),
        PermissionAnswer::Edit(value) if value.is_empty() || !is_editable(question) => {
            return AnswerReading::HowToEdit;
        }
        PermissionAnswer::Edit(value) => {
            let text = format!("e {value}");
            return AnswerReading::Send { text, meaning: AnswerMeaning::Edited(value) };
        }
        PermissionAnswer::Always(word) => return read_always(question, line, word, choice),
        PermissionAnswer::Unclear => return AnswerReading::Unclear,
    };
    AnswerReading::Send { text: line.to_owned(), meaning }
}

fn is_editable(question: &Question) -> bool {
    question.request.as_ref().is_some_and(|request| request.editable.is_some())
}

/// What is sent names the scope by its word: a number means what the question listed.
fn read_always(
    question: &Question,
    line: &str,
    word: AlwaysWord,
    choice: ScopeChoice,
) -> AnswerReading {
    let scopes = question.request.as_ref().map_or(&[][..], |request| &request.scopes);
    if word == AlwaysWord::Unsaid && choice == ScopeChoice::Ask && scopes.len() > 1 {
        return AnswerReading::WhichScope;
    }
    if scopes.is_empty() || word == AlwaysWord::Unsaid {
        let meaning = AnswerMeaning::AllowedAlways(always_scope(question));
        return AnswerReading::Send { text: line.to_owned(), meaning };
    }
    let has_word = |wanted: &str| scopes.iter().find(|scope| scope.word() == wanted);
    let scope = match word {
        AlwaysWord::Unsaid => None,
        AlwaysWord::Exact => has_word("exact"),
        AlwaysWord::Prefix => has_word("prefix"),
        AlwaysWord::Here => has_word("here"),
        AlwaysWord::Number(number) => scopes.get(number.saturating_sub(1)),
    };
    let Some(scope) = scope else { return AnswerReading::Unclear };
    let covers = match (scope, &question.request) {
        (ApprovalScope::Prefix { pattern }, _) => AlwaysScope::Pattern(pattern.clone()),
        (ApprovalScope::Conversation, Some(request)) => {
            AlwaysScope::Conversation(request.tool.clone())
        }
        _ => always_scope(question),
    };
    let text = format!("always {}", scope.word());
    AnswerReading::Send { text, meaning: AnswerMeaning::AllowedAlways(covers) }
}

/// The id of the question says what was asked.
fn always_scope(question: &Question) -> AlwaysScope {
    match question.id.split('.').nth(2) {
        Some("approve_bare" | "approve_veiled") => AlwaysScope::AskedEachTime,
        Some("approve_labels") => AlwaysScope::ThisPlace,
        _ => AlwaysScope::Standing,
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
