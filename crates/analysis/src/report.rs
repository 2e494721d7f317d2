//! The report folder: words with numbers that have a source, charts, and all that made them.
//!
//! ```text
//!   report.md  report.html  charts/chart1.svg  charts/chart1.png  results/q1.csv
//!   analysis.sql  analysis.py  data_manifest.json
//! ```

mod folder;
mod html;
mod model;
mod notes;
mod profile_page;
mod scripts;
mod sections;
mod titles;
mod words;

use crate::chart::{self, FontSet};
use crate::check::seen_from;
use crate::error::AnalysisError;
use crate::escape::{csv_field, table_cell};
use crate::load::{DataFolder, LoadedTable};
use crate::manifest::{
    DataManifest, MANIFEST_FORMAT, MANIFEST_NAME, ManifestChart, ManifestPeriod, ManifestQuery,
    ManifestRun,
};
use crate::prove::{NumberCounts, NumberEvidence, ProvenText, ReportNumber, prove};
use crate::query::QueryResult;
use crate::results::{KeptCell, KeptChart, KeptQuery, ResultStore};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use everloop_text as text;
use everloop_types::Lang;
pub use folder::check_report_folder;
pub use model::{KeyFigure, ReportCell, ReportFact, ReportModel, ReportQuery, ReportSection};
pub(crate) use notes::zone_name;
pub use profile_page::write_profile;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
pub use words::{counts_words, status_words};

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct ReportParts {
    /// The words of the model.
    pub words: String,
    /// What was asked.
    pub question: String,
    /// The run.
    pub run: String,
    /// When it was made, as people read it.
    pub made_at: String,
    /// The language of what the program adds.
    pub lang: Lang,
}

/// A report that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenReport {
    /// Where it is.
    pub folder: PathBuf,
    /// Its words, with numbers in place of references and a mark at each without a source.
    pub text: String,
    /// How many numbers it has, and how many of them have a source.
    pub counts: NumberCounts,
    /// Its title.
    pub title: String,
    /// The names of its files in the folder.
    pub files: Vec<String>,
}

/// All that a report shows.
pub(crate) struct ReportContent<'a> {
    pub(crate) parts: &'a ReportParts,
    pub(crate) proven: ProvenText,
    /// Numbers in the titles of charts.
    pub(crate) titles: Vec<ReportNumber>,
    pub(crate) tables: Vec<LoadedTable>,
    pub(crate) queries: Vec<KeptQuery>,
    pub(crate) charts: Vec<KeptChart>,
    pub(crate) drawn: Vec<DrawnPng>,
    pub(crate) cells: Vec<KeptCell>,
    pub(crate) periods: Vec<ManifestPeriod>,
}

/// A chart as PNG, or why there is none.
pub(crate) struct DrawnPng {
    /// The number of the chart.
    pub(crate) chart: u32,
    /// The picture, or the characters for which no font has a glyph.
    pub(crate) png: Result<Vec<u8>, String>,
}

/// Checks the numbers of a report and writes its folder. An earlier report there is replaced.
///
/// # Errors
/// If the results cannot be read, or the folder cannot be written or holds something else.
pub fn write_report(
    data: &DataFolder,
    out: &Path,
    parts: &ReportParts,
) -> Result<WrittenReport, AnalysisError> {
    check_report_folder(out)?;
    let results = ResultStore::open(data)?;
    let (queries, mut charts, cells) = (results.queries()?, results.charts()?, results.cells()?);
    std::fs::create_dir_all(out).map_err(AnalysisError::write(out))?;
    let mut tables = data.tables()?;
    for table in &mut tables {
        table.beside = seen_from(out, &table.file);
    }
    let periods = notes::periods(data, &tables);
    let evidence = NumberEvidence::new(&queries, &cells, &tables).with_periods(&periods);
    let proven = prove(parts.words.trim(), &parts.question, &evidence);
    let titles = titles::prove_titles(&mut charts, &queries, &parts.question, &evidence);
    let drawn = pngs_of(&charts, &queries);
    let content =
        ReportContent { parts, proven, titles, tables, queries, charts, drawn, cells, periods };
    let mut manifest = manifest_of(&content);
    let model = model_of(&content, &manifest);
    let mut files = files_of(&content, &model);
    manifest.files = files
        .iter()
        .map(|(name, bytes)| (name.clone(), blake3::hash(bytes).to_hex().to_string()))
        .collect();
    let told = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    folder::remove_stale(out, &manifest.files);
    // The manifest comes first: it says that the folder is ours, also after a crash. The words come
    // last: who sees them finds the rest.
    files.insert(0, (MANIFEST_NAME.to_owned(), told.into_bytes()));
    for (name, bytes) in &files {
        write(&out.join(name), bytes)?;
    }
    Ok(WrittenReport {
        folder: out.to_owned(),
        counts: NumberCounts::of(&manifest.numbers),
        text: marked(&content.proven),
        title: model.title,
        files: files.into_iter().map(|(name, _)| name).collect(),
    })
}

