//! What a run did, from its events: rows for people, its plan, what it waits for.

use super::frame::PageRequest;
use everloop_app::call_words::call_words;
use everloop_app::runs;
use everloop_engine::{EventKind, History, Projector, RunEvent, RunView, ToolOutcome, WaitingFor};
use everloop_pages::chat::{ActivityRow, PlanView};
use everloop_pages::parts::{duration, grouped, say};
use everloop_text::pages as words;
use everloop_types::{Ending, ItemState, Lang, Progress, RunId, Status, UtcMs};
use std::collections::BTreeMap;

/// Characters of a result that a row shows.
const DETAIL_CHARS: usize = 600;

/// A run as its events tell it.
pub(crate) struct ToldRun {
    /// Its journal.
    pub(crate) history: History,
    /// Every event.
    pub(crate) events: Vec<RunEvent>,
    /// What they come to.
    pub(crate) view: RunView,
}

impl ToldRun {
    /// Reads a run.
    pub(crate) async fn read(
        state: &crate::state::ServerState,
        run: &RunId,
    ) -> Result<Self, crate::problem::Problem> {
        Ok(Self::of(run, runs::history(state.store(), run).await?))
    }

    /// A run whose journal was read.
    pub(crate) fn of(run: &RunId, history: History) -> Self {
        let events = Projector::past(&history);
        let view = view_at(run, &events, i64::MAX);
        Self { history, events, view }
    }
}

/// What the events up to one come to.
pub(crate) fn view_at(run: &RunId, events: &[RunEvent], at: i64) -> RunView {
    let mut view = RunView::new(run.clone());
    for event in events.iter().take_while(|event| event.seq <= at) {
        view.apply(event);
    }
    view
}

/// The state that an ending is drawn as.
pub(crate) fn ending_state(ending: Ending) -> &'static str {
    match ending {
        Ending::Ok => "succeeded",
        Ending::Error | Ending::TimedOut => "failed",
        Ending::Denied | Ending::Canceled => "canceled",
        Ending::Unknown => "unsettled",
    }
}

/// A text of at most so many characters.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn note(icon: &'static str, text: String) -> ActivityRow {
    ActivityRow {
        state: None,
        icon,
        tool: None,
        text,
        detail: None,
        took: String::new(),
        diff: Vec::new(),
        run: None,
    }
}

/// Rows of what a run did.
pub(crate) fn rows(lang: Lang, events: &[RunEvent]) -> Vec<ActivityRow> {
    let mut rows: Vec<(Option<String>, ActivityRow)> = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::ToolStarted { call_id, tool, arguments } => {
                let row = ActivityRow {
                    state: Some("running"),
                    tool: Some(tool.clone()),
                    ..note("tool", call_words(lang, tool, arguments))
                };
                rows.push((Some(call_id.to_string()), row));
            }
            EventKind::ToolCompleted(outcome) | EventKind::ToolFailed(outcome) => {
                let call = outcome.call_id.to_string();
                let open = rows.iter_mut().rev().find(|(id, _)| id.as_deref() == Some(&call));
                if let Some((_, row)) = open {
                    close(lang, row, outcome);
                }
            }
            kind => rows.extend(noted(lang, kind).map(|row| (None, row))),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn close(lang: Lang, row: &mut ActivityRow, outcome: &ToolOutcome) {
    row.state = Some(ending_state(outcome.ending));
    row.took = duration(lang, i64::try_from(outcome.duration_ms).unwrap_or(i64::MAX));
    row.diff = outcome.change.as_ref().map(|change| change.diff.clone()).unwrap_or_default();
    let result = outcome.result.trim();
    if row.diff.is_empty() && !result.is_empty() {
        row.detail = Some(clipped(result, DETAIL_CHARS));
    }
}

fn noted(lang: Lang, kind: &EventKind) -> Option<ActivityRow> {
    Some(match kind {
        EventKind::PlanCreated { plan } | EventKind::PlanUpdated { plan } => {
            let reason = plan.note.as_ref().map(|note| everloop_text::render(note, lang));
            let title = plan_title(lang, plan);
            match reason.filter(|reason| !reason.is_empty()) {
                Some(reason) => note("edit", format!("{title}: {reason}")),
                None if matches!(kind, EventKind::PlanCreated { .. }) => note("list", title),
                None => return None,
            }
        }
        EventKind::RoundSummarized { text, .. } => note("list", text.clone()),
        EventKind::RunRecovered { .. } => note("retry", say(lang, words::chat::recovered())),
        EventKind::StepRetrying { error, .. } => {
            note("retry", say(lang, words::chat::retrying(error)))
        }
        EventKind::StepFailed { error, .. } => {
            let text = say(lang, words::chat::model_failed(error));
            ActivityRow { state: Some("failed"), ..note("model", text) }
        }
        EventKind::RunSteered { text } => note("reply", say(lang, words::chat::steered(text))),
        EventKind::ChildStarted { child } => ActivityRow {
            run: Some(child.to_string()),
            ..note("fork", say(lang, words::chat::child_started()))
        },
        EventKind::MessageCompleted { text, tool_calls, .. }
            if *tool_calls > 0 && !text.trim().is_empty() =>
        {
            note("chat", clipped(text.trim(), DETAIL_CHARS))
        }
        EventKind::StepNoted(said) => note("info", said.text.clone()),
        _ => return None,
    })
}

/// The name of a plan, a list or a round.
pub(crate) fn plan_title(lang: Lang, plan: &Progress) -> String {
    match (&plan.round, plan.version) {
        (Some(round), _) => say(lang, words::chat::round(&round.number, &round.most)),
        (None, 0) => say(lang, words::chat::todo_list()),
        (None, version) => say(lang, words::chat::plan_version(&version)),
    }
}

/// The state that an item is drawn as.
pub(super) fn item_state(state: ItemState) -> &'static str {
    match state {
        ItemState::Pending => "pending",
        ItemState::InProgress => "running",
        ItemState::Completed => "succeeded",
        ItemState::Failed => "failed",
        ItemState::Skipped => "skipped",
    }
}

