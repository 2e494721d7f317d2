//! The tour on a page: its processes are real ones with a home of their own, and one is killed.

use super::forms::FormFields;
use super::frame::PageRequest;
use super::respond::{page, see_other};
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::App;
use everloop_app::tour::{Tour, TourRemark, TourScene, TourStep};
use everloop_pages::layout::NavPlace;
use everloop_pages::markdown;
use everloop_pages::parts::say;
use everloop_pages::tour::{self as view, TourLine, TourSceneView, TourView};
use everloop_text as text;
use everloop_text::pages as words;
use everloop_types::Lang;
use std::sync::{Arc, Mutex, PoisonError};

/// What the tour has shown so far. There is one tour at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownTour(Arc<Mutex<TourProgress>>);

#[derive(Debug, Clone, Default)]
struct TourProgress {
    scenes: Vec<(TourScene, Vec<TourStep>)>,
    is_playing: bool,
    trouble: Option<String>,
}

impl ShownTour {
    fn change<T>(&self, change: impl FnOnce(&mut TourProgress) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to play unless it plays already.
    fn begin(&self, app: &App) {
        let begins = self.change(|tour| {
            let begins = !tour.is_playing;
            if begins {
                *tour = TourProgress { is_playing: true, ..TourProgress::default() };
            }
            begins
        });
        if begins {
            tokio::spawn(self.clone().play(app.clone()));
        }
    }

    async fn play(self, app: App) {
        // A task of its own: if it panics, the tour has ended all the same.
        let played = tokio::spawn(self.clone().play_scenes(app)).await;
        let trouble = match played {
            Ok(played) => played.err().map(|error| error.to_string()),
            Err(panicked) => Some(panicked.to_string()),
        };
        self.change(|tour| {
            tour.is_playing = false;
            tour.trouble = trouble;
        });
    }

    async fn play_scenes(self, app: App) -> std::io::Result<()> {
        let tour = Tour::prepare(&app)?;
        for scene in TourScene::ALL {
            self.change(|shown| shown.scenes.push((scene, Vec::new())));
            let mut show = |step: TourStep| {
                self.change(|shown| {
                    if let Some((_, steps)) = shown.scenes.last_mut() {
                        steps.push(step);
                    }
                });
            };
            tour.play(scene, &mut show).await?;
        }
        Ok(())
    }
}

fn line(lang: Lang, step: &TourStep) -> TourLine {
    match step {
        TourStep::Command { line } => TourLine::Command(line.clone()),
        TourStep::Output { text } => TourLine::Output(text.clone()),
        TourStep::Answer { text } => TourLine::Answer(markdown::to_html(text)),
        TourStep::Killed { pid, signal } => {
            TourLine::Killed(say(lang, text::tour::killed(pid, signal)))
        }
        TourStep::Remark { remark } => TourLine::Remark(say(
            lang,
            match remark {
                TourRemark::Allowed => text::tour::allowed(),
                TourRemark::Ledger => text::tour::ledger(),
                TourRemark::Replay => text::tour::replay(),
            },
        )),
    }
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let title = say(lang, words::first::tour());
    let (mut frame, _) = request.frame(&state, NavPlace::Chat, title).await?;
    frame.script = Some("tour.js");
    let shown = state.behind.tour.change(|tour| tour.clone());
    let scenes = shown.scenes.iter().map(|(scene, steps)| TourSceneView {
        title: say(
            lang,
            match scene {
                TourScene::Talk => text::tour::scene_talk(),
                TourScene::Approval => text::tour::scene_approval(),
                TourScene::Kill => text::tour::scene_kill(),
                TourScene::Agenda => text::tour::scene_agenda(),
            },
        ),
        lines: steps.iter().map(|step| line(lang, step)).collect(),
    });
    let view = TourView {
        scenes: scenes.collect(),
        is_playing: shown.is_playing,
        trouble: shown.trouble.clone(),
    };
    Ok(page(view::view(&frame, &view)))
}

pub(crate) async fn play(
    State(state): State<ServerState>,
    request: PageRequest,
    _fields: FormFields,
) -> Response {
    // In the language of the reader, not of the server.
    let mut app = (*state.app).clone();
    app.lang = request.lang();
    state.behind.tour.begin(&app);
    see_other("/tour")
}
