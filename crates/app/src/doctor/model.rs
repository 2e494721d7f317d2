//! The model: whether one is chosen, has a key, and can be reached. Not a single token is spent.

use super::{CheckState, DoctorFinding, DoctorReport};
use crate::app::App;
use crate::environment::is_scripted;
use crate::frames::{default_model, is_of_unknown_provider};
use crate::key;
use crate::models::survey::{ProviderInUse, survey};
use crate::place::ModelPlace;
use crate::secrets::SecretError;
use crate::settings::redact;
use crate::trouble::ModelTrouble;
use everloop_engine::Environment;
use everloop_types::{ModelChoice, ModelErrorKind};
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(1);

/// What was seen of the default model.
pub enum ModelFinding {
    /// None is chosen.
    None,
    /// It is a script.
    Scripted(String),
    /// Nobody knows where its provider is.
    UnknownProvider(String),
    /// Its key cannot be resolved.
    Secret {
        /// The model.
        name: String,
        /// Why.
        error: SecretError,
    },
    /// It has no key.
    NoKey(Box<ModelTrouble>),
    /// It cannot be used; why.
    Unusable(String),
    /// It is asked at this address.
    At {
        /// The model.
        name: String,
        /// The base URL, without secrets.
        url: String,
        /// Whether it takes a connection; none if that was not tried.
        is_reachable: Option<bool>,
    },
}

impl DoctorReport {
    pub(super) async fn model(&mut self, app: &App) {
        let chosen = default_model(app);
        let place = ModelPlace::of(&app.settings, &chosen);
        let name = redact::shown(&chosen);
        let variables = key::variables(&app.settings, place.provider).join(", ");
        let all = survey(app);
        self.note("providers", json!(all.iter().map(ProviderInUse::report).collect::<Vec<_>>()));
        if !all.is_empty() {
            self.good("providers", DoctorFinding::Providers(all));
        }
        self.note("model", name.as_str());
        self.note("base_url", redact::shown(&place.base_url));
        self.note("key_env", redact::shown(&variables));
        let key = key::find(&app.settings, &app.key_file(), &place);
        self.note("key_is_set", matches!(key, Ok(Some(_))));
        let (state, finding) = match key {
            _ if name.is_empty() => (CheckState::Note, ModelFinding::None),
            _ if is_of_unknown_provider(app, &name) => {
                (CheckState::WrongSetting, ModelFinding::UnknownProvider(name))
            }
            _ if is_scripted(&name) => (CheckState::Good, ModelFinding::Scripted(name)),
            Err(error) => (CheckState::WrongSetting, ModelFinding::Secret { name, error }),
            Ok(_) => self.endpoint(app, name, redact::shown(place.address())).await,
        };
        self.check("model", state, DoctorFinding::Model(finding));
    }

    async fn endpoint(
        &mut self,
        app: &App,
        name: String,
        url: String,
    ) -> (CheckState, ModelFinding) {
        let choice = ModelChoice { name: name.clone(), ..ModelChoice::default() };
        if let Err(error) = app.environment(&app.settings).model(&choice) {
            let finding = match error.kind {
                ModelErrorKind::NoKey => {
                    ModelFinding::NoKey(Box::new(ModelTrouble::of(app, &name, &error)))
                }
                _ => ModelFinding::Unusable(error.detail),
            };
            return (CheckState::WrongSetting, finding);
        }
        let is_reachable = is_reachable(&url).await;
        self.note("model_reachable", is_reachable);
        let is_away = is_reachable == Some(false);
        let state = if is_away { CheckState::WrongSetting } else { CheckState::Good };
        (state, ModelFinding::At { name, url, is_reachable })
    }
}

/// Whether somebody takes a connection there; `None` where a proxy stands between.
async fn is_reachable(url: &str) -> Option<bool> {
    let (host, port) = host_and_port(url)?;
    let is_local = host == "localhost" || host.starts_with("127.") || host == "::1";
    let proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if !is_local && proxy.iter().any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect((host, port))).await;
    Some(matches!(connected, Ok(Ok(_))))
}

/// Host and port of an address.
fn host_and_port(url: &str) -> Option<(&str, u16)> {
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
    use super::host_and_port;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (url, seen) in [
            ("https://api.example.com/v1", Some(("api.example.com", 443))),
            ("http://127.0.0.1:11434/v1", Some(("127.0.0.1", 11434))),
            ("http://me@host", Some(("host", 80))),
            ("http://[::1]:8080/v1", Some(("::1", 8080))),
            ("nonsense", None),
        ] {
            assert_eq!(host_and_port(url), seen, "{url}");
        }
    }
}
