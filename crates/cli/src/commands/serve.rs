//! `everloop serve`: the HTTP API over this home; `everloop token`: what opens it.

mod comparing;

use crate::args::{ServeArgs, TokenArgs, TokenVerb};
use crate::build;
use comparing::ConsoleComparison;
use everloop_app::access_token::{AccessToken, TokenError, TokenSource};
use everloop_app::error::chain;
use everloop_app::serving::ServiceSession;
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_server::{HttpServer, ServerError, ServerOptions, ServerState, TlsFiles};
use everloop_store::StoreError;
use everloop_text as text;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) async fn serve(app: &Console, args: &ServeArgs) -> Result<Exit, Failure> {
    if args.print_unit {
        terminal::print_line(&unit_file(app));
        return Ok(Exit::Done);
    }
    let token = AccessToken::read_or_make(app).map_err(|error| token_failure(app, error))?;
    token.hide();
    let address = args.listen.clone().unwrap_or_else(|| app.settings.server.listen.clone());
    let server = HttpServer::bind(&address, tls_files(app, args).as_ref(), args.insecure).await;
    let server = server.map_err(|error| server_failure(app, &error))?;
    let away = |error: &StoreError| app.note(text::run::database_away(&chain(error)));
    let store = app.checked(app.open_store_patiently(away).await)?;
    // Before the first line: its reader may ask this process to stop.
    let mut signals = Signals::new(app)?;
    let session = app.checked(ServiceSession::open(app, store).await)?;
    let (drives, source) = (session.drives(), token.source.clone());
    let hosts: Vec<String> = server.host().into_iter().collect();
    let is_for_others = !hosts.is_empty();
    let is_https = server.url().starts_with("https:");
    let version = build::VERSION.to_owned();
    let comparison = Some(Arc::new(ConsoleComparison { app: app.clone() }) as _);
    let options = ServerOptions { token, version, hosts, comparison, is_https };
    let state = ServerState::new((**app).clone(), session, options);
    let url = server.url();
    announce(app, args, &ServeAddress { url, state: &state, source, drives, is_for_others });
    let mut exit = Exit::Done;
    let stop = async {
        exit = signals.next().await;
        app.note(text::serve::stopping());
    };
    server.serve(state, stop).await;
    Ok(exit)
}

/// A server that is about to answer.
struct ServeAddress<'a> {
    url: String,
    state: &'a ServerState,
    source: TokenSource,
    drives: bool,
    /// Whether other machines can reach it.
    is_for_others: bool,
}

/// Says where it listens and how it is opened.
fn announce(app: &Console, args: &ServeArgs, server: &ServeAddress<'_>) {
    let url = &server.url;
    let link = args.open.then(|| server.state.open_link().ok()).flatten();
    let link = link.map(|path| format!("{url}{path}"));
    if args.json {
        let mut said = json!({"url": url, "drives_runs": server.drives});
        if let Some(link) = &link {
            said["open_url"] = json!(link);
        }
        return terminal::print_json(&said);
    }
    app.note(text::serve::listening(url));
    if server.is_for_others && app.settings.server.hosts.is_empty() {
        app.note(text::serve::names());
    }
    app.note(match &server.source {
        TokenSource::File(file) => text::serve::token_in(&file.display()),
        TokenSource::Variable => text::serve::token_from_variable(),
    });
    app.note(if server.drives { text::serve::drives() } else { text::serve::another_drives() });
    if let Some(link) = &link {
        app.note(text::pages::signin::link(link));
        open_browser(link);
    }
}

/// Opens a page where there is a desktop; where there is none, nothing happens.
fn open_browser(url: &str) {
    let Some(program) = everloop_tools::find_program("xdg-open") else { return };
    let mut command = std::process::Command::new(program);
    let quiet = std::process::Stdio::null;
    let _ = command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}

fn tls_files(app: &Console, args: &ServeArgs) -> Option<TlsFiles> {
    let named = |given: &Option<PathBuf>, set: &str| {
        given.clone().or_else(|| (!set.is_empty()).then(|| PathBuf::from(set)))
    };
    let server = &app.settings.server;
    let cert = named(&args.tls_cert, &server.tls_cert)?;
    let key = named(&args.tls_key, &server.tls_key)?;
    Some(TlsFiles { cert, key })
}

fn server_failure(app: &Console, error: &ServerError) -> Failure {
    let (exit, words) = match error {
        ServerError::BadAddress(address) => (Exit::Usage, text::serve::bad_address(address)),
        ServerError::NotLoopback(address) => (Exit::Usage, text::serve::not_loopback(address)),
        ServerError::Listen { address, source } => {
            (Exit::Failed, text::serve::cannot_listen(address, source))
        }
        ServerError::Tls(detail) => (Exit::Configuration, text::serve::bad_tls(detail)),
    };
    app.failure(exit, words)
}

fn token_failure(app: &Console, error: TokenError) -> Failure {
    match error {
        TokenError::Unusable(_) => app.failure(Exit::Configuration, text::token::unusable()),
        TokenError::Named => app.failure(Exit::Usage, text::token::named()),
        TokenError::App(error) => everloop_console::failure::of(app, error),
    }
}

/// A unit for systemd, with this program and everything closed that it does not need.
fn unit_file(app: &Console) -> String {
    let program = std::env::current_exe()
        .map_or_else(|_| "everloop".to_owned(), |program| program.display().to_string());
    // After the drain runs have their own time to come to a safe point.
    let stop = app.settings.server.drain.ms().div_ceil(1_000) + 15;
    format!(include_str!("everloop.service"), program = program, stop = stop)
}

pub(crate) fn token(app: &Console, args: &TokenArgs) -> Result<Exit, Failure> {
    let verb = args.verb.unwrap_or(TokenVerb::Show);
    let token = match verb {
        TokenVerb::Show => AccessToken::read_or_make(app),
        TokenVerb::Rotate => AccessToken::rotate(app),
    };
    let token = token.map_err(|error| token_failure(app, error))?;
    let file = match &token.source {
        TokenSource::File(file) => Some(file.display().to_string()),
        TokenSource::Variable => None,
    };
    match (verb, args.json) {
        (_, true) => terminal::print_json(&json!({"token": token.show(), "file": file})),
        (TokenVerb::Show, false) => terminal::print_line(token.show()),
        (TokenVerb::Rotate, false) => {
            terminal::print_line(token.show());
            app.note(text::token::rotated(&file.unwrap_or_default()));
        }
    }
    Ok(Exit::Done)
}
