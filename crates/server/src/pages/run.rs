//! One run: its waterfall, a step in full, its state at any event.

use super::activity::{self, ToldRun, view_at};
use super::chat::run_title;
use super::frame::PageRequest;
use super::respond::page;
use super::run_files::whole_step;
use super::run_times::{gap, settlements, share};
use super::step_facts::facts;
use super::step_plan::{StepGroups, item_diff};
use super::steps::{RunStep, steps};
use super::undoing;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::routes::messages::run_row;
use crate::routes::run_id;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::conversations::ListedConversation;
use everloop_app::run_list::{RunListRequest, RunPage};
use everloop_app::runs::RunDetails;
use everloop_app::{call_words, catalog, goals, replay};
use everloop_engine::{Clock, EventKind, ReplayVerdict, RunEvent, SystemClock};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{duration, grouped, say, status_words};
use everloop_pages::run::{
    self as view, RunHead, RunPageView, StateView, StepDetail, TravelView, WaterfallStep,
};
use everloop_pages::run_list::{self, RunRowView};
use everloop_pages::waterfall::StepKind;
use everloop_text::pages as words;
use everloop_text::runs;
use everloop_types::journal::{EntryKind, WaitingOn};
use everloop_types::{Lang, Status};
use maud::html;
use serde::Deserialize;

/// Steps of one page.
const STEPS_MAX: usize = 40;

/// Runs of one page of the list.
const RUNS_MAX: usize = 50;

/// Characters of an input or output that the page shows.
const SHOWN_CHARS: usize = 20_000;

/// What of a run is wanted.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RunPageParams {
    at: Option<i64>,
    step: Option<i64>,
    #[serde(default)]
    show: String,
    from: Option<usize>,
    verify: Option<u8>,
    /// `0` to draw long waits in their whole length.
    fold: Option<u8>,
    /// Two versions of the plan.
    older: Option<u32>,
    newer: Option<u32>,
}

/// Where the list goes on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RunListParams {
    before: Option<String>,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    Query(params): Query<RunPageParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let run = run_id(&id)?;
    let details = RunDetails::read(&state.app, state.store(), &run).await?;
    let told = ToldRun::read(&state, &run).await?;
    let title = run_title(&details.row);
    let (mut frame, _) = request.frame(&state, NavPlace::Runs, title).await?;
    frame.script = Some("run.js");
    let conversation = goals::read_conversation(state.store(), &details.row.conversation).await;
    let verdict = match params.verify {
        Some(_) => Some(verdict(&request, &state, &details).await?),
        // What a form of this page came to.
        None => state.flashes.get(request.session_name(), &format!("run:{run}")),
    };
    let shown = ShownRun { request: &request, details, told, params, verdict };
    Ok(page(view::view(&frame, &shown.view(&state, conversation.ok())?)))
}

async fn verdict(
    request: &PageRequest,
    state: &ServerState,
    details: &RunDetails,
) -> Result<String, Problem> {
    let lang = request.lang();
    let found = replay::verify_run(state.store(), &details.row.run, lang).await?;
    Ok(say(
        lang,
        match found {
            ReplayVerdict::Verified { decisions } => words::run::verified(&decisions),
            ReplayVerdict::Diverged { at, expected, found } => {
                words::run::not_verified(&format!("#{at}: {expected} / {found}"))
            }
            ReplayVerdict::OutcomeDiffers { expected, found } => {
                words::run::not_verified(&format!("{expected} / {found}"))
            }
            ReplayVerdict::Cannot { reason } => words::run::not_verified(&reason),
        },
    ))
}

/// The word for a status, and whether what was unknown is known by now.
pub(super) fn status_said(lang: Lang, status: Status, is_settled_since: bool) -> String {
    let said = status_words(status, lang);
    if is_settled_since { say(lang, runs::settled_since(&said)) } else { said }
}

/// A run on its way to the page.
struct ShownRun<'a> {
    request: &'a PageRequest,
    details: RunDetails,
    told: ToldRun,
    params: RunPageParams,
    verdict: Option<String>,
}

