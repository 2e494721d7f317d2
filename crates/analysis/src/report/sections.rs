//! The words of a report as HTML: title, key figures, sections, each number a link to its source.

use super::model::{KeyFigure, ReportSection};
use super::status_words;
use crate::chart;
use crate::escape::escape;
use crate::manifest::{DataManifest, ManifestChart};
use crate::prove::ReportNumber;
use crate::query::QueryResult;
use comrak::{Options, markdown_to_html};
use everloop_text as text;
use everloop_types::Lang;
use std::fmt::Write as _;

/// Stand in the text where a number begins and ends, and no writer has them.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// Stands where the number of a figure will be.
const COUNT: char = '\u{e002}';

/// Most figures above the words.
const KEYS_MAX: usize = 3;

/// Characters of what a key figure is.
const KEY_CHARS: usize = 40;

/// What the words are made of.
pub(super) struct ReportWords {
    pub(super) title: String,
    pub(super) title_html: String,
    pub(super) keys: Vec<KeyFigure>,
    pub(super) sections: Vec<ReportSection>,
}

/// Charts of a report, drawn as they are shown.
struct ReportFigures<'a> {
    manifest: &'a DataManifest,
    results: &'a [(u32, QueryResult)],
    shown: Vec<u32>,
}

pub(super) fn parts(
    manifest: &DataManifest,
    words: &str,
    numbers: &[ReportNumber],
    results: &[(u32, QueryResult)],
    pictures: &[(String, String)],
) -> ReportWords {
    let html = with_numbers(&html_of(words, numbers), numbers, manifest.lang);
    let mut figures = ReportFigures { manifest, results, shown: Vec::new() };
    let html = figures.put_into(&html);
    let (title_html, rest) = match html.trim_start().strip_prefix("<h1>") {
        Some(rest) => rest.split_once("</h1>").unwrap_or((rest, "")),
        None => ("", html.as_str()),
    };
    let title_html = match title_html {
        "" => escape(manifest.question.trim()),
        title => title.to_owned(),
    };
    let mut sections = split(rest);
    let keys = sections.first_mut().map(take_keys).unwrap_or_default();
    for section in &mut sections {
        section.queries = queries_in(&section.html, &section.heading_html, manifest, numbers);
    }
    figures.add_others(&mut sections);
    count_figures(&mut sections, manifest.lang);
    let last = pictures.iter().map(|(name, picture)| picture_of(name, picture));
    let last: String = last.collect();
    match sections.last_mut() {
        Some(section) => section.html.push_str(&last),
        None => sections.push(section(String::new(), last)),
    }
    sections.retain(|section| !section.html.trim().is_empty() || !section.heading_html.is_empty());
    ReportWords { title: plain(&title_html), title_html, keys, sections }
}

fn section(heading_html: String, html: String) -> ReportSection {
    ReportSection { heading_html, html, queries: Vec::new() }
}

fn html_of(words: &str, numbers: &[ReportNumber]) -> String {
    let mut marked = String::new();
    let mut at = 0;
    for (index, number) in numbers.iter().enumerate().filter(|(_, n)| !n.at.is_empty()) {
        marked.push_str(&clean(&words[at..number.at.start]));
        let _ = write!(marked, "{OPEN}{index}{OPEN}{}{CLOSE}", clean(&words[number.at.clone()]));
        at = number.at.end;
    }
    marked.push_str(&clean(&words[at..]));
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.cjk_friendly_emphasis = true;
    // Markup in the words of a model, or of the data, stays text.
    options.render.escape = true;
    let html = markdown_to_html(&marked, &options);
    // A wide table is moved within its own box.
    html.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
}

fn clean(text: &str) -> String {
    text.replace([OPEN, CLOSE, COUNT], "")
}

