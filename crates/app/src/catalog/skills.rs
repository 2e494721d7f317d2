//! The skills that runs in a workspace have, and which folders cannot be used.

use crate::app::App;
use crate::briefing;
use crate::context::skills::{Skill, SkillOwner};
use crate::error::{AppError, ChoiceError, chain};
use serde::Serialize;
use std::path::Path;

/// The skills of a workspace.
#[derive(Debug, Clone, Serialize)]
pub struct SkillList {
    /// Those that can be used, by name.
    pub skills: Vec<SkillInfo>,
    /// Folders that cannot be used.
    pub bad: Vec<UnusableSkill>,
}

/// One skill.
#[derive(Debug, Clone, Serialize)]
pub struct SkillInfo {
    /// Its name.
    pub name: String,
    /// When it is of use, in one line.
    pub description: String,
    /// Whether every run has it from the beginning.
    pub always: bool,
    /// Whose it is.
    #[serde(rename = "of")]
    pub owner: SkillOwner,
    /// Its folder.
    pub folder: String,
    /// Its files beside `SKILL.md`.
    pub files: Vec<String>,
}

/// One skill with what it says.
#[derive(Debug, Clone, Serialize)]
pub struct SkillDetails {
    /// The skill.
    #[serde(flatten)]
    pub skill: SkillInfo,
    /// What it says.
    pub body: String,
}

/// A folder that cannot be used as a skill.
#[derive(Debug, Clone, Serialize)]
pub struct UnusableSkill {
    /// The folder.
    pub folder: String,
    /// Why.
    pub detail: String,
}

impl SkillList {
    /// The skills that runs in this workspace have.
    #[must_use]
    pub fn read(app: &App, workspace: &Path) -> Self {
        let found = briefing::skills(app, workspace);
        let bad = found.bad.iter().map(|(folder, why)| UnusableSkill {
            folder: folder.display().to_string(),
            detail: chain(why),
        });
        Self { skills: found.skills.iter().map(info).collect(), bad: bad.collect() }
    }
}

/// The skill of that name, with what it says.
///
/// # Errors
/// [`ChoiceError::UnknownSkill`].
pub fn find_skill(app: &App, workspace: &Path, name: &str) -> Result<SkillDetails, AppError> {
    let found = briefing::skills(app, workspace);
    let Some(skill) = found.get(name) else {
        let all = found.skills.iter().map(|skill| skill.name.clone()).collect();
        return Err(ChoiceError::UnknownSkill { name: name.to_owned(), all }.into());
    };
    Ok(SkillDetails { skill: info(skill), body: skill.body.clone() })
}

fn info(skill: &Skill) -> SkillInfo {
    SkillInfo {
        name: skill.name.clone(),
        description: skill.description.clone(),
        always: skill.always,
        owner: skill.owner,
        folder: skill.folder().display().to_string(),
        files: skill.files(),
    }
}
