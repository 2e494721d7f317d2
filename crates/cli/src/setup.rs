//! The first run: language, provider, key, model; each answer a line of the settings that can be
//! read.
//!
//! ```text
//!   language? ──► keys in the environment ─────────► model? ─┐
//!                 none ──► provider? ──known──► key? ──► model? ─► one tiny request ──► hints
//!                             │ ──local──────────────────────┤
//!                             │ ──other──► address? ──► key? ┘
//!                             └──nothing, or as it is
//! ```
//!
//! A key is typed unseen, tried before it is kept, and goes where secrets go, by the name of its
//! provider.

mod choice;
mod found;
pub(crate) mod hidden;
mod naming;
mod probe;

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::{build, terminal};
use everloop_app::frames::default_model;
use everloop_app::models::lists;
use everloop_app::secrets::Reference;
use everloop_app::settings::keys;
use everloop_app::setup::{
    CUSTOM_PROVIDER, ChosenProvider, ProviderChoice, found_providers, full_name, model_variables,
    read_language,
};
use everloop_text as text;
use everloop_types::Lang;

/// Asks for language and model and writes the answers; the app as it is afterwards.
///
/// Only for a terminal: elsewhere it says which commands do the same.
pub(crate) async fn first_run(app: &Console) -> Result<Console, Failure> {
    if !app.interactive {
        let words = crate::trouble::no_model(app);
        return Err(Failure { exit: Exit::Configuration, words });
    }
    terminal::complain(&app.text(text::setup::welcome(&build::NUMBER)));
    let app = language(app).await?;
    let chosen = match (from_environment(&app), found_providers(&app)) {
        (true, _) => app,
        (false, found) if found.is_empty() || !default_model(&app).is_empty() => model(app).await?,
        (false, found) => found::used(app, &found).await?,
    };
    if !default_model(&chosen).is_empty() {
        probe::tell(&chosen).await;
    }
    let (data, config) = (chosen.home.data().display(), chosen.sources.path.display());
    let (data, config) = (data.to_string(), config.to_string());
    terminal::complain(&chosen.text(
        text::setup::Places { mark: &terminal::marks().done, data: &data, config: &config }.text(),
    ));
    terminal::complain(&format!("\n{}", chosen.text(text::setup::hints())));
    Ok(chosen)
}

async fn language(app: &Console) -> Result<Console, Failure> {
    let detected = name_of(app.lang);
    let prompt = app.text(text::setup::language(&detected));
    let chosen = loop {
        match terminal::ask(&prompt).await.as_deref() {
            None | Some("") => break detected,
            Some(said) => match read_language(said) {
                Some(lang) => break name_of(lang),
                None => not_understood(app, "1, 2"),
            },
        }
    };
    let mut app = write(app, &[(keys::ui::language().as_str(), chosen)])?;
    // The answer counts from now on, whatever the environment says.
    app.lang = Lang::parse(chosen).unwrap_or(app.lang);
    Ok(app)
}

fn name_of(lang: Lang) -> &'static str {
    match lang {
        Lang::ZhCn => "zh-CN",
        Lang::En => "en",
    }
}

fn not_understood(app: &Console, choices: &str) {
    terminal::complain(&app.text(text::setup::not_understood(&choices)));
}

/// A model that the environment names needs no question.
fn from_environment(app: &Console) -> bool {
    let Some(names) = model_variables(app) else { return false };
    let model = default_model(app);
    let names = names.join(", ");
    terminal::complain(
        &app.text(
            text::setup::FromEnvironment {
                mark: &terminal::marks().done,
                names: &names,
                model: &model,
            }
            .text(),
        ),
    );
    true
}

async fn model(app: Console) -> Result<Console, Failure> {
    let local = lists::first_local().await;
    let wanted = match choice::provider(&app, local.as_ref()).await {
        ProviderChoice::Nothing => return Ok(app),
        ProviderChoice::Local => {
            let Some(local) = local else { return Ok(app) };
            return chosen(app, ChosenProvider::local(local)).await;
        }
        ProviderChoice::Known(provider) => with_key(&app, provider, String::new()).await?,
        ProviderChoice::At(url) => with_key(&app, CUSTOM_PROVIDER.to_owned(), url).await?,
    };
    match wanted {
        Some(wanted) => chosen(app, wanted).await,
        None => Ok(app),
    }
}

/// Asks for the key until it is not refused; nothing if the person gives up on it.
async fn with_key(
    app: &Console,
    provider: String,
    url: String,
) -> Result<Option<ChosenProvider>, Failure> {
    loop {
        let key = typed_key(app, &provider).await?;
        let wanted =
            ChosenProvider { provider: provider.clone(), url: url.clone(), key, offered: vec![] };
        match lists::offered_to(app, &provider, &url, &wanted.key).await {
            Ok(offered) => return Ok(Some(ChosenProvider { offered, ..wanted })),
            Err(error) if error.is_about_the_key() && !wanted.key.is_empty() => {
                terminal::complain(
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
        terminal::complain(&app.text(text::setup::key_is_address()));
    }
}

/// Asks for the model, and writes down what was chosen.
async fn chosen(app: Console, wanted: ChosenProvider) -> Result<Console, Failure> {
    let Some(name) = name(&app, &wanted).await else {
        terminal::complain(&app.text(text::setup::no_name()));
        return Ok(app);
    };
    let provider = wanted.provider.as_str();
    let mut lines = Vec::new();
    if !wanted.url.is_empty() {
        lines.push((format!("providers.{provider}.base_url"), wanted.url.clone()));
    }
    if !wanted.key.is_empty() {
        let kept = keep_key(&app, &wanted.key, provider)?;
        lines.push((format!("providers.{provider}.key"), kept));
    }
    lines.push((keys::model::default().as_str().to_owned(), name));
    let text = app.checked(wanted.without_former(&app))?;
    let app = reread(&app, text);
    let lines: Vec<(&str, &str)> =
        lines.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    write(&app, &lines)
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

/// Puts the key where secrets go, and says so. What the settings must say of that.
fn keep_key(app: &Console, key: &str, provider: &str) -> Result<String, Failure> {
    let kept = app.checked(everloop_app::setup::keep_key(app, key, provider))?;
    let mark = terminal::marks().done;
    terminal::complain(&app.text(match &kept {
        Reference::File(path) => text::setup::key_kept(&mark, &path.display()),
        kept => text::setup::key_in_keychain(&mark, kept),
    }));
    Ok(kept.to_string())
}

/// Writes answers to the settings file, and shows each line.
fn write(app: &Console, lines: &[(&str, &str)]) -> Result<Console, Failure> {
    let text = app.checked(everloop_app::setup::write_answers(app, lines));
    let text = text.map_err(|failure| Failure { exit: Exit::Configuration, ..failure })?;
    for (key, value) in lines {
        let line = format!("{key} = {value:?}");
        terminal::complain(&app.text(text::setup::wrote(&terminal::marks().done, &line)));
    }
    Ok(reread(app, text))
}

/// The same with another text of the settings. The language that was answered stays.
fn reread(app: &Console, text: String) -> Console {
    app.reread(app.sources.with_text(Some(text))).with_language(app.lang)
}
