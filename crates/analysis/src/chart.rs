//! Charts of query results, as SVG and PNG: bars, lines, points, histograms.
//!
//! ```text
//!   ChartSpec + result ──► ChartData (axis, series) ──► ChartPicture (bars, words) ──► SVG, PNG
//! ```
//!
//! Colors are those that color-blind people tell apart; there are eight, and so are the most
//! series. In SVG text is text, so any reader's fonts draw it, Chinese too. A PNG is drawn with the
//! fonts of this machine, if they have every character.

mod axis;
mod draw;
mod fonts;
mod raster;
mod shapes;
mod ticks;

use crate::query::QueryResult;
use crate::value::DataValue;
use axis::AxisForm;
use draw::PictureSize;
use everloop_types::Lang;
pub(crate) use fonts::FontSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shapes::SvgUse;
use std::collections::HashMap;
use ticks::TickScale;

/// Most series of a chart.
pub const SERIES_MAX: usize = 8;

/// Most bars, so that their labels can be read.
const BARS_MAX: usize = 40;

/// Most points of a line or of a cloud.
const POINTS_MAX: usize = 5_000;

/// Most columns of a histogram.
const BINS_MAX: usize = 30;

/// What a chart looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Amounts of things.
    Bar,
    /// Amounts over time.
    Line,
    /// Two amounts of each thing.
    Scatter,
    /// How often values occur.
    Histogram,
}

/// What is to be drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartSpec {
    /// What it looks like.
    pub kind: ChartKind,
    /// What it is called.
    pub title: String,
    /// The column along the bottom; for a histogram, the column that is counted.
    pub x: String,
    /// The columns of amounts.
    pub y: Vec<String>,
    /// The column whose values are series of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The language of what the program adds.
    pub lang: Lang,
}

/// One series: a name, and a number or nothing at each place, from left to right.
#[derive(Debug, Clone, Default, PartialEq)]
struct ChartLine {
    name: String,
    points: Vec<(f64, f64)>,
    /// Places of rows without a number.
    missing: Vec<f64>,
}

/// What lies along the bottom.
#[derive(Debug, Clone, PartialEq)]
enum ChartAxis {
    /// Names, one beside the other.
    Labels(Vec<String>),
    /// Values at their distance.
    Values(AxisForm),
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
struct ChartData {
    kind: ChartKind,
    axis: ChartAxis,
    lines: Vec<ChartLine>,
    x_name: String,
    y_name: String,
}

/// A chart that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnChart {
    /// The picture as a file of its own, with its title.
    pub svg: String,
    /// The picture for a page, twice: for wide and for narrow windows. How words and lines look is
    /// for the page to say (classes `plot`, `lab`, `tick`, `val`, `grid`, `axis`).
    pub inline: String,
    /// What it shows, in words.
    pub alternative: String,
}

/// Draws a chart.
///
/// # Errors
/// In words for the model: what is wrong with the columns.
pub fn draw(spec: &ChartSpec, result: &QueryResult) -> Result<DrawnChart, String> {
    if result.rows.is_empty() {
        return Err("the result has no rows: there is nothing to draw".to_owned());
    }
    let data = data_of(spec, result)?;
    let alternative = alternative(spec, &data);
    let drawn = |size, used: &SvgUse<'_>| draw::picture(spec, &data, size).svg(used);
    let file = SvgUse::File { title: &spec.title, alternative: &alternative };
    let wide = SvgUse::Wide { alternative: &alternative };
    let svg = drawn(PictureSize::File, &file) + "\n";
    let inline = drawn(PictureSize::Wide, &wide) + &drawn(PictureSize::Narrow, &SvgUse::Narrow);
    Ok(DrawnChart { svg, inline, alternative })
}

/// Draws a chart as PNG. Nothing if the columns of the result cannot be drawn.
///
/// # Errors
/// The characters for which no font has a glyph.
pub(crate) fn draw_png(
    spec: &ChartSpec,
    result: &QueryResult,
    fonts: &mut FontSet,
) -> Result<Option<Vec<u8>>, Vec<char>> {
    let Ok(data) = data_of(spec, result) else { return Ok(None) };
    raster::png_of(&draw::picture(spec, &data, PictureSize::File), fonts).map(Some)
}

