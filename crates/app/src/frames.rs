//! What a new run is made of: its loop, model, workspace, limits and policy, checked before
//! anything is written.

use crate::app::App;
use crate::briefing;
use crate::context::personas::Persona;
use crate::environment;
use crate::error::{AppError, ChoiceError, ModelChoiceError};
use crate::mentions::MentionedFiles;
use crate::notice::AppNotice;
use crate::place::{self, ModelPlace};
use crate::settings::{RoundPreset, keys};
use crate::show::timestamp;
use crate::toolset;
use crate::workspace_mode;
use everloop_agenda::kept::moment;
use everloop_engine::Submission;
use everloop_loops::{LoopSpec, StepUnit};
use everloop_types::{
    Approval, ApprovalMode, Budget, ContextLimits, DelegateLimits, Fallback, Frame, Goal, Limits,
    ListLimits, ModelChoice, Money, Policy, RoundLimits, RunProfile, StepLimits, Taint, ToolSpec,
    Unattended, UtcMs,
};
use std::path::{Path, PathBuf};

/// How a person wants a goal to be worked on; what is not named comes from the settings.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The loop.
    pub loop_name: Option<String>,
    /// The model, as in `provider/model`.
    pub model: Option<String>,
    /// The folder that the run works in.
    pub workspace: Option<PathBuf>,
    /// The persona.
    pub persona: Option<String>,
    /// Image files that go with the goal.
    pub images: Vec<PathBuf>,
    /// Whether everything that would be asked about is allowed.
    pub approve_all: bool,
    /// What is done without asking.
    pub approval_mode: Option<ApprovalMode>,
}

/// Said to the model with the goal of a run that only plans.
pub(crate) const PLAN_NOTE: &str = "\n[approval mode: plan; calls that change or send anything are \
    denied. Read what you need and answer with a plan of what you would do]";

/// What is done without asking: what the person said, else the settings.
#[must_use]
pub fn wanted_mode(app: &App, options: &RunOptions) -> ApprovalMode {
    match options.approve_all {
        true => ApprovalMode::All,
        false => options.approval_mode.unwrap_or(app.settings.approvals.mode),
    }
}

/// Everything about a run that never changes.
///
/// # Errors
/// If something that is named does not exist or cannot be used.
pub fn submission(app: &App, options: &RunOptions, goal: &str) -> Result<Submission, AppError> {
    let workspace = workspace(options.workspace.as_deref())?;
    let loop_name = wanted_loop(app, options, &workspace)?;
    let model = model(app, wanted_model(app, options)?)?;
    let persona = briefing::persona(app, options.persona.as_deref())?;
    let mut images = briefing::images(app, &options.images)?;
    let mut frame = frame(app, &loop_name, &workspace, model, &persona)?;
    frame.policy = policy(app, wanted_mode(app, options));
    ask_about_edits(app, &mut frame);
    frame.policy.inherited.join(&briefing::held(app, &workspace));
    frame.policy.inherited.join(&briefing::pictured(app, &workspace, &options.images));
    fit_rounds_to_goal(app, &mut frame, goal);
    let mentioned = MentionedFiles::read(app, &workspace, goal, &frame.policy);
    mentioned.notes.into_iter().for_each(|note| app.notify(AppNotice::Mention(note)));
    frame.policy.inherited.join(&mentioned.held);
    images.extend(mentioned.images);
    let context = place_of(&workspace) + mode_note(&frame.policy) + &mentioned.context;
    let goal = Goal { text: goal.to_owned(), context, images };
    Ok(Submission { loop_name, goal, frame, idem_key: None, profile: RunProfile::default() })
}

/// The loop that decides: the flag's, else the environment's, else that of a workspace that is
/// trusted, else the settings'.
pub(crate) fn wanted_loop(
    app: &App,
    options: &RunOptions,
    workspace: &Path,
) -> Result<String, AppError> {
    if let Some(name) = &options.loop_name {
        return loop_name(name);
    }
    match workspace_mode::of_workspace(app, workspace)? {
        Some(name) => Ok(name),
        None => loop_name(app.settings.loops.default.as_str()),
    }
}

