//! Skills: folders with a `SKILL.md`, of the user and of the workspace.
//!
//! A skill of the workspace goes before one of the user with the same name. What leads out of its
//! place is refused: a workspace may come from anywhere.

use super::front_matter;
use everloop_tools::{Workspace, WorkspaceError, clean};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where the skills of a home or a workspace lie.
pub(crate) const SKILLS_FOLDER: &str = ".agents/skills";

/// Skills that are read of one place.
const SKILLS_MAX: usize = 64;

/// Bytes of one `SKILL.md`.
const SKILL_BYTES_MAX: u64 = 64 * 1_024;

/// Characters of a name, and of a description.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1_024;

/// Further files of a skill that are listed, and how deep they are looked for.
const FILES_MAX: usize = 100;
const DEPTH_MAX: usize = 3;

/// Whose a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillOwner {
    /// The user's own, for every workspace.
    User,
    /// The workspace's.
    Workspace,
}

impl SkillOwner {
    /// The word used in JSON and prompts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "workspace",
        }
    }
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Its name.
    pub name: String,
    /// When it is of use, in one line.
    pub description: String,
    /// Whether every run has it from the beginning.
    pub always: bool,
    /// Whose it is.
    pub owner: SkillOwner,
    /// What it says.
    pub body: String,
    place: SkillFolder,
}

/// The skill's folder, which nothing leads out of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SkillFolder {
    folder: PathBuf,
}

/// Why a skill, or a file of one, cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SkillError {
    /// It cannot be opened, or leads out of its place.
    #[error(transparent)]
    Closed(#[from] WorkspaceError),
    /// It is longer than a skill may be.
    #[error("it has more than {SKILL_BYTES_MAX} bytes")]
    TooLarge,
    /// There is no front matter.
    #[error("it does not begin with front matter between two lines of ---")]
    NoFrontMatter,
    /// The front matter has no usable name.
    #[error("its name is missing, or is not made of letters, digits and -")]
    Name,
    /// The front matter has no description.
    #[error("it has no description")]
    NoDescription,
    /// There are more skills in the place than are read.
    #[error("there are more than {SKILLS_MAX} skills; it is left out")]
    TooMany,
    /// A file that is not within the skill's folder.
    #[error("{} is not within the skill's folder", .0.display())]
    Outside(PathBuf),
}

/// The skills of a home and a workspace.
#[derive(Debug, Default)]
pub(crate) struct SkillSearch {
    /// The skills, by name.
    pub skills: Vec<Skill>,
    /// What cannot be used, and why.
    pub bad: Vec<(PathBuf, SkillError)>,
}

impl SkillSearch {
    /// The skill of that name.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }
}

/// Looks for the skills of a home, if there is one, and of a workspace.
#[must_use]
pub(crate) fn find(home: Option<&Path>, workspace: &Path) -> SkillSearch {
    let mut found = SkillSearch::default();
    let mut by_name = BTreeMap::new();
    let places = home.map(|home| (home, SkillOwner::User)).into_iter();
    // The later ones replace the earlier ones.
    for (root, owner) in places.chain([(workspace, SkillOwner::Workspace)]) {
        for (n, folder) in folders(&root.join(SKILLS_FOLDER)).into_iter().enumerate() {
            let read = match n < SKILLS_MAX {
                true => Skill::read(root, &folder, owner),
                false => Err(SkillError::TooMany),
            };
            match read {
                Ok(skill) => drop(by_name.insert(skill.name.clone(), skill)),
                Err(why) => found.bad.push((folder, why)),
            }
        }
    }
    found.skills = by_name.into_values().collect();
    found
}

/// The folders of a place that have a `SKILL.md`, in order.
fn folders(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let has = |folder: &PathBuf| folder.join("SKILL.md").symlink_metadata().is_ok();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(has).collect();
    all.sort();
    all
}

impl Skill {
    fn read(root: &Path, folder: &Path, owner: SkillOwner) -> Result<Self, SkillError> {
        // Users keep skills elsewhere and link to them. In a workspace a link would bring files
        // past the rules and labels for them.
        if owner == SkillOwner::Workspace && !is_itself(root, folder) {
            return Err(SkillError::Outside(folder.to_owned()));
        }
        let place = SkillFolder { folder: folder.to_owned() };
        let text = place.text(Path::new("SKILL.md"), &[])?;
        let (fields, body) = front_matter::split(&text).ok_or(SkillError::NoFrontMatter)?;
        let name = fields.text("name").filter(|name| is_name(name)).ok_or(SkillError::Name)?;
        let description = fields.text("description").ok_or(SkillError::NoDescription)?;
        let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self {
            name: name.to_owned(),
            description: line.chars().take(DESCRIPTION_CHARS_MAX).collect(),
            always: fields.is_on("always"),
            owner,
            body: body.trim().to_owned(),
            place,
        })
    }

    /// The skill's folder.
    #[must_use]
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.folder.components().collect()
    }

    /// The path of `SKILL.md`, or of a further file, within a workspace; none if the skill does not
    /// lie there.
    #[must_use]
    pub(crate) fn path_within(&self, workspace: &Path, file: Option<&Path>) -> Option<String> {
        let path = self.folder().join(file.unwrap_or(Path::new("SKILL.md")));
        let (root, path) = (real(workspace), real(&path));
        path.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned())
    }

    /// The text of a further file; the program's own files are never opened.
    ///
    /// # Errors
    /// [`SkillError`] if it is not within the folder, or is no text of bounded size.
    pub(crate) fn file(&self, path: &Path, own: &[PathBuf]) -> Result<String, SkillError> {
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.as_os_str().is_empty() {
            return Err(SkillError::Outside(path.to_owned()));
        }
        self.place.text(path, own)
    }

    /// Its files beside `SKILL.md`, as paths below its folder.
    #[must_use]
    pub(crate) fn files(&self) -> Vec<String> {
        let mut all = Vec::new();
        list(&self.folder(), Path::new(""), &mut all);
        all.sort();
        all.retain(|file| file != "SKILL.md");
        all
    }
}

/// Where links lead, as far as something is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl SkillFolder {
    fn text(&self, path: &Path, own: &[PathBuf]) -> Result<String, SkillError> {
        let folder = Workspace::open(&self.folder)?.protecting(own);
        let (bytes, size) = folder.read(path, SKILL_BYTES_MAX)?;
        match size > bytes.len() as u64 {
            true => Err(SkillError::TooLarge),
            false => Ok(clean(&bytes)),
        }
    }
}

/// Whether no link leads from the root to the folder.
fn is_itself(root: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let inner = folder.strip_prefix(root).ok();
    inner.and_then(|inner| Some(real(root)?.join(inner))) == real(folder)
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    name.chars().count() <= NAME_CHARS_MAX && name.chars().all(plain)
}

/// Links are not followed: whatever is listed lies in the folder.
fn list(root: &Path, below: &Path, all: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(below)).into_iter().flatten().flatten();
    for entry in entries {
        let path = below.join(entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if all.len() >= FILES_MAX {
            return;
        }
        if kind.is_file() {
            all.push(path.display().to_string());
        } else if kind.is_dir() && path.components().count() < DEPTH_MAX {
            list(root, &path, all);
        }
    }
}
