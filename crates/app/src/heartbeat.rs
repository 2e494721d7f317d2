//! What the program says by itself: what is open, and reminders that nobody saw.
//!
//! ```text
//!   heartbeat.every ──► open todos, runs, facts, schedules ──not said within a day──► one message
//!   a reminder fired ──nobody saw it in time──► one message in the conversation of reminders
//! ```
//!
//! Nothing to say is no message and no conversation. Deliberately absent: a model. The words are
//! plain lists, so that they cost nothing and are there without a network.

use crate::app::App;
use crate::error::AppError;
use crate::facts;
use crate::router::question_of;
use everloop_agenda::kept::moment;
use everloop_agenda::show::{DisplayContext, firing_line};
use everloop_engine::Engine;
use everloop_store::{
    FactFilter, FactRow, Firing, NewConversation, OwnMessage, RunFilter, RunRow, Store,
};
use everloop_text as text;
use everloop_types::{ConversationId, FactStatus, Status, UtcMs, one_line};
use jiff::civil::Time;
use std::sync::Arc;

/// The channel and the conversation of the heartbeat.
pub const HEARTBEAT: &str = "heartbeat";

/// The channel and the conversation of reminders that nobody saw.
pub const REMINDERS: &str = "reminders";

/// How long the same thing is not said again, and how far ahead todos are looked at.
const DAY_MS: i64 = 86_400_000;

/// How often reminders that nobody saw are looked for.
const LOOK_MS: u64 = 5_000;

/// Reminders that are told at once, and things in one message.
const TOLD_MAX: usize = 100;
const OPEN_MAX: usize = 50;

/// Runs that are looked at.
const RUNS_MAX: usize = 200;

/// Facts that are looked at.
const FACTS_MAX: usize = 20;

/// Characters of a goal or a fact that are shown.
const GOAL_CHARS: usize = 80;

/// Something that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenThing {
    /// The same for the same thing in the same state.
    pub key: String,
    /// What is said of it.
    pub line: String,
}

/// What is open and worth a word at a moment.
///
/// # Errors
/// If the store fails.
pub async fn open_things(app: &App, store: &Store, now: UtcMs) -> Result<Vec<OpenThing>, AppError> {
    let reader = reader_of(app, now);
    let mut open = todos(store, &reader, now).await?;
    open.extend(runs(app, store, &reader, now).await?);
    open.extend(proposed_facts(app, store).await?);
    for entry in store.agenda().schedules().await? {
        let plan = entry.said.run.as_ref();
        let pause = plan.and_then(|plan| plan.paused.as_ref()).filter(|it| it.failures > 0);
        if let Some(pause) = pause {
            let title = one_line(&entry.said.title);
            let line = text::heartbeat::paused(&entry.id, &title).in_lang(app.lang);
            open.push(OpenThing { key: format!("schedule:{}:{}", entry.id, pause.at), line });
        }
    }
    Ok(open)
}

async fn todos(
    store: &Store,
    reader: &DisplayContext,
    now: UtcMs,
) -> Result<Vec<OpenThing>, AppError> {
    let mut open = Vec::new();
    for todo in store.agenda().todos().await?.iter().filter(|todo| todo.done_at.is_none()) {
        let Some(due) = todo.said.due_at.filter(|due| *due < now.saturating_add(DAY_MS)) else {
            continue;
        };
        let (id, at, words) = (&todo.id, &reader.moment(due), &one_line(&todo.said.text));
        let (state, line) = match due < now {
            true => ("overdue", text::heartbeat::Overdue { id, text: words, at }.text()),
            false => ("due", text::heartbeat::Due { id, text: words, at }.text()),
        };
        let line = line.in_lang(reader.lang);
        open.push((due, OpenThing { key: format!("todo:{id}:{state}:{due}"), line }));
    }
    open.sort_by_key(|(due, _)| *due);
    Ok(open.into_iter().map(|(_, thing)| thing).collect())
}

async fn runs(
    app: &App,
    store: &Store,
    reader: &DisplayContext,
    now: UtcMs,
) -> Result<Vec<OpenThing>, AppError> {
    let statuses = vec![Status::Queued, Status::Running, Status::Waiting, Status::Quarantined];
    let filter = RunFilter { statuses, before: None, most: RUNS_MAX };
    let patience = app.settings.heartbeat.patience.signed_ms();
    let is_own = |row: &RunRow| row.origin.parent.is_none() && !row.origin.imported;
    let is_old = |row: &RunRow| row.times.updated_at <= now.saturating_sub(patience);
    let mut open = Vec::new();
    for row in store.runs().list(&filter).await?.iter().filter(|row| is_own(row) && is_old(row)) {
        let (run, since) = (&row.run.short(), &reader.moment(row.times.updated_at));
        let goal = &one_line(&row.goal).chars().take(GOAL_CHARS).collect::<String>();
        let line = match row.status {
            Status::Quarantined => text::heartbeat::quarantined(run, goal),
            Status::Waiting if question_of(store, &row.run).await?.is_some() => {
                text::heartbeat::Question { run, goal, since }.text()
            }
            Status::Waiting => text::heartbeat::Waiting { run, goal, since }.text(),
            _ => text::heartbeat::Stuck { run, goal, since }.text(),
        };
        let key = format!("run:{}:{}:{}", row.run, row.status.as_str(), row.times.updated_at);
        open.push(OpenThing { key, line: line.in_lang(reader.lang) });
    }
    Ok(open)
}

