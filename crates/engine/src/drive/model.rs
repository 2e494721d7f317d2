//! One model call: attempts, back-off, and how long the drive waits.

use super::log;
use super::tagged::TaggedStream;
use super::{DriveEnd, DriveError, Driver, LoopFlow};
use crate::clock::measured;
use crate::{Clock, Fragment};
use everloop_loops::{OpenModelCall, ReplyForm, output_schema, own_tools};
use everloop_ports::{Delta, Request};
use everloop_store::NextStatus;
use everloop_types::journal::{EffectAttemptFailed, EntryKind, Outcome, Waiting, WaitingOn};
use everloop_types::{
    CallStream, EffectId, Fallback, Frame, MarkFilter, ModelCall, ModelError, ModelErrorKind,
    Reply, ReplyPiece, TagFilter, ToolOffer, ToolSpec, UtcMs,
};
use tracing::{Instrument, info};

/// How an attempt ended.
enum ModelAttempt {
    Over(Result<Reply, ModelError>),
    /// This process cannot reach the model at all; another one may.
    Unavailable(ModelError),
    /// The run was canceled, or this process is to stop.
    Interrupted,
}

/// Makes the model calls of a run.
pub(super) struct ModelCaller<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl ModelCaller<'_, '_> {
    pub(super) async fn call(&mut self, open: OpenModelCall) -> Result<LoopFlow, DriveError> {
        let call = &open.planned.call;
        if self.driver.run.prompt_digest() != open.planned.prompt {
            // This program renders another prompt than the one that planned the call.
            self.driver.note_outcome(open.effect.clone(), Outcome::Superseded, 0);
            return Ok(LoopFlow::GoOn);
        }
        self.driver.commit(NextStatus::GoOn).await?;
        let engine = self.driver.engine;
        if self.driver.asking.as_ref().is_none_or(|(asked, _)| *asked != open.effect) {
            self.driver.asking = Some((open.effect.clone(), engine.clock.since_boot_ms()));
        }
        let attempt = self.attempt(call, &open);
        let (attempt, took_ms) = measured(engine.clock(), attempt).await;
        match attempt {
            // The main loop finds out why, and ends or releases the run.
            ModelAttempt::Interrupted => {}
            // A decision does not wait for another process, and the person gets a reply.
            ModelAttempt::Unavailable(error) if self.is_bounded() => {
                self.driver.note_outcome(open.effect, Outcome::ModelFailed(error), took_ms);
            }
            ModelAttempt::Unavailable(error) => {
                let again_ms = self.driver.engine.rules.backoff_max_ms;
                let until = self.driver.engine.clock.now().saturating_add_unsigned(again_ms);
                return self.park_for_model(error, until).await;
            }
            ModelAttempt::Over(Ok(reply)) => {
                self.driver.note_outcome(open.effect, Outcome::Replied(reply), took_ms);
            }
            ModelAttempt::Over(Err(error)) => return self.model_failed(open, error, took_ms).await,
        }
        Ok(LoopFlow::GoOn)
    }

    fn is_bounded(&self) -> bool {
        self.driver.run.frame().decision.is_some()
    }

    /// How long the call may still take, with all its attempts in this process, if it is bounded.
    fn left_ms(&self, effect: &EffectId) -> Option<u64> {
        let terms = self.driver.run.frame().decision.as_deref()?;
        let now = self.driver.engine.clock.since_boot_ms();
        let since = match &self.driver.asking {
            Some((asked, since)) if asked == effect => *since,
            _ => now,
        };
        let gone_ms = now.saturating_sub(since);
        Some(terms.reply_within_ms.saturating_sub(gone_ms))
    }

