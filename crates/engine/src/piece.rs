//! How much of a call under way was shown: a piece that comes twice, late or from an earlier driver
//! shows nothing.

use crate::RunEvent;
use everloop_types::{Fragment, StreamPiece};

/// What a piece means to a follower.
#[derive(Debug)]
pub(crate) enum PieceNews {
    /// There are new words.
    Event(Box<RunEvent>),
    /// They were shown before.
    Nothing,
    /// It belongs to a call, a driver or an attempt that the journal, as far as it was read, does
    /// not have under way.
    OfAnotherTime,
    /// Words before it are missing.
    Missing,
}

/// The words of a call that were shown.
#[derive(Debug, Default)]
pub(crate) struct ShownStream {
    epoch: i64,
    attempt: u32,
    end: u64,
}

impl ShownStream {
    /// What is new in a piece.
    pub(crate) fn take(&mut self, piece: &StreamPiece) -> Result<Option<Fragment>, PieceNews> {
        let (epoch, attempt) = (piece.stream.epoch, piece.stream.attempt);
        if (self.epoch, self.attempt) != (epoch, attempt) {
            *self = Self { epoch, attempt, end: 0 };
        }
        let end = piece.end();
        if end <= self.end {
            return Ok(None);
        }
        let is_output = matches!(piece.fragment, Fragment::Output(_));
        // Of what a tool prints only the end is kept; a reply has to be whole.
        if piece.offset > self.end && !is_output {
            return Err(PieceNews::Missing);
        }
        let known = self.end.saturating_sub(piece.offset);
        self.end = end;
        Ok(match usize::try_from(known) {
            Ok(0) => Some(piece.fragment.clone()),
            Ok(known) => piece.fragment.after(known),
            Err(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::{CallStream, EffectId, RunId};

    fn piece(epoch: i64, offset: u64, text: &str) -> StreamPiece {
        let effect = EffectId { run: RunId::new("run_1"), cause: 1, index: 0 };
        let stream = CallStream { effect, epoch, attempt: 0 };
        StreamPiece { stream, offset, fragment: Fragment::Text(text.to_owned()) }
    }

    #[test]
    fn words_are_shown_once_however_they_are_cut_and_repeated() {
        let mut shown = ShownStream::default();
        let mut text = String::new();
        for (offset, words) in
            [(0, "The "), (4, "quick"), (0, "The quick brown"), (9, " brown fox")]
        {
            let new = shown.take(&piece(1, offset, words)).expect("nothing is missing");
            text.extend(new.iter().map(Fragment::text));
        }
        assert_eq!(text, "The quick brown fox");
    }

    #[test]
    fn a_reply_with_a_gap_is_not_shown_until_the_gap_is_filled() {
        let mut shown = ShownStream::default();
        assert!(matches!(shown.take(&piece(1, 4, "quick")), Err(PieceNews::Missing)));
        let whole = shown.take(&piece(1, 0, "The quick")).expect("whole");
        assert_eq!(whole, Some(Fragment::Text("The quick".to_owned())));
    }

    #[test]
    fn the_next_driver_begins_at_the_beginning() {
        let mut shown = ShownStream::default();
        assert!(shown.take(&piece(1, 0, "The quick")).is_ok());
        let next = shown.take(&piece(2, 0, "A slow")).expect("whole");
        assert_eq!(next, Some(Fragment::Text("A slow".to_owned())));
    }
}
