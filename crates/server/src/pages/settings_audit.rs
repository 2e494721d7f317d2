//! The audit as a page: filtered, the newest first, a page at a time.

use super::frame::PageRequest;
use crate::problem::Problem;
use crate::state::ServerState;
use everloop_app::audit_query::{AuditEvent, AuditNews, AuditQuery, AuditStep};
use everloop_app::call_words::call_words;
use everloop_engine::{AuditCall, Clock, SystemClock};
use everloop_pages::parts::say;
use everloop_pages::settings::{AuditFilter, AuditItem, AuditView};
use everloop_store::{DeletionRow, FactChange, RunRow};
use everloop_text::pages as words;
use everloop_types::{Lang, UtcMs};
use jiff::civil::Date;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Rows of one page.
const PAGE: usize = 50;

/// How far back it looks where no day is named.
const WEEK_MS: i64 = 7 * DAY_MS;

const DAY_MS: i64 = 24 * 3_600_000;

/// Characters of a call that a row shows.
const CALL_CHARS: usize = 120;

/// What of the audit is wanted.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AuditPageParams {
    #[serde(default)]
    event: String,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    day: String,
    /// How many rows come before: in a flattened query a number is text.
    #[serde(default)]
    from: String,
}

/// The moments between which the audit is read, by the reader's clock.
fn period(request: &PageRequest, day: &str) -> (UtcMs, UtcMs) {
    let now = SystemClock.now();
    let zone = request.reader.now.time_zone();
    let begin = day.parse::<Date>().ok().and_then(|day| day.to_zoned(zone.clone()).ok());
    match begin {
        Some(begin) => {
            let end = begin.tomorrow().map_or(now, |end| end.timestamp().as_millisecond());
            (begin.timestamp().as_millisecond(), end)
        }
        None => (now.saturating_sub(WEEK_MS), i64::MAX),
    }
}

pub(super) async fn read(
    request: &PageRequest,
    state: &ServerState,
    params: &AuditPageParams,
) -> Result<AuditView, Problem> {
    let lang = request.lang();
    let (since, until) = period(request, &params.day);
    let query = AuditQuery {
        since,
        only_failed: params.event == "failed",
        event: AuditEvent::parse(&params.event),
        ..AuditQuery::default()
    };
    let mut rows: Vec<(UtcMs, AuditItem)> = Vec::new();
    let mut tools = BTreeSet::new();
    let mut unread = 0_usize;
    query
        .read(state.store(), |news| match &news {
            AuditNews::Call(_, call) if call.at < until => {
                let tool = call.tool.clone().unwrap_or_default();
                tools.insert(tool.clone());
                if params.tool.is_empty() || params.tool == tool {
                    rows.extend(item_of(request, &news));
                }
            }
            AuditNews::Unreadable(..) | AuditNews::Gaps(_) => unread += 1,
            AuditNews::Call(..) => {}
            _ if params.tool.is_empty() => {
                rows.extend(item_of(request, &news).filter(|(at, _)| *at < until));
            }
            _ => {}
        })
        .await?;
    rows.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let total = rows.len();
    let from = params.from.parse::<usize>().unwrap_or(0).min(total);
    let link = |from: usize| {
        let AuditPageParams { event, tool, day, .. } = params;
        format!("/settings?section=audit&event={event}&tool={tool}&day={day}&from={from}")
    };
    let failed = if query.only_failed { "&failed=true" } else { "" };
    let tool =
        if params.tool.is_empty() { String::new() } else { format!("&tool={}", params.tool) };
    Ok(AuditView {
        filter: AuditFilter {
            event: params.event.clone(),
            tool: params.tool.clone(),
            day: params.day.clone(),
        },
        tools: tools.into_iter().filter(|name| !name.is_empty()).collect(),
        items: rows.into_iter().skip(from).take(PAGE).map(|(_, item)| item).collect(),
        total,
        more: (from + PAGE < total).then(|| link(from + PAGE)),
        file: format!("/v1/audit?since={since}{failed}{tool}"),
        trouble: (unread > 0).then(|| say(lang, words::settings_page::unreadable(&unread))),
    })
}

/// One row, and when it was.
fn item_of(request: &PageRequest, news: &AuditNews<'_>) -> Option<(UtcMs, AuditItem)> {
    match news {
        AuditNews::Call(row, call) => Some((call.at, call_item(request, row, call))),
        AuditNews::Fact(change) => Some((change.at, fact_item(request, change))),
        AuditNews::Step(row, step) => Some((step.at, step_item(request, row, step))),
        AuditNews::Deleted(row) => Some((row.at, deletion_item(request, row))),
        AuditNews::Unreadable(..) | AuditNews::Gaps(_) => None,
    }
}

fn call_item(request: &PageRequest, row: &RunRow, call: &AuditCall) -> AuditItem {
    let lang = request.lang();
    let (mark, ending) = ending_words(lang, call.end.ending);
    let words = call_words(lang, call.tool.as_deref().unwrap_or_default(), &call.args);
    AuditItem {
        when: request.short_time(call.at),
        to: format!("/runs/{}", row.run),
        what: words.chars().take(CALL_CHARS).collect(),
        state: mark,
        ending,
    }
}

fn fact_item(request: &PageRequest, change: &FactChange) -> AuditItem {
    let lang = request.lang();
    let what = words::memory::change::named(change.change.as_str());
    let what = what.map(|what| say(lang, what)).unwrap_or_default();
    AuditItem {
        when: request.short_time(change.at),
        to: format!("/memory?fact={}", change.fact),
        what: say(lang, words::memory::changed_by(&what, &change.by)),
        state: "succeeded",
        ending: what,
    }
}

fn step_item(request: &PageRequest, row: &RunRow, step: &AuditStep) -> AuditItem {
    AuditItem {
        when: request.short_time(step.at),
        to: format!("/runs/{}", row.run),
        what: format!("{}: {}", step.event.as_str(), step.what),
        state: "succeeded",
        ending: String::new(),
    }
}

fn deletion_item(request: &PageRequest, row: &DeletionRow) -> AuditItem {
    let event = AuditEvent::Deleted.as_str();
    let subject = row.run_id.as_ref().map_or(row.conversation_id.as_str(), |run| run.as_str());
    AuditItem {
        when: request.short_time(row.at),
        to: format!("/settings?section=audit&event={event}"),
        what: format!("{event}: {} {subject}", row.kind),
        state: "canceled",
        ending: row.by.clone(),
    }
}

/// The state and the word for how a call ended.
fn ending_words(lang: Lang, ending: &str) -> (&'static str, String) {
    let mark = match ending {
        "ok" => "succeeded",
        "open" => "running",
        "unknown" => "unsettled",
        "denied" | "canceled" => "canceled",
        _ => "failed",
    };
    let named = words::status::named(mark).map(|text| say(lang, text));
    (mark, named.unwrap_or_else(|| ending.to_owned()))
}