    async fn attempt(&mut self, call: &ModelCall, open: &OpenModelCall) -> ModelAttempt {
        let frame = self.driver.run.frame().clone();
        let choice = frame.model.after(open.failed_attempts);
        let (model, name) = match self.driver.engine.environment.model(&choice) {
            Ok(found) => found,
            Err(error) => return ModelAttempt::Unavailable(error),
        };
        let span = log::model_span(&open.effect, &name, open.failed_attempts + 1);
        let mut wire = std::mem::take(&mut self.driver.wire);
        let watchers = &self.driver.engine.watchers;
        let own = own_tools(&call.offer, &frame);
        let output = call.output.map(|contract| output_schema(contract, &frame));
        let (epoch, attempt) = (self.driver.claim.epoch, open.failed_attempts);
        let pieces = CallStream { effect: open.effect.clone(), epoch, attempt };
        let send = |fragment| watchers.send_piece(&pieces, fragment);
        let mut stream =
            ReplyStream::new(frame.mark(), self.driver.run.spec().reply_form == ReplyForm::Tags);
        let mut on_delta = |delta: Delta<'_>| {
            // The arguments of a loop's own tool belong to the loop; it shows what is for people
            // (PET-6).
            if !own.is_empty() && matches!(delta, Delta::Text(_) | Delta::CallArgs { .. }) {
                return;
            }
            stream.shown(delta).into_iter().for_each(send);
        };
        let request = Request {
            model: &name,
            messages: self.driver.run.messages(),
            wire: &mut wire,
            tools: offered(&frame, &own, &call.offer),
            choice: &call.choice,
            output: output.as_ref(),
            temperature_milli: frame.model.temperature_milli,
            max_tokens: frame.model.max_tokens,
        };
        let left_ms = self.left_ms(&open.effect);
        let attempt = tokio::select! {
            biased;
            () = self.driver.interrupts().during_call() => {
                ModelAttempt::Interrupted
            }
            () = pause_for(self.driver.engine.clock(), left_ms) => {
                ModelAttempt::Over(Err(late()))
            }
            replied = model.ask(request, &mut on_delta).instrument(span) => {
                ModelAttempt::Over(replied)
            }
        };
        match attempt {
            ModelAttempt::Over(Ok(_)) => stream.rest().into_iter().for_each(send),
            ModelAttempt::Interrupted => {
                self.driver.read = Some((open.effect.clone(), stream.read));
            }
            _ => {}
        }
        self.driver.wire = wire;
        attempt
    }

    /// Retries after a transient error: in place for a while, then from the queue.
    async fn model_failed(
        &mut self,
        open: OpenModelCall,
        error: ModelError,
        took_ms: u64,
    ) -> Result<LoopFlow, DriveError> {
        let attempt = open.failed_attempts + 1;
        let rules = self.driver.engine.rules;
        let choice = &self.driver.run.frame().model;
        // The fallback has attempts of its own.
        let earlier = choice.fallback_after(open.failed_attempts);
        let own_attempt = attempt - earlier.map_or(0, |fallback| fallback.after_attempts);
        let wait_ms = rules.backoff(own_attempt, error.retry_after_ms);
        // A single reply that hangs is requested again; waiting is for repeated failures.
        let hung_ms = if own_attempt > 1 { took_ms } else { 0 };
        let waited_ms = self.driver.waited_ms.saturating_add(wait_ms).saturating_add(hung_ms);
        if let (Some(next), None) = (&choice.fallback, earlier)
            && (!error.is_transient()
                || attempt >= next.after_attempts
                || waited_ms > rules.patience_ms)
        {
            let next = next.clone();
            return self.fall_back(open, error, next).await;
        }
        let is_over = self.left_ms(&open.effect).is_some_and(|left_ms| left_ms <= wait_ms);
        if is_over || !error.is_transient() || own_attempt >= rules.model_attempts {
            self.driver.note_outcome(open.effect, Outcome::ModelFailed(error), took_ms);
            return Ok(LoopFlow::GoOn);
        }
        let retry_at = self.driver.engine.clock.now().saturating_add_unsigned(wait_ms);
        let failed = EffectAttemptFailed {
            attempt,
            error: error.detail.clone(),
            retry_at,
            may_have_acted: false,
        };
        self.driver.note(Some(open.effect), EntryKind::EffectAttemptFailed(failed));
        self.driver.waited_ms = waited_ms;
        if self.driver.waited_ms > rules.patience_ms {
            return self.park_for_model(error, retry_at).await;
        }
        self.driver.commit(NextStatus::GoOn).await?;
        tokio::select! {
            biased;
            () = self.driver.engine.clock.pause(wait_ms) => {}
            () = self.driver.interrupts().during_wait() => {}
        }
        Ok(LoopFlow::GoOn)
    }

    /// Switches to the second model at once. The number of the failed attempt records it for a
    /// later driver.
    async fn fall_back(
        &mut self,
        open: OpenModelCall,
        error: ModelError,
        fallback: Fallback,
    ) -> Result<LoopFlow, DriveError> {
        info!(effect = %open.effect, model = fallback.name, "fallback model takes over");
        let failed = EffectAttemptFailed {
            attempt: fallback.after_attempts,
            error: error.detail.clone(),
            retry_at: self.driver.engine.clock.now(),
            may_have_acted: false,
        };
        self.driver.note(Some(open.effect), EntryKind::EffectAttemptFailed(failed));
        self.driver.commit(NextStatus::GoOn).await?;
        Ok(LoopFlow::GoOn)
    }

    /// Parks until the model may be reachable; this counts as no attempt.
    async fn park_for_model(
        &mut self,
        error: ModelError,
        until: UtcMs,
    ) -> Result<LoopFlow, DriveError> {
        let on = WaitingOn::Model { error };
        self.driver.note(None, EntryKind::Waiting(Waiting { on: on.clone(), until: Some(until) }));
        let note = "model".to_owned();
        self.driver.commit(NextStatus::Park { wake_at: Some(until), note }).await?;
        Ok(LoopFlow::Over(DriveEnd::Parked(on)))
    }
}

