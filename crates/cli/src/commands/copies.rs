//! `everloop backup` and `everloop restore`: a checked copy of the data, and the way back.

use crate::args;
use everloop_app::copies::{self, Restoration};
use everloop_console::{Agreement, Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::RunId;
use serde_json::json;

pub(crate) async fn backup(app: &Console, args: args::BackupArgs) -> Result<Exit, Failure> {
    let copy = app.checked(copies::back_up(app, args.file).await)?;
    let file = copy.file.display().to_string();
    match args.json {
        true => {
            let told = json!({"file": file, "runs": copy.runs, "bytes": copy.bytes});
            terminal::print_json(&told);
        }
        false => terminal::print_line(&file),
    }
    let damaged = app.checked(copies::damaged_runs(&copy.file).await)?;
    if !damaged.is_empty() {
        let damaged = damaged.iter().map(RunId::as_str).collect::<Vec<_>>().join(", ");
        return Err(app.failure(Exit::Data, text::backup::damaged(&file, &damaged)));
    }
    app.note(text::backup::Done { runs: &copy.runs, bytes: &copy.bytes, file: &file }.text());
    Ok(Exit::Done)
}

pub(crate) async fn restore(app: &Console, args: args::RestoreArgs) -> Result<Exit, Failure> {
    let restoration = app.checked(Restoration::prepare(app, args.file).await)?;
    if restoration.is_foreign {
        terminal::eprint_line(&app.text(text::restore::foreign(&restoration.copy.display())));
    }
    confirm(app, args.yes, &restoration).await?;
    let restored = app.checked(restoration.restore(app).await)?;
    let copy = restored.copy.display();
    if args.json {
        let kept = restored.kept.as_ref().map(|kept| kept.display().to_string());
        let dropped = restored.approvals_dropped;
        let told = json!({"file": copy.to_string(), "kept": kept, "approvals_dropped": dropped});
        terminal::print_json(&told);
    }
    terminal::eprint_line(&app.text(match &restored.kept {
        Some(kept) => text::restore::done(&copy, &kept.display()),
        None => text::restore::done_first(&copy),
    }));
    if restored.approvals_dropped > 0 {
        let dropped = text::restore::approvals_dropped(&restored.approvals_dropped);
        terminal::eprint_line(&app.text(dropped));
    }
    Ok(Exit::Done)
}

/// Asks, unless `--yes` has answered. What open runs did since the copy is not in the copy, so they
/// do not go on.
async fn confirm(app: &Console, yes: bool, restoration: &Restoration) -> Result<(), Failure> {
    let open = copies::open_runs(&restoration.seen);
    if open > 0 {
        terminal::eprint_line(&app.text(text::restore::open_runs(&open)));
    }
    let file = &restoration.copy.display();
    let agreement = Agreement {
        question: text::restore::ask(file),
        needs_yes: text::restore::needs_yes(file),
        declined: text::restore::left(file),
    };
    app.agree(yes, agreement).await
}
