use super::{message_html, to_html};
use everloop_types::Lang;

#[test]
fn emphasis_beside_chinese_punctuation_is_emphasis() {
    let html = to_html("**请确认：**删除文件");
    assert_eq!(html.trim(), "<p><strong>请确认：</strong>删除文件</p>");
}

#[test]
fn html_in_a_message_is_text() {
    let html = to_html("<script>alert(1)</script> <b onclick=x>b</b>");
    assert!(!html.contains("<script") && !html.contains("<b "), "{html}");
    assert!(html.contains("&lt;script&gt;"), "{html}");
}

#[test]
fn a_picture_becomes_a_link_and_nothing_is_loaded() {
    let html = to_html("![cat](https://a.example/c.png)");
    assert!(!html.contains("<img"), "{html}");
    assert!(html.contains("href=\"https://a.example/c.png\""), "{html}");
    assert!(html.contains("rel=\"noopener noreferrer nofollow\""), "{html}");
}

#[test]
fn a_table_that_scrolls_is_reached_by_keys() {
    let html = to_html("| a |\n|---|\n| 1 |\n");
    assert!(html.contains("<table tabindex=\"0\">"), "{html}");
}

#[test]
fn an_address_that_runs_something_is_taken_off() {
    for bad in [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        "![x](javascript:alert(1))",
        "[x](//evil.example)",
    ] {
        let html = to_html(bad);
        assert!(!html.contains("href=\"java") && !html.contains("href=\"data"), "{html}");
        assert!(!html.contains("href=\"vb") && !html.contains("href=\"//"), "{html}");
    }
}

#[test]
fn headings_of_a_message_stand_below_those_of_the_page() {
    assert_eq!(to_html("# One").trim(), "<h3>One</h3>");
    assert_eq!(to_html("#### Four").trim(), "<h3>Four</h3>");
}

#[test]
fn a_link_of_a_message_says_that_it_leads_away() {
    let html = message_html(Lang::En, "[docs](https://a.example/) and `</a>`");
    assert!(html.contains("docs<span class=\"vh\"> (external link)</span></a>"), "{html}");
    assert_eq!(html.matches("external link").count(), 1, "{html}");
    assert!(message_html(Lang::ZhCn, "https://a.example/").contains("（外部链接）"));
}
