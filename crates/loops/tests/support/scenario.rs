//! A scenario: what the model replies, what the tools say, and what goes wrong on the way.

use super::frame::{decision_frame, frame};
use super::play::{Played, Player};
use everloop_loops::{DECISION_LOOP, LOOPS};
use everloop_types::journal::{InboxMessage, Switch};
use everloop_types::{
    CallId, Ending, Frame, Limits, Message, ModelError, ModelErrorKind, Observation, Purpose,
    RunId, StopCause, ToolCall, Usage,
};
use serde_json::{Value, json};

/// A script for one run. Playing it twice gives the same trace.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) loop_name: String,
    pub(crate) goal: String,
    pub(crate) frame: Frame,
    pub(crate) replies: Vec<Reply>,
    pub(crate) outcomes: Vec<Observation>,
    pub(crate) letters: Vec<(Point, InboxMessage)>,
    pub(crate) upsets: Upsets,
    usage: Usage,
}

/// What disturbs a run without changing what it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Upsets {
    /// The worker dies once the journal has so many entries.
    pub(crate) crashes: Vec<usize>,
    /// A new worker starts from a snapshot, not from the first entry.
    pub(crate) from_snapshot: bool,
    /// The outcomes of a batch come in another order.
    pub(crate) shuffle: Option<u64>,
    /// The script starts over when it is used up, so that only limits end the run.
    pub(crate) forever: bool,
    /// Approvals, intents and attempts are journaled too.
    pub(crate) thorough: bool,
}

/// A moment between entries, by the number of the batch of effects, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// All of the batch is out.
    During(usize),
    /// The batch has come back, or nothing was planned yet (0).
    After(usize),
}

/// What the model does when it is called.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// It replies.
    Whole(everloop_types::Reply),
    /// It fails for good.
    Fails(ModelError),
    /// It replies what the loop hopes for, chosen by a number.
    Fitting(u32),
    /// A newer program would render another prompt.
    Superseded,
}

impl Scenario {
    pub(crate) fn of(loop_name: &str, goal: &str) -> Self {
        Self {
            loop_name: loop_name.to_owned(),
            goal: goal.to_owned(),
            frame: if loop_name == DECISION_LOOP { decision_frame() } else { frame() },
            replies: Vec::new(),
            outcomes: Vec::new(),
            letters: Vec::new(),
            upsets: Upsets::default(),
            usage: Usage { input_tokens: 10, output_tokens: 5, cached_tokens: 0 },
        }
    }

    /// A decision that may start `agent` and `sleep`.
    pub(crate) fn decision(message: &str) -> Self {
        Self::of(DECISION_LOOP, message)
    }

    /// A decision, as the model writes it.
    pub(crate) fn decides(self, reply: Option<&str>, run: Option<(&str, &str)>) -> Self {
        let input = json!({"goal": "tidy up"});
        let run = run.map(|(run_type, title)| (run_type, title, &input));
        let text = everloop_loops::replies::json_decision(reply, run).text;
        self.says(&text)
    }

    pub(crate) fn react(goal: &str) -> Self {
        Self::of("react", goal)
    }

    pub(crate) fn plan_replan(goal: &str) -> Self {
        assert_eq!(LOOPS[0], "plan-replan");
        Self::of("plan-replan", goal)
    }

    pub(crate) fn plan_execute_think(goal: &str) -> Self {
        Self::of("plan-execute-think", goal)
    }

    /// A whole round's plan, as pairs of tool and arguments.
    pub(crate) fn plans_steps(self, steps: &[(&str, Value)]) -> Self {
        let steps: Vec<Value> = steps
            .iter()
            .map(|(tool, arguments)| json!({"tool": tool, "arguments": arguments}))
            .collect();
        self.calls("plan_tool_call", &json!({"steps": steps, "reasoning": "one after the other"}))
    }

    /// Writes named items, as triples of id, content and status.
    pub(crate) fn lists(self, merge: bool, todos: &[(&str, &str, &str)]) -> Self {
        let todos: Vec<Value> = todos
            .iter()
            .map(|(id, content, status)| json!({"id": id, "content": content, "status": status}))
            .collect();
        self.calls("todo_write", &json!({"todos": todos, "merge": merge}))
    }

