//! `AGENT_MODE` in the `.env` of a workspace, which counts only where the person trusts the folder:
//! whoever wrote a repository must not choose how the person's models are driven.

use crate::app::App;
use crate::error::AppError;
use crate::frames;
use crate::notice::AppNotice;
use crate::settings::keys;
use std::path::{Path, PathBuf};

/// The loop that the workspace names, if it may.
pub(crate) fn of_workspace(app: &App, workspace: &Path) -> Result<Option<String>, AppError> {
    let is_chosen = app.settings.origin(keys::loops::default()).is_of_this_process();
    if is_chosen {
        return Ok(None);
    }
    let Ok(text) = std::fs::read_to_string(workspace.join(".env")) else { return Ok(None) };
    let Some(mode) = named(&text) else { return Ok(None) };
    if !is_trusted(app, workspace) {
        let folder = workspace.to_owned();
        app.notify(AppNotice::WorkspaceNotTrusted { mode: mode.to_owned(), folder });
        return Ok(None);
    }
    frames::loop_name(&crate::settings::mode_name(mode)).map(Some)
}

/// Whether the workspace names a loop that is not used because the folder is not trusted.
pub(crate) fn is_left_out(app: &App, workspace: &Path) -> bool {
    let text = std::fs::read_to_string(workspace.join(".env")).unwrap_or_default();
    named(&text).is_some() && !is_trusted(app, workspace)
}

fn is_trusted(app: &App, workspace: &Path) -> bool {
    let is_this = |folder: &PathBuf| folder.canonicalize().is_ok_and(|it| it == workspace);
    app.settings.workspaces.trusted.iter().any(is_this)
}

/// The value of `AGENT_MODE` in the text of a `.env` file.
fn named(text: &str) -> Option<&str> {
    let value = text.lines().rev().find_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let value = line.strip_prefix("AGENT_MODE")?.trim_start().strip_prefix('=')?.trim();
        let value = value.split(" #").next().unwrap_or_default().trim();
        Some(value.trim_matches(['"', '\'']))
    });
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn the_mode_is_found_as_env_files_write_it() {
        for text in [
            "AGENT_MODE=react",
            "A=1\nexport AGENT_MODE = \"react\"\n",
            "AGENT_MODE='react' # why",
            "AGENT_MODE=staged\nAGENT_MODE=react",
        ] {
            assert_eq!(named(text), Some("react"), "{text}");
        }
        for text in ["", "AGENT_MODE=", "# AGENT_MODE=react", "MY_AGENT_MODE=react"] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
