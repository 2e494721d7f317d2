//! Tables, profiles and checks, for people to read.

use everloop_analysis::{
    CheckDifference, CheckReport, ColumnProfile, DataProfile, DateStep, LoadPhase, LoadProgress,
    LoadedTable, ShareLevel, TableProfile,
};
use everloop_text as text;
use everloop_types::Lang;
use serde::Serialize;

/// Columns that a preview lists.
const COLUMNS_LISTED: usize = 40;

/// What is known of the data before any model is asked.
#[derive(Debug, Clone, Serialize)]
pub struct DataPreview {
    /// The tables.
    pub tables: Vec<LoadedTable>,
    /// What the model will see of them.
    pub share: ShareLevel,
}

/// A preview in words.
#[must_use]
pub fn preview_words(preview: &DataPreview, lang: Lang) -> String {
    let mut lines = Vec::new();
    for table in &preview.tables {
        let head = text::analysis::preview::Table {
            table: &table.name,
            rows: &table.rows,
            columns: &table.columns.len(),
            seconds: &format!("{:.1}", seconds(table.took_ms)),
        };
        lines.push(head.text().in_lang(lang));
        for column in table.columns.iter().take(COLUMNS_LISTED) {
            let mut line = format!("  {}  {}", column.name, column.plan.kind.name());
            if column.misfits.missing > 0 {
                line.push_str("  ");
                line.push_str(
                    &text::analysis::preview::missing(&column.misfits.missing).in_lang(lang),
                );
            }
            if column.misfits.misfits > 0 {
                let examples = column.misfits.examples.join(", ");
                let told = text::analysis::preview::misfits(&column.misfits.misfits, &examples);
                line.push_str("  ");
                line.push_str(&told.in_lang(lang));
            }
            if column.misfits.long > 0 {
                line.push_str("  ");
                line.push_str(&text::analysis::preview::long(&column.misfits.long).in_lang(lang));
            }
            for told in column.plan.words(lang).into_iter().chain(column.misfits.zone_words(lang)) {
                line.push_str("  ");
                line.push_str(&told);
            }
            lines.push(line);
        }
        if table.columns.len() > COLUMNS_LISTED {
            lines.push("  …".to_owned());
        }
        if table.has_rows_of_cells() {
            let told = match table.notes.has_header {
                true => text::analysis::notes::header(),
                false => text::analysis::notes::no_header(),
            };
            lines.push(format!("  {}", told.in_lang(lang)));
        }
        lines.extend(table.notes.lines(lang).into_iter().map(|line| format!("  {line}")));
    }
    let share = match preview.share {
        ShareLevel::Schema => text::analysis::share::schema(),
        ShareLevel::Aggregates => text::analysis::share::aggregates(),
        ShareLevel::Samples => text::analysis::share::samples(),
    };
    lines.push(share.in_lang(lang));
    lines.join("\n")
}

/// How far loading or profiling is, on a line.
#[must_use]
pub fn progress_words(progress: LoadProgress, lang: Lang) -> String {
    let left = progress.left_ms().map_or_else(|| "?".to_owned(), |ms| (ms / 1_000).to_string());
    let (rows, percent) = (&progress.rows, &progress.percent());
    let words = match progress.phase {
        LoadPhase::Loading => text::analysis::Loading { rows, percent, left: &left }.text(),
        LoadPhase::Again => text::analysis::LoadingAgain { rows, percent, left: &left }.text(),
        LoadPhase::Profiling => text::analysis::profile::profiling(rows, percent),
    };
    words.in_lang(lang)
}

