//! How far a reader of a conversation's events has come, and the cursor that says so.

use super::ConversationEventsError;
use everloop_store::{ConversationHeader, Store};
use everloop_types::{ConversationId, RunId, digest_bytes};
use std::collections::BTreeMap;
use std::fmt;

/// How far a reader has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReaderPlace {
    /// The position of the last message.
    pub(super) pos: i64,
    /// Tells the conversation from every other one. Earlier programs wrote none.
    pub(super) tag: Option<String>,
    /// What was known of the conversation's own row.
    pub(super) digest: Option<String>,
    /// Runs that were not given out whole.
    pub(super) runs: BTreeMap<RunId, RunPosition>,
}

/// How far a reader has come in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunPosition {
    /// The last entry of which something was given out.
    pub(super) seq: i64,
    /// How many of its events were given out.
    pub(super) events: i64,
}

impl fmt::Display for ReaderPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.pos, self.digest.as_deref().unwrap_or_default())?;
        if let Some(tag) = &self.tag {
            write!(f, ".{tag}")?;
        }
        for (run, at) in &self.runs {
            write!(f, "~{run}.{}.{}", at.seq, at.events)?;
        }
        Ok(())
    }
}

impl ReaderPlace {
    /// What tells a conversation from every other one.
    pub(super) fn tag_of(id: &ConversationId) -> String {
        digest_bytes(id.as_str().as_bytes())[..8].to_owned()
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
        let mut parts = text.split('~');
        let (pos, digest) = parts.next()?.split_once('.')?;
        let (digest, tag) = match digest.split_once('.') {
            Some((digest, tag)) => (digest, Some(tag.to_owned())),
            None => (digest, None),
        };
        let digest = Some(digest).filter(|digest| !digest.is_empty()).map(str::to_owned);
        let mut place = Self { pos: number(pos)?, tag, digest, runs: BTreeMap::new() };
        for part in parts {
            let mut fields = part.split('.');
            let run = fields.next().filter(|run| run.starts_with("run_"))?;
            let at = RunPosition { seq: number(fields.next()?)?, events: number(fields.next()?)? };
            place.runs.insert(RunId::new(run), at);
            if fields.next().is_some() {
                return None;
            }
        }
        Some(place)
    }

    /// Checks that everything that it names exists.
    pub(super) async fn check(
        &self,
        store: &Store,
        id: &ConversationId,
        header: &ConversationHeader,
    ) -> Result<(), ConversationEventsError> {
        if self.tag.as_ref().is_some_and(|tag| *tag != Self::tag_of(id)) {
            return Err(ConversationEventsError::BadCursor);
        }
        if self.pos > header.last_pos {
            let last = format!("the last message is {}", header.last_pos);
            return Err(ConversationEventsError::Ahead(last));
        }
        for (run, at) in &self.runs {
            // A run that was deleted has no more events.
            let Some(row) = store.runs().get(run).await? else { continue };
            if row.conversation != *id {
                return Err(ConversationEventsError::BadCursor);
            }
            let last = row.lease.next_seq.saturating_sub(1);
            if at.seq > last {
                let last = format!("the last event of {run} is {last}");
                return Err(ConversationEventsError::Ahead(last));
            }
            if row.times.trimmed_at.is_some() {
                return Err(ConversationEventsError::Trimmed(run.clone()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_says_how_far_each_run_was_read() {
        let at = |seq, events| RunPosition { seq, events };
        let runs = [(RunId::new("run_a"), at(3, 1)), (RunId::new("run_b"), at(9, 2))];
        let digest = Some("0123456789ab".to_owned());
        let place = ReaderPlace { pos: 7, tag: None, digest, runs: runs.into() };
        assert_eq!(place.to_string(), "7.0123456789ab~run_a.3.1~run_b.9.2");
        assert_eq!(ReaderPlace::parse(&place.to_string()), Some(place.clone()));
        let place = ReaderPlace { tag: Some("89abcdef".to_owned()), ..place };
        assert_eq!(place.to_string(), "7.0123456789ab.89abcdef~run_a.3.1~run_b.9.2");
        assert_eq!(ReaderPlace::parse(&place.to_string()), Some(place));
        for bad in ["", "7", "x.", "-1.", "7.~run_a", "7.~run_a.1", "7.~a.1.1", "7.~run_a.1.1.1"] {
            assert_eq!(ReaderPlace::parse(bad), None, "{bad}");
        }
    }
}
