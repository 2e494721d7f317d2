//! The sentences of goals: plain English, each ending with a full stop.
//!
//! ```text
//!   goal ──split at full stops outside of quotes──► one form each ──► Sentence
//! ```
//!
//! Deliberately absent: anything that is not written in one of these forms. It is not understood,
//! and the answer says so.

/// One thing that a goal asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sentence {
    Write { text: String, file: String },
    Read { file: String, or: Option<String> },
    Copy { from: String, to: String },
    Replace { old: String, new: String, file: String },
    Work { out: Figure, file: String },
    List { folder: String },
    Run { command: String },
    Search { query: String },
    WriteAddress { file: String },
    AddTodo { text: String, due: Option<String> },
    FinishTodo { text: String },
    Schedule { text: String, at: String },
    Ask { question: String },
    WriteResult { file: String },
    SayResult,
    Follow { file: String },
    IfItFails { text: String, file: String },
    NotUnderstood,
}

/// A figure that is computed from the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Figure {
    Lines,
    Sum(String),
    Average(String),
    Largest(String),
}

/// The sentences of a text, each with its words.
pub(super) fn read(text: &str) -> Vec<(Sentence, String)> {
    split(text).into_iter().map(|said| (understood(&said), format!("{said}."))).collect()
}

/// Pieces between full stops that end a sentence: outside of quotes, before a space or the end.
fn split(text: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        quoted ^= c == '"';
        let ends = chars.peek().is_none_or(|next| next.is_whitespace());
        if c == '.' && !quoted && ends {
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(c);
        }
    }
    pieces.push(piece);
    let pieces = pieces.into_iter().map(|piece| piece.trim().to_owned());
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Makes a sentence from the words at the gaps of its form.
type SentenceBuilder = fn(&[String]) -> Sentence;

/// `{}` stands for a bare word, `"{}"` for a text in quotes; all else is taken word for word.
const FORMS: [(&str, SentenceBuilder); 22] = [
    ("Write \"{}\" to {}", |w| Sentence::Write { text: one(w, 0), file: one(w, 1) }),
    ("Read {}; if it is missing, read {}", |w| Sentence::Read {
        file: one(w, 0),
        or: Some(one(w, 1)),
    }),
    ("Read {}", |w| Sentence::Read { file: one(w, 0), or: None }),
    ("Copy {} to {}", |w| Sentence::Copy { from: one(w, 0), to: one(w, 1) }),
    ("Replace \"{}\" by \"{}\" in {}", |w| Sentence::Replace {
        old: one(w, 0),
        new: one(w, 1),
        file: one(w, 2),
    }),
    ("Count the lines of {}", |w| Sentence::Work { out: Figure::Lines, file: one(w, 0) }),
    ("Add up the column {} of {}", |w| Sentence::Work {
        out: Figure::Sum(one(w, 0)),
        file: one(w, 1),
    }),
    ("Work out the average of the column {} of {}", |w| Sentence::Work {
        out: Figure::Average(one(w, 0)),
        file: one(w, 1),
    }),
    ("Find the row of {} with the largest {}", |w| Sentence::Work {
        out: Figure::Largest(one(w, 1)),
        file: one(w, 0),
    }),
    ("List the folder {}", |w| Sentence::List { folder: one(w, 0) }),
    ("Run \"{}\"", |w| Sentence::Run { command: one(w, 0) }),
    ("Search for \"{}\"", |w| Sentence::Search { query: one(w, 0) }),
    ("Write the address of the first hit to {}", |w| Sentence::WriteAddress { file: one(w, 0) }),
    ("Add the todo \"{}\" due {}", |w| Sentence::AddTodo { text: one(w, 0), due: Some(one(w, 1)) }),
    ("Add the todo \"{}\"", |w| Sentence::AddTodo { text: one(w, 0), due: None }),
    ("Mark the todo \"{}\" as done", |w| Sentence::FinishTodo { text: one(w, 0) }),
    ("Schedule \"{}\" for {} {}", |w| Sentence::Schedule {
        text: one(w, 0),
        at: format!("{} {}", one(w, 1), one(w, 2)),
    }),
    ("Ask the user \"{}\"", |w| Sentence::Ask { question: one(w, 0) }),
    ("Write the result to {}", |w| Sentence::WriteResult { file: one(w, 0) }),
    ("Say the result", |_| Sentence::SayResult),
    ("Do what {} says", |w| Sentence::Follow { file: one(w, 0) }),
    ("If it fails, write \"{}\" to {}", |w| Sentence::IfItFails {
        text: one(w, 0),
        file: one(w, 1),
    }),
];