/// The name of the model: the flag's, else that of the environment or the settings. Empty if there
/// is none.
///
/// # Errors
/// [`ModelChoiceError`].
pub fn wanted_model(app: &App, options: &RunOptions) -> Result<String, AppError> {
    match &options.model {
        Some(name) => model(app, name.clone()),
        None => Ok(default_model(app)),
    }
}

/// Checks the name of a loop.
///
/// # Errors
/// [`ChoiceError::UnknownLoop`].
pub fn loop_name(name: &str) -> Result<String, AppError> {
    match LoopSpec::offered(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(ChoiceError::UnknownLoop(name.to_owned()).into()),
    }
}

/// Checks a workspace; the current folder if none is wanted.
///
/// # Errors
/// [`ChoiceError::Workspace`] if it is no folder.
pub fn workspace(wanted: Option<&Path>) -> Result<PathBuf, AppError> {
    let folder = wanted.unwrap_or(Path::new("."));
    let bad = |source| AppError::from(ChoiceError::Workspace { folder: folder.to_owned(), source });
    let found = folder.canonicalize().map_err(|error| bad(Some(error)))?;
    if found.is_dir() { Ok(found) } else { Err(bad(None)) }
}

/// The model's name from the environment or the settings.
pub fn default_model(app: &App) -> String {
    crate::place::default_name(&app.settings)
}

/// Checks the name of a model; without one there is nothing to run.
///
/// # Errors
/// If it cannot be used.
pub fn model(app: &App, name: String) -> Result<String, AppError> {
    if name.is_empty() {
        return Err(ModelChoiceError::NoModel.into());
    }
    if name.ends_with('/') {
        return Err(ModelChoiceError::NoModelName(name).into());
    }
    let environment = app.environment(&app.settings);
    if let Some(error) = environment.key_error(&name) {
        return Err(ModelChoiceError::from(error).into());
    }
    if is_of_unknown_provider(app, &name) {
        return Err(ModelChoiceError::UnknownProvider(name).into());
    }
    let choice = ModelChoice { name: name.clone(), ..ModelChoice::default() };
    if let Err(error) = everloop_engine::Environment::model(&environment, &choice) {
        return Err(ModelChoiceError::Unusable { name, error }.into());
    }
    notify_of_unused_address(app, &name);
    Ok(name)
}

/// Whether nobody knows where the provider of a model is.
#[must_use]
pub(crate) fn is_of_unknown_provider(app: &App, name: &str) -> bool {
    let place = ModelPlace::of(&app.settings, name);
    !place.provider.is_empty() && !environment::is_scripted(name) && place.address().is_empty()
}

/// An address that was given for this command and is not this model's is not passed over in
/// silence.
fn notify_of_unused_address(app: &App, name: &str) {
    let (settings, provider) = (&app.settings, place::provider(name));
    let owner = settings.owner(keys::model::base_url());
    let is_given = settings.origin(keys::model::base_url()).is_of_this_process();
    if is_given
        && !settings.model.base_url.is_empty()
        && owner != provider
        && !environment::is_scripted(name)
    {
        let (owner, provider) = (owner.to_owned(), provider.to_owned());
        let variable = place::address_variable(&provider);
        app.notify(AppNotice::AddressUnused { owner, provider, variable });
    }
}

/// Everything that a new run's prompts are built from, with leave for nothing.
///
/// # Errors
/// If something that is chosen cannot be used.
pub fn frame(
    app: &App,
    loop_name: &str,
    workspace: &Path,
    model: String,
    persona: &Persona,
) -> Result<Frame, AppError> {
    let environment = app.environment(&app.settings);
    let registry = environment.registry(workspace.to_owned(), &app.zone_name(), app.lang);
    let registry = registry
        .ok_or_else(|| ChoiceError::Workspace { folder: workspace.to_owned(), source: None })?;
    let tools = briefing::chosen(persona, environment::offered(&app.settings, &registry));
    frame_of(app, loop_name, workspace, model, persona, tools)
}