impl ShownRun<'_> {
    fn view(
        self,
        state: &ServerState,
        conversation: Option<ListedConversation>,
    ) -> Result<RunPageView, Problem> {
        let lang = self.request.lang();
        let is_over = self.details.row.status.is_final();
        let now = (!is_over).then(|| SystemClock.now());
        let all = steps(lang, &self.told.events, now);
        let filter = view::FILTERS.into_iter().find(|part| *part == self.params.show);
        let filter = filter.unwrap_or("all");
        let totals = view::FILTERS.map(|part| all.iter().filter(|step| step.is_of(part)).count());
        let wanted: Vec<&RunStep> = all.iter().filter(|step| step.is_of(filter)).collect();
        let from = self.first_step(&wanted);
        // A part of the steps has no items of the plan around it.
        let groups = if filter == "all" { StepGroups::of(&all) } else { StepGroups::default() };
        let bar = |(at, step): (usize, &&RunStep)| {
            let under = groups.of_step(at);
            WaterfallStep { under, ..step.bar() }
        };
        let shown: Vec<_> = wanted.iter().enumerate().skip(from).take(STEPS_MAX).map(bar).collect();
        let fold = if self.params.fold == Some(0) { "&fold=0" } else { "" };
        let id = &self.details.row.run;
        let turned = |from: usize| format!("/runs/{id}?show={filter}&from={from}{fold}");
        let (before, after) = (from.checked_sub(1), from + STEPS_MAX);
        let chosen = self.params.step;
        let chosen =
            all.iter().find(|step| Some(step.seq) == chosen).map(|step| self.detail(state, step));
        let travel = self.travel(&all);
        Ok(RunPageView {
            head: self.head(state, conversation, &all)?,
            filter: filter.to_owned(),
            totals,
            place: ((from + 1).min(wanted.len()), from + shown.len()),
            turn: (
                before.map(|_| turned(from.saturating_sub(STEPS_MAX))),
                (after < wanted.len()).then(|| turned(after)),
            ),
            keep: kept(filter, from, fold),
            is_unfolded: self.params.fold == Some(0),
            begin: all.iter().map(|step| step.from).min().unwrap_or(0),
            gap: gap(&self.details),
            steps: shown,
            groups: groups.groups,
            chosen,
            state: self.state_at(travel.at),
            travel,
            verdict: self.verdict,
        })
    }

    /// The step with which the page begins: the one that was asked for, else such that what is
    /// looked at is on it, else the newest ones of a run that goes on.
    fn first_step(&self, wanted: &[&RunStep]) -> usize {
        if let Some(from) = self.params.from {
            return from.min(wanted.len());
        }
        let looked_at = self.params.step.or(self.params.at);
        let place = match looked_at {
            Some(seq) => wanted.iter().rposition(|step| step.seq <= seq).unwrap_or(0),
            None if self.details.row.status.is_final() => 0,
            None => wanted.len().saturating_sub(1),
        };
        place / STEPS_MAX * STEPS_MAX
    }

    fn head(
        &self,
        state: &ServerState,
        conversation: Option<ListedConversation>,
        steps: &[RunStep],
    ) -> Result<RunHead, Problem> {
        let (lang, row) = (self.request.lang(), &self.details.row);
        let loops = catalog::loop_infos(&state.app, None)?;
        let title = conversation.as_ref().map(ListedConversation::title);
        let unknowns = self.details.open_unknowns().map(|open| {
            let call = call_words::call_words(lang, &open.call.tool, &open.call.args);
            (open.effect.place(), call)
        });
        let mut related = Vec::new();
        if let Some(origin) = &row.origin.forked {
            related.push((say(lang, words::run::forked_from()), origin.run.to_string()));
        }
        if let Some(parent) = &row.origin.parent {
            related.push((say(lang, words::run::parent()), parent.to_string()));
        }
        for event in &self.told.events {
            if let EventKind::ChildStarted { child } = &event.kind {
                related.push((say(lang, words::run::child_run()), child.to_string()));
            }
        }
        Ok(RunHead {
            id: row.run.to_string(),
            title: run_title(row),
            status: row.status.as_str(),
            status_words: status_said(lang, row.status, self.details.is_settled_since()),
            conversation: (row.conversation.to_string(), title.unwrap_or_default()),
            stats: self.stats(),
            is_over: row.status.is_final(),
            loops: loops.iter().map(|one| one.name.to_owned()).collect(),
            unknowns: unknowns.collect(),
            related,
            share: share(lang, steps, gap(&self.details)),
            recovered: self.told.events.iter().filter(|event| is_recovery(event)).count(),
            set_aside: row
                .quarantine_reason()
                .map(|reason| say(lang, words::run::set_aside(&reason))),
            settled: settlements(self.request, &self.details),
            asks: match &self.details.waiting_on {
                Some(WaitingOn::Person { question }) if !row.status.is_final() => {
                    Some(question.id.clone())
                }
                _ => None,
            },
        })
    }

    fn stats(&self) -> Vec<(String, String)> {
        let (lang, row, counts) = (self.request.lang(), &self.details.row, &self.details.counts);
        let reader = &self.request.reader;
        let tokens = words::chat::token_counts(
            &grouped(counts.usage.input_tokens),
            &grouped(counts.usage.output_tokens),
        );
        let created = row.times.created_at;
        let mut stats = vec![(words::run::began(), reader.moment(created))];
        let entries = &self.details.history.entries;
        let claimed = entries.iter().find(|entry| matches!(entry.kind, EntryKind::EpochStarted(_)));
        if let Some(queued) = claimed.map(|entry| entry.at - created).filter(|ms| *ms >= 1_000) {
            stats.push((words::run::queued_for(), duration(lang, queued)));
        }
        if row.status.is_final() {
            stats.push((words::run::ended(), reader.moment(row.times.updated_at)));
        }
        stats.push((words::chat::tokens(), say(lang, tokens)));
        if let Some(cost) = &self.details.cost {
            stats.push((words::run::cost(), cost.words()));
        }
        stats.push((words::chat::loop_name(), row.loop_name.clone()));
        let model = &self.told.history.frame().model.name;
        if !model.is_empty() {
            stats.push((words::chat::model(), model.clone()));
        }
        stats.into_iter().map(|(name, value)| (say(lang, name), value)).collect()
    }

    fn detail(&self, state: &ServerState, step: &RunStep) -> StepDetail {
        let lang = self.request.lang();
        let state_name = words::status::named(step.state).map(|name| say(lang, name));
        let tries = step.tries.iter().enumerate();
        let tries =
            tries.map(|(n, error)| ("failed", say(lang, words::run::attempt(&(n + 1), error))));
        let (input, output, exact) = whole_step(&self.details.history, step);
        let exact = exact.map(|is_exact| match is_exact {
            true => words::run::exact(),
            false => words::run::not_exact(),
        });
        StepDetail {
            exact: exact.map(|said| say(lang, said)),
            is_cut: (is_long(&input), is_long(&output)),
            seq: step.seq,
            last: step.last,
            name: step.name.clone(),
            state: step.state,
            state_words: state_name.unwrap_or_default(),
            facts: facts(self.request, &state.app, &self.details.history, step),
            tries: tries.collect(),
            input: activity::clipped(&input, SHOWN_CHARS),
            output: activity::clipped(&output, SHOWN_CHARS),
            diff: step.diff.clone(),
        }
    }

    fn travel(&self, steps: &[RunStep]) -> TravelView {
        let entries = &self.told.history.entries;
        let last = entries.last().map_or(0, |entry| entry.seq);
        let chosen = self.params.at.or(self.params.step).unwrap_or(last);
        let at = chosen.clamp(1.min(last), last);
        let story = replay::tell_story(&self.told.history, self.request.lang());
        let line = story.iter().rev().find(|line| line.seq <= at);
        let moment = entries.iter().find(|entry| entry.seq == at).map_or(0, |entry| entry.at);
        let mut kinds = vec![""; usize::try_from(last).unwrap_or(0)];
        let plans = steps.iter().filter(|step| step.kind == StepKind::Plan);
        let marks = self.told.events.iter().filter_map(|event| Some((event.seq, mark(event)?)));
        for (seq, mark) in marks.chain(plans.map(|plan| (plan.seq, "plan"))) {
            let place = usize::try_from(seq - 1).unwrap_or(0);
            if let Some(kind) = kinds.get_mut(place) {
                *kind = mark;
            }
        }
        let tokens = self.told.history.fork_tokens(at);
        let fork_tokens = tokens.map(|tokens| {
            // An estimate has two digits that mean something.
            let scale = 10_u64.pow((tokens.max(1).ilog10()).saturating_sub(1));
            grouped(tokens as u64 / scale * scale)
        });
        TravelView {
            fork_tokens,
            at,
            last,
            clock: self.request.clock(moment),
            moment,
            sentence: line.map(|line| line.text.clone()).unwrap_or_default(),
            kinds,
        }
    }

    fn state_at(&self, at: i64) -> StateView {
        let lang = self.request.lang();
        let then = view_at(&self.details.row.run, &self.told.events, at);
        let mut facts = vec![
            (say(lang, words::run::status()), status_words(then.status, lang)),
            (say(lang, words::run::steps()), then.counts.steps.to_string()),
        ];
        facts.extend(activity::used(lang, &then));
        if let Some(question) = &then.question {
            facts.push((say(lang, words::run::waits_for()), question.text.clone()));
        }
        let versions = self.plan_versions(at);
        let numbers: Vec<u32> = versions.iter().map(|(version, _)| *version).collect();
        let chosen = |wanted: Option<u32>, back: usize| {
            let usual = numbers.len().checked_sub(back).and_then(|place| numbers.get(place));
            let known = wanted.filter(|version| numbers.contains(version));
            known.or(usual.copied()).unwrap_or(0)
        };
        let compared = (chosen(self.params.older, 2), chosen(self.params.newer, 1));
        StateView {
            facts,
            plan: activity::plan(lang, &then),
            plan_diff: plan_diff(&versions, compared),
            versions: numbers,
            compared,
            message: then.message.text,
        }
    }

    /// Every version of the plan that had been written by then.
    fn plan_versions(&self, at: i64) -> Vec<(u32, Vec<&str>)> {
        let mut versions: Vec<(u32, Vec<&str>)> = Vec::new();
        for event in self.told.events.iter().take_while(|event| event.seq <= at) {
            let Some(plan) = event.kind.plan() else { continue };
            let items = plan.items.iter().map(|item| item.text.as_str()).collect();
            match versions.last_mut() {
                Some((version, last)) if *version == plan.version => *last = items,
                // Another state of the same items is no difference that can be shown.
                Some((_, last)) if *last == items => {}
                _ => versions.push((plan.version, items)),
            }
        }
        versions
    }
}

