//! What each reply does to the plan, and what the model is asked next.

use super::replies::{self, PhaseReply, PlanReply, ReplanReply, ReplannedTask, ThoughtReply};
use super::{PlanPhase, PlanReplan};
use crate::contract::{self, Salvage};
use crate::toolbox::listed;
use crate::{AgentLoop, Voice, broken};
use everloop_text as text;
use everloop_types::{
    Answer, CallId, Frame, Goal, ItemState, Message, PlanItem, Reason, Reply, ToolCall, ToolSpec,
    Words, check_args,
};
use serde_json::{Value, json};
use std::sync::Arc;

const INSTRUCTIONS: &str = include_str!("../prompts/plan_replan.md");
const SHOWN_CHARS: usize = 300;

impl PlanReplan {
    pub(super) fn start(&mut self, goal: &Goal, frame: &Arc<Frame>) {
        self.frame = frame.clone();
        // The user is asked by a status of its own.
        let tools = listed(frame.tools.iter().filter(|tool| tool.name != "ask_user"));
        let instructions = INSTRUCTIONS.replace("{action}", example(frame));
        let system = format!("{}\n\n{instructions}\n{tools}", frame.system);
        self.transcript.open(Voice::JsonMessages, system, &frame.carried, goal);
        self.ask_plan();
    }

    /// The beginning: nothing is planned yet.
    pub(super) fn ask_plan(&mut self) {
        self.transcript.push(Message::user("phase: plan"));
        self.phase = PlanPhase::Planning { tries: 0 };
    }

    /// Strictly first. A reply with exactly one reading is taken at once; under the limits of older
    /// programs on the last try, and that is said.
    pub(super) fn take_reply(&mut self, reply: &Reply) {
        self.transcript.push(Message::Assistant { text: reply.text.clone(), calls: Vec::new() });
        let Some((contract, tries)) = self.phase.asks() else { return };
        let is_lenient = self.frame.limits.steps.is_lenient;
        let last = tries >= self.frame.limits.steps.contract_retries;
        match replies::read(contract, &reply.text) {
            Ok(said) => self.take(said),
            Err(wrong) => {
                let salvaged = replies::salvage(contract, reply).filter(|_| last || is_lenient);
                let Some((said, how)) = salvaged else {
                    return match self.plain_answer(reply, tries) {
                        Some(words) => self.answered(words),
                        None => self.take_broken(&wrong),
                    };
                };
                self.take(said);
                if is_lenient {
                    return;
                }
                let notes = Salvage::words(&how).into_iter().chain(self.note.take());
                self.note = Some(Words::All(notes.collect()));
            }
        }
    }

    /// Words instead of a plan, or after the last item: the second time they are the answer.
    fn plain_answer(&self, reply: &Reply, tries: u32) -> Option<String> {
        let is_open = |item: &PlanItem| item.state != ItemState::Completed;
        let may_answer = match self.phase {
            PlanPhase::Planning { .. } => true,
            PlanPhase::Replanning { .. } => !self.plan.items.iter().any(is_open),
            _ => false,
        };
        contract::said_again(reply, &self.transcript, tries, &self.frame).filter(|_| may_answer)
    }

    fn take(&mut self, said: PhaseReply) {
        self.note = None;
        match said {
            PhaseReply::Plan(PlanReply::Planned(plan)) => self.planned(plan),
            PhaseReply::Plan(PlanReply::Done(response)) => self.answered(response),
            PhaseReply::Thought(thought) => self.thought(thought),
            PhaseReply::Replan(replan) => self.replanned(replan),
        }
    }

    /// A reply that breaks the contract: try again with a word on what was wrong. Not a step.
    fn take_broken(&mut self, wrong: &str) {
        let allowed = self.frame.limits.steps.contract_retries;
        match &mut self.phase {
            PlanPhase::Planning { tries }
            | PlanPhase::Thinking { tries }
            | PlanPhase::Replanning { tries }
                if *tries < allowed =>
            {
                *tries += 1;
                let text =
                    format!("contract error: {wrong}. Reply again with the JSON object only.");
                self.transcript.push(Message::user(text));
            }
            _ => self.take_failure(wrong, Reason::BrokenContract),
        }
    }

