//! `everloop run`: one goal to its end.

use super::background;
use super::foreground::{Foreground, drive_here};
use super::front::{self, Front};
use super::mode;
use crate::app::App;
use crate::args::{self, Format, How};
use crate::chat::Earlier;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::show::timestamp;
use crate::terminal;
use crate::toolset;
use crate::trouble::{self, Read, Trouble};
use everloop_agenda::context::personas::Persona;
use everloop_agenda::kept::moment;
use everloop_engine::{Engine, Submission};
use everloop_loops::{AnyRun, LOOPS, own_max_steps};
use everloop_text as text;
use everloop_types::{
    Budget, ContextLimits, ConversationId, DelegateLimits, Fallback, Frame, Goal, LabelGuard,
    Labels, Limits, ListLimits, ModelChoice, ModelErrorKind, Money, Policy, RoundLimits,
    StepLimits, Taint, ToolSpec, Unattended, UtcMs,
};
use std::path::{Path, PathBuf};

pub(crate) async fn run(app: &App, args: args::Run) -> Result<Exit, Failure> {
    match front::door(app, &args.goal, &args.how, args.output_format).await? {
        Front::Done(exit) => Ok(exit),
        Front::Goal(goal) if args.background => {
            background::queue(app, &args::Run { goal, ..args }).await
        }
        Front::Goal(goal) => run_with(app, args::Run { goal, ..args }, Piped::Nothing, None).await,
    }
}

/// A goal that came through the front door, with something that the model reads beside it. In a
/// conversation of its own unless one is named.
/// What came on stdin. Nobody knows who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piped {
    Nothing,
    /// The goal itself.
    Goal,
    /// What goes with the goal.
    Beside(String),
}

pub(crate) async fn run_with(
    app: &App,
    args: args::Run,
    piped: Piped,
    conversation: Option<&ConversationId>,
) -> Result<Exit, Failure> {
    let mut submission = submission(app, &args)?;
    if let Piped::Beside(text) = &piped {
        submission.goal.context.push_str(text);
    }
    if piped != Piped::Nothing {
        submission.frame.policy.inherited.take(Labels::ALL, "stdin");
    }
    let workspace = submission.frame.workspace.clone();
    let asks = submission.frame.tools_that_ask().join(", ");
    let store = app.open_store().await?;
    let engine = app.engine(store).await?;
    let run = submit(app, &engine, submission, conversation).await?;
    app.note(text::run::begun(&run));
    app.warn_of_walls(&workspace);
    if !app.interactive && !asks.is_empty() {
        let key = match app.settings.text("approvals.unattended") {
            "deny" => text::run::unattended_deny,
            _ => text::run::unattended_wait,
        };
        app.note(key(&asks));
    }
    let foreground = Foreground { app, engine, run, format: args.output_format };
    drive_here(foreground).await
}

async fn submit(
    app: &App,
    engine: &Engine,
    mut submission: Submission,
    conversation: Option<&ConversationId>,
) -> Result<everloop_types::RunId, Failure> {
    let fail = |error| app.store_failure(&error);
    let Some(conversation) = conversation else {
        return engine.submit(submission).await.map_err(fail);
    };
    let earlier = Earlier::of(app, engine.store(), conversation).await?;
    submission.goal.context.push_str(&earlier.told());
    submission.frame.policy.inherited.join(&earlier.held(app, engine.store()).await);
    engine.submit_in(conversation.clone(), submission).await.map_err(fail)
}

/// Everything about the run that never changes, checked before anything is written. Programs are
/// told in their form why it does not begin.
pub(super) fn submission(app: &App, args: &args::Run) -> Result<Submission, Failure> {
    checked(app, args).inspect_err(|failure| {
        if args.output_format != Format::Text {
            terminal::answer(&trouble::not_begun(app, failure).to_string());
        }
    })
}

fn checked(app: &App, args: &args::Run) -> Result<Submission, Failure> {
    let how = &args.how;
    let workspace = workspace(app, how.workspace.as_deref())?;
    let loop_name = wanted_loop(app, how, &workspace)?;
    let model = model(app, wanted_model(app, how)?)?;
    let persona = context::persona(app, how.persona.as_deref())?;
    let images = context::images(app, &how.image)?;
    let mut frame = frame(app, &loop_name, &workspace, model, &persona)?;
    frame.policy = policy(app, how.yes);
    frame.policy.inherited.join(&context::held(app, &workspace));
    frame.policy.inherited.join(&context::pictured(app, &workspace, &how.image));
    suit(app, &mut frame, &args.goal);
    let goal = Goal { text: args.goal.clone(), context: place_of(&workspace), images };
    Ok(Submission { loop_name, goal, frame, idem_key: None })
}

/// The loop that decides: the flag's, else the environment's, else that of a workspace that is
/// trusted, else the settings'.
pub(crate) fn wanted_loop(app: &App, how: &How, workspace: &Path) -> Result<String, Failure> {
    if let Some(name) = &how.loop_name {
        return loop_name(app, name);
    }
    match mode::of_workspace(app, workspace)? {
        Some(name) => Ok(name),
        None => loop_name(app, app.settings.text("loop.default")),
    }
}

