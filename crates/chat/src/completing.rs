//! What may come next in a line of the chat: commands with what they do, their arguments, files.

use everloop_app::catalog::persona_infos;
use everloop_app::conversation::{CommandEntry, SLASH_COMMANDS};
use everloop_app::conversations::ListedConversation;
use everloop_app::frames::default_model;
use everloop_app::models::lists::ModelOverview;
use everloop_app::slash::{self, SlashCommand};
use everloop_console::Console;
use everloop_console::show::preview;
use everloop_loops::LoopSpec;
use everloop_store::RunRow;
use everloop_terminal::{Completion, CompletionSource, Completions};
use everloop_text::command_names;
use everloop_types::visible;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Files of the workspace that are looked at.
const FILES_MAX: usize = 5_000;

/// How long the list of files is taken as it is.
const FILES_FRESH: Duration = Duration::from_secs(5);

/// Proposals at most.
const PROPOSED_MAX: usize = 50;

/// The word of `/import` and `/export` that names a file, the command itself being the first.
const FILE_PLACE: usize = 3;

/// What begins a command, also as a Chinese keyboard writes it.
const SLASHES: [char; 3] = ['/', '\u{ff0f}', '\u{3001}'];

/// What begins the name of a file.
const AT_SIGNS: [char; 2] = ['@', '\u{ff20}'];

/// The proposals of a chat.
pub(super) struct ChatCompletions {
    app: Console,
    workspace: PathBuf,
    runs: Vec<RunRow>,
    conversations: Vec<ListedConversation>,
    /// Commands that people wrote.
    custom: Vec<CommandEntry>,
    /// Models that endpoints offer; asked for when somebody begins to choose one.
    models: Arc<Mutex<Option<Vec<String>>>>,
    files: RefCell<Option<(Instant, Vec<String>)>>,
}

impl ChatCompletions {
    pub(super) fn new(app: &Console, workspace: &Path) -> Self {
        Self {
            app: app.clone(),
            workspace: workspace.to_owned(),
            runs: Vec::new(),
            conversations: Vec::new(),
            custom: Vec::new(),
            models: Arc::default(),
            files: RefCell::new(None),
        }
    }

    pub(super) fn set_app(&mut self, app: &Console) {
        if self.app.lang != app.lang {
            self.app = app.clone();
        }
    }

    /// The conversations that can be named.
    pub(super) fn set_conversations(&mut self, conversations: Vec<ListedConversation>) {
        self.conversations = conversations;
    }

    /// The runs that can be named.
    pub(super) fn set_runs(&mut self, runs: Vec<RunRow>) {
        self.runs = runs;
    }

    /// Commands that people wrote, and the folder whose files can be named.
    pub(super) fn set_place(&mut self, custom: Vec<CommandEntry>, workspace: &Path) {
        self.custom = custom;
        if self.workspace != workspace {
            self.workspace = workspace.to_owned();
            self.files.replace(None);
        }
    }

    /// Names of commands. Other names of one are proposed when somebody begins to type them.
    fn command_names(&self, typed: &str) -> Vec<Completion> {
        let lang = self.app.lang;
        let plain =
            |command: &SlashCommand| item(&format!("/{}", command.name), &command.summary(lang));
        let mut items: Vec<Completion> =
            SLASH_COMMANDS.iter().filter(|it| it.name.starts_with(typed)).map(plain).collect();
        let custom = self.custom.iter().filter(|it| it.name[1..].starts_with(typed));
        items.extend(custom.map(|it| item(&it.name, &on_one_line(&it.summary))));
        if !typed.is_empty() {
            let aliases = command_names().iter().filter(|(alias, _)| alias.starts_with(typed));
            for (alias, name) in aliases {
                let does = slash::find(name).map(|command| command.summary(lang));
                items.push(item(&format!("/{alias}"), &does.unwrap_or_default()));
            }
        }
        items
    }

    /// The words that may follow a command.
    fn arguments(&self, command: &SlashCommand, line: &str, typed: &str) -> Vec<Completion> {
        match command.name {
            "loop" => matching(LoopSpec::all().map(|spec| self.loop_item(spec)), typed),
            "model" => matching(self.model_names().iter().map(|name| item(name, "")), typed),
            "persona" => {
                let all = persona_infos(&self.app);
                let row = all
                    .iter()
                    .map(|it| item(&on_one_line(&it.name), &on_one_line(&it.description)));
                matching(row, typed)
            }
            "resume" => [self.conversation_items(typed), self.run_items(typed)].concat(),
            "fork" => self.run_items(typed),
            "help" => {
                let mut names = self.command_names(typed);
                names.iter_mut().for_each(|it| it.value = it.value.replace('/', ""));
                names
            }
            "image" | "analyze" => self.file_items(typed, ""),
            _ => {
                let usages = command.usages(self.app.lang);
                let hint = |word: &str| {
                    let usage = usages.iter().find(|it| it.split_whitespace().nth(1) == Some(word));
                    usage.cloned().unwrap_or_default()
                };
                slash::completions(line).iter().map(|word| item(word, &hint(word))).collect()
            }
        }
    }

    fn run_items(&self, typed: &str) -> Vec<Completion> {
        let runs = self.runs.iter().filter(|row| row.run.as_str().contains(typed));
        runs.map(|row| item(row.run.short(), &preview(&row.goal))).collect()
    }

