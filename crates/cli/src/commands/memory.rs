//! `everloop memory`: what runs of a workspace noted, for the person to read, edit and clear, and
//! the facts that later runs are told.

use super::facts::{self, FactListing};
use crate::args::{self, MemoryVerb};
use everloop_app::context::memory::{MEMORY_BYTES_MAX, Memory};
use everloop_app::facts::FactDecision;
use everloop_app::{briefing, frames};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use serde_json::json;
use std::path::Path;

pub(crate) async fn memory(app: &Console, args: &args::MemoryArgs) -> Result<Exit, Failure> {
    let workspace = app.checked(frames::workspace(args.workspace.as_deref()))?;
    let memory = briefing::memory(app, &workspace);
    let (folder, as_json) = (workspace.to_string_lossy(), args.json);
    match &args.verb {
        None if !as_json => {
            let (status, workspace) = (None, Some(&*folder));
            facts::list(app, FactListing { status, workspace, limit: 100, json: false }).await?;
            show(app, &memory, as_json)
        }
        None | Some(MemoryVerb::Show { id: None }) => show(app, &memory, as_json),
        Some(MemoryVerb::Show { id: Some(id) }) => facts::show(app, id, as_json).await,
        Some(MemoryVerb::Facts { status, everywhere, limit }) => {
            let workspace = (!everywhere).then_some(&*folder);
            let (status, limit) = (status.as_deref(), *limit);
            facts::list(app, FactListing { status, workspace, limit, json: as_json }).await
        }
        Some(MemoryVerb::Add { text, global }) => {
            let workspace = (!global).then_some(&*folder);
            facts::add(app, workspace, &text.join(" "), as_json).await
        }
        Some(MemoryVerb::Accept { ids }) => {
            facts::decide(app, ids, FactDecision::Accept, as_json).await
        }
        Some(MemoryVerb::Reject { ids }) => {
            facts::decide(app, ids, FactDecision::Reject, as_json).await
        }
        Some(MemoryVerb::Withdraw { ids }) => {
            facts::decide(app, ids, FactDecision::Withdraw, as_json).await
        }
        Some(MemoryVerb::Search { words }) => {
            facts::search(app, &folder, &words.join(" "), as_json).await
        }
        Some(MemoryVerb::Edit { id: Some(id), text }) => {
            facts::edit(app, id, &text.join(" "), as_json).await
        }
        Some(MemoryVerb::Path) if args.json => {
            terminal::print_json(&json!({ "file": memory.file() }));
            Ok(Exit::Done)
        }
        Some(MemoryVerb::Path) => {
            terminal::print_line(&memory.file().display().to_string());
            Ok(Exit::Done)
        }
        Some(MemoryVerb::Edit { id: None, .. }) => edit(app, &memory).await,
        Some(MemoryVerb::Clear { yes }) => clear(app, &memory, *yes, args.json).await,
    }
}

fn show(app: &Console, memory: &Memory, as_json: bool) -> Result<Exit, Failure> {
    let text = memory.text().map_err(|error| failed(app, &error))?;
    if as_json {
        terminal::print_json(&json!({"file": memory.file(), "text": text}));
        return Ok(Exit::Done);
    }
    if text.trim().is_empty() {
        let file = memory.file().display().to_string();
        terminal::print_line(&app.text(text::memory::empty(&file)));
        return Ok(Exit::Done);
    }
    terminal::print_line(&everloop_types::spelled(text.trim_end()));
    if text.len() as u64 > MEMORY_BYTES_MAX {
        terminal::eprint_line(&app.text(text::memory::full(&MEMORY_BYTES_MAX)));
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
async fn clear(app: &Console, memory: &Memory, yes: bool, as_json: bool) -> Result<Exit, Failure> {
    let wanted = yes || app.interactive && agreed(app).await;
    if !wanted {
        return Err(Failure { exit: Exit::Usage, words: app.text(text::memory::needs_yes()) });
    }
    let cleared = memory.clear().map_err(|error| failed(app, &error))?;
    if as_json {
        terminal::print_json(&json!({"file": memory.file(), "kept": cleared}));
        return Ok(Exit::Done);
    }
    let words = match cleared {
        Some(kept) => app.text(text::memory::cleared(&kept.display())),
        None => app.text(text::memory::empty(&memory.file().display())),
    };
    terminal::print_line(&words);
    Ok(Exit::Done)
}

async fn agreed(app: &Console) -> bool {
    let said = terminal::ask(&app.text(text::memory::sure())).await.unwrap_or_default();
    everloop_text::means_yes(&said)
}

fn failed(app: &Console, error: &std::io::Error) -> Failure {
    app.failure(Exit::Failed, text::error::system(&error))
}
