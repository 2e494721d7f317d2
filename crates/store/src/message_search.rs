//! Search over all messages: the rarest term leads, the others and the exact runs are checked.

use crate::{
    conversations::ConversationMessage,
    db::SqlRow,
    error::StoreError,
    facets::Conversations,
    message_pages::{message_columns, read_message},
    search_terms::SearchWords,
    statement::{int, params},
};
use everloop_types::ConversationId;

/// Messages that are read at once; a page of hits may need several rounds.
const ROUND: usize = 200;

/// Rounds of one search. What is older comes with the next page.
const ROUNDS_MAX: usize = 20;

/// A term in more messages than this is as good as any other that is.
const COUNTED_MAX: i64 = 2_000;

/// Terms among which the rarest is looked for.
const TERMS_COUNTED: usize = 8;

/// Which messages are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageQuery {
    /// All of these words must occur.
    pub words: String,
    /// Only in this conversation.
    pub conversation: Option<ConversationId>,
    /// Goes on after an earlier page, by its [`MessageHits::next`].
    pub before: Option<i64>,
    /// Most of them.
    pub most: usize,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageHit {
    /// The message.
    pub message: ConversationMessage,
    /// The byte of its text at which the first of the words stands.
    pub at: usize,
}

/// Messages that were found, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageHits {
    /// The messages.
    pub hits: Vec<MessageHit>,
    /// Leads to the next page; none if there is no more.
    pub next: Option<i64>,
}

/// `CROSS JOIN` keeps the order of the tables: the postings of one term, the newest first.
const BY_TERM: &str = concat!(
    "SELECT t.search_no, ",
    message_columns!(),
    "
      FROM message_terms t CROSS JOIN messages m CROSS JOIN conversations c
     WHERE t.term = $1 AND t.search_no < $2 AND m.search_no = t.search_no
       AND c.conversation_id = m.conversation_id
       AND m.role NOT IN ('anew', 'rewound')
       AND (CAST($3 AS TEXT) IS NULL OR m.conversation_id = CAST($3 AS TEXT))
       AND NOT EXISTS (SELECT 1 FROM {each $4} WHERE NOT EXISTS (
               SELECT 1 FROM message_terms o
                WHERE o.term = item.value AND o.search_no = t.search_no))
     ORDER BY t.search_no DESC LIMIT $5"
);

/// For one character of a script without spaces: it begins a term wherever it stands.
const BY_BEGINNING: &str = concat!(
    "SELECT m.search_no, ",
    message_columns!(),
    "
      FROM messages m CROSS JOIN conversations c
     WHERE m.search_no < $2 AND c.conversation_id = m.conversation_id
       AND m.role NOT IN ('anew', 'rewound')
       AND (CAST($3 AS TEXT) IS NULL OR m.conversation_id = CAST($3 AS TEXT))
       AND m.search_no IN (SELECT t.search_no FROM message_terms t
                            WHERE t.term >= $1 AND t.term < $4)
     ORDER BY m.search_no DESC LIMIT $5"
);

/// The messages of one conversation that have all the terms, the newest first.
const IN_CONVERSATION: &str = concat!(
    "SELECT m.pos, ",
    message_columns!(),
    "
      FROM messages m
     WHERE m.conversation_id = $1 AND m.pos < $2 AND m.role NOT IN ('anew', 'rewound')
       AND m.search_no IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM {each $3} WHERE NOT EXISTS (
               SELECT 1 FROM message_terms o
                WHERE o.term = item.value AND o.search_no = m.search_no))
     ORDER BY m.pos DESC LIMIT $4"
);

const COUNT_TERM: &str = "
    SELECT count(*) FROM (SELECT 1 AS found FROM message_terms WHERE term = $1 LIMIT $2) AS counted
";

/// Which statement finds candidates, and its values that stay the same in every round.
struct CandidateQuery {
    sql: &'static str,
    first: String,
    fourth: String,
}

