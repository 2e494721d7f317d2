//! Checks of answers to requests that carry a key.

use crate::{ApiAnswer, KeyAges, KeyReservation, KeyedRequest, Store};

const HOUR: i64 = 3_600_000;
const AGES: KeyAges = KeyAges { pending_ms: HOUR, answer_ms: HOUR };

fn request(owner: &str) -> KeyedRequest {
    KeyedRequest { key: "key".to_owned(), digest: "digest é".to_owned(), owner: owner.to_owned() }
}

pub(super) async fn the_first_answer_under_a_key_stays_until_it_is_forgotten(store: Store) {
    let answer = |body: &str| ApiAnswer {
        digest: "digest é".to_owned(),
        status: 202,
        headers: r#"{"etag":"\"1\""}"#.to_owned(),
        body: body.to_owned(),
    };
    let keys = store.api_requests();
    let (one, other) = (request("one"), request("other"));
    assert_eq!(keys.reserve(&one, AGES).await.unwrap(), KeyReservation::Reserved);
    let in_use = KeyReservation::InUse("digest é".to_owned());
    assert_eq!(keys.reserve(&other, AGES).await.unwrap(), in_use);
    assert!(keys.renew(&one).await.unwrap() && !keys.renew(&other).await.unwrap());
    assert!(!keys.keep(&other, &answer("not its own")).await.unwrap());
    assert!(keys.keep(&one, &answer("first")).await.unwrap());
    assert!(!keys.keep(&one, &answer("second")).await.unwrap());
    let answered = KeyReservation::Answered(answer("first"));
    assert_eq!(keys.reserve(&other, AGES).await.unwrap(), answered);
    keys.release(&one).await.unwrap();
    assert_eq!(keys.reserve(&other, AGES).await.unwrap(), answered, "an answer stays");
    keys.forget(HOUR).await.unwrap();
    assert_eq!(keys.reserve(&other, AGES).await.unwrap(), answered, "it is young");
    keys.forget(0).await.unwrap();
    assert_eq!(keys.reserve(&other, AGES).await.unwrap(), KeyReservation::Reserved);
}

pub(super) async fn a_key_whose_process_died_is_reserved_by_the_next_one(store: Store) {
    let keys = store.api_requests();
    let (dead, heir) = (request("dead"), request("heir"));
    assert_eq!(keys.reserve(&dead, AGES).await.unwrap(), KeyReservation::Reserved);
    let given_up = KeyAges { pending_ms: 0, ..AGES };
    assert_eq!(keys.reserve(&heir, given_up).await.unwrap(), KeyReservation::Reserved);
    assert!(!keys.renew(&dead).await.unwrap(), "it lost the key");
    keys.release(&dead).await.unwrap();
    assert!(keys.renew(&heir).await.unwrap(), "and cannot give it back");
    keys.release(&heir).await.unwrap();
    assert_eq!(keys.reserve(&dead, AGES).await.unwrap(), KeyReservation::Reserved);
    // Of many that come at once, one is answered.
    keys.release(&dead).await.unwrap();
    let tries: Vec<_> = (0..8)
        .map(|number| {
            let (store, request) = (store.clone(), request(&format!("try {number}")));
            tokio::spawn(async move { store.api_requests().reserve(&request, AGES).await.unwrap() })
        })
        .collect();
    let mut reserved = 0;
    for one in tries {
        reserved += usize::from(one.await.unwrap() == KeyReservation::Reserved);
    }
    assert_eq!(reserved, 1);
}