fn with_numbers(html: &str, numbers: &[ReportNumber], lang: Lang) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(start) = rest.find(OPEN) {
        out.push_str(&rest[..start]);
        rest = &rest[start + OPEN.len_utf8()..];
        let Some((index, after)) = rest.split_once(OPEN) else { break };
        let Some((shown, after)) = after.split_once(CLOSE) else { break };
        rest = after;
        let Some((index, number)) = index
            .parse()
            .ok()
            .and_then(|index: usize| numbers.get(index).map(|number| (index, number)))
        else {
            continue;
        };
        // Inside of an attribute, such as the address of a link, there are no links.
        if out.rfind('<') > out.rfind('>') {
            out.push_str(shown);
            continue;
        }
        let class = if number.status.is_marked() { "n bad" } else { "n" };
        let source = match number.source.is_empty() {
            true => status_words(number.status, lang),
            false => format!("{} · {}", status_words(number.status, lang), number.source),
        };
        let _ = write!(
            out,
            "<a class=\"{class}\" href=\"#n{}\" title=\"{}\">{shown}</a>",
            index + 1,
            escape(&source)
        );
    }
    out.push_str(rest);
    out
}

impl ReportFigures<'_> {
    /// Pictures of our own are put into the page; others are left out, they would need a network.
    fn put_into(&mut self, html: &str) -> String {
        let mut out = String::new();
        let mut rest = html;
        while let Some(start) = rest.find("<img ") {
            out.push_str(&rest[..start]);
            let Some(end) = rest[start..].find('>').map(|end| start + end + 1) else { break };
            let tag = &rest[start..end];
            rest = &rest[end..];
            let chart = self.manifest.charts.iter().find(|chart| {
                let name = format!("charts/chart{}.", chart.number);
                tag.contains(&format!("{name}svg\"")) || tag.contains(&format!("{name}png\""))
            });
            if let Some(chart) = chart {
                let figure = self.figure(chart);
                out.push_str(&figure);
            }
        }
        out.push_str(rest);
        // A figure does not belong into a paragraph.
        out.replace("<p><figure", "<figure").replace("</figure></p>", "</figure>")
    }

    fn figure(&mut self, chart: &ManifestChart) -> String {
        let result = self.results.iter().find(|(number, _)| *number == chart.query);
        let drawn = result.and_then(|(_, result)| chart::draw(&chart.spec, result).ok());
        let Some(drawn) = drawn.filter(|_| !self.shown.contains(&chart.number)) else {
            return String::new();
        };
        self.shown.push(chart.number);
        format!(
            "<figure class=\"fig\" id=\"chart{}\"><figcaption><b>{COUNT}</b> {}</figcaption>{}\
             </figure>",
            chart.number,
            escape(&chart.spec.title),
            drawn.inline
        )
    }

    /// Charts that the words do not name stand where their query is used.
    fn add_others(&mut self, sections: &mut Vec<ReportSection>) {
        for chart in &self.manifest.charts {
            if self.shown.contains(&chart.number) {
                continue;
            }
            let figure = self.figure(chart);
            let place = sections.iter().position(|section| section.queries.contains(&chart.query));
            let last = sections.iter().rposition(|section| !section.queries.is_empty());
            let last = last.unwrap_or(sections.len().saturating_sub(1));
            match sections.get_mut(place.unwrap_or(last)) {
                Some(section) => {
                    section.html.push_str(&figure);
                    if !section.queries.contains(&chart.query) {
                        section.queries.push(chart.query);
                    }
                }
                None => sections.push(section(String::new(), figure)),
            }
        }
    }
}

fn picture_of(name: &str, picture: &str) -> String {
    let picture: String =
        picture.chars().filter(|c| c.is_ascii_alphanumeric() || "+/=".contains(*c)).collect();
    let name = escape(name.trim_start_matches("charts/"));
    format!(
        "<figure class=\"fig\"><figcaption>{name}</figcaption>\
         <img alt=\"{name}\" src=\"data:image/png;base64,{picture}\"></figure>"
    )
}

