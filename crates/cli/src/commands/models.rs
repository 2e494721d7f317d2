//! `everloop models`: which models are configured and within reach, and whether one of them works.
//!
//! ```text
//!   models        the list of each endpoint: no tokens, no run
//!   models test   tiny calls: text as it streams, and each way to call a tool until one works
//! ```

mod test;

use crate::args;
use everloop_app::environment::is_scripted;
use everloop_app::learnt::LearntFrom;
use everloop_app::models::calling::{CallingReason, ToolCalling};
use everloop_app::models::lists::{ListError, ModelEndpoint, ModelOverview};
use everloop_app::trouble::AdviceFor;
use everloop_console::{Console, Exit, Failure, failure, terminal, trouble};
use everloop_text::{self as text, TextOf};
use everloop_types::one_line;
use serde_json::json;

pub(crate) async fn models(app: &Console, args: args::ModelsArgs) -> Result<Exit, Failure> {
    match args.verb {
        Some(args::ModelsVerb::Test { name, json }) => return test::test(app, name, json).await,
        Some(args::ModelsVerb::Forget { name, json }) => return forget(app, &name, json),
        None => {}
    }
    let overview = ModelOverview::read(app).await;
    match args.json {
        true => {
            let value = overview.to_json(app, |error| unlisted(app, error));
            terminal::print_line(&value.to_string());
        }
        false => print(app, &overview),
    }
    for name in overview.not_offered() {
        terminal::eprint_line(&app.text(text::models::not_offered(&name)));
    }
    Ok(if overview.lacks_a_key() { Exit::Configuration } else { Exit::Done })
}

/// Why there is no list, in words.
fn unlisted(app: &Console, error: &ListError) -> String {
    match error {
        ListError::UnknownProvider(name) => failure::provider_hint(app, name),
        ListError::Secret(error) => error.words(app.lang),
        ListError::Model(trouble) => trouble::words(app, trouble, AdviceFor::Shell),
    }
}

fn print(app: &Console, overview: &ModelOverview) {
    let chosen: [(_, TextOf); 2] =
        [(&overview.default, text::models::default), (&overview.fallback, text::models::fallback)];
    for (name, text) in chosen {
        if !name.is_empty() {
            terminal::print_line(&app.text(text(&name)));
            if !is_scripted(name) {
                terminal::print_line(&format!("  {}", calling(app, name)));
            }
        }
    }
    if overview.default.is_empty() {
        terminal::print_line(&app.text(text::models::none()));
    }
    for endpoint in &overview.endpoints {
        print_endpoint(app, overview, endpoint);
    }
}

fn print_endpoint(app: &Console, overview: &ModelOverview, endpoint: &ModelEndpoint) {
    let marks = terminal::marks();
    let url = &endpoint.address;
    let names = match &endpoint.offered {
        Ok(names) => names,
        Err(error) => {
            let (mark, detail) = (&marks.failed, &unlisted(app, error));
            let unreachable = text::models::Unreachable { mark, url, detail };
            return terminal::print_line(&app.text(unreachable.text()));
        }
    };
    terminal::print_line(&format!("{} {url}", marks.done));
    for model in names {
        let name = one_line(&format!("{}/{model}", endpoint.provider));
        let mark = if overview.role(&name).is_some() { marks.now } else { " " };
        terminal::print_line(&format!("  {mark} {name}"));
    }
}

/// How a model calls tools and how that is known, in words.
fn calling(app: &Console, name: &str) -> String {
    let calling = ToolCalling::of(app, name);
    let why = match &calling.reason {
        CallingReason::Set => app.text(text::models::way_set()),
        CallingReason::Found(entry) => {
            let text = match entry.found {
                LearntFrom::Tested => text::models::way_tested,
                LearntFrom::Seen => text::models::way_seen,
            };
            app.text(text(&entry.on))
        }
        CallingReason::Usual => app.text(text::models::way_usual()),
    };
    app.text(text::models::way(&calling.way.as_str(), &why))
}

/// Forgets what was found out about a model.
fn forget(app: &Console, name: &str, as_json: bool) -> Result<Exit, Failure> {
    let forgotten = app.learnt().forget(name);
    let forgotten =
        forgotten.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
    let text = if forgotten { text::models::forgotten } else { text::models::not_known };
    match as_json {
        true => terminal::print_json(&json!({"name": name, "forgotten": forgotten})),
        false => terminal::print_line(&app.text(text(&name))),
    }
    Ok(if forgotten { Exit::Done } else { Exit::Failed })
}
