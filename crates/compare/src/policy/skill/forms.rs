//! The calls that each form of sentence needs, and when it is done.

use super::{CallOrder, CallProgress, PriorResult, SentenceStatus, SentenceWalk, failed};
use crate::policy::acts::{ArgumentSource, CallReuse, CallTarget, PlannedCall};
use crate::policy::reading::CallSuccess;
use crate::policy::sentences::Sentence;
use crate::policy::values::{self, ShownTodo};

/// The status of a sentence and its result.
type SentenceOutcome = (SentenceStatus, Option<String>);

impl SentenceWalk<'_> {
    /// The outcome of one sentence by the observations.
    pub(super) fn evaluate(&mut self, root: usize, sentence: &Sentence) -> SentenceOutcome {
        match sentence {
            Sentence::Read { file, or } => {
                let got = self.read(root, file);
                let got = match (got, or) {
                    (CallProgress::Failed(_), Some(other)) => self.read(root, other),
                    (got @ (CallProgress::Coming(_) | CallProgress::Waits), Some(other)) => {
                        self.block_target(root, CallTarget::Reads(other.clone()));
                        got
                    }
                    (got, _) => got,
                };
                self.finish_with_result(sentence, got, |text| Ok(text.to_owned()))
            }
            Sentence::Work { out, file } => {
                let got = self.content(root, file);
                self.finish_with_result(sentence, got, |text| values::figure(out, text))
            }
            Sentence::List { folder } => {
                let got = self.call(root, PlannedCall::list(folder), CallReuse::Shared);
                self.finish_with_result(sentence, got, |text| Ok(text.to_owned()))
            }
            Sentence::Run { command } => {
                let got = self.call(root, PlannedCall::run(command), CallReuse::Own { tries: 3 });
                self.finish_with_result(sentence, got, |text| Ok(values::printed(text)))
            }
            Sentence::Search { query } => self.search(root, sentence, query),
            Sentence::Ask { question } => {
                let got = self.call(root, PlannedCall::ask(question), CallReuse::Own { tries: 1 });
                self.finish_with_result(sentence, got, |text| Ok(text.to_owned()))
            }
            other => self.change(root, other),
        }
    }

    /// Sentences without a result.
    fn change(&mut self, root: usize, sentence: &Sentence) -> SentenceOutcome {
        match sentence {
            Sentence::Write { text, file } => {
                self.put(root, file, ArgumentSource::Known(text.clone()))
            }
            Sentence::Copy { from, to } => match self.content(root, from) {
                CallProgress::Seen(text) => self.put(root, to, ArgumentSource::Known(text)),
                CallProgress::Coming(step) if self.order == CallOrder::InOrder => {
                    self.put(root, to, ArgumentSource::OfStep(step))
                }
                CallProgress::Failed(why) => failed(&why),
                CallProgress::Gone => (SentenceStatus::Done, None),
                CallProgress::Coming(_) | CallProgress::Waits => {
                    self.wait(root, CallTarget::Writes(to.clone()))
                }
            },
            Sentence::Replace { old, new, file } => self.replace(root, (old, new), file),
            Sentence::AddTodo { text, due } => {
                let act = PlannedCall::todo(&added(text, due.as_deref()), CallTarget::WritesTodos);
                let got = self.call(root, act, CallReuse::Own { tries: 1 });
                self.end(got)
            }
            Sentence::FinishTodo { text } => self.finish_todo(root, text),
            Sentence::Schedule { text, at } => {
                let got =
                    self.call(root, PlannedCall::schedule(text, at), CallReuse::Own { tries: 1 });
                self.end(got)
            }
            Sentence::Follow { file } => match self.read(root, file) {
                CallProgress::Seen(text) => (SentenceStatus::Done, Some(text)),
                CallProgress::Failed(why) => failed(&why),
                CallProgress::Gone => (SentenceStatus::Done, None),
                CallProgress::Coming(_) | CallProgress::Waits => {
                    self.wait(root, CallTarget::Everything)
                }
            },
            leaning => self.evaluate_dependent(root, leaning),
        }
    }

    /// Sentences that use an earlier result.
    fn evaluate_dependent(&mut self, root: usize, sentence: &Sentence) -> SentenceOutcome {
        match (sentence, self.before.clone()) {
            (Sentence::WriteAddress { file }, _) => match self.hits.clone() {
                PriorResult::Known(text) => match values::address(&text) {
                    Some(address) => self.put(root, file, ArgumentSource::Known(address)),
                    None => failed("the hit has no address"),
                },
                PriorResult::Failed(why) => failed(&why),
                PriorResult::Nothing => failed("nothing was searched for"),
                PriorResult::Gone => (SentenceStatus::Done, None),
                PriorResult::OfStep(_) | PriorResult::NotYet => {
                    self.wait(root, CallTarget::Writes(file.clone()))
                }
            },
            (Sentence::WriteResult { file }, _) => match self.brought.clone() {
                PriorResult::Known(text) => self.put(root, file, ArgumentSource::Known(text)),
                PriorResult::OfStep(step) => self.put(root, file, ArgumentSource::OfStep(step)),
                PriorResult::Failed(why) => failed(&why),
                PriorResult::Nothing => failed("there is no result"),
                PriorResult::Gone => (SentenceStatus::Done, None),
                PriorResult::NotYet => self.wait(root, CallTarget::Writes(file.clone())),
            },
            (Sentence::SayResult, _) => match &self.brought {
                PriorResult::Known(text) => (SentenceStatus::Done, Some(text.clone())),
                PriorResult::Failed(why) => failed(why),
                PriorResult::Nothing => failed("there is no result"),
                PriorResult::Gone => failed("the result is not known any more"),
                PriorResult::OfStep(_) | PriorResult::NotYet => (SentenceStatus::Open, None),
            },
            (Sentence::IfItFails { text, file }, SentenceStatus::Failed(_)) => {
                self.put(root, file, ArgumentSource::Known(text.clone()))
            }
            (Sentence::IfItFails { file, .. }, SentenceStatus::Open) => {
                self.wait(root, CallTarget::Writes(file.clone()))
            }
            (Sentence::IfItFails { .. }, SentenceStatus::Done) => (SentenceStatus::Done, None),
            _ => failed("it is not understood"),
        }
    }

    fn search(&mut self, root: usize, sentence: &Sentence, query: &str) -> SentenceOutcome {
        match self.call(root, PlannedCall::search(query), CallReuse::Own { tries: 3 }) {
            CallProgress::Seen(text) => {
                self.found(&text);
                (SentenceStatus::Done, Some(values::first_hit(&text).to_owned()))
            }
            CallProgress::Failed(why) => self.fail(sentence, &why),
            CallProgress::Gone => {
                (self.brought, self.hits) = (PriorResult::Gone, PriorResult::Gone);
                (SentenceStatus::Done, None)
            }
            CallProgress::Coming(_) | CallProgress::Waits => {
                (self.brought, self.hits) = (PriorResult::NotYet, PriorResult::NotYet);
                (SentenceStatus::Open, None)
            }
        }
    }

    fn replace(&mut self, root: usize, (old, new): (&str, &str), file: &str) -> SentenceOutcome {
        match self.content(root, file) {
            CallProgress::Seen(text) if text.contains(old) => {
                self.put(root, file, ArgumentSource::Known(text.replace(old, new)))
            }
            // The old text is gone, so the replacement was done before.
            CallProgress::Seen(text) if !new.is_empty() && text.contains(new) => {
                (SentenceStatus::Done, None)
            }
            CallProgress::Seen(_) => failed(&format!("{old:?} is not in {file}")),
            CallProgress::Failed(why) => failed(&why),
            CallProgress::Gone => (SentenceStatus::Done, None),
            CallProgress::Coming(_) | CallProgress::Waits => {
                self.wait(root, CallTarget::Writes(file.to_owned()))
            }
        }
    }

    /// Its number is looked up in a list, unless something else shows it.
    fn finish_todo(&mut self, root: usize, text: &str) -> SentenceOutcome {
        let todos = || {
            let seen = self.record.seen().iter().rev();
            seen.filter(|it| it.tool == "todo" && it.how == CallSuccess::Well)
        };
        let number = todos().find_map(|it| match values::todo(&it.text, text) {
            Some(ShownTodo::Open(number)) => Some(number),
            Some(ShownTodo::Done) | None => None,
        });
        let shown = todos().any(|it| values::todo(&it.text, text).is_some());
        let coming = added(text, None);
        let is_coming = |act: &PlannedCall| {
            act.args["command"].as_str().is_some_and(|command| command.starts_with(&coming))
        };
        if let Some(number) = number {
            let act = PlannedCall::todo(&format!("/todo done {number}"), CallTarget::WritesTodos);
            let got = self.call(root, act, CallReuse::Own { tries: 1 });
            return self.end(got);
        }
        if shown {
            return (SentenceStatus::Done, None);
        }
        if self.acts.iter().any(is_coming) {
            return self.wait(root, CallTarget::WritesTodos);
        }
        match self.call(
            root,
            PlannedCall::todo("/todo list", CallTarget::ReadsTodos),
            CallReuse::Shared,
        ) {
            CallProgress::Seen(_) => failed(&format!("there is no todo {text:?}")),
            CallProgress::Failed(why) => failed(&why),
            CallProgress::Gone => (SentenceStatus::Done, None),
            CallProgress::Coming(_) | CallProgress::Waits => {
                self.wait(root, CallTarget::WritesTodos)
            }
        }
    }
}

/// The command that adds a todo.
fn added(text: &str, due: Option<&str>) -> String {
    let due = due.map(|due| format!(" --due {due}")).unwrap_or_default();
    format!("/todo add \"{text}\"{due}")
}
