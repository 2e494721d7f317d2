//! What is told of a call while it is under way: pieces that watchers see and no journal keeps.

use crate::{EffectId, RunId};
use serde::{Deserialize, Serialize};

/// A piece of a call under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fragment {
    /// Of a reply's text.
    Text(String),
    /// Of a reply's reasoning.
    Reasoning(String),
    /// A tool call begins in a reply.
    Call(String),
    /// Of a tool call's arguments in a reply, or of what a running tool prints.
    Output(String),
}

impl Fragment {
    /// The words of it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Call(text) | Self::Output(text) => {
                text
            }
        }
    }

    /// How far it moves its stream on. The beginning of a call is never nothing.
    #[must_use]
    pub fn width(&self) -> u64 {
        let width = self.text().len() as u64;
        if matches!(self, Self::Call(_)) { width + 1 } else { width }
    }

    /// Adds the next piece to this one, if both belong together.
    pub fn grow(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Text(last), Self::Text(next))
            | (Self::Reasoning(last), Self::Reasoning(next))
            | (Self::Output(last), Self::Output(next)) => last.push_str(next),
            _ => return false,
        }
        true
    }

    /// What follows after its first `bytes`; none if nothing does or a character would be torn.
    #[must_use]
    pub fn after(&self, bytes: usize) -> Option<Self> {
        let cut = |text: &str| text.get(bytes..).filter(|it| !it.is_empty()).map(str::to_owned);
        match self {
            Self::Text(text) => cut(text).map(Self::Text),
            Self::Reasoning(text) => cut(text).map(Self::Reasoning),
            Self::Output(text) => cut(text).map(Self::Output),
            Self::Call(_) => None,
        }
    }

    /// The same kind of piece with other words.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        match self {
            Self::Text(_) => Self::Text(text),
            Self::Reasoning(_) => Self::Reasoning(text),
            Self::Call(_) => Self::Call(text),
            Self::Output(_) => Self::Output(text),
        }
    }
}

/// One attempt of one driver at a call: what its pieces belong to. What another driver or an
/// earlier attempt said is never mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallStream {
    /// The call.
    #[serde(flatten)]
    pub effect: EffectId,
    /// The epoch of the driver.
    pub epoch: i64,
    /// Attempts that failed before.
    pub attempt: u32,
}

/// A piece with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPiece {
    /// What it belongs to.
    #[serde(flatten)]
    pub stream: CallStream,
    /// How much of the stream comes before it.
    pub offset: u64,
    /// The words.
    #[serde(flatten)]
    pub fragment: Fragment,
}

impl StreamPiece {
    /// Where the next piece begins.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + self.fragment.width()
    }

    /// Adds the piece that follows it, if both can be one.
    pub fn grow(&mut self, next: &Self) -> bool {
        self.stream == next.stream
            && self.end() == next.offset
            && self.fragment.grow(&next.fragment)
    }
}

/// What the process that drives a run tells others about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LiveMessage {
    /// A piece of a call under way.
    Piece(StreamPiece),
    /// The run's rows have changed.
    Wrote {
        /// The run.
        run: RunId,
    },
    /// The driver is done with the run; its rows have changed, too.
    Left {
        /// The run.
        run: RunId,
    },
}

impl LiveMessage {
    /// The run that it is about.
    #[must_use]
    pub fn run(&self) -> &RunId {
        match self {
            Self::Piece(piece) => &piece.stream.effect.run,
            Self::Wrote { run } | Self::Left { run } => run,
        }
    }

    /// Takes in the message that follows it, if one message can say both.
    pub fn grow(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Piece(last), Self::Piece(next)) => last.grow(next),
            (Self::Wrote { run }, Self::Wrote { run: next }) => run == next,
            _ => false,
        }
    }

    /// The line that is sent.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("messages have string keys only")
    }

    /// Reads what [`Self::to_line`] made.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, fragment: Fragment) -> StreamPiece {
        let effect = EffectId { run: RunId::new("run_1"), cause: 3, index: 0 };
        StreamPiece { stream: CallStream { effect, epoch: 2, attempt: 1 }, offset, fragment }
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let messages = [
            LiveMessage::Piece(piece(0, Fragment::Text("The \"quick\"\n快".to_owned()))),
            LiveMessage::Piece(piece(7, Fragment::Call("shell".to_owned()))),
            LiveMessage::Wrote { run: RunId::new("run_1") },
            LiveMessage::Left { run: RunId::new("run_1") },
        ];
        for message in messages {
            let line = message.to_line();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(LiveMessage::from_line(&line), Some(message));
        }
        assert_eq!(LiveMessage::from_line("{\"kind\":\"piece\""), None);
    }

    #[test]
    fn pieces_that_follow_each_other_become_one() {
        let mut one = piece(0, Fragment::Text("The ".to_owned()));
        assert!(one.grow(&piece(4, Fragment::Text("quick".to_owned()))));
        assert_eq!(one, piece(0, Fragment::Text("The quick".to_owned())));
        assert!(!one.grow(&piece(10, Fragment::Text("fox".to_owned()))), "there is a gap");
        assert!(!one.grow(&piece(9, Fragment::Reasoning("so".to_owned()))), "another kind");
    }

    #[test]
    fn a_piece_is_cut_between_characters_only() {
        let text = Fragment::Text("é快x".to_owned());
        assert_eq!(text.after(2), Some(Fragment::Text("快x".to_owned())));
        assert_eq!(text.after(1), None);
        assert_eq!(text.after(6), None);
    }
}
