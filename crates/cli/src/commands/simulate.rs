//! `schedule simulate`: a rehearsal of the reminders that are set, by the very code that fires.

use crate::args::Simulate;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::kept::moment;
use everloop_agenda::kept::simulate::{Crashes, Rehearsal, RehearsalResult, STEPS_MAX, rehearse};
use everloop_agenda::show::{DisplayContext, TextTable, firing_json};
use everloop_agenda::time::dates;
use everloop_store::{FiredAs, Firing};
use everloop_text::{self as text, TextOf};
use everloop_types::UtcMs;
use serde_json::json;

pub(crate) async fn simulate(app: &Console, args: &Simulate, json: bool) -> Result<Exit, Failure> {
    let reader = app.reader();
    let rehearsal = rehearsal(app, args, &reader)?;
    let store = app.open_to_read().await?;
    let fail = |error| app.store_failure(&error);
    let entries = store.agenda().schedules().await.map_err(fail)?;
    let todos = store.agenda().todos().await.map_err(fail)?;
    let played = rehearse(&entries, &todos, &app.customs(), &rehearsal).await.map_err(fail)?;
    if json {
        let rows: Vec<_> = played.firings.iter().map(|row| firing_json(&reader, row)).collect();
        let whole = json!({
            "ok": played.is_right(), "firings": rows, "crashes": played.crashes,
            "lost": played.lost.len(), "wrong": played.wrong.len(),
            "left_out": played.left_out, "cut_at": played.cut_at.map(|at| reader.moment(at)),
        });
        terminal::answer(&whole.to_string());
    } else {
        terminal::answer(&table(app, &reader, &played.firings));
        terminal::answer(&verdict(app, &reader, &played));
    }
    Ok(if played.is_right() { Exit::Done } else { Exit::Failed })
}

fn rehearsal(
    app: &Console,
    args: &Simulate,
    reader: &DisplayContext,
) -> Result<Rehearsal, Failure> {
    let date = |text: &str| date(app, reader, text);
    let (from, to) = (date(&args.from)?, date(&args.to)?);
    let bad = |value: &str, text: TextOf| app.failure(Exit::Usage, text(&value));
    if from >= to {
        return Err(bad(&args.to, text::simulate::backwards));
    }
    let crashes = match args.crash_at.as_deref() {
        None => Crashes::None,
        Some("all") => Crashes::Everywhere,
        Some(list) => {
            let numbers: Result<Vec<u64>, _> = list.split(',').map(|n| n.trim().parse()).collect();
            Crashes::At(numbers.map_err(|_| bad(list, text::simulate::no_number))?)
        }
    };
    let mut down = Vec::new();
    for text in &args.down {
        let (begins, ends) =
            text.split_once("..").ok_or_else(|| bad(text, text::simulate::no_range))?;
        let range = (date(begins)?, date(ends)?);
        if range.0 >= range.1 {
            return Err(bad(text, text::simulate::no_range));
        }
        down.push(range);
    }
    Ok(Rehearsal { from, to, crashes, down, steps_max: STEPS_MAX })
}

fn date(app: &Console, reader: &DisplayContext, text: &str) -> Result<UtcMs, Failure> {
    let when = dates::parse(text, &reader.now);
    let at = when.and_then(|when| when.at.to_zoned(reader.now.time_zone().clone()).ok());
    at.map(|at| at.timestamp().as_millisecond()).ok_or_else(|| Failure {
        exit: Exit::Usage,
        words: app.text(text::command::not_a_date(&text)),
    })
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
            FiredAs::Fired => text::simulate::fired(),
            FiredAs::Late => text::simulate::late(),
            FiredAs::Missed => text::simulate::missed(),
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
