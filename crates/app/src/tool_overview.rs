//! Every built-in tool, and whether a new run in a folder has it.

use crate::app::App;
use crate::context::personas::Persona;
use crate::environment::{built_in, is_enabled, timeout_ms};
use crate::error::{AppError, ChoiceError};
use crate::{briefing, toolset};
use everloop_loops::LOOPS;
use everloop_ports::Registry;
use everloop_text as text;
use everloop_tools::{BuiltIn, Needs};
use everloop_types::{Approval, EffectClass, Handling, Lang, ToolSpec};
use serde::Serialize;

/// A built-in tool, and how it is with it here.
pub struct ToolOverview {
    /// The tool.
    pub tool: &'static BuiltIn,
    /// As a run here would have it; what the settings say goes before the table.
    pub spec: Option<ToolSpec>,
    /// Whether the settings allow it.
    pub enabled: bool,
    /// The persona of new runs, if it does without the tool.
    pub not_of: Option<String>,
    /// The loops whose runs have it.
    pub loops: Vec<&'static str>,
    /// How a run treats its calls.
    pub handling: Handling,
}

/// A built-in tool, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct ToolReport {
    /// Its name.
    pub name: &'static str,
    /// What it does, in the person's language.
    pub does: String,
    /// What a crash means for it.
    pub class: EffectClass,
    /// Whether a person is asked.
    pub approval: Approval,
    /// How long a call may take; 0 for as long as it takes.
    pub timeout_ms: u64,
    /// The argument that says what a call acts on.
    pub resource_arg: Option<String>,
    /// Whether the settings allow it.
    pub enabled: bool,
    /// Whether it can be had in this folder.
    pub available: bool,
    /// Whether any run here has it.
    pub offered: bool,
    /// The loops whose runs have it.
    pub loops: Vec<&'static str>,
}

/// Whether a new run has a tool.
pub enum ToolState<'a> {
    /// Every run has it.
    Offered,
    /// The runs of some loops have it.
    OfferedToSome,
    /// This persona does without it.
    NotOfPersona(&'a str),
    /// There is no repository here.
    NeedsRepository,
    /// There is no skill.
    NeedsSkill,
    /// This setting is missing.
    NeedsSetting(&'static str),
    /// The settings turn it off.
    Disabled,
}

impl ToolOverview {
    /// The tool of that name, or all.
    ///
    /// # Errors
    /// [`ChoiceError::UnknownTool`], or if the persona cannot be used.
    pub fn read(app: &App, name: Option<&str>) -> Result<Vec<Self>, AppError> {
        let known = match name {
            Some(name) => vec![find(name)?],
            None => built_in().collect(),
        };
        let here = registry_here(app);
        let persona = briefing::persona(app, None)?;
        Ok(known.into_iter().map(|tool| Self::of(app, tool, &here, &persona)).collect())
    }

    fn of(app: &App, tool: &'static BuiltIn, here: &Registry, persona: &Persona) -> Self {
        let spec = here.get(tool.name).map(|known| known.spec().clone());
        let not_of = (!briefing::works_with(persona, tool.name)).then(|| persona.name.clone());
        let enabled = is_enabled(&app.settings, tool.name);
        let offered = enabled && spec.is_some() && not_of.is_none();
        let loops = LOOPS.into_iter().filter(|name| offered && toolset::has(name, tool.name));
        let loops = loops.collect();
        let table = || Handling {
            class: tool.class,
            approval: tool.approval,
            timeout_ms: timeout_ms(&app.settings, tool.timeout),
            resource_arg: tool.resource_arg.map(str::to_owned),
            ..Handling::default()
        };
        let handling = spec.as_ref().map_or_else(table, |spec| spec.handling.clone());
        Self { tool, spec, enabled, not_of, loops, handling }
    }

    /// For programs.
    #[must_use]
    pub fn report(&self, lang: Lang) -> ToolReport {
        let does = text::tools::does::named(self.tool.name).map(|text| text.in_lang(lang));
        ToolReport {
            name: self.tool.name,
            does: does.unwrap_or_default(),
            class: self.handling.class,
            approval: self.handling.approval,
            timeout_ms: self.handling.timeout_ms,
            resource_arg: self.handling.resource_arg.clone(),
            enabled: self.enabled,
            available: self.spec.is_some(),
            offered: self.is_offered(),
            loops: self.loops.clone(),
        }
    }

    /// Whether any run here has it.
    #[must_use]
    pub(crate) fn is_offered(&self) -> bool {
        !self.loops.is_empty()
    }

    /// Whether a new run here has it, and if not, why.
    #[must_use]
    pub fn state(&self) -> ToolState<'_> {
        if self.loops.len() == LOOPS.len() {
            return ToolState::Offered;
        }
        if self.is_offered() {
            return ToolState::OfferedToSome;
        }
        match (self.tool.needs, &self.spec) {
            (_, Some(_)) if self.enabled => {
                ToolState::NotOfPersona(self.not_of.as_deref().unwrap_or_default())
            }
            (Needs::Repository, None) => ToolState::NeedsRepository,
            (Needs::Skill, None) if self.enabled => ToolState::NeedsSkill,
            (Needs::Setting(key), None) => ToolState::NeedsSetting(key),
            _ => ToolState::Disabled,
        }
    }
}

fn find(name: &str) -> Result<&'static BuiltIn, AppError> {
    let nearest = built_in().min_by_key(|tool| strsim::damerau_levenshtein(tool.name, name));
    match nearest {
        Some(tool) if tool.name == name => Ok(tool),
        nearest => {
            let nearest = nearest.map_or("", |tool| tool.name);
            Err(ChoiceError::UnknownTool { name: name.to_owned(), nearest }.into())
        }
    }
}

/// The tools that there are in this folder.
fn registry_here(app: &App) -> Registry {
    let here = std::env::current_dir().ok();
    let environment = app.environment(&app.settings);
    let registry = here.and_then(|here| environment.registry(here, &app.zone_name(), app.lang));
    registry.unwrap_or_default()
}
