//! Blocks of code in a message: colored, named, with a button that copies them.
//!
//! The blocks are found in HTML that was sanitised before; what is put around and into them is
//! ours.

use crate::parts::icon;
use everloop_markdown::{CodeTone, code_spans};
use everloop_text::pages as words;
use everloop_types::Lang;
use maud::{Markup, html};

const BEGIN: &str = "<pre><code";
const END: &str = "</code></pre>";

/// The same HTML with its blocks of code colored.
pub(crate) fn with_code(lang: Lang, html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let Some((attributes, after)) = block.split_once('>') else { break };
        let Some((code, after)) = after.split_once(END) else { break };
        out.push_str(before);
        out.push_str(&block_of(lang, language(attributes), &unescaped(code)).into_string());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The language that a fence named.
fn language(attributes: &str) -> &str {
    let class = attributes.split_once("class=\"language-").map_or("", |(_, class)| class);
    class.split('"').next().unwrap_or_default()
}

/// Text as it was before the sanitiser wrote it.
fn unescaped(html: &str) -> String {
    let plain = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    plain.replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
}

fn block_of(lang: Lang, language: &str, code: &str) -> Markup {
    let plain = words::code::plain().in_lang(lang);
    let name = if language.is_empty() { plain.as_str() } else { language };
    html! {
        div.code {
            header {
                span { (name) }
                span.grow {}
                button.btn.ghost.sm type="button" data-copy="" {
                    (icon("copy")) span { (words::live::copy().in_lang(lang)) }
                }
            }
            pre tabindex="0" aria-label=(words::code::block(&name).in_lang(lang)) {
                code {
                    @for span in code_spans(language, code) {
                        @match class(span.tone) {
                            Some(class) => span class=(class) { (span.text) },
                            None => (span.text),
                        }
                    }
                }
            }
        }
    }
}

fn class(tone: CodeTone) -> Option<&'static str> {
    match tone {
        CodeTone::Plain => None,
        CodeTone::Keyword => Some("k"),
        CodeTone::Text | CodeTone::Added => Some("v"),
        CodeTone::Number => Some("n-lit"),
        CodeTone::Comment => Some("c"),
        CodeTone::Removed => Some("e"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> String {
        with_code(Lang::En, html)
    }

    #[test]
    fn code_is_colored_and_stays_text() {
        let html = shown(
            "<p>a</p><pre><code class=\"language-rust\">let x = \"&lt;b&gt;\"; // &amp;\n\
             </code></pre><p>b</p>",
        );
        assert!(html.starts_with("<p>a</p><div class=\"code\">"), "{html}");
        assert!(html.ends_with("</code></pre></div><p>b</p>"), "{html}");
        assert!(html.contains("<span class=\"k\">let</span> x = "), "{html}");
        assert!(html.contains("<span class=\"v\">&quot;&lt;b&gt;&quot;</span>"), "{html}");
        assert!(html.contains("<span class=\"c\">// &amp;</span>"), "{html}");
        assert!(html.contains("<span>rust</span>"), "{html}");
    }

    #[test]
    fn an_escape_that_a_message_spells_out_is_not_undone_twice() {
        let html = shown("<pre><code>&amp;lt;script&amp;gt;</code></pre>");
        assert!(html.contains("&amp;lt;script&amp;gt;"), "{html}");
    }

    #[test]
    fn tabs_and_every_line_are_there_for_who_copies_it() {
        let html = shown("<pre><code class=\"language-make\">all:\n\techo\n</code></pre>");
        assert!(html.contains("all:\n\techo\n"), "{html}");
    }
}
