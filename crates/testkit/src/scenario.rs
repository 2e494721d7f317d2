//! Scenarios: a loop, a goal, a script, and a person who answers.

mod errand;
mod family;
mod people;
mod tasks;

pub(crate) use errand::worked;
pub use errand::{errand, heir_of};
pub use family::families;
pub use tasks::tasks;

use everloop_models::ScriptedReply;
use everloop_types::{LabelGuard, Limits, Policy, Status, TaskSpec};
use serde_json::{Value, json};

/// One story that is played undisturbed first, and then disturbed at every point.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The name in failure messages.
    pub name: &'static str,
    /// The loop that decides.
    pub loop_name: &'static str,
    /// The model's replies in order.
    pub script: Vec<ScriptedReply>,
    /// What the person answers, to any question.
    pub answer: &'static str,
    /// How it ends when nothing disturbs it.
    pub ends: Status,
    /// The limits of the run.
    pub limits: Limits,
    /// What it may do without asking.
    pub policy: Policy,
    /// The model's replies to child runs, by a word of their task.
    pub helpers: Vec<(&'static str, Vec<ScriptedReply>)>,
    /// The one call of a run of a fixed type.
    pub task: Option<TaskSpec>,
}

impl Scenario {
    /// A scenario under `react`.
    #[must_use]
    pub fn react(name: &'static str, script: Vec<ScriptedReply>) -> Self {
        Self::new(name, "react", script)
    }

    /// A scenario under `plan-replan`.
    #[must_use]
    pub fn plan_replan(name: &'static str, script: Vec<ScriptedReply>) -> Self {
        Self::new(name, "plan-replan", script)
    }

    fn new(name: &'static str, loop_name: &'static str, script: Vec<ScriptedReply>) -> Self {
        let (ends, limits) = (Status::Succeeded, Limits::default());
        let (policy, helpers) = (Policy::default(), Vec::new());
        let (answer, task) = ("yes", None);
        Self { name, loop_name, script, answer, ends, limits, policy, helpers, task }
    }

    fn answering(mut self, answer: &'static str) -> Self {
        self.answer = answer;
        self
    }

    /// The simulated tools declare nothing, so each call adds both labels and counts as outgoing.
    fn guarded(mut self) -> Self {
        self.policy.label_guard = Some(LabelGuard::Ask);
        self
    }

    fn ending(mut self, ends: Status) -> Self {
        self.ends = ends;
        self
    }

    fn max_steps(mut self, max_steps: u32) -> Self {
        self.limits.steps.max_steps = max_steps;
        self
    }

    fn compacting_at(mut self, tokens: u64) -> Self {
        self.limits.context.tokens = tokens;
        self
    }
}

fn call(tool: &str, what: &str) -> ScriptedReply {
    ScriptedReply::calls(tool, json!({ "what": what }))
}

fn says(value: Value) -> ScriptedReply {
    ScriptedReply::says(value.to_string())
}

fn plan(items: &[&str]) -> ScriptedReply {
    says(json!({"status": "planned", "plan": items}))
}

fn act(tool: &str, what: &str) -> ScriptedReply {
    says(json!({"status": "continue", "current_step": "act", "question": null, "response": null,
                "next_action": {"tool": tool, "input": {"what": what}}}))
}

fn item_done(response: &str) -> ScriptedReply {
    says(json!({"status": "done", "current_step": "done", "next_action": null, "question": null,
                "response": response}))
}

fn asks(question: &str) -> ScriptedReply {
    says(json!({"status": "ask_user", "current_step": "ask", "next_action": null,
                "question": question, "response": null}))
}

fn goal_done(response: &str) -> ScriptedReply {
    says(json!({"status": "done", "response": response}))
}

/// A decision, as the model writes it.
fn decides(reply: Option<&str>, title: Option<&str>) -> ScriptedReply {
    let input = json!({"goal": "go to the forge"});
    let run = title.map(|title| ("agent", title, &input));
    ScriptedReply::says(everloop_loops::replies::json_decision(reply, run).text)
}

