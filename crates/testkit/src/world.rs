//! The world: records every change, and offers one tool per effect class.

use crate::misbehaving::with_trouble;
use crate::points::{GateDecision, PointGate, PointKind};
use everloop_ports::{CallContext, Intent, Probe, Registry, Tool, ToolReturn};
use everloop_tools::{AskUser, Delegate, Sleep, TodoWrite};
use everloop_types::{Approval, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A change of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldChange {
    /// The tool.
    pub tool: String,
    /// The effect, by its idempotency key.
    pub key: String,
    /// The thing that it changed.
    pub what: String,
}

/// Everything outside the process. It survives every crash.
#[derive(Debug, Default)]
pub struct World {
    acts: Mutex<Vec<WorldChange>>,
    /// Where the changes are kept instead, if real processes come and go.
    file: Option<PathBuf>,
}

impl World {
    /// A world in a file, one line per change.
    #[must_use]
    pub fn in_file(file: PathBuf) -> Self {
        Self { acts: Mutex::default(), file: Some(file) }
    }

    fn act(&self, tool: &str, key: &str, what: &str) {
        let act = WorldChange { tool: tool.to_owned(), key: key.to_owned(), what: what.to_owned() };
        match &self.file {
            Some(file) => append(file, &act),
            None => self.acts.lock().unwrap_or_else(PoisonError::into_inner).push(act),
        }
    }

    /// All changes, in order.
    ///
    /// # Panics
    /// If they are in a file that cannot be read.
    #[must_use]
    pub fn acts(&self) -> Vec<WorldChange> {
        match &self.file {
            Some(file) => read(file),
            None => self.acts.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn count(&self, tool: &str, what: &str) -> usize {
        self.acts().iter().filter(|act| act.tool == tool && act.what == what).count()
    }

    fn has_key(&self, key: &str) -> bool {
        self.acts().iter().any(|act| act.key == key)
    }
}

/// One write call, so that a change is complete or absent even if a process dies.
fn append(file: &Path, act: &WorldChange) {
    let mut line = serde_json::to_vec(act).expect("an act has a JSON form");
    line.push(b'\n');
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut file| file.write(&line));
    assert_eq!(written.ok(), Some(line.len()), "{} takes a line", file.display());
}

fn read(file: &Path) -> Vec<WorldChange> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.expect("the acts can be read"),
    };
    text.lines().map(|line| serde_json::from_str(line).expect("a line is an act")).collect()
}

/// The argument of the simulated tools.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetArgs {
    /// The thing.
    what: String,
}

struct WorldAccess {
    world: Arc<World>,
    gate: Arc<dyn PointGate>,
}

impl WorldAccess {
    /// Compares what is there now with what was there before the call.
    fn probe(&self, tool: &str, what: &str, before: &Value) -> Probe {
        let now = self.world.count(tool, what) as u64;
        match before.as_u64() {
            _ if tool == Toss::NAME => Probe::unknown("it rolled away"),
            Some(before) if now > before => {
                Probe::Happened(Observation::ok(format!("{tool} {what}")))
            }
            Some(_) => Probe::DidNot,
            None => Probe::unknown("nobody looked before"),
        }
    }
}

macro_rules! tool {
    ($(#[$doc:meta])* $name:ident, $word:literal, $class:ident, $more:expr, $call:expr) => {
        $(#[$doc])*
        struct $name(WorldAccess);

        impl Tool for $name {
            const NAME: &'static str = $word;
            type Args = TargetArgs;

            fn description(&self) -> &'static str {
                "acts on a thing"
            }

            fn handling(&self) -> Handling {
                let base = Handling {
                    class: EffectClass::$class,
                    approval: Approval::Allow,
                    on_unknown: OnUnknown::TellModel,
                    timeout_ms: 60_000,
                    grace_ms: 1_000,
                    ..Handling::default()
                };
                $more(base)
            }

            async fn call(&self, args: TargetArgs, context: &CallContext) -> ToolReturn {
                if self.0.gate.pass(PointKind::BeforeEffect).await == GateDecision::No {
                    let seen = Observation::error("ended by its deadline; nothing done");
                    return ToolReturn::Seen(seen);
                }
                let seen = $call(&self.0, &args.what, context);
                self.0.gate.pass(PointKind::AfterEffect).await;
                ToolReturn::Seen(seen)
            }

            async fn before(&self, args: &TargetArgs, _: Option<&everloop_types::RunId>) -> Value {
                json!(self.0.world.count($word, &args.what))
            }

            async fn probe(&self, args: TargetArgs, intent: &Intent) -> Probe {
                self.0.gate.pass(PointKind::BeforeProbe).await;
                let found = self.0.probe($word, &args.what, &intent.before);
                self.0.gate.pass(PointKind::AfterProbe).await;
                found
            }
        }
    };
}

tool!(
    /// Reads: changes nothing.
    Look, "look", Pure, |base| base,
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("look", &context.idem_key, what);
        Observation::ok(format!("saw {what}"))
    }
);
tool!(
    /// Fails every time, harmlessly.
    Miss, "miss", Pure, |base| base,
    |_: &WorldAccess, what: &str, _: &CallContext| Observation::error(format!("there is no {what}"))
);
tool!(
    /// Must never happen twice.
    Strike, "strike", Dangerous, |base| base,
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("strike", &context.idem_key, what);
        Observation::ok(format!("struck {what}"))
    }
);
tool!(
    /// Must never happen twice, and needs permission.
    Launch, "launch", Dangerous,
    |base| Handling { approval: Approval::Ask, ..base },
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("launch", &context.idem_key, what);
        Observation::ok(format!("launched {what}"))
    }
);
tool!(
    /// Must never happen twice, and a person reports the outcome if it is unknown.
    Mail, "mail", Dangerous,
    |base| Handling { on_unknown: OnUnknown::AskUser, ..base },
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("mail", &context.idem_key, what);
        Observation::ok(format!("mailed {what}"))
    }
);
tool!(
    /// Can be asked afterwards whether it happened.
    Put, "put", Probeable, |base| base,
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("put", &context.idem_key, what);
        Observation::ok(format!("put {what}"))
    }
);
tool!(
    /// Can be asked afterwards whether it happened, and never knows.
    Toss, "toss", Probeable, |base| base,
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        hands.world.act("toss", &context.idem_key, what);
        Observation::ok(format!("tossed {what}"))
    }
);
tool!(
    /// The other side honours a key.
    Post, "post", Keyed,
    |base| Handling { key_lifetime_ms: Some(3_600_000), ..base },
    |hands: &WorldAccess, what: &str, context: &CallContext| {
        if !hands.world.has_key(&context.idem_key) {
            hands.world.act("post", &context.idem_key, what);
        }
        Observation::ok(format!("posted {what}"))
    }
);

/// The simulated tools, one per class, and the shipped ones that need nothing outside.
pub(crate) fn registry(world: &Arc<World>, gate: &Arc<dyn PointGate>) -> Registry {
    let hands = || WorldAccess { world: world.clone(), gate: gate.clone() };
    let calm = Registry::default()
        .with(Look(hands()))
        .with(Miss(hands()))
        .with(Strike(hands()))
        .with(Launch(hands()))
        .with(Mail(hands()))
        .with(Put(hands()))
        .with(Toss(hands()))
        .with(Post(hands()))
        .with(AskUser)
        .with(TodoWrite)
        .with(Delegate)
        .with(Sleep { most_ms: 86_400_000 });
    with_trouble(calm)
}