    pub(crate) fn marks(self, id: &str, status: &str) -> Self {
        let todo = json!({"id": id, "status": status});
        self.calls("todo_write", &json!({"todos": [todo], "merge": true}))
    }

    pub(crate) fn thinks(self, summary: &str, completed: bool) -> Self {
        let thought = json!({"internal_analysis": "between us", "user_summary": summary,
            "task_completed": completed, "next_steps_preview": "more"});
        self.calls("think", &thought)
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.frame.limits);
        self
    }

    pub(crate) fn without_tool(mut self, name: &str) -> Self {
        self.frame.tools.retain(|tool| tool.name != name);
        self
    }

    pub(crate) fn carried(mut self, messages: Vec<Message>) -> Self {
        self.frame.carried = messages;
        self
    }

    /// Tokens of every reply that is scripted from here on.
    pub(crate) fn costs(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Usage { input_tokens, output_tokens, cached_tokens: 0 };
        self
    }

    // What the model does.

    pub(crate) fn replies(mut self, reply: Reply) -> Self {
        self.replies.push(reply);
        self
    }

    pub(crate) fn says(self, text: &str) -> Self {
        let usage = self.usage;
        self.replies(Reply::Whole(everloop_types::Reply {
            text: text.to_owned(),
            usage,
            ..Default::default()
        }))
    }

    /// Words that run into the length limit.
    pub(crate) fn breaks_off(self, text: &str) -> Self {
        let (usage, stop) = (self.usage, StopCause::Length);
        let text = text.to_owned();
        let reply = everloop_types::Reply { text, usage, stop, ..Default::default() };
        self.replies(Reply::Whole(reply))
    }

    pub(crate) fn calls(self, tool: &str, args: &Value) -> Self {
        self.calls_all(&[(tool, args.clone())])
    }

    pub(crate) fn calls_all(self, calls: &[(&str, Value)]) -> Self {
        let place = self.replies.len() + 1;
        let calls = calls.iter().enumerate().map(|(n, (tool, args))| {
            (format!("c{place}-{n}"), (*tool).to_owned(), args.to_string())
        });
        self.calls_raw(calls.collect())
    }

    /// Calls with ids, names and arguments just as they are given.
    pub(crate) fn calls_raw(self, calls: Vec<(String, String, String)>) -> Self {
        let calls =
            calls.into_iter().map(|(id, tool, args)| ToolCall { id: CallId::new(id), tool, args });
        let reply = everloop_types::Reply {
            calls: calls.collect(),
            usage: self.usage,
            stop: StopCause::ToolCalls,
            ..Default::default()
        };
        self.replies(Reply::Whole(reply))
    }

    pub(crate) fn fails(self, kind: ModelErrorKind, detail: &str) -> Self {
        self.replies(Reply::Fails(ModelError::new(kind, detail)))
    }

    pub(crate) fn plans(self, items: &[&str]) -> Self {
        self.says(&json!({"status": "planned", "plan": items}).to_string())
    }

    pub(crate) fn acts(self, tool: &str, input: &Value) -> Self {
        let action = json!({"tool": tool, "input": input});
        self.says(
            &json!({"status": "continue", "current_step": "go", "next_action": action}).to_string(),
        )
    }

    pub(crate) fn closes_item(self, response: Option<&str>) -> Self {
        self.says(
            &json!({"status": "done", "current_step": "", "next_action": null,
            "question": null, "response": response})
            .to_string(),
        )
    }

    pub(crate) fn asks(self, question: &str) -> Self {
        self.says(&json!({"status": "ask_user", "question": question}).to_string())
    }

    pub(crate) fn replans(self, tasks: &[(&str, bool)]) -> Self {
        let plan: Vec<Value> = tasks
            .iter()
            .map(|(task, completed)| json!({"task": task, "completed": completed}))
            .collect();
        self.says(&json!({"status": "replanned", "plan": plan}).to_string())
    }

    pub(crate) fn concludes(self, response: &str) -> Self {
        self.says(&json!({"status": "done", "response": response}).to_string())
    }

    // What the tools and people say, in the order in which their calls are planned.

    pub(crate) fn sees(self, text: &str) -> Self {
        self.observes(Ending::Ok, text)
    }

    pub(crate) fn observes(mut self, ending: Ending, text: &str) -> Self {
        self.outcomes.push(Observation { ending, text: text.to_owned() });
        self
    }

    // What happens meanwhile.

    pub(crate) fn letter(mut self, point: Point, letter: InboxMessage) -> Self {
        self.letters.push((point, letter));
        self
    }

    pub(crate) fn steers(self, point: Point, text: &str) -> Self {
        self.letter(point, InboxMessage::Steer { text: text.to_owned() })
    }

    pub(crate) fn wants_answer(self, point: Point) -> Self {
        self.letter(point, InboxMessage::AnswerNow)
    }

    pub(crate) fn cancels(self, point: Point) -> Self {
        self.letter(point, InboxMessage::Cancel { by: "user".to_owned() })
    }

    pub(crate) fn switches(self, point: Point, loop_name: &str) -> Self {
        let (to, frame) = (RunId::new("run_2"), serde_json::to_value(&self.frame));
        let frame = frame.expect("our own types always have a JSON form");
        let (loop_name, context) = (loop_name.to_owned(), String::new());
        self.letter(point, InboxMessage::Switch(Box::new(Switch { to, loop_name, frame, context })))
    }

    pub(crate) fn crash_after(mut self, entries: usize) -> Self {
        self.upsets.crashes.push(entries);
        self
    }

    pub(crate) fn by_snapshots(mut self) -> Self {
        self.upsets.from_snapshot = true;
        self
    }

    pub(crate) fn shuffled(mut self, seed: u64) -> Self {
        self.upsets.shuffle = Some(seed);
        self
    }

    pub(crate) fn forever(mut self) -> Self {
        self.upsets.forever = true;
        self
    }

    pub(crate) fn thorough(mut self) -> Self {
        self.upsets.thorough = true;
        self
    }

    /// Plays the script to the run's end.
    pub(crate) fn play(self) -> Played {
        Player::new(self).play()
    }

    /// The reply to the `n`th model call, from 0.
    pub(crate) fn reply(&self, n: usize, purpose: Purpose) -> Reply {
        let scripted = match self.upsets.forever && !self.replies.is_empty() {
            true => self.replies.get(n % self.replies.len()),
            false => self.replies.get(n),
        };
        match scripted {
            Some(Reply::Fitting(choice)) => Reply::Whole(self.fitting(purpose, *choice)),
            // Programs change now and then, not at every call.
            Some(Reply::Superseded) if n >= self.replies.len() => {
                Reply::Whole(self.fitting(purpose, 0))
            }
            Some(reply) => reply.clone(),
            None => panic!("the script has no reply for model call {} ({purpose:?})", n + 1),
        }
    }

    /// The outcome of the `n`th tool call, from 0.
    pub(crate) fn outcome(&self, n: usize, tool: &str) -> Observation {
        let scripted = match self.upsets.forever && !self.outcomes.is_empty() {
            true => self.outcomes.get(n % self.outcomes.len()),
            false => self.outcomes.get(n),
        };
        scripted.cloned().unwrap_or_else(|| panic!("no outcome for tool call {} ({tool})", n + 1))
    }

    fn keeps_list(&self) -> bool {
        ["tool-driven", "task-driven", "staged", "hybrid"].contains(&self.loop_name.as_str())
    }

    /// The call that a loop forces, where it does.
    fn forced(&self, purpose: Purpose, choice: u32) -> Option<(&'static str, Value)> {
        let step = |n: u32| match n % 4 {
            0 => json!({"tool": "write_file",
                "arguments": {"path": "b", "content": {"$ref": "steps[0].result"}}}),
            1 => json!({"tool": "ask_user", "arguments": {"question": "which?"}}),
            _ => json!({"tool": "read_file", "arguments": {"path": format!("notes-{n}")},
                "independent": n.is_multiple_of(2)}),
        };
        let steps: Vec<Value> = (0..choice % 6).map(|n| step(choice.wrapping_add(n))).collect();
        let first = json!({"tool": "read_file", "arguments": {"path": "a"}, "independent": true});
        let steps = [vec![first], steps].concat();
        match (self.loop_name.as_str(), purpose) {
            (_, Purpose::Plan) if self.keeps_list() => {
                let todo = |id: &str| json!({"id": id, "content": "do", "status": "pending"});
                let todos: Vec<Value> = ["0", "1", "2"].map(todo).to_vec();
                let todos = todos[..(choice % 4).min(3) as usize].to_vec();
                Some(("todo_write", json!({"todos": todos, "merge": false})))
            }
            ("plan-execute-think", Purpose::Plan) => {
                Some(("plan_tool_call", json!({"steps": steps, "reasoning": "so"})))
            }
            (_, Purpose::Think) if choice % 5 == 1 && self.keeps_list() => {
                let status = ["pending", "in_progress", "completed"][(choice / 5 % 3) as usize];
                let todo =
                    json!({"id": (choice % 2).to_string(), "content": "a", "status": status});
                Some(("todo_write", json!({"todos": [todo], "merge": choice.is_multiple_of(2)})))
            }
            ("plan-execute-think", Purpose::Think) => Some((
                "think",
                json!({
                "user_summary": "so far", "task_completed": choice.is_multiple_of(3)}),
            )),
            _ => None,
        }
    }

    /// The only place that knows how a loop likes its replies.
    fn fitting(&self, purpose: Purpose, choice: u32) -> everloop_types::Reply {
        let name = format!("notes-{}.txt", choice % 3);
        if let Some((tool, args)) = self.forced(purpose, choice) {
            let id = CallId::new(format!("f{}", choice % 2));
            let call = ToolCall { id, tool: tool.to_owned(), args: args.to_string() };
            let (calls, usage) = (vec![call], self.usage);
            return everloop_types::Reply { calls, usage, ..Default::default() };
        }
        let json = match (self.loop_name.as_str(), purpose) {
            ("autonomous", Purpose::Think) if choice.is_multiple_of(7) => {
                json!("<think>hm</think><final>the answer</final>")
            }
            ("autonomous", Purpose::Think) => {
                let call = format!("<tool name=\"read_file\">{{\"path\":\"{name}\"}}</tool>");
                json!(call.repeat((choice % 3 + 1) as usize))
            }
            ("decision", Purpose::Think) => {
                let input = json!({"goal": name});
                let run = ["agent", "fly"][(choice / 4 % 2) as usize];
                let run = (!choice.is_multiple_of(4)).then_some((run, "a task", &input));
                let reply = (choice % 4 != 1).then_some("at once");
                json!(everloop_loops::replies::json_decision(reply, run).text)
            }
            (_, Purpose::Plan) => json!({"status": "planned", "plan": ["first", "second"]}),
            (_, Purpose::Close | Purpose::Compact) => json!("an honest account"),
            (_, Purpose::Replan) if choice.is_multiple_of(3) => {
                json!({"status": "done", "response": "finished"})
            }
            (_, Purpose::Replan) => json!({"status": "replanned", "plan":
                [{"task": "first", "completed": true}, {"task": "next", "completed": false}]}),
            ("plan-replan", Purpose::Think) => match choice % 5 {
                0 => json!({"status": "done", "response": "so far"}),
                1 => json!({"status": "ask_user", "question": format!("which, {choice}?")}),
                2 => json!({"status": "continue",
                    "next_action": {"tool": "todo", "input": "/todo list"}}),
                _ => json!({"status": "continue",
                    "next_action": {"tool": "read_file", "input": {"path": name}}}),
            },
            (_, Purpose::Think) if choice.is_multiple_of(7) => json!("the answer"),
            (_, Purpose::Think) => {
                let call = |n: u32| ToolCall {
                    id: CallId::new(format!("c{n}")),
                    tool: "read_file".to_owned(),
                    args: json!({"path": name}).to_string(),
                };
                return everloop_types::Reply {
                    calls: (0..choice % 3 + 1).map(call).collect(),
                    usage: self.usage,
                    ..Default::default()
                };
            }
        };
        let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        everloop_types::Reply { text, usage: self.usage, ..Default::default() }
    }
}
