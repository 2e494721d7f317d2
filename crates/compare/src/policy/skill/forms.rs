//! What each form of sentence takes, and when it is done.

use super::{Brought, Got, Manner, Status, Walk, failed};
use crate::policy::acts::{Act, Content, Touch, Use};
use crate::policy::reading::How;
use crate::policy::sentences::Sentence;
use crate::policy::values::{self, Todo};

/// How far a sentence is, and what it brought.
type Faced = (Status, Option<String>);

impl Walk<'_> {
    /// One sentence from what is seen.
    pub(super) fn face(&mut self, root: usize, sentence: &Sentence) -> Faced {
        match sentence {
            Sentence::Read { file, or } => {
                let got = self.read(root, file);
                let got = match (got, or) {
                    (Got::Failed(_), Some(other)) => self.read(root, other),
                    (got @ (Got::Coming(_) | Got::Waits), Some(other)) => {
                        self.hold(root, Touch::EventReader(other.clone()));
                        got
                    }
                    (got, _) => got,
                };
                self.bring(sentence, got, |text| Ok(text.to_owned()))
            }
            Sentence::Work { out, file } => {
                let got = self.content(root, file);
                self.bring(sentence, got, |text| values::figure(out, text))
            }
            Sentence::List { folder } => {
                let got = self.call(root, Act::list(folder), Use::Shared);
                self.bring(sentence, got, |text| Ok(text.to_owned()))
            }
            Sentence::Run { command } => {
                let got = self.call(root, Act::run(command), Use::Own { tries: 3 });
                self.bring(sentence, got, |text| Ok(values::printed(text)))
            }
            Sentence::Search { query } => self.search(root, sentence, query),
            Sentence::Ask { question } => {
                let got = self.call(root, Act::ask(question), Use::Own { tries: 1 });
                self.bring(sentence, got, |text| Ok(text.to_owned()))
            }
            other => self.change(root, other),
        }
    }

    /// Sentences that bring no result.
    fn change(&mut self, root: usize, sentence: &Sentence) -> Faced {
        match sentence {
            Sentence::Write { text, file } => self.put(root, file, Content::Known(text.clone())),
            Sentence::Copy { from, to } => match self.content(root, from) {
                Got::Seen(text) => self.put(root, to, Content::Known(text)),
                Got::Coming(step) if self.manner == Manner::InOrder => {
                    self.put(root, to, Content::OfStep(step))
                }
                Got::Failed(why) => failed(&why),
                Got::Gone => (Status::Done, None),
                Got::Coming(_) | Got::Waits => self.wait(root, Touch::Writes(to.clone())),
            },
            Sentence::Replace { old, new, file } => self.replace(root, (old, new), file),
            Sentence::AddTodo { text, due } => {
                let act = Act::todo(&added(text, due.as_deref()), Touch::WritesTodos);
                let got = self.call(root, act, Use::Own { tries: 1 });
                self.end(got)
            }
            Sentence::FinishTodo { text } => self.finish_todo(root, text),
            Sentence::Schedule { text, at } => {
                let got = self.call(root, Act::schedule(text, at), Use::Own { tries: 1 });
                self.end(got)
            }
            Sentence::Follow { file } => match self.read(root, file) {
                Got::Seen(text) => (Status::Done, Some(text)),
                Got::Failed(why) => failed(&why),
                Got::Gone => (Status::Done, None),
                Got::Coming(_) | Got::Waits => self.wait(root, Touch::Everything),
            },
            leaning => self.lean(root, leaning),
        }
    }

    /// Sentences that go on with what came before them.
    fn lean(&mut self, root: usize, sentence: &Sentence) -> Faced {
        match (sentence, self.before.clone()) {
            (Sentence::WriteAddress { file }, _) => match self.hits.clone() {
                Brought::Known(text) => match values::address(&text) {
                    Some(address) => self.put(root, file, Content::Known(address)),
                    None => failed("the hit has no address"),
                },
                Brought::Failed(why) => failed(&why),
                Brought::Nothing => failed("nothing was searched for"),
                Brought::Gone => (Status::Done, None),
                Brought::OfStep(_) | Brought::NotYet => {
                    self.wait(root, Touch::Writes(file.clone()))
                }
            },
            (Sentence::WriteResult { file }, _) => match self.brought.clone() {
                Brought::Known(text) => self.put(root, file, Content::Known(text)),
                Brought::OfStep(step) => self.put(root, file, Content::OfStep(step)),
                Brought::Failed(why) => failed(&why),
                Brought::Nothing => failed("there is no result"),
                Brought::Gone => (Status::Done, None),
                Brought::NotYet => self.wait(root, Touch::Writes(file.clone())),
            },
            (Sentence::SayResult, _) => match &self.brought {
                Brought::Known(text) => (Status::Done, Some(text.clone())),
                Brought::Failed(why) => failed(why),
                Brought::Nothing => failed("there is no result"),
                Brought::Gone => failed("the result is not known any more"),
                Brought::OfStep(_) | Brought::NotYet => (Status::Open, None),
            },
            (Sentence::IfItFails { text, file }, Status::Failed(_)) => {
                self.put(root, file, Content::Known(text.clone()))
            }
            (Sentence::IfItFails { file, .. }, Status::Open) => {
                self.wait(root, Touch::Writes(file.clone()))
            }
            (Sentence::IfItFails { .. }, Status::Done) => (Status::Done, None),
            _ => failed("it is not understood"),
        }
    }

    fn search(&mut self, root: usize, sentence: &Sentence, query: &str) -> Faced {
        match self.call(root, Act::search(query), Use::Own { tries: 3 }) {
            Got::Seen(text) => {
                self.found(&text);
                (Status::Done, Some(values::first_hit(&text).to_owned()))
            }
            Got::Failed(why) => self.fail(sentence, &why),
            Got::Gone => {
                (self.brought, self.hits) = (Brought::Gone, Brought::Gone);
                (Status::Done, None)
            }
            Got::Coming(_) | Got::Waits => {
                (self.brought, self.hits) = (Brought::NotYet, Brought::NotYet);
                (Status::Open, None)
            }
        }
    }

    fn replace(&mut self, root: usize, (old, new): (&str, &str), file: &str) -> Faced {
        match self.content(root, file) {
            Got::Seen(text) if text.contains(old) => {
                self.put(root, file, Content::Known(text.replace(old, new)))
            }
            // Nothing is left of the old: it was done before, as far as can be seen.
            Got::Seen(text) if !new.is_empty() && text.contains(new) => (Status::Done, None),
            Got::Seen(_) => failed(&format!("{old:?} is not in {file}")),
            Got::Failed(why) => failed(&why),
            Got::Gone => (Status::Done, None),
            Got::Coming(_) | Got::Waits => self.wait(root, Touch::Writes(file.to_owned())),
        }
    }

    /// Its number is looked up in a list, unless something else shows it.
    fn finish_todo(&mut self, root: usize, text: &str) -> Faced {
        let todos = || {
            let seen = self.record.seen().iter().rev();
            seen.filter(|it| it.tool == "todo" && it.how == How::Well)
        };
        let number = todos().find_map(|it| match values::todo(&it.text, text) {
            Some(Todo::Open(number)) => Some(number),
            Some(Todo::Done) | None => None,
        });
        let shown = todos().any(|it| values::todo(&it.text, text).is_some());
        let coming = added(text, None);
        let is_coming = |act: &Act| {
            act.args["command"].as_str().is_some_and(|command| command.starts_with(&coming))
        };
        if let Some(number) = number {
            let act = Act::todo(&format!("/todo done {number}"), Touch::WritesTodos);
            let got = self.call(root, act, Use::Own { tries: 1 });
            return self.end(got);
        }
        if shown {
            return (Status::Done, None);
        }
        if self.acts.iter().any(is_coming) {
            return self.wait(root, Touch::WritesTodos);
        }
        match self.call(root, Act::todo("/todo list", Touch::ReadsTodos), Use::Shared) {
            Got::Seen(_) => failed(&format!("there is no todo {text:?}")),
            Got::Failed(why) => failed(&why),
            Got::Gone => (Status::Done, None),
            Got::Coming(_) | Got::Waits => self.wait(root, Touch::WritesTodos),
        }
    }
}

/// The command that adds a todo.
fn added(text: &str, due: Option<&str>) -> String {
    let due = due.map(|due| format!(" --due {due}")).unwrap_or_default();
    format!("/todo add \"{text}\"{due}")
}
