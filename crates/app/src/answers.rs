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
use everloop_text::Meaning;
use everloop_types::journal::WaitingOn;
use everloop_types::{Question, QuestionKind, RunId, spelled};

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
    /// Not allowed, and why.
    Denied(Option<String>),
    /// What happened to a call.
    Settled(SettleWord),
}

/// What "always" covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlwaysScope {
    /// Calls like this one.
    Standing,
    /// It counts once: such a call is asked about every time.
    AskedEachTime,
    /// This run, to this place.
    ThisPlace,
}

/// An answer from outside of a conversation: to a run, and perhaps to one question of it.
#[derive(Debug, Clone)]
pub struct RunAnswer {
    /// What was answered.
    pub text: String,
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
        on_question: impl FnOnce(&str),
    ) -> Result<Self, AnswerError> {
        if answer.text.trim().is_empty() {
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
        on_question(&asked);
        let AnswerReading::Send { text, meaning } = read_answer(&question, &answer.text) else {
            let question = Box::new(question);
            return Err(AnswerError::Unclear { question, text: answer.text });
        };
        Ok(Self { run: asks, question_id: question.id, text, meaning })
    }

    /// Sends it. Tells whether this answer counts; not if the question was answered before.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn send(&self, engine: &Engine) -> Result<bool, AppError> {
        let question = self.question_id.clone();
        let answer = QuestionAnswer { question, text: self.text.clone(), by: "user".to_owned() };
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
    /// It is not understood.
    Unclear,
}

impl QuestionLine {
    /// Reads a line.
    ///
    /// # Errors
    /// If the home has no conversation.
    pub fn read(app: &App, open: &OpenQuestion, line: &str) -> Result<Self, AppError> {
        if line.trim().is_empty() {
            return Ok(Self::Empty);
        }
        let stops = open.question.kind != QuestionKind::Approve
            && everloop_text::is_stop(line)
            && !open.offers(line);
        let router = conversation::router(app, "")?;
        if stops || router.is_cancel_request(line) {
            return Ok(Self::Cancel);
        }
        if slash::is_command(line) {
            return Ok(Self::Command);
        }
        Ok(match read_answer(&open.question, line) {
            AnswerReading::Send { text, meaning } => Self::Answer { text, meaning },
            AnswerReading::Unclear => Self::Unclear,
        })
    }
}

/// What an answer to a question means.
#[must_use]
pub(crate) fn read_answer(question: &Question, line: &str) -> AnswerReading {
    let meaning = match question.kind {
        QuestionKind::Approve => permission(question, line),
        QuestionKind::Settle => SettleWord::read(line).map(AnswerMeaning::Settled),
        QuestionKind::Ask => Some(AnswerMeaning::Words(line.to_owned())),
    };
    let Some(meaning) = meaning else { return AnswerReading::Unclear };
    let text = match meaning {
        AnswerMeaning::Settled(SettleWord::Happened) => "happened".to_owned(),
        AnswerMeaning::Settled(SettleWord::DidNot) => "not".to_owned(),
        // The run that waits tells its model to inspect first.
        AnswerMeaning::Settled(SettleWord::Probe) => "unknown".to_owned(),
        _ => line.to_owned(),
    };
    AnswerReading::Send { text, meaning }
}

fn permission(question: &Question, line: &str) -> Option<AnswerMeaning> {
    match everloop_text::meaning(line) {
        Meaning::Yes => Some(AnswerMeaning::AllowedOnce),
        Meaning::Always => Some(AnswerMeaning::AllowedAlways(always_scope(question))),
        Meaning::No { reason } => Some(AnswerMeaning::Denied(reason)),
        Meaning::Edit | Meaning::Unclear => None,
    }
}

/// The id of the question says what was asked.
fn always_scope(question: &Question) -> AlwaysScope {
    match question.id.split('.').nth(2) {
        Some("approve_bare" | "approve_veiled") => AlwaysScope::AskedEachTime,
        Some("approve_labels") => AlwaysScope::ThisPlace,
        _ => AlwaysScope::Standing,
    }
}
