//! The first run: language, provider, key, model; each answer a line of the settings that can be
//! read.
//!
//! ```text
//!   language? ──► keys in the environment ─────────► model? ─┐
//!                 none ──► provider? ──known──► key? ──► model? ─► one tiny request ──► kept
//!                             │ ──local──────────────────────┤         └──fails──► key? model?
//!                             │ ──other──► address? ──► key? ┘                     provider? keep?
//!                             └──nothing, or as it is
//! ```
//!
//! Answers are tried before any of them is written: a key that is refused leaves no trace.
//!
//! What variables say is what stands there already: it can be kept, and it can be chosen anew.
//!
//! A key is typed unseen, and goes where secrets go, by the name of its provider.

mod choice;
mod found;
mod guarded;
pub(crate) mod hidden;
mod naming;
mod probe;
mod proof;

use crate::build;
use everloop_app::frames::default_model;
use everloop_app::models::lists;
use everloop_app::secrets::Reference;
use everloop_app::settings::keys;
use everloop_app::setup::{
    CUSTOM_PROVIDER, ChosenProvider, MODEL_VARIABLE, ProviderChoice, SetupDraft, found_providers,
    full_name, language_is_said, model_of_variable, model_variables, needs_no_key, read_language,
};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::Lang;

/// Asks for language and model and writes the answers; the app as it is afterwards.
///
/// Only for a terminal: elsewhere it says which commands do the same.
pub(crate) async fn first_run(app: &Console) -> Result<Console, Failure> {
    if !app.interactive {
        let words = everloop_console::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    let app = if language_is_said(app) {
        terminal::eprint_line(&app.text(text::setup::welcome_in(&build::NUMBER)));
        app.clone()
    } else {
        terminal::eprint_line(&app.text(text::setup::welcome(&build::NUMBER)));
        language(app).await?
    };
    tell_environment(&app);
    let draft = match found_providers(&app) {
        found if found.is_empty() || !default_model(&app).is_empty() => model(&app).await?,
        found => found::used(&app, &found).await?,
    };
    let draft = draft.unwrap_or_else(|| SetupDraft::new(&app));
    let chosen = match default_model(&tried(&app, &draft)).is_empty() {
        true => app,
        false => proof::proven(app, draft).await?,
    };
    // Whoever leaves the model for later is not asked at every start.
    let chosen = match chosen.sources.path.exists() {
        true => chosen,
        false => write(&chosen, &[(keys::ui::language().as_str(), chosen.lang.tag())])?,
    };
    warn_of_variable(&chosen);
    let (data, config) = (chosen.home.data().display(), chosen.sources.path.display());
    let (data, config) = (data.to_string(), config.to_string());
    terminal::eprint_line(&chosen.text(
        text::setup::Places { mark: &terminal::marks().done, data: &data, config: &config }.text(),
    ));
    terminal::eprint_line(&format!("\n{}", chosen.text(text::setup::hints())));
    Ok(chosen)
}

async fn language(app: &Console) -> Result<Console, Failure> {
    let detected = app.lang.tag();
    let prompt = app.text(text::setup::language(&detected));
    let chosen = loop {
        match terminal::ask(&prompt).await.as_deref() {
            None | Some("") => break detected,
            Some(said) => match read_language(said) {
                Some(lang) => break lang.tag(),
                None => not_understood(app, "1, 2"),
            },
        }
    };
    let mut app = write(app, &[(keys::ui::language().as_str(), chosen)])?;
    // The answer counts from now on, whatever the environment says.
    app.lang = Lang::parse(chosen).unwrap_or(app.lang);
    Ok(app)
}

fn not_understood(app: &Console, choices: &str) {
    terminal::eprint_line(&app.text(text::setup::not_understood(&choices)));
}

/// Says which variables name a model, if some do.
fn tell_environment(app: &Console) {
    let Some(names) = model_variables(app) else { return };
    let (model, names) = (default_model(app), names.join(", "));
    let mark = &terminal::marks().done;
    let said = text::setup::FromEnvironment { mark, names: &names, model: &model };
    terminal::eprint_line(&app.text(said.text()));
}

/// Another model was chosen than the one that a variable names, which new processes will use.
fn warn_of_variable(app: &Console) {
    let Some(named) = model_of_variable().filter(|named| *named != default_model(app)) else {
        return;
    };
    let chosen = default_model(app);
    let mark = &terminal::marks().failed;
    let words = text::setup::VariableWins {
        mark,
        variable: &MODEL_VARIABLE,
        named: &named,
        chosen: &chosen,
    };
    terminal::eprint_line(&app.text(words.text()));
}

/// What the person chooses; nothing if all is to stay as it is.
async fn model(app: &Console) -> Result<Option<SetupDraft>, Failure> {
    let local = lists::first_local().await;
    let wanted = match choice::provider(app, local.as_ref()).await? {
        ProviderChoice::Nothing => return Ok(None),
        ProviderChoice::Local => local.map(ChosenProvider::local),
        ProviderChoice::Known(provider) => with_key(app, provider, String::new()).await?,
        ProviderChoice::At(url) => with_key(app, CUSTOM_PROVIDER.to_owned(), url).await?,
    };
    let Some(wanted) = wanted else { return Ok(None) };
    let Some(name) = name(app, &wanted).await else {
        terminal::eprint_line(&app.text(text::setup::no_name()));
        return Ok(None);
    };
    app.checked(SetupDraft::of(app, &wanted, &name)).map(Some)
}

/// Asks for the key until it is not refused; nothing if the person gives up on it.
async fn with_key(
    app: &Console,
    provider: String,
    url: String,
) -> Result<Option<ChosenProvider>, Failure> {
    loop {
        let key = match needs_no_key(&provider) {
            true => String::new(),
            false => typed_key(app, &provider).await?,
        };
        let wanted =
            ChosenProvider { provider: provider.clone(), url: url.clone(), key, offered: vec![] };
        match lists::offered_to(app, &provider, &url, &wanted.key).await {
            Ok(offered) => return Ok(Some(ChosenProvider { offered, ..wanted })),
            Err(error) if error.is_about_the_key() && !wanted.key.is_empty() => {
                terminal::eprint_line(
                    &app.text(text::setup::key_refused(&terminal::marks().failed, &error.detail)),
                );
            }
            // It may have no list, or be out of reach for now.
            Err(_) => return Ok(Some(wanted)),
        }
    }
}

/// Asks for the key without showing it. An address is none.
async fn typed_key(app: &Console, provider: &str) -> Result<String, Failure> {
    loop {
        let prompt = app.text(text::setup::key(&provider));
        let typed = tokio::task::spawn_blocking(move || hidden::ask(&prompt)).await;
        let Ok(hidden::HiddenInput::Line(key)) = typed else {
            // The terminal is as it was again; nothing was written.
            return Err(Failure { exit: Exit::Interrupted, words: String::new() });
        };
        if let Some(key) = everloop_app::setup::typed_key(&key) {
            return Ok(key);
        }
        terminal::eprint_line(&app.text(text::setup::key_is_address()));
    }
}

/// The model with its provider: the one that is proposed or the only one that is offered, else the
/// one that the person names.
async fn name(app: &Console, wanted: &ChosenProvider) -> Option<String> {
    let offered = &wanted.offered;
    let chosen = match wanted.sole_model(app) {
        Some(name) => name,
        None => naming::asked(app, offered).await?,
    };
    Some(full_name(&wanted.provider, &chosen, offered))
}

/// Keeps the answers, and shows what was written where.
fn kept(app: &Console, draft: SetupDraft) -> Result<Console, Failure> {
    let mark = terminal::marks().done;
    let after = tried(app, &draft);
    if draft.is_empty() {
        return Ok(after);
    }
    let written = app.checked(draft.write(app));
    let written = written.map_err(|failure| Failure { exit: Exit::Configuration, ..failure })?;
    if let Some(kept) = &written.key {
        terminal::eprint_line(&app.text(match kept {
            Reference::File(path) => text::setup::key_kept(&mark, &path.display()),
            kept => text::setup::key_in_keychain(&mark, kept),
        }));
    }
    for (key, value) in &written.lines {
        terminal::eprint_line(&app.text(text::setup::wrote(&mark, &format!("{key} = {value:?}"))));
    }
    Ok(reread(&after, written.text))
}

/// The application as it would be with these answers, whatever a variable says.
fn tried(app: &Console, draft: &SetupDraft) -> Console {
    let app = reread(app, draft.text().to_owned());
    match draft.model().filter(|_| model_of_variable().is_some()) {
        Some(name) => app.reread(app.sources.clone().with_model(name)).with_language(app.lang),
        None => app,
    }
}

/// Writes answers to the settings file, and shows each line.
fn write(app: &Console, lines: &[(&str, &str)]) -> Result<Console, Failure> {
    let text = app.checked(everloop_app::setup::write_answers(app, lines));
    let text = text.map_err(|failure| Failure { exit: Exit::Configuration, ..failure })?;
    for (key, value) in lines {
        let line = format!("{key} = {value:?}");
        terminal::eprint_line(&app.text(text::setup::wrote(&terminal::marks().done, &line)));
    }
    Ok(reread(app, text))
}

/// The same with another text of the settings. The language that was answered stays.
fn reread(app: &Console, text: String) -> Console {
    app.reread(app.sources.with_text(Some(text))).with_language(app.lang)
}
