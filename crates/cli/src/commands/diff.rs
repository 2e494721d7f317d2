//! `everloop diff`: where two runs part, and what became of each.

use super::runs::details;
use crate::args::Diff;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::{preview, summary};
use crate::terminal;
use everloop_app::runs::RunDetails;
use everloop_engine::{DiffPosition, DifferenceKind, Divergence, first_divergence, tools_after};
use everloop_text as text;
use everloop_types::{one_line, spelled};
use serde_json::{Value, json};

pub(crate) async fn diff(app: &Console, args: &Diff) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let (one, other) =
        (app.find_run(&store, &args.one).await?, app.find_run(&store, &args.other).await?);
    let (one, other) = (details(app, &store, &one).await?, details(app, &store, &other).await?);
    let found = first_divergence(&one.history, &other.history);
    let runs = [
        (&one, found.as_ref().and_then(|found| found.one.as_ref())),
        (&other, found.as_ref().and_then(|found| found.other.as_ref())),
    ];
    match args.json {
        true => terminal::answer(&as_json(found.as_ref(), &runs).to_string()),
        false => tell(app, found.as_ref(), &runs),
    }
    Ok(if found.is_none() { Exit::Done } else { Exit::Failed })
}

type Side<'a> = (&'a RunDetails, Option<&'a DiffPosition>);

fn tell(app: &Console, found: Option<&Divergence>, runs: &[Side<'_>; 2]) {
    let Some(found) = found else {
        terminal::answer(&app.text(text::diff::same()));
        return;
    };
    let key = match found.differs {
        DifferenceKind::Goal => text::diff::goal(),
        DifferenceKind::Loop => text::diff::r#loop(),
        DifferenceKind::Decision => text::diff::decision(),
        DifferenceKind::Reply => text::diff::reply(),
        DifferenceKind::Outcome => text::diff::outcome(),
        DifferenceKind::Input => text::diff::input(),
        DifferenceKind::Ending => text::diff::ending(),
        DifferenceKind::OnlyOne => text::diff::only_one(),
    };
    terminal::answer(&app.text(key));
    for (shown, place) in runs {
        let run = shown.row.run.as_str();
        let line = match place {
            Some(DiffPosition { seq, kind, says }) => {
                let (seq, says) = (seq.to_string(), preview(says));
                app.text(text::diff::At { id: &run, seq: &seq, kind, says: &says }.text())
            }
            None => app.text(text::diff::stands(&run)),
        };
        terminal::answer(&line);
    }
    for (shown, place) in runs {
        terminal::answer("");
        terminal::answer(&after(app, shown, *place));
        if let Some(text) = shown.text() {
            terminal::answer(&spelled(&text));
        }
    }
}

/// What became of one of them, on one line.
fn after(app: &Console, shown: &RunDetails, place: Option<&DiffPosition>) -> String {
    let tools = one_line(&tools(shown, place).join(", "));
    let tools = if tools.is_empty() { "–".to_owned() } else { tools };
    format!(
        "{}\n{}",
        app.text(text::diff::after(&shown.row.run.as_str(), &tools)),
        summary(app, shown)
    )
}

fn tools(shown: &RunDetails, place: Option<&DiffPosition>) -> Vec<String> {
    place.map_or_else(Vec::new, |place| tools_after(&shown.history, place.seq))
}

fn as_json(found: Option<&Divergence>, runs: &[Side<'_>; 2]) -> Value {
    let sides: Vec<Value> = runs
        .iter()
        .map(|(shown, place)| {
            let mut side = shown.result();
            side["at"] = json!(place.map(|place| place.seq));
            side["kind"] = json!(place.map(|place| place.kind));
            side["says"] = json!(place.map(|place| &place.says));
            side["tools_after"] = json!(tools(shown, *place));
            side
        })
        .collect();
    json!({
        "equal": found.is_none(),
        "differs": found.map(|found| found.differs.as_str()),
        "runs": sides,
    })
}
