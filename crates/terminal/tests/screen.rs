//! What a terminal shows after frames, prints and resizes.

use everloop_terminal::{InputLayout, Screen, lay_out_input};
use std::num::NonZeroU16;
use vt100::Parser;

fn parser(columns: u16, rows: u16) -> Parser {
    let size = |count| NonZeroU16::new(count).expect("a terminal has columns and rows");
    Parser::new(size(rows), size(columns), 500)
}

/// A terminal that a screen is drawn on.
struct Emulator {
    parser: Parser,
    screen: Screen<Vec<u8>>,
}

impl Emulator {
    fn new(columns: u16, rows: u16) -> Self {
        let parser = parser(columns, rows);
        Self { parser, screen: Screen::new(Vec::new(), (columns, rows), true) }
    }

    fn input(&mut self, prompt: &str, text: &str) {
        let room = self.screen.room();
        let layout = lay_out_input(prompt, (text, text.len()), room, &|_| None);
        self.screen.set_input(Some(layout), Vec::new());
    }

    fn live(&mut self, lines: &[&str]) {
        self.screen.set_live(lines.iter().map(|line| (*line).to_owned()).collect());
    }

    fn print(&mut self, lines: &[&str]) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        self.screen.print(&lines).expect("written");
        let bytes = std::mem::take(self.screen.output());
        self.parser.process(&bytes);
    }

    /// What is seen, without empty rows at the end.
    fn seen(&self) -> Vec<String> {
        let screen = self.parser.screen();
        let columns = screen.size().1.get();
        let mut rows: Vec<String> =
            screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// Another width. What was on the screen is wrapped anew, as most terminals do it.
    fn resize(&mut self, columns: u16) {
        let old = self.parser.screen();
        let (height, old_columns) = (old.size().0.get(), old.size().1.get());
        let (cursor_row, cursor_column) = old.cursor_position();
        let mut lines: Vec<String> = Vec::new();
        let mut goes_on = false;
        for (at, row) in old.rows(0, old_columns).enumerate().take(usize::from(cursor_row) + 1) {
            match lines.last_mut().filter(|_| goes_on) {
                Some(line) => line.push_str(&row),
                None => lines.push(row),
            }
            goes_on = u16::try_from(at).is_ok_and(|at| old.row_wrapped(at));
        }
        let last = lines.pop().unwrap_or_default();
        let mut parser = parser(columns, height);
        for line in &lines {
            parser.process(format!("{}\r\n", line.trim_end()).as_bytes());
        }
        let row = usize::from(cursor_column / columns);
        parser.process(last.trim_end().as_bytes());
        let taken = unicode_width::UnicodeWidthStr::width(last.trim_end());
        let ended = taken.saturating_sub(1) / usize::from(columns);
        if ended > row {
            parser.process(format!("\u{1b}[{}A", ended - row).as_bytes());
        }
        let column = cursor_column % columns;
        parser.process(b"\r");
        if column > 0 {
            parser.process(format!("\u{1b}[{column}C").as_bytes());
        }
        self.parser = parser;
        self.screen.resize((columns, height));
    }
}

#[test]
fn finished_lines_scroll_above_the_live_area_which_is_drawn_once() {
    let mut it = Emulator::new(40, 8);
    it.live(&["◐ 正在工作"]);
    it.input("你 › ", "打到一半");
    it.print(&["第一行"]);
    it.print(&["second line", "third"]);
    assert_eq!(it.seen(), ["第一行", "second line", "third", "◐ 正在工作", "你 › 打到一半"]);
    assert_eq!(it.cursor(), (4, 13));
    for n in 0..20 {
        it.print(&[&format!("line {n}")]);
    }
    let seen = it.seen();
    assert_eq!(&seen[5..], ["line 19", "◐ 正在工作", "你 › 打到一半"]);
    it.live(&[]);
    it.screen.set_input(None, Vec::new());
    it.print(&["the end"]);
    assert_eq!(it.seen().last().map(String::as_str), Some("the end"));
}