/// Figures are counted as they stand.
fn count_figures(sections: &mut [ReportSection], lang: Lang) {
    let mut count = 0;
    for section in sections {
        while section.html.contains(COUNT) {
            count += 1;
            let name = escape(&text::analysis::report::figure(&count).in_lang(lang));
            section.html = section.html.replacen(COUNT, &name, 1);
        }
    }
}

/// The parts between headings. A second title is a heading like others.
fn split(html: &str) -> Vec<ReportSection> {
    let html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>");
    let mut sections = Vec::new();
    for (at, part) in html.split("<h2>").enumerate() {
        sections.push(match part.split_once("</h2>").filter(|_| at > 0) {
            Some((heading, rest)) => section(heading.to_owned(), rest.to_owned()),
            None => section(String::new(), part.to_owned()),
        });
    }
    sections
}

/// A list right under the title whose items are each a name and a number.
fn take_keys(section: &mut ReportSection) -> Vec<KeyFigure> {
    let html = section.html.trim_start();
    let Some((list, rest)) =
        html.strip_prefix("<ul>").and_then(|inside| inside.split_once("</ul>"))
    else {
        return Vec::new();
    };
    let items: Vec<&str> = list.split("<li>").skip(1).collect();
    let keys: Option<Vec<KeyFigure>> =
        items.iter().map(|item| key_of(item.trim().trim_end_matches("</li>").trim())).collect();
    match keys.filter(|keys| !keys.is_empty() && keys.len() <= KEYS_MAX) {
        Some(keys) => {
            section.html = rest.to_owned();
            keys
        }
        None => Vec::new(),
    }
}

/// `revenue in the East: 4,812` with its number as a link.
fn key_of(item: &str) -> Option<KeyFigure> {
    let item = item.trim_start_matches("<p>").trim_end_matches("</p>");
    let start = item.find("<a class=\"n")?;
    let end = start + item[start..].find("</a>")? + "</a>".len();
    let label = plain(&item[..start]);
    let label = label.trim().trim_end_matches([':', '\u{ff1a}']).trim().to_owned();
    let has_colon = plain(&item[..start]).trim_end().ends_with([':', '\u{ff1a}']);
    let is_short = !label.is_empty() && label.chars().count() <= KEY_CHARS;
    let rest = plain(&item[end..]);
    (has_colon && is_short && rest.chars().count() <= KEY_CHARS).then(|| KeyFigure {
        label,
        value_html: item[start..end].to_owned(),
        rest_html: item[end..].replace("<strong>", "").replace("</strong>", ""),
    })
}

/// HTML without its tags.
fn plain(html: &str) -> String {
    let mut out = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            c if !is_tag => out.push(c),
            _ => {}
        }
    }
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    out.replace("&#39;", "'").replace("&amp;", "&").trim().to_owned()
}

/// The queries behind the numbers and charts of a section, in order.
fn queries_in(
    html: &str,
    heading: &str,
    manifest: &DataManifest,
    numbers: &[ReportNumber],
) -> Vec<u32> {
    let mut found = Vec::new();
    let numbers_of = |html: &str| -> Vec<usize> {
        let links = html.split("href=\"#n").skip(1);
        links.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
    };
    for index in numbers_of(heading).into_iter().chain(numbers_of(html)) {
        let source = numbers.get(index.wrapping_sub(1)).map_or("", |number| &number.source);
        for (kind, query) in sources_in(source) {
            if kind == 'q' && !found.contains(&query) {
                found.push(query);
            }
        }
    }
    for chart in &manifest.charts {
        let is_here = html.contains(&format!("id=\"chart{}\"", chart.number));
        if is_here && !found.contains(&chart.query) {
            found.push(chart.query);
        }
    }
    found.sort_unstable();
    found
}

/// The results that an expression names: `q1.r2.total` names q1.
pub(super) fn sources_in(source: &str) -> impl Iterator<Item = (char, u32)> {
    source.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(|word| {
        let kind = word.chars().next().filter(|kind| ['q', 'c'].contains(kind))?;
        Some((kind, word[1..].parse().ok()?))
    })
}
