//! `load_skill`: a skill's text when it is needed, and its further files.

use super::skills::{Skill, find};
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_tools::clip;
use everloop_types::{Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The name that prompts use.
pub(crate) const LOAD_SKILL: &str = "load_skill";

/// The arguments of `load_skill`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadSkillArgs {
    /// Its name.
    pub name: String,
    /// A further file of it; without one, the skill itself.
    #[serde(default)]
    pub file: Option<PathBuf>,
}

/// Loads skills.
#[derive(Debug, Clone)]
pub(crate) struct LoadSkill {
    /// The user's home; none to leave their skills out.
    pub home: Option<PathBuf>,
    /// The workspace.
    pub workspace: PathBuf,
    /// Files of the program itself, which are never opened.
    pub own: Vec<PathBuf>,
}

impl Tool for LoadSkill {
    const NAME: &'static str = LOAD_SKILL;
    type Args = LoadSkillArgs;

    fn description(&self) -> &'static str {
        "Load a skill: instructions for a kind of work, with the list of its further files."
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Pure,
            approval: Approval::Allow,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 30_000,
            grace_ms: 1_000,
            flow: Some(DataFlow::workspace()),
            ..Handling::default()
        }
    }

    fn text_arg() -> Option<&'static str> {
        Some("name")
    }

    fn leads_to(&self, args: &LoadSkillArgs) -> Option<String> {
        let found = find(self.home.as_deref(), &self.workspace);
        let skill = found.get(args.name.trim())?;
        skill.path_within(&self.workspace, args.file.as_deref())
    }

    async fn call(&self, args: LoadSkillArgs, context: &CallContext) -> ToolReturn {
        let (tool, chars) = (self.clone(), context.observation_chars);
        // A slow disk must not hold up other runs.
        let loaded = tokio::task::spawn_blocking(move || tool.load(&args)).await;
        ToolReturn::Seen(match loaded {
            Ok(Ok(text)) => Observation::ok(clip::head(&text, chars)),
            Ok(Err(why)) => Observation::error(clip::head(&why, chars)),
            Err(error) => Observation::error(format!("the tool broke off: {error}")),
        })
    }
}

impl LoadSkill {
    fn load(&self, args: &LoadSkillArgs) -> Result<String, String> {
        let found = find(self.home.as_deref(), &self.workspace);
        let Some(skill) = found.get(args.name.trim()) else {
            let known: Vec<&str> = found.skills.iter().map(|skill| skill.name.as_str()).collect();
            return Err(format!(
                "there is no skill {:?}; the skills are: {}",
                args.name,
                known.join(", ")
            ));
        };
        match &args.file {
            None => Ok(whole(skill)),
            Some(file) => self.further(skill, file),
        }
    }

    fn further(&self, skill: &Skill, file: &Path) -> Result<String, String> {
        skill.file(file, &self.own).map_err(|error| error.to_string())
    }
}

fn whole(skill: &Skill) -> String {
    let files = skill.files();
    match files.is_empty() {
        true => skill.body.clone(),
        false => {
            format!("{}\n\nFurther files of this skill:\n- {}", skill.body, files.join("\n- "))
        }
    }
}