/// The name of the model: the flag's, else that of the environment or the settings. Empty if there
/// is none.
pub(crate) fn wanted_model(app: &App, how: &How) -> Result<String, Failure> {
    match &how.model {
        Some(name) => model(app, name.clone()),
        None => Ok(default_model(app)),
    }
}

/// Checks the name of a loop.
pub(crate) fn loop_name(app: &App, name: &str) -> Result<String, Failure> {
    if AnyRun::version(name).is_some() {
        return Ok(name.to_owned());
    }
    let (near, all) = (app.near(name, LOOPS), LOOPS.join(", "));
    let words = app.text(text::run::NoLoop { name: &name, near: &near, all: &all }.text());
    Err(Failure { exit: Exit::Usage, words })
}

/// Checks a workspace; the current folder if none is wanted.
pub(crate) fn workspace(app: &App, wanted: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = wanted.unwrap_or(Path::new("."));
    let bad = |detail: &dyn std::fmt::Display| {
        let (folder, detail) = (folder.display().to_string(), detail.to_string());
        Failure { exit: Exit::Usage, words: app.text(text::run::no_workspace(&folder, &detail)) }
    };
    let found = folder.canonicalize().map_err(|error| bad(&error))?;
    match found.is_dir() {
        true => Ok(found),
        false => Err(bad(&app.text(text::run::not_a_folder()))),
    }
}

/// The model's name from the environment or the settings.
pub(crate) fn default_model(app: &App) -> String {
    crate::place::default_name(&app.settings)
}

/// Checks the name of a model; without one there is nothing to run.
pub(crate) fn model(app: &App, name: String) -> Result<String, Failure> {
    let wrong = |words: String| Err(Failure { exit: Exit::Configuration, words });
    if name.is_empty() {
        return wrong(trouble::no_model(app));
    }
    let means = app.means(&app.settings);
    if let Some(error) = means.key_error(&name) {
        return wrong(error.words(app.lang));
    }
    if let Some(words) = trouble::unknown_provider(app, &name) {
        return wrong(words);
    }
    let choice = ModelChoice { name: name.clone(), ..ModelChoice::default() };
    match everloop_engine::Environment::model(&means, &choice) {
        Ok(_) => {
            trouble::tell_of_unused_address(app, &name);
            Ok(name)
        }
        Err(error) if error.kind == ModelErrorKind::NoKey => {
            wrong(Trouble::of(app, &name, &error).words(app, Read::InShell))
        }
        Err(error) => wrong(app.text(text::model::unusable(&name, &error.detail))),
    }
}

/// Everything that a new run's prompts are built from, with leave for nothing.
pub(crate) fn frame(
    app: &App,
    loop_name: &str,
    workspace: &Path,
    model: String,
    persona: &Persona,
) -> Result<Frame, Failure> {
    let registry =
        app.means(&app.settings).registry(workspace.to_owned(), &app.zone_name(), app.lang);
    let registry = registry.ok_or_else(|| {
        let folder = workspace.display().to_string();
        Failure { exit: Exit::Usage, words: app.text(text::run::no_workspace(&folder, &"")) }
    })?;
    let tools = context::chosen(persona, crate::means::offered(&app.settings, &registry));
    let bare = frame_with(app, loop_name, workspace, tools);
    let tuned = context::tuned(persona, bare.model);
    let host = app.means(&app.settings).host(&model);
    let model = ModelChoice { fallback: fallback(app, &model)?, name: model, host, ..tuned };
    let budget = Budget { money: money(app, &model)?, ..bare.limits.budget };
    let limits = Limits { budget, ..bare.limits };
    let system = context::system(app, workspace, persona);
    Ok(Frame { system, model, limits, ..bare })
}

/// The budget in money, at the prices of now. Without a price it could not be kept.
fn money(app: &App, model: &ModelChoice) -> Result<Money, Failure> {
    // The setting is kept in thousandths.
    let limit = app.settings.number("budget.money").saturating_mul(1_000);
    if limit == 0 {
        return Ok(Money::default());
    }
    let fallback = model.fallback.as_ref().map(|fallback| fallback.name.as_str());
    let names = std::iter::once(model.name.as_str()).chain(fallback);
    app.prices().budget(limit, names).map_err(|name| {
        let file = app.home.prices_file().display().to_string();
        let words = app.text(text::prices::missing(&file, &name));
        Failure { exit: Exit::Configuration, words }
    })
}

/// What a run may do without asking, as the settings have it now: it is frozen with the run.
pub(crate) fn policy(app: &App, approve_all: bool) -> Policy {
    let settings = &app.settings;
    Policy {
        approve_all,
        rules: settings.approval_rules().to_vec(),
        label_guard: Some(match settings.text("tools.label_guard") {
            "off" => LabelGuard::Off,
            "deny" => LabelGuard::Deny,
            _ => LabelGuard::Ask,
        }),
        untrusted_paths: settings.list("tools.untrusted_paths").map(str::to_owned).collect(),
        unattended: match settings.text("approvals.unattended") {
            "deny" if !app.interactive => Unattended::Deny,
            _ => Unattended::Wait,
        },
        inherited: Taint::default(),
    }
}