/// Passes after this time; never without one.
async fn pause_for(clock: &dyn Clock, left_ms: Option<u64>) {
    match left_ms {
        Some(left_ms) => clock.pause(left_ms).await,
        None => std::future::pending().await,
    }
}

fn late() -> ModelError {
    ModelError::new(ModelErrorKind::TimedOut, "the decision took too long")
}

/// The tools that a call offers, in the frame's order. A loop's own tool hides one of the frame.
/// The tools that a call offers: the loop's own, and those of the frame that are wanted.
pub(crate) fn offered<'f>(
    frame: &'f Frame,
    own: &'f [ToolSpec],
    offer: &ToolOffer,
) -> Vec<&'f ToolSpec> {
    let wanted = |tool: &&ToolSpec| match offer {
        ToolOffer::None => false,
        ToolOffer::All => true,
        ToolOffer::Only(names) => {
            names.contains(&tool.name) && own.iter().all(|own| own.name != tool.name)
        }
    };
    own.iter().chain(frame.tools.iter().filter(wanted)).collect()
}

/// A streamed reply as watchers see it, without the mark that ends an answer and without tags.
struct ReplyStream {
    /// The text that was shown so far.
    read: String,
    text: MarkFilter,
    reasoning: MarkFilter,
    tags: TagParser,
}

/// How tags in a text are read.
enum TagParser {
    /// The loop answers in tags: nothing else is an answer.
    Strict(TaggedStream),
    /// Some models write tags though the loop does not use them.
    Lenient(TagFilter),
}

impl TagParser {
    fn push(&mut self, piece: &str) -> Vec<Fragment> {
        match self {
            Self::Strict(tagged) => tagged.push(piece),
            Self::Lenient(filter) => filter.push(piece).into_iter().map(untagged).collect(),
        }
    }

    fn finish(&mut self) -> Vec<Fragment> {
        match self {
            Self::Strict(tagged) => tagged.finish(),
            Self::Lenient(filter) => filter.finish().into_iter().map(untagged).collect(),
        }
    }
}

fn untagged(piece: ReplyPiece) -> Fragment {
    match piece {
        ReplyPiece::Text(text) => Fragment::Text(text),
        ReplyPiece::Reasoning(text) => Fragment::Reasoning(text),
    }
}

impl ReplyStream {
    fn new(mark: &str, is_tagged: bool) -> Self {
        let tags = match is_tagged {
            true => TagParser::Strict(TaggedStream::default()),
            false => TagParser::Lenient(TagFilter::default()),
        };
        let (text, reasoning) = (MarkFilter::new(mark), MarkFilter::new(mark));
        Self { read: String::new(), text, reasoning, tags }
    }

    /// What can be shown of this piece, and of what was held back before it.
    fn shown(&mut self, delta: Delta<'_>) -> Vec<Fragment> {
        let shown = self.ready(delta);
        for fragment in &shown {
            if let Fragment::Text(text) = fragment {
                self.read.push_str(text);
            }
        }
        shown
    }

    fn ready(&mut self, delta: Delta<'_>) -> Vec<Fragment> {
        match delta {
            Delta::Text(piece) => {
                let parsed = self.tags.push(piece);
                self.parsed(parsed)
            }
            Delta::Reasoning(piece) => texts(self.reasoning.push(piece), String::new()),
            Delta::CallStarted { tool, .. } => {
                let mut shown = self.rest();
                shown.push(Fragment::Call(tool.to_owned()));
                shown
            }
            Delta::CallArgs { args, .. } => vec![Fragment::Output(args.to_owned())],
        }
    }

    fn parsed(&mut self, parsed: Vec<Fragment>) -> Vec<Fragment> {
        let shown = parsed.into_iter().flat_map(|fragment| match fragment {
            Fragment::Text(text) => texts(String::new(), self.text.push(&text)),
            Fragment::Reasoning(text) => texts(self.reasoning.push(&text), String::new()),
            other => vec![other],
        });
        shown.collect()
    }

    /// The text that was held back and turned out not to be the mark.
    fn rest(&mut self) -> Vec<Fragment> {
        let parsed = self.tags.finish();
        let mut shown = self.parsed(parsed);
        shown.extend(texts(self.reasoning.finish(), self.text.finish()));
        shown
    }
}

fn texts(reasoning: String, text: String) -> Vec<Fragment> {
    let reasoning = (!reasoning.is_empty()).then_some(Fragment::Reasoning(reasoning));
    let text = (!text.is_empty()).then_some(Fragment::Text(text));
    reasoning.into_iter().chain(text).collect()
}