/// The same with these tools.
///
/// # Errors
/// As [`frame`].
pub(crate) fn frame_of(
    app: &App,
    loop_name: &str,
    workspace: &Path,
    model: String,
    persona: &Persona,
    tools: Vec<ToolSpec>,
) -> Result<Frame, AppError> {
    let environment = app.environment(&app.settings);
    let bare = frame_with(app, loop_name, workspace, tools);
    let tuned = briefing::tuned(persona, bare.model);
    let host = environment.host(&model);
    let model = ModelChoice { fallback: fallback(app, &model)?, name: model, host, ..tuned };
    let budget = Budget { money: money(app, &model)?, ..bare.limits.budget };
    let limits = Limits { budget, ..bare.limits };
    let system = briefing::system(app, workspace, persona);
    Ok(Frame { system, model, limits, ..bare })
}

/// The budget in money, at the prices of now. Without a price it could not be kept.
fn money(app: &App, model: &ModelChoice) -> Result<Money, AppError> {
    // The setting is kept in thousandths.
    let limit = u64::from(app.settings.budget.money.count()).saturating_mul(1_000);
    if limit == 0 {
        return Ok(Money::default());
    }
    let fallback = model.fallback.as_ref().map(|fallback| fallback.name.as_str());
    let names = std::iter::once(model.name.as_str()).chain(fallback);
    app.prices().budget(limit, names).map_err(|name| {
        ModelChoiceError::NoPrice { model: name.to_owned(), file: app.home.prices_file() }.into()
    })
}

/// What a run may do without asking, as the settings have it now: it is frozen with the run.
pub fn policy(app: &App, mode: ApprovalMode) -> Policy {
    let settings = &app.settings;
    Policy {
        approve_all: mode == ApprovalMode::All,
        mode,
        rules: settings.approval_rules().to_vec(),
        label_guard: Some(settings.tools.label_guard),
        untrusted_paths: settings
            .tools
            .untrusted_paths
            .iter()
            .map(|pattern| pattern.as_str().to_owned())
            .collect(),
        unattended: if app.attended { Unattended::Wait } else { settings.approvals.unattended },
        inherited: Taint::default(),
    }
}

/// Makes the tools that change files ask, where the settings want it and the mode leaves it so.
pub(crate) fn ask_about_edits(app: &App, frame: &mut Frame) {
    if frame.policy.mode != ApprovalMode::Ask || !app.settings.approvals.ask_edits {
        return;
    }
    let edits = frame.tools.iter_mut().filter(|tool| environment::edits_files(&tool.name));
    for tool in edits.filter(|tool| tool.handling.approval == Approval::Allow) {
        tool.handling.approval = Approval::Ask;
    }
}

/// What the model reads about the mode with the goal.
pub(crate) fn mode_note(policy: &Policy) -> &'static str {
    if policy.mode == ApprovalMode::Plan { PLAN_NOTE } else { "" }
}

/// The same with these tools, for no model yet, and with nothing of the person's or workspace's.
pub fn frame_with(app: &App, loop_name: &str, workspace: &Path, tools: Vec<ToolSpec>) -> Frame {
    let settings = &app.settings;
    let limits = limits(app, loop_name);
    Frame {
        system: briefing::plain_system(app),
        tools: toolset::of(loop_name, &limits, tools),
        limits,
        policy: Policy::default(),
        model: ModelChoice {
            name: String::new(),
            temperature_milli: settings.model.temperature.count(),
            max_tokens: settings.model.max_tokens,
            fallback: None,
            host: String::new(),
        },
        language: app.lang,
        time_zone: app.zone_name(),
        workspace: workspace.display().to_string(),
        carried: Vec::new(),
        completion_mark: settings.loops.completion_mark.clone(),
        task: None,
        decision: None,
        follow_up: None,
        analysis: None,
        caller: None,
    }
}

