//! What is known of the data of a report, and what a reader should know before they trust it.

use crate::infer::{ColumnPlan, Misfits, TextReason};
use crate::load::{DataFolder, LoadedColumn, LoadedTable, quoted};
use crate::manifest::{DataManifest, ManifestPeriod};
use crate::query::{QueryEngine, QueryLimits};
use crate::report::model::ReportFact;
use crate::source::ReadNotes;
use everloop_text as text;
use everloop_types::Lang;
use std::collections::BTreeSet;
use std::time::Duration;

/// Columns of dates whose ends are looked for.
const PERIODS_MAX: usize = 4;

/// Columns that are named before the rest is only counted.
const COLUMNS_NAMED: usize = 12;

/// Characters without a glyph that are named.
const CHARACTERS_NAMED: usize = 20;

/// The first and last dates of the tables. What takes too long is left out.
pub(super) fn periods(data: &DataFolder, tables: &[LoadedTable]) -> Vec<ManifestPeriod> {
    let limits = QueryLimits { timeout: Duration::from_secs(20), ..QueryLimits::default() };
    let mut periods = Vec::new();
    for table in tables {
        let columns = table.columns.iter().filter(|column| column.plan.kind.is_time());
        for column in columns.take(PERIODS_MAX) {
            let (name, from) = (quoted(&column.name), quoted(&table.name));
            let sql = format!(
                "SELECT min({name}), max({name}) FROM {from} WHERE {name} LIKE '____-__-__%'"
            );
            let Ok(found) = data.query(&sql, &limits) else { continue };
            if let Some([from, to]) = found.rows.first().map(Vec::as_slice)
                && !from.shown().is_empty()
            {
                let (from, to) = (from.shown(), to.shown());
                let (table, column) = (table.name.clone(), column.name.clone());
                periods.push(ManifestPeriod { table, column, from, to });
            }
        }
    }
    periods
}

/// The name of a table's file, with its sheet or part.
fn file_of(table: &LoadedTable) -> String {
    let name = table.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    match table.part.is_empty() {
        true => name,
        false => format!("{name} · {}", table.part),
    }
}

/// Files, periods, how they were read, fingerprints.
pub(super) fn facts(manifest: &DataManifest) -> Vec<ReportFact> {
    let lang = manifest.lang;
    let and = text::analysis::report::and().in_lang(lang);
    let mut facts = Vec::new();
    let mut fact = |name: text::Text, value: String| {
        facts.push(ReportFact { name: name.in_lang(lang), value });
    };
    for table in &manifest.tables {
        let size = text::analysis::report::TableSize {
            file: &file_of(table),
            rows: &crate::prove::grouped(&table.rows.to_string()),
            columns: &table.columns.len(),
        };
        fact(text::analysis::report::file(&table.name), size.text().in_lang(lang));
        let periods = manifest.periods.iter().filter(|period| period.table == table.name);
        let periods: Vec<String> = periods
            .map(|period| {
                let parts = text::analysis::report::PeriodOf {
                    column: &period.column,
                    from: &period.from,
                    to: &period.to,
                };
                parts.text().in_lang(lang)
            })
            .collect();
        if !periods.is_empty() {
            fact(text::analysis::report::period(), periods.join(&and));
        }
        let cleaned = cleaning(table, lang);
        if !cleaned.is_empty() {
            fact(text::analysis::report::cleaning(), cleaned.join(&and));
        }
        fact(text::analysis::report::fingerprint(), format!("BLAKE3 {}", table.hash));
    }
    if !manifest.charts.is_empty() {
        fact(text::analysis::report::charts(), chart_files(manifest, lang));
    }
    facts
}

/// As which files the charts are there.
fn chart_files(manifest: &DataManifest, lang: Lang) -> String {
    let missing = manifest.charts.iter().flat_map(|chart| chart.without_glyph.chars());
    let missing: BTreeSet<char> = missing.collect();
    if missing.is_empty() {
        return text::analysis::report::charts_are_svg_and_png().in_lang(lang);
    }
    let without = manifest.charts.iter().filter(|chart| !chart.without_glyph.is_empty());
    let names: Vec<String> = without.map(|chart| format!("chart{}", chart.number)).collect();
    let missing: String = missing.into_iter().take(CHARACTERS_NAMED).collect();
    text::analysis::report::charts_without_png(&names.join(", "), &missing).in_lang(lang)
}

/// What the program did to the values of a table.
fn cleaning(table: &LoadedTable, lang: Lang) -> Vec<String> {
    let mut done = Vec::new();
    for column in table.columns.iter().filter(|column| column.plan.is_percent).take(COLUMNS_NAMED) {
        done.push(text::analysis::report::percent(&column.name).in_lang(lang));
    }
    let words: Vec<&str> = table
        .columns
        .iter()
        .flat_map(|column| column.misfits.null_words.keys().map(String::as_str))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .take(6)
        .collect();
    if !words.is_empty() {
        let words = words.join(", ");
        done.push(text::analysis::report::null_words(&words).in_lang(lang));
    }
    done
}

