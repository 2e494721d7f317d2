//! Who decides about one tool call: a pure function of facts.
//!
//! ```text
//!   the run only plans ────────────────► denied, if the call may change something
//!   a denial of any rule ──────────────► denied
//!   labels block it ───────────────────► a question of its own, whatever else is allowed
//!   it would run without a sandbox ────► a question of its own, whatever else is allowed
//!   the tool always asks ──────────────► a question of its own, whatever else is allowed
//!   a rule, "always", --yes ───────────► granted
//!   else ──────────────────────────────► a question
//!   a question, but unattended ────────► denied, if the run is set so
//! ```
//!
//! Deliberately absent: where the facts come from, what a question says (`drive::permit`).

use everloop_ports::{CallPolicy, UnsandboxedReason};
use everloop_types::{Approval, Egress, LabelGuard, Unattended};

/// All that permission for one call depends on.
#[derive(Debug, Clone)]
pub(crate) struct PermissionFacts {
    /// What the tool's handling says in this run; none if the run does not have the tool.
    pub(crate) handling: Option<Approval>,
    /// The strictest rule of the run's policy about the call, and its name.
    pub(crate) rule: Option<(Approval, String)>,
    /// What the tool says about these arguments.
    pub(crate) policy: CallPolicy,
    /// The way out that the run's labels block.
    pub(crate) blocked: Option<Egress>,
    /// What happens to calls that labels block.
    pub(crate) label_guard: Option<LabelGuard>,
    /// The standing approval that covers the call.
    pub(crate) standing: StandingMatch,
    /// `--yes`.
    pub(crate) approve_all: bool,
    /// What happens where a person would have to be asked.
    pub(crate) unattended: Unattended,
    /// The run only plans, and the call may change something.
    pub(crate) only_plans: bool,
}

impl PermissionFacts {
    /// Whether an approval for more than this call may cover it. Where a rule asks, or the file is
    /// one that others obey, only an approval for exactly this call does.
    pub(crate) fn allows_wide_approval(&self) -> bool {
        let rule_asks = matches!(self.rule, Some((Approval::Ask, _)));
        !rule_asks && !matches!(self.policy, CallPolicy::Ask(_) | CallPolicy::Sensitive)
    }
}

/// Said to the model about a call that a run which only plans does not make.
const ONLY_PLANS: &str = "this run only plans (approval mode: plan), so nothing that changes or \
    sends anything is done; do not call it again, say in your answer what you would do";

/// The standing approval that covers a call. It costs a query, so it is read only if it decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StandingMatch {
    /// Not read yet.
    Unread,
    /// None covers the call.
    Missing,
    /// This one covers it.
    Found(String),
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Permission {
    /// It is made; by whose permission.
    Granted(String),
    /// It is not made; the reason, for the model.
    Denied(String),
    /// A person decides.
    Ask(Concern),
    /// Read the standing approvals and decide again.
    ReadStanding,
}

/// What a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concern {
    /// The call itself.
    Call,
    /// It may send out what the run has read; it may also have no sandbox.
    Labels(Egress, Option<UnsandboxedReason>),
    /// It would run without a sandbox.
    Unsandboxed(UnsandboxedReason),
    /// No rule can be sure what it does; the part that is unclear.
    Unclear(String),
}

/// Decides about one call.
pub(crate) fn decide_permission(facts: &PermissionFacts) -> Permission {
    if facts.only_plans {
        return Permission::Denied(ONLY_PLANS.to_owned());
    }
    let granted_by = match weigh_rules(facts) {
        RuleVerdict::Denied(why) => return Permission::Denied(why),
        RuleVerdict::Allowed(rule) => Some(rule),
        RuleVerdict::Ask => None,
    };
    let unsandboxed = match &facts.policy {
        CallPolicy::Unsandboxed(reason) => Some(reason.clone()),
        _ => None,
    };
    if let Some(way) = &facts.blocked {
        if facts.label_guard == Some(LabelGuard::Deny) {
            let why = format!("it could take what was read out of this run ({})", way.place);
            return Permission::Denied(why);
        }
        return ask(facts, Concern::Labels(way.clone(), unsandboxed));
    }
    if let Some(reason) = unsandboxed {
        return ask(facts, Concern::Unsandboxed(reason));
    }
    if let CallPolicy::AlwaysAsk(part) = &facts.policy {
        return ask(facts, Concern::Unclear(part.clone()));
    }
    match (granted_by, &facts.standing) {
        (Some(rule), _) => Permission::Granted(format!("rule: {rule}")),
        (None, StandingMatch::Unread) => Permission::ReadStanding,
        (None, StandingMatch::Found(id)) => Permission::Granted(format!("always: {id}")),
        (None, StandingMatch::Missing) if facts.approve_all => {
            Permission::Granted("--yes".to_owned())
        }
        (None, StandingMatch::Missing) => ask(facts, Concern::Call),
    }
}

