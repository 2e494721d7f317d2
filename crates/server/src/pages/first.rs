//! The first visit, and adding a model: nothing is saved before the model has answered.

use super::forms::FormFields;
use super::frame::PageRequest;
use super::respond::{page, see_other};
use super::settings_parts::tested;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::models::lists;
use everloop_app::models::trial::TrialVerdict;
use everloop_app::setup::{
    AddModelError, CUSTOM_PROVIDER, MODEL_VARIABLE, ModelToAdd, NameProblem, listed_providers,
    typed_key,
};
use everloop_app::trouble::AdviceFor;
use everloop_pages::first::{self as view, FirstVisit, LocalOffer, TypedModel};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::say;
use everloop_text::pages as words;
use everloop_types::Lang;
use serde::{Deserialize, Serialize};

/// Names of models that are shown at once.
const NAMES_SHOWN: usize = 12;

/// What a try came to, for the page that follows it. Never the key.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TriedModel {
    provider: String,
    url: String,
    name: String,
    is_doubted: bool,
    is_local: bool,
    problem: String,
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let title = say(lang, words::first::title());
    let (mut frame, _) = request.frame(&state, NavPlace::Chat, title).await?;
    frame.script = Some("first.js");
    let tried = state.flashes.get(request.session_name(), "first");
    let tried = tried.and_then(|said| serde_json::from_str::<TriedModel>(&said).ok());
    let local = lists::first_local().await.map(|found| LocalOffer {
        provider: found.provider().to_owned(),
        address: found.url,
        models: found.models,
    });
    let providers = listed_providers(lang).map(|(name, label)| (name.to_owned(), label));
    let problem = tried.as_ref().map(|tried| tried.problem.clone());
    let typed = tried.unwrap_or_default();
    let visit = FirstVisit {
        local,
        providers: providers.collect(),
        problem,
        typed: TypedModel {
            provider: typed.provider,
            url: typed.url,
            name: typed.name,
            is_doubted: typed.is_doubted,
            is_local: typed.is_local,
        },
        folder: state.app.home.data().display().to_string(),
    };
    Ok(page(view::view(&frame, &visit)))
}

/// A model of this machine, from a list.
pub(crate) async fn add_local(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let provider = fields.get("provider").to_owned();
    let is_usual = everloop_app::setup::needs_no_key(&provider);
    // Where the provider is known by its address, none has to be written down.
    let url = if is_usual { String::new() } else { fields.get("url").to_owned() };
    let wanted =
        ModelToAdd { provider, url, name: fields.get("model").to_owned(), ..ModelToAdd::default() };
    add(state, &request, wanted, true).await
}

/// A model of a provider, with a key.
pub(crate) async fn add_model(
    State(state): State<ServerState>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let url = fields.get("url").trim().to_owned();
    let provider = match fields.get("provider") {
        "" => CUSTOM_PROVIDER,
        known => known,
    };
    let name = fields.get("model").trim().to_owned();
    let wanted = ModelToAdd {
        provider: provider.to_owned(),
        // An address that was pasted as a key is none.
        key: typed_key(fields.get("key")).unwrap_or_default(),
        insists: !name.is_empty() && fields.get("insists") == name,
        url,
        name,
    };
    add(state, &request, wanted, false).await
}

async fn add(
    state: ServerState,
    request: &PageRequest,
    wanted: ModelToAdd,
    is_local: bool,
) -> Result<Response, Problem> {
    let (lang, session) = (request.lang(), request.session_name());
    let state = state.reread().await;
    let mut tried = TriedModel {
        provider: wanted.provider.clone(),
        url: wanted.url.clone(),
        name: wanted.name.clone(),
        is_local,
        ..TriedModel::default()
    };
    let added = match wanted.add(&state.app).await {
        Ok(added) => added,
        Err(AddModelError::App(error)) => return Err((*error).into()),
        Err(error) => {
            tried.is_doubted = matches!(error, AddModelError::Name(NameProblem::NotOffered, _));
            tried.problem = problem(lang, &tried.name, &error);
            let said = serde_json::to_string(&tried).unwrap_or_default();
            state.flashes.put(session, "first", said);
            return Ok(see_other("/first"));
        }
    };
    state.flashes.clear(session, "first");
    state.reread().await;
    state.flashes.put(session, &format!("model {}", added.name), tested(lang, &added.trial));
    let mut said = match added.trial.verdict() {
        TrialVerdict::Works => say(lang, words::first::works_now(&added.name)),
        _ => say(lang, words::first::works_partly(&added.name, &faults(lang, &added.trial))),
    };
    if added.is_overridden {
        said.push(' ');
        said.push_str(&say(lang, words::first::variable_wins(&MODEL_VARIABLE)));
    }
    let is_ready = added.trial.works() && !added.is_overridden;
    state.flashes.put(session, "settings", said);
    Ok(see_other(if is_ready { "/chat" } else { "/settings?section=model" }))
}

fn faults(lang: Lang, trial: &everloop_app::models::trial::ModelTrial) -> String {
    let bad = trial.findings.iter().filter(|finding| finding.fault.is_some());
    bad.map(|finding| finding.check.words(lang)).collect::<Vec<_>>().join(", ")
}

/// Why a model was not added.
fn problem(lang: Lang, name: &str, error: &AddModelError) -> String {
    let listed =
        |all: &[String]| all.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let text = match error {
        AddModelError::NoAddress => words::first::no_address(),
        AddModelError::KeyRefused(detail) => words::first::key_refused(detail),
        AddModelError::NeedsName(all) if all.is_empty() => words::first::needs_name_alone(),
        AddModelError::NeedsName(all) => words::first::needs_name(&listed(all)),
        AddModelError::Name(NameProblem::IsKey, _) => words::first::name_is_key(),
        AddModelError::Name(NameProblem::Malformed(example), _) => {
            words::first::name_malformed(example)
        }
        AddModelError::Name(NameProblem::NotOffered, all) => {
            words::first::name_unknown(&name, &listed(all))
        }
        AddModelError::Silent(trial) => {
            let trouble = trial.trouble.as_ref();
            let why = match trouble {
                Some(trouble) => {
                    let advice = trouble.advice(lang, AdviceFor::Chat).unwrap_or_default();
                    format!("{} {advice}", trouble.message(lang))
                }
                None => {
                    let fault = trial.findings.iter().find_map(|finding| finding.fault.as_ref());
                    fault.map(|fault| fault.words(lang)).unwrap_or_default()
                }
            };
            words::first::silent(&trial.model, &why)
        }
        AddModelError::App(error) => return everloop_app::error::chain(error),
    };
    say(lang, text)
}
