//! `schedule simulate`: a rehearsal of the reminders that are set, by the very code that fires.

use crate::args::SimulateArgs;
use everloop_agenda::kept::moment;
use everloop_agenda::kept::simulate::{RehearsalResult, STEPS_MAX};
use everloop_agenda::show::{DisplayContext, TextTable};
use everloop_app::rehearsal::{RehearsalReport, RehearsalRequest, rehearse_reminders};
use everloop_console::failure::of_rehearsal;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_store::{Firing, FiringOutcome};
use everloop_text as text;

pub(crate) async fn simulate(
    app: &Console,
    args: &SimulateArgs,
    json: bool,
) -> Result<Exit, Failure> {
    let reader = app.reader();
    let request = RehearsalRequest {
        from: &args.from,
        to: &args.to,
        crash_at: args.crash_at.as_deref(),
        down: &args.down,
    };
    let store = app.open_to_read().await?;
    let played = rehearse_reminders(app, &store, &request, &reader).await;
    let played = played.map_err(|error| of_rehearsal(app, &error))?;
    if json {
        terminal::print_json(&RehearsalReport::of(&played, &reader));
    } else {
        terminal::print_line(&table(app, &reader, &played.firings));
        terminal::print_line(&verdict(app, &reader, &played));
    }
    Ok(if played.is_right() { Exit::Done } else { Exit::Failed })
}

fn table(app: &Console, reader: &DisplayContext, firings: &[Firing]) -> String {
    let heads = [
        text::simulate::head::fired(),
        text::simulate::head::offset(),
        text::simulate::head::state(),
        text::simulate::head::what(),
    ];
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    for firing in firings {
        let at = moment(firing.fired_at).to_zoned(reader.now.time_zone().clone());
        let state = match firing.state {
            FiringOutcome::Fired => text::simulate::fired(),
            FiringOutcome::Late => text::simulate::late(),
            FiringOutcome::Missed => text::simulate::missed(),
        };
        table.row(vec![
            at.strftime("%Y-%m-%d %H:%M").to_string(),
            at.strftime("%:z").to_string(),
            app.text(state),
            format!("{} #{} {}", firing.due.kind.as_str(), firing.due.subject, firing.title),
        ]);
    }
    table.show(reader.width)
}

fn verdict(app: &Console, reader: &DisplayContext, played: &RehearsalResult) -> String {
    let firings = &played.firings.len();
    let crashes = &played.crashes;
    let lost = &played.lost.len();
    let wrong = &played.wrong.len();
    let mut lines = vec![app.text(if played.is_right() {
        text::simulate::Right { firings, crashes, lost, wrong }.text()
    } else {
        text::simulate::Wrong { firings, crashes, lost, wrong }.text()
    })];
    if played.left_out > 0 {
        let count = played.left_out.to_string();
        lines.push(app.text(text::simulate::left_out(&count)));
    }
    if let Some(at) = played.cut_at {
        let (at, most) = (reader.moment(at), STEPS_MAX.to_string());
        lines.push(app.text(text::simulate::cut(&at, &most)));
    }
    lines.join("\n")
}
