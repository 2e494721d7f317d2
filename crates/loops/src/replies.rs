//! What a model has to answer under each loop: the reply forms, and a sample task in each of them.
//!
//! Tests, the tour and the simulated models of the comparison use these, so that each form is
//! written once. Each loop names the sample that fits it in its [`LoopSpec`](crate::LoopSpec).

use crate::plan_execute_think::{PLAN, THINK};
use everloop_types::{CallId, Reply, StopCause, TODO_WRITE, ToolCall};
use serde_json::{Value, json};

/// The tool that a model is forced to call to plan a round.
pub const PLAN_ROUND: &str = PLAN;
/// The tool that a model is forced to call to think about a round.
pub const THINK_ROUND: &str = THINK;

/// The tool with which a loop asks the user.
const ASK_USER: &str = "ask_user";

/// A tool and its arguments.
pub type ToolUse = (String, Value);

/// A task as a model might do it: item by item, then the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleTask {
    /// Its parts, in order.
    pub items: Vec<SampleItem>,
    /// The last words.
    pub answer: String,
}

/// One part of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleItem {
    /// What is to be done.
    pub text: String,
    /// The calls, in batches that are made together where the loop can.
    pub batches: Vec<Vec<ToolUse>>,
    /// What came of it.
    pub result: String,
}

impl SampleTask {
    /// A task of one part, whose result is its answer.
    #[must_use]
    pub fn single(text: &str, batches: Vec<Vec<ToolUse>>, answer: &str) -> Self {
        let item = SampleItem { text: text.to_owned(), batches, result: answer.to_owned() };
        Self { items: vec![item], answer: answer.to_owned() }
    }

    fn batches(&self) -> impl Iterator<Item = &Vec<ToolUse>> {
        self.items.iter().flat_map(|item| &item.batches)
    }

    /// The plan with its first items completed.
    fn plan(&self, completed: usize) -> Vec<(String, bool)> {
        let items = self.items.iter().enumerate();
        items.map(|(place, item)| (item.text.clone(), place < completed)).collect()
    }

    fn pending_list(&self) -> Reply {
        let ids: Vec<String> = (1..=self.items.len()).map(|n| n.to_string()).collect();
        let items = ids.iter().zip(&self.items);
        let items: Vec<(&str, &str, &str)> =
            items.map(|(id, item)| (id.as_str(), item.text.as_str(), "pending")).collect();
        call_tools(&[(TODO_WRITE.to_owned(), list_args(&items))])
    }
}

/// Words.
#[must_use]
pub fn say(text: impl Into<String>) -> Reply {
    Reply { text: text.into(), ..Reply::default() }
}

/// Tool calls of the provider. The runtime makes their ids unique.
#[must_use]
pub fn call_tools(calls: &[ToolUse]) -> Reply {
    let call = |(tool, args): &ToolUse| ToolCall {
        id: CallId::new("call"),
        tool: tool.clone(),
        args: args.to_string(),
    };
    let calls = calls.iter().map(call).collect();
    Reply { calls, stop: StopCause::ToolCalls, ..Reply::default() }
}

/// The arguments of `todo_write` for a whole list: id, text and state of each item.
#[must_use]
pub fn list_args(items: &[(&str, &str, &str)]) -> Value {
    let todo = |item: &(&str, &str, &str)| {
        let (id, content, status) = item;
        json!({ "id": id, "content": content, "status": status })
    };
    json!({ "todos": items.iter().map(todo).collect::<Vec<_>>(), "merge": false })
}

/// The arguments of `todo_write` that change the states of these items.
#[must_use]
pub fn mark_args(items: &[(&str, &str)]) -> Value {
    let todo = |(id, status): &(&str, &str)| json!({ "id": id, "status": status });
    json!({ "todos": items.iter().map(todo).collect::<Vec<_>>(), "merge": true })
}

/// JSON: a plan.
#[must_use]
pub fn json_plan(items: &[String]) -> Reply {
    object(&json!({ "status": "planned", "plan": items }))
}

/// JSON: the next action.
#[must_use]
pub fn json_action(step: &str, tool: &str, input: &Value) -> Reply {
    let action = json!({ "tool": tool, "input": input });
    object(&json!({ "status": "continue", "current_step": step, "next_action": action }))
}

/// JSON: a question to the user.
#[must_use]
pub fn json_question(step: &str, question: &str) -> Reply {
    object(&json!({ "status": "ask_user", "current_step": step, "question": question }))
}

/// JSON: the end of an item.
#[must_use]
pub fn json_item_done(step: &str, response: &str) -> Reply {
    object(&json!({ "status": "done", "current_step": step, "response": response }))
}

/// JSON: the plan as it is now, each item with whether it is completed.
#[must_use]
pub fn json_replan(items: &[(String, bool)]) -> Reply {
    let task = |(task, completed): &(String, bool)| json!({ "task": task, "completed": completed });
    let plan: Vec<Value> = items.iter().map(task).collect();
    object(&json!({ "status": "replanned", "plan": plan }))
}

/// JSON: the answer.
#[must_use]
pub fn json_answer(response: &str) -> Reply {
    object(&json!({ "status": "done", "response": response }))
}

