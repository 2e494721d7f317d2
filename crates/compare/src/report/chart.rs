//! Bars, one per loop, as SVG within a page. Colours come from the page's style.

use super::page::escape;
use unicode_width::UnicodeWidthStr;

const ROW: u64 = 26;
const BAR: u64 = 16;
const LABELS: u64 = 150;
const BARS: u64 = 360;
const WIDTH: u64 = 620;

/// One bar: its name, its parts with the class that colours them, and the text after it.
pub(super) struct ChartBar {
    pub(super) name: String,
    pub(super) parts: Vec<(&'static str, u64)>,
    pub(super) value: String,
}

/// A chart with a heading, bars in proportion to `most`, and names of the parts if there are some.
pub(super) fn chart(
    title: &str,
    bars: &[ChartBar],
    most: u64,
    legend: &[(&str, String)],
) -> String {
    let most = most.max(1);
    let legend_height = if legend.is_empty() { 0 } else { ROW };
    let height = legend_height + ROW * bars.len() as u64 + 4;
    let mut svg = format!(
        "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"{title}\">\n",
        title = escape(title)
    );
    let mut x = LABELS;
    for (class, name) in legend {
        let text = x + 16;
        svg.push_str(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"6\" width=\"11\" height=\"11\"/>\
             <text x=\"{text}\" y=\"16\">{}</text>\n",
            escape(name)
        ));
        x = text + 8 * name.width() as u64 + 14;
    }
    for (row, bar) in (0_u64..).zip(bars) {
        svg.push_str(&drawn(bar, legend_height + row * ROW, most));
    }
    svg.push_str("</svg></figure>\n");
    svg
}

fn drawn(bar: &ChartBar, top: u64, most: u64) -> String {
    let baseline = top + BAR + 1;
    let mut svg = format!(
        "<text class=\"name\" x=\"{}\" y=\"{baseline}\">{}</text>",
        LABELS - 8,
        escape(&bar.name)
    );
    let mut sum = 0;
    for (class, part) in &bar.parts {
        // Both ends are scaled, so that rounding leaves no gap between two parts.
        let (from, to) = (scaled(sum, most), scaled(sum + part, most));
        sum += part;
        svg.push_str(&format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BAR}\"/>",
            LABELS + from,
            top + 4,
            to - from
        ));
    }
    let end = LABELS + scaled(sum, most) + 6;
    format!("{svg}<text x=\"{end}\" y=\"{baseline}\">{}</text>\n", escape(&bar.value))
}

fn scaled(n: u64, most: u64) -> u64 {
    u64::try_from(u128::from(n.min(most)) * u128::from(BARS) / u128::from(most)).unwrap_or(BARS)
}