/// The same with these tools, for no model yet, and with nothing of the person's or workspace's.
pub(crate) fn frame_with(
    app: &App,
    loop_name: &str,
    workspace: &Path,
    tools: Vec<ToolSpec>,
) -> Frame {
    let settings = &app.settings;
    let limits = limits(app, loop_name);
    Frame {
        system: context::plain_system(app),
        tools: toolset::of(loop_name, &limits, tools),
        limits,
        policy: Policy::default(),
        model: ModelChoice {
            name: String::new(),
            temperature_milli: settings.small("model.temperature"),
            max_tokens: settings.small("model.max_tokens"),
            fallback: None,
            host: String::new(),
        },
        language: app.lang,
        time_zone: app.zone_name(),
        workspace: workspace.display().to_string(),
        carried: Vec::new(),
        completion_mark: settings.text("loop.completion_mark").to_owned(),
    }
}

/// The second model, if one is named. One that cannot be used at all is said before anything runs.
fn fallback(app: &App, first: &str) -> Result<Option<Fallback>, Failure> {
    let name = app.settings.text("model.fallback");
    if name.is_empty() || name == first {
        return Ok(None);
    }
    let name = model(app, name.to_owned())?;
    let host = app.means(&app.settings).host(&name);
    let after_attempts = app.settings.small("model.fallback_after");
    Ok(Some(Fallback { name, after_attempts, host }))
}

/// How long rounds are, and how many.
fn rounds(app: &App) -> RoundLimits {
    let preset = match app.settings.text("loop.preset") {
        "simple" => RoundLimits::SIMPLE,
        "medium" => RoundLimits::MEDIUM,
        _ => RoundLimits::COMPLEX,
    };
    RoundLimits { round_ms: app.settings.number("loop.round_time"), ..preset }
}

/// Fits the rounds to a goal, where the settings leave them to it.
pub(crate) fn suit(app: &App, frame: &mut Frame, goal: &str) {
    if app.settings.text("loop.preset") == "auto" {
        let rounds = &mut frame.limits.steps.rounds;
        *rounds = RoundLimits { round_ms: rounds.round_ms, ..RoundLimits::suggested(goal) };
    }
}

/// Whether a loop's steps are model calls.
pub(crate) fn iterates(loop_name: &str) -> bool {
    !matches!(loop_name, "plan-replan" | "plan-execute-think")
}

/// `loop.max_steps` is the step limit of a run; 0 leaves each loop its own default.
pub(crate) fn limits(app: &App, loop_name: &str) -> Limits {
    let settings = &app.settings;
    let size = |key| usize::try_from(settings.number(key)).unwrap_or(usize::MAX);
    let own = own_max_steps(loop_name);
    let wanted = match settings.small("loop.max_iterations") {
        iterations if iterates(loop_name) && iterations > 0 => iterations,
        _ => settings.small("loop.max_steps"),
    };
    let max_steps = if wanted == 0 { own } else { wanted };
    Limits {
        steps: StepLimits {
            max_steps,
            contract_retries: settings.small("loop.contract_retries"),
            failure_rounds: settings.small("loop.failure_rounds"),
            repeated_questions: settings.small("loop.repeated_questions"),
            max_clarifications: settings.small("loop.max_clarifications"),
            rounds: rounds(app),
            list: ListLimits {
                reminders: settings.small("loop.reminders"),
                unlisted: settings.small("loop.unlisted_work"),
                idle: settings.small("loop.idle_list"),
                item_retries: settings.small("loop.item_retries"),
                evidence: settings.text("loop.evidence") == "on",
            },
        },
        budget: Budget {
            model_calls: settings.small("budget.model_calls"),
            tool_calls: settings.small("budget.tool_calls"),
            tokens: settings.number("budget.tokens"),
            work_ms: settings.number("budget.work_time"),
            // Its prices depend on the model.
            money: Money::default(),
        },
        context: ContextLimits {
            tokens: settings.number("context.tokens"),
            observation_chars: size("context.observation_chars"),
            observations: size("context.observations"),
            messages: size("context.max_history"),
            least_freed: size("context.least_freed"),
            calls_per_reply: size("loop.calls_per_reply"),
            repetitions: settings.small("loop.repetitions"),
        },
        delegate: DelegateLimits {
            max_depth: settings.small("delegate.max_depth"),
            max_children: settings.small("delegate.max_children"),
        },
    }
}

/// Time and place, as the model reads them with the goal.
pub(crate) fn place_of(workspace: &Path) -> String {
    let now = everloop_engine::Clock::now(&everloop_engine::SystemClock);
    place(&timestamp(now), workspace)
}

/// The same for a moment that was chosen, in UTC: it is nobody's own.
pub(crate) fn context_at(workspace: &Path, now: UtcMs) -> String {
    let now = moment(now).strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string();
    place(&now, workspace)
}

fn place(now: &str, workspace: &Path) -> String {
    format!("[now: {now}; workspace: {}]", workspace.display())
}
