//! `everloop models`: which models are configured and within reach, and whether one of them works.
//!
//! ```text
//!   models        the list of each endpoint: no tokens, no run
//!   models test   tiny calls: text as it streams, and each way to call a tool until one works
//! ```

mod test;
mod ways;

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::failure;
use crate::setup::probe;
use crate::terminal;
use crate::trouble::{self, Read};
use everloop_app::environment::EndpointError;
use everloop_app::frames::default_model;
use everloop_app::place::Place;
use everloop_app::trouble::ModelTrouble;
use everloop_models::list_models_of;
use everloop_text::{self as text, TextOf};
use everloop_types::{ModelError, ModelErrorKind, one_line};
use serde_json::{Value, json};
use ways::Way;

/// Somebody who can be asked for models.
struct House {
    /// As in `provider/model`.
    provider: String,
    address: String,
    /// The models there, or why nobody answers.
    offered: Result<Vec<String>, Unlisted>,
}

/// Why there is no list.
struct Unlisted {
    detail: String,
    /// For programs; none if the key itself cannot be had.
    kind: Option<ModelErrorKind>,
}

pub(crate) async fn models(app: &Console, args: args::Models) -> Result<Exit, Failure> {
    match args.verb {
        Some(args::ModelsVerb::Test { name, json }) => return test::test(app, name, json).await,
        Some(args::ModelsVerb::Forget { name }) => return ways::forget(app, &name),
        None => {}
    }
    let chosen = Chosen::of(app);
    let mut houses: Vec<House> = Vec::new();
    for name in [&chosen.default, &chosen.fallback] {
        if let Some(house) = configured(app, name).await
            && houses.iter().all(|known| known.address != house.address)
        {
            houses.push(house);
        }
    }
    for found in probe::all().await {
        if houses.iter().all(|known| known.address != found.url) {
            let (provider, address) = (found.provider().to_owned(), found.url);
            houses.push(House { provider, address, offered: Ok(found.models) });
        }
    }
    match args.json {
        true => terminal::answer(&chosen.as_json(app, &houses).to_string()),
        false => chosen.print(app, &houses),
    }
    for words in chosen.warnings(app, &houses) {
        terminal::complain(&words);
    }
    let refused = |house: &House| {
        let kind = house.offered.as_ref().err().and_then(|unlisted| unlisted.kind);
        matches!(kind, Some(ModelErrorKind::Unauthorized | ModelErrorKind::NoKey))
    };
    Ok(if houses.iter().any(refused) { Exit::Configuration } else { Exit::Done })
}

/// The endpoint of a configured model; nothing for a script, which asks nobody.
async fn configured(app: &Console, name: &str) -> Option<House> {
    if name.is_empty() || everloop_app::environment::is_scripted(name) {
        return None;
    }
    let place = Place::of(&app.settings, name);
    if let Some(detail) = failure::unknown_provider(app, name) {
        return Some(house(&place, Err(Unlisted { detail, kind: None })));
    }
    let offered = match app.environment(&app.settings).endpoint(name) {
        Ok(endpoint) => list_models_of(place.provider, probe::quick(endpoint)).await,
        Err(EndpointError::Secret(error)) => {
            let detail = error.words(app.lang);
            return Some(house(&place, Err(Unlisted { detail, kind: None })));
        }
        Err(error @ EndpointError::NoKey(_)) => Err(error.into()),
    };
    let unlisted = |error: ModelError| Unlisted {
        detail: trouble::words(app, &ModelTrouble::of(app, name, &error), Read::InShell),
        kind: Some(error.kind),
    };
    Some(house(&place, offered.map_err(unlisted)))
}

fn house(place: &Place<'_>, offered: Result<Vec<String>, Unlisted>) -> House {
    let address = everloop_app::settings::redact::shown(place.address());
    House { provider: place.provider.to_owned(), address, offered }
}

/// The models that the settings name.
struct Chosen {
    default: String,
    fallback: String,
}

impl Chosen {
    fn of(app: &Console) -> Self {
        let fallback = app.settings.model.fallback.clone();
        Self { default: default_model(app), fallback }
    }

    /// What a model is used for.
    fn role(&self, name: &str) -> Option<&'static str> {
        match name {
            "" => None,
            name if name == self.default => Some("default"),
            name if name == self.fallback => Some("fallback"),
            _ => None,
        }
    }

    /// The chosen models that their endpoints do not have.
    fn warnings(&self, app: &Console, houses: &[House]) -> Vec<String> {
        let missing = [&self.default, &self.fallback].into_iter().filter(|name| {
            let (provider, model) = name.split_once('/').unwrap_or_default();
            let house = houses.iter().find(|house| house.provider == provider);
            let offered = house.and_then(|house| house.offered.as_ref().ok());
            offered.is_some_and(|names| !names.is_empty() && !names.iter().any(|it| it == model))
        });
        let words = |name: &&String| app.text(text::models::not_offered(&name));
        missing.map(|name| words(&name)).collect()
    }

    fn as_json(&self, app: &Console, houses: &[House]) -> Value {
        let houses = houses.iter().map(|house| {
            let names = house.offered.iter().flatten();
            let models = names.map(|model| {
                let name = format!("{}/{model}", house.provider);
                json!({"name": name, "role": self.role(&name),
                    "tool_calls": Way::of(app, &name).as_json()})
            });
            json!({
                "provider": house.provider,
                "address": house.address,
                "reachable": house.offered.is_ok(),
                "detail": house.offered.as_ref().err().map(|unlisted| &unlisted.detail),
                "kind": house.offered.as_ref().err().and_then(|unlisted| unlisted.kind),
                "models": models.collect::<Vec<_>>(),
            })
        });
        json!({
            "default": self.default,
            "fallback": self.fallback,
            "endpoints": houses.collect::<Vec<_>>(),
        })
    }

    fn print(&self, app: &Console, houses: &[House]) {
        let marks = terminal::marks();
        let chosen: [(_, TextOf); 2] =
            [(&self.default, text::models::default), (&self.fallback, text::models::fallback)];
        for (name, key) in chosen {
            if !name.is_empty() {
                terminal::answer(&app.text(key(&name)));
                if !everloop_app::environment::is_scripted(name) {
                    terminal::answer(&format!("  {}", Way::of(app, name).words(app)));
                }
            }
        }
        if self.default.is_empty() {
            terminal::answer(&app.text(text::models::none()));
        }
        for house in houses {
            match &house.offered {
                Ok(names) => {
                    terminal::answer(&format!("{} {}", marks.done, house.address));
                    for model in names {
                        let name = one_line(&format!("{}/{model}", house.provider));
                        let mark = if self.role(&name).is_some() { marks.now } else { " " };
                        terminal::answer(&format!("  {mark} {name}"));
                    }
                }
                Err(unlisted) => {
                    terminal::answer(
                        &app.text(
                            text::models::Unreachable {
                                mark: &marks.failed,
                                url: &house.address,
                                detail: &unlisted.detail,
                            }
                            .text(),
                        ),
                    );
                }
            }
        }
    }
}