fn data_of(spec: &ChartSpec, result: &QueryResult) -> Result<ChartData, String> {
    match spec.kind {
        ChartKind::Histogram => histogram(spec, result),
        ChartKind::Scatter => scatter(spec, result),
        ChartKind::Bar | ChartKind::Line => by_place(spec, result),
    }
}

/// Whether a chart of a result shows only its first rows.
pub(crate) fn shows_part(kind: ChartKind, result: &QueryResult) -> bool {
    result.is_cut || kind == ChartKind::Scatter && result.rows.len() > POINTS_MAX
}

fn column(result: &QueryResult, name: &str) -> Result<usize, String> {
    let found = result.columns.iter().position(|column| column == name);
    let found = found
        .or_else(|| result.columns.iter().position(|column| column.eq_ignore_ascii_case(name)));
    found.ok_or_else(|| {
        format!("there is no column {name}; there are {}", result.columns.join(", "))
    })
}

fn number(value: &DataValue) -> Option<f64> {
    value.number().map(crate::exact::Exact::to_f64).filter(|number| number.is_finite())
}

fn numbers_in(result: &QueryResult, at: usize) -> Result<(), String> {
    let name = &result.columns[at];
    match result.rows.iter().any(|row| number(&row[at]).is_some()) {
        true => Ok(()),
        false => Err(format!("{name} holds no numbers")),
    }
}

/// The axis of a result: dates, months and numbers in their order, labels as they come.
fn axis_of(spec: &ChartSpec, rows: &[String]) -> (ChartAxis, HashMap<String, f64>) {
    let form = AxisForm::of(rows.iter().map(String::as_str));
    let mut labels: Vec<&String> = Vec::new();
    let mut places: HashMap<String, f64> = HashMap::new();
    for label in rows {
        // A row whose date is missing has no place among dates.
        let place = form.map_or(Some(0.0), |form| form.place(label));
        if let Some(place) = place.filter(|_| !places.contains_key(label)) {
            places.insert(label.clone(), place);
            labels.push(label);
        }
    }
    match form.filter(|_| spec.kind == ChartKind::Line) {
        Some(form) => (ChartAxis::Values(form), places),
        None => {
            // Bars stand side by side, those of times and numbers in their order.
            labels.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
            let labels: Vec<String> = labels.into_iter().cloned().collect();
            #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
            let places = labels.iter().enumerate().map(|(at, label)| (label.clone(), at as f64));
            let places = places.collect();
            (ChartAxis::Labels(labels), places)
        }
    }
}

fn by_place(spec: &ChartSpec, result: &QueryResult) -> Result<ChartData, String> {
    let x = column(result, &spec.x)?;
    let shown: Vec<String> = result.rows.iter().map(|row| row[x].shown()).collect();
    let (axis, places) = axis_of(spec, &shown);
    let most = if spec.kind == ChartKind::Bar { BARS_MAX } else { POINTS_MAX };
    if places.len() > most {
        return Err(format!(
            "{} values of {} are too many for a chart (at most {most}): aggregate, or take the \
             largest with ORDER BY … LIMIT",
            places.len(),
            spec.x
        ));
    }
    let mut lines: Vec<ChartLine> = Vec::new();
    for name in &spec.y {
        let y = column(result, name)?;
        numbers_in(result, y)?;
        let split = spec.series.as_deref().map(|name| column(result, name)).transpose()?;
        for (row, label) in result.rows.iter().zip(&shown) {
            let series = split.map_or_else(|| name.clone(), |at| row[at].shown());
            let Some(place) = places.get(label) else { continue };
            let at = lines.iter().position(|line| line.name == series).unwrap_or_else(|| {
                lines.push(ChartLine { name: series, ..ChartLine::default() });
                lines.len() - 1
            });
            match number(&row[y]) {
                Some(amount) => lines[at].points.push((*place, amount)),
                None => lines[at].missing.push(*place),
            }
        }
    }
    lines.retain(|line| !line.points.is_empty());
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    check_series(lines.len())?;
    let y_name = if spec.y.len() == 1 { spec.y[0].clone() } else { String::new() };
    Ok(ChartData { kind: spec.kind, axis, lines, x_name: spec.x.clone(), y_name })
}

