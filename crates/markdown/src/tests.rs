//! What a document looks like, whole and in pieces.

use crate::{MarkdownStream, StyledLine, TerminalStyle, Tone};
use crate::{display_width, to_lines, wrap_text};
use expect_test::expect;
use proptest::prelude::*;

const PLAIN: TerminalStyle =
    TerminalStyle { width: 40, color: false, emphasis: false, links: false, unicode: true };
const COLOR: TerminalStyle =
    TerminalStyle { width: 40, color: true, emphasis: true, links: true, unicode: true };

const WIDE: TerminalStyle = TerminalStyle { width: 80, ..COLOR };

const DOCUMENT: &str = "\
# Result

Some **bold** and *italic* text with `code` and a [link](https://example.com/a) that is long enough.

1. first
2. second, which is longer than the line is wide
   - nested
   - [x] done

> quoted words

| name | value |
|:-----|------:|
| alpha | 1 |
| beta | 23 |

```rust
fn main() { println!(\"x\"); } // end
```

---
the end
";

fn streamed(source: &str, style: TerminalStyle, step: usize) -> Vec<String> {
    let mut stream = MarkdownStream::new(style);
    let mut lines = Vec::new();
    let letters: Vec<char> = source.chars().collect();
    for piece in letters.chunks(step) {
        lines.extend(stream.push(&piece.iter().collect::<String>()));
    }
    lines.extend(stream.finish());
    lines
}

#[test]
fn a_document_is_laid_out_for_reading() {
    expect![[r##"
        # Result

        Some bold and italic text with `code`
        and a link (https://example.com/a) that
        is long enough.

        1. first
        2. second, which is longer than the line
           is wide
           • nested
           [x] done

        │ quoted words

        name  │ value
        ──────┼──────
        alpha │     1
        beta  │    23

          fn main() { println!("x"); } // end

        ────────────────────────────────────────

        the end"##]]
    .assert_eq(&to_lines(DOCUMENT, &PLAIN).join("\n"));
}

#[test]
fn colors_are_of_the_terminals_palette_and_links_are_links() {
    let shown = to_lines(DOCUMENT, &COLOR).join("\n");
    assert!(shown.contains("\u{1b}[1mbold\u{1b}[0m"), "{shown:?}");
    assert!(shown.contains("\u{1b}[3mitalic\u{1b}[0m"), "{shown:?}");
    assert!(shown.contains("\u{1b}]8;;https://example.com/a\u{1b}\\"), "{shown:?}");
    assert!(shown.contains("\u{1b}[35mfn\u{1b}[0m main()"), "{shown:?}");
    assert!(shown.contains("\u{1b}[2m// end\u{1b}[0m"), "{shown:?}");
}

#[test]
fn a_stream_gives_the_same_lines_as_the_whole_document() {
    let whole = to_lines(DOCUMENT, &PLAIN);
    for step in [1, 2, 3, 7, 50, 10_000] {
        assert_eq!(streamed(DOCUMENT, PLAIN, step), whole, "in pieces of {step}");
    }
    let colored = to_lines(DOCUMENT, &COLOR);
    assert_eq!(streamed(DOCUMENT, COLOR, 1), colored);
}

#[test]
fn lists_with_gaps_nested_quotes_and_rows_stream_alike() {
    let sources = [
        "1. one\n\n2. two\n\n10. ten\n\nafter the list\n",
        "intro\n- a\n- b\n\n> q1\n> q2\n>> deep\n\nlast *word* here\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\ntext\n\n~~~\n```\ncode\n~~~\ntail",
        "title\n===\n\npara one\npara two\n\n    indented code\n\n<b>html</b> text\n",
        "- [ ] open\n- [x] done\n\n***\n\n标题：**重点。**继续\n1) 甲\n2) 乙\n",
    ];
    for source in sources {
        for step in [1, 2, 5, 11] {
            assert_eq!(
                streamed(source, PLAIN, step),
                to_lines(source, &PLAIN),
                "{source:?} {step}"
            );
        }
    }
}

#[test]
fn long_lists_and_tables_stream_alike() {
    let items: String = (1..=40).map(|n| format!("1. item number {n} with words\n")).collect();
    let rows: String = (1..=60).map(|n| format!("| row {n} | {n} |\n")).collect();
    let sources = [
        format!("intro\n\n{items}\nafter\n"),
        format!("{}\nafter\n", items.replace('\n', "\n\n").replace("1. ", "- ")),
        format!("| name | number |\n|---|--:|\n{rows}\nafter the table\n"),
        format!("| name | number |\n|---|--:|\n{rows}# a heading at once\n"),
        "- a\n  - b\n  - c\n\n  more of a\n- d\n\n  ```\n  code\n  - no item\n  ```\n- e\nend\n"
            .into(),
        "see [one][1] and [two][^n]\n\n[1]: https://a.example/x\n[^n]: a note\n".into(),
    ];
    for source in sources {
        for step in [1, 3, 50] {
            let whole = to_lines(&source, &PLAIN);
            assert_eq!(streamed(&source, PLAIN, step), whole, "{source:?} {step}");
        }
    }
}

#[test]
fn items_rows_and_lines_are_given_out_as_they_come() {
    let mut stream = MarkdownStream::new(PLAIN);
    let mut lines = Vec::new();
    (0..100).for_each(|n| lines.extend(stream.push(&format!("- item `{n}` of a list\n"))));
    assert!(lines.len() >= 98, "{}", lines.len());
    assert!(stream.tail().len() <= 2, "{:?}", stream.tail());
    let mut stream = MarkdownStream::new(PLAIN);
    let mut lines = stream.push("| a | b |\n|---|---|\n");
    (0..100).for_each(|n| lines.extend(stream.push(&format!("| {n} | x |\n"))));
    assert!(lines.len() >= 100, "{}", lines.len());
}

#[test]
fn where_references_lead_is_not_lost() {
    let lines = to_lines("see [one][1]\n\n[1]: https://a.example/x\n[^n]: note\n", &PLAIN);
    let shown = lines.join("\n");
    assert!(shown.contains("https://a.example/x") && shown.contains("[^n]: note"), "{shown}");
}

#[test]
fn a_path_or_a_variable_is_never_broken() {
    let text = "set EVERLOOP_MODEL_NAME in ~/.config/everloop/config.toml --output-format json";
    for width in 30..60 {
        let words: Vec<&str> = text.split(' ').collect();
        let lines = wrap_text(text, width);
        let shown: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
        assert_eq!(shown, words, "{width}");
    }
}

#[test]
fn no_color_keeps_bold_and_underline_and_dumb_keeps_nothing() {
    let source = "# Head\n\n**bold** and `code`\n\n```rust\nfn x() {}\n```\n";
    let bold = TerminalStyle { color: false, links: false, ..COLOR };
    let shown = to_lines(source, &bold).join("\n");
    assert!(shown.contains("\u{1b}[1mbold") && shown.contains("\u{1b}[1;4mHead"), "{shown:?}");
    assert!(!shown.contains("\u{1b}[3") && shown.contains("`code`"), "{shown:?}");
    let dumb = to_lines(source, &PLAIN).join("\n");
    assert!(!dumb.contains('\u{1b}') && dumb.contains("# Head"), "{dumb:?}");
}

#[test]
fn our_own_lines_wrap_and_clip_without_cutting_a_wide_character() {
    let line = StyledLine::new(Tone::Bad, "✖ ").with(Tone::Plain, "读取文件失败：没有这个文件");
    let narrow = TerminalStyle { width: 11, ..PLAIN };
    let lines = line.clone().hanging(2).lines(&narrow);
    assert!(lines.iter().all(|line| display_width(line) <= 11), "{lines:?}");
    assert!(lines[1].starts_with("  "), "{lines:?}");
    assert_eq!(line.clipped(&narrow), "✖ 读取文件…");
    assert_eq!(line.plain(), "✖ 读取文件失败：没有这个文件");
}

#[test]
fn lines_of_a_long_paragraph_come_before_its_end() {
    let mut stream = MarkdownStream::new(PLAIN);
    let lines = stream.push(&"word after word ".repeat(20));
    assert!(lines.len() >= 6, "{lines:?}");
    assert_eq!(stream.tail().len(), 1);
}

#[test]
fn lines_of_code_come_one_by_one() {
    let mut stream = MarkdownStream::new(PLAIN);
    assert_eq!(stream.push("```py\nx = 1\ny"), ["  x = 1"]);
    assert_eq!(stream.tail(), ["  y"]);
    assert_eq!(stream.push(" = 2\n```\nafter"), ["  y = 2"]);
    assert_eq!(stream.finish(), ["", "after"]);
}

#[test]
fn what_may_still_become_bold_waits() {
    let mut stream = MarkdownStream::new(PLAIN);
    let words = "word ".repeat(30);
    let lines = stream.push(&format!("**a {words}"));
    assert!(lines.is_empty(), "{lines:?}");
    let lines = stream.push("end** and more words to fill the line with");
    assert!(lines.len() >= 4, "{lines:?}");
}

#[test]
fn chinese_breaks_between_characters_but_not_before_punctuation() {
    let lines = wrap_text("今天的天气很好，我们去公园。然后回家。", 10);
    expect![[r#"
        今天的天气
        很好，我们
        去公园。然
        后回家。"#]]
    .assert_eq(&lines.join("\n"));
    for line in &lines {
        assert!(!line.starts_with(['，', '。']), "{lines:?}");
    }
}

#[test]
fn a_number_stays_with_the_word_that_it_counts() {
    assert_eq!(wrap_text("一共用了 0.7 秒，三个文件", 13), ["一共用了", "0.7 秒，三个", "文件"]);
}

#[test]
fn chinese_emphasis_beside_punctuation_is_emphasis() {
    let lines = to_lines("**请确认：**删除3条待办？", &COLOR);
    assert_eq!(lines, ["\u{1b}[1m请确认：\u{1b}[0m删除3条待办？"]);
}

#[test]
fn no_word_is_broken_and_a_word_wider_than_the_line_is_cut() {
    assert_eq!(wrap_text("alpha beta gamma", 10), ["alpha beta", "gamma"]);
    assert_eq!(wrap_text("abcdefghijkl mn", 5), ["abcde", "fghij", "kl mn"]);
}

#[test]
fn a_model_cannot_steer_the_terminal() {
    let hostile = "a\u{1b}[2Jb \u{9b}31m [x](https://e.com/\u{1b}]8;;evil) `c\u{7}` \u{202e}txt";
    for style in [PLAIN, COLOR] {
        let shown = to_lines(hostile, &style).join("\n");
        assert!(!shown.contains("\u{1b}[2J"), "{shown:?}");
        assert!(!shown.contains('\u{9b}') && !shown.contains('\u{7}'), "{shown:?}");
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
        assert!(!shown.contains("8;;evil\u{1b}"), "{shown:?}");
    }
}

#[test]
fn a_link_that_names_another_address_shows_its_own() {
    let shown = to_lines("[https://bank.example](https://evil.example)", &WIDE).join("");
    assert!(shown.contains("(https://evil.example)"), "{shown:?}");
}

#[test]
fn a_table_that_is_too_wide_becomes_a_list_of_fields() {
    let source = "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n| one two three | two | three | four five six | five | six seven eight |\n";
    let narrow = TerminalStyle { width: 24, ..PLAIN };
    let lines = to_lines(source, &narrow);
    assert!(lines.contains(&"a: one two three".to_owned()), "{lines:?}");
    assert!(lines.iter().all(|line| crate::display_width(line) <= 24), "{lines:?}");
}

/// Pieces that models write within a line: words, marks around them, marks that stay alone.
fn inline_piece() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-z]{1,9}",
        2 => "[a-z]{1,5}_[a-z]{1,5}",
        1 => "[a-z]{12,30}",
        4 => prop::collection::vec(prop::sample::select(vec!["中", "文字", "，", "测试", "。"]), 1..5)
            .prop_map(|parts| parts.concat()),
        1 => Just("👩\u{200d}💻".to_owned()),
    ];
    let words = prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "));
    (words, 0..24_u8).prop_map(|(words, look)| match look {
        0 | 1 => format!("**{words}**"),
        2 => format!("*{words}*"),
        3 | 4 => format!("`{words}`"),
        5 | 6 => format!("[{words}](https://e.example/{})", words.len()),
        7 => format!("~~{words}~~"),
        8 => format!("***{words}***"),
        9 => format!("**{words} `x*y` [{words}](http://a.example)** "),
        10 => "https://b.example/x_y?a=1&b=2".to_owned(),
        11 => "www.c.example/path".to_owned(),
        12 => format!("{words} &amp; &lt;x&gt; \\* 3 * 4 < 5 & 6"),
        13 => format!("[{words}] _{words}_ snake_{words}"),
        14 => format!("![{words}](https://p.example/i.png)"),
        15 => format!("<b>{words}</b> `` a`b ``"),
        16 => format!("**{words}"),
        17 => format!("{words}!"),
        _ => words,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_streamed_looks_as_the_whole_document(
        pieces in prop::collection::vec((inline_piece(), 0..12_u8), 1..40),
        width in 20..120_usize,
        step in 1..10_usize,
        style in prop::sample::select(vec![PLAIN, COLOR]),
        begins in prop::sample::select(vec!["", "- ", "1. ", "> "]),
    ) {
        let mut source = begins.to_owned();
        for (piece, after) in &pieces {
            source.push_str(piece);
            source.push_str(match after {
                0 => "\n\n- ",
                1 => "\n\n",
                2 => "\n",
                3 => "",
                _ => " ",
            });
        }
        let style = TerminalStyle { width, ..style };
        prop_assert_eq!(streamed(&source, style, step), to_lines(&source, &style), "{:?}", source);
    }
}

#[test]
fn a_word_that_gets_shorter_when_its_marks_close_is_not_lost() {
    let source = "The words of this line end just before a [link](https://example.com) here";
    for width in 20..60 {
        let style = TerminalStyle { width, ..COLOR };
        assert_eq!(streamed(source, style, 4), to_lines(source, &style), "{width}");
    }
}

#[test]
fn a_paragraph_that_becomes_a_heading_when_half_of_it_was_given_loses_no_word() {
    let text = "these are some words of a paragraph that takes more than one line on the screen";
    for style in [PLAIN, COLOR] {
        let lines = streamed(&format!("{text}\n---\n\nafter\n"), style, 5);
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(words.join(" "), format!("{text} after"));
    }
}

#[test]
fn a_paragraph_with_code_is_read_along_without_colors() {
    let mut stream = MarkdownStream::new(PLAIN);
    let lines = stream.push(&format!("`code` {} https://a.example/b ", "and words ".repeat(20)));
    assert!(lines.len() >= 4, "{lines:?}");
}

#[test]
fn an_address_ends_where_chinese_words_begin() {
    let lines = to_lines("请访问https://a.example/x，然后登录。", &WIDE);
    let link = "\u{1b}]8;;https://a.example/x\u{1b}\\\u{1b}[4mhttps://a.example/x\u{1b}[0m\u{1b}]8;;\u{1b}\\";
    assert_eq!(lines, [format!("请访问{link}，然后登录。")]);
}

#[test]
fn a_long_line_of_code_goes_on_behind_a_mark_and_breaks_between_words() {
    let source =
        "```sh\n    cargo run --release -- tour --with many words that do not fit\nok\n```\n";
    let lines = to_lines(source, &PLAIN);
    let shown =
        ["      cargo run --release -- tour", "  ↪ --with many words that do not fit", "  ok"];
    assert_eq!(lines, shown);
    for style in [PLAIN, COLOR] {
        assert_eq!(streamed(source, style, 3), to_lines(source, &style));
    }
}