/// Two versions of a plan as lines of a diff.
fn plan_diff(versions: &[(u32, Vec<&str>)], (older, newer): (u32, u32)) -> Vec<String> {
    let of = |wanted: u32| versions.iter().rfind(|(version, _)| *version == wanted);
    match (of(older), of(newer)) {
        (Some((_, before)), Some((_, after))) => item_diff(before, after),
        _ => Vec::new(),
    }
}

/// What the link of a step says of the view. The page that a step is on needs no word.
fn kept(filter: &str, from: usize, fold: &str) -> String {
    let show = if filter == "all" { String::new() } else { format!("&show={filter}") };
    let place =
        if from.is_multiple_of(STEPS_MAX) { String::new() } else { format!("&from={from}") };
    show + &place + fold
}

fn is_recovery(event: &RunEvent) -> bool {
    matches!(event.kind, EventKind::RunRecovered { .. })
}

fn is_long(text: &str) -> bool {
    text.chars().nth(SHOWN_CHARS).is_some()
}

/// The mark of an event on the track.
fn mark(event: &RunEvent) -> Option<&'static str> {
    Some(match event.kind {
        EventKind::StepFailed { .. } | EventKind::ToolFailed(_) => "fail",
        EventKind::MessageCompleted { .. } | EventKind::StepStarted { .. } => "model",
        EventKind::ToolStarted { .. } | EventKind::ToolCompleted(_) => "tool",
        EventKind::QuestionAnswered { .. } | EventKind::RunStarted { .. } => "you",
        EventKind::RunRecovered { .. } => "rec",
        _ => return None,
    })
}

