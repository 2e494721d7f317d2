//! Finds the model for a name such as `provider/model`.

use crate::formats::{FORMATS, format_of};
use crate::openai::quirks;
use crate::{Endpoint, OpenAi, ScriptedModel};
use everloop_ports::Model;
use std::path::PathBuf;
use std::sync::Arc;

/// Why there is no model for a name.
#[derive(Debug, thiserror::Error)]
pub enum ModelConnectError {
    /// There is no slash in the name, or nothing on one side of it.
    #[error("model name `{name}` has no provider: write provider/model, such as openai/gpt-4o")]
    NoProvider {
        /// The name as given.
        name: String,
    },
    /// A provider whose address is not known.
    #[error(
        "provider `{provider}` is not known, and no address is set for it: give the base URL of \
         its OpenAI-compatible API"
    )]
    NoBaseUrl {
        /// The provider's name.
        provider: String,
    },
    /// The address is not valid.
    #[error("base URL `{url}` is no http or https address")]
    BadBaseUrl {
        /// The address as given.
        url: String,
    },
    /// The address has a user name or a password, which would be visible in output.
    #[error("the base URL holds a name or password: give the API key on its own")]
    KeyInUrl,
    /// The key has characters that are not allowed in a header.
    #[error("the API key has characters that cannot be sent")]
    BadKey,
    /// The HTTP client could not be created.
    #[error("no HTTP client")]
    Client(#[source] reqwest::Error),
    /// TLS could not be set up.
    #[error("no TLS")]
    Tls(#[source] everloop_ports::http::TlsError),
    /// The script of a scripted model does not exist.
    #[error("script {path} cannot be read")]
    Script {
        /// Where it was looked for.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The script of a scripted model is not valid.
    #[error("script {path} must be JSON of the form {{\"replies\": [{{\"text\": \"…\"}}]}}")]
    BadScript {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Connects to `provider/model`; returns the model and its name without the provider.
///
/// `scripted/<path>` plays a script; some providers speak formats of their own. Every other
/// provider is taken for OpenAI-compatible, with the quirks it is known for, at the address
/// that `endpoint` gives or at its usual one.
///
/// # Errors
/// When the name, the address or the script cannot be used. Nothing is sent yet.
pub fn connect(
    name: &str,
    endpoint: Endpoint,
) -> Result<(Arc<dyn Model>, String), ModelConnectError> {
    let (provider, model) = match name.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => (provider, model),
        _ => return Err(ModelConnectError::NoProvider { name: name.to_owned() }),
    };
    let answerer: Arc<dyn Model> = if provider == "scripted" {
        Arc::new(ScriptedModel::from_file(model)?)
    } else if let Some(format) = format_of(provider) {
        (format.connect)(endpoint)?
    } else if endpoint.base_url.is_empty() && quirks::of(provider).is_none() {
        return Err(ModelConnectError::NoBaseUrl { provider: provider.to_owned() });
    } else {
        Arc::new(OpenAi::of(provider, endpoint)?)
    };
    Ok((answerer, model.to_owned()))
}

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider {
    /// As in `provider/model`.
    pub name: &'static str,
    /// Where it is asked unless another address is given.
    pub address: &'static str,
    /// The variables where its users keep their key, the first that is set counts; none for a
    /// server on this machine, which wants no key.
    pub key_variables: &'static [&'static str],
}

/// Every provider that is known by name.
pub fn providers() -> impl Iterator<Item = KnownProvider> {
    let compatible = quirks::TABLE.into_iter().map(|row| KnownProvider {
        name: row.provider,
        address: row.usual_url,
        key_variables: row.key_envs,
    });
    FORMATS.into_iter().map(|format| format.provider).chain(compatible)
}

fn known(provider: &str) -> Option<KnownProvider> {
    providers().find(|known| known.name == provider)
}

/// The variables where the users of a provider keep their key, the first that is set counts.
#[must_use]
pub fn key_variables(provider: &str) -> &'static [&'static str] {
    known(provider).map_or(&[], |known| known.key_variables)
}

/// The address of a provider unless another one is given; empty if there is no usual one.
#[must_use]
pub fn usual_url(provider: &str) -> &'static str {
    known(provider).map_or("", |known| known.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(name: &str) -> String {
        connect(name, Endpoint::default()).err().unwrap().to_string()
    }

    #[test]
    fn a_name_leads_to_a_model_or_says_what_is_missing() {
        let (_, model) = connect("openai/gpt-4o", Endpoint::default()).unwrap();
        assert_eq!(model, "gpt-4o");
        let local = Endpoint::at("http://127.0.0.1:9");
        assert_eq!(connect("hub/org/qwen3-max", local).unwrap().1, "org/qwen3-max");
        assert!(failure("gpt-4o").starts_with("model name `gpt-4o` has no provider"));
        assert_eq!(connect("anthropic/claude", Endpoint::default()).unwrap().1, "claude");
        assert_eq!(connect("gemini/flash", Endpoint::default()).unwrap().1, "flash");
        for known in providers() {
            let name = format!("{}/m", known.name);
            assert_eq!(connect(&name, Endpoint::default()).unwrap().1, "m");
        }
        assert!(failure("hub/qwen").contains("give the base URL"));
        assert!(failure("scripted/no/such.json").contains("no/such.json cannot be read"));
    }

    #[test]
    fn a_provider_has_its_own_variables_and_address() {
        assert_eq!(key_variables("gemini"), ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
        assert_eq!(key_variables("anthropic"), ["ANTHROPIC_API_KEY"]);
        assert_eq!(key_variables("deepseek"), ["DEEPSEEK_API_KEY"]);
        assert!(key_variables("ollama").is_empty() && key_variables("hub").is_empty());
        assert_eq!(usual_url("ollama"), "http://127.0.0.1:11434/v1");
        assert_eq!(
            (usual_url("anthropic"), usual_url("hub")),
            ("https://api.anthropic.com/v1", "")
        );
    }

    #[test]
    fn regions_have_hosts_of_their_own_and_no_two_companies_share_a_variable() {
        for (china, host) in [
            ("qwen", "dashscope.aliyuncs.com"),
            ("glm", "open.bigmodel.cn"),
            ("moonshot", "api.moonshot.cn"),
            ("minimax", "api.minimaxi.com"),
            ("siliconflow", "api.siliconflow.cn"),
        ] {
            assert!(usual_url(china).starts_with(&format!("https://{host}/")), "{china}");
            let abroad = format!("{china}-intl");
            assert!(!usual_url(&abroad).is_empty() && usual_url(&abroad) != usual_url(china));
        }
        let company = |name: &'static str| name.trim_end_matches("-intl");
        for one in providers() {
            for other in providers().filter(|other| company(other.name) != company(one.name)) {
                let shared = one.key_variables.iter().any(|it| other.key_variables.contains(it));
                assert!(!shared, "{} and {}", one.name, other.name);
            }
        }
    }
}
