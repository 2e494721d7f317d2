//! The report as one page that opens without a network, by day and by night, on paper and on a
//! telephone.

use super::model::{ReportModel, ReportQuery, ReportSection};
use super::sections::sources_in;
use super::status_words;
use super::words::number_text;
use crate::escape::escape;
use crate::exact::Exact;
use crate::prove::NumberCounts;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use everloop_text as text;
use everloop_types::Lang;
use std::fmt::Write as _;

/// Bytes of a result that the page carries; a larger one is a file beside it.
const CSV_INSIDE_MAX: usize = 32 << 10;

const STYLE: &str = include_str!("report.css");

/// The page.
pub(super) fn page(report: &ReportModel) -> String {
    let mut out = opening(&report.title, report.lang);
    out.push_str(&head(report));
    let mut number = 0;
    for section in &report.sections {
        out.push_str(&section_of(section, report, &mut number));
    }
    out.push_str(&about_data(report));
    out.push_str(&sources(report));
    out.push_str("</main></body></html>\n");
    out
}

/// Everything before what the page says.
fn opening(title: &str, lang: Lang) -> String {
    let code = match lang {
        Lang::ZhCn => "zh-CN",
        Lang::En => "en",
    };
    format!(
        "<!doctype html>\n<html lang=\"{code}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\">\
         <title>{}</title><style>{STYLE}</style></head><body><main>",
        escape(title)
    )
}

/// A page in the same look that has no numbers to check. `body` is HTML of our own.
pub(super) fn plain_page(title: &str, made_at: &str, body: &str, lang: Lang) -> String {
    let (opening, title, made_at) = (opening(title, lang), escape(title), escape(made_at));
    format!(
        "{opening}<header><p class=\"faint\">{made_at}</p><h1>{title}</h1></header>{body}\
         </main></body></html>\n"
    )
}

fn head(report: &ReportModel) -> String {
    let lang = report.lang;
    let question = text::analysis::report::question(&report.question).in_lang(lang);
    let mut out = format!(
        "<header><p class=\"faint\">{} · {}</p><h1>{}</h1><dl class=\"keys\">",
        escape(&report.made_at),
        escape(&question),
        report.title_html
    );
    for key in &report.keys {
        let _ = write!(
            out,
            "<div><dt>{}</dt><dd class=\"big\">{}</dd><dd class=\"faint\">{}</dd></div>",
            escape(&key.label),
            key.value_html,
            key.rest_html
        );
    }
    let NumberCounts { numbers: count, proven, .. } = report.counts();
    let bad = count - proven;
    let first = report.numbers.iter().position(|number| number.status.is_marked());
    let told = match first {
        None => text::analysis::report::all_checked().in_lang(lang),
        Some(_) => text::analysis::report::unproven(&bad).in_lang(lang),
    };
    let link = first.map_or("#sources".to_owned(), |first| format!("#n{}", first + 1));
    let state = if bad == 0 { "good" } else { "bad" };
    let _ = write!(
        out,
        "<div class=\"check {state}\"><dt>{}</dt><dd class=\"big\">{proven}\
         <span class=\"faint\"> / {count}</span></dd><dd><a href=\"{link}\">{}</a></dd></div>\
         </dl></header>",
        escape(&text::analysis::report::checked().in_lang(lang)),
        escape(&told)
    );
    out
}

fn section_of(section: &ReportSection, report: &ReportModel, number: &mut usize) -> String {
    let mut out = String::from("<section class=\"part\"><div class=\"text\">");
    if !section.heading_html.is_empty() {
        *number += 1;
        let _ = write!(out, "<h2><span>{number}</span> {}</h2>", section.heading_html);
    }
    out.push_str(&section.html);
    out.push_str("</div>");
    let queries: Vec<&ReportQuery> =
        report.queries.iter().filter(|query| section.queries.contains(&query.number)).collect();
    if !queries.is_empty() {
        out.push_str("<aside>");
        for query in queries {
            let _ = write!(
                out,
                "<p><a class=\"cite\" href=\"#q{0}\">Q{0}</a> <span class=\"faint\">{1} · \
                 <a href=\"#q{0}\">SQL</a> · {2}</span></p>",
                query.number,
                size_of(query, report.lang),
                csv_link(query)
            );
        }
        out.push_str("</aside>");
    }
    out.push_str("</section>");
    out
}

/// Rows and time of a query.
fn size_of(query: &ReportQuery, lang: Lang) -> String {
    let rows = text::analysis::rows(&query.row_count).in_lang(lang);
    #[expect(clippy::cast_precision_loss, reason = "seconds with one place")]
    let seconds = format!("{:.1}", query.took_ms as f64 / 1_000.0);
    let seconds = text::analysis::report::seconds(&seconds).in_lang(lang);
    escape(&format!("{rows} · {seconds}"))
}

fn csv_link(query: &ReportQuery) -> String {
    let name = format!("q{}.csv", query.number);
    match query.csv.len() <= CSV_INSIDE_MAX {
        true => {
            let inside = BASE64_STANDARD.encode(&query.csv);
            format!("<a download=\"{name}\" href=\"data:text/csv;base64,{inside}\">CSV</a>")
        }
        false => format!("<a href=\"results/{name}\">CSV</a>"),
    }
}

