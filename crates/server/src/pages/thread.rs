//! What was said in a conversation, as the blocks of its thread.

use super::asks::settled_words;
use super::forms::FormFields;
use super::frame::PageRequest;
use super::inbox::with_choices;
use super::respond::page;
use crate::address::percent_encoded;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::response::Response;
use everloop_app::conversations::{MessageRecord, short_id};
use everloop_app::interrupts::OpenInterrupt;
use everloop_app::{artifacts, goals};
use everloop_pages::chat::{
    AnswerBlock, AnsweredLine, ChatBlock, EventLink, RunSummary, SaidBlock, SentPicture,
};
use everloop_pages::markdown::message_html;
use everloop_pages::parts::{duration, say};
use everloop_store::RunRow;
use everloop_text::pages as words;
use everloop_text::{OutcomeReport, PermissionAnswer, Text};
use everloop_types::RunId;
use maud::{PreEscaped, html};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Runs of which something is remembered.
const REMEMBERED_MAX: usize = 500;

/// Files of a run that are named below its answer.
const FILES_SHOWN: usize = 8;

/// What never changes of a run, and costs reading a journal.
struct RunCache<T>(Mutex<CachedRuns<T>>);

struct CachedRuns<T> {
    values: BTreeMap<RunId, T>,
    /// The runs in the order in which they came.
    order: VecDeque<RunId>,
}

impl<T> Default for RunCache<T> {
    fn default() -> Self {
        Self(Mutex::new(CachedRuns { values: BTreeMap::new(), order: VecDeque::new() }))
    }
}

impl<T: Clone> RunCache<T> {
    fn get(&self, run: &RunId) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values.get(run).cloned()
    }

    /// Remembers the value of a run. The run that came first makes room.
    fn keep(&self, run: &RunId, value: T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.values.insert(run.clone(), value.clone()).is_none() {
            all.order.push_back(run.clone());
        }
        if all.order.len() > REMEMBERED_MAX
            && let Some(first) = all.order.pop_front()
        {
            all.values.remove(&first);
        }
        value
    }
}

/// The files of runs: names of those that were written by runs that have ended, and how many
/// pictures went with a goal.
#[derive(Default)]
pub(crate) struct FilesOfRuns {
    written: RunCache<Vec<String>>,
    pictures: RunCache<usize>,
}

impl FilesOfRuns {
    async fn written(&self, state: &ServerState, run: &RunId) -> Vec<String> {
        if let Some(known) = self.written.get(run) {
            return known;
        }
        match artifacts::list(&state.app, state.store(), run).await {
            Ok(all) => {
                let names = all.into_iter().map(|one| one.name).take(FILES_SHOWN).collect();
                self.written.keep(run, names)
            }
            // A thread is shown all the same. The next reader looks again.
            Err(error) => {
                tracing::debug!(%run, %error, "the files of a run could not be listed");
                Vec::new()
            }
        }
    }

    async fn pictures(&self, state: &ServerState, run: &RunId) -> Result<usize, Problem> {
        if let Some(known) = self.pictures.get(run) {
            return Ok(known);
        }
        let sent = goals::pictures_of(state.store(), run).await?.len();
        Ok(self.pictures.keep(run, sent))
    }
}

/// Makes the blocks of a thread.
pub(super) struct ThreadReader<'a> {
    state: &'a ServerState,
    request: &'a PageRequest,
    runs: BTreeMap<&'a RunId, &'a RunRow>,
    /// The position up to which a person has read.
    read_pos: i64,
}

impl<'a> ThreadReader<'a> {
    pub(super) fn new(
        state: &'a ServerState,
        request: &'a PageRequest,
        rows: &'a [RunRow],
        read_pos: i64,
    ) -> Self {
        let runs = rows.iter().map(|row| (&row.run, row)).collect();
        Self { state, request, runs, read_pos }
    }