    /// A failure round: no usable reply after all tries, or the model failed permanently (PR-8).
    pub(super) fn take_failure(&mut self, wrong: &str, reason: Reason) {
        let (name, note) = match self.phase {
            PlanPhase::Thinking { .. } => ("thought", text::progress::thought_failed()),
            PlanPhase::Replanning { .. } => ("replan", text::progress::replan_failed()),
            PlanPhase::Planning { .. } => return self.unavailable("plan", reason),
            PlanPhase::Acting(_) | PlanPhase::Asking { .. } | PlanPhase::Finished(_) => return,
        };
        self.tally.steps += 1;
        self.tally.failure_rounds += 1;
        if self.tally.failure_rounds >= self.frame.limits.steps.failure_rounds {
            return self.unavailable(name, reason);
        }
        self.transcript.note_failure(name, "", wrong);
        self.note = Some(note.words());
        match name {
            "thought" => self.ask_thought(),
            _ => self.ask_replan(),
        }
    }

    /// The fixed text; where the model answered and broke its contract, also why, its own words and
    /// what can be tried.
    fn unavailable(&mut self, contract: &str, reason: Reason) {
        let mut words = vec![text::plan::unavailable().words()];
        match &reason {
            Reason::BrokenContract => {
                words.push(broken::why(&Self::SPEC, contract, &self.frame));
                words.extend(broken::said(&self.transcript));
                words.push(broken::advice(&Self::SPEC, &self.frame));
            }
            Reason::Model(error) => {
                words.push(text::reason::model(&error.detail).words());
            }
            _ => {}
        }
        self.finish(Words::All(words), Some(reason));
    }

    fn finish(&mut self, words: Words, trouble: Option<Reason>) {
        self.phase = PlanPhase::Finished(Answer { words, trouble });
    }

    /// What needs no plan is answered at once (PR-3).
    fn answered(&mut self, response: String) {
        self.finish(Words::Said(response), None);
    }

    fn planned(&mut self, plan: Vec<String>) {
        self.plan.items =
            plan.into_iter().map(|text| PlanItem::new(text, ItemState::Pending)).collect();
        self.plan.version = 1;
        self.note = Some(text::progress::planned().words());
        self.ask_thought();
    }

    fn thought(&mut self, thought: ThoughtReply) {
        self.tally.steps += 1;
        self.tally.failure_rounds = 0;
        match thought {
            ThoughtReply::Continue { tool, input } => self.act(&tool, &input),
            ThoughtReply::AskUser { question: Some(question) } => self.ask_user(question),
            ThoughtReply::AskUser { question: None } => {
                self.transcript.note_failure("ask_user", "", "the question is missing");
                self.ask_thought();
            }
            ThoughtReply::Done { response } => {
                if let Some(item) = self.plan.items.get_mut(self.plan.current) {
                    item.state = ItemState::Completed;
                }
                self.plan.current = (self.plan.current + 1).min(self.plan.items.len());
                self.pending_response = response.or(self.pending_response.take());
                self.ask_replan();
            }
        }
    }

    /// A call that cannot be made is a failed observation, and no act step (PR-8).
    fn act(&mut self, tool: &str, input: &Value) {
        let args = match self.frame.tool(tool) {
            Some(_) if tool == "ask_user" => Err("ask_user is a status, not a tool".to_owned()),
            Some(spec) => args_for(spec, input),
            None => {
                let known = self.frame.tools.iter().map(|tool| tool.name.as_str());
                let known: Vec<&str> = known.filter(|name| *name != "ask_user").collect();
                Err(format!(
                    "there is no tool called {tool:?}; the tools are: {}",
                    known.join(", ")
                ))
            }
        };
        match args {
            Ok(args) => self.phase = PlanPhase::Acting(self.name_call(tool, args)),
            Err(wrong) => {
                self.tally.failed += 1;
                self.transcript.note_failure(tool, &input.to_string(), &wrong);
                self.ask_thought();
            }
        }
    }

