//! Which models an endpoint offers.

use crate::Endpoint;
use crate::http::{Client, Manners};
use everloop_types::{ModelError, ModelErrorKind};
use serde::Deserialize;

#[derive(Deserialize)]
struct Offer {
    data: Vec<Offered>,
}

#[derive(Deserialize)]
struct Offered {
    id: String,
}

/// The names of the models at an endpoint, in its own order. Costs no tokens.
///
/// # Errors
/// When nobody answers there in time, or with something else than a list.
pub async fn list_models(endpoint: Endpoint) -> Result<Vec<String>, ModelError> {
    // Nobody is asked unless an address was given.
    let manners = Manners { usual_url: "", ..crate::openai::MANNERS };
    let client = Client::new(manners, endpoint)
        .map_err(|error| ModelError::new(ModelErrorKind::Refused, error.to_string()))?;
    let body = client.get("models").await?;
    let offer: Offer = serde_json::from_slice(&body)
        .map_err(|error| ModelError::new(ModelErrorKind::Malformed, error.to_string()))?;
    Ok(offer.data.into_iter().map(|offered| offered.id).collect())
}
