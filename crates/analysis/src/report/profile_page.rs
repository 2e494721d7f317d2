//! A profile as a report folder: words, one page, a chart for each column that can be drawn.

use super::folder::{check_report_folder, remove_stale};
use super::{ReportContent, ReportParts, SOURCES_RULE, html, manifest_of, write};
use crate::chart::{ChartKind, ChartSpec, DrawnChart, FontSet, draw, draw_png};
use crate::check::seen_from;
use crate::error::AnalysisError;
use crate::escape::{escape, table_cell};
use crate::load::LoadedTable;
use crate::manifest::MANIFEST_NAME;
use crate::profile::{ColumnProfile, DataProfile, Histogram};
use crate::prove::ProvenText;
use crate::query::QueryResult;
use crate::value::DataValue;
use comrak::{Options, markdown_to_html};
use everloop_text as text;
use everloop_types::Lang;
use std::fmt::Write as _;
use std::path::Path;

/// Charts of one table.
const CHARTS_MAX: usize = 24;

/// Words of a bar's label.
const LABEL_CHARS: usize = 24;

/// A chart of a column, with the name of its file.
struct ProfileChart {
    /// Without its ending.
    name: String,
    title: String,
    drawn: DrawnChart,
    /// Nothing if no font of this machine has all its characters.
    png: Option<Vec<u8>>,
}

/// Writes the folder of a profile. `parts.words` are its words in Markdown, with a heading for each
/// table. Writing again replaces what was there.
///
/// # Errors
/// If the folder cannot be written.
pub fn write_profile(
    profile: &DataProfile,
    tables: &[LoadedTable],
    parts: &ReportParts,
    out: &Path,
) -> Result<(), AnalysisError> {
    check_report_folder(out)?;
    std::fs::create_dir_all(out).map_err(AnalysisError::write(out))?;
    let title = title_of(tables, parts.lang);
    let mut markdown = format!("{SOURCES_RULE}\n\n# {}\n\n{}\n", table_cell(&title), parts.made_at);
    let mut body = String::new();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut fonts = FontSet::installed();
    for (at, section) in sections_of(&parts.words).enumerate() {
        let _ = write!(markdown, "\n{}\n", section.trim_end());
        let _ = write!(body, "<section>{}", html_of(section));
        let table = profile.tables.get(at);
        let columns = table.map(|table| table.columns.as_slice()).unwrap_or_default();
        for chart in charts_of(at + 1, columns, parts.lang, &mut fonts) {
            let alt = table_cell(&chart.drawn.alternative).replace(['[', ']'], " ");
            let _ = write!(markdown, "\n![{alt}]({}.svg)\n", chart.name);
            let _ = write!(
                body,
                "<figure class=\"fig\"><figcaption>{}</figcaption>{}</figure>",
                escape(&chart.title),
                chart.drawn.inline
            );
            files.extend(chart.png.map(|png| (format!("{}.png", chart.name), png)));
            files.push((format!("{}.svg", chart.name), chart.drawn.svg.into_bytes()));
        }
        body.push_str("</section>");
    }
    let page = html::plain_page(&title, &parts.made_at, &body, parts.lang);
    let told = serde_json::to_string_pretty(profile).unwrap_or_default() + "\n";
    files.push(("profile.json".to_owned(), told.into_bytes()));
    files.push(("report.html".to_owned(), page.into_bytes()));
    files.push(("report.md".to_owned(), markdown.into_bytes()));
    let mut tables = tables.to_vec();
    for table in &mut tables {
        table.beside = seen_from(out, &table.file);
    }
    let content = ReportContent {
        parts,
        proven: ProvenText { text: String::new(), numbers: Vec::new() },
        titles: Vec::new(),
        tables,
        queries: Vec::new(),
        charts: Vec::new(),
        drawn: Vec::new(),
        cells: Vec::new(),
        periods: Vec::new(),
    };
    let mut manifest = manifest_of(&content);
    let hashes = files.iter().map(|(name, bytes)| (name, blake3::hash(bytes).to_hex().to_string()));
    manifest.files = hashes.map(|(name, hash)| (name.clone(), hash)).collect();
    let told = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    remove_stale(out, &manifest.files);
    files.insert(0, (MANIFEST_NAME.to_owned(), told.into_bytes()));
    files.iter().try_for_each(|(name, bytes)| write(&out.join(name), bytes))
}

