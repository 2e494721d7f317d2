use super::*;
use everloop_types::Approval::{Allow, Ask, Deny};

/// A call of a tool that asks, in a run without rules, where nothing was allowed before.
fn plain() -> PermissionFacts {
    PermissionFacts {
        handling: Some(Ask),
        rule: None,
        policy: CallPolicy::Default,
        blocked: None,
        label_guard: Some(LabelGuard::Ask),
        standing: StandingMatch::Missing,
        approve_all: false,
        unattended: Unattended::Wait,
        only_plans: false,
    }
}

fn with(change: impl FnOnce(&mut PermissionFacts)) -> PermissionFacts {
    let mut facts = plain();
    change(&mut facts);
    facts
}

fn rule(decision: Approval) -> Option<(Approval, String)> {
    Some((decision, "r".to_owned()))
}

fn way() -> Egress {
    Egress { place: "http_send a.example".to_owned(), to_later_runs: false }
}

/// One word for each outcome, so that the table stays a table.
fn outcome(facts: &PermissionFacts) -> String {
    match decide_permission(facts) {
        Permission::Granted(by) => format!("granted by {by}"),
        Permission::Denied(why) => format!("denied: {why}"),
        Permission::ReadStanding => "read".to_owned(),
        Permission::Ask(Concern::Call) => "ask".to_owned(),
        Permission::Ask(Concern::Labels(_, None)) => "ask about labels".to_owned(),
        Permission::Ask(Concern::Labels(_, Some(_))) => "ask about labels, sandbox".to_owned(),
        Permission::Ask(Concern::Unsandboxed(_)) => "ask about sandbox".to_owned(),
        Permission::Ask(Concern::Unclear(part)) => format!("ask about {part}"),
    }
}

type Row = (&'static str, fn(&mut PermissionFacts), &'static str);

const NOBODY: &str = "denied: it needs a person, and nobody is there (approvals.unattended = deny)";

fn found(facts: &mut PermissionFacts) {
    facts.standing = StandingMatch::Found("s1".to_owned());
}

fn unsandboxed(facts: &mut PermissionFacts) {
    facts.policy = CallPolicy::Unsandboxed(UnsandboxedReason::Off);
}

fn always_ask(facts: &mut PermissionFacts) {
    facts.policy = CallPolicy::AlwaysAsk("$X".to_owned());
}

/// Everything that can allow a call, at once.
fn all_allow(facts: &mut PermissionFacts) {
    facts.handling = Some(Allow);
    facts.rule = rule(Allow);
    facts.approve_all = true;
    found(facts);
}

const RULES: &[Row] = &[
    ("a tool that asks", |_| (), "ask"),
    (
        "a tool that asks nobody",
        |f| f.handling = Some(Allow),
        "granted by rule: its tool asks nobody",
    ),
    (
        "a tool that is denied",
        |f| f.handling = Some(Deny),
        "denied: this tool may not be used in this run",
    ),
    (
        "a tool that the run does not have",
        |f| f.handling = None,
        "denied: this tool may not be used in this run",
    ),
    ("a rule allows", |f| f.rule = rule(Allow), "granted by rule: r"),
    (
        "a rule asks",
        |f| {
            f.handling = Some(Allow);
            f.rule = rule(Ask);
        },
        "ask",
    ),
    ("a rule denies", |f| f.rule = rule(Deny), "denied: the rule r denies it"),
    (
        "a rule denies what all else allows",
        |f| {
            all_allow(f);
            f.rule = rule(Deny);
        },
        "denied: the rule r denies it",
    ),
    (
        "the tool allows",
        |f| f.policy = CallPolicy::Allow("git status".to_owned()),
        "granted by rule: git status",
    ),
    (
        "the tool asks, a rule allows",
        |f| {
            f.rule = rule(Allow);
            f.policy = CallPolicy::Ask("x".to_owned());
        },
        "ask",
    ),
    (
        "the tool allows, a rule asks",
        |f| {
            f.rule = rule(Ask);
            f.policy = CallPolicy::Allow("x".to_owned());
        },
        "ask",
    ),
    (
        "the tool denies",
        |f| {
            all_allow(f);
            f.policy = CallPolicy::Deny("no".to_owned());
        },
        "denied: no",
    ),
    (
        "a sensitive call",
        |f| {
            f.handling = Some(Allow);
            f.policy = CallPolicy::Sensitive;
        },
        "ask",
    ),
    (
        "a sensitive call that a rule allows",
        |f| {
            f.rule = rule(Allow);
            f.policy = CallPolicy::Sensitive;
        },
        "granted by rule: r",
    ),
];

