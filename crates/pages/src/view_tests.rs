//! What the views make of texts that hide something, of waiting, and of much.

use crate::activity::{ActivityRow, activity};
use crate::agenda::{AgendaTodo, AgendaView, ConflictOffer};
use crate::ask::{ApprovalCard, AskCard, AskKind, card};
use crate::chat::ChatView;
use crate::conversations::{ConversationItem, ConversationsView};
use crate::inbox::{InboxGroup, InboxRow, InboxView};
use crate::layout::{NavCounts, NavPlace, PageFrame};
use crate::panel::{PlanView, plan_list};
use crate::{agenda, chat, conversations, inbox};
use everloop_types::Lang;

/// Turns the text after it round.
const TURNED: &str = "echo safe \u{202e}; rm -rf ~ # gnp.tac \u{202c}\u{200b} ok";

fn frame(here: NavPlace) -> PageFrame {
    PageFrame {
        lang: Lang::En,
        theme: None,
        csrf: "c".repeat(64),
        path: "/inbox".to_owned(),
        title: TURNED.to_owned(),
        here,
        open: None,
        counts: NavCounts::default(),
        conversations: Vec::new(),
        script: None,
    }
}

fn approval() -> AskCard {
    AskCard {
        id: "run_1.q4.0.approve".to_owned(),
        run: "run_1".to_owned(),
        short_run: "run_1".to_owned(),
        kind: AskKind::Approval,
        text: TURNED.to_owned(),
        choices: Vec::new(),
        request: Some(ApprovalCard {
            tool: "shell".to_owned(),
            folder: "/work\u{202e}".to_owned(),
            cause: TURNED.to_owned(),
            shown: TURNED.to_owned(),
            diff: Vec::new(),
            scopes: vec![("exact".to_owned(), TURNED.to_owned())],
            editable: Some(TURNED.to_owned()),
        }),
        when: "09:00".to_owned(),
        conversation: None,
        is_aside: false,
    }
}

fn hides_nothing(html: &str) {
    let hidden = html.chars().find(|c| everloop_types::is_hidden(*c));
    assert!(hidden.is_none(), "{hidden:?} in {html}");
    assert!(html.contains("\\u{202e}"), "{html}");
}

#[test]
fn an_approval_shows_the_command_that_runs() {
    let frame = frame(NavPlace::Chat);
    hides_nothing(&card(&frame, &approval()).into_string());
    let mut changed = approval();
    if let Some(request) = &mut changed.request {
        request.diff = vec![format!("+{TURNED}")];
    }
    hides_nothing(&card(&frame, &changed).into_string());
    let question = AskCard { kind: AskKind::Question, request: None, ..approval() };
    hides_nothing(&card(&frame, &question).into_string());
}

#[test]
fn rows_of_the_inbox_the_todos_and_the_activity_hide_nothing() {
    let row = InboxRow {
        title: TURNED.to_owned(),
        line: TURNED.to_owned(),
        state: "you",
        ..InboxRow::default()
    };
    let needs = InboxGroup { rows: vec![row], ..InboxGroup::default() };
    let view = InboxView { part: "all".to_owned(), needs, ..InboxView::default() };
    hides_nothing(&inbox::view(&frame(NavPlace::Inbox), &view).into_string());
    let view = AgendaView { todos: vec![todo(1)], ..AgendaView::default() };
    hides_nothing(&agenda::view(&frame(NavPlace::Agenda), &view).into_string());
    let row = ActivityRow {
        state: Some("failed"),
        icon: "tool",
        tool: Some("shell".to_owned()),
        text: TURNED.to_owned(),
        detail: Some(TURNED.to_owned()),
        took: String::new(),
        diff: vec![TURNED.to_owned()],
        run: None,
    };
    hides_nothing(&activity(&frame(NavPlace::Chat), &[row]).into_string());
}

fn todo(id: i64) -> AgendaTodo {
    AgendaTodo {
        id,
        text: TURNED.to_owned(),
        due: Some("2026-11-20 Fri 16:00 · in 1 d".to_owned()),
        is_late: false,
        is_done: false,
        priority: None,
        tags: vec!["work".to_owned()],
    }
}

#[test]
fn beside_a_chat_questions_are_counted_and_none_has_the_darkest_button() {
    let aside = AskCard { is_aside: true, ..approval() };
    let chat_view =
        ChatView { asks_elsewhere: vec![aside], more_elsewhere: 27, ..ChatView::default() };
    let html = chat::view(&frame(NavPlace::Chat), &chat_view).into_string();
    let from = html.find("asks-elsewhere").unwrap_or(0);
    let section = &html[from..html[from..].find("</section>").map_or(html.len(), |end| from + end)];
    assert!(section.contains(">28<") && section.contains("and 27 more"), "{section}");
    assert!(section.contains("/inbox?part=needs") && !section.contains("btn sm ink"), "{section}");
    assert!(card(&frame(NavPlace::Chat), &approval()).into_string().contains("btn sm ink"));
}

#[test]
fn a_step_of_the_plan_that_waits_does_not_turn() {
    let plan = PlanView {
        title: String::new(),
        items: vec![("waiting", "pay".to_owned())],
        times: Vec::new(),
        note: None,
        run: "run_1".to_owned(),
    };
    let html = plan_list(&plan).into_string();
    assert!(!html.contains("spin") && html.contains("#s-waiting"), "{html}");
    assert!(html.contains("aria-current=\"step\""), "{html}");
}

#[test]
fn a_line_that_was_not_saved_can_be_saved_all_the_same_or_at_the_next_free_moment() {
    let conflict = ConflictOffer {
        said: "Not saved: it overlaps with #3".to_owned(),
        text: "tomorrow 10:00 dentist".to_owned(),
        kind: "schedule".to_owned(),
        free: Some((1_800_000_000_000, "2027-01-15 Fri 09:00".to_owned())),
    };
    let view = AgendaView { conflict: Some(conflict), ..AgendaView::default() };
    let html = agenda::view(&frame(NavPlace::Agenda), &view).into_string();
    assert!(html.contains("value=\"tomorrow 10:00 dentist\""), "{html}");
    assert!(html.contains("name=\"allow\"") && html.contains("value=\"1800000000000\""), "{html}");
}

/// The bytes that a row more of a list costs.
fn bytes_of_a_row(list: impl Fn(i64) -> String) -> usize {
    (list(51).len() - list(1).len()) / 50
}

#[test]
fn rows_of_lists_are_short() {
    let conversation = |id: i64| ConversationItem {
        id: format!("conv_{id:026}"),
        title: "A title of usual length".to_owned(),
        is_unread: true,
        state: Some("unread"),
        when: "09:00".to_owned(),
        line: "~/work".to_owned(),
        excerpt: None,
        messages: 12,
        archived: false,
    };
    let conversations = bytes_of_a_row(|count| {
        let rows = (0..count).map(conversation).collect();
        let view = ConversationsView { rows, ..ConversationsView::default() };
        conversations::view(&frame(NavPlace::Conversations), &view).into_string()
    });
    let todos = bytes_of_a_row(|count| {
        let view = AgendaView { todos: (0..count).map(todo).collect(), ..AgendaView::default() };
        agenda::view(&frame(NavPlace::Agenda), &view).into_string()
    });
    assert!(conversations < 1_700 && todos < 1_500, "{conversations} {todos}");
}
