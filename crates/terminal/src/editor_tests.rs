//! Keys, and what stands in the line after them.

use super::*;
use crate::menu::{Completion, Completions, NoCompletions};

struct Verbs;

impl CompletionSource for Verbs {
    fn complete(&self, before_cursor: &str) -> Completions {
        let item = |value: &str| Completion {
            value: value.to_owned(),
            hint: format!("what {value} does"),
            is_open: false,
        };
        let all = ["/help", "/schedule", "/settle", "/todo"];
        let typed = before_cursor.strip_prefix('/').filter(|rest| !rest.contains(' '));
        let items = all.iter().filter(|verb| typed.is_some() && verb.starts_with(before_cursor));
        Completions {
            from: 0,
            opens: true,
            enter_takes: true,
            items: items.map(|verb| item(verb)).collect(),
        }
    }
}

fn editor() -> LineEditor {
    LineEditor::new(InputHistory::default())
}

fn press(editor: &mut LineEditor, code: KeyCode, modifiers: KeyModifiers) -> EditorEffect {
    editor.press(KeyEvent::new(code, modifiers), &Verbs)
}

fn control(editor: &mut LineEditor, c: char) -> EditorEffect {
    press(editor, KeyCode::Char(c), KeyModifiers::CONTROL)
}

fn plain(editor: &mut LineEditor, code: KeyCode) -> EditorEffect {
    press(editor, code, KeyModifiers::NONE)
}

fn types(editor: &mut LineEditor, text: &str) {
    for c in text.chars() {
        plain(editor, KeyCode::Char(c));
    }
}

#[test]
fn a_line_is_sent_and_the_next_one_is_empty() {
    let mut line = editor();
    types(&mut line, "你好界");
    plain(&mut line, KeyCode::Left);
    types(&mut line, "世");
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Send("你好世界".to_owned()));
    assert!(line.is_empty());
}

#[test]
fn four_ways_to_begin_another_line() {
    let mut line = editor();
    types(&mut line, "a");
    control(&mut line, 'j');
    types(&mut line, "b");
    press(&mut line, KeyCode::Enter, KeyModifiers::ALT);
    types(&mut line, "c");
    press(&mut line, KeyCode::Enter, KeyModifiers::SHIFT);
    types(&mut line, "d\\");
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Changed);
    types(&mut line, "e");
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Send("a\nb\nc\nd\ne".to_owned()));
}

#[test]
fn cut_put_and_undo() {
    let mut line = editor();
    types(&mut line, "first second");
    control(&mut line, 'w');
    control(&mut line, 'a');
    control(&mut line, 'y');
    assert_eq!(line.content(), "secondfirst ");
    control(&mut line, '7');
    assert_eq!(line.content(), "first ");
    control(&mut line, 'e');
    control(&mut line, 'u');
    assert!(line.is_empty());
    control(&mut line, '_');
    assert_eq!(line.content(), "first ");
    control(&mut line, 'a');
    control(&mut line, 'k');
    assert!(line.is_empty());
}

#[test]
fn the_history_is_browsed_and_searched_and_what_was_typed_comes_back() {
    let mut line = editor();
    ["one apple", "two pears", "three apples"].iter().for_each(|entry| line.remember(entry));
    types(&mut line, "half");
    plain(&mut line, KeyCode::Up);
    plain(&mut line, KeyCode::Up);
    assert_eq!(line.content(), "two pears");
    plain(&mut line, KeyCode::Down);
    plain(&mut line, KeyCode::Down);
    assert_eq!(line.content(), "half");
    control(&mut line, 'r');
    types(&mut line, "apple");
    control(&mut line, 'r');
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Changed);
    assert_eq!(line.content(), "one apple");
    control(&mut line, 'r');
    plain(&mut line, KeyCode::Esc);
    assert_eq!(line.content(), "one apple");
}

#[test]
fn the_menu_opens_by_itself_narrows_and_closes() {
    let mut line = editor();
    types(&mut line, "/s");
    assert_eq!(line.menu().map(|menu| menu.rows(60, false).len()), Some(2));
    plain(&mut line, KeyCode::Down);
    plain(&mut line, KeyCode::Tab);
    assert_eq!(line.content(), "/settle ");
    assert!(line.menu().is_none());
    control(&mut line, 'u');
    types(&mut line, "/");
    let rows = line.menu().map(|menu| menu.rows(30, false)).unwrap_or_default();
    assert_eq!(rows[0], "› /help      what /help does");
    assert_eq!(plain(&mut line, KeyCode::Esc), EditorEffect::Changed);
    assert!(line.menu().is_none());
    assert_eq!(plain(&mut line, KeyCode::Esc), EditorEffect::Escape);
}

#[test]
fn the_return_key_takes_a_proposal_but_sends_a_name_that_is_whole() {
    let mut line = editor();
    types(&mut line, "/sch");
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Changed);
    assert_eq!(line.content(), "/schedule ");
    line.take();
    types(&mut line, "/todo");
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Send("/todo".to_owned()));
}

#[test]
fn keys_that_are_not_about_the_line_are_handed_on() {
    let mut line = editor();
    assert_eq!(control(&mut line, 'c'), EditorEffect::Interrupt { was_empty: true });
    types(&mut line, "x");
    assert_eq!(control(&mut line, 'c'), EditorEffect::Interrupt { was_empty: false });
    assert_eq!(control(&mut line, 'd'), EditorEffect::End);
    assert_eq!(control(&mut line, 't'), EditorEffect::ShowPlan);
    assert_eq!(control(&mut line, 'g'), EditorEffect::OpenEditor);
    control(&mut line, 'x');
    assert_eq!(control(&mut line, 'e'), EditorEffect::OpenEditor);
    types(&mut line, "x");
    assert_eq!(control(&mut line, 'd'), EditorEffect::Changed);
}

#[test]
fn a_paste_keeps_its_lines_and_sends_nothing() {
    let mut line = editor();
    assert_eq!(line.paste("one\r\ntwo\rthree", &NoCompletions), EditorEffect::Changed);
    assert_eq!(plain(&mut line, KeyCode::Enter), EditorEffect::Send("one\ntwo\nthree".to_owned()));
}