const APPROVALS: &[Row] = &[
    (
        "standing approvals are read where they decide",
        |f| f.standing = StandingMatch::Unread,
        "read",
    ),
    (
        "and not where a rule allows",
        |f| {
            f.rule = rule(Allow);
            f.standing = StandingMatch::Unread;
        },
        "granted by rule: r",
    ),
    (
        "and not where a rule denies",
        |f| {
            f.rule = rule(Deny);
            f.standing = StandingMatch::Unread;
        },
        "denied: the rule r denies it",
    ),
    ("allowed for good", found, "granted by always: s1"),
    (
        "allowed for good, though a rule asks",
        |f| {
            found(f);
            f.rule = rule(Ask);
        },
        "granted by always: s1",
    ),
    (
        "a sensitive call, allowed for good",
        |f| {
            found(f);
            f.policy = CallPolicy::Sensitive;
        },
        "granted by always: s1",
    ),
    ("--yes", |f| f.approve_all = true, "granted by --yes"),
    (
        "--yes and allowed for good",
        |f| {
            found(f);
            f.approve_all = true;
        },
        "granted by always: s1",
    ),
    (
        "--yes, though a rule asks",
        |f| {
            f.rule = rule(Ask);
            f.approve_all = true;
        },
        "granted by --yes",
    ),
    (
        "--yes does not lift a denial",
        |f| {
            f.rule = rule(Deny);
            f.approve_all = true;
        },
        "denied: the rule r denies it",
    ),
    ("nobody is there", |f| f.unattended = Unattended::Deny, NOBODY),
    (
        "nobody has to be there",
        |f| {
            f.approve_all = true;
            f.unattended = Unattended::Deny;
        },
        "granted by --yes",
    ),
];

const SPECIAL: &[Row] = &[
    ("tainted, and it sends out", |f| f.blocked = Some(way()), "ask about labels"),
    (
        "tainted, whatever else is allowed",
        |f| {
            all_allow(f);
            f.blocked = Some(way());
        },
        "ask about labels",
    ),
    (
        "tainted, and the guard denies",
        |f| {
            all_allow(f);
            f.blocked = Some(way());
            f.label_guard = Some(LabelGuard::Deny);
        },
        "denied: it could take what was read out of this run (http_send a.example)",
    ),
    (
        "tainted, and a rule denies",
        |f| {
            f.rule = rule(Deny);
            f.blocked = Some(way());
        },
        "denied: the rule r denies it",
    ),
    (
        "tainted and without a sandbox",
        |f| {
            unsandboxed(f);
            f.blocked = Some(way());
        },
        "ask about labels, sandbox",
    ),
    (
        "tainted, and nobody is there",
        |f| {
            f.blocked = Some(way());
            f.unattended = Unattended::Deny;
        },
        NOBODY,
    ),
    ("without a sandbox", unsandboxed, "ask about sandbox"),
    (
        "without a sandbox, whatever else is allowed",
        |f| {
            all_allow(f);
            unsandboxed(f);
        },
        "ask about sandbox",
    ),
    (
        "without a sandbox, and a rule denies",
        |f| {
            unsandboxed(f);
            f.rule = rule(Deny);
        },
        "denied: the rule r denies it",
    ),
    (
        "without a sandbox, and nobody is there",
        |f| {
            all_allow(f);
            unsandboxed(f);
            f.unattended = Unattended::Deny;
        },
        NOBODY,
    ),
    ("always asked about", always_ask, "ask about $X"),
    (
        "always asked about, whatever else is allowed",
        |f| {
            all_allow(f);
            always_ask(f);
        },
        "ask about $X",
    ),
    (
        "always asked about, and nobody is there",
        |f| {
            all_allow(f);
            always_ask(f);
            f.unattended = Unattended::Deny;
        },
        NOBODY,
    ),
];