    /// The blocks of these messages. A question that has a card is not told twice, and one that was
    /// answered is one line.
    pub(super) async fn blocks(
        &self,
        said: &[MessageRecord],
        open: &[OpenInterrupt],
    ) -> Result<Vec<ChatBlock>, Problem> {
        let is_open = |said: &MessageRecord| {
            let asked = said.slot.strip_prefix("ask:");
            open.iter().any(|ask| {
                asked == Some(ask.question.question.id.as_str())
                    && said.run_id.as_ref() == Some(&ask.question.run)
            })
        };
        let slot_of = |said: &MessageRecord, prefix: &str| {
            Some((said.run_id.clone()?, said.slot.strip_prefix(prefix)?.to_owned()))
        };
        let asked: BTreeSet<_> = said.iter().filter_map(|one| slot_of(one, "ask:")).collect();
        let answers: BTreeMap<_, _> =
            said.iter().filter_map(|one| Some((slot_of(one, "answer:")?, one))).collect();
        let is_unread = |one: &&MessageRecord| one.role != "user" && one.position > self.read_pos;
        let shown: Vec<_> = said.iter().filter(|one| !is_open(one)).collect();
        let unread = shown.iter().copied().find(is_unread).map(|one| one.position);
        let mut blocks = Vec::new();
        for one in shown {
            if slot_of(one, "answer:").is_some_and(|question| asked.contains(&question)) {
                continue;
            }
            let answer = slot_of(one, "ask:").and_then(|question| answers.get(&question));
            blocks.push(match answer {
                Some(answer) => ChatBlock::Answered(self.answered(one, answer).await?),
                None if one.role == "user" => ChatBlock::Said(self.said(one).await?),
                None => ChatBlock::Answer(self.answer(one, unread).await?),
            });
        }
        Ok(blocks)
    }

    fn row(&self, said: &MessageRecord) -> Option<&'a RunRow> {
        said.run_id.as_ref().and_then(|run| self.runs.get(run)).copied()
    }

    fn link(&self, said: &MessageRecord, seq: Option<i64>) -> Option<EventLink> {
        let run = self.row(said)?.run.to_string();
        seq.or_else(|| asked_at(&said.slot)).map(|seq| EventLink { run, seq })
    }

    async fn said(&self, said: &MessageRecord) -> Result<SaidBlock, Problem> {
        let begun = self.row(said).filter(|_| said.slot == "goal");
        let again = begun.filter(|row| row.status.is_final() && row.origin.parent.is_none());
        Ok(SaidBlock {
            id: said.id.clone(),
            when: self.request.short_time(said.created_at),
            text: said.content.clone(),
            event: self.link(said, begun.map(|_| 1)),
            again: again.map(|row| row.run.to_string()),
            pictures: match begun {
                Some(row) => self.pictures(&row.run).await?,
                None => Vec::new(),
            },
        })
    }

    async fn pictures(&self, run: &RunId) -> Result<Vec<SentPicture>, Problem> {
        let sent = self.state.behind.files.pictures(self.state, run).await?;
        let lang = self.request.lang();
        let picture = |at: usize| SentPicture {
            to: format!("/runs/{run}/pictures/{at}"),
            name: say(lang, words::chat::picture(&(at + 1))),
        };
        Ok((0..sent).map(picture).collect())
    }

    async fn answer(
        &self,
        said: &MessageRecord,
        unread: Option<i64>,
    ) -> Result<AnswerBlock, Problem> {
        let last = self.row(said).filter(|row| said.slot == "final" && row.status.is_final());
        let files = match last {
            Some(row) => self.files(&row.run).await,
            None => Vec::new(),
        };
        let run = match last {
            Some(row) => Some(self.summary(row).await?),
            None => None,
        };
        Ok(AnswerBlock {
            id: said.id.clone(),
            when: self.request.short_time(said.created_at),
            html: message_html(self.request.lang(), &said.content),
            event: self.link(said, last.map(|row| row.lease.next_seq.saturating_sub(1))),
            run,
            is_question: said.slot.starts_with("ask:"),
            is_first_unread: unread == Some(said.position),
            is_stopped: said.slot == "stopped",
            files,
        })
    }

    async fn files(&self, run: &RunId) -> Vec<(String, String)> {
        let names = self.state.behind.files.written(self.state, run).await;
        let place = |name: String| {
            let to = format!("/runs/{run}/files?name={}", percent_encoded(&name));
            (name, to)
        };
        names.into_iter().map(place).collect()
    }

    /// What is left of a card: who said what, when, and where if it was not said by the person.
    async fn answered(
        &self,
        asked: &MessageRecord,
        answer: &MessageRecord,
    ) -> Result<AnsweredLine, Problem> {
        let lang = self.request.lang();
        let id = asked.slot.strip_prefix("ask:").unwrap_or_default();
        let given = match &asked.run_id {
            Some(run) => self.state.store().inbox().given_answer(run, id).await?,
            None => None,
        };
        let by = given.map(|given| given.by).unwrap_or_default();
        let place = by.split(' ').next().filter(|place| !matches!(*place, "" | "user"));
        let when = self.request.short_time(answer.created_at);
        let (question, _) = with_choices(&asked.content);
        Ok(AnsweredLine {
            id: asked.id.clone(),
            event: self.link(asked, None),
            question: question.lines().next().unwrap_or_default().to_owned(),
            answer: say(lang, answer_words(id, &answer.content)),
            when: match place {
                Some(place) => format!("{when} · {place}"),
                None => when,
            },
        })
    }

    async fn summary(&self, row: &RunRow) -> Result<RunSummary, Problem> {
        let lang = self.request.lang();
        let took = duration(lang, row.times.updated_at - row.times.created_at);
        let events = row.lease.next_seq.saturating_sub(1);
        Ok(RunSummary {
            run: row.run.to_string(),
            short: short_id(row.run.as_str()).to_owned(),
            status: row.status.as_str(),
            status_words: settled_words(self.state, row, lang).await?,
            line: format!(
                "{} · {}",
                row.loop_name,
                say(lang, words::chat::events_line(&events, &took))
            ),
            can_retry: row.status.is_final() && row.origin.parent.is_none(),
        })
    }
}