/// The files of the folder but the manifest, the words last.
fn files_of(content: &ReportContent<'_>, model: &ReportModel) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for chart in &content.charts {
        files.push((format!("charts/chart{}.svg", chart.number), chart.svg.clone().into_bytes()));
    }
    for DrawnPng { chart, png } in &content.drawn {
        files.extend(png.clone().ok().map(|png| (format!("charts/chart{chart}.png"), png)));
    }
    for (name, picture) in pictures(&content.cells) {
        files.extend(BASE64_STANDARD.decode(picture).ok().map(|bytes| (name, bytes)));
    }
    files.extend(written_files(&content.cells));
    for query in &content.queries {
        let name = format!("results/q{}.csv", query.number);
        files.push((name, csv_of(&query.result).into_bytes()));
    }
    let others = [
        ("analysis.sql", scripts::sql_of(&content.tables, &content.queries)),
        ("analysis.py", scripts::python_of(&content.cells)),
        ("report.html", html::page(model)),
        ("report.md", markdown_of(content, model)),
    ];
    files.extend(others.map(|(name, text)| (name.to_owned(), text.into_bytes())));
    files
}

/// The charts as PNG, drawn with the fonts of this machine.
fn pngs_of(charts: &[KeptChart], queries: &[KeptQuery]) -> Vec<DrawnPng> {
    let mut fonts = FontSet::installed();
    let mut drawn = Vec::new();
    for chart in charts {
        let query = queries.iter().find(|query| query.number == chart.query);
        let (Some(spec), Some(query)) = (&chart.spec, query) else { continue };
        let png = match chart::draw_png(spec, &query.result, &mut fonts) {
            Ok(None) => continue,
            Ok(Some(png)) => Ok(png),
            Err(missing) => Err(missing.into_iter().collect()),
        };
        drawn.push(DrawnPng { chart: chart.number, png });
    }
    drawn
}

fn model_of(content: &ReportContent<'_>, manifest: &DataManifest) -> ReportModel {
    let results = content.queries.iter().map(|query| (query.number, query.result.clone()));
    let results: Vec<(u32, QueryResult)> = results.collect();
    let pictures = pictures(&content.cells);
    let pictures: Vec<(String, String)> =
        pictures.map(|(name, picture)| (name, picture.to_owned())).collect();
    ReportModel::new(manifest, &content.proven.text, &results, &pictures)
}

/// The characters for which a chart has no PNG.
fn without_glyph(content: &ReportContent<'_>, chart: u32) -> String {
    let drawn = content.drawn.iter().find(|drawn| drawn.chart == chart);
    drawn.and_then(|drawn| drawn.png.as_ref().err().cloned()).unwrap_or_default()
}

/// Whether a file of the folder of charts is a picture that code drew: `c1-2.png`.
fn is_cell_picture(name: &str) -> bool {
    let numbers = name.strip_prefix('c').and_then(|rest| rest.strip_suffix(".png"));
    numbers
        .and_then(|numbers| numbers.split_once('-'))
        .is_some_and(|(cell, file)| cell.parse::<u32>().is_ok() && file.parse::<u32>().is_ok())
}

/// The pictures that code drew, with the names of their files.
pub(crate) fn pictures(cells: &[KeptCell]) -> impl Iterator<Item = (String, &str)> {
    cells.iter().flat_map(|cell| {
        let files = cell.files.iter().enumerate();
        files.map(|(at, picture)| {
            (format!("charts/c{}-{}.png", cell.number, at + 1), picture.as_str())
        })
    })
}

/// The files that code wrote, with their names in the report; the last of each name.
pub(crate) fn written_files(cells: &[KeptCell]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for file in cells.iter().flat_map(|cell| &cell.written) {
        let Some(data) = &file.data else { continue };
        let parts: Vec<String> =
            file.name.split(['/', '\\']).filter(|part| !part.is_empty()).map(plain).collect();
        if let Ok(bytes) = BASE64_STANDARD.decode(data) {
            found.insert(format!("files/{}", parts.join("-")), bytes);
        }
    }
    found
}

/// A part of a path that leads nowhere else.
fn plain(part: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._- ".contains(c);
    let name: String = part.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    name.trim_start_matches('.').to_owned()
}

/// Written beside and renamed, so that no half file is ever seen.
fn write(path: &Path, text: &[u8]) -> Result<(), AnalysisError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(AnalysisError::write(folder))?;
    }
    let beside = path.with_extension("part");
    std::fs::write(&beside, text).map_err(AnalysisError::write(&beside))?;
    std::fs::rename(&beside, path).map_err(AnalysisError::write(path))
}

