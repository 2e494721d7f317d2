//! The audit as a page: filtered, the newest first, a page at a time.

use super::activity::clipped;
use super::frame::PageRequest;
use crate::address::with_query;
use crate::problem::Problem;
use crate::state::ServerState;
use everloop_app::audit_query::{AuditEvent, AuditNews, AuditQuery, AuditStep};
use everloop_app::call_words::call_words;
use everloop_app::conversations::short_id;
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

/// Rows that can be looked through page by page. The file has all of them.
const ROWS_MAX: usize = 10_000;

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
fn period(request: &PageRequest, day: &str) -> (UtcMs, Option<UtcMs>) {
    let now = SystemClock.now();
    let zone = request.reader.now.time_zone();
    let begin = day.parse::<Date>().ok().and_then(|day| day.to_zoned(zone.clone()).ok());
    match begin {
        Some(begin) => {
            let end = begin.tomorrow().map_or(now, |end| end.timestamp().as_millisecond());
            (begin.timestamp().as_millisecond(), Some(end))
        }
        None => (now.saturating_sub(WEEK_MS), None),
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
        until,
        only_failed: params.event == "failed",
        event: AuditEvent::parse(&params.event),
        ..AuditQuery::default()
    };
    let from = params.from.parse::<usize>().unwrap_or(0).min(ROWS_MAX);
    let mut rows = NewestRows::new(from + PAGE);
    let mut tools = BTreeSet::new();
    let mut unread = 0_usize;
    query
        .read(state.store(), |news| match &news {
            AuditNews::Call(_, call) => {
                let tool = call.tool.clone().unwrap_or_default();
                if params.tool.is_empty() || params.tool == tool {
                    rows.add(call.at, || item_of(request, &news));
                }
                tools.insert(tool);
            }
            AuditNews::Unreadable(..) | AuditNews::Gaps(_) => unread += 1,
            AuditNews::Step(_, AuditStep { at, .. })
            | AuditNews::Fact(FactChange { at, .. })
            | AuditNews::Deleted(DeletionRow { at, .. }) => {
                if params.tool.is_empty() {
                    rows.add(*at, || item_of(request, &news));
                }
            }
        })
        .await?;
    let (total, items) = rows.finish();
    let next = from + PAGE;
    let has_more = next < total.min(ROWS_MAX);
    Ok(AuditView {
        filter: AuditFilter {
            event: params.event.clone(),
            tool: params.tool.clone(),
            day: params.day.clone(),
        },
        tools: tools.into_iter().filter(|name| !name.is_empty()).collect(),
        items: items.into_iter().skip(from).collect(),
        total,
        more: has_more.then(|| page_address(params, next)),
        file: file_address(&query, params),
        trouble: (unread > 0).then(|| say(lang, words::settings_page::unreadable(&unread))),
    })
}

/// The page with the rows after the first `from`.
fn page_address(params: &AuditPageParams, from: usize) -> String {
    let AuditPageParams { event, tool, day, .. } = params;
    let from = from.to_string();
    let values = [("event", event), ("tool", tool), ("day", day), ("from", &from)];
    with_query("/settings?section=audit", &values.map(|(name, value)| (name, value.as_str())))
}

/// The file with exactly the rows that the page lists.
fn file_address(query: &AuditQuery, params: &AuditPageParams) -> String {
    let until = query.until.map(|until| until.to_string()).unwrap_or_default();
    let values = [
        ("since", query.since.to_string().as_str()),
        ("until", &until),
        ("failed", if query.only_failed { "true" } else { "" }),
        ("event", query.event.map_or("", AuditEvent::as_str)),
        ("tool", &params.tool),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    with_query("/v1/audit", &values)
}

/// The newest rows of many, a bounded number of them.
struct NewestRows<T> {
    most: usize,
    total: usize,
    /// At most twice as many as are wanted; in order only after [`Self::shorten`].
    rows: Vec<(UtcMs, T)>,
}

impl<T> NewestRows<T> {
    fn new(most: usize) -> Self {
        Self { most, total: 0, rows: Vec::new() }
    }

    fn add(&mut self, at: UtcMs, make: impl FnOnce() -> Option<T>) {
        self.total += 1;
        self.rows.extend(make().map(|row| (at, row)));
        if self.rows.len() >= self.most.saturating_mul(2) {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.rows.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        self.rows.truncate(self.most);
    }

    /// How many there were in all, and the newest ones, the newest first.
    fn finish(mut self) -> (usize, Vec<T>) {
        self.shorten();
        (self.total, self.rows.into_iter().map(|(_, row)| row).collect())
    }
}

/// One row.
fn item_of(request: &PageRequest, news: &AuditNews<'_>) -> Option<AuditItem> {
    match news {
        AuditNews::Call(row, call) => Some(call_item(request, row, call)),
        AuditNews::Fact(change) => Some(fact_item(request, change)),
        AuditNews::Step(row, step) => Some(step_item(request, row, step)),
        AuditNews::Deleted(row) => Some(deletion_item(request, row)),
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
        what: clipped(&words, CALL_CHARS),
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
        what: step_words(request.lang(), step),
        state: "succeeded",
        ending: String::new(),
    }
}

fn deletion_item(request: &PageRequest, row: &DeletionRow) -> AuditItem {
    let what = match &row.run_id {
        Some(run) => words::settings_page::run_deleted(&run.short()),
        None => words::settings_page::conversation_deleted(&short_id(row.conversation_id.as_str())),
    };
    AuditItem {
        when: request.short_time(row.at),
        to: format!("/settings?section=audit&event={}", AuditEvent::Deleted.as_str()),
        what: say(request.lang(), what),
        state: "canceled",
        ending: row.by.clone(),
    }
}

/// What happened to a run, and the tool that permission was asked for.
fn step_words(lang: Lang, step: &AuditStep) -> String {
    let what = words::audit_step::named(step.what).map(|words| say(lang, words));
    let what = what.unwrap_or_else(|| step.what.to_owned());
    match step.detail["tool"].as_str() {
        Some(tool) => format!("{what} · {tool}"),
        None => what,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_rows_are_kept_in_their_order_and_all_are_counted() {
        let mut rows = NewestRows::new(3);
        for at in [5, 1, 9, 3, 7, 8, 2, 6, 4] {
            rows.add(at, || Some(at));
            assert!(rows.rows.len() < 6, "memory is bounded");
        }
        assert_eq!(rows.finish(), (9, vec![9, 8, 7]));
    }

    #[test]
    fn the_file_has_the_rows_of_the_list() {
        let params = AuditPageParams {
            event: "approval".to_owned(),
            tool: "a&b".to_owned(),
            day: "2030-01-02".to_owned(),
            from: String::new(),
        };
        let (since, until) = (1, Some(2));
        let event = AuditEvent::parse(&params.event);
        let query = AuditQuery { since, until, event, ..AuditQuery::default() };
        let file = file_address(&query, &params);
        assert_eq!(file, "/v1/audit?since=1&until=2&event=approval&tool=a%26b");
        let page = "/settings?section=audit&event=approval&tool=a%26b&day=2030-01-02&from=50";
        assert_eq!(page_address(&params, 50), page);
    }

    #[test]
    fn every_step_has_words_in_both_languages() {
        let all = ["created", "retried", "forked", "claimed", "waiting", "ended"];
        for what in all.into_iter().chain(["asked", "given", "denied"]) {
            assert!(words::audit_step::named(what).is_some(), "{what}");
        }
    }
}
