//! The users of a simulation: they answer late, twice, or two things at once, interrupt, and
//! cancel at the worst moment.

use super::SimWorld;
use super::random::SimRandom;
use everloop_engine::History;
use everloop_ports::Clock;
use everloop_store::Store;
use everloop_types::journal::{InboxMessage, WaitingOn};
use everloop_types::{Question, RunId, Status};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Answers the questions of one run until it is over.
pub(super) async fn answer_questions(cast: Arc<SimWorld>, run: RunId, mut chance: SimRandom) {
    let cancels_at = chance.one_in(4).then(|| chance.below(3_000));
    let steers_at = chance.one_in(4).then(|| chance.below(2_000));
    let mut person = SimUser { cast, run, chance, answers: BTreeMap::new() };
    let start = tokio::time::Instant::now();
    let (mut cancels_at, mut steers_at) = (cancels_at, steers_at);
    loop {
        let pause = person.chance.between(20, 250);
        sleep(Duration::from_millis(pause)).await;
        let status = person.status().await;
        if status.is_final() {
            return;
        }
        let passed = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        if steers_at.is_some_and(|at| at <= passed) {
            steers_at = None;
            let message = InboxMessage::Steer { text: "keep it short".to_owned() };
            person.send("steer", &message).await;
        }
        if cancels_at.is_some_and(|at| at <= passed) {
            cancels_at = None;
            person.cancel().await;
        }
        if status == Status::Waiting {
            person.answer().await;
        }
    }
}

struct SimUser {
    cast: Arc<SimWorld>,
    run: RunId,
    chance: SimRandom,
    answers: BTreeMap<(RunId, String), u32>,
}

impl SimUser {
    fn store(&self) -> &Store {
        &self.cast.store
    }

    async fn status(&self) -> Status {
        let row = self.store().runs().get(&self.run).await.expect("readable");
        row.expect("exists").status
    }

    async fn cancel(&self) {
        self.send("cancel", &InboxMessage::Cancel { by: "person".to_owned() }).await;
    }

    async fn send(&self, dedupe: &str, message: &InboxMessage) {
        self.send_to(&self.run, dedupe, message).await;
    }

    async fn send_to(&self, run: &RunId, dedupe: &str, message: &InboxMessage) {
        let sent = self.store().inbox().send(run, dedupe, message, self.cast.time.now()).await;
        let sent = sent.expect("the message is written");
        self.cast.story.tell(|| format!("person: {dedupe} to {run}: {sent:?}"));
    }

    /// The run's own question, or that of the run which all others wait for.
    async fn open_question(&self) -> Option<(RunId, Question)> {
        let below = self.store().runs().descendants(&self.run).await.ok()?;
        let run = below.last().unwrap_or(&self.run);
        let history = History::read(self.store(), run).await.ok()??;
        match history.state_at(i64::MAX).ok()?.waiting_on() {
            Some(WaitingOn::Person { question }) => Some((run.clone(), question.clone())),
            _ => None,
        }
    }

    /// Sometimes later, sometimes more than once, sometimes together with a cancel.
    async fn answer(&mut self) {
        let Some((run, question)) = self.open_question().await else { return };
        let said = self.answers.entry((run.clone(), question.id.clone())).or_default();
        *said += 1;
        if *said == 1 && self.chance.one_in(3) {
            return;
        }
        let word = *self.chance.pick(&["yes", "no", "happened", "not", "blue"]);
        let manner = self.chance.below(6);
        self.say(&run, &question, word).await;
        match manner {
            0 => self.say(&run, &question, word).await,
            1 => self.say(&run, &question, "something else").await,
            2 if self.chance.one_in(3) => self.cancel().await,
            _ => {}
        }
    }

    async fn say(&self, run: &RunId, question: &Question, text: &str) {
        let (text, by) = (text.to_owned(), "person".to_owned());
        let message = InboxMessage::Answer { question: question.id.clone(), text, by };
        self.send_to(run, &question.id, &message).await;
    }
}
