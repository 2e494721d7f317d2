//! What became of a moment of the schedule, as pages draw it.

use super::frame::PageRequest;
use everloop_pages::parts::{say, status_words};
use everloop_store::{ScheduledFiring, ScheduledState};
use everloop_text::pages as words;
use everloop_types::Status;

/// The status of the run that a firing started, once it has ended.
fn ended(one: &ScheduledFiring) -> Option<Status> {
    one.run.as_ref()?;
    one.ended.as_deref().and_then(Status::parse)
}

/// The state that a firing is drawn as: that of its run, or its own.
pub(super) fn firing_state(one: &ScheduledFiring) -> &'static str {
    match (ended(one), one.state) {
        (Some(status), _) => status.as_str(),
        (None, ScheduledState::Missed) => "missed",
        (None, ScheduledState::Skipped) => "skipped",
        (None, ScheduledState::Queued) => "queued",
        (None, ScheduledState::Failed) => "failed",
        (None, ScheduledState::Started | ScheduledState::Late) => "running",
    }
}

/// The same in words; for a run that could not be made, why.
pub(super) fn firing_words(request: &PageRequest, one: &ScheduledFiring) -> String {
    let lang = request.lang();
    match (ended(one), one.state) {
        (Some(status), _) => status_words(status, lang),
        (None, ScheduledState::Missed) => say(lang, words::agenda::was_missed()),
        (None, ScheduledState::Skipped) => say(lang, words::agenda::was_skipped()),
        (None, ScheduledState::Queued) => say(lang, words::agenda::waits()),
        (None, ScheduledState::Failed) => {
            one.reason.clone().unwrap_or_else(|| status_words(Status::Failed, lang))
        }
        (None, ScheduledState::Started | ScheduledState::Late) => say(lang, words::agenda::fired()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::RunId;

    fn firing(state: ScheduledState, run: Option<&str>, ended: Option<&str>) -> ScheduledFiring {
        ScheduledFiring {
            schedule: 1,
            due_at: 0,
            fired_at: 0,
            state,
            reason: None,
            run: run.map(RunId::new),
            ended: ended.map(str::to_owned),
        }
    }

    #[test]
    fn a_firing_is_drawn_as_its_run_ended_and_never_as_done_before() {
        for status in Status::ALL.into_iter().filter(|status| status.is_final()) {
            let one = firing(ScheduledState::Late, Some("run_1"), Some(status.as_str()));
            assert_eq!(firing_state(&one), status.as_str());
        }
        let open = firing(ScheduledState::Started, Some("run_1"), None);
        assert_eq!(firing_state(&open), "running");
        for (state, drawn) in [
            (ScheduledState::Missed, "missed"),
            (ScheduledState::Skipped, "skipped"),
            (ScheduledState::Queued, "queued"),
            (ScheduledState::Failed, "failed"),
        ] {
            // Without a run, `ended` has the name of its own state.
            assert_eq!(firing_state(&firing(state, None, Some(state.as_str()))), drawn);
        }
    }
}