/// What a run did, as a piece of a page.
pub(crate) async fn activity(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let row = run_row(&state, &run_id(&id)?).await?;
    let told = ToldRun::read(&state, &row.run).await?;
    let (mut frame, _) = request.frame(&state, NavPlace::Runs, String::new()).await?;
    // Forms of this piece lead back to the page that it is shown on.
    frame.path = format!("/chat/{}", row.conversation);
    let rows = activity::rows(request.lang(), &told.events);
    let undo = undoing::offer(&request, &state, &row).await?;
    Ok(page(html! {
        (everloop_pages::chat::activity(&frame, &rows))
        @if let Some(undo) = &undo {
            div.acts { (everloop_pages::undo::offer(&frame, undo)) }
        }
    }))
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Query(params): Query<RunListParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let wanted = RunListRequest { statuses: Vec::new(), limit: RUNS_MAX, cursor: params.before };
    let runs = RunPage::read(&state.app, state.store(), wanted).await?;
    let rows: Vec<RunRowView> = runs
        .runs
        .iter()
        .map(|run| RunRowView {
            id: run.row.run.to_string(),
            title: run_title(&run.row),
            state: run.row.status.as_str(),
            words: status_said(lang, run.row.status, run.is_settled_since()),
            loop_name: run.row.loop_name.clone(),
            events: run.row.lease.next_seq.saturating_sub(1),
            when: request.short_time(run.row.times.updated_at),
        })
        .collect();
    let more = runs.next_cursor.map(|run| format!("/runs?before={run}"));
    let (frame, _) = request.frame(&state, NavPlace::Runs, say(lang, words::nav::runs())).await?;
    Ok(page(run_list::list(&frame, &rows, more.as_deref())))
}