fn ask(facts: &PermissionFacts, concern: Concern) -> Permission {
    if facts.unattended == Unattended::Deny {
        let why = "it needs a person, and nobody is there (approvals.unattended = deny)";
        return Permission::Denied(why.to_owned());
    }
    Permission::Ask(concern)
}

/// What the rules leave open.
enum RuleVerdict {
    /// One of them allows it, and which.
    Allowed(String),
    /// A person is to decide.
    Ask,
    /// It is denied, and why.
    Denied(String),
}

/// Denials first, then rules that ask, then permissions: of the run's policy and of the tool.
fn weigh_rules(facts: &PermissionFacts) -> RuleVerdict {
    let handling = facts.handling.unwrap_or(Approval::Deny);
    match (handling, &facts.rule, &facts.policy) {
        (Approval::Deny, ..) => {
            RuleVerdict::Denied("this tool may not be used in this run".to_owned())
        }
        (_, Some((Approval::Deny, rule)), _) => {
            RuleVerdict::Denied(format!("the rule {rule} denies it"))
        }
        (_, _, CallPolicy::Deny(why)) => RuleVerdict::Denied(why.clone()),
        (_, Some((Approval::Ask, _)), _) | (_, _, CallPolicy::Ask(_)) => RuleVerdict::Ask,
        (_, Some((Approval::Allow, rule)), _) | (_, _, CallPolicy::Allow(rule)) => {
            RuleVerdict::Allowed(rule.clone())
        }
        (_, _, CallPolicy::Sensitive) => RuleVerdict::Ask,
        (Approval::Allow, ..) => RuleVerdict::Allowed("its tool asks nobody".to_owned()),
        (Approval::Ask, ..) => RuleVerdict::Ask,
    }
}

/// What decides whether a call needs no permission at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreedomFacts {
    /// What the tool's handling says in this run; none if the run does not have the tool.
    pub(crate) handling: Option<Approval>,
    /// The strictest rule of the run's policy about the call.
    pub(crate) rule: Option<Approval>,
    /// Whether the tool wants this call to be judged.
    pub(crate) is_sensitive: bool,
    /// Whether the run's labels block it.
    pub(crate) is_blocked: bool,
    /// Whether the run only plans, and the call may change something.
    pub(crate) only_plans: bool,
}

/// Whether the call needs no permission.
pub(crate) fn is_free(facts: FreedomFacts) -> bool {
    facts.handling == Some(Approval::Allow)
        && facts.rule.is_none_or(|rule| rule == Approval::Allow)
        && !facts.is_sensitive
        && !facts.is_blocked
        && !facts.only_plans
}

/// What decides whether a grant still holds when its call is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrantFacts<'a> {
    /// The hash of policy and tool when it was asked for; empty if it was not.
    pub(crate) granted_under: &'a str,
    /// The same hash now; none if the tool is gone.
    pub(crate) now: Option<&'a str>,
    /// Attempts that failed. A call that may have acted continues as it began.
    pub(crate) failed_attempts: u32,
}

/// Whether policy or tool changed since permission was given.
pub(crate) fn has_lapsed(facts: GrantFacts<'_>) -> bool {
    let may_lapse = !facts.granted_under.is_empty() && facts.failed_attempts == 0;
    may_lapse && facts.now.is_some_and(|now| now != facts.granted_under)
}

/// Whether a permitted call may still be made, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sandboxing {
    /// In a sandbox, or by a tool that needs none.
    Sandboxed,
    /// Without a sandbox, which a person allowed.
    ApprovedUnsandboxed,
    /// Not at all; the reason.
    Refused(String),
}

/// Decides again when the call is made: sandbox and rules may have changed since it was permitted.
/// `approved_unsandboxed` is whether a person allowed it without a sandbox.
pub(crate) fn decide_sandboxing(policy: &CallPolicy, approved_unsandboxed: bool) -> Sandboxing {
    match policy {
        CallPolicy::Default
        | CallPolicy::Sensitive
        | CallPolicy::Allow(_)
        | CallPolicy::Ask(_)
        | CallPolicy::AlwaysAsk(_) => Sandboxing::Sandboxed,
        CallPolicy::Deny(why) => Sandboxing::Refused(why.clone()),
        CallPolicy::Unsandboxed(_) if approved_unsandboxed => Sandboxing::ApprovedUnsandboxed,
        CallPolicy::Unsandboxed(_) => {
            let why = "it was allowed in a sandbox, and there is none any more; call it again";
            Sandboxing::Refused(why.to_owned())
        }
    }
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
