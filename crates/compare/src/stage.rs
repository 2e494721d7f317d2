//! The environment of one run: its own workspace, store and search service.
//!
//! Tools and engine are the real ones. A stage leaves nothing behind, and no stage sees another.

use crate::check::entry;
use crate::host::{ContestHost, ContestModel, is_simulated};
use crate::pages::RecordedSearchService;
use crate::{ContestTask, Scene, stale_folders};
use everloop_agenda::desk::Agenda;
use everloop_agenda::kept::AgendaConfig;
use everloop_agenda::tools::{AgendaContext, ScheduleTool, TodoTool};
use everloop_engine::{Engine, Environment, Submission, SystemClock, WorkerIdentity, fresh_id};
use everloop_ports::{Clock, Pause, Registry};
use everloop_store::{Store, StoreError, TodoRow, TodoText, WriteKey};
use everloop_tools::{SearchService, SearchSetting, Setting, builtin_tools};
use everloop_types::{Frame, Goal, Lang, ModelChoice, ModelError, Policy, RunId, UtcMs, WorkerId};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Every run begins at this moment, and for the engine no time passes: 2030-05-01 09:00 UTC.
const NOW: UtcMs = 1_903_856_400_000;

/// The path of the workspace in the prompts of policies.
const TOLD: &str = "/workspace";

/// Hits that a search shows.
const TOP_K: usize = 3;

/// How long a search may take.
const SEARCH_MS: u64 = 15_000;

/// Bytes of a file that a checker looks at.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// Files of a workspace that a checker looks at.
const FILES_MAX: usize = 1_000;

/// Why a stage could not be set up or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// A folder, a file or a port.
    #[error("system error")]
    System(#[from] std::io::Error),
    /// The workspace.
    #[error("no workspace")]
    Workspace(#[from] everloop_tools::WorkspaceError),
    /// The store.
    #[error("no store")]
    Store(#[from] StoreError),
}

/// A clock that does not advance, so that no prompt depends on the date. Waits are real.
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> UtcMs {
        NOW
    }

    fn since_boot_ms(&self) -> u64 {
        SystemClock.since_boot_ms()
    }

    fn awake_ms(&self) -> u64 {
        0
    }

    fn pause(&self, ms: u64) -> Pause<'_> {
        SystemClock.pause(ms)
    }
}

/// One model and one set of tools for every frame.
struct StageEnvironment {
    model: ContestModel,
    tools: Arc<Registry>,
}

impl Environment for StageEnvironment {
    fn model(&self, _choice: &ModelChoice) -> Result<ContestModel, ModelError> {
        Ok(self.model.clone())
    }

    fn tools(&self, _frame: &Frame) -> Arc<Registry> {
        self.tools.clone()
    }
}

/// A stage that is set up for a task.
pub(crate) struct TaskStage {
    workspace: PathBuf,
    store: Store,
    tools: Arc<Registry>,
    search: RecordedSearchService,
    /// Removed with the stage, with everything in it.
    _folder: TempDir,
    /// Marks the folder as in use.
    _held: File,
}

