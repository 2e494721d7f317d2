use super::{HtmlPage, HtmlToken, HtmlTokens};
use proptest::prelude::*;

fn texts(source: &str, class: &str) -> Vec<String> {
    HtmlPage::read(source).of_class(class).map(|element| element.text()).collect()
}

#[test]
fn attributes_are_read_in_any_order_and_with_any_quotes() {
    for source in [
        r#"<a class="x y" href="/1?a=1&amp;b=2" disabled>t</a>"#,
        r#"<a href='/1?a=1&amp;b=2' data-q='">' class='y x'>t</a>"#,
        "<A\n HREF = /1?a=1&amp;b=2\tCLASS=x>t</A>",
        r#"<a / class="x" / href="/1?a=1&amp;b=2"/ >t</a>"#,
    ] {
        let page = HtmlPage::read(source);
        let element = page.of_class("x").next().unwrap();
        assert_eq!(element.attribute("href").as_deref(), Some("/1?a=1&b=2"), "{source}");
        assert!(element.is("a") && element.attribute("title").is_none(), "{source}");
    }
}

#[test]
fn text_is_what_a_reader_sees_on_one_line() {
    let source = "<div class=x>One<b>two</b><p>three<br>four</p><!-- <p>no</p> -->\
                  <script>if (a < b) { '</div>' }</script><style>p{}</style> &lt;five&gt; < 6</div>";
    assert_eq!(texts(source, "x"), ["Onetwo three four <five> < 6"]);
}

#[test]
fn elements_that_are_not_closed_end_where_the_next_of_their_kind_begins() {
    let source = "<ol><li class=x>1<p>a<p>b<ul><li class=y>in<li class=y>too</ul>\
                  <li class=x>2<div>c</ol><p class=x>3";
    assert_eq!(texts(source, "x"), ["1 a b in too", "2 c", "3"]);
    assert_eq!(texts(source, "y"), ["in", "too"]);
}

#[test]
fn broken_pages_are_read_as_far_as_they_make_sense() {
    let cases: [(&str, &[&str]); 7] = [
        ("<p class=x>a</b></i>b</p>c", &["ab"]),
        ("<p class=x>never closed", &["never closed"]),
        ("<p class=x>cut <a href=\"", &["cut"]),
        ("<p class=x title=\"a > b\">quoted</p>", &["quoted"]),
        ("<p class=x it's>stray quote</p>", &["stray quote"]),
        ("<p class=x>a <!-- never closed </p><p class=x>b", &["a"]),
        ("<title><p class=x></title><p class=x>after", &["after"]),
    ];
    for (source, expected) in cases {
        assert_eq!(texts(source, "x"), expected, "{source}");
    }
}

#[test]
fn deep_and_wide_pages_are_bounded() {
    let deep = format!("{}<b class=x>in</b>", "<div>".repeat(50_000));
    assert_eq!(texts(&deep, "x").len(), 1);
    let wide = "<i class=x></i>".repeat(200_000);
    assert_eq!(texts(&wide, "x").len(), super::NODES_MAX);
}

/// Pieces that together come near to a page, and near to none.
fn soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<", ">", "</", "/>", "<!--", "-->", "<!", "=", "\"", "'", " ", "class", "x", "<p", "<li",
        "<ul>", "</ul>", "<script>", "</script", "&", "#x", ";", "&amp;", "中", "\u{301}", "a",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..80).prop_map(|all| all.concat())
}

/// Each byte is in one token or in none, and every text is clean.
fn reads(source: &str) -> Result<(), TestCaseError> {
    let kept = HtmlTokens::new(source).map(|token| match token {
        HtmlToken::Text(text) => text.len(),
        HtmlToken::Close(name) => name.len(),
        HtmlToken::Open(tag) => tag.attributes().map(|(key, value)| key.len() + value.len()).sum(),
    });
    prop_assert!(kept.sum::<usize>() <= source.len());
    let page = HtmlPage::read(source);
    for element in page.elements() {
        let text = element.text();
        prop_assert!(!text.contains(|c: char| c.is_control()), "{text:?}");
        prop_assert!(element.inside().count() <= page.nodes.len());
        prop_assert!(!element.within(|outer| outer.at >= element.at));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        reads(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_soup_of_tags_is_read_without_a_panic(source in soup()) {
        reads(&source)?;
    }
}