/// The plan of a run, if it has one.
pub(crate) fn plan(lang: Lang, view: &RunView) -> Option<PlanView> {
    let plan = &view.plan;
    if plan.items.is_empty() {
        return None;
    }
    let is_over = view.ending.is_some();
    let open = if view.status == Status::Waiting { "waiting" } else { "running" };
    let items = plan.items.iter().enumerate().map(|(at, item)| {
        let state = match item_state(item.state) {
            "running" if is_over => "pending",
            "running" => open,
            "pending" if plan.current == Some(at) && !is_over => open,
            state => state,
        };
        (state, item.text.clone())
    });
    Some(PlanView {
        title: plan_title(lang, plan),
        items: items.collect(),
        times: Vec::new(),
        note: plan.note.as_ref().map(|note| everloop_text::render(note, lang)),
        run: view.run.to_string(),
    })
}

/// How long each item of the newest plan took, from when it was begun until it was closed.
pub(crate) fn plan_times(lang: Lang, events: &[RunEvent]) -> Vec<String> {
    let mut begun: BTreeMap<&str, UtcMs> = BTreeMap::new();
    let mut took: BTreeMap<&str, i64> = BTreeMap::new();
    let mut newest = None;
    for event in events {
        let (EventKind::PlanCreated { plan } | EventKind::PlanUpdated { plan }) = &event.kind
        else {
            continue;
        };
        let Some(at) = event.ts else { continue };
        for (place, item) in plan.items.iter().enumerate() {
            match item.state {
                ItemState::Completed | ItemState::Failed => {
                    let from = begun.get(item.text.as_str()).copied();
                    from.map(|from| *took.entry(&item.text).or_insert(at - from));
                }
                _ if item.state == ItemState::InProgress || plan.current == Some(place) => {
                    begun.entry(&item.text).or_insert(at);
                }
                _ => {}
            }
        }
        newest = Some(plan);
    }
    let words = |text: &String| took.get(text.as_str()).map(|ms| duration(lang, *ms));
    let items = newest.into_iter().flat_map(|plan| &plan.items);
    items.map(|item| words(&item.text).unwrap_or_default()).collect()
}

/// What a run does or waits for now, in words.
pub(crate) fn doing(request: &PageRequest, status: Status, view: &RunView) -> String {
    let lang = request.lang();
    let text = match (&view.waiting, status) {
        (_, Status::Queued) => words::chat::queued(),
        (Some(WaitingFor::User), Status::Waiting) => words::chat::waits_person(),
        (Some(WaitingFor::Model { error }), Status::Waiting) => words::chat::waits_model(error),
        (Some(WaitingFor::Child { .. }), Status::Waiting) => words::chat::waits_child(),
        (Some(WaitingFor::Timer { until }), Status::Waiting) => {
            words::chat::waits_until(&request.short_time(*until))
        }
        _ => match view.open_calls().last() {
            Some(call) => return call_words(lang, &call.tool, &call.arguments),
            None if view.reply.is_some() => words::chat::asks_model(),
            None => words::chat::works(),
        },
    };
    say(lang, text)
}

/// What a run used, as names and values.
pub(crate) fn used(lang: Lang, view: &RunView) -> Vec<(String, String)> {
    let usage = &view.counts.usage;
    let tokens =
        words::chat::token_counts(&grouped(usage.input_tokens), &grouped(usage.output_tokens));
    let mut all = vec![(say(lang, words::chat::loop_name()), view.loop_name.clone())];
    if usage.input_tokens + usage.output_tokens > 0 {
        all.push((say(lang, words::chat::tokens()), say(lang, tokens)));
    }
    all
}
