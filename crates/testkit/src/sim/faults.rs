//! The faults that hit the processes, drawn from the seed.

use super::parts::SimProcess;
use super::process::RunningProcess;
use super::random::SimRandom;
use super::{SimReport, SimWorld, users};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Every run must be over after this time.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// How long a process is suspended or cut off: shorter and longer than its lease.
const SPELLS_MS: &[u64] = &[30, 200, 800, 2_200, 3_500, 7_000];

/// Injects faults for a while, then waits until every run is over.
pub(super) async fn play(
    cast: &Arc<SimWorld>,
    chance: &mut SimRandom,
) -> Result<SimReport, String> {
    let mut users_of_runs = tokio::task::JoinSet::new();
    for role in cast.roles.values() {
        users_of_runs.spawn(users::answer_questions(
            cast.clone(),
            role.run.clone(),
            chance.split(),
        ));
    }
    let count = match cast.cluster {
        true if chance.one_in(4) => 3,
        true => 2,
        false => 1,
    };
    let mut faults = FaultSchedule { cast, happened: SimReport::default(), living: Vec::new() };
    for _ in 0..count {
        faults.living.push(RunningProcess::start(cast, chance));
    }
    let faults_end = Instant::now() + Duration::from_millis(chance.between(100, 2_500));
    while Instant::now() < faults_end && !cast.all_over().await {
        sleep(Duration::from_millis(chance.between(5, 200))).await;
        faults.inject_fault(chance).await;
    }
    faults.stop_disturbing(chance).await?;
    for living in std::mem::take(&mut faults.living) {
        living.die().await;
    }
    Ok(faults.happened)
}

struct FaultSchedule<'a> {
    cast: &'a Arc<SimWorld>,
    happened: SimReport,
    living: Vec<RunningProcess>,
}

impl FaultSchedule<'_> {
    async fn inject_fault(&mut self, chance: &mut SimRandom) {
        let at = usize::try_from(chance.below(self.living.len() as u64)).unwrap_or(0);
        let spell_ms = *chance.pick(SPELLS_MS);
        let tell = |what: &str, body: &SimProcess| {
            self.cast.story.tell(|| format!("fate: {what} {} ({spell_ms} ms)", body.name));
        };
        let victim = &self.living[at];
        match chance.below(10) {
            0..=2 => {
                tell("kills", &victim.body);
                self.happened.crashes += 1;
                self.replace(at, chance).await;
            }
            3..=4 => {
                tell("holds", &victim.body);
                self.happened.holds += 1;
                victim.body.hold(true);
                later(spell_ms, victim.body.clone(), |body| body.hold(false));
            }
            5 if self.cast.cluster => {
                tell("cuts off", &victim.body);
                self.happened.cuts += 1;
                victim.body.cut_off(true);
                later(spell_ms, victim.body.clone(), |body| body.cut_off(false));
            }
            6 => {
                tell("sets the clock of", &victim.body);
                self.happened.jumps += 1;
                let by_ms = if chance.one_in(2) { 30_000 } else { -30_000 };
                victim.clock.jump(by_ms);
            }
            7 => {
                tell("stops", &victim.body);
                self.happened.stops += 1;
                victim.engine.stop();
                sleep(Duration::from_millis(spell_ms.min(800))).await;
                self.replace(at, chance).await;
            }
            _ => self.restart_exited(chance).await,
        }
    }

    /// With a lock, the old process ends before the new one starts.
    async fn replace(&mut self, at: usize, chance: &mut SimRandom) {
        let old = self.living.remove(at);
        old.die().await;
        if self.cast.cluster {
            sleep(Duration::from_millis(chance.below(400))).await;
        }
        self.living.push(RunningProcess::start(self.cast, chance));
    }

    /// A process that ended by itself is started again, as a supervisor would.
    async fn restart_exited(&mut self, chance: &mut SimRandom) {
        while let Some(at) = self.living.iter().position(|living| living.task.is_finished()) {
            self.replace(at, chance).await;
        }
    }

    async fn stop_disturbing(&mut self, chance: &mut SimRandom) -> Result<(), String> {
        self.cast.story.tell(|| "fate: rests".to_owned());
        let patience_ends = Instant::now() + PATIENCE;
        while !self.cast.all_over().await {
            self.restart_exited(chance).await;
            self.living.iter().for_each(|living| living.body.stop_disturbing());
            sleep(Duration::from_millis(500)).await;
            if Instant::now() > patience_ends {
                return Err("a run does not come to its end".to_owned());
            }
        }
        Ok(())
    }
}

fn later(ms: u64, body: Arc<SimProcess>, then: impl FnOnce(&SimProcess) + Send + 'static) {
    tokio::spawn(async move {
        sleep(Duration::from_millis(ms)).await;
        then(&body);
    });
}
