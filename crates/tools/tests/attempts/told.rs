//! How an attempt ended, and the lines that tell it.

use crate::support::Place;
use everloop_ports::{CallContext, CallPolicy};
use everloop_tools::SandboxLevel;
use everloop_types::Ending;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Which sandbox a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandboxing {
    /// Bubblewrap and Landlock.
    Both,
    /// Landlock alone, with seccomp.
    Landlock,
    /// None.
    None,
}

impl Sandboxing {
    pub(crate) const ALL: [Self; 3] = [Self::Both, Self::Landlock, Self::None];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Both => "both-sandboxes",
            Self::Landlock => "landlock-alone",
            Self::None => "no-sandbox",
        }
    }

    pub(crate) fn level(self) -> SandboxLevel {
        match self {
            Self::Both => SandboxLevel::Full,
            Self::Landlock => SandboxLevel::Inner,
            Self::None => SandboxLevel::None,
        }
    }
}

/// Where attempts are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) sandboxing: Sandboxing,
    pub(crate) account: &'static str,
    /// Whether each attempt is also made without a sandbox, where it must work: one that cannot
    /// work proves nothing.
    pub(crate) proves: bool,
}

const SANDBOX: &str = "EVERLOOP_TEST_SANDBOX";
const ACCOUNT: &str = "EVERLOOP_TEST_ACCOUNT";

impl Stage {
    /// What the process that started this one wants to be tried.
    pub(crate) fn asked_for() -> Option<Self> {
        let wanted = std::env::var(SANDBOX).ok()?;
        let sandboxing =
            Sandboxing::ALL.into_iter().find(|sandboxing| sandboxing.name() == wanted)?;
        let account = std::env::var(ACCOUNT).ok()?;
        let (account, proves) = account.split_once(' ')?;
        let account = if account == "root" { "root" } else { "ordinary" };
        Some(Self {
            sandboxing,
            account,
            proves: proves == "true" && sandboxing == Sandboxing::Both,
        })
    }

    /// The variables that say so.
    pub(crate) fn asking(self) -> [(&'static str, String); 2] {
        let account = format!("{} {}", self.account, self.proves);
        [(SANDBOX, self.sandboxing.name().to_owned()), (ACCOUNT, account)]
    }
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Held,
    /// Held, because a person is asked first whatever else is allowed.
    Asked,
    /// It got through, or proves nothing, and why.
    Broken(String),
    /// Nobody promises that it is held here.
    NotPromised,
}

impl Verdict {
    /// Held, unless there is something to say.
    pub(crate) fn of(fault: Option<String>) -> Self {
        fault.map_or(Self::Held, Self::Broken)
    }
}

/// One row that was tried.
pub(crate) struct Told {
    /// Of a finding; empty for the others.
    pub(crate) id: &'static str,
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
}

impl Told {
    pub(crate) fn line(&self, stage: Stage) -> String {
        let (result, why) = match &self.verdict {
            Verdict::Held => ("held", ""),
            Verdict::Asked => ("held", " (a person is asked first)"),
            Verdict::Broken(why) => ("broken", why.as_str()),
            Verdict::NotPromised => ("not-promised", ""),
        };
        let id = if self.id.is_empty() { "-" } else { self.id };
        let (sandboxing, account) = (stage.sandboxing.name(), stage.account);
        let why = why.replace('\n', " / ");
        let sign = if result == "broken" { ": " } else { "" };
        format!("attempt {sandboxing} {account} {result} {id} {}{sign}{why}", self.name)
    }
}

pub(crate) fn is_of_table(line: &str) -> bool {
    line.starts_with("attempt ") || line.starts_with("not tried: ")
}

pub(crate) fn is_broken(line: &str) -> bool {
    line.split(' ').nth(3) == Some("broken")
}

/// The counts of all lines.
pub(crate) fn summary(lines: &[String]) -> String {
    let parts = Sandboxing::ALL.map(|sandboxing| {
        let head = format!("attempt {} ", sandboxing.name());
        let of: Vec<&String> = lines.iter().filter(|line| line.starts_with(&head)).collect();
        let count =
            |result: &str| of.iter().filter(|line| line.split(' ').nth(3) == Some(result)).count();
        let asked = of.iter().filter(|line| line.ends_with("(a person is asked first)")).count();
        format!(
            "{} {} held ({asked} because a person is asked first), {} broken, {} not promised",
            sandboxing.name().replace('-', " "),
            count("held"),
            count("broken"),
            count("not-promised"),
        )
    });
    format!("attempts: {}", parts.join("; "))
}

/// Tries all rows, some at once.
pub(crate) async fn tried<R, F>(
    rows: impl IntoIterator<Item = R>,
    attempt: impl Fn(R) -> F,
) -> Vec<Told>
where
    F: Future<Output = Told> + Send + 'static,
{
    const AT_ONCE: usize = 6;
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut all = JoinSet::new();
    for row in rows {
        let (places, attempt) = (Arc::clone(&places), attempt(row));
        all.spawn(async move {
            let _place = places.acquire_owned().await;
            attempt.await
        });
    }
    all.join_all().await
}

/// Whether a command is run only if a person says yes to that; an error if it ran all the same.
pub(crate) async fn is_asked(place: &Place, command: &str) -> Result<bool, String> {
    let args = json!({ "command": command });
    if !matches!(place.tool("shell").judge(&args.to_string()).await, CallPolicy::Unsandboxed(_)) {
        return Ok(false);
    }
    let context = CallContext { may_run_bare: false, ..CallContext::new("key") };
    let seen = place.call_in("shell", args, &context).await;
    match seen.ending {
        Ending::Denied => Ok(true),
        _ => Err(format!("it ran without a question: {}", seen.text)),
    }
}
