//! `everloop memory`: what runs of a workspace noted, for the person to read, edit and clear.

use crate::args::{self, MemoryVerb};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_app::context::memory::{MEMORY_BYTES_MAX, Memory};
use everloop_app::{briefing, frames};
use everloop_text as text;
use std::path::Path;

pub(crate) async fn memory(app: &Console, args: &args::MemoryArgs) -> Result<Exit, Failure> {
    let workspace = app.checked(frames::workspace(args.workspace.as_deref()))?;
    let memory = briefing::memory(app, &workspace);
    match &args.verb {
        None | Some(MemoryVerb::Show) => show(app, &memory),
        Some(MemoryVerb::Path) => {
            terminal::answer(&memory.file().display().to_string());
            Ok(Exit::Done)
        }
        Some(MemoryVerb::Edit) => edit(app, &memory).await,
        Some(MemoryVerb::Clear { yes }) => clear(app, &memory, *yes).await,
    }
}

fn show(app: &Console, memory: &Memory) -> Result<Exit, Failure> {
    let text = memory.text().map_err(|error| failed(app, &error))?;
    if text.trim().is_empty() {
        let file = memory.file().display().to_string();
        terminal::answer(&app.text(text::memory::empty(&file)));
        return Ok(Exit::Done);
    }
    terminal::answer(&everloop_types::spelled(text.trim_end()));
    if text.len() as u64 > MEMORY_BYTES_MAX {
        terminal::complain(&app.text(text::memory::full(&MEMORY_BYTES_MAX)));
    }
    Ok(Exit::Done)
}

async fn edit(app: &Console, memory: &Memory) -> Result<Exit, Failure> {
    let file = memory.file();
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| failed(app, &error))?;
    super::config::open_editor(app, &file).await?;
    Ok(Exit::Done)
}

/// What was there is kept beside the file once: a mistake can be taken back.
async fn clear(app: &Console, memory: &Memory, yes: bool) -> Result<Exit, Failure> {
    let wanted = yes || app.interactive && agreed(app).await;
    if !wanted {
        return Err(Failure { exit: Exit::Usage, words: app.text(text::memory::needs_yes()) });
    }
    let words = match memory.clear().map_err(|error| failed(app, &error))? {
        Some(kept) => app.text(text::memory::cleared(&kept.display())),
        None => app.text(text::memory::empty(&memory.file().display())),
    };
    terminal::answer(&words);
    Ok(Exit::Done)
}

async fn agreed(app: &Console) -> bool {
    let said = terminal::ask(&app.text(text::memory::sure())).await.unwrap_or_default();
    everloop_text::means_yes(&said)
}

fn failed(app: &Console, error: &std::io::Error) -> Failure {
    app.failure(Exit::Failed, text::error::system(&error))
}
