//! Tools of the web whose names lead where the table says.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::rows::NAMES;
use crate::server::Reply;
use crate::support::{Place, context};
use everloop_ports::{BoxFuture, ToolReturn};
use everloop_tools::{HostAddress, Http, NameResolver, Resolve, Setting, WebSetting};
use everloop_types::Observation;
use serde_json::json;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Answers by the table, and counts. A name may lead elsewhere at its second lookup.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) asked: AtomicUsize,
    pub(crate) next: Mutex<Vec<IpAddr>>,
}

impl Resolve for Table {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let turns = name == "turns.example";
        let turn = self.next.lock().unwrap().pop().filter(|_| turns);
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, all)| *all);
        let listed = found.unwrap_or_default().iter().map(|ip| ip.parse().unwrap());
        let all = turn.into_iter().chain(listed).collect();
        Box::pin(async move { Ok(all) })
    }
}

pub(crate) fn web(names: &Arc<Table>, near: &[String]) -> Place {
    let names = NameResolver(Arc::clone(names) as Arc<dyn Resolve>);
    let near: Vec<HostAddress> = near.iter().filter_map(|host| HostAddress::parse(host)).collect();
    let http = Http {
        hosts: NAMES.iter().filter_map(|(name, _)| HostAddress::parse(name)).collect(),
        timeout_ms: 5_000,
        bytes_max: 10_000,
        names: names.clone(),
    };
    let web = WebSetting { near, timeout_ms: 5_000, bytes_max: 10_000, names };
    Place::with(|setting| Setting { web: Some(web), http, ..setting })
}

pub(crate) async fn fetched(place: &Place, url: &str) -> Observation {
    match place.tool("fetch_web").call(&json!({ "url": url }).to_string(), &context()).await {
        ToolReturn::Seen(seen) => seen,
        other => panic!("{url}: {other:?}"),
    }
}

pub(crate) fn moved(to: &str) -> Reply {
    Reply::Raw(format!(
        "HTTP/1.1 302 X\r\nlocation: {to}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    ))
}

pub(crate) fn page(text: &str) -> Reply {
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/html\r\nconnection: close";
    Reply::Raw(format!("{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len()))
}