/// Decisions on messages: one replies, one starts a task, and each end is followed up.
#[must_use]
pub fn decisions() -> Vec<Scenario> {
    let task = vec![call("strike", "iron"), ScriptedReply::says("struck in the forge")];
    let ended = vec![decides(Some("All is forged."), None)];
    let of = |name, script| Scenario::new(name, everloop_loops::DECISION_LOOP, script);
    let starts = |name, script| Scenario {
        helpers: vec![("has ended", ended.clone()), ("forge", task.clone())],
        ..of(name, script)
    };
    vec![
        of("a reply and nothing else", vec![decides(Some("hello"), None)]),
        of(
            "nothing that is a decision",
            vec![
                ScriptedReply::says("Sure!"),
                ScriptedReply::says("{}"),
                ScriptedReply::says("I will."),
            ],
        )
        .ending(Status::Failed),
        starts("a task is started", vec![decides(None, Some("go to the forge"))]),
        starts(
            "a reply and a task after a word too much",
            vec![
                ScriptedReply::says("At once!"),
                decides(Some("At once."), Some("go to the forge")),
            ],
        ),
    ]
}

/// Every scenario of every loop.
#[must_use]
pub fn scenarios() -> Vec<Scenario> {
    let older = [react_acts(), people::react(), react_in_trouble(), plan_replan()];
    [older.concat(), rounds(), lists()].concat()
}

fn react_acts() -> Vec<Scenario> {
    let flood = (0..3).fold(call("look", "a"), |reply, n| {
        reply.and_calls("look", json!({"what": format!("thing {n}")}))
    });
    vec![
        Scenario::react("an answer at once", vec![ScriptedReply::says("hello")]),
        Scenario::react(
            "one dangerous act",
            vec![call("strike", "anvil"), ScriptedReply::says("struck")],
        ),
        Scenario::react(
            "every class in one batch",
            vec![
                call("look", "sky")
                    .and_calls("strike", json!({"what": "anvil"}))
                    .and_calls("put", json!({"what": "cup"}))
                    .and_calls("post", json!({"what": "letter"}))
                    .and_calls("look", json!({"what": "sea"})),
                ScriptedReply::says("all done"),
            ],
        ),
        Scenario::react(
            "act after act",
            vec![
                call("strike", "one"),
                call("put", "two"),
                call("strike", "three"),
                call("post", "four"),
                ScriptedReply::says("four things done"),
            ],
        ),
        Scenario::react(
            "probes that say each of three things",
            vec![
                call("put", "cup").and_calls("toss", json!({"what": "coin"})),
                call("put", "plate"),
                ScriptedReply::says("laid and tossed"),
            ],
        ),
        Scenario::react("looks at many things", vec![flood, ScriptedReply::says("seen")]),
    ]
}

fn react_in_trouble() -> Vec<Scenario> {
    vec![
        Scenario::react(
            "unknown tool and bad arguments",
            vec![
                ScriptedReply::calls("fly", json!({})).and_calls("strike", json!({"wrong": 1})),
                call("miss", "unicorn"),
                ScriptedReply::says("no luck"),
            ],
        ),
        Scenario::react(
            "keeps a list",
            vec![
                ScriptedReply::calls(
                    "todo_write",
                    json!({"items": [
                    {"text": "strike", "state": "in_progress"}]}),
                ),
                call("strike", "list"),
                ScriptedReply::says("listed"),
            ],
        ),
        Scenario::react(
            "reaches its limit",
            vec![
                call("look", "1"),
                call("look", "2"),
                call("look", "3"),
                ScriptedReply::says("last"),
            ],
        )
        .max_steps(3)
        .ending(Status::Failed),
        Scenario::react(
            "the model stumbles",
            vec![
                call("strike", "once").failing(everloop_types::ModelErrorKind::Server),
                ScriptedReply::says("done").failing(everloop_types::ModelErrorKind::Cut),
            ],
        ),
        Scenario::react(
            "shortens its memory",
            vec![
                call("look", &"a".repeat(900)),
                call("strike", &"b".repeat(900)),
                call("look", &"c".repeat(900)),
                call("strike", &"d".repeat(900)),
                ScriptedReply::says("never said: the memory is shortened before"),
            ],
        )
        .compacting_at(1_500),
    ]
}