/// What was odd about the data, on a line each.
pub(super) fn caveats(manifest: &DataManifest) -> Vec<String> {
    let lang = manifest.lang;
    let mut lines = Vec::new();
    for table in &manifest.tables {
        let mut told: Vec<String> = table.notes.lines(lang);
        let odd = table.columns.iter().filter_map(|column| {
            let words = column.odd_words(lang);
            (!words.is_empty()).then(|| format!("{}: {}", column.name, words.join("; ")))
        });
        told.extend(odd.take(COLUMNS_NAMED));
        let many = manifest.tables.len() > 1;
        lines.extend(told.into_iter().map(|line| match many {
            true => format!("{}: {line}", table.name),
            false => line,
        }));
    }
    lines
}

impl LoadedColumn {
    /// What a reader should know of its values.
    #[must_use]
    pub fn odd_words(&self, lang: Lang) -> Vec<String> {
        let (plan, found) = (&self.plan, &self.misfits);
        let mixed = text::analysis::odd::mixed(&found.misfits, &found.examples.join(", "));
        let told = [(found.misfits > 0, mixed)].into_iter().filter(|(is_odd, _)| *is_odd);
        let told = told.map(|(_, words)| words.in_lang(lang));
        told.chain(plan.words(lang)).chain(found.zone_words(lang)).collect()
    }
}

impl ColumnPlan {
    /// What a reader should know of how its values were read.
    #[must_use]
    pub fn words(&self, lang: Lang) -> Vec<String> {
        let told = [
            (self.ambiguous_dates, text::analysis::odd::ambiguous_dates()),
            (self.mixed_percent, text::analysis::odd::mixed_percent()),
            (self.ambiguous_numbers, text::analysis::odd::ambiguous_numbers()),
            (self.mixed_currency, text::analysis::odd::mixed_currency()),
        ];
        let told = told.into_iter().filter(|(is, _)| *is).map(|(_, words)| words.in_lang(lang));
        let zone = self.zone.map(|zone| text::analysis::odd::zone(&zone_name(zone)).in_lang(lang));
        // That codes are text surprises nobody.
        let reason = self.text_reason.filter(|reason| *reason != TextReason::Codes);
        told.chain(zone).chain(reason.map(|reason| reason.words(lang))).collect()
    }
}

impl TextReason {
    /// Why a column is text.
    #[must_use]
    pub fn words(self, lang: Lang) -> String {
        match self {
            Self::Codes => text::analysis::odd::codes(),
            Self::SomeNumbers => text::analysis::odd::some_numbers(),
            Self::SomeDates => text::analysis::odd::some_dates(),
            Self::Units => text::analysis::odd::units(),
        }
        .in_lang(lang)
    }
}

impl Misfits {
    /// That some times have a zone and others have none.
    #[must_use]
    pub fn zone_words(&self, lang: Lang) -> Option<String> {
        let count = self.odd_zones;
        (count > 0).then(|| text::analysis::odd::odd_zones(&count).in_lang(lang))
    }
}

/// `UTC+08:00`.
pub(crate) fn zone_name(ahead: i32) -> String {
    let (sign, minutes) = (if ahead < 0 { '-' } else { '+' }, ahead.abs());
    match ahead {
        0 => "UTC".to_owned(),
        _ => format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    }
}

impl ReadNotes {
    /// What was odd about a file, on a line each. UTF-8 is not odd.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.encoding.is_empty() && self.encoding != "UTF-8" {
            lines.push(text::analysis::notes::encoding(&self.encoding).in_lang(lang));
        }
        let counts = [
            (self.uneven_rows, text::analysis::notes::uneven(&self.uneven_rows)),
            (self.broken_rows, text::analysis::notes::broken(&self.broken_rows)),
            (self.bad_characters, text::analysis::notes::characters(&self.bad_characters)),
            (self.nul_bytes, text::analysis::notes::nul_bytes(&self.nul_bytes)),
            (self.cut_cells, text::analysis::notes::cut(&self.cut_cells)),
            (self.dropped_columns, text::analysis::notes::columns(&self.dropped_columns)),
        ];
        let told = counts.into_iter().filter(|(count, _)| *count > 0);
        lines.extend(told.map(|(_, words)| words.in_lang(lang)));
        if self.mixed_encodings {
            lines.push(text::analysis::notes::mixed_encodings(&self.encoding).in_lang(lang));
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            lines.push(text::analysis::notes::left_out(&names).in_lang(lang));
        }
        lines.extend(self.examples.iter().map(|example| format!("  {example}")));
        lines
    }
}