impl Conversations<'_> {
    /// Messages in which all the words occur, the newest first: whole words of letters and digits,
    /// whatever their case, and any part of a text in a script without spaces.
    ///
    /// Messages that are not in the index yet are not found: see
    /// [`crate::Maintenance::index_messages`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn search(self, query: &MessageQuery) -> Result<MessageHits, StoreError> {
        let words = SearchWords::of(&query.words);
        let mut found = MessageHits::default();
        let Some(candidates) = self.candidates(&words).await? else { return Ok(found) };
        let most = query.most.max(1);
        let conversation = query.conversation.as_ref().map(ConversationId::as_str);
        let mut before = query.before.unwrap_or(i64::MAX);
        for _ in 0..ROUNDS_MAX {
            let (first, fourth) = (candidates.first.as_str(), candidates.fourth.as_str());
            let values = params![first, before, conversation, fourth, int(ROUND)];
            let rows = self.store.rows(candidates.sql, values).await?;
            let is_last = rows.len() < ROUND;
            for row in rows {
                let (number, message) = read_numbered(row)?;
                if found.hits.len() == most {
                    found.next = Some(before);
                    return Ok(found);
                }
                before = number;
                if words.fit(&message.body) {
                    let at = words.place_in(&message.body).unwrap_or(0);
                    found.hits.push(MessageHit { message, at });
                }
            }
            if is_last {
                return Ok(found);
            }
        }
        found.next = Some(before);
        Ok(found)
    }

    /// The newest message of a conversation in which all the words occur.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn newest_hit(
        self,
        conversation: &ConversationId,
        words: &str,
    ) -> Result<Option<MessageHit>, StoreError> {
        let words = SearchWords::of(words);
        if words.is_empty() {
            return Ok(None);
        }
        let terms = serde_json::to_string(&words.terms).expect("texts always have a JSON form");
        let mut before = i64::MAX;
        loop {
            let values = params![conversation.as_str(), before, terms.as_str(), int(ROUND)];
            let rows = self.store.rows(IN_CONVERSATION, values).await?;
            let is_last = rows.len() < ROUND;
            for row in rows {
                let (pos, message) = read_numbered(row)?;
                before = pos;
                if words.fit(&message.body) {
                    let at = words.place_in(&message.body).unwrap_or(0);
                    return Ok(Some(MessageHit { message, at }));
                }
            }
            if is_last {
                return Ok(None);
            }
        }
    }

    /// How candidates are found; nothing if there is nothing to look for.
    async fn candidates(self, words: &SearchWords) -> Result<Option<CandidateQuery>, StoreError> {
        if words.is_empty() {
            return Ok(None);
        }
        if let Some(first) = self.rarest_term(words).await? {
            let others: Vec<&String> = words.terms.iter().filter(|term| **term != first).collect();
            let fourth = serde_json::to_string(&others).expect("texts always have a JSON form");
            return Ok(Some(CandidateQuery { sql: BY_TERM, first, fourth }));
        }
        let first = words.beginnings.first().cloned().unwrap_or_default();
        let fourth = format!("{first}{}", char::MAX);
        Ok(Some(CandidateQuery { sql: BY_BEGINNING, first, fourth }))
    }

    /// The term that the fewest messages have; none if there are only beginnings of terms.
    pub(crate) async fn rarest_term(
        self,
        words: &SearchWords,
    ) -> Result<Option<String>, StoreError> {
        let mut rarest: Option<(i64, &String)> = None;
        for term in words.terms.iter().take(TERMS_COUNTED) {
            let row = self.store.first(COUNT_TERM, params![term.as_str(), COUNTED_MAX]).await?;
            let count = row.map_or(Ok(0), |row| row.cells().int())?;
            if rarest.is_none_or(|(least, _)| count < least) {
                rarest = Some((count, term));
            }
        }
        Ok(rarest.map(|(_, term)| term.clone()))
    }
}

fn read_numbered(row: SqlRow) -> Result<(i64, ConversationMessage), StoreError> {
    let mut cells = row.cells();
    Ok((cells.int()?, read_message(&mut cells)?))
}