fn manifest_of(content: &ReportContent<'_>) -> DataManifest {
    let queries = content.queries.iter().map(|query| ManifestQuery {
        name: format!("q{}", query.number),
        sql: query.sql.clone(),
        rows: query.result.rows.len(),
        is_cut: query.result.is_cut,
        hash: result_hash(&query.result),
        took_ms: query.took_ms,
    });
    let charts = content.charts.iter().filter_map(|chart| {
        Some(ManifestChart {
            number: chart.number,
            query: chart.query,
            spec: chart.spec.clone()?,
            alternative: chart.alternative.clone(),
            without_glyph: without_glyph(content, chart.number),
        })
    });
    DataManifest {
        format: MANIFEST_FORMAT,
        question: content.parts.question.clone(),
        run: content.parts.run.clone(),
        made_at: content.parts.made_at.clone(),
        lang: content.parts.lang,
        tables: content.tables.clone(),
        queries: queries.collect(),
        periods: content.periods.clone(),
        charts: charts.collect(),
        cells: content.cells.iter().map(|cell| cell.code.clone()).collect(),
        printed: content.cells.iter().map(|cell| cell.output.clone()).collect(),
        ran: content.cells.iter().map(how_it_ended).collect(),
        files: BTreeMap::new(),
        numbers: content.proven.numbers.iter().chain(&content.titles).cloned().collect(),
    }
}

fn how_it_ended(cell: &KeptCell) -> ManifestRun {
    ManifestRun { repeatable: cell.repeatable, state: cell.state, has_read: cell.has_read }
}

/// What tells one result from another.
pub(crate) fn result_hash(result: &QueryResult) -> String {
    blake3::hash(csv_of(result).as_bytes()).to_hex().to_string()
}

fn csv_of(result: &QueryResult) -> String {
    let mut out = String::new();
    let names: Vec<String> = result.columns.iter().map(|name| csv_field(name)).collect();
    out.push_str(&names.join(","));
    out.push('\n');
    for row in &result.rows {
        let fields: Vec<String> = row.iter().map(|value| csv_field(&value.shown())).collect();
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// The mark behind a number without a source.
const MARK: &str = " ⚠";

/// The words, each number without a source with its mark.
fn marked(proven: &ProvenText) -> String {
    let mut out = String::new();
    let mut at = 0;
    for number in proven.numbers.iter().filter(|number| number.status.is_marked()) {
        out.push_str(&proven.text[at..number.at.end]);
        out.push_str(MARK);
        at = number.at.end;
    }
    out.push_str(&proven.text[at..]);
    out
}

fn markdown_of(content: &ReportContent<'_>, model: &ReportModel) -> String {
    let lang = content.parts.lang;
    let mut out = marked(&content.proven);
    let _ = write!(out, "\n\n{SOURCES_RULE}");
    for chart in content.charts.iter().filter(|chart| !is_shown(chart, &content.proven.text)) {
        let alt = table_cell(&chart.alternative).replace(['[', ']'], " ");
        let _ = write!(out, "\n\n![{alt}](charts/chart{}.svg)", chart.number);
    }
    for (name, _) in pictures(&content.cells) {
        let _ = write!(out, "\n\n![{name}]({name})");
    }
    let written = written_files(&content.cells);
    if !written.is_empty() {
        let names: Vec<String> =
            written.keys().map(|name| format!("- [{name}](<{name}>)")).collect();
        let title = text::analysis::files_title().in_lang(lang);
        let _ = write!(out, "\n\n## {title}\n\n{}", names.join("\n"));
    }
    let _ = write!(out, "\n\n{}\n", sources(content, model, lang));
    out
}

/// Everything below is the program's own.
pub(crate) const SOURCES_RULE: &str = "<!-- everloop: sources -->";

/// Whether the words show a chart themselves.
pub(crate) fn is_shown(chart: &KeptChart, words: &str) -> bool {
    words.contains(&format!("charts/chart{}.svg", chart.number))
}

/// The table of which query made which number.
fn sources(content: &ReportContent<'_>, model: &ReportModel, lang: Lang) -> String {
    let mut out = format!("## {}\n\n", text::analysis::sources_title().in_lang(lang));
    out.push_str(&counts_words(&model.counts(), lang));
    out.push_str("\n\n");
    if !model.numbers.is_empty() {
        let _ = writeln!(out, "{}", text::analysis::sources_head().in_lang(lang));
        out.push_str("|---|---|---|---|\n");
        for number in &model.numbers {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                table_cell(&words::number_text(number)),
                status_words(number.status, lang),
                if number.source.is_empty() { String::new() } else { code(&number.source) },
                table_cell(&number.value),
            );
        }
    }
    for query in &content.queries {
        let rows = query.result.rows.len();
        let _ = write!(
            out,
            "\n**q{}** · {}\n\n",
            query.number,
            text::analysis::rows(&rows).in_lang(lang)
        );
        let fence = if query.sql.contains("```") { "~~~~" } else { "```" };
        let _ = writeln!(out, "{fence}sql\n{}\n{fence}", query.sql.trim());
    }
    let _ = write!(out, "\n{}\n", words::data_of(model));
    out
}

fn code(text: &str) -> String {
    format!("`{}`", table_cell(text).replace('`', "'"))
}

/// The words of the report alone, without marks and without the table of sources.
pub(crate) fn body_of(markdown: &str) -> String {
    let body = markdown.split(SOURCES_RULE).next().unwrap_or_default();
    body.replace(MARK, "")
}