/// Facts that somebody has to decide on.
async fn proposed_facts(app: &App, store: &Store) -> Result<Vec<OpenThing>, AppError> {
    let status = Some(FactStatus::Proposed);
    let filter = FactFilter { status, most: FACTS_MAX, ..FactFilter::default() };
    let open = |fact: FactRow| {
        let words = one_line(&fact.text).chars().take(GOAL_CHARS).collect::<String>();
        let line = text::heartbeat::fact(&facts::short_id(&fact.id), &words).in_lang(app.lang);
        OpenThing { key: format!("fact:{}", fact.id), line }
    };
    Ok(facts::list(store, &filter).await?.into_iter().map(open).collect())
}

/// Looks once, and speaks up if there is something that was not said within a day. Returns what was
/// said.
///
/// # Errors
/// If the store fails.
pub async fn beat(app: &App, store: &Store, now: UtcMs) -> Result<Option<String>, AppError> {
    if !is_awake(app, now) {
        return Ok(None);
    }
    let since = now.saturating_sub(DAY_MS);
    let said = store.conversations().keys_said(since).await?;
    let mut open = open_things(app, store, now).await?;
    open.retain(|thing| !said.contains(&thing.key));
    open.truncate(OPEN_MAX);
    let Some(first) = open.first() else { return Ok(None) };
    let message_id = format!("heartbeat:{}:{now}", first.key);
    let begin = text::heartbeat::begin().in_lang(app.lang);
    let lines = open.iter().map(|thing| format!("- {}", thing.line));
    let body = std::iter::once(begin).chain(lines).collect::<Vec<_>>().join("\n");
    let conversation = own_conversation(HEARTBEAT, now);
    let message = OwnMessage { conversation, message_id, body: body.clone() };
    let keys: Vec<String> = open.into_iter().map(|thing| thing.key).collect();
    if !store.conversations().say_once(&message, &keys, since).await? {
        return Ok(None);
    }
    name(store, &message, text::heartbeat::title().in_lang(app.lang)).await?;
    Ok(Some(body))
}

/// Whether it may speak at this time of the day.
fn is_awake(app: &App, now: UtcMs) -> bool {
    let time = reader_of(app, now).now.time();
    let (from, until) = (app.settings.heartbeat.from.time(), app.settings.heartbeat.until.time());
    within(time, from, until)
}

/// Whether a time is in a span of the day, which may go over midnight. An empty span is the whole
/// day.
fn within(time: Time, from: Time, until: Time) -> bool {
    match from < until {
        true => from <= time && time < until,
        false => from <= time || time < until,
    }
}

/// Tells of reminders that nobody saw in time. Returns how many.
///
/// # Errors
/// If the store fails.
pub async fn tell_unseen(app: &App, store: &Store, now: UtcMs) -> Result<usize, AppError> {
    let Some(after) = app.settings.agenda.unseen_after else { return Ok(0) };
    let before = now.saturating_sub(after.signed_ms());
    let mut told = 0;
    for firing in store.agenda().unseen_firings(before, TOLD_MAX).await? {
        told += usize::from(tell(app, store, &firing, now).await?);
    }
    Ok(told)
}

/// Tells of one reminder in the conversation of those that nobody saw, once.
pub(crate) async fn tell(
    app: &App,
    store: &Store,
    firing: &Firing,
    now: UtcMs,
) -> Result<bool, AppError> {
    let due = firing.due;
    let message_id = format!("reminder:{}:{}:{}", due.kind.as_str(), due.subject, due.due_at);
    let body = firing_line(&reader_of(app, now), firing);
    let conversation = own_conversation(REMINDERS, now);
    let message = OwnMessage { conversation, message_id, body };
    let told = store.agenda().tell_firing(due, &message).await?;
    if told {
        name(store, &message, text::heartbeat::reminders().in_lang(app.lang)).await?;
    }
    Ok(told)
}

/// The one conversation of a channel of the program itself.
fn own_conversation(channel: &str, now: UtcMs) -> NewConversation {
    NewConversation {
        id: ConversationId::new(format!("conv_{channel}")),
        channel: channel.to_owned(),
        thread: None,
        workspace: None,
        now,
    }
}

/// Gives the conversation a title, unless it has one.
async fn name(store: &Store, message: &OwnMessage, title: String) -> Result<(), AppError> {
    let id = &message.conversation.id;
    let row = store.conversations().get(id).await?;
    if row.is_some_and(|row| row.title.is_none()) {
        store.conversations().rename(id, Some(&title), message.conversation.now).await?;
    }
    Ok(())
}

fn reader_of(app: &App, now: UtcMs) -> DisplayContext {
    let mut reader = app.reader_at(None);
    reader.now = moment(now).to_zoned(reader.now.time_zone().clone());
    reader
}

/// Speaks up for as long as the process lives. A store that fails is tried again.
pub(crate) async fn keep_telling(app: App, engine: Arc<Engine>) {
    let (store, clock) = (engine.store().clone(), engine.shared_clock());
    let mut last: Option<UtcMs> = None;
    loop {
        let now = clock.now();
        let _ = tell_unseen(&app, &store, now).await;
        if let Some(every) = app.settings.heartbeat.every {
            let is_time = last.is_none_or(|last| now.saturating_sub(last) >= every.signed_ms());
            if is_time && beat(&app, &store, now).await.is_ok() {
                last = Some(now);
            }
        }
        clock.pause(LOOK_MS).await;
    }
}

#[cfg(test)]
mod tests {
    use super::within;
    use jiff::civil::time;

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        let at = |hour| time(hour, 0, 0, 0);
        assert!(within(at(8), at(8), at(22)) && !within(at(22), at(8), at(22)));
        assert!(within(at(23), at(22), at(6)) && within(at(5), at(22), at(6)));
        assert!(!within(at(12), at(22), at(6)));
        assert!(within(at(12), at(0), at(0)), "an empty span is the whole day");
    }
}