fn check_series(count: usize) -> Result<(), String> {
    match count {
        0 => Err("there is nothing to draw: no numbers".to_owned()),
        1..=SERIES_MAX => Ok(()),
        _ => Err(format!(
            "{count} series cannot be told apart (at most {SERIES_MAX}): take the largest and add \
             up the others"
        )),
    }
}

fn scatter(spec: &ChartSpec, result: &QueryResult) -> Result<ChartData, String> {
    let x = column(result, &spec.x)?;
    numbers_in(result, x)?;
    let mut lines: Vec<ChartLine> = Vec::new();
    for name in &spec.y {
        let y = column(result, name)?;
        numbers_in(result, y)?;
        let split = spec.series.as_deref().map(|name| column(result, name)).transpose()?;
        for row in result.rows.iter().take(POINTS_MAX) {
            let (Some(across), Some(up)) = (number(&row[x]), number(&row[y])) else { continue };
            let series = split.map_or_else(|| name.clone(), |at| row[at].shown());
            match lines.iter_mut().find(|line| line.name == series) {
                Some(line) => line.points.push((across, up)),
                None => lines.push(ChartLine {
                    name: series,
                    points: vec![(across, up)],
                    missing: Vec::new(),
                }),
            }
        }
    }
    check_series(lines.len())?;
    let y_name = if spec.y.len() == 1 { spec.y[0].clone() } else { String::new() };
    let (axis, x_name) = (ChartAxis::Values(AxisForm::Number), spec.x.clone());
    Ok(ChartData { kind: spec.kind, axis, lines, x_name, y_name })
}

fn histogram(spec: &ChartSpec, result: &QueryResult) -> Result<ChartData, String> {
    let x = column(result, &spec.x)?;
    numbers_in(result, x)?;
    let values: Vec<f64> = result.rows.iter().filter_map(|row| number(&row[x])).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let wanted = (values.len() as f64).sqrt().ceil().clamp(5.0, BINS_MAX as f64);
    // Values that are all equal are one bar of a width that fits their size.
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let step = ticks::nice(span / wanted);
    let start = (low / step).floor() * step;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and above 0"
    )]
    let count = (((high - start) / step).floor() as usize + 1).min(2 * BINS_MAX);
    let mut bins = vec![0_u32; count];
    for value in &values {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as above")]
        let bin = (((value - start) / step).floor() as usize).min(count - 1);
        bins[bin] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let edge = |bin: usize| start + step * bin as f64;
    let scale = TickScale::new(low.abs().max(high.abs()), step, spec.lang);
    // A bar lies between two edges, so there is one label more than bars.
    let labels = (0..=count).map(|bin| scale.label(edge(bin))).collect();
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let points = bins.iter().enumerate().map(|(at, n)| (at as f64, f64::from(*n))).collect();
    let counted = everloop_text::analysis::chart_count().in_lang(spec.lang);
    let lines = vec![ChartLine { name: counted.clone(), points, missing: Vec::new() }];
    let (kind, x_name) = (ChartKind::Histogram, spec.x.clone());
    let axis = ChartAxis::Labels(labels);
    Ok(ChartData { kind, axis, lines, x_name, y_name: counted })
}

/// What a chart shows, for those who cannot see it.
fn alternative(spec: &ChartSpec, data: &ChartData) -> String {
    let lang = spec.lang;
    let mut parts = vec![spec.title.clone()];
    for line in &data.lines {
        let top = line.points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let low = line.points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(top), Some(low)) = (top, low) else { continue };
        let place = |at: f64| match &data.axis {
            ChartAxis::Values(form) => form.show(at),
            ChartAxis::Labels(labels) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let label = labels.get(at as usize).cloned();
                label.unwrap_or_default()
            }
        };
        let words = everloop_text::analysis::ChartLine {
            name: &line.name,
            count: &line.points.len(),
            low: &ticks::plain(low.1),
            low_at: &place(low.0),
            high: &ticks::plain(top.1),
            high_at: &place(top.0),
        };
        parts.push(words.text().in_lang(lang));
    }
    parts.join(" ")
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
