//! The models that a message can be sent to: those of the settings at once, those that endpoints
//! offer as soon as they were asked.

use everloop_app::App;
use everloop_app::frames;
use everloop_app::models::lists::ModelOverview;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a list counts.
const FRESH: Duration = Duration::from_secs(600);

/// Names that are offered.
const NAMES_MAX: usize = 200;

/// The names, as far as they are known.
#[derive(Default)]
pub(crate) struct ModelNames(Arc<Mutex<OfferedModels>>);

#[derive(Default)]
struct OfferedModels {
    names: Vec<String>,
    asked: Option<Instant>,
}

impl ModelNames {
    /// What can be chosen now. Endpoints are asked beside the request, at most every ten minutes.
    pub(crate) fn names(&self, app: &App) -> Vec<String> {
        let model = &app.settings.model;
        let known = [frames::default_model(app), model.fallback.clone()];
        let mut names: Vec<String> = known.into_iter().filter(|name| !name.is_empty()).collect();
        let mut offered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &offered.names {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        if offered.asked.is_none_or(|at| at.elapsed() > FRESH) {
            offered.asked = Some(Instant::now());
            let (app, all) = (app.clone(), self.0.clone());
            tokio::spawn(async move { ask(&app, &all).await });
        }
        names
    }
}

async fn ask(app: &App, all: &Mutex<OfferedModels>) {
    let overview = ModelOverview::read(app).await;
    let mut names = Vec::new();
    for endpoint in &overview.endpoints {
        for name in endpoint.offered.iter().flatten() {
            names.push(format!("{}/{name}", endpoint.provider));
        }
    }
    names.truncate(NAMES_MAX);
    all.lock().unwrap_or_else(PoisonError::into_inner).names = names;
}