fn one(words: &[String], at: usize) -> String {
    words.get(at).cloned().unwrap_or_default()
}

fn understood(said: &str) -> Sentence {
    let found = FORMS.iter().find_map(|(form, make)| filled(form, said).map(|words| make(&words)));
    found.unwrap_or(Sentence::NotUnderstood)
}

/// The words at the gaps of a form, if the text has that form.
fn filled(form: &str, said: &str) -> Option<Vec<String>> {
    let (mut words, mut rest) = (Vec::new(), said);
    let mut parts = form.split("{}");
    rest = rest.strip_prefix(parts.next()?)?;
    for part in parts {
        let quoted = part.starts_with('"');
        let ends = |c: char| if quoted { c == '"' } else { c.is_whitespace() || c == ';' };
        let end = rest.find(ends).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() && !quoted {
            return None;
        }
        words.push(word.to_owned());
        rest = after.strip_prefix(part)?;
    }
    rest.is_empty().then_some(words)
}

impl Sentence {
    /// About how many calls it takes.
    pub(super) fn calls(&self) -> usize {
        match self {
            Self::SayResult | Self::IfItFails { .. } | Self::NotUnderstood => 0,
            Self::Copy { .. } | Self::Replace { .. } | Self::FinishTodo { .. } => 2,
            Self::Follow { .. } => 4,
            _ => 1,
        }
    }

    /// Whether it has its own result.
    pub(super) fn has_result(&self) -> bool {
        matches!(
            self,
            Self::Read { .. }
                | Self::Work { .. }
                | Self::List { .. }
                | Self::Run { .. }
                | Self::Search { .. }
                | Self::Ask { .. }
        )
    }

    /// Whether it uses the result of the sentence before it.
    pub(super) fn leans_back(&self) -> bool {
        matches!(
            self,
            Self::WriteAddress { .. }
                | Self::WriteResult { .. }
                | Self::SayResult
                | Self::IfItFails { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Sentence, read};

    #[test]
    fn every_form_is_understood() {
        let goal = "Write \"a. b\" to x.txt. Read x.txt. Read a.md; if it is missing, read b.md. \
            Copy a to b. Replace \"1.\" by \"\" in c. Count the lines of d. \
            Add up the column n of e.csv. Work out the average of the column n of e.csv. \
            Find the row of e.csv with the largest n. List the folder docs. Run \"ls -l.\". \
            Search for \"q\". Write the address of the first hit to f. Add the todo \"t\". \
            Add the todo \"t\" due 2030-05-06. Mark the todo \"t\" as done. \
            Schedule \"s\" for 2030-05-06 15:00. Ask the user \"why?\". Write the result to g. \
            Say the result. Do what h.txt says. If it fails, write \"no\" to i.";
        let read = read(goal);
        assert_eq!(read.len(), 22);
        assert!(read.iter().all(|(sentence, _)| *sentence != Sentence::NotUnderstood), "{read:?}");
        let said: Vec<&str> = read.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(said.join(" "), goal.split_whitespace().collect::<Vec<_>>().join(" "));
        let at = |n: usize| read[n].0.clone();
        assert_eq!(at(0), Sentence::Write { text: "a. b".into(), file: "x.txt".into() });
        assert_eq!(at(2), Sentence::Read { file: "a.md".into(), or: Some("b.md".into()) });
        let largest = Figure::Largest("n".into());
        assert_eq!(at(8), Sentence::Work { out: largest, file: "e.csv".into() });
        assert_eq!(at(16), Sentence::Schedule { text: "s".into(), at: "2030-05-06 15:00".into() });
    }

    #[test]
    fn what_has_no_form_is_not_understood() {
        for text in ["Read a b.", "Write x to y.", "Please sing.", "Read ."] {
            assert_eq!(read(text)[0].0, Sentence::NotUnderstood, "{text}");
        }
        assert!(read("  \n").is_empty());
    }
}
