//! Addresses and redirects that lead where no tool may go.

use crate::attack_web::{fetched, moved, web};
use crate::rows::{ADDRESSES, Address, REDIRECTS};
use crate::server::Server;
use crate::told::{Stage, Told, Verdict, tried};
use everloop_types::{Ending, Observation};
use serde_json::json;
use std::sync::Arc;

const FAR: &str = "not on the public network";

pub(crate) async fn tell(_: Stage) -> Vec<Told> {
    let mut all = tried(ADDRESSES, |(name, address, expected)| async move {
        let verdict = Verdict::of(called(address, *expected).await);
        Told { id: "", name: format!("an address: {name}"), verdict }
    })
    .await;
    all.extend(
        tried(REDIRECTS, |(name, to, words)| async move {
            let verdict = Verdict::of(followed(to, words).await);
            Told { id: "", name: format!("a page that leads on: {name}"), verdict }
        })
        .await,
    );
    all.extend(
        tried(["http_get", "http_send"], |tool| async move {
            let name = format!("an answer to {tool} that leads on");
            Told { id: "", name, verdict: Verdict::of(requested(tool).await) }
        })
        .await,
    );
    all
}

fn refused(seen: &Observation, words: &str) -> bool {
    seen.ending == Ending::Denied && seen.text.contains(words)
}

async fn called(address: &str, expected: Address) -> Option<String> {
    let server = Server::start(vec![]).await;
    let url = address.replace("{port}", &server.port.to_string());
    let seen = fetched(&web(&Arc::default(), &[]), &url).await;
    let words = match expected {
        Address::Near => FAR,
        Address::Looks(words) => words,
    };
    let is_held = refused(&seen, words) && server.lines().is_empty();
    (!is_held).then(|| format!("{url}: {seen:?}"))
}

async fn followed(to: &str, words: &str) -> Option<String> {
    let other = Server::start(vec![]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let to = to.replace("{other}", &other.port.to_string()).replace("{port}", &port);
    let server = Server::on(listener, vec![moved(&to); 10]);
    let place = web(&Arc::default(), &[format!("127.0.0.1:{}", server.port)]);
    let seen = fetched(&place, &server.url("/")).await;
    let is_held = refused(&seen, words) && other.lines().is_empty() && server.lines().len() <= 6;
    (!is_held).then(|| format!("{seen:?}"))
}

/// A request is answered by whoever was asked, and by nobody else.
async fn requested(tool: &str) -> Option<String> {
    let other = Server::start(vec![]).await;
    let server = Server::start(vec![moved(&other.url("/")); 3]).await;
    let place = crate::support::Place::with(|mut setting| {
        setting.http.hosts = everloop_tools::HostAddress::parse("127.0.0.1").into_iter().collect();
        setting.http.timeout_ms = 5_000;
        setting.http.bytes_max = 10_000;
        setting
    });
    let args = match tool {
        "http_get" => json!({ "url": server.url("/") }),
        _ => json!({ "method": "POST", "url": server.url("/"), "body": "secret" }),
    };
    let seen = place.call(tool, args).await;
    let is_held = other.lines().is_empty() && seen.text.contains("302");
    (!is_held).then(|| format!("{seen:?}"))
}