    fn ask_user(&mut self, question: String) {
        let limits = self.frame.limits.steps;
        if self.clarified.iter().any(|(asked, _)| asked.trim() == question.trim()) {
            self.tally.repeated_questions += 1;
            if self.tally.repeated_questions >= limits.repeated_questions {
                let words = text::plan::repeated_question().words();
                return self.finish(words, Some(Reason::RepeatedQuestion));
            }
            let wrong = "the user has already answered this question; use the answer";
            self.transcript.note_failure("ask_user", &question, wrong);
            return self.ask_thought();
        }
        let asked = u32::try_from(self.clarified.len()).unwrap_or(u32::MAX);
        if limits.max_clarifications > 0 && asked >= limits.max_clarifications {
            let words = text::plan::too_many_questions().words();
            let limit = limits.max_clarifications;
            return self.finish(words, Some(Reason::TooManyQuestions { limit }));
        }
        let call = self.name_call("ask_user", json!({ "question": question }).to_string());
        self.phase = PlanPhase::Asking { call, question };
    }

    fn replanned(&mut self, replan: ReplanReply) {
        self.tally.steps += 1;
        self.tally.failure_rounds = 0;
        match replan {
            ReplanReply::Done(response) => {
                for item in &mut self.plan.items {
                    item.state = ItemState::Completed;
                }
                self.finish(Words::Said(response), None);
            }
            ReplanReply::Replanned(tasks) => {
                self.plan.current = tasks.iter().position(|task| !task.completed).unwrap_or(0);
                self.plan.items = tasks.into_iter().map(item).collect();
                self.plan.version += 1;
                self.note = Some(text::progress::replanned_now().words());
                self.ask_thought();
            }
        }
    }

    fn name_call(&mut self, tool: &str, args: String) -> ToolCall {
        self.tally.calls += 1;
        ToolCall { id: CallId::new(format!("p{}", self.tally.calls)), tool: tool.to_owned(), args }
    }

    /// Back to thinking about the current item.
    pub(super) fn ask_thought(&mut self) {
        self.ask_thought_with("");
    }

    /// The same after an action that worked. Small models repeat it without this hint.
    pub(super) fn ask_next_thought(&mut self) {
        self.ask_thought_with("\nlast action: ok");
    }

    fn ask_thought_with(&mut self, hint: &str) {
        let place = self.plan.current.min(self.plan.items.len().saturating_sub(1));
        let item = self.plan.items.get(place).map_or("", |item| item.text.as_str());
        let shown: String = item.chars().take(SHOWN_CHARS).collect();
        let number = place + 1;
        let total = self.plan.items.len();
        let text = format!("phase: thought\ncurrent item {number} of {total}: {shown}{hint}");
        self.transcript.push(Message::user(text));
        self.phase = PlanPhase::Thinking { tries: 0 };
    }

    /// On to looking at the plan again. A model that is told where the plan stands does not have to
    /// work it out.
    pub(super) fn ask_replan(&mut self) {
        let open = self.plan.items.iter().filter(|item| item.state != ItemState::Completed);
        let text = match open.count() {
            0 => "phase: replan\nevery item is done: answer the goal from the observations"
                .to_owned(),
            left => format!("phase: replan\n{left} of {} items left", self.plan.items.len()),
        };
        self.transcript.push(Message::user(text));
        self.phase = PlanPhase::Replanning { tries: 0 };
    }
}

/// An action with a tool that the run has: what is shown is copied.
fn example(frame: &Frame) -> &'static str {
    match frame.tool("shell") {
        Some(_) => {
            r#"{"tool":"shell","input":{"command":"cut -d, -f2 stock.csv | sort -n | head -n 1"}}"#
        }
        None => r#"{"tool":"read_file","input":{"path":"stock.csv"}}"#,
    }
}

fn item(task: ReplannedTask) -> PlanItem {
    let state = if task.completed { ItemState::Completed } else { ItemState::Pending };
    PlanItem::new(task.task, state)
}

/// `input` as the tool's arguments: an object, a string that holds one, or the text argument
/// (PR-15).
fn args_for(spec: &ToolSpec, input: &Value) -> Result<String, String> {
    let args = match input {
        Value::String(text) => match (serde_json::from_str::<Value>(text), &spec.text_arg) {
            (Ok(Value::Object(object)), _) => Value::Object(object),
            (_, Some(name)) => json!({ name: text }),
            (_, None) => return Err("input must be a JSON object with the arguments".to_owned()),
        },
        object => object.clone(),
    };
    let args = args.to_string();
    check_args(spec, &args).map(|_| args)
}
