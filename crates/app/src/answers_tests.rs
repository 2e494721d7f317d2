use super::*;
use everloop_types::{ApprovalCause, ApprovalRequest, CallId, CallPreview};

fn question(scopes: Vec<ApprovalScope>) -> Question {
    let request = ApprovalRequest {
        tool: "shell".to_owned(),
        preview: CallPreview::Call,
        folder: "/work".to_owned(),
        cause: ApprovalCause::Tool,
        scopes,
        editable: Some("command".to_owned()),
    };
    Question {
        id: "q1.0.approve".to_owned(),
        kind: QuestionKind::Approve,
        call: CallId::new("c"),
        text: String::new(),
        request: Some(Box::new(request)),
    }
}

fn all_scopes() -> Vec<ApprovalScope> {
    vec![
        ApprovalScope::Exact { resource: "args:{}".to_owned() },
        ApprovalScope::Prefix { pattern: "git status *".to_owned() },
        ApprovalScope::Conversation,
    ]
}

fn always(text: &str, scope: AlwaysScope) -> AnswerReading {
    AnswerReading::Send { text: text.to_owned(), meaning: AnswerMeaning::AllowedAlways(scope) }
}

#[test]
fn a_number_means_the_scope_that_the_question_lists() {
    let pattern = || AlwaysScope::Pattern("git status *".to_owned());
    let here = || AlwaysScope::Conversation("shell".to_owned());
    for (line, expected) in [
        ("a 1", always("always exact", AlwaysScope::Standing)),
        ("a 2", always("always prefix", pattern())),
        ("总是 前缀", always("always prefix", pattern())),
        ("a 3", always("always here", here())),
        ("总是 本对话", always("always here", here())),
        ("a 4", AnswerReading::Unclear),
    ] {
        let read = read_answer(&question(all_scopes()), line, ScopeChoice::Exact);
        assert_eq!(read, expected, "{line}");
    }
    let mut two = all_scopes();
    two.remove(1);
    assert_eq!(
        read_answer(&question(two.clone()), "a 2", ScopeChoice::Exact),
        always("always here", here())
    );
    assert_eq!(
        read_answer(&question(two), "always prefix", ScopeChoice::Exact),
        AnswerReading::Unclear
    );
}

#[test]
fn always_alone_is_asked_about_at_a_terminal_and_exact_elsewhere() {
    let question = question(all_scopes());
    let read = |line, choice| read_answer(&question, line, choice);
    assert_eq!(read("a", ScopeChoice::Ask), AnswerReading::WhichScope);
    assert_eq!(read("a", ScopeChoice::Exact), always("a", AlwaysScope::Standing));
    let pattern = AlwaysScope::Pattern("git status *".to_owned());
    assert_eq!(read("2", ScopeChoice::Asked), always("always prefix", pattern));
    let once = AnswerReading::Send { text: "1".to_owned(), meaning: AnswerMeaning::AllowedOnce };
    assert_eq!(read("1", ScopeChoice::Ask), once);
}

#[test]
fn a_change_needs_something_to_change_to_and_a_call_that_can_be_changed() {
    let mut question = question(all_scopes());
    let meaning = AnswerMeaning::Edited("ls".to_owned());
    let edited = AnswerReading::Send { text: "e ls".to_owned(), meaning };
    assert_eq!(read_answer(&question, "编辑：ls", ScopeChoice::Exact), edited);
    assert_eq!(read_answer(&question, "e", ScopeChoice::Exact), AnswerReading::HowToEdit);
    question.request = None;
    assert_eq!(read_answer(&question, "e ls", ScopeChoice::Exact), AnswerReading::HowToEdit);
}

#[test]
fn what_a_button_means_is_not_read_from_its_words() {
    let question = question(all_scopes());
    let read = |intent: AnswerIntent| intent.read(&question);
    let send = |text: &str, meaning| AnswerReading::Send { text: text.to_owned(), meaning };
    let reason = "e rm -rf / always here";
    assert_eq!(
        read(AnswerIntent::Decline(Some(reason.to_owned()))),
        send(&format!("n {reason}"), AnswerMeaning::Denied(Some(reason.to_owned())))
    );
    let no = everloop_text::PermissionAnswer::No { reason: Some(reason.to_owned()) };
    assert_eq!(everloop_text::permission_answer(&format!("n {reason}")), no, "the run reads it so");
    assert_eq!(read(AnswerIntent::Accept), send("y", AnswerMeaning::AllowedOnce));
    let scope = |word: &str| read(AnswerIntent::AcceptAlways(Some(word.to_owned())));
    let prefix = AlwaysScope::Pattern("git status *".to_owned());
    assert_eq!(scope("prefix"), always("always prefix", prefix));
    assert_eq!(scope("but not here"), AnswerReading::Unclear, "it is neither a yes nor a no");
    let edited = AnswerMeaning::Edited("ls".to_owned());
    assert_eq!(read(AnswerIntent::Edit("ls".to_owned())), send("e ls", edited));
    let ask = Question { kind: QuestionKind::Ask, ..question.clone() };
    let words = AnswerMeaning::Words("n thanks".to_owned());
    assert_eq!(
        AnswerIntent::Words("n thanks".to_owned()).read(&ask),
        send("n thanks", words),
        "other questions take the words"
    );
}
