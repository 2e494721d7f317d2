//! Which models an endpoint offers.

use crate::Endpoint;
use crate::formats::format_of;
use crate::http::{EndpointSpec, ProviderClient};
use crate::openai;
use everloop_types::{ModelError, ModelErrorKind};
use serde::Deserialize;

/// OpenAI and Anthropic list `data`, Gemini lists `models`, llama.cpp lists both.
#[derive(Deserialize)]
#[serde(untagged)]
enum ModelListBody {
    Data { data: Vec<ListedModel> },
    Models { models: Vec<ListedModel> },
}

impl ModelListBody {
    fn all(self) -> Vec<ListedModel> {
        match self {
            Self::Data { data } => data,
            Self::Models { models } => models,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedModel {
    #[serde(alias = "name")]
    id: String,
    /// What Gemini's models can do; not all of them generate text.
    #[serde(default)]
    supported_generation_methods: Option<Vec<String>>,
}

impl ListedModel {
    fn generates_text(&self) -> bool {
        let methods = self.supported_generation_methods.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    }
}

/// The names of the models at an OpenAI-compatible endpoint, in its own order. Costs no tokens.
///
/// # Errors
/// When there is no answer in time, or it is not a list.
pub async fn list_models(endpoint: Endpoint) -> Result<Vec<String>, ModelError> {
    // Without an address nothing is sent.
    list(EndpointSpec { usual_url: "", ..openai::ENDPOINT }, "models", endpoint).await
}

/// The names of the models that a provider offers, at its usual address if none is given. Costs no
/// tokens.
///
/// # Errors
/// When there is no answer in time, or it is not a list.
pub async fn list_models_of(provider: &str, endpoint: Endpoint) -> Result<Vec<String>, ModelError> {
    match format_of(provider) {
        Some(format) => list(format.spec, format.list_call, endpoint).await,
        None => {
            let usual_url = crate::usual_url(provider);
            list(EndpointSpec { usual_url, ..openai::ENDPOINT }, "models", endpoint).await
        }
    }
}

async fn list(
    spec: EndpointSpec,
    call: &str,
    endpoint: Endpoint,
) -> Result<Vec<String>, ModelError> {
    let client = ProviderClient::new(spec, endpoint)
        .map_err(|error| ModelError::new(ModelErrorKind::Refused, error.to_string()))?;
    let body = client.get(call).await?;
    let offer: ModelListBody = serde_json::from_slice(&body)
        .map_err(|error| ModelError::new(ModelErrorKind::Malformed, error.to_string()))?;
    let talking = offer.all().into_iter().filter(ListedModel::generates_text);
    Ok(talking.map(|model| model.id.trim_start_matches("models/").to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;
    use crate::testing::{CannedReply, FakeServer};

    #[tokio::test]
    async fn each_provider_is_asked_for_its_list_in_its_own_way() {
        let gemini = r#"{"models":[
            {"name":"models/flash","supportedGenerationMethods":["generateContent"]},
            {"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}"#;
        for (provider, body, line, names) in [
            (
                "openai",
                r#"{"data":[{"id":"a"},{"id":"b"}]}"#,
                "GET /v1/models HTTP",
                vec!["a", "b"],
            ),
            (
                "anthropic",
                r#"{"data":[{"id":"claude","type":"model"}],"has_more":false}"#,
                "GET /v1/models?limit=1000 HTTP",
                vec!["claude"],
            ),
            (
                "llamacpp",
                r#"{"models":[{"name":"small"}],"object":"list","data":[{"id":"small"}]}"#,
                "GET /v1/models HTTP",
                vec!["small"],
            ),
            ("gemini", gemini, "GET /v1beta/models?pageSize=1000 HTTP", vec!["flash"]),
        ] {
            let server = FakeServer::start(vec![CannedReply::json(body)]);
            let api_key = Some(Secret::new("k-1"));
            let endpoint = Endpoint { api_key, ..Endpoint::at(server.url()) };
            assert_eq!(list_models_of(provider, endpoint).await.unwrap(), names);
            let head = &server.seen()[0].head;
            assert!(head.starts_with(line) && head.contains("k-1"), "{head}");
        }
        let nowhere = list_models(Endpoint::default()).await.unwrap_err();
        assert_eq!(nowhere.kind, ModelErrorKind::Refused);
    }
}