#[test]
fn permission_follows_from_the_facts_row_by_row() {
    for (what, change, expected) in RULES.iter().chain(APPROVALS).chain(SPECIAL) {
        assert_eq!(outcome(&with(change)), *expected, "{what}");
    }
}

/// Nothing that allows calls ever lifts a denial or one of the questions of their own.
#[test]
fn more_permission_never_turns_a_denial_or_a_special_question_into_a_grant() {
    for (what, change, expected) in RULES.iter().chain(SPECIAL) {
        let mut facts = with(change);
        facts.approve_all = true;
        found(&mut facts);
        let is_final = expected.starts_with("denied") || expected.starts_with("ask about");
        assert!(!is_final || outcome(&facts) == *expected, "{what}");
    }
}

#[test]
fn a_call_is_free_only_if_nothing_speaks_against_it() {
    let free = FreedomFacts {
        handling: Some(Allow),
        rule: None,
        is_sensitive: false,
        is_blocked: false,
        only_plans: false,
    };
    for (facts, expected) in [
        (free, true),
        (FreedomFacts { rule: Some(Allow), ..free }, true),
        (FreedomFacts { rule: Some(Ask), ..free }, false),
        (FreedomFacts { rule: Some(Deny), ..free }, false),
        (FreedomFacts { handling: Some(Ask), ..free }, false),
        (FreedomFacts { handling: None, ..free }, false),
        (FreedomFacts { is_sensitive: true, ..free }, false),
        (FreedomFacts { is_blocked: true, ..free }, false),
        (FreedomFacts { only_plans: true, ..free }, false),
    ] {
        assert_eq!(is_free(facts), expected, "{facts:?}");
    }
}

#[test]
fn a_grant_lapses_with_the_policy_or_the_tool_that_it_was_given_under() {
    for (granted_under, now, failed_attempts, expected) in [
        ("a", Some("a"), 0, false),
        ("a", Some("b"), 0, true),
        // Nobody was asked.
        ("", Some("b"), 0, false),
        // It may have acted.
        ("a", Some("b"), 1, false),
        // The call will be refused anyway.
        ("a", None, 0, false),
    ] {
        let facts = GrantFacts { granted_under, now, failed_attempts };
        assert_eq!(has_lapsed(facts), expected, "{facts:?}");
    }
}

#[test]
fn a_permitted_call_needs_the_sandbox_that_it_was_permitted_with() {
    let bare = CallPolicy::Unsandboxed(UnsandboxedReason::Unavailable("no bwrap".to_owned()));
    assert_eq!(decide_sandboxing(&bare, true), Sandboxing::ApprovedUnsandboxed);
    assert!(matches!(decide_sandboxing(&bare, false), Sandboxing::Refused(_)));
    for policy in [
        CallPolicy::Default,
        CallPolicy::Sensitive,
        CallPolicy::Allow("x".to_owned()),
        CallPolicy::Ask("x".to_owned()),
        CallPolicy::AlwaysAsk("x".to_owned()),
    ] {
        assert_eq!(decide_sandboxing(&policy, false), Sandboxing::Sandboxed, "{policy:?}");
    }
    let denied = decide_sandboxing(&CallPolicy::Deny("no".to_owned()), true);
    assert_eq!(denied, Sandboxing::Refused("no".to_owned()));
}

#[test]
fn a_run_that_only_plans_makes_no_call_that_may_change_something_whatever_allows_it() {
    let facts = with(|facts| {
        all_allow(facts);
        facts.only_plans = true;
    });
    assert!(matches!(decide_permission(&facts), Permission::Denied(why) if why.contains("plan")));
}

#[test]
fn where_a_rule_asks_or_a_file_is_obeyed_no_wide_approval_covers_the_call() {
    assert!(plain().allows_wide_approval());
    let asked: [fn(&mut PermissionFacts); 3] = [
        |facts| facts.rule = rule(Ask),
        |facts| facts.policy = CallPolicy::Ask("git push *".to_owned()),
        |facts| facts.policy = CallPolicy::Sensitive,
    ];
    for change in asked {
        assert!(!with(change).allows_wide_approval());
    }
}
