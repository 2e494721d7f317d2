//! Plays a run as the engine would: decide, journal, answer, fold, again.

use crate::world::World;
use everloop_compare::policy::PolicyRules;
use everloop_loops::{AnyRun, Decision, PlannedEffect, output_schema, own_tools};
use everloop_ports::{Request, WirePrompt};
use everloop_types::journal::{
    EffectFinished, EffectPlanned, Entry, EntryKind, EpochStarted, Outcome, PlannedModelCall,
    PlannedToolCall, RunCreated,
};
use everloop_types::{
    EffectId, Frame, Goal, Lang, Message, ModelCall, OutputSchema, Reason, Reply, RunId, Status,
    ToolOffer, ToolSpec, Words, WorkerId, digest_json,
};
use std::sync::Arc;

/// A journal that is longer than this belongs to a run that does not end.
const ENTRIES_MAX: usize = 5_000;

/// A run that has come to its end.
pub(crate) struct Played {
    pub(crate) run: AnyRun,
    pub(crate) world: World,
    pub(crate) status: Status,
    pub(crate) reason: Option<Reason>,
    pub(crate) words: String,
    /// What was asked of the model, and what it said.
    pub(crate) asked: Vec<(Asked, Reply)>,
}

impl Played {
    /// The whole dialogue, for failure messages.
    pub(crate) fn told(&self) -> String {
        let line = |message: &Message| match message {
            Message::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| format!("\n   {} {}", call.tool, call.args));
                format!("assistant: {text}{}", calls.collect::<String>())
            }
            Message::System { .. } => "system".to_owned(),
            other => format!("  {}", other.text()),
        };
        let lines: Vec<String> = self.run.messages().iter().map(line).collect();
        format!("{}\n{}: {}", lines.join("\n"), self.status, self.words)
    }
}

/// One request as an owned value.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) call: ModelCall,
    pub(crate) output: Option<OutputSchema>,
}

impl Asked {
    pub(crate) fn reply(&self, rules: PolicyRules) -> Reply {
        rules.reply(&Request {
            model: "x",
            messages: &self.messages,
            wire: &mut WirePrompt::default(),
            tools: self.tools.iter().collect(),
            choice: &self.call.choice,
            output: self.output.as_ref(),
            temperature_milli: 0,
            max_tokens: 0,
        })
    }
}

struct Player {
    rules: PolicyRules,
    world: World,
    run: AnyRun,
    frame: Arc<Frame>,
    seq: i64,
    asked: Vec<(Asked, Reply)>,
}

/// Plays a goal to its end.
pub(crate) fn play(
    loop_name: &str,
    goal: &str,
    world: World,
    rules: PolicyRules,
    frame: Frame,
) -> Played {
    let created = RunCreated {
        goal: Goal { text: goal.to_owned(), ..Goal::default() },
        loop_name: loop_name.to_owned(),
        loop_ver: AnyRun::version(loop_name).expect("a loop of that name"),
        frame: digest_json(&frame),
        build: "test".to_owned(),
        policy_hash: String::new(),
        turn: None,
    };
    let frame = Arc::new(frame);
    let run = AnyRun::new(&created, frame.clone()).expect("a loop of that name");
    let mut player = Player { rules, world, run, frame, seq: 0, asked: Vec::new() };
    player.append(None, EntryKind::RunCreated(created));
    let worker = WorkerId::new("worker-1");
    player.append(None, EntryKind::EpochStarted(EpochStarted { worker, build: "test".to_owned() }));
    loop {
        match player.run.decide() {
            Decision::Do(effects) => player.perform(&effects),
            Decision::Finish { status, reason, words } => {
                return player.over(status, reason, &words);
            }
        }
    }
}

impl Player {
    fn perform(&mut self, effects: &[PlannedEffect]) {
        let cause = self.seq;
        let id = |index: usize| EffectId {
            run: RunId::new("run_1"),
            cause,
            index: u32::try_from(index).expect("a small batch"),
        };
        for (index, effect) in effects.iter().enumerate() {
            self.append(Some(id(index)), EntryKind::EffectPlanned(effect.planned.clone()));
        }
        for (index, effect) in effects.iter().enumerate() {
            let outcome = match (&effect.planned, &effect.refused) {
                (_, Some(seen)) => Outcome::Observed(seen.clone()),
                (EffectPlanned::CallModel(PlannedModelCall { call, .. }), None) => {
                    Outcome::Replied(self.ask(call))
                }
                (EffectPlanned::CallTool(PlannedToolCall { call, .. }), None) => {
                    Outcome::Observed(self.world.answer(call))
                }
            };
            let finished = EffectFinished::unlabeled(outcome, 1);
            self.append(Some(id(index)), EntryKind::EffectFinished(finished));
        }
    }

    fn ask(&mut self, call: &ModelCall) -> Reply {
        let own = own_tools(&call.offer, &self.frame);
        let offered = |tool: &&ToolSpec| match &call.offer {
            ToolOffer::None => false,
            ToolOffer::All => true,
            ToolOffer::Only(names) => names.contains(&tool.name),
        };
        let tools = own.iter().chain(self.frame.tools.iter().filter(offered)).cloned().collect();
        let output = call.output.map(|contract| output_schema(contract, &self.frame));
        let (messages, call) = (self.run.messages().to_vec(), call.clone());
        let asked = Asked { messages, tools, call, output };
        let reply = asked.reply(self.rules);
        self.asked.push((asked, reply.clone()));
        reply
    }

    fn append(&mut self, effect: Option<EffectId>, kind: EntryKind) {
        self.seq += 1;
        let seen = usize::try_from(self.seq).expect("a short journal");
        assert!(seen < ENTRIES_MAX, "the run does not end");
        let entry = Entry { seq: self.seq, epoch: 1, at: 1_000 + self.seq, effect, kind };
        self.run.apply(&entry);
    }

    fn over(self, status: Status, reason: Option<Reason>, words: &Words) -> Played {
        let Self { run, world, asked, .. } = self;
        let words = everloop_text::render(words, Lang::En);
        Played { run, world, status, reason, words, asked }
    }
}
