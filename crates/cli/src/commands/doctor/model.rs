//! The model: whether one is chosen, has a key, and can be reached. Not a single token is spent.

use super::{Check, Report, State};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure;
use crate::survey::line;
use crate::trouble::{self, Read};
use everloop_app::environment::is_scripted;
use everloop_app::frames::default_model;
use everloop_app::key;
use everloop_app::models::survey::{ProviderInUse, survey};
use everloop_app::place::Place;
use everloop_app::settings::redact;
use everloop_app::trouble::ModelTrouble;
use everloop_text::{self as text, Text};
use everloop_types::{ModelChoice, ModelErrorKind};
use std::fmt::Display;
use std::time::Duration;
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(1);

pub(super) async fn model(app: &Console, report: &mut Report) {
    let chosen = default_model(app);
    let place = Place::of(&app.settings, &chosen);
    let name = redact::shown(&chosen);
    let url = redact::shown(&place.base_url);
    let variables = key::variables(&app.settings, place.provider).join(", ");
    let all = survey(app);
    report.note("providers", all.iter().map(ProviderInUse::to_json).collect::<Vec<_>>());
    let lines: Vec<String> = all.iter().map(|provider| line(app, provider)).collect();
    if !lines.is_empty() {
        let lines = lines.join("\n    ");
        report.checks.push(Check::good(app, "providers", text::doctor::providers(), lines));
    }
    report.note("model", name.as_str());
    report.note("base_url", url.as_str());
    report.note("key_env", redact::shown(&variables));
    let key = key::find(&app.settings, &app.key_file(), &place);
    report.note("key_is_set", matches!(key, Ok(Some(_))));
    let good = |detail: String| Check::good(app, "model", text::doctor::model(), detail);
    if name.is_empty() {
        let check = good(app.text(text::doctor::no_model()));
        return report.checks.push(check.but(State::Note, app.text(text::doctor::set_up())));
    }
    let wrong = State::Wrong(Exit::Configuration);
    if let Some(words) = failure::unknown_provider(app, &name) {
        return report.checks.push(good(name).but(wrong, words));
    }
    if is_scripted(&name) {
        return report.checks.push(good(name));
    }
    if let Err(error) = key {
        return report.checks.push(good(name).but(wrong, error.words(app.lang)));
    }
    let choice = ModelChoice { name: name.clone(), ..ModelChoice::default() };
    if let Err(error) =
        everloop_engine::Environment::model(&app.environment(&app.settings), &choice)
    {
        let advice = match error.kind {
            ModelErrorKind::NoKey => {
                trouble::words(app, &ModelTrouble::of(app, &name, &error), Read::InShell)
            }
            _ => app.text(text::doctor::set_up()),
        };
        return report.checks.push(good(error.detail).but(wrong, advice));
    }
    let address = redact::shown(place.address());
    let (check, reachable) = reached(app, &name, &address).await;
    report.note("model_reachable", reachable);
    report.checks.push(check);
}

/// Whether somebody takes a connection there; `None` where a proxy stands between.
async fn reached(app: &Console, name: &str, url: &str) -> (Check, Option<bool>) {
    let good = |text: fn(&dyn Display, &dyn Display) -> Text| {
        let detail = app.text(text(&name, &url));
        Check::good(app, "model", text::doctor::model(), detail)
    };
    let Some((host, port)) = place(url) else {
        return (good(text::doctor::model_not_tried), None);
    };
    let is_local = host == "localhost" || host.starts_with("127.") || host == "::1";
    let proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if !is_local && proxy.iter().any(|name| std::env::var_os(name).is_some()) {
        return (good(text::doctor::model_not_tried), None);
    }
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect((host, port))).await;
    match connected {
        Ok(Ok(_)) => (good(text::doctor::model_reachable), Some(true)),
        _ => {
            let advice = app.text(text::doctor::model_advice());
            let check = good(text::doctor::model_unreachable);
            (check.but(State::Wrong(Exit::Configuration), advice), Some(false))
        }
    }
}

/// Host and port of an address.
fn place(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?']).next()?;
    let authority = authority.rsplit('@').next()?;
    let usual = if scheme == "https" { 443 } else { 80 };
    if let Some(inner) = authority.strip_prefix('[') {
        let (host, port) = inner.split_once(']')?;
        let port = port.strip_prefix(':').map_or(Some(usual), |port| port.parse().ok());
        return Some((host, port?));
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((authority, usual)),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (url, seen) in [
            ("https://api.example.com/v1", Some(("api.example.com", 443))),
            ("http://127.0.0.1:11434/v1", Some(("127.0.0.1", 11434))),
            ("http://me@host", Some(("host", 80))),
            ("http://[::1]:8080/v1", Some(("::1", 8080))),
            ("nonsense", None),
        ] {
            assert_eq!(place(url), seen, "{url}");
        }
    }
}
