//! What a new run is told of itself: from the settings, the person's folders and the workspace.

use crate::app::App;
use crate::context::guidance;
use crate::context::images::{self, IMAGES_MAX};
use crate::context::memory::Memory;
use crate::context::personas::{DEFAULT, Persona, Personas};
use crate::context::prompt::{self, PromptIdentity, PromptNotes, PromptParts};
use crate::context::skill_tool::LOAD_SKILL;
use crate::context::skills::{self, SkillSearch};
use crate::environment;
use crate::error::{AppError, ChoiceError, chain};
use crate::home::Home;
use crate::notice::AppNotice;
use everloop_types::{Image, Labels, Lang, ModelChoice, TODO_WRITE, Taint, ToolSpec};
use std::path::{Path, PathBuf};

/// What is read as guidance of the workspace.
const GUIDANCE: &str = "AGENTS.md";

/// Tools that a persona cannot do without: loops count on them.
const ALWAYS: [&str; 3] = ["ask_user", TODO_WRITE, LOAD_SKILL];

/// The personas of this home; a file that cannot be used is said to be one.
pub(crate) fn personas(app: &App) -> Personas {
    let found = Personas::find(&app.home.personas(), app.lang);
    for (file, why) in &found.bad {
        app.notify(AppNotice::Persona { file: file.clone(), detail: chain(why) });
    }
    found
}

/// Checks the name of a persona; the one of the settings if none is wanted.
pub(crate) fn persona(app: &App, wanted: Option<&str>) -> Result<Persona, AppError> {
    let name = wanted.unwrap_or_else(|| app.settings.persona.default.as_str());
    let name = if name.is_empty() { DEFAULT } else { name };
    let found = personas(app);
    if let Some(persona) = found.get(name) {
        return with_known_tools(persona);
    }
    let all = found.all.iter().map(|persona| persona.name.clone()).collect();
    Err(ChoiceError::UnknownPersona { name: name.to_owned(), all }.into())
}

/// A tool by a wrong name would silently be missing.
fn with_known_tools(persona: &Persona) -> Result<Persona, AppError> {
    // Tools of other programs have their server's name and two strokes before them.
    let is_known = |name: &&String| {
        name.contains("__") || environment::built_in().any(|tool| tool.name == name.as_str())
    };
    let Some(unknown) = persona.tools.iter().find(|name| !is_known(name)) else {
        return Ok(persona.clone());
    };
    let nearest = environment::nearest_tool(unknown);
    let (persona, tool) = (persona.name.clone(), unknown.clone());
    Err(ChoiceError::PersonaTool { persona, tool, nearest }.into())
}

/// The skills that runs in a workspace have.
pub(crate) fn skills(app: &App, workspace: &Path) -> SkillSearch {
    match app.settings.context.skills {
        true => skills::find(Home::of_user().as_deref(), workspace),
        false => SkillSearch::default(),
    }
}

/// The memory of a workspace.
pub fn memory(app: &App, workspace: &Path) -> Memory {
    Memory::of(&app.home.memory(), workspace)
}

/// The whole system prompt of a new run.
pub(crate) fn system(app: &App, workspace: &Path, persona: &Persona) -> String {
    let guidance = match app.settings.context.agents_file {
        true => guidance::read(workspace).unwrap_or_else(|error| {
            app.notify(AppNotice::Guidance(error.text()));
            None
        }),
        false => None,
    };
    let chars = app.settings.context.memory_chars;
    let notes = app.settings.context.memory.then(|| {
        memory(app, workspace).newest(chars).unwrap_or_else(|error| {
            app.notify(AppNotice::Memory(error.to_string()));
            String::new()
        })
    });
    prompt::system(&PromptParts {
        identity: identity(app, persona),
        memory: notes.as_deref().map(|text| PromptNotes { text }),
        guidance: guidance.as_deref().unwrap_or_default(),
        skills: &skills(app, workspace).skills,
    })
}

