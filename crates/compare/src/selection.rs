//! Which tasks are compared, and how many runs at once.

use crate::task::{self, TaskError};
use crate::{ContestTask, is_simulated};
use std::path::Path;
use std::sync::Arc;

/// Why tasks cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum TaskSelectionError {
    /// The folder of tasks cannot be used.
    #[error(transparent)]
    Folder(#[from] TaskError),
    /// There is no such task.
    #[error("no task {name}")]
    UnknownTask {
        /// What was asked for.
        name: String,
        /// Those that there are.
        all: Vec<String>,
    },
}

/// The tasks of these names, or of these groups; all if none is named. They come from the folder,
/// or with the program.
///
/// # Errors
/// [`TaskSelectionError`].
pub fn select_tasks(
    folder: Option<&Path>,
    names: &[String],
) -> Result<Vec<Arc<ContestTask>>, TaskSelectionError> {
    let all = match folder {
        None => task::builtin(),
        Some(folder) => task::from_folder(folder)?,
    };
    let wanted: Vec<&str> = names.iter().flat_map(|name| members(name)).collect();
    let is_known = |name: &&&str| all.iter().any(|task| task.name == **name);
    if let Some(unknown) = wanted.iter().find(|name| !is_known(name)) {
        let all = all.iter().map(|task| task.name.clone()).collect();
        return Err(TaskSelectionError::UnknownTask { name: (*unknown).to_owned(), all });
    }
    let is_wanted = |task: &ContestTask| wanted.is_empty() || wanted.contains(&task.name.as_str());
    Ok(all.into_iter().filter(is_wanted).map(Arc::new).collect())
}

/// The tasks that a name means: itself, or those of a group.
fn members(name: &str) -> Vec<&str> {
    task::group(name).map_or_else(|| vec![name], <[&str]>::to_vec)
}

/// How many runs at once. Simulated and scripted models share the machine's cores. An endpoint of
/// one's own keeps one prompt, and a second run would take it away each time.
pub fn runs_at_once(models: &[String], is_scripted: impl Fn(&str) -> bool) -> usize {
    let is_endpoint = |name: &String| !is_simulated(name.trim()) && !is_scripted(name);
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    if models.iter().any(is_endpoint) { 1 } else { cores.max(2) }
}
