//! Comparisons over HTTP: the server asks, this program compares.

use crate::commands::compare::{ContestOfConsole, about_contest};
use everloop_app::comparison::{self, ComparedModelError};
use everloop_app::environment::is_scripted;
use everloop_app::error::chain;
use everloop_compare::policy::POLICIES;
use everloop_compare::report;
use everloop_compare::task::builtin;
use everloop_compare::{Contest, Latency, is_simulated, runs_at_once, select_tasks};
use everloop_console::Console;
use everloop_server::{CompareLoops, ComparisonNews, ComparisonOffer, ComparisonRequest};
use everloop_text as text;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::sync::CancellationToken;

/// How long one run may take. Simulated ones take less than a second.
const RUN_MAX: Duration = Duration::from_mins(5);

/// The latency of policies whose time is simulated.
const LATENCY: Latency = Latency { call_ms: 1_000, token_ms: 20 };

/// News that wait for a slow reader.
const NEWS_MAX: usize = 1_024;

/// Compares loops for a server.
pub(super) struct ConsoleComparison {
    pub(super) app: Console,
}

impl ConsoleComparison {
    fn contest(&self, request: &ComparisonRequest) -> Result<Contest, String> {
        let loops = comparison::select_loops(&request.loops).map_err(|error| chain(&error))?;
        if let Some(name) = request.models.iter().find(|name| !is_simulated(name))
            && !request.asks_models
        {
            return Err(self.unknown(name));
        }
        let models = comparison::select_models(&self.app, &request.models, is_simulated);
        let models = models.map_err(|error| match error {
            ComparedModelError::Unknown(name) => self.unknown(&name),
            ComparedModelError::App(error) => chain(&error),
        })?;
        let tasks = select_tasks(None, &request.tasks).map_err(|error| chain(&error))?;
        Ok(Contest {
            loops,
            at_once: runs_at_once(&models, is_scripted),
            models,
            tasks,
            seed: request.seed,
            repeats: request.runs,
            timeout: RUN_MAX,
            latency: request.simulates_time.then_some(LATENCY),
        })
    }

    fn unknown(&self, name: &str) -> String {
        let (near, all) = (self.app.near(name, POLICIES), POLICIES.join(", "));
        self.app.text(text::compare::NoModel { name: &name, near: &near, all: &all }.text())
    }
}

impl CompareLoops for ConsoleComparison {
    fn offer(&self) -> ComparisonOffer {
        let mut tasks: Vec<(&'static str, Vec<String>)> = Vec::new();
        for task in builtin() {
            let kind = task.kind.as_str();
            match tasks.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, names)) => names.push(task.name),
                None => tasks.push((kind, vec![task.name])),
            }
        }
        let loops = comparison::select_loops(&["all".to_owned()]).unwrap_or_default();
        let policies = POLICIES.iter().map(|name| (*name).to_owned()).collect();
        ComparisonOffer { loops, policies, tasks }
    }

    fn begin(&self, request: ComparisonRequest) -> Result<Receiver<ComparisonNews>, String> {
        let contest = self.contest(&request)?;
        let about = about_contest(&self.app, &contest);
        let (sender, news) = channel(NEWS_MAX);
        let host = Arc::new(ContestOfConsole { app: self.app.clone() });
        tokio::spawn(async move {
            let stop = CancellationToken::new();
            let results = contest.run(host, stop.clone(), |progress| {
                let (done, all, cell) = (progress.done, progress.all, json!(progress.cell));
                let told = sender.try_send(ComparisonNews::Ended { done, all, cell });
                // A slow reader misses some progress; one that left ends the comparison.
                if told.is_err() && sender.is_closed() {
                    stop.cancel();
                }
            });
            let results = results.await;
            let _ = sender.send(ComparisonNews::Table(report::json(&results, &about))).await;
        });
        Ok(news)
    }
}
