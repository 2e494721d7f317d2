//! What has been sent of the calls under way: a watcher that comes late begins with it.

use crate::Update;
use everloop_types::journal::EntryKind;
use everloop_types::{CallStream, Fragment, StreamPiece};
use std::collections::BTreeMap;

/// Bytes that are kept of what a running tool prints: its end.
const OUTPUT_BYTES_MAX: usize = 16_384;

/// The text so far of every call under way in this process, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct OpenStreams(BTreeMap<CallStream, SentStream>);

/// What was sent of one call.
#[derive(Debug, Default)]
struct SentStream {
    pieces: Vec<StreamPiece>,
    /// Where the next piece begins.
    end: u64,
}

impl OpenStreams {
    /// Takes in an update and gives a piece its place. It is kept until its call is over, is made
    /// again, or its run is left.
    pub(crate) fn take(&mut self, update: &mut Update) {
        match update {
            Update::Delta(piece) => {
                let sent = self.0.entry(piece.stream.clone()).or_default();
                piece.offset = sent.end;
                sent.end = piece.end();
                if sent.pieces.last_mut().is_some_and(|last| last.grow(piece)) {
                    sent.pieces.last_mut().into_iter().for_each(shorten);
                } else {
                    sent.pieces.push(piece.clone());
                }
            }
            Update::Entry(_, entry) => {
                let is_over = matches!(
                    entry.kind,
                    EntryKind::EffectFinished(_) | EntryKind::EffectAttemptFailed(_)
                );
                if let Some(effect) = entry.effect.as_ref().filter(|_| is_over) {
                    self.0.retain(|stream, _| stream.effect != *effect);
                }
            }
            Update::Taken(run) | Update::Released(run) => {
                self.0.retain(|stream, _| stream.effect.run != *run);
            }
        }
    }

    /// All of it.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = StreamPiece> {
        self.0.values().flat_map(|sent| sent.pieces.iter().cloned())
    }
}

/// Keeps the end of what a tool prints.
fn shorten(piece: &mut StreamPiece) {
    if let Fragment::Output(text) = &mut piece.fragment {
        let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES_MAX));
        text.drain(..from);
        piece.offset += from as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::{EffectId, RunId};

    fn piece(fragment: Fragment) -> Update {
        let effect = EffectId { run: RunId::new("run_1"), cause: 1, index: 0 };
        let stream = CallStream { effect, epoch: 1, attempt: 0 };
        Update::Delta(StreamPiece { stream, offset: 0, fragment })
    }

    #[test]
    fn what_came_of_a_call_is_kept_in_its_order_until_its_run_is_left() {
        let mut open = OpenStreams::default();
        for fragment in [
            Fragment::Reasoning("so ".to_owned()),
            Fragment::Reasoning("then".to_owned()),
            Fragment::Text("The q".to_owned()),
            Fragment::Text("uick".to_owned()),
        ] {
            open.take(&mut piece(fragment));
        }
        let kept: Vec<_> = open.pieces().map(|it| (it.offset, it.fragment)).collect();
        let reasoning = Fragment::Reasoning("so then".to_owned());
        assert_eq!(kept, [(0, reasoning), (7, Fragment::Text("The quick".to_owned()))]);
        open.take(&mut Update::Released(RunId::new("run_1")));
        assert_eq!(open.pieces().count(), 0);
    }

    #[test]
    fn of_what_a_tool_prints_the_end_is_kept_with_its_place() {
        let mut open = OpenStreams::default();
        for _ in 0..4 {
            open.take(&mut piece(Fragment::Output("é".repeat(OUTPUT_BYTES_MAX / 3))));
        }
        let kept: Vec<_> = open.pieces().collect();
        let [StreamPiece { offset, fragment, .. }] = &kept[..] else { panic!("one stream") };
        let bytes = fragment.text().len();
        assert!(bytes <= OUTPUT_BYTES_MAX && bytes > OUTPUT_BYTES_MAX / 2);
        assert_eq!(*offset + bytes as u64, 4 * 2 * (OUTPUT_BYTES_MAX as u64 / 3));
    }
}
