//! A line that is not saved because something else takes place then: the page offers to save it all
//! the same, or at the next free moment.

use super::agenda_line::read_time;
use super::forms::FormFields;
use super::frame::PageRequest;
use crate::state::ServerState;
use everloop_agenda::commands::{AgendaCommand, FirstOccurrence, ScheduleCommand};
use everloop_agenda::desk::{AgendaResult, CommandRefusal};
use everloop_agenda::show as words_of;
use everloop_pages::agenda::ConflictOffer;
use everloop_pages::parts::say;
use everloop_text as text;
use everloop_text::pages as words;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where the line is kept for the page that follows.
pub(super) const CONFLICT: &str = "agenda:conflict";

/// A line that was not saved.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptConflict {
    said: String,
    text: String,
    kind: String,
    free: Option<i64>,
}

/// What a command came to, without how a terminal forces it.
pub(super) fn answer_words(request: &PageRequest, done: &AgendaResult) -> String {
    let force = say(request.lang(), text::schedule::allow_conflict());
    let said = words_of::answer(&request.reader, done);
    said.lines().filter(|line| *line != force).collect::<Vec<_>>().join("\n")
}

/// What is in the way of a line, if something is.
pub(super) fn conflict_with(
    request: &PageRequest,
    done: &AgendaResult,
    line: &str,
    kind: &str,
) -> Option<KeptConflict> {
    let (said, free) = match done {
        Err(CommandRefusal::Conflict(conflict)) => {
            (answer_words(request, done), conflict.next_free.map(Timestamp::as_millisecond))
        }
        Err(CommandRefusal::OverlapsItself) => {
            (say(request.lang(), words::agenda::overlaps_itself()), None)
        }
        _ => return None,
    };
    Some(KeptConflict { said, text: line.to_owned(), kind: kind.to_owned(), free })
}

/// The line that was not saved last.
pub(super) fn conflict_offer(state: &ServerState, request: &PageRequest) -> Option<ConflictOffer> {
    let kept = state.flashes.get(request.session_name(), CONFLICT)?;
    let kept: KeptConflict = serde_json::from_str(&kept).ok()?;
    let free = kept.free.and_then(|at| {
        let moment = Timestamp::from_millisecond(at).ok()?;
        Some((at, read_time(request, moment).at))
    });
    Some(ConflictOffer { said: kept.said, text: kept.text, kind: kept.kind, free })
}

/// What the person chose to do about a conflict.
pub(super) fn choose_despite(
    request: &PageRequest,
    command: &mut AgendaCommand,
    fields: &FormFields,
) {
    let AgendaCommand::Schedule(ScheduleCommand::Add(new)) = command else { return };
    new.allow_conflict |= !fields.get("allow").is_empty();
    let at = fields.get("at").parse().ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    if let Some(at) = at {
        let zone = request.reader.now.time_zone().clone();
        new.start = Some(FirstOccurrence { wall: at.to_zoned(zone).datetime(), at });
    }
}
