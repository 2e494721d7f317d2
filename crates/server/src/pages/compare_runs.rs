//! Two runs side by side.

use super::activity::clipped;
use super::chat::run_title;
use super::compare::newest_runs;
use super::frame::{PageRequest, missing};
use super::respond::page;
use super::table::signed;
use crate::problem::Problem;
use crate::routes::messages::run_row;
use crate::routes::run_id;
use crate::state::ServerState;
use axum::response::Response;
use everloop_app::replay;
use everloop_app::run_diff::AlignedRuns;
use everloop_app::runs::RunDetails;
use everloop_engine::{DiffPosition, SideBySideRow};
use everloop_pages::compare_runs::{self as view, PairLine, PairRow, PairSide, RunPairView};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{duration, grouped, say, status_words};
use everloop_pages::run_list::RunRowView;
use everloop_store::RunRow;
use everloop_text::pages as words;
use everloop_types::Lang;
use std::collections::BTreeMap;

/// Rows of a page, folded ones included.
const ROWS_MAX: usize = 200;

/// Equal entries after the first difference that are folded.
const FOLDED_FROM: usize = 3;

/// Characters of an entry.
const LINE_CHARS: usize = 240;

pub(super) async fn show(
    state: &ServerState,
    request: &PageRequest,
    one: &str,
    other: &str,
) -> Result<Response, Problem> {
    let (one, other) = (run_id(one)?, run_id(other)?);
    let ids = [one.as_str(), other.as_str()];
    let aligned = AlignedRuns::read(&state.app, state.store(), ids).await?;
    let lang = request.lang();
    let title = say(lang, words::compare::runs_title());
    let (frame, _) = request.frame(state, NavPlace::Compare, title).await?;
    Ok(page(view::view(&frame, &pair_view(lang, &aligned))))
}

pub(super) async fn choose(
    state: &ServerState,
    request: &PageRequest,
    one: &str,
) -> Result<Response, Problem> {
    let run = run_row(state, &run_id(one)?).await.map_err(|_| missing())?;
    let lang = request.lang();
    let mut rows = Vec::new();
    for listed in newest_runs(state).await?.iter().filter(|listed| listed.row.run != run.run) {
        let row = &listed.row;
        let is_fork = |fork: &RunRow, of: &RunRow| {
            fork.origin.forked.as_ref().is_some_and(|origin| origin.run == of.run)
        };
        let is_related = row.goal == run.goal || is_fork(row, &run) || is_fork(&run, row);
        let view = RunRowView {
            id: row.run.to_string(),
            title: run_title(row),
            state: row.status.as_str(),
            words: status_words(row.status, lang),
            loop_name: row.loop_name.clone(),
            events: row.lease.next_seq.saturating_sub(1),
            when: request.short_time(row.times.updated_at),
        };
        rows.push((view, is_related));
    }
    rows.sort_by_key(|(_, is_related)| !is_related);
    let title = say(lang, words::compare::runs_title());
    let (frame, _) = request.frame(state, NavPlace::Compare, title).await?;
    Ok(page(view::choose(&frame, (run.run.as_str(), &run_title(&run)), &rows)))
}

fn pair_view(lang: Lang, aligned: &AlignedRuns) -> RunPairView {
    let [one, other] = &aligned.sides;
    let stories = [story(lang, one), story(lang, other)];
    let mut rows = Vec::new();
    let mut equal: Vec<[PairLine; 2]> = Vec::new();
    let mut is_first = true;
    let mut part = None;
    for row in aligned.rows.iter().take(ROWS_MAX) {
        let lines = lines(row, &stories);
        if let (true, [Some(one), Some(other)]) = (row.is_equal, &lines) {
            equal.push([one.clone(), other.clone()]);
            continue;
        }
        if is_first {
            part = Some(lines.clone());
        }
        fold(&mut rows, &mut equal, is_first);
        rows.push(PairRow::Differs { is_first, lines });
        is_first = false;
    }
    fold(&mut rows, &mut equal, is_first);
    RunPairView {
        sentence: sentence(lang, aligned, part),
        sides: [side(lang, one, None), side(lang, other, Some(one))],
        rows,
        hidden: aligned.rows.len().saturating_sub(ROWS_MAX),
    }
}