/// The second model, if one is named. One that cannot be used at all is said before anything runs.
fn fallback(app: &App, first: &str) -> Result<Option<Fallback>, AppError> {
    let name = app.settings.model.fallback.as_str();
    if name.is_empty() || name == first {
        return Ok(None);
    }
    let name = model(app, name.to_owned())?;
    let host = app.environment(&app.settings).host(&name);
    let after_attempts = app.settings.model.fallback_after;
    Ok(Some(Fallback { name, after_attempts, host }))
}

/// How long rounds are, and how many.
fn rounds(app: &App) -> RoundLimits {
    let preset = match app.settings.loops.preset {
        RoundPreset::Simple => RoundLimits::SIMPLE,
        RoundPreset::Medium => RoundLimits::MEDIUM,
        RoundPreset::Complex | RoundPreset::Auto => RoundLimits::COMPLEX,
    };
    RoundLimits { round_ms: app.settings.loops.round_time.ms(), ..preset }
}

/// Fits the rounds to a goal, where the settings leave them to it.
pub fn fit_rounds_to_goal(app: &App, frame: &mut Frame, goal: &str) {
    if app.settings.loops.preset == RoundPreset::Auto {
        let rounds = &mut frame.limits.steps.rounds;
        *rounds = RoundLimits { round_ms: rounds.round_ms, ..RoundLimits::suggested(goal) };
    }
}

/// The first setting for the steps of a loop that is not 0, or else the loop's own limit.
fn max_steps(app: &App, loop_name: &str) -> u32 {
    let Some(spec) = LoopSpec::named(loop_name) else { return StepLimits::default().max_steps };
    let iterations = match spec.step_unit {
        StepUnit::Iteration => app.settings.loops.max_iterations,
        StepUnit::Step | StepUnit::Round => 0,
    };
    let steps: u32 = app.settings.loops.max_steps;
    let wanted = [iterations, steps].into_iter().find(|limit| *limit > 0);
    wanted.unwrap_or(spec.max_steps)
}

/// What bounds a run under a loop, as the settings have it.
#[must_use]
pub fn limits(app: &App, loop_name: &str) -> Limits {
    let settings = &app.settings;
    let max_steps = max_steps(app, loop_name);
    Limits {
        steps: StepLimits {
            max_steps,
            contract_retries: settings.loops.contract_retries,
            failure_rounds: settings.loops.failure_rounds,
            repeated_questions: settings.loops.repeated_questions,
            max_clarifications: settings.loops.max_clarifications,
            rounds: rounds(app),
            list: ListLimits {
                reminders: settings.loops.reminders,
                unlisted: settings.loops.unlisted_work,
                idle: settings.loops.idle_list,
                item_retries: settings.loops.item_retries,
                evidence: settings.loops.evidence,
            },
            is_lenient: true,
        },
        budget: Budget {
            model_calls: settings.budget.model_calls,
            tool_calls: settings.budget.tool_calls,
            tokens: settings.budget.tokens,
            work_ms: settings.budget.work_time.ms(),
            // Its prices depend on the model.
            money: Money::default(),
        },
        context: ContextLimits {
            tokens: settings.context.tokens,
            observation_chars: settings.context.observation_chars,
            observations: settings.context.observations,
            messages: settings.context.max_history,
            least_freed: settings.context.least_freed,
            calls_per_reply: settings.loops.calls_per_reply,
            repetitions: settings.loops.repetitions,
        },
        delegate: DelegateLimits {
            max_depth: settings.delegate.max_depth,
            max_children: settings.delegate.max_children,
        },
    }
}

/// Time and place, as the model reads them with the goal.
pub(crate) fn place_of(workspace: &Path) -> String {
    let now = everloop_engine::Clock::now(&everloop_engine::SystemClock);
    place(&timestamp(now), workspace)
}

/// The same for a moment that was chosen, in UTC: it is nobody's own.
pub fn context_at(workspace: &Path, now: UtcMs) -> String {
    let now = moment(now).strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string();
    place(&now, workspace)
}

fn place(now: &str, workspace: &Path) -> String {
    format!("[now: {now}; workspace: {}]", workspace.display())
}
