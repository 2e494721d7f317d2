//! What needs a person: questions of runs, and calls of ended runs whose outcome nobody knows.
//!
//! A call of an ended run is no question in a journal, so it gets an id that no question has:
//! `run_….effect.PLACE`. Whatever shows, counts and answers questions takes both.

use super::frame::missing;
use super::run::status_said;
use crate::problem::Problem;
use crate::routes::run_id;
use crate::state::ServerState;
use everloop_app::interrupts::OpenInterrupt;
use everloop_app::router::OpenQuestion;
use everloop_app::runs;
use everloop_engine::OpenUnknown;
use everloop_store::{RunFilter, RunRow};
use everloop_types::{
    CallId, ConversationId, EffectId, Lang, Question, QuestionKind, RunId, Status,
};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Ended runs that are looked at for calls whose outcome is unknown.
const UNSETTLED_MAX: usize = 50;

/// Runs whose calls are remembered.
const REMEMBERED_MAX: usize = 500;

/// What the id of such a call begins with, after its run.
const EFFECT: &str = "effect.";

/// Calls of ended runs whose outcome was unknown. A journal that has ended does not change, so it
/// is read once.
#[derive(Default)]
pub(crate) struct UnknownCalls(Mutex<BTreeMap<RunId, Vec<(EffectId, CallId)>>>);

impl UnknownCalls {
    async fn of(
        &self,
        state: &ServerState,
        run: &RunId,
    ) -> Result<Vec<(EffectId, CallId)>, Problem> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return Ok(known.clone());
        }
        let calls = state.engine().open_unknowns(run).await?;
        let calls: Vec<_> = calls.into_iter().map(|one| (one.effect, one.call.id)).collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED_MAX {
            all.pop_first();
        }
        all.insert(run.clone(), calls.clone());
        Ok(calls)
    }
}

/// Everything that needs a person, the newest question first. What a run asks that another run
/// began belongs to the conversation that a person began.
pub(super) async fn open_asks(state: &ServerState) -> Result<Vec<OpenInterrupt>, Problem> {
    let mut all = state.behind.questions.read(state.store()).await?;
    for ask in &mut all {
        ask.conversation = conversation_of(state, &ask.question.run, &ask.conversation).await?;
    }
    let statuses = vec![Status::Unsettled];
    let filter = RunFilter { statuses, before: None, most: UNSETTLED_MAX };
    for row in state.store().runs().list(&filter).await? {
        all.extend(unsettled(state, &row).await?);
    }
    Ok(all)
}

async fn conversation_of(
    state: &ServerState,
    run: &RunId,
    own: &ConversationId,
) -> Result<ConversationId, Problem> {
    let top = runs::top(state.store(), run).await?;
    if top == *run {
        return Ok(own.clone());
    }
    let row = state.store().runs().get(&top).await?;
    Ok(row.map_or_else(|| own.clone(), |row| row.conversation))
}

/// The calls of an ended run that nobody has settled.
async fn unsettled(state: &ServerState, row: &RunRow) -> Result<Vec<OpenInterrupt>, Problem> {
    let calls = state.behind.unknown_calls.of(state, &row.run).await?;
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let settled = state.store().journal().settlements(&row.run).await?;
    let is_open = |effect: &EffectId| settled.iter().all(|one| one.effect != *effect);
    let conversation = conversation_of(state, &row.run, &row.conversation).await?;
    let open = calls.into_iter().filter(|(effect, _)| is_open(effect));
    Ok(open
        .map(|(effect, call)| OpenInterrupt {
            question: OpenQuestion {
                run: row.run.clone(),
                question: Question {
                    id: format!("{EFFECT}{}", effect.place()),
                    kind: QuestionKind::Settle,
                    call,
                    text: String::new(),
                    request: None,
                },
                text: String::new(),
            },
            conversation: conversation.clone(),
        })
        .collect())
}

/// Whether an ended run has no call left whose outcome is unknown, though it had some.
pub(super) async fn is_settled_since(state: &ServerState, row: &RunRow) -> Result<bool, Problem> {
    if row.status != Status::Unsettled {
        return Ok(false);
    }
    let calls = state.behind.unknown_calls.of(state, &row.run).await?;
    let settled = state.store().journal().settlements(&row.run).await?;
    let is_known = |effect: &EffectId| settled.iter().any(|one| one.effect == *effect);
    Ok(!calls.is_empty() && calls.iter().all(|(effect, _)| is_known(effect)))
}

/// The word for a run's status, and whether what was unknown is known by now.
pub(super) async fn settled_words(
    state: &ServerState,
    row: &RunRow,
    lang: Lang,
) -> Result<String, Problem> {
    Ok(status_said(lang, row.status, is_settled_since(state, row).await?))
}

/// Whether this is the id of a call of an ended run.
pub(super) fn is_of_ended_run(id: &str) -> bool {
    id.split_once('.').is_some_and(|(_, question)| question.starts_with(EFFECT))
}

/// Whether a call is the one that a question is about.
pub(super) fn is_about(question: &str, open: &OpenUnknown) -> bool {
    match question.strip_prefix(EFFECT) {
        Some(place) => open.effect.place() == place,
        None => open.question.as_ref().is_some_and(|it| it.id == question),
    }
}

/// The run and the call that an id names; no call if somebody settled it meanwhile.
pub(super) async fn call_of(
    state: &ServerState,
    id: &str,
) -> Result<(RunRow, Option<OpenUnknown>), Problem> {
    let (run, question) = id.split_once('.').ok_or_else(missing)?;
    let row = crate::routes::messages::run_row(state, &run_id(run)?).await?;
    let calls = state.engine().open_unknowns(&row.run).await?;
    let is_open = |open: &OpenUnknown| open.settled.is_none() && is_about(question, open);
    Ok((row, calls.into_iter().find(is_open)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_call_of_an_ended_run_is_that_of_no_question() {
        assert!(is_of_ended_run("run_1.effect.4:0"));
        assert!(!is_of_ended_run("run_1.q4.0.settle"));
        assert!(!is_of_ended_run("effect.4:0"));
    }
}