/// Equal entries become one row, except a few after the first difference, which are context.
fn fold(rows: &mut Vec<PairRow>, equal: &mut Vec<[PairLine; 2]>, is_beginning: bool) {
    let lines = std::mem::take(equal);
    if lines.is_empty() {
        return;
    }
    if is_beginning || lines.len() >= FOLDED_FROM {
        rows.push(PairRow::Equal(lines));
        return;
    }
    rows.extend(
        lines.into_iter().map(|[one, other]| PairRow::Differs {
            is_first: false,
            lines: [Some(one), Some(other)],
        }),
    );
}

fn sentence(lang: Lang, aligned: &AlignedRuns, part: Option<[Option<PairLine>; 2]>) -> String {
    let (Some(differs), Some(part)) = (aligned.differs, part) else {
        return say(lang, words::compare::runs_equal());
    };
    let place = |line: &Option<PairLine>| match line {
        Some(line) => format!("#{}", line.seq),
        None => say(lang, words::compare::nowhere()),
    };
    let what = words::compare::differs::named(differs.as_str()).map(|what| say(lang, what));
    let (one, other) = (place(&part[0]), place(&part[1]));
    let what = what.unwrap_or_default();
    say(lang, words::compare::RunsPart { what: &what, a: &one, b: &other }.text())
}

/// What the story of a run says of each entry.
fn story(lang: Lang, run: &RunDetails) -> BTreeMap<i64, String> {
    let mut story: BTreeMap<i64, String> = BTreeMap::new();
    for line in replay::tell_story(&run.history, lang) {
        story.entry(line.seq).or_insert(line.text);
    }
    story
}

fn lines(row: &SideBySideRow, stories: &[BTreeMap<i64, String>; 2]) -> [Option<PairLine>; 2] {
    let line = |place: &Option<DiffPosition>, story: &BTreeMap<i64, String>| {
        let place = place.as_ref()?;
        // A beginning has two lines, the loop and the goal; of an ending the words matter.
        let told = story.get(&place.seq).filter(|_| place.kind != "RunCreated");
        let words = told.map_or(place.says.as_str(), String::as_str);
        let icon = match place.kind {
            "EffectPlanned" if place.says.starts_with('#') => "tool",
            "EffectPlanned" => "model",
            "EffectFinished" => "check",
            "Input" => "user",
            "Forked" => "fork",
            _ => "journal",
        };
        Some(PairLine { seq: place.seq, icon, words: clipped(words, LINE_CHARS) })
    };
    [line(&row.one, &stories[0]), line(&row.other, &stories[1])]
}

fn side(lang: Lang, run: &RunDetails, base: Option<&RunDetails>) -> PairSide {
    let tokens = |run: &RunDetails| run.counts.usage.input_tokens + run.counts.usage.output_tokens;
    let worked = |run: &RunDetails| run.counts.work_ms;
    let delta = |of: &dyn Fn(&RunDetails) -> u64| {
        let base = base.map(of).filter(|base| *base > 0)?;
        Some(signed((of(run) as f64 / base as f64 - 1.0) * 100.0))
    };
    let usage = &run.counts.usage;
    let counts =
        words::chat::token_counts(&grouped(usage.input_tokens), &grouped(usage.output_tokens));
    let calls = words::compare::call_counts(&run.counts.model_calls, &run.counts.tool_calls);
    let work_ms = i64::try_from(worked(run)).unwrap_or(i64::MAX);
    PairSide {
        id: run.row.run.to_string(),
        title: run_title(&run.row),
        loop_name: run.row.loop_name.clone(),
        status: (run.row.status.as_str(), status_words(run.row.status, lang)),
        facts: vec![
            (say(lang, words::chat::tokens()), say(lang, counts), delta(&tokens)),
            (say(lang, words::run::worked()), duration(lang, work_ms), delta(&worked)),
            (say(lang, words::compare::used_calls()), say(lang, calls), None),
        ],
    }
}