impl TaskStage {
    pub(crate) async fn set(
        host: &dyn ContestHost,
        task: &ContestTask,
    ) -> Result<Self, StageError> {
        let folder = tempfile::Builder::new().prefix(stale_folders::PREFIX).tempdir()?;
        let held = stale_folders::mark_in_use(folder.path())?;
        let outer = folder.path().canonicalize()?;
        let workspace = outer.join("workspace");
        std::fs::create_dir(&workspace)?;
        for (path, text) in &task.files {
            let path = workspace.join(path);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, text)?;
        }
        let search = RecordedSearchService::serve(&task.search).await?;
        let store = Store::memory();
        for (number, text) in (1..).zip(&task.todos) {
            store.agenda().add_todo(&todo(number, text), WriteKey { key: None, now: NOW }).await?;
        }
        let setting = Setting {
            guard: host.guard(),
            records: Some(outer.join("records")),
            search: Some(SearchSetting {
                service: SearchService::Searxng,
                base_url: search.url().to_owned(),
                timeout_ms: SEARCH_MS,
                top_k: TOP_K,
            }),
            ..Setting::new(&workspace)
        };
        let tools = Arc::new(registry(&setting, &store)?);
        Ok(Self { workspace, store, tools, search, _folder: folder, _held: held })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn engine(&self, host: &dyn ContestHost, model: ContestModel) -> Arc<Engine> {
        let means = StageEnvironment { model, tools: self.tools.clone() };
        let identity = WorkerIdentity {
            worker: WorkerId::new(fresh_id("worker_", NOW)),
            build: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let clock = Arc::new(FixedClock);
        Engine::new(self.store.clone(), Arc::new(means), clock, identity, host.rules())
    }

    /// The task as a run of this loop. Language and zone are fixed, and every call is allowed: the
    /// workspace is ours. A policy always sees the same folder, because its choices depend on the
    /// prompt; a real model sees the actual folder.
    pub(crate) fn submission(
        &self,
        host: &dyn ContestHost,
        task: &ContestTask,
        loop_name: &str,
        model: &str,
    ) -> Submission {
        let told = if is_simulated(model) { Path::new(TOLD) } else { &self.workspace };
        let frame = host.frame(loop_name, &task.goal, told, self.tools.specs());
        let name = model.to_owned();
        let frame = Frame {
            policy: Policy { approve_all: true, ..Policy::default() },
            model: ModelChoice { name, ..frame.model },
            language: Lang::En,
            time_zone: "UTC".to_owned(),
            workspace: self.workspace.display().to_string(),
            ..frame
        };
        let context = host.context(told, NOW);
        let goal = Goal { text: task.goal.clone(), context, ..Goal::default() };
        Submission {
            loop_name: loop_name.to_owned(),
            goal,
            frame,
            idem_key: None,
            profile: Default::default(),
        }
    }

    /// The current state.
    pub(crate) async fn scene(&self, run: &RunId) -> Result<Scene, StageError> {
        let messages = self.store.runs().messages(run).await?;
        let answer = messages.iter().find(|message| message.slot == "final");
        let mut files = BTreeMap::new();
        gather(&self.workspace, &self.workspace, &mut files)?;
        Ok(Scene {
            files,
            todos: self.store.agenda().todos().await?.iter().map(Into::into).collect(),
            entries: self.store.agenda().schedules().await?.iter().map(entry).collect(),
            answer: answer.map(|message| message.body.clone()).unwrap_or_default(),
            asked: messages.iter().filter(|message| is_question(&message.slot)).count(),
            searched: self.search.searches(),
        })
    }
}

/// Whether the model asked the user. A request for permission does not count.
fn is_question(slot: &str) -> bool {
    slot.starts_with("ask:") && slot.ends_with(".ask")
}

fn registry(setting: &Setting, store: &Store) -> Result<Registry, StageError> {
    let office = AgendaContext {
        desk: Some(Agenda::new(store.clone(), AgendaConfig::default())),
        clock: Arc::new(FixedClock),
        zone: TimeZone::UTC,
        lang: Lang::En,
    };
    let registry = builtin_tools(setting)?;
    Ok(registry.with(TodoTool(office.clone())).with(ScheduleTool(office)))
}

fn todo(number: i64, text: &str) -> TodoRow {
    TodoRow {
        id: number,
        uid: format!("before-{number}"),
        said: TodoText {
            text: text.to_owned(),
            tags: Vec::new(),
            priority: 0,
            due_at: None,
            remind_at: None,
            remind_lead: None,
        },
        remind_next: None,
        done_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

/// The files below a folder. Links are not followed: they may lead anywhere.
fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
        let kind = entry?;
        if files.len() >= FILES_MAX {
            break;
        }
        if kind.is_dir() {
            gather(root, &path, files)?;
        } else if kind.is_file() && path.metadata()?.len() <= FILE_BYTES_MAX {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let bytes = std::fs::read(&path)?;
            files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(())
}
