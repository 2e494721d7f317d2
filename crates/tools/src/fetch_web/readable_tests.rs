use super::{BodyKind, PlainPage, ReadableText};
use std::time::{Duration, Instant};

const URL: &str = "https://news.example/a/b.html";

fn html(text: &str) -> ReadableText {
    ReadableText::of(text.as_bytes(), BodyKind::Html, "text/html", URL).unwrap()
}

fn article() -> String {
    let long = "Water keeps no shape of its own, and therefore takes that of every vessel. ";
    let paragraph = format!("<p>{}</p>", long.repeat(4));
    format!(
        "<html><head><title>On water</title><script>var a = 'code';</script></head><body>\
         <nav><a href=/>Home</a> <a href=/x>More</a></nav><article><h1>On water</h1>{paragraph}\
         <h2>Rivers</h2>{paragraph}<ul><li>Rhine</li><li>Nile</li></ul>\
         <pre><code>let x = 1;\n  y();</code></pre><p>See <a href=\"../c.html\">the rest</a>.</p>\
         {paragraph}</article><footer>Imprint and cookies</footer></body></html>"
    )
}

#[test]
fn an_article_becomes_markdown_without_what_stands_around_it() {
    let page = html(&article());
    assert_eq!(page.title, "On water");
    for part in ["Water keeps no shape", "## Rivers", "Rhine", "let x = 1;\n  y();"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(page.text.contains("https://news.example/c.html"), "{}", page.text);
    for part in ["var a", "Imprint", "More"] {
        assert!(!page.text.contains(part), "{part}: {}", page.text);
    }
}

#[test]
fn a_page_without_an_article_still_has_its_words() {
    let page = html("<title>T</title><div>one</div><div>two <b>bold</b></div><style>x{}</style>");
    assert_eq!(page.title, "T");
    assert!(page.text.contains("one") && page.text.contains("two"), "{}", page.text);
    assert!(!page.text.contains("x{}"), "{}", page.text);
    assert_eq!(html("").text, "");
}

/// A page may be made to exhaust whoever reads it.
#[test]
fn hostile_pages_are_read_in_bounded_time_and_without_a_tree() {
    let deep = format!("{}deep{}", "<div>".repeat(200_000), "</div>".repeat(200_000));
    let wide = format!("wide{}", "<b><i><p>x".repeat(100_000));
    let open = "<".repeat(1_000_000);
    let nested = format!("{}<p>nested", "<table><tr><td><b>".repeat(70));
    for (name, page) in [("deep", deep), ("wide", wide), ("open", open), ("nested", nested)] {
        let start = Instant::now();
        let page = html(&page);
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
        assert!(name == "open" || page.text.contains(name), "{name}");
    }
}

/// Stray end tags, `<div/>` and formatting that stays open make a parser build more than it seems.
#[test]
fn a_page_cannot_hide_how_large_its_tree_becomes() {
    let formatting: String = (0..100).map(|n| format!("<b id={n}></x>")).collect();
    let hostile = [
        "<div></x>".repeat(10_000),
        "<div/>".repeat(10_000),
        format!("<p>{formatting}{}", "<p>x".repeat(1_000)),
    ];
    for page in hostile {
        assert!(!PlainPage::read(&page).fits_parser(), "{}", &page[..40]);
    }
    let items = "<li>one<br>two<img src=x> <b>three</b><p>four".repeat(1_000);
    let rows = "<tr><td>one<td>two<p>three".repeat(1_000);
    let ordinary = [format!("<ul>{items}</ul>"), format!("<table>{rows}"), article()];
    assert!(ordinary.iter().all(|page| PlainPage::read(page).fits_parser()));
}

#[test]
fn characters_are_those_that_the_answer_or_the_page_names() {
    let gbk = b"<meta charset=gbk><title>\xd6\xd0\xce\xc4</title><p>\xc4\xe3\xba\xc3</p>";
    let page = ReadableText::of(gbk, BodyKind::Html, "text/html", URL).unwrap();
    assert_eq!(page.title, "\u{4e2d}\u{6587}");
    let plain =
        ReadableText::of(b"caf\xe9", BodyKind::Plain, "text/plain; charset=\"iso-8859-1\"", URL);
    assert_eq!(plain.unwrap().text, "caf\u{e9}");
    let marked = ReadableText::of(b"\xff\xfeh\0i\0", BodyKind::Plain, "text/plain", URL);
    assert_eq!(marked.unwrap().text, "hi");
    assert_eq!(ReadableText::of(b"PK\x03\x04\0\0", BodyKind::Plain, "text/plain", URL), None);
}

#[test]
fn words_that_a_person_would_not_see_are_left_out() {
    let page = ReadableText::of(
        "a\u{200b}b\u{202e}c\u{e0041}\u{1b}[31md\n\n\n\ne".as_bytes(),
        BodyKind::Plain,
        "text/plain",
        URL,
    );
    assert_eq!(page.unwrap().text, "abcd\n\ne");
}

#[test]
fn only_text_is_taken() {
    for text in ["text/html; charset=x", "text/plain", "application/ld+json", "image/svg+xml", ""] {
        assert!(BodyKind::of(text).is_some(), "{text}");
    }
    for other in ["image/png", "application/pdf", "application/octet-stream", "video/mp4"] {
        assert_eq!(BodyKind::of(other), None, "{other}");
    }
}
