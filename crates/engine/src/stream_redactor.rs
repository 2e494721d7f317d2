//! Removes secrets from what watchers see, also a secret that arrives in pieces.
//!
//! A piece of a stream that may begin a secret is held back until the next piece, or until an entry
//! of the run follows. Entries were cleaned before they were written.

use crate::Update;
use everloop_store::Redactor;
use everloop_types::{CallStream, Fragment, RunId, StreamPiece};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct StreamRedactor {
    redactor: Redactor,
    held: Mutex<BTreeMap<CallStream, HeldStreams>>,
}

/// The ends of a call's streams that were not shown yet.
#[derive(Debug, Default)]
struct HeldStreams {
    text: String,
    reasoning: String,
    output: String,
}

impl StreamRedactor {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: Mutex::default() }
    }

    /// The update as it may be shown, after the text that was held back before it.
    pub(crate) fn pass(&self, update: Update) -> Vec<Update> {
        if self.redactor.is_empty() {
            return vec![update];
        }
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match update {
            Update::Delta(StreamPiece { stream, fragment: Fragment::Call(tool), .. }) => {
                let mut shown = release_stream(&mut all, &stream);
                shown.push(piece_of(&stream, Fragment::Call(self.clean(&tool))));
                shown
            }
            Update::Delta(StreamPiece { stream, fragment, .. }) => {
                let held = all.entry(stream.clone()).or_default();
                let shown = self.piece(held, fragment);
                shown.into_iter().map(|piece| piece_of(&stream, piece)).collect()
            }
            other => {
                let mut shown = release_run(&mut all, other.run());
                shown.push(other);
                shown
            }
        }
    }

    /// What can be shown of a stream now.
    fn piece(&self, held: &mut HeldStreams, fragment: Fragment) -> Option<Fragment> {
        let show = |end: &mut String, piece: &str| {
            end.push_str(piece);
            let mut whole = self.clean(end);
            *end = whole.split_off(whole.len() - self.redactor.held_back(&whole));
            whole
        };
        let shown = match &fragment {
            Fragment::Text(piece) => Fragment::Text(show(&mut held.text, piece)),
            Fragment::Reasoning(piece) => Fragment::Reasoning(show(&mut held.reasoning, piece)),
            Fragment::Output(piece) => Fragment::Output(show(&mut held.output, piece)),
            Fragment::Call(_) => return Some(fragment),
        };
        Some(shown).filter(|shown| !is_empty(shown))
    }

    fn clean(&self, text: &str) -> String {
        self.redactor.text(text).into_owned()
    }
}

/// An entry follows: the text that was held back is not a secret.
fn release_run(all: &mut BTreeMap<CallStream, HeldStreams>, run: &RunId) -> Vec<Update> {
    let of_run = all.keys().filter(|stream| stream.effect.run == *run);
    let of_run: Vec<CallStream> = of_run.cloned().collect();
    of_run.iter().flat_map(|stream| release_stream(all, stream)).collect()
}

/// The stream continues with another part: the text that was held back is not a secret.
fn release_stream(all: &mut BTreeMap<CallStream, HeldStreams>, stream: &CallStream) -> Vec<Update> {
    let Some(HeldStreams { text, reasoning, output }) = all.remove(stream) else {
        return Vec::new();
    };
    let ends = [Fragment::Reasoning(reasoning), Fragment::Text(text), Fragment::Output(output)];
    let ends = ends.into_iter().filter(|end| !is_empty(end));
    ends.map(|end| piece_of(stream, end)).collect()
}

/// Its place is given to it later.
fn piece_of(stream: &CallStream, fragment: Fragment) -> Update {
    Update::Delta(StreamPiece { stream: stream.clone(), offset: 0, fragment })
}

fn is_empty(fragment: &Fragment) -> bool {
    match fragment {
        Fragment::Text(text) | Fragment::Reasoning(text) | Fragment::Output(text) => {
            text.is_empty()
        }
        Fragment::Call(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::EffectId;

    const KEY: &str = "sk-fake-4f9Q2zL8aVbN0pXr";

    /// What a watcher reads when `pieces` stream in.
    fn watched(pieces: &[&str]) -> String {
        let redactor = Redactor::default();
        redactor.learn(KEY);
        let (screen, run) = (StreamRedactor::new(redactor), RunId::new("run_1"));
        let effect = EffectId { run: run.clone(), cause: 1, index: 0 };
        let stream = CallStream { effect, epoch: 1, attempt: 0 };
        let over = Update::Released(run);
        let pieces = pieces.iter().map(|piece| Fragment::Text((*piece).to_owned()));
        let updates = pieces.map(|piece| piece_of(&stream, piece)).chain([over]);
        let shown = updates.flat_map(|update| screen.pass(update));
        let text = shown.filter_map(|update| match update {
            Update::Delta(StreamPiece { fragment: Fragment::Text(text), .. }) => Some(text),
            _ => None,
        });
        text.collect()
    }

    #[test]
    fn a_secret_torn_between_pieces_is_not_shown_wherever_it_is_torn() {
        let whole = format!("the key is {KEY}, good");
        for at in 0..whole.len() {
            let (one, other) = whole.split_at(at);
            assert_eq!(watched(&[one, other]), "the key is [secret], good", "torn at {at}");
        }
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(watched(&letters), "the key is [secret], good");
    }

    #[test]
    fn what_only_begins_like_a_secret_is_shown_whole() {
        assert_eq!(watched(&["ask", " sk-", "fak"]), "ask sk-fak");
    }
}
