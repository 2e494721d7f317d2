//! The HTTP server: the same functions of the application that the terminal calls, as an API.
//!
//! ```text
//!   connection ──► limits ──► Host, Origin, token ──► Idempotency-Key ──► route ──► app
//!   (listen.rs)               (guard.rs)              (idempotency.rs)    (routes/, pages/)
//! ```
//!
//! A page or a program sees a projection of the journal: [`RunEvent`](everloop_engine::RunEvent)s
//! with the place of their entry, so that a reader who comes back misses nothing. The table of
//! routes (`api.rs`) makes both the router and the OpenAPI document.
//!
//! Deliberately absent: rules of the product (the application's), SQL, and a second truth.

mod address;
mod api;
mod comparing;
mod comparison_desk;
mod cors;
mod docs_page;
mod guard;
mod idempotency;
mod json;
mod listen;
mod live_settings;
mod live_token;
mod metrics;
mod openapi;
mod pages;
mod problem;
mod rate;
mod routes;
mod state;
mod tls;

pub use api::{openapi_document, router};
pub use comparing::{CompareLoops, ComparisonNews, ComparisonOffer, ComparisonRequest};
pub use listen::{HttpServer, ServerError, TlsFiles};
pub use state::{ServerOptions, ServerState};