/// What the system prompt brings into a run. Notes, guidance and skills are the person's own like
/// any file of the workspace; notes may hold what others wrote, and so may guidance and skills
/// where the settings say so.
pub(crate) fn held(app: &App, workspace: &Path) -> Taint {
    let mut held = Taint::default();
    let notes = memory(app, workspace);
    let is_empty = notes.newest(1).is_ok_and(|text| text.is_empty());
    if app.settings.context.memory && !is_empty {
        let untrusted = notes.is_untrusted().unwrap_or(true);
        held.take(Labels { untrusted, ..Labels::PRIVATE }, "MEMORY.md");
    }
    if app.settings.context.agents_file && workspace.join(GUIDANCE).exists() {
        let mut patterns = app.settings.tools.untrusted_paths.iter();
        let untrusted = patterns.any(|pattern| pattern.fits(GUIDANCE));
        held.take(Labels { untrusted, ..Labels::PRIVATE }, GUIDANCE);
    }
    for skill in skills(app, workspace).skills {
        if let Some(path) = skill.path_within(workspace, None) {
            let mut patterns = app.settings.tools.untrusted_paths.iter();
            let untrusted = patterns.any(|pattern| pattern.fits(&path));
            held.take(Labels { untrusted, ..Labels::PRIVATE }, &path);
        }
    }
    held
}

/// The same without anything of the person's or the workspace's, for comparisons.
pub(crate) fn plain_system(app: &App) -> String {
    let persona = Persona::default();
    let identity = identity(app, &persona);
    let skills = &[];
    prompt::system(&PromptParts { identity, memory: None, guidance: "", skills })
}

fn identity<'a>(app: &'a App, persona: &'a Persona) -> PromptIdentity<'a> {
    PromptIdentity {
        name: app.settings.persona.name.as_str(),
        system: std::env::consts::OS,
        address: app.settings.persona.address.as_str(),
        persona,
        // The language of answers is apart from that of the program.
        language: match app.settings.ui.answer_language {
            Some(Lang::ZhCn) => "Simplified Chinese",
            Some(Lang::En) => "English",
            None => "",
        },
    }
}

/// The tools that a persona works with.
pub(crate) fn chosen(persona: &Persona, mut tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
    tools.retain(|tool| works_with(persona, &tool.name));
    tools
}

/// Whether a persona works with a tool.
pub(crate) fn works_with(persona: &Persona, tool: &str) -> bool {
    // Tools of other programs were set up by hand; a built-in persona cannot know them.
    let is_foreign = persona.file.is_none() && tool.contains("__");
    persona.tools.is_empty()
        || is_foreign
        || ALWAYS.contains(&tool)
        || persona.tools.iter().any(|own| own == tool)
}

/// How a persona wants the model to be asked.
pub(crate) fn tuned(persona: &Persona, model: ModelChoice) -> ModelChoice {
    ModelChoice {
        temperature_milli: persona.temperature_milli.unwrap_or(model.temperature_milli),
        max_tokens: persona.max_tokens.unwrap_or(model.max_tokens),
        ..model
    }
}

/// What pictures bring into a run: a model that sees reads the words in them.
pub(crate) fn pictured(app: &App, workspace: &Path, files: &[PathBuf]) -> Taint {
    let mut held = Taint::default();
    for file in files {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        let inner = real.strip_prefix(workspace).unwrap_or(&real).to_string_lossy();
        let inner = inner.trim_start_matches('/');
        let mut patterns = app.settings.tools.untrusted_paths.iter();
        let untrusted = patterns.any(|pattern| pattern.fits(inner));
        held.take(Labels { untrusted, ..Labels::PRIVATE }, inner);
    }
    held
}

/// Reads the pictures that go with a goal.
pub(crate) fn images(app: &App, files: &[PathBuf]) -> Result<Vec<Image>, AppError> {
    if files.len() > IMAGES_MAX {
        return Err(ChoiceError::TooManyImages(IMAGES_MAX).into());
    }
    files.iter().map(|file| image(app, file)).collect()
}

/// Reads one picture.
pub(crate) fn image(app: &App, file: &Path) -> Result<Image, AppError> {
    let most = app.settings.context.image_max.bytes();
    let failed =
        |source| AppError::from(ChoiceError::Image { file: file.to_owned(), most, source });
    images::read(file, most).map_err(failed)
}
