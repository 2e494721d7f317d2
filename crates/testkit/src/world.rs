//! The world: remembers every act that reached it, and offers one tool per effect class.

use crate::points::{Point, Points};
use crate::trouble::with_trouble;
use everloop_tools::{AskUser, CallContext, Done, Intent, Probe, Registry, TodoWrite, Tool};
use everloop_types::{Approval, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Something that was done to the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The tool.
    pub tool: &'static str,
    /// The effect, by its idempotency key.
    pub key: String,
    /// On what.
    pub what: String,
}

/// Everything outside the process. It survives every crash.
#[derive(Debug, Default)]
pub struct World {
    acts: Mutex<Vec<Act>>,
}

impl World {
    fn act(&self, tool: &'static str, key: &str, what: &str) {
        let act = Act { tool, key: key.to_owned(), what: what.to_owned() };
        self.acts.lock().unwrap_or_else(PoisonError::into_inner).push(act);
    }

    /// All acts, in order.
    #[must_use]
    pub fn acts(&self) -> Vec<Act> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, tool: &str, what: &str) -> usize {
        self.acts().iter().filter(|act| act.tool == tool && act.what == what).count()
    }

    fn has_key(&self, key: &str) -> bool {
        self.acts().iter().any(|act| act.key == key)
    }
}

/// What the made-up tools act on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct On {
    /// The thing.
    what: String,
}

struct Hands {
    world: Arc<World>,
    points: Arc<Points>,
}

impl Hands {
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
        struct $name(Hands);

        impl Tool for $name {
            const NAME: &'static str = $word;
            type Args = On;

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

            async fn call(&self, args: On, context: &CallContext) -> Done {
                self.0.points.pass(Point::BeforeEffect).await;
                let seen = $call(&self.0, &args.what, context);
                self.0.points.pass(Point::AfterEffect).await;
                Done::Seen(seen)
            }

            async fn before(&self, args: &On) -> Value {
                json!(self.0.world.count($word, &args.what))
            }

            async fn probe(&self, args: On, intent: &Intent) -> Probe {
                self.0.points.pass(Point::BeforeProbe).await;
                let found = self.0.probe($word, &args.what, &intent.before);
                self.0.points.pass(Point::AfterProbe).await;
                found
            }
        }
    };
}

tool!(
    /// Reads: changes nothing.
    Look, "look", Pure, |base| base,
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("look", &context.idem_key, what);
        Observation::ok(format!("saw {what}"))
    }
);
tool!(
    /// Fails every time, harmlessly.
    Miss, "miss", Pure, |base| base,
    |_: &Hands, what: &str, _: &CallContext| Observation::error(format!("there is no {what}"))
);
tool!(
    /// Must never happen twice.
    Strike, "strike", Dangerous, |base| base,
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("strike", &context.idem_key, what);
        Observation::ok(format!("struck {what}"))
    }
);
tool!(
    /// Must never happen twice, and needs permission.
    Launch, "launch", Dangerous,
    |base| Handling { approval: Approval::Ask, ..base },
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("launch", &context.idem_key, what);
        Observation::ok(format!("launched {what}"))
    }
);
tool!(
    /// Must never happen twice, and a person says what happened if nobody knows.
    Mail, "mail", Dangerous,
    |base| Handling { on_unknown: OnUnknown::AskUser, ..base },
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("mail", &context.idem_key, what);
        Observation::ok(format!("mailed {what}"))
    }
);
tool!(
    /// Can be asked afterwards whether it happened.
    Put, "put", Probeable, |base| base,
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("put", &context.idem_key, what);
        Observation::ok(format!("put {what}"))
    }
);
tool!(
    /// Can be asked afterwards whether it happened, and never knows.
    Toss, "toss", Probeable, |base| base,
    |hands: &Hands, what: &str, context: &CallContext| {
        hands.world.act("toss", &context.idem_key, what);
        Observation::ok(format!("tossed {what}"))
    }
);
tool!(
    /// The other side honours a key.
    Post, "post", Keyed,
    |base| Handling { key_lifetime_ms: Some(3_600_000), ..base },
    |hands: &Hands, what: &str, context: &CallContext| {
        if !hands.world.has_key(&context.idem_key) {
            hands.world.act("post", &context.idem_key, what);
        }
        Observation::ok(format!("posted {what}"))
    }
);

/// The made-up tools, one per class, and the shipped ones that need no outside.
pub(crate) fn registry(world: &Arc<World>, points: &Arc<Points>) -> Registry {
    let hands = || Hands { world: world.clone(), points: points.clone() };
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
        .with(TodoWrite);
    with_trouble(calm)
}
