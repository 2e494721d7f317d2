//! Every question that waits for a person, whichever run asks it, and those that were answered.

use crate::answers::{AnswerDraft, AnswerError, AnswerIntent, AnswerReading, RunAnswer};
use crate::app::App;
use crate::error::AppError;
use crate::router::{OpenQuestion, own_question};
use crate::runs::question_text;
use everloop_engine::{Engine, History};
use everloop_store::{GivenAnswer, RunFilter, Store};
use everloop_types::journal::{EntryKind, WaitingOn};
use everloop_types::{ConversationId, RunId, Status};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answered questions that are listed at most: the journal of each is read.
pub const ANSWERED_MAX: usize = 50;

/// Runs that are looked through.
const RUNS_MAX: usize = 1_000;

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenInterrupt {
    /// The question and the run that asks it.
    pub question: OpenQuestion,
    /// The conversation of the run.
    pub conversation: ConversationId,
}

/// All of them, the newest run first.
///
/// # Errors
/// If the store fails.
pub async fn open(store: &Store) -> Result<Vec<OpenInterrupt>, AppError> {
    QuestionCache::default().read(store).await
}

/// The questions of waiting runs, for a process that asks for them again and again. A journal is
/// read once: only another entry can change what its run waits for.
#[derive(Default)]
pub struct QuestionCache(Mutex<BTreeMap<RunId, KnownWait>>);

/// What a run waits with.
#[derive(Clone)]
struct KnownWait {
    next_seq: i64,
    /// None if it waits for something else than a person.
    question: Option<OpenQuestion>,
}

impl QuestionCache {
    /// All that are open, the newest run first.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(&self, store: &Store) -> Result<Vec<OpenInterrupt>, AppError> {
        let filter = RunFilter { statuses: vec![Status::Waiting], before: None, most: RUNS_MAX };
        let mut before = self.known().clone();
        let (mut known, mut all) = (BTreeMap::new(), Vec::new());
        for row in store.runs().list(&filter).await? {
            let next_seq = row.lease.next_seq;
            let wait = match before.remove(&row.run).filter(|wait| wait.next_seq == next_seq) {
                Some(wait) => wait,
                // A parent waits for its child; the child is in the list itself.
                None => KnownWait { next_seq, question: own_question(store, &row.run).await? },
            };
            if let Some(question) = wait.question.clone() {
                all.push(OpenInterrupt { question, conversation: row.conversation });
            }
            known.insert(row.run, wait);
        }
        *self.known() = known;
        Ok(all)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<RunId, KnownWait>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question of a run, open or not.
#[derive(Debug, Clone, PartialEq)]
pub struct PastInterrupt {
    /// The question and the run that asked it.
    pub question: OpenQuestion,
    /// The conversation of the run.
    pub conversation: ConversationId,
    /// The answer, if there is one.
    pub answer: Option<GivenAnswer>,
    /// Whether it can still be answered.
    pub is_open: bool,
}

/// A question by its run and its id, from the journal of the run.
///
/// # Errors
/// If the store fails.
pub async fn find(
    store: &Store,
    run: &RunId,
    question: &str,
) -> Result<Option<PastInterrupt>, AppError> {
    let Some(row) = store.runs().get(run).await? else { return Ok(None) };
    let Some(history) = History::read(store, run).await? else { return Ok(None) };
    let asked = history.entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Waiting(waiting) => match &waiting.on {
            WaitingOn::Person { question: asked } if asked.id == question => Some(asked.clone()),
            _ => None,
        },
        _ => None,
    });
    let Some(asked) = asked else { return Ok(None) };
    let answer = store.inbox().given_answer(run, question).await?;
    let is_open = answer.is_none() && row.status == Status::Waiting;
    let text = question_text(store, run, &asked).await?.unwrap_or_else(|| asked.text.clone());
    let question = OpenQuestion { run: run.clone(), question: asked, text };
    Ok(Some(PastInterrupt { question, conversation: row.conversation, answer, is_open }))
}

/// The questions that were answered last, the newest answer first.
///
/// # Errors
/// If the store fails.
pub async fn answered(store: &Store) -> Result<Vec<PastInterrupt>, AppError> {
    let mut all = Vec::new();
    for (run, question) in store.inbox().last_answered(ANSWERED_MAX).await? {
        all.extend(find(store, &run, &question).await?);
    }
    Ok(all)
}

/// Answers a question. The same answer again is the same answer.
///
/// # Errors
/// [`AnswerError::AsksNothing`] if another answer counts, or the question is not there.
pub async fn answer(
    app: &App,
    engine: &Engine,
    run: &RunId,
    question: &str,
    intent: &AnswerIntent,
) -> Result<(), AnswerError> {
    let store = engine.store();
    let given = RunAnswer { intent: intent.clone(), question: Some(question.to_owned()) };
    let draft = match AnswerDraft::read(app, store, run, given, |_, _| ()).await {
        Ok(draft) => draft,
        Err(error @ (AnswerError::AsksNothing | AnswerError::OtherQuestion(_))) => {
            return if was_given(store, run, question, intent).await? {
                Ok(())
            } else {
                Err(error)
            };
        }
        Err(error) => return Err(error),
    };
    if draft.send(engine).await? || was_given(store, run, question, intent).await? {
        return Ok(());
    }
    Err(AnswerError::AsksNothing)
}

/// Whether this is the answer that counts.
async fn was_given(
    store: &Store,
    run: &RunId,
    question: &str,
    intent: &AnswerIntent,
) -> Result<bool, AppError> {
    let Some(past) = find(store, run, question).await? else { return Ok(false) };
    let reading = intent.read(&past.question.question);
    let AnswerReading::Send { text, .. } = reading else { return Ok(false) };
    Ok(past.answer.is_some_and(|given| given.text == text))
}