#[expect(clippy::cast_precision_loss, reason = "seconds with one place")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// A profile in words, as Markdown.
#[must_use]
pub fn profile_words(profile: &DataProfile, lang: Lang) -> String {
    let mut parts: Vec<String> =
        profile.tables.iter().map(|table| table_words(table, lang)).collect();
    if !profile.joins.is_empty() {
        let mut lines = vec![format!("## {}\n", text::analysis::profile::joins().in_lang(lang))];
        for join in &profile.joins {
            let words = text::analysis::profile::Join {
                by: &join.by,
                key: &join.key,
                found: &join.found,
                values: &join.values,
            };
            let mut line = format!("- {}", words.text().in_lang(lang));
            if join.is_repeated {
                line.push_str(&text::analysis::profile::repeated().in_lang(lang));
            }
            lines.push(line);
        }
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n")
}

fn table_words(table: &TableProfile, lang: Lang) -> String {
    let mut lines = vec![format!("## {} ({})\n", cell(&table.table), cell(&table.file))];
    let rows = text::analysis::rows(&table.rows).in_lang(lang);
    let duplicates = match table.duplicate_rows {
        Some(count) => text::analysis::profile::duplicates(&count).in_lang(lang),
        None => text::analysis::profile::not_looked_at().in_lang(lang),
    };
    lines.push(format!("{rows}; {duplicates}"));
    if !table.keys.is_empty() {
        lines.push(text::analysis::profile::keys(&table.keys.join(", ")).in_lang(lang));
    }
    if table.sampled > 1 {
        lines.push(text::analysis::profile::sampled(&table.sampled).in_lang(lang));
    }
    if let Some(separator) = table.notes.separator {
        let shown = if separator == '\t' { "Tab".to_owned() } else { format!("`{separator}`") };
        lines.push(text::analysis::notes::separator(&shown).in_lang(lang));
    }
    lines.extend(table.notes.lines(lang).iter().map(|line| cell(line.trim())));
    lines.push(format!("\n{}", text::analysis::profile::head().in_lang(lang)));
    lines.push("|---|---|---:|---:|---|---:|---|---|".to_owned());
    for column in &table.columns {
        lines.push(column_row(column, lang));
    }
    let odd: Vec<String> =
        table.columns.iter().flat_map(|column| odd_lines(column, lang)).collect();
    if !odd.is_empty() {
        lines.push(format!("\n{}\n", text::analysis::profile::odd().in_lang(lang)));
        lines.extend(odd);
    }
    lines.join("\n")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "&lt;")
}

fn column_row(column: &ColumnProfile, lang: Lang) -> String {
    // Never an empty cell for what was not looked at.
    let distinct = match column.distinct {
        Some(count) if column.is_distinct_rough => {
            text::analysis::profile::about(&count).in_lang(lang)
        }
        Some(count) => count.to_string(),
        None => text::analysis::profile::not_counted().in_lang(lang),
    };
    let mean = column.spread.mean.map(|mean| format!("{mean:.4}")).unwrap_or_default();
    let mean = match mean.contains('.') {
        true => mean.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => mean,
    };
    let middle = column
        .spread
        .quartiles
        .map(|[low, middle, high]| format!("{low} / {middle} / {high}"))
        .unwrap_or_default();
    let top: Vec<String> = column
        .top
        .iter()
        .take(3)
        .map(|top| {
            let about = text::analysis::profile::about(&top.count).in_lang(lang);
            let count = if top.is_rough { about } else { top.count.to_string() };
            format!("{} ×{count}", cell(&top.value))
        })
        .collect();
    let kind = text::analysis::kind::named(column.kind.name());
    format!(
        "| {} | {} | {} | {} | {} … {} | {mean} | {} | {} |",
        cell(&column.name),
        kind.map_or_else(|| column.kind.name().to_owned(), |words| words.in_lang(lang)),
        column.missing,
        distinct,
        cell(&column.min),
        cell(&column.max),
        middle,
        top.join(", ")
    )
}

fn quoted_words(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    words.join(", ")
}

