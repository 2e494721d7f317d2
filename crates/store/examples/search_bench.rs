//! What the full-text index costs, and how fast a search over 100,000 messages is, on a file.
//!
//! `cargo run --release -p everloop-store --features testing-postgres --example search_bench`

use everloop_store::{Db, MessageQuery, NewConversation, SqliteDb, Store, StoreError, Urgency};
use everloop_types::{ConversationId, Rows, SqlValue, Statement, Write};
use std::{sync::Arc, time::Instant};

const MESSAGES: i64 = 100_000;

/// Messages of one transaction: the disk is not what is measured.
const BATCH: i64 = 200;

/// The same for the index: each transaction writes most of its pages anew.
const INDEX_BATCH: usize = 5_000;

/// As it was before there was an index.
const PLAIN: Statement = Statement::screened(
    "INSERT INTO messages (conversation_id, pos, message_id, role, body, created_at)
     SELECT $1, COALESCE(MAX(pos), 0) + 1, $2, 'user', $3, $4 FROM messages WHERE conversation_id = $1",
);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let db: Arc<dyn Db> = Arc::new(SqliteDb::open(&folder.path().join("e.db"))?);
    let store = Store::with_db(Arc::clone(&db));
    let size = async || store.maintenance().bytes_on_disk().await;
    let begun = Instant::now();
    for from in (0..MESSAGES).step_by(usize::try_from(BATCH)?) {
        let writes = (from..from + BATCH).map(|n| {
            let values =
                [text(conversation(n)), text(format!("m{n}")), text(body(n)), SqlValue::Int(n)];
            Write { statement: PLAIN, params: values.to_vec(), expect: Rows::Exactly(1) }
        });
        db.commit(writes.collect(), Urgency::Critical).await?;
    }
    let plain = begun.elapsed();
    let before = size().await?;
    println!(
        "insert without index: {:.0} µs a message",
        plain.as_secs_f64() * 1e6 / MESSAGES as f64
    );
    for n in 0..100 {
        let id = ConversationId::new(conversation(n));
        let (channel, thread, workspace) = ("terminal".to_owned(), None, None);
        store
            .conversations()
            .ensure(&NewConversation { id, channel, thread, workspace, now: 1 })
            .await?;
    }
    let begun = Instant::now();
    while store.maintenance().index_messages(INDEX_BATCH).await? > 0 {}
    let indexed = begun.elapsed();
    println!("index: {:.0} µs a message more", indexed.as_secs_f64() * 1e6 / MESSAGES as f64);
    let grown = size().await? - before;
    println!("size: {} MB of messages, {} MB of index", before >> 20, grown >> 20);
    one_by_one(&store).await?;
    for words in
        ["zebra", "fence", "the fence 4242", "登录页面", "登录页面 第77", "修", "the", "nosuchword"]
    {
        let query = MessageQuery { words: words.to_owned(), most: 50, ..MessageQuery::default() };
        let begun = Instant::now();
        let hits = store.conversations().search(&query).await?.hits.len();
        println!("search {words:?}: {hits} hits in {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Messages as a chat writes them: a commit each.
async fn one_by_one(store: &Store) -> Result<(), StoreError> {
    let begun = Instant::now();
    for n in 0..200 {
        let id = ConversationId::new(conversation(n));
        let (message, body) = (format!("said{n}"), body(n));
        store.conversations().say(&id, &message, "user", &body, MESSAGES + n).await?;
    }
    println!("say, a commit each: {:.2} ms", begun.elapsed().as_secs_f64() * 1e3 / 200.0);
    Ok(())
}

fn text(text: String) -> SqlValue {
    SqlValue::Text(text)
}

fn conversation(n: i64) -> String {
    format!("conv_{:026}", n % 100)
}

/// About 60 words of English, or as many characters of Chinese.
fn body(n: i64) -> String {
    let rare = if n % 10_000 == 77 { "zebra" } else { "horse" };
    if n % 2 == 0 {
        let words: String =
            (0..50).map(|k| format!(" word{}", (n * 31 + k * 17) % 5_000)).collect();
        format!("Please mend the fence {n} with the {rare}:{words}.")
    } else {
        let chars: String = (0..60)
            .filter_map(|k| {
                char::from_u32(0x4E00 + u32::try_from((n * 37 + k * 101) % 3_000).ok()?)
            })
            .collect();
        format!("修一下登录页面的测试，第{n}次。{chars}")
    }
}
