//! A small world in memory that answers as the real tools do.

use everloop_types::{
    Approval, EffectClass, Frame, Handling, Lang, Limits, ModelChoice, Observation, OnUnknown,
    Policy, ToolCall, ToolSpec,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Files, todos, appointments, pages, and a person with answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) files: BTreeMap<String, String>,
    /// Text, due date, whether it is done; numbered from 1.
    pub(crate) todos: Vec<(String, String, bool)>,
    pub(crate) schedule: Vec<String>,
    pub(crate) answers: BTreeMap<String, String>,
    /// How often searches fail before one works.
    pub(crate) search_failures: u32,
    /// Everything that was called, in order.
    pub(crate) calls: Vec<String>,
}

impl World {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self { files: files.collect(), ..Self::default() }
    }

    pub(crate) fn file(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    pub(crate) fn count(&self, call: &str) -> usize {
        self.calls.iter().filter(|known| known.starts_with(call)).count()
    }

    pub(crate) fn answer(&mut self, call: &ToolCall) -> Observation {
        self.calls.push(format!("{} {}", call.tool, call.args));
        let args: Value = serde_json::from_str(&call.args).expect("arguments were checked");
        let arg = |name: &str| args[name].as_str().expect("arguments were checked").to_owned();
        match call.tool.as_str() {
            "read_file" => match self.files.get(&arg("path")) {
                Some(text) => Observation::ok(text),
                None => Observation::error(format!("{} does not exist", arg("path"))),
            },
            "write_file" => {
                let (path, content) = (arg("path"), arg("content"));
                let seen = format!("wrote {} bytes to {path}", content.len());
                self.files.insert(path, content);
                Observation::ok(seen)
            }
            "list_dir" => {
                let rows = self.files.iter();
                let rows = rows.map(|(name, text)| format!("{name} ({} bytes)", text.len()));
                Observation::ok(rows.collect::<Vec<_>>().join("\n"))
            }
            "shell" => self.run(&arg("command")),
            "internet_search" => self.search(&arg("query")),
            "todo" => self.todo(&arg("command")),
            "schedule" => {
                self.schedule.push(arg("command"));
                Observation::ok(format!("Added entry #{}: x", self.schedule.len()))
            }
            "ask_user" => match self.answers.get(&arg("question")) {
                Some(answer) => Observation::ok(answer),
                None => Observation::ok("I do not know"),
            },
            other => Observation::error(format!("{other} is broken")),
        }
    }

    /// `append FILE LINE` adds a line, `fail` never works, `say TEXT` prints.
    fn run(&mut self, command: &str) -> Observation {
        let words: Vec<&str> = command.splitn(3, ' ').collect();
        match words.as_slice() {
            ["append", file, line] => {
                let text = self.files.entry((*file).to_owned()).or_default();
                text.push_str(&format!("{line}\n"));
                Observation::ok("[exit code 0]")
            }
            ["say", ..] => Observation::ok(format!("{}\n[exit code 0]", &command[4..])),
            _ => Observation::error("it broke\n[exit code 1]"),
        }
    }

    fn search(&mut self, query: &str) -> Observation {
        if self.search_failures > 0 {
            self.search_failures -= 1;
            return Observation::error("search failed: http: engine answered with status 503");
        }
        Observation::ok(format!(
            "1. About {query}\nWhat there is.\nhttps://pages.example/first\n\n2. More\n\
             https://pages.example/second"
        ))
    }

    fn todo(&mut self, command: &str) -> Observation {
        if let Some(rest) = command.strip_prefix("/todo add \"") {
            let (text, rest) = rest.split_once('"').expect("a text in quotes");
            let due = rest.trim().strip_prefix("--due ").unwrap_or_default();
            self.todos.push((text.to_owned(), due.to_owned(), false));
            let number = self.todos.len();
            let details = if due.is_empty() { "" } else { " (due 2030-05-06 23:59)" };
            return Observation::ok(format!("Added todo #{number}: {text}{details}"));
        }
        if let Some(number) = command.strip_prefix("/todo done ") {
            let number: usize = number.parse().expect("a number");
            let Some(todo) = self.todos.get_mut(number.wrapping_sub(1)) else {
                return Observation::error(format!("There is no todo #{number}"));
            };
            todo.2 = true;
            return Observation::ok(format!("Done: todo #{number}: {}", todo.0));
        }
        let rows = self.todos.iter().enumerate().map(|(place, (text, _, done))| {
            let state = if *done { "done" } else { "open" };
            format!("{}   {state}   -         -    -         default  {text}", place + 1)
        });
        let head = "ID  State  Priority  Due  Reminder  Tag      Text".to_owned();
        Observation::ok([head].into_iter().chain(rows).collect::<Vec<_>>().join("\n"))
    }
}

pub(crate) fn frame() -> Frame {
    Frame {
        system: "You are a careful helper.".to_owned(),
        tools: tools(),
        limits: Limits::default(),
        policy: Policy::default(),
        model: ModelChoice { name: "simulated/x".to_owned(), ..ModelChoice::default() },
        language: Lang::En,
        time_zone: "UTC".to_owned(),
        workspace: "workspace".to_owned(),
        carried: Vec::new(),
        completion_mark: String::new(),
        task: None,
        decision: None,
        follow_up: None,
        analysis: None,
        caller: None,
    }
}

fn tools() -> Vec<ToolSpec> {
    let plain = [
        ("read_file", &["path"][..], EffectClass::Pure, 10_000),
        ("write_file", &["path", "content"], EffectClass::Probeable, 10_000),
        ("list_dir", &["path"], EffectClass::Pure, 10_000),
        ("shell", &["command"], EffectClass::Dangerous, 10_000),
        ("internet_search", &["query"], EffectClass::Pure, 10_000),
        ("todo", &["command"], EffectClass::Keyed, 10_000),
        ("schedule", &["command"], EffectClass::Keyed, 10_000),
        ("ask_user", &["question"], EffectClass::Transactional, 0),
    ];
    let mut tools: Vec<ToolSpec> = plain
        .into_iter()
        .map(|(name, args, class, timeout_ms)| {
            let properties: Map<String, Value> =
                args.iter().map(|arg| ((*arg).to_owned(), json!({"type": "string"}))).collect();
            let schema = json!({ "type": "object", "properties": properties, "required": args,
                "additionalProperties": false });
            tool(name, schema, class, timeout_ms)
        })
        .collect();
    let item = json!({ "type": "object", "required": ["id", "status"], "properties": {
        "id": {"type": "string"}, "content": {"type": "string"},
        "status": {"enum": ["pending", "in_progress", "completed", "cancelled"]} } });
    let list = json!({ "type": "object", "additionalProperties": false, "properties": {
        "todos": {"type": "array", "items": item}, "merge": {"type": "boolean"} } });
    tools.push(tool("todo_write", list, EffectClass::Transactional, 10_000));
    tools
}

fn tool(name: &str, schema: Value, class: EffectClass, timeout_ms: u64) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        schema,
        text_arg: None,
        handling: Handling {
            class,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms,
            ..Handling::default()
        },
    }
}