/// JSON: a decision to reply, or to start a run of a type with a title and an input.
#[must_use]
pub fn json_decision(reply: Option<&str>, run: Option<(&str, &str, &Value)>) -> Reply {
    let decision = match (reply, run) {
        (Some(_), Some(_)) => "reply_and_run",
        (None, Some(_)) => "run",
        (_, None) => "reply",
    };
    let mut value = json!({ "decision": decision, "confidence": 0.9, "reason": "as asked" });
    if let Some(content) = reply {
        value["reply"] = json!({ "content": content });
    }
    if let Some((run_type, title, input)) = run {
        value["run"] =
            json!({ "type": run_type, "title": title, "conversation_id": null, "input": input });
    }
    object(&value)
}

fn object(value: &Value) -> Reply {
    say(value.to_string())
}

/// Rounds: a step of a plan. One that is independent may run beside others.
#[must_use]
pub fn round_step(tool: &str, args: &Value, independent: bool) -> Value {
    if independent {
        json!({ "tool": tool, "arguments": args, "independent": true })
    } else {
        json!({ "tool": tool, "arguments": args })
    }
}

/// Rounds: the plan of one round.
#[must_use]
pub fn round_plan(steps: &[Value], reasoning: &str) -> Reply {
    let args = json!({ "steps": steps, "reasoning": reasoning });
    call_tools(&[(PLAN_ROUND.to_owned(), args)])
}

/// Rounds: what a round has brought, and whether the task is completed.
#[must_use]
pub fn round_thought(summary: &str, completed: bool) -> Reply {
    let args = json!({ "user_summary": summary, "task_completed": completed });
    call_tools(&[(THINK_ROUND.to_owned(), args)])
}

/// Tags: calls, one a line.
#[must_use]
pub fn tagged_calls(calls: &[ToolUse]) -> Reply {
    let calls = calls.iter().map(|(tool, args)| format!("<tool name=\"{tool}\">{args}</tool>"));
    say(calls.collect::<Vec<_>>().join("\n"))
}

/// Tags: the answer.
#[must_use]
pub fn tagged_answer(text: &str) -> Reply {
    say(format!("<final>{text}</final>"))
}

/// Calls, then the answer.
pub(crate) fn freely(task: &SampleTask) -> Vec<Reply> {
    task.batches().map(|batch| call_tools(batch)).chain([say(&*task.answer)]).collect()
}

/// A list whose items the model closes itself.
pub(crate) fn closing_items(task: &SampleTask) -> Vec<Reply> {
    let mut replies = vec![task.pending_list()];
    for (number, item) in (1..).zip(&task.items) {
        let number: u32 = number;
        replies.extend(item.batches.iter().map(|batch| call_tools(batch)));
        let closed = mark_args(&[(&number.to_string(), "completed")]);
        replies.push(call_tools(&[(TODO_WRITE.to_owned(), closed)]));
    }
    replies.push(say(&*task.answer));
    replies
}

/// A list whose items the loop closes, and a report.
pub(crate) fn item_by_item(task: &SampleTask) -> Vec<Reply> {
    let mut replies = vec![task.pending_list()];
    for item in &task.items {
        replies.extend(item.batches.iter().map(|batch| call_tools(batch)));
        replies.push(say(&*item.result));
    }
    replies.push(say(&*task.answer));
    replies
}

/// A list whose items the model closes itself, and a report.
pub(crate) fn closing_items_and_reporting(task: &SampleTask) -> Vec<Reply> {
    let mut replies = closing_items(task);
    let result = task.items.last().map(|item| item.result.clone()).unwrap_or_default();
    replies.insert(replies.len() - 1, say(result));
    replies
}

/// A round for each batch.
pub(crate) fn round_by_round(task: &SampleTask) -> Vec<Reply> {
    let batches: Vec<&Vec<ToolUse>> = task.batches().collect();
    let round = |(place, batch): (usize, &&Vec<ToolUse>)| {
        let steps: Vec<Value> =
            batch.iter().map(|(tool, args)| round_step(tool, args, false)).collect();
        let completed = place + 1 == batches.len();
        [round_plan(&steps, "as asked"), round_thought(&task.answer, completed)]
    };
    batches.iter().enumerate().flat_map(round).collect()
}

/// A decision can only say the answer.
pub(crate) fn in_decision(task: &SampleTask) -> Vec<Reply> {
    vec![json_decision(Some(&task.answer), None)]
}

/// Tagged calls, then the tagged answer.
pub(crate) fn in_tags(task: &SampleTask) -> Vec<Reply> {
    task.batches().map(|batch| tagged_calls(batch)).chain([tagged_answer(&task.answer)]).collect()
}

/// A plan, and for each item its actions one by one. A question is followed by a new plan.
pub(crate) fn in_json(task: &SampleTask) -> Vec<Reply> {
    let texts: Vec<String> = task.items.iter().map(|item| item.text.clone()).collect();
    let mut replies = vec![json_plan(&texts)];
    for (place, item) in task.items.iter().enumerate() {
        for (tool, args) in item.batches.iter().flatten() {
            if tool == ASK_USER {
                let question = args["question"].as_str().unwrap_or_default();
                replies.push(json_question(&item.text, question));
                replies.push(json_replan(&task.plan(place)));
            } else {
                replies.push(json_action(&item.text, tool, args));
            }
        }
        replies.push(json_item_done(&item.text, &item.result));
        if place + 1 < task.items.len() {
            replies.push(json_replan(&task.plan(place + 1)));
        }
    }
    replies.push(json_answer(&task.answer));
    replies
}