/// The event that a question was asked after: its id begins with the number, as in `q41.0.ask`.
fn asked_at(slot: &str) -> Option<i64> {
    let id = slot.strip_prefix("ask:").or_else(|| slot.strip_prefix("answer:"))?;
    id.strip_prefix('q')?.split('.').next()?.parse().ok()
}

/// What an answer meant. The third part of a question's id says what it was about.
fn answer_words(question: &str, text: &str) -> Text {
    match question.split('.').nth(2) {
        Some("ask") => words::answered::said(&text),
        Some("settle") => match everloop_text::reported_outcome(text) {
            Some(OutcomeReport::Happened) => words::answered::happened(),
            Some(OutcomeReport::DidNot) => words::answered::did_not(),
            Some(OutcomeReport::Look) | None => words::answered::said(&text),
        },
        _ => match everloop_text::permission_answer(text) {
            PermissionAnswer::Once => words::answered::once(),
            PermissionAnswer::Always(_) => words::answered::always(),
            PermissionAnswer::Edit(_) => words::answered::edited(),
            PermissionAnswer::No { reason: Some(reason) } => words::answered::no_because(&reason),
            PermissionAnswer::No { reason: None } => words::answered::no(),
            PermissionAnswer::Unclear => words::answered::said(&text),
        },
    }
}

/// A block of a reply that is still being written, as the thread will show it.
pub(crate) async fn render(request: PageRequest, fields: FormFields) -> Response {
    let block = message_html(request.lang(), fields.get("text"));
    page(html! { (PreEscaped(block)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::Lang;

    #[test]
    fn the_run_that_came_first_makes_room_and_not_the_one_with_the_smallest_id() {
        let cache = RunCache::default();
        let run = |n: usize| RunId::new(format!("run_{n:04}"));
        for n in 1..=REMEMBERED_MAX {
            cache.keep(&run(n), n);
        }
        assert_eq!(cache.keep(&run(1), 1), 1, "what is known already needs no room");
        assert_eq!(cache.get(&run(2)), Some(2));
        cache.keep(&run(0), 0);
        assert_eq!((cache.get(&run(0)), cache.get(&run(1))), (Some(0), None));
    }

    #[test]
    fn a_question_links_to_the_event_that_its_id_names() {
        assert_eq!(asked_at("ask:q41.0.approve_bare.57"), Some(41));
        assert_eq!(asked_at("answer:q7.1.ask"), Some(7));
        assert_eq!((asked_at("final"), asked_at("ask:x")), (None, None));
    }

    #[test]
    fn an_answer_is_told_by_what_was_asked() {
        let said = |question: &str, text: &str| say(Lang::En, answer_words(question, text));
        assert_eq!(said("q4.0.approve", "y"), "you allowed it once");
        assert_eq!(said("q4.0.approve_bare.9", "n too early"), "you did not allow it: too early");
        assert_eq!(said("q4.0.ask", "y"), "you answered “y”");
        assert_eq!(said("q4.0.settle", "happened"), "you confirmed that it happened");
    }
}
