//! The names of commands: for finding, completing, suggesting and helping.

use everloop_text::command_names;
use everloop_types::Lang;

/// A command by its name.
#[derive(Debug, PartialEq, Eq)]
pub struct Verb {
    /// The canonical name, without the slash.
    pub name: &'static str,
    /// The words that may follow it.
    pub parts: &'static [&'static str],
}

macro_rules! verbs {
    ($($name:literal $parts:expr;)*) => {
        /// Every command, by how often people need it.
        pub const VERBS: &[Verb] = &[$(Verb {
            name: $name,
            parts: &$parts,
        }),*];
    };
}

verbs! {
    "help" [];
    "todo" ["add", "list", "done", "get", "update", "delete", "search", "reopen"];
    "schedule" ["add", "list", "view", "get", "update", "repeat", "delete"];
    "view" ["today", "overdue", "upcoming", "inbox", "all", "list"];
    "inbox" ["read"];
    "cancel" [];
    "plan" [];
    "runs" [];
    "resume" [];
    "settle" ["happened", "not", "probe"];
    "bg" [];
    "fork" [];
    "history" [];
    "loop" [];
    "model" [];
    "persona" [];
    "image" [];
    "new" [];
    "export" ["chat", "todos", "schedule"];
    "import" ["todos", "schedule"];
    "lang" ["zh-CN", "en"];
    "tour" [];
    "clear" [];
    "quit" [];
}

impl Verb {
    /// Whether it is about todos or the schedule.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.name, "todo" | "view" | "schedule")
    }

    /// What it does, in one line.
    #[must_use]
    pub fn help(&self, lang: Lang) -> String {
        everloop_text::get(lang, &format!("command.does.{}", self.name), &[])
    }

    /// How it is written.
    #[must_use]
    pub fn usage(&self, lang: Lang) -> String {
        everloop_text::get(lang, &format!("usage.{}", self.name), &[])
    }
}

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
