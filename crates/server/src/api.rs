//! The table of routes. One row makes the route and its part of the OpenAPI document.

use crate::openapi::{Document, Operation};
use crate::problem::ProblemCode;
use crate::state::ServerState;
use crate::{guard, idempotency, pages, routes};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};

/// Routes and their description.
#[derive(Default)]
pub(crate) struct Api {
    router: Router<ServerState>,
    document: Document,
}

impl Api {
    /// Adds a route. The operation says what goes in and comes out.
    pub(crate) fn route<H, T>(&mut self, operation: Operation, handler: H)
    where
        H: Handler<T, ServerState>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(operation.method.clone());
        let filter = filter.expect("an operation has a method that HTTP names");
        let router = std::mem::take(&mut self.router);
        self.router = router.route(operation.path, on(filter, handler));
        self.document.add(operation);
    }
}

fn everything() -> Api {
    let mut api = Api::default();
    routes::health::add(&mut api);
    routes::conversations::add(&mut api);
    routes::messages::add(&mut api);
    routes::runs::add(&mut api);
    routes::run_actions::add(&mut api);
    routes::events::add(&mut api);
    routes::conversation_events::add(&mut api);
    routes::interrupts::add(&mut api);
    routes::agenda::add(&mut api);
    routes::agenda_files::add(&mut api);
    routes::schedules::add(&mut api);
    routes::artifacts::add(&mut api);
    routes::memory::add(&mut api);
    routes::hooks::add(&mut api);
    routes::compare::add(&mut api);
    routes::catalog::add(&mut api);
    routes::records::add(&mut api);
    routes::audit::add(&mut api);
    routes::openai::add(&mut api);
    api
}

/// The OpenAPI 3.1 document, made from the types of the handlers.
#[must_use]
pub fn openapi_document() -> serde_json::Value {
    everything().document.finish()
}

/// Everything that the server answers.
pub fn router(state: ServerState) -> Router {
    let router = everything().router.merge(pages::router());
    router
        .fallback(no_such_route)
        // The guard bounds bodies.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(state.clone(), idempotency::remember))
        .layer(from_fn_with_state(state.clone(), guard::answer))
        .with_state(state)
}

async fn no_such_route() -> Response {
    ProblemCode::NoSuchRoute.bare().into_response()
}