fn odd_lines(column: &ColumnProfile, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    for odd in &column.odd {
        let words = match *odd {
            "empty" => text::analysis::odd::empty(),
            "constant" => text::analysis::odd::constant(&column.min),
            "mostly_missing" => text::analysis::odd::mostly_missing(&column.missing),
            "mixed" => {
                text::analysis::odd::mixed(&column.misfits, &column.misfit_examples.join(", "))
            }
            "ambiguous_dates" => text::analysis::odd::ambiguous_dates(),
            "mixed_percent" => text::analysis::odd::mixed_percent(),
            "with_blanks" => text::analysis::odd::with_blanks(&column.spelling.with_blanks),
            "variants" => text::analysis::odd::variants(&column.spelling.variants),
            "missing_words" => text::analysis::odd::missing_words(&column.spelling.missing_words),
            "future" => text::analysis::odd::future(&column.max),
            "ambiguous_numbers" => text::analysis::odd::ambiguous_numbers(),
            "mixed_currency" => text::analysis::odd::mixed_currency(),
            "codes" => text::analysis::odd::codes(),
            "some_numbers" => text::analysis::odd::some_numbers(),
            "some_dates" => text::analysis::odd::some_dates(),
            "units" => text::analysis::odd::units(),
            "odd_zones" => text::analysis::odd::odd_zones(&column.odd_zones),
            "outliers" => {
                text::analysis::odd::outliers(&column.spread.outliers.unwrap_or_default())
            }
            _ => text::analysis::odd::words_for_nothing(&quoted_words(&column.null_words)),
        };
        lines.push(format!("- **{}**: {}", cell(&column.name), words.in_lang(lang)));
    }
    if let Some(gaps) = &column.gaps {
        let (missing, longest, from) = (&gaps.missing, &gaps.longest, &gaps.longest_from);
        let words = match gaps.step {
            DateStep::Day => text::analysis::odd::Gaps { missing, longest, from }.text(),
            DateStep::Week => text::analysis::odd::GapsWeeks { missing, longest, from }.text(),
            DateStep::Month => text::analysis::odd::GapsMonths { missing, longest, from }.text(),
        };
        lines.push(format!("- **{}**: {}", cell(&column.name), words.in_lang(lang)));
    }
    lines
}

/// What a check found, in words.
#[must_use]
pub fn check_words(report: &CheckReport, lang: Lang) -> String {
    let head = text::analysis::check::Head {
        agree: &report.agree,
        numbers: &report.numbers.saturating_sub(report.not_checkable),
        queries: &report.queries,
    };
    let mut lines = vec![head.text().in_lang(lang)];
    if report.not_checkable > 0 {
        lines.push(text::analysis::check::not_checkable(&report.not_checkable).in_lang(lang));
    }
    if report.without_source > 0 {
        lines.push(text::analysis::check::without_source(&report.without_source).in_lang(lang));
    }
    if report.from_code > 0 {
        lines.push(text::analysis::check::from_code(&report.from_code).in_lang(lang));
    }
    if report.not_computed > 0 {
        lines.push(text::analysis::check::not_computed(&report.not_computed).in_lang(lang));
    }
    for difference in &report.differences {
        let words = match difference {
            CheckDifference::DataChanged { file } => {
                text::analysis::check::data_changed(&file.display().to_string())
            }
            CheckDifference::DataMissing { file } => {
                text::analysis::check::data_missing(&file.display().to_string())
            }
            CheckDifference::CodeDiffers { cell, error } => {
                text::analysis::check::code_differs(cell, error)
            }
            CheckDifference::ResultChanged { query, error } => {
                text::analysis::check::result_changed(query, error)
            }
            CheckDifference::NumberDiffers { number, source, found } => {
                text::analysis::check::NumberDiffers { number, source, found }.text()
            }
            CheckDifference::FileChanged { file } => text::analysis::check::file_changed(file),
            CheckDifference::ReportChanged { number, was } => {
                text::analysis::check::report_changed(number, was)
            }
        };
        lines.push(format!("✗ {}", words.in_lang(lang)));
    }
    lines.join("\n")
}