fn plan_replan() -> Vec<Scenario> {
    vec![
        Scenario::plan_replan(
            "plain chat",
            vec![plan(&["answer"]), item_done("hi"), goal_done("hello")],
        ),
        Scenario::plan_replan(
            "two items with acts",
            vec![
                plan(&["strike it", "put it"]),
                act("strike", "iron"),
                item_done("struck"),
                says(json!({"status": "replanned", "plan": [
                    {"task": "strike it", "completed": true},
                    {"task": "put it", "completed": false}]})),
                act("put", "iron"),
                item_done("put"),
                goal_done("both done"),
            ],
        ),
        Scenario::plan_replan(
            "asks and goes on",
            vec![
                plan(&["ask", "act"]),
                asks("which one?"),
                says(json!({"status": "replanned", "plan": [
                    {"task": "ask", "completed": true}, {"task": "act", "completed": false}]})),
                act("launch", "that one"),
                item_done("launched"),
                goal_done("that one flew"),
            ],
        ),
        Scenario::plan_replan(
            "breaks its contract and mends it",
            vec![
                ScriptedReply::says("I will plan!"),
                plan(&["strike"]),
                ScriptedReply::says("{}"),
                act("strike", "late"),
                item_done("done"),
                goal_done("mended"),
            ],
        ),
        Scenario::plan_replan(
            "never keeps its contract",
            vec![ScriptedReply::says("no"), ScriptedReply::says("no"), ScriptedReply::says("no")],
        )
        .ending(Status::Failed),
        Scenario::plan_replan(
            "reaches its limit",
            vec![plan(&["look"]), act("look", "1"), act("strike", "2"), act("look", "3")],
        )
        .max_steps(4)
        .ending(Status::Failed),
    ]
}

fn steps(steps: &[(&str, Value)]) -> ScriptedReply {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(tool, what)| json!({"tool": tool, "arguments": {"what": what}}))
        .collect();
    ScriptedReply::calls("plan_tool_call", json!({"steps": steps, "reasoning": "as asked"}))
}

fn thinks(summary: &str, completed: bool) -> ScriptedReply {
    ScriptedReply::calls("think", json!({"user_summary": summary, "task_completed": completed}))
}

fn rounds() -> Vec<Scenario> {
    let name = "plan-execute-think";
    vec![
        Scenario::new(
            "two rounds with a reference",
            name,
            vec![
                steps(&[
                    ("look", json!("sky")),
                    ("strike", json!("anvil")),
                    ("put", json!({"$ref": "steps[1].result"})),
                ]),
                thinks("struck and put", false),
                steps(&[("post", json!("letter")), ("launch", json!("rocket"))]),
                thinks("all done", true),
            ],
        ),
        Scenario::new(
            "a refused plan and a failed step",
            name,
            vec![
                steps(&[("fly", json!("home"))]),
                steps(&[("strike", json!("one")), ("miss", json!("x")), ("strike", json!("two"))]),
                thinks("one is struck, two is not", true),
            ],
        ),
    ]
}

fn lists_one() -> ScriptedReply {
    let todo = json!({"id": "1", "content": "strike", "status": "pending"});
    ScriptedReply::calls("todo_write", json!({"todos": [todo], "merge": false}))
}

fn marks_one(status: &str) -> ScriptedReply {
    let todo = json!({"id": "1", "status": status});
    ScriptedReply::calls("todo_write", json!({"todos": [todo], "merge": true}))
}

fn lists() -> Vec<Scenario> {
    let strike = "<tool name=\"strike\">{\"what\":\"iron\"}</tool>";
    vec![
        Scenario::new(
            "keeps a list and answers too early",
            "tool-driven",
            vec![
                lists_one(),
                call("strike", "iron").and_calls("todo_write", json!({"todos": [], "merge": true})),
                ScriptedReply::says("done"),
                marks_one("completed"),
                ScriptedReply::says("struck"),
            ],
        ),
        Scenario::new(
            "walks the list",
            "task-driven",
            vec![
                lists_one(),
                call("strike", "iron"),
                ScriptedReply::says("struck it"),
                marks_one("completed"),
                ScriptedReply::says("struck"),
            ],
        ),
        Scenario::new(
            "three stages",
            "staged",
            vec![
                lists_one(),
                call("put", "iron"),
                ScriptedReply::says("put it"),
                ScriptedReply::says("put"),
            ],
        ),
        Scenario::new(
            "free within the work",
            "hybrid",
            vec![
                lists_one(),
                call("strike", "iron").and_calls("launch", json!({"what": "rocket"})),
                ScriptedReply::says("finished"),
                ScriptedReply::says("struck and launched"),
            ],
        ),
        Scenario::new(
            "speaks in tags",
            "autonomous",
            vec![
                ScriptedReply::says("I strike."),
                ScriptedReply::says(format!("<think>hm</think>{strike}")),
                ScriptedReply::says("<final>struck</final>"),
            ],
        ),
    ]
}
