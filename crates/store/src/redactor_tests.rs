use super::*;
use crate::{SqlRow, Store, Urgency};
use everloop_types::journal::{EffectFinished, Outcome};
use everloop_types::{Observation, Rows, Statement, Write};
use std::time::Instant;

/// With everything in it that some format escapes.
const HARD: &str = "sk/\"a\\b&é +1\u{1f511}x9";
const KEY: &str = "sk-fake-4f9Q2zL8aVbN0pXr";

fn knowing(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::default();
    for secret in secrets {
        assert!(redactor.learn(secret), "{secret}");
    }
    redactor
}

fn seen(text: &str) -> EntryKind {
    let outcome = Outcome::Observed(Observation::ok(text));
    EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 1))
}

/// Digits may stand in a number, which stays what it is; the words beside it are cleaned.
#[test]
fn a_secret_that_looks_like_a_number_leaves_the_form_of_an_entry_alone() {
    let redactor = knowing(&["123456789012"]);
    let outcome = Outcome::Observed(Observation::ok("the pin is 123456789012"));
    let kind = EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 123_456_789_012));
    let outcome = Outcome::Observed(Observation::ok(format!("the pin is {SECRET_MARK}")));
    let cleaned = EntryKind::EffectFinished(EffectFinished::unlabeled(outcome, 123_456_789_012));
    assert_eq!(redactor.kind(kind), cleaned);
}

#[test]
fn a_secret_is_found_in_every_form() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let json = |text: &str| serde_json::to_string(text).unwrap();
    for secret in [KEY, HARD] {
        let redactor = knowing(&[secret]);
        let arguments = json(&format!("{{\"key\":{}}}", json(secret)));
        let mut texts = vec![secret.to_owned(), json(secret), arguments];
        for before in ["", "u", "me"] {
            texts.push(STANDARD.encode(format!("{before}:{secret}")));
        }
        for text in texts {
            let cleaned = redactor.text(&text);
            assert!(cleaned.contains(SECRET_MARK), "{text} stayed {cleaned}");
            assert!(!redactor.finds(&cleaned));
        }
    }
    let redactor = knowing(&["pass word/1"]);
    for text in ["pass%20word%2F1", "pass+word%2f1", "70617373", "pass word\\/1"] {
        let whole = text.replace("70617373", "7061737320776f72642f31");
        assert_eq!(redactor.text(&whole), SECRET_MARK, "{whole}");
    }
}

#[test]
fn other_text_stays_and_words_are_no_secrets() {
    let redactor = knowing(&[KEY]);
    for text in ["", "sk-fake-", "nothing to see", &KEY[1..]] {
        assert_eq!(redactor.text(text), text);
    }
    for word in ["", "short", "observed", "call_tool", "postgres"] {
        assert!(!Redactor::default().learn(word), "{word}");
    }
}

#[test]
fn an_entry_comes_back_cleaned_and_can_be_read() {
    let redactor = knowing(&[KEY, HARD]);
    assert_eq!(redactor.kind(seen("all well")), seen("all well"));
    let both = format!("a {KEY} b {HARD} c");
    assert_eq!(redactor.kind(seen(&both)), seen("a [secret] b [secret] c"));
    let reply = seen(&serde_json::json!({"key": HARD}).to_string());
    assert_eq!(redactor.kind(reply), seen("{\"key\":\"[secret]\"}"));
}

#[test]
fn the_beginning_of_a_secret_is_held_back() {
    let redactor = knowing(&[KEY]);
    assert_eq!(redactor.held_back("it is sk-fak"), "sk-fak".len());
    assert_eq!(redactor.held_back("it is over"), 0);
    assert_eq!(redactor.held_back("é"), 0);
    assert_eq!(Redactor::default().held_back("sk-fak"), 0);
}

#[tokio::test]
async fn a_screened_statement_loses_secrets_and_a_sealed_one_is_kept_byte_for_byte() {
    let memory = Store::memory();
    let store = Store::with_db(memory.db().clone()).with_redactor(knowing(&[KEY]));
    let sql = "INSERT INTO schema_meta (k, v) VALUES ($1, $2)";
    for (statement, name) in
        [(Statement::screened(sql), "screened"), (Statement::sealed(sql), "sealed")]
    {
        let params = vec![name.into(), KEY.into()];
        let write = Write { statement, params, expect: Rows::Exactly(1) };
        store.db().commit(vec![write], Urgency::Critical).await.unwrap();
    }
    let read = "SELECT v FROM schema_meta WHERE k IN ('screened', 'sealed') ORDER BY k";
    let rows = memory.db().query(read, Vec::new()).await.unwrap();
    assert_eq!(rows, [SqlRow(vec![SECRET_MARK.into()]), SqlRow(vec![KEY.into()])]);
}

/// Looking costs less than a few times what laying the entry down costs anyway.
#[test]
fn looking_through_an_entry_is_cheap() {
    let many: Vec<String> = (0..20).map(|n| format!("{KEY}-{n:04}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let redactor = knowing(&many);
    let entry = seen(&"a line of what some tool said, sk-fake- and so on\n".repeat(200));
    let time = |work: &dyn Fn()| {
        let best = (0..20).map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        });
        best.min().unwrap_or_default()
    };
    let laying = time(&|| drop(std::hint::black_box(entry.body())));
    let looking = time(&|| {
        std::hint::black_box(redactor.finds(&entry.body()));
    });
    println!("laying down {laying:?}, with a look {looking:?}");
    assert!(looking < laying * 20, "laying down {laying:?}, with a look {looking:?}");
}
