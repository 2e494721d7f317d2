//! Autonomous: tagged text in place of tool calls.

use super::{check, offers, told};
use crate::support::Scenario;
use everloop_text as text;
use everloop_types::{Ending, ItemState, ModelErrorKind};
use expect_test::expect;

fn start() -> Scenario {
    Scenario::of("autonomous", "read both")
}

fn tagged() -> Scenario {
    start()
        .says(
            "<think>both at once</think><tool name=\"read_file\">{\"path\":\"a\"}</tool>\n\
             <tool name=\"fly\">{}</tool>",
        )
        .sees("one")
        .says("<tool name=\"read_file\">{\"path\":\"b\"}</tool>")
        .observes(Ending::TimedOut, "too slow")
        .says("<final>One; b was too slow.</final>")
}

#[test]
fn tags_call_tools_and_end_the_run() {
    check(
        tagged(),
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        refuse fly {}: Error: there is no tool called "fly"; nothing was done; the tools are: read_file, write_file, job_status, deploy, todo, todo_write, ask_user
        call_model think with 5 messages
        call_tool read_file {"path":"b"}
        call_model think with 7 messages
        finish succeeded "One; b was too slow."
    "#]],
    );
    expect![[r#"
        {"observation":{"input":{"path":"a"},"ok":true,"result":"one","tool":"read_file"}}
        {"observation":{"input":{},"ok":false,"result":"there is no tool called \"fly\"; nothing was done; the tools are: read_file, write_file, job_status, deploy, todo, todo_write, ask_user","tool":"fly"}}
        {"observation":{"input":{"path":"b"},"ok":false,"result":"timed out: too slow","tool":"read_file"}}
    "#]].assert_eq(&told(tagged()));
}

#[test]
fn no_tool_is_ever_offered() {
    expect![[r#"
        None Auto
        None Auto
        None Auto
    "#]]
    .assert_eq(&offers(&tagged().play()));
}

#[test]
fn a_reply_that_is_not_tagged_is_sent_back_with_the_reason() {
    let scenario =
        start().says("Sure, I will read it.").says("<final>Done.").says("<final>Done.</final>");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model think with 2 messages
        call_model think with 4 messages
        call_model think with 6 messages
        finish succeeded "Done."
    "#]],
    );
    expect![[r#"
        contract error: there is text outside of tags: "Sure, I will read it.". Reply again, in tags only.
        contract error: <final> is not closed. Reply again, in tags only.
    "#]].assert_eq(&told(scenario));
}

#[test]
fn a_model_that_never_tags_is_given_up() {
    let scenario = start().says("a").says("b").says("c").says("I cannot tag.");
    check(
        scenario,
        &expect![[r#"
            call_model think with 2 messages
            call_model think with 4 messages
            call_model think with 6 messages
            call_model close with 9 messages
            finish failed (broken_contract) "I cannot tag." [broken.why_any loop=autonomous tries=3] [broken.next loop=react model=scripted/model]
        "#]],
    );
}

#[test]
fn the_list_works_in_tags_too() {
    let scenario = start()
        .says(
            "<tool name=\"todo_write\">{\"todos\":[{\"id\":\"1\",\"content\":\"read\",\
             \"status\":\"in_progress\"}],\"merge\":false}</tool>",
        )
        .says("<final>Listed.</final>");
    check(
        scenario.clone(),
        &expect![[r#"
        call_model think with 2 messages
        settle todo_write {"merge":false,"todos":[{"content":"read","id":"1","status":"in_progress"}]}: 1 items: 1 in_progress
        call_model think with 4 messages
        finish succeeded "Listed."
    "#]],
    );
    assert_eq!(scenario.play().run.progress().items[0].state, ItemState::InProgress);
}

#[test]
fn at_the_limit_and_without_a_model_the_closing_finds_the_words() {
    let call = "<tool name=\"read_file\">{\"path\":\"a\"}</tool>";
    let scenario = start().limits(|limits| limits.steps.max_steps = 1).says(call).sees("one");
    check(
        scenario.says("I read a."),
        &expect![[r#"
        call_model think with 2 messages
        call_tool read_file {"path":"a"}
        call_model close with 5 messages
        finish failed (step_limit) "I read a." [reason.step_limit limit=1]
    "#]],
    );
    check(
        start().fails(ModelErrorKind::Unreachable, "gone"),
        &expect![[r#"
        call_model think with 2 messages
        finish failed (model) [closing.from_journal] [closing.nothing] [closing.next] [reason.model detail=gone]
    "#]],
    );
}

#[test]
fn an_answer_whose_tag_is_not_closed_is_taken_on_the_last_try() {
    let open = "<final>The meeting is at 3.";
    let played = Scenario::of("autonomous", "when?").says(open).says(open).says(open).play();
    assert!(played.trace.ends_with("finish succeeded \"The meeting is at 3.\"\n"));
    let note = played.run.progress().note;
    assert_eq!(note, Some(text::salvaged::unclosed().words()));
    let whole = Scenario::of("autonomous", "when?").says("<final>At 3.</final>").play();
    assert_eq!(whole.run.progress().note, None);
}
