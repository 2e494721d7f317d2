//! Commands that only read, answered where no terminal is.

use crate::app::App;
use crate::catalog::loop_infos;
use crate::conversation::history_text;
use crate::conversations::{self, ConversationQuery};
use crate::error::AppError;
use crate::facts::{self, short_id};
use crate::usage_report::{UsageReport, UsageTotals};
use everloop_agenda::show::{DisplayContext, firing_line};
use everloop_store::{ConversationRow, FactFilter, FactRow, RunFilter, RunRow, Store};
use everloop_text as text;
use everloop_types::{FactStatus, one_line};

/// Rows that are listed, and characters of each that are shown.
const LISTED: usize = 20;
const SHOWN_CHARS: usize = 80;

/// The commands of this file, by their names; without words behind them, but for a number.
pub const READ_ANYWHERE: [&str; 7] =
    ["runs", "inbox", "history", "loop", "conversations", "usage", "memory"];

/// Those that tell of nothing but the conversation and the program.
const TOLD_OUTSIDE: [&str; 2] = ["history", "loop"];

/// A look at something.
pub(super) struct LookedUp<'a> {
    pub(super) app: &'a App,
    pub(super) store: &'a Store,
    pub(super) row: &'a ConversationRow,
    /// Whether the person looks; nobody else sees more than the conversation.
    pub(super) is_person: bool,
}

impl LookedUp<'_> {
    /// What a command tells; none for one that does more than read.
    pub(super) async fn at(&self, name: &str, rest: &str) -> Result<Option<String>, AppError> {
        if !self.is_person && !TOLD_OUTSIDE.contains(&name) {
            return Ok(None);
        }
        let reader = self.app.reader_at(None);
        Ok(Some(match (name, rest) {
            ("runs", "" | "list" | "ls") => self.runs(&reader).await?,
            ("inbox", "") => self.inbox(&reader).await?,
            ("history", most) => self.history(&reader, most).await?,
            ("loop", "") => self.loops()?,
            ("conversations", "") => self.conversations(&reader).await?,
            ("usage", "") => self.usage(&reader).await?,
            ("memory", "" | "facts" | "list") => self.facts().await?,
            _ => return Ok(None),
        }))
    }

    async fn runs(&self, reader: &DisplayContext) -> Result<String, AppError> {
        let filter = RunFilter { statuses: Vec::new(), before: None, most: LISTED };
        let line = |row: RunRow| {
            let status = text::status(self.app.lang, row.status);
            let at = reader.moment(row.times.created_at);
            format!("- {} · {status} · {at} · {}", row.run.short(), shown(&row.goal))
        };
        let rows = self.store.runs().list(&filter).await?;
        Ok(self.lines(rows.into_iter().map(line).collect(), text::chat::no_run()))
    }

    async fn inbox(&self, reader: &DisplayContext) -> Result<String, AppError> {
        let unread = self.store.agenda().unread_firings(LISTED).await?;
        let lines = unread.iter().map(|firing| format!("- {}", firing_line(reader, firing)));
        Ok(self.lines(lines.collect(), text::inbox::empty()))
    }

    async fn history(&self, reader: &DisplayContext, most: &str) -> Result<String, AppError> {
        let most = most.parse().unwrap_or(LISTED).clamp(1, 10 * LISTED);
        let said = conversations::messages(self.store, &self.row.id, Some(most)).await?;
        let told = history_text(self.app, reader, &said);
        let lines = if told.is_empty() { Vec::new() } else { vec![told] };
        Ok(self.lines(lines, text::chat::nothing_said()))
    }

    fn loops(&self) -> Result<String, AppError> {
        let mark = |is_default| if is_default { " *" } else { "" };
        let infos = loop_infos(self.app, None)?;
        let lines =
            infos.iter().map(|it| format!("- {}{}: {}", it.name, mark(it.default), it.does));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    async fn conversations(&self, reader: &DisplayContext) -> Result<String, AppError> {
        let query =
            ConversationQuery { chats_only: true, most: LISTED, ..ConversationQuery::default() };
        let all = conversations::list(self.app, self.store, query).await?;
        let lines = all.iter().map(|one| {
            let at = reader.moment(one.row.updated_at);
            format!("- {} · {at} · {}", one.short_id(), shown(&one.title()))
        });
        Ok(self.lines(lines.collect(), text::conversations::none()))
    }

    async fn usage(&self, reader: &DisplayContext) -> Result<String, AppError> {
        let report = UsageReport::read(self.app, self.store, &self.row.id, &reader.now).await?;
        let parts = [
            (text::chat::totals::conversation(), &report.conversation),
            (text::chat::totals::today(), &report.today),
        ];
        let line = |(head, totals): (text::Text, &UsageTotals)| {
            let say = |text: text::Text| text.in_lang(self.app.lang);
            let tokens = totals.usage.input_tokens + totals.usage.output_tokens;
            let mut all = vec![
                say(text::chat::totals::runs(&totals.runs)),
                say(text::ended::model_calls(&totals.model_calls)),
                say(text::ended::tool_calls(&totals.tool_calls)),
                say(text::chat::totals::tokens(&tokens)),
            ];
            let cost = totals.cost.as_ref();
            all.extend(cost.map(|cost| say(text::chat::totals::cost(&cost.words()))));
            format!("{}\n- {}", say(head), all.join(" · "))
        };
        Ok(parts.map(line).join("\n"))
    }

    async fn facts(&self) -> Result<String, AppError> {
        let mut lines = Vec::new();
        for status in [FactStatus::Proposed, FactStatus::Active] {
            let workspace = self.row.workspace.clone();
            let filter = FactFilter { status: Some(status), workspace, most: LISTED, before: None };
            let mark = if status == FactStatus::Proposed { " ?" } else { "" };
            let line =
                |fact: &FactRow| format!("- {}{mark} · {}", short_id(&fact.id), shown(&fact.text));
            lines.extend(facts::list(self.store, &filter).await?.iter().map(line));
        }
        Ok(self.lines(lines, text::facts::none()))
    }

    fn lines(&self, lines: Vec<String>, none: text::Text) -> String {
        if lines.is_empty() { none.in_lang(self.app.lang) } else { lines.join("\n") }
    }
}

/// On one line, and not too long.
fn shown(words: &str) -> String {
    let line = one_line(&words.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
