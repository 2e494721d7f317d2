//! Edits that name what they have seen: of many at once, one counts.

use crate::support::{Home, HttpClient, Served};
use everloop_store::testing::PgServer;
use serde_json::{Value, json};

/// What of some edits at once was accepted; all others must have been refused as too late.
fn race(clients: &[&HttpClient], path: &str, etag: &str, edit: impl Fn(usize) -> Value) -> Value {
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (client, body) = (clients[number % clients.len()], edit(number).to_string());
                scope.spawn(move || {
                    let matches = format!("If-Match: {etag}");
                    let headers = [matches.as_str(), "Content-Type: application/json"];
                    client.request(&format!("PATCH {path}"), &headers, &body)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (accepted, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(accepted.len(), 1, "{accepted:?}");
    for answer in refused {
        assert_eq!(answer.is(412).code(), "precondition_failed");
    }
    accepted[0].json()
}

fn check_edits(servers: &[Served]) {
    let clients: Vec<&HttpClient> = servers.iter().map(|served| &served.client).collect();
    let first = clients[0];
    let begun = first.post("/v1/conversations", &json!({"title": "one"})).is(201);
    let path = format!("/v1/conversations/{}", begun.json()["id"].as_str().unwrap());
    let title = |number: usize| json!({"title": format!("title {number}"), "archived": true});
    let won = race(&clients, &path, begun.header("etag").unwrap(), title);
    let now = first.get(&path).is(200).json();
    assert_eq!((&now["title"], &now["archived"]), (&won["title"], &json!(true)));

    let added = first.post("/v1/todos", &json!({"text": "buy milk"})).is(201);
    let path = format!("/v1/todos/{}", added.json()["todo"]["id"]);
    let etag = added.header("etag").unwrap();
    assert_eq!(first.get(&path).header("etag"), Some(etag));
    let won = race(&clients, &path, etag, |number| json!({"text": format!("buy {number}")}));
    assert_eq!(first.get(&path).json()["todo"]["text"], won["todo"]["text"]);

    let entry = json!({"text": "2030-01-02 15:00 dentist"});
    let added = first.post("/v1/schedules", &entry).is(201);
    let path = format!("/v1/schedules/{}", added.json()["entry"]["id"]);
    let etag = added.header("etag").unwrap();
    let edit = |number: usize| json!({"text": format!("2030-01-02 16:00 visit {number}")});
    let won = race(&clients, &path, etag, edit);
    assert_eq!(first.get(&path).json()["entry"]["title"], won["entry"]["title"]);
}

#[test]
fn of_edits_that_saw_the_same_one_is_made_in_a_file() {
    check_edits(&[Home::scripted(&[]).with_token().serve()]);
}

#[test]
fn of_edits_that_saw_the_same_one_is_made_over_two_servers_of_one_database() {
    let database = PgServer::durable().database();
    let home = || Home::scripted(&[]).with_token().with("EVERLOOP_STORE__DATABASE", &database.url);
    let homes = [home(), home()];
    check_edits(&homes.each_ref().map(Home::serve));
}