fn about_data(report: &ReportModel) -> String {
    let lang = report.lang;
    let mut out = String::from("<section class=\"part\"><div class=\"text\">");
    let title = text::analysis::data_title().in_lang(lang);
    let _ = write!(out, "<h2>{}</h2><dl class=\"facts\">", escape(&title));
    for fact in &report.facts {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(&fact.name), escape(&fact.value));
    }
    out.push_str("</dl>");
    if !report.caveats.is_empty() {
        let title = text::analysis::report::caveats().in_lang(lang);
        let _ = write!(out, "<div class=\"caveat\"><b>{}</b><ul>", escape(&title));
        for line in &report.caveats {
            let _ = write!(out, "<li>{}</li>", escape(line.trim()));
        }
        out.push_str("</ul></div>");
    }
    out.push_str("</div></section>");
    out
}

fn sources(report: &ReportModel) -> String {
    let lang = report.lang;
    let title = text::analysis::sources_title().in_lang(lang);
    let mut out = format!("<section id=\"sources\"><h2>{}</h2>", escape(&title));
    if !report.numbers.is_empty() {
        out.push_str(&numbers_table(report, &title));
    }
    let _ = write!(
        out,
        "<p class=\"faint\">{}</p>",
        escape(&text::analysis::report::check_again().in_lang(lang))
    );
    for query in &report.queries {
        out.push_str(&query_of(query, lang));
    }
    for cell in &report.cells {
        let _ = write!(
            out,
            "<h3 id=\"c{0}\">C{0}</h3><pre tabindex=\"0\"><code>{1}</code></pre>\
             <pre tabindex=\"0\">{2}</pre>",
            cell.number,
            escape(&cell.code),
            escape(&cell.output)
        );
    }
    out.push_str("</section>");
    out
}

fn numbers_table(report: &ReportModel, title: &str) -> String {
    let lang = report.lang;
    let head = text::analysis::sources_head().in_lang(lang);
    let head: Vec<&str> = head.trim_matches(['|', ' ']).split('|').map(str::trim).collect();
    let mut out = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>\
         <th class=\"num\">#</th>",
        escape(title)
    );
    for (at, name) in head.iter().enumerate() {
        let class = if at + 1 == head.len() { " class=\"num\"" } else { "" };
        let _ = write!(out, "<th{class}>{}</th>", escape(name));
    }
    out.push_str("</tr></thead><tbody>");
    for (index, number) in report.numbers.iter().enumerate() {
        let (class, mark) = match number.status {
            status if status.is_marked() => (" class=\"bad\"", "⚠"),
            status if status.is_proven() => ("", "✓"),
            _ => ("", "·"),
        };
        let _ = write!(
            out,
            "<tr id=\"n{0}\"{class}><td class=\"num faint\">{0}</td><td><b>{1}</b></td>\
             <td class=\"state\">{mark} {2}</td><td><code>{3}</code></td>\
             <td class=\"num\">{4}</td></tr>",
            index + 1,
            escape(&number_text(number)),
            escape(&status_words(number.status, lang)),
            linked(&number.source),
            escape(&number.value),
        );
    }
    out.push_str("</tbody></table></div>");
    out
}

/// An expression whose results are links.
fn linked(source: &str) -> String {
    let Some((kind, number)) = sources_in(source).next() else { return escape(source) };
    let name = format!("{kind}{number}");
    let Some((before, after)) = source.split_once(&name) else { return escape(source) };
    let link = format!("<a href=\"#{name}\">{name}</a>");
    escape(before) + &link + &linked_rest(after)
}

fn linked_rest(rest: &str) -> String {
    match sources_in(rest).next() {
        Some(_) => linked(rest),
        None => escape(rest),
    }
}

fn query_of(query: &ReportQuery, lang: Lang) -> String {
    let result = text::analysis::report::result(&query.row_count).in_lang(lang);
    let mut out = format!(
        "<h3 id=\"q{0}\">Q{0} <span class=\"faint\">{1} · {2}</span></h3>\
         <pre tabindex=\"0\"><code>{3}</code></pre><details><summary>{4}</summary>\
         <div class=\"wide\" tabindex=\"0\"><table><thead><tr>",
        query.number,
        size_of(query, lang),
        csv_link(query),
        escape(&query.sql),
        escape(&result)
    );
    let is_number = |at: usize| {
        let mut values =
            query.rows.iter().filter_map(|row| row.get(at)).filter(|value| !value.is_empty());
        values.clone().next().is_some() && values.all(|value| Exact::parse(value).is_some())
    };
    let classes: Vec<&str> = (0..query.columns.len())
        .map(|at| if is_number(at) { " class=\"num\"" } else { "" })
        .collect();
    for (column, class) in query.columns.iter().zip(&classes) {
        let _ = write!(out, "<th{class}>{}</th>", escape(column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in &query.rows {
        out.push_str("<tr>");
        for (value, class) in row.iter().zip(&classes) {
            let _ = write!(out, "<td{class}>{}</td>", escape(value));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    let left = query.row_count.saturating_sub(query.rows.len());
    if left > 0 {
        let more = text::analysis::report::more_rows(&left).in_lang(lang);
        let _ = write!(out, "<p class=\"faint\">{}</p>", escape(&more));
    }
    out.push_str("</details>");
    out
}