    /// Conversations by the letters of their titles, or by their ids.
    fn conversation_items(&self, typed: &str) -> Vec<Completion> {
        let wanted = typed.to_lowercase();
        let fits = |one: &&ListedConversation| {
            one.title().to_lowercase().contains(&wanted) || one.short_id().starts_with(typed)
        };
        let fitting = self.conversations.iter().filter(fits);
        fitting.map(|one| item(one.short_id(), &preview(&one.title()))).collect()
    }

    /// The words after the first one.
    fn further(&self, command: &SlashCommand, line: &str, typed: &str) -> Vec<Completion> {
        let words = line.split_whitespace().count() + usize::from(typed.is_empty());
        match command.name {
            "import" | "export" if words == FILE_PLACE => self.file_items(typed, ""),
            _ => slash::completions(line).iter().map(|word| item(word, "")).collect(),
        }
    }

    fn loop_item(&self, spec: &LoopSpec) -> Completion {
        let does = spec.texts().map(|texts| self.app.text(texts.does)).unwrap_or_default();
        item(spec.name, &does)
    }

    /// Those that the settings name, and those that endpoints offer once they have answered.
    fn model_names(&self) -> Vec<String> {
        let mut names = vec![default_model(&self.app), self.app.settings.model.fallback.clone()];
        let mut offered = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        match &*offered {
            Some(offered) => names.extend(offered.iter().cloned()),
            None => {
                *offered = Some(Vec::new());
                self.ask_for_models();
            }
        }
        names.retain(|name| !name.is_empty());
        names.dedup();
        names
    }

    fn ask_for_models(&self) {
        let (app, models) = (self.app.app().clone(), self.models.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let overview = ModelOverview::read(&app).await;
            let mut names = Vec::new();
            for endpoint in &overview.endpoints {
                let offered = endpoint.offered.iter().flatten();
                names.extend(offered.map(|model| format!("{}/{model}", endpoint.provider)));
            }
            *models.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
        });
    }

    /// Files of the workspace whose path has these letters, those that begin with them first.
    fn file_items(&self, typed: &str, sign: &str) -> Vec<Completion> {
        let mut files = self.files.borrow_mut();
        if files.as_ref().is_none_or(|(at, _)| at.elapsed() > FILES_FRESH) {
            let found = everloop_tools::list_files(&self.workspace, FILES_MAX);
            *files = Some((Instant::now(), found));
        }
        let wanted = typed.to_lowercase();
        let all = files.iter().flat_map(|(_, files)| files);
        let mut fitting: Vec<(usize, &String)> =
            all.filter_map(|file| rank(&file.to_lowercase(), &wanted).map(|r| (r, file))).collect();
        fitting.sort_by_key(|(rank, file)| (*rank, file.len()));
        let named = |file: &String| match file.contains(' ') {
            true => format!("{sign}\"{file}\""),
            false => format!("{sign}{file}"),
        };
        let shown = fitting.iter().take(PROPOSED_MAX);
        shown.map(|(_, file)| item(&named(file), "")).collect()
    }
}

impl CompletionSource for ChatCompletions {
    fn complete(&self, before_cursor: &str) -> Completions {
        let start = before_cursor.rfind(char::is_whitespace);
        let from =
            start.map_or(0, |at| at + before_cursor[at..].chars().next().map_or(0, char::len_utf8));
        let word = &before_cursor[from..];
        if let Some(path) = word.strip_prefix(AT_SIGNS) {
            let items = self.file_items(path, "@");
            return Completions { from, opens: true, enter_takes: !path.is_empty(), items };
        }
        let Some(line) = before_cursor.strip_prefix(SLASHES) else { return Completions::default() };
        let Some((name, rest)) = line.split_once(char::is_whitespace) else {
            let items = self.command_names(line);
            return Completions { from: 0, opens: true, enter_takes: true, items };
        };
        let Some(command) = slash::find(name) else { return Completions::default() };
        let is_first = !rest.contains(char::is_whitespace);
        let plain = format!("/{line}");
        let items = match is_first {
            true => self.arguments(command, &plain, word),
            false => self.further(command, &plain, word),
        };
        Completions { from, opens: is_first, enter_takes: false, items }
    }
}

fn on_one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn item(value: &str, hint: &str) -> Completion {
    let clean = |text: &str| everloop_tools::clean(text.as_bytes()).replace('\n', " ");
    Completion { value: clean(value), hint: clean(hint), is_open: false }
}

fn matching(items: impl Iterator<Item = Completion>, typed: &str) -> Vec<Completion> {
    let typed = typed.to_lowercase();
    items.filter(|item| item.value.to_lowercase().starts_with(&typed)).collect()
}

/// How well a path fits; none if it does not.
fn rank(path: &str, wanted: &str) -> Option<usize> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.starts_with(wanted) {
        Some(0)
    } else if name.starts_with(wanted) {
        Some(1)
    } else {
        path.contains(wanted).then_some(2)
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn a_path_that_begins_with_the_letters_comes_first() {
        assert_eq!(rank("src/main.rs", "src"), Some(0));
        assert_eq!(rank("src/main.rs", "main"), Some(1));
        assert_eq!(rank("src/main.rs", "ain"), Some(2));
        assert_eq!(rank("src/main.rs", "x"), None);
    }
}