#[test]
fn a_resize_in_the_middle_of_a_stream_leaves_nothing_behind() {
    let status = "◐ working · 12 s · Ctrl-C cancels · /bg to background · !steer · model · folder";
    let typed =
        "这是一行很长的输入，它在窄的终端上要占好几行，an emoji 👍 and some English words too";
    let mut it = Emulator::new(120, 40);
    let mut printed: Vec<String> = Vec::new();
    for (at, columns) in [120, 60, 100, 60, 120].into_iter().enumerate() {
        it.resize(columns);
        it.live(&["the end of an answer that streams 世界", status]);
        it.input("› ", typed);
        let line = format!("finished line {at} 👍");
        it.print(&[&line]);
        printed.push(line);
        it.print(&[]);
        let seen = it.seen();
        let found: Vec<&String> = seen.iter().filter(|row| row.contains("finished")).collect();
        assert_eq!(found, printed.iter().collect::<Vec<_>>(), "at {columns}: {seen:#?}");
        let count = |words: &str| seen.iter().filter(|row| row.contains(words)).count();
        assert_eq!(count("working"), 1, "at {columns}: {seen:#?}");
        assert_eq!(count("这是一行"), 1, "at {columns}: {seen:#?}");
        assert_eq!(count("streams 世界"), 1, "at {columns}: {seen:#?}");
    }
}

#[test]
fn a_long_input_takes_several_rows_and_the_cursor_stands_behind_it() {
    let mut it = Emulator::new(20, 10);
    it.input("› ", &"世".repeat(20));
    it.print(&[]);
    assert_eq!(
        it.seen(),
        [
            format!("› {}", "世".repeat(8)),
            format!("  {}", "世".repeat(8)),
            format!("  {}", "世".repeat(4))
        ]
    );
    assert_eq!(it.cursor(), (2, 10));
    it.input("› ", "short");
    it.print(&[]);
    assert_eq!(it.seen(), ["› short"]);
}

#[test]
fn no_live_line_is_wider_than_the_terminal_and_a_menu_stands_below_the_input() {
    let mut it = Emulator::new(20, 10);
    it.live(&[&format!("\u{1b}[31m{}\u{1b}[0m", "宽".repeat(30))]);
    let input = InputLayout { rows: vec!["› /".to_owned()], cursor_row: 0, cursor_column: 3 };
    let menu = vec!["› /help".to_owned(), "  /todo".to_owned()];
    it.screen.set_input(Some(input), menu);
    it.print(&["above"]);
    let clipped = format!("{}…", "宽".repeat(9));
    assert_eq!(it.seen(), ["above", clipped.as_str(), "› /", "› /help", "  /todo"]);
    assert_eq!(it.cursor(), (2, 3));
    it.input("› ", "x");
    it.print(&[]);
    assert_eq!(it.seen(), ["above", clipped.as_str(), "› x"]);
}

#[test]
fn a_live_area_that_is_too_tall_keeps_its_end() {
    let mut it = Emulator::new(30, 6);
    let lines: Vec<String> = (0..20).map(|n| format!("item {n}")).collect();
    it.screen.set_live(lines);
    it.input("› ", "");
    it.print(&[]);
    it.print(&["said"]);
    let seen = it.seen();
    assert_eq!(&seen[seen.len() - 5..], ["item 16", "item 17", "item 18", "item 19", "›"]);
    assert_eq!(seen.iter().filter(|row| row.contains("item 19")).count(), 1);
}

#[test]
fn a_program_in_between_has_the_screen_for_itself() {
    let mut it = Emulator::new(40, 10);
    it.live(&["status"]);
    it.input("› ", "half");
    it.print(&["before"]);
    it.screen.erase().expect("written");
    let bytes = std::mem::take(it.screen.output());
    it.parser.process(&bytes);
    it.parser.process(b"another program\r\n");
    it.print(&[]);
    assert_eq!(it.seen(), ["before", "another program", "status", "› half"]);
}
