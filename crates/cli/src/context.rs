//! What a new run is told of itself: from the settings, the person's folders and the workspace.

use crate::app::{App, chain};
use crate::exit::{Exit, Failure};
use crate::home::Home;
use crate::means;
use everloop_agenda::context::guidance;
use everloop_agenda::context::images::{self, IMAGES_MAX, ImageError};
use everloop_agenda::context::memory::Memory;
use everloop_agenda::context::personas::{DEFAULT, Persona, Personas};
use everloop_agenda::context::prompt::{self, Identity, Notes, Parts};
use everloop_agenda::context::skill_tool::LOAD_SKILL;
use everloop_agenda::context::skills::{self, Found};
use everloop_text as text;
use everloop_types::{Image, Labels, ModelChoice, TODO_WRITE, Taint, ToolSpec, path_fits};
use std::path::{Path, PathBuf};

/// What is read as guidance of the workspace.
const GUIDANCE: &str = "AGENTS.md";

/// Tools that a persona cannot do without: loops count on them.
const ALWAYS: [&str; 3] = ["ask_user", TODO_WRITE, LOAD_SKILL];

/// The personas of this home; a file that cannot be used is said to be one.
pub(crate) fn personas(app: &App) -> Personas {
    let found = Personas::find(&app.home.personas(), app.lang);
    for (file, why) in &found.bad {
        let (file, detail) = (file.display().to_string(), chain(why));
        app.note(text::persona::bad(&file, &detail));
    }
    found
}

/// Checks the name of a persona; the one of the settings if none is wanted.
pub(crate) fn persona(app: &App, wanted: Option<&str>) -> Result<Persona, Failure> {
    let name = wanted.unwrap_or_else(|| app.settings.text("persona.default"));
    let name = if name.is_empty() { DEFAULT } else { name };
    let found = personas(app);
    if let Some(persona) = found.get(name) {
        return with_known_tools(app, persona);
    }
    let names: Vec<&str> = found.all.iter().map(|persona| persona.name.as_str()).collect();
    let words = app.text(text::persona::unknown(&name, &names.join(", ")));
    Err(Failure { exit: Exit::Usage, words })
}

/// A tool by a wrong name would silently be missing.
fn with_known_tools(app: &App, persona: &Persona) -> Result<Persona, Failure> {
    // Tools of other programs have their server's name and two strokes before them.
    let is_known = |name: &&String| {
        name.contains("__") || means::built_in().any(|tool| tool.name == name.as_str())
    };
    let Some(unknown) = persona.tools.iter().find(|name| !is_known(name)) else {
        return Ok(persona.clone());
    };
    let nearest = means::nearest_tool(unknown);
    Err(Failure {
        exit: Exit::Configuration,
        words: app.text(
            text::persona::NoTool { name: &persona.name, tool: &unknown, nearest: &nearest }.text(),
        ),
    })
}

/// The skills that runs in a workspace have.
pub(crate) fn skills(app: &App, workspace: &Path) -> Found {
    match is_on(app, "context.skills") {
        true => skills::find(Home::of_user().as_deref(), workspace),
        false => Found::default(),
    }
}

/// The memory of a workspace.
pub(crate) fn memory(app: &App, workspace: &Path) -> Memory {
    Memory::of(&app.home.memory(), workspace)
}

fn is_on(app: &App, key: &'static str) -> bool {
    app.settings.text(key) == "on"
}

/// The whole system prompt of a new run.
pub(crate) fn system(app: &App, workspace: &Path, persona: &Persona) -> String {
    let guidance = match is_on(app, "context.agents_file") {
        true => guidance::read(workspace).unwrap_or_else(|error| {
            app.note(text::context::no_guidance(&error.text()));
            None
        }),
        false => None,
    };
    let chars = usize::try_from(app.settings.number("context.memory_chars")).unwrap_or(usize::MAX);
    let notes = is_on(app, "context.memory").then(|| {
        memory(app, workspace).newest(chars).unwrap_or_else(|error| {
            app.note(text::context::no_memory(&error));
            String::new()
        })
    });
    prompt::system(&Parts {
        identity: identity(app, persona),
        memory: notes.as_deref().map(|text| Notes { text }),
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
    if is_on(app, "context.memory") && !is_empty {
        let untrusted = notes.is_untrusted().unwrap_or(true);
        held.take(Labels { untrusted, ..Labels::PRIVATE }, "MEMORY.md");
    }
    if is_on(app, "context.agents_file") && workspace.join(GUIDANCE).exists() {
        let mut patterns = app.settings.list("tools.untrusted_paths");
        let untrusted = patterns.any(|pattern| path_fits(pattern, GUIDANCE));
        held.take(Labels { untrusted, ..Labels::PRIVATE }, GUIDANCE);
    }
    for skill in skills(app, workspace).skills {
        if let Some(path) = skill.path_within(workspace, None) {
            let mut patterns = app.settings.list("tools.untrusted_paths");
            let untrusted = patterns.any(|pattern| path_fits(pattern, &path));
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
    prompt::system(&Parts { identity, memory: None, guidance: "", skills })
}

fn identity<'a>(app: &'a App, persona: &'a Persona) -> Identity<'a> {
    Identity {
        name: app.settings.text("persona.name"),
        system: std::env::consts::OS,
        address: app.settings.text("persona.address"),
        persona,
        // The language of answers is apart from that of the program.
        language: match app.settings.text("ui.answer_language") {
            "zh-CN" => "Simplified Chinese",
            "en" => "English",
            _ => "",
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
        let mut patterns = app.settings.list("tools.untrusted_paths");
        let untrusted = patterns.any(|pattern| path_fits(pattern, inner));
        held.take(Labels { untrusted, ..Labels::PRIVATE }, inner);
    }
    held
}

/// Reads the pictures that go with a goal.
pub(crate) fn images(app: &App, files: &[PathBuf]) -> Result<Vec<Image>, Failure> {
    if files.len() > IMAGES_MAX {
        let words = app.text(text::image::too_many(&IMAGES_MAX));
        return Err(Failure { exit: Exit::Usage, words });
    }
    files.iter().map(|file| image(app, file)).collect()
}

/// Reads one picture.
pub(crate) fn image(app: &App, file: &Path) -> Result<Image, Failure> {
    let most = app.settings.number("context.image_max");
    images::read(file, most).map_err(|error| {
        let file = &file.display();
        let text = match &error {
            ImageError::Unreadable(_) => text::image::unreadable(file, &chain(&error)),
            ImageError::NoFile => text::image::no_file(file),
            ImageError::TooLarge { .. } => text::image::too_large(file, &most),
            ImageError::WrongType => text::image::wrong_type(file),
        };
        app.failure(Exit::Usage, text)
    })
}
