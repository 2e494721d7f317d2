//! The names of commands: for finding, completing, suggesting and helping.

use everloop_text::command::does;
use everloop_text::usage::{self, schedule, todo};
use everloop_text::{Text, command_names};
use everloop_types::Lang;

/// A command by its name.
#[derive(Debug)]
pub struct Verb {
    /// The canonical name, without the slash.
    pub name: &'static str,
    /// The words that may follow it.
    pub parts: &'static [&'static str],
    does: fn() -> Text,
    usage: fn() -> Text,
}

const fn verb(
    name: &'static str,
    does: fn() -> Text,
    usage: fn() -> Text,
    parts: &'static [&'static str],
) -> Verb {
    Verb { name, parts, does, usage }
}

/// Every command, by how often people need it.
pub const VERBS: &[Verb] = &[
    verb("help", does::help, usage::help, &[]),
    verb(
        "todo",
        does::todo,
        usage::todo,
        &["add", "list", "done", "get", "update", "delete", "search", "reopen"],
    ),
    verb(
        "schedule",
        does::schedule,
        usage::schedule,
        &["add", "list", "view", "get", "update", "repeat", "delete"],
    ),
    verb(
        "view",
        does::view,
        usage::view,
        &["today", "overdue", "upcoming", "inbox", "all", "list"],
    ),
    verb("inbox", does::inbox, usage::inbox, &["read"]),
    verb("cancel", does::cancel, usage::cancel, &[]),
    verb("plan", does::plan, usage::plan, &[]),
    verb("runs", does::runs, usage::runs, &[]),
    verb("resume", does::resume, usage::resume, &[]),
    verb("settle", does::settle, usage::settle, &["happened", "not", "probe"]),
    verb("bg", does::bg, usage::bg, &[]),
    verb("fork", does::fork, usage::fork, &[]),
    verb("history", does::history, usage::history, &[]),
    verb("loop", does::r#loop, usage::r#loop, &[]),
    verb("model", does::model, usage::model, &[]),
    verb("persona", does::persona, usage::persona, &[]),
    verb("image", does::image, usage::image, &[]),
    verb("new", does::new, usage::new, &[]),
    verb("export", does::export, usage::export, &["chat", "todos", "schedule"]),
    verb("import", does::import, usage::import, &["todos", "schedule"]),
    verb("lang", does::lang, usage::lang, &["zh-CN", "en"]),
    verb("tour", does::tour, usage::tour, &[]),
    verb("clear", does::clear, usage::clear, &[]),
    verb("quit", does::quit, usage::quit, &[]),
];

impl Verb {
    /// Whether it is about todos or the schedule.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.name, "todo" | "view" | "schedule")
    }

    /// What it does, in one line.
    #[must_use]
    pub fn help(&self, lang: Lang) -> String {
        (self.does)().in_lang(lang)
    }

    /// How it is written, or how each of its parts is.
    #[must_use]
    pub fn usages(&self, lang: Lang) -> Vec<String> {
        let parts: &[fn() -> Text] = match self.name {
            "todo" => &[
                todo::add,
                todo::list,
                todo::done,
                todo::get,
                todo::update,
                todo::delete,
                todo::search,
                todo::reopen,
            ],
            "schedule" => &[
                schedule::add,
                schedule::list,
                schedule::view,
                schedule::get,
                schedule::update,
                schedule::repeat,
                schedule::delete,
            ],
            _ => &[self.usage],
        };
        parts.iter().map(|usage| usage().in_lang(lang)).collect()
    }
}

impl PartialEq for Verb {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Verb {}

/// The command of that name, or of one that means the same.
#[must_use]
pub fn find(name: &str) -> Option<&'static Verb> {
    let name = name.to_lowercase();
    let canonical = command_names().iter().find(|(alias, _)| *alias == name);
    let name = canonical.map_or(name.as_str(), |(_, canonical)| canonical);
    VERBS.iter().find(|verb| verb.name == name)
}

/// The command whose name is most like this one, if any is like it.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let distance = |verb: &Verb| strsim::damerau_levenshtein(&name, verb.name);
    let best = VERBS.iter().min_by_key(|verb| distance(verb))?;
    let starts = !name.is_empty() && VERBS.iter().any(|verb| verb.name.starts_with(&name));
    match VERBS.iter().find(|verb| starts && verb.name.starts_with(&name)) {
        Some(verb) => Some(verb.name),
        None => (distance(best) <= 2 && distance(best) < best.name.len()).then_some(best.name),
    }
}

/// What may follow `line`, which begins with a slash: whole words that replace its last one.
#[must_use]
pub fn completions(line: &str) -> Vec<String> {
    let Some(rest) = line.strip_prefix('/') else { return Vec::new() };
    let Some((name, typed)) = rest.split_once(' ') else {
        let aliases = command_names().iter().map(|(alias, _)| *alias);
        let names = VERBS.iter().map(|verb| verb.name).chain(aliases.filter(|_| !rest.is_empty()));
        return names.filter(|name| name.starts_with(rest)).map(|n| format!("/{n}")).collect();
    };
    let Some(verb) = find(name) else { return Vec::new() };
    let last = typed.rsplit(' ').next().unwrap_or_default();
    if last.starts_with('-') {
        let options = options(verb.name, typed).iter().filter(|o| o.starts_with(last));
        return options.map(|option| (*option).to_owned()).collect();
    }
    if typed.contains(' ') {
        return Vec::new();
    }
    verb.parts.iter().filter(|part| part.starts_with(last)).map(|p| (*p).to_owned()).collect()
}

fn options(verb: &str, typed: &str) -> &'static [&'static str] {
    let part = typed.split(' ').next().unwrap_or_default();
    match (verb, part) {
        ("todo", "add" | "update") => &["--tag", "--priority", "--due", "--remind"],
        ("todo", "list") => &["--tag", "--view", "--open"],
        ("todo", "search") | ("view", _) => &["--tag", "--open"],
        ("schedule", "add" | "update") => &[
            "--duration",
            "--remind",
            "--interval",
            "--times",
            "--remind-start",
            "--repeat",
            "--catch-up",
        ],
        _ => &[],
    }
}