fn title_of(tables: &[LoadedTable], lang: Lang) -> String {
    let mut names: Vec<String> = tables
        .iter()
        .filter_map(|table| table.file.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.dedup();
    let separator = if lang == Lang::ZhCn { "、" } else { ", " };
    text::analysis::profile::title(&names.join(separator)).in_lang(lang)
}

/// The words of each table, and of what joins them.
fn sections_of(words: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(words.match_indices("\n## ").map(|(at, _)| at + 1))
        .chain(std::iter::once(words.len()))
        .collect();
    let parts: Vec<&str> = starts.windows(2).map(|ends| &words[ends[0]..ends[1]]).collect();
    parts.into_iter()
}

fn html_of(words: &str) -> String {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.cjk_friendly_emphasis = true;
    // Markup in the data stays text.
    options.render.escape = true;
    let html = markdown_to_html(words, &options);
    html.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

fn charts_of(
    table: usize,
    columns: &[ColumnProfile],
    lang: Lang,
    fonts: &mut FontSet,
) -> Vec<ProfileChart> {
    let charts = columns.iter().enumerate().filter_map(|(at, column)| {
        let (title, x, rows) = match &column.spread.histogram {
            Some(histogram) => {
                let title = text::analysis::profile::chart(&column.name);
                (title, text::analysis::profile::chart_from(), bars_of(histogram))
            }
            None if column.top.len() > 1 => {
                let title = text::analysis::profile::chart_top(&column.name);
                let rows = column.top.iter().map(|top| (label_of(&top.value), top.count));
                (title, text::analysis::profile::chart_value(), rows.collect())
            }
            None => return None,
        };
        let title = title.in_lang(lang);
        let (spec, result) = bars(&title, x.in_lang(lang), rows, lang);
        // A column that cannot be drawn is in the table all the same.
        let drawn = draw(&spec, &result).ok()?;
        let png = draw_png(&spec, &result, fonts).ok().flatten();
        Some(ProfileChart { name: format!("charts/t{table}c{}", at + 1), title, drawn, png })
    });
    charts.take(CHARTS_MAX).collect()
}

fn bars(title: &str, x: String, rows: Vec<(String, u64)>, lang: Lang) -> (ChartSpec, QueryResult) {
    let y = text::analysis::chart_count().in_lang(lang);
    let rows = rows.into_iter().map(|(label, count)| {
        vec![DataValue::Text(label), DataValue::Int(i64::try_from(count).unwrap_or(i64::MAX))]
    });
    let result = QueryResult {
        columns: vec![x.clone(), y.clone()],
        rows: rows.collect(),
        ..QueryResult::default()
    };
    let (title, kind) = (title.to_owned(), ChartKind::Bar);
    (ChartSpec { kind, title, x, y: vec![y], series: None, lang }, result)
}

fn label_of(value: &str) -> String {
    match value.char_indices().nth(LABEL_CHARS) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_owned(),
    }
}

/// Each bar is called after the smallest number that it counts.
fn bars_of(histogram: &Histogram) -> Vec<(String, u64)> {
    #[expect(clippy::cast_precision_loss, reason = "a dozen bars")]
    let width = (histogram.high - histogram.low) / histogram.counts.len() as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few digits, and not below 0"
    )]
    let places = (1.0 - width.log10().floor()).clamp(0.0, 12.0) as usize;
    let bar = |(at, count): (usize, &u64)| {
        #[expect(clippy::cast_precision_loss, reason = "a dozen bars")]
        let from = histogram.low + width * at as f64;
        (format!("{from:.places$}"), *count)
    };
    histogram.counts.iter().enumerate().map(bar).collect()
}
