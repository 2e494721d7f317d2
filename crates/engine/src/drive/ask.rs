//! Questions to people. Their answers come through the `inbox`; permission is in `permit`.

use super::{DriveEnd, DriveError, Driver, LoopFlow};
use everloop_loops::OpenToolCall;
use everloop_store::NextStatus;
use everloop_text as text;
use everloop_types::journal::{EntryKind, Waiting, WaitingOn};
use everloop_types::{Lang, Question, QuestionKind, ToolCall, Words};

/// Asks people, and parks the run until they answer.
pub(super) struct QuestionAsker<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl QuestionAsker<'_, '_> {
    /// Asks a tool's question: `请确认：…` (PR-9).
    pub(super) async fn ask_person(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        text: String,
    ) -> Result<LoopFlow, DriveError> {
        let asked = match without_prefix(&text) {
            "" => text::confirm::missing().words(),
            said => Words::Said(said.to_owned()),
        };
        let language = self.driver.run.frame().language;
        let words = Words::Said(confirmed(&everloop_text::render(&asked, language), language));
        self.ask_about(open, QuestionKind::Ask, call, text, &words).await
    }

    /// Asks whether an effect with an unknown outcome happened, if its tool wants a person to say.
    pub(super) async fn ask_to_settle(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<LoopFlow, DriveError> {
        let words =
            text::settle::question(&call.tool, &everloop_types::visible_call(&call.args)).words();
        self.ask_about(open, QuestionKind::Settle, call, call.args.clone(), &words).await
    }

    pub(super) async fn ask_about(
        &mut self,
        open: &OpenToolCall,
        kind: QuestionKind,
        call: &ToolCall,
        text: String,
        words: &Words,
    ) -> Result<LoopFlow, DriveError> {
        let word = match kind {
            QuestionKind::Ask => "ask",
            QuestionKind::Approve => "approve",
            QuestionKind::Settle => "settle",
        };
        let (id, call) = (question_id(open, word), call.id.clone());
        self.ask_question(Question { id, kind, call, text, request: None }, words).await
    }

    pub(super) async fn ask_question(
        &mut self,
        question: Question,
        words: &Words,
    ) -> Result<LoopFlow, DriveError> {
        self.driver.emit(format!("ask:{}", question.id), words);
        self.await_answer(question).await
    }

    /// Parks the run, without a worker, until the answer comes. A message that arrived meanwhile
    /// keeps the run ready.
    pub(super) async fn await_answer(
        &mut self,
        question: Question,
    ) -> Result<LoopFlow, DriveError> {
        let on = WaitingOn::Person { question };
        self.driver.note(None, EntryKind::Waiting(Waiting { on: on.clone(), until: None }));
        self.driver.commit(NextStatus::Park { wake_at: None, note: "person".to_owned() }).await?;
        Ok(LoopFlow::Over(DriveEnd::Parked(on)))
    }
}

/// The id of a question; an effect has at most one for each word.
pub(super) fn question_id(open: &OpenToolCall, word: &str) -> String {
    format!("q{}.{}.{word}", open.effect.cause, open.effect.index)
}

/// A question with the prefix that its language has for it. English needs none before words that
/// are a question already.
fn confirmed(asked: &str, language: Lang) -> String {
    let is_question = asked.trim_end().ends_with(['?', '？']);
    match language {
        Lang::En if is_question => asked.to_owned(),
        _ => format!("{}{asked}", text::confirm::prefix().in_lang(language)),
    }
}

/// A question without the standard prefix, which some models write themselves.
fn without_prefix(question: &str) -> &str {
    let mut question = question.trim();
    while let Some(rest) = [Lang::ZhCn, Lang::En].into_iter().find_map(|lang| {
        let prefix = text::confirm::prefix().in_lang(lang);
        let prefix = prefix.trim_end_matches([':', '：', ' ']);
        let rest = question.strip_prefix(prefix)?.trim_start();
        rest.strip_prefix([':', '：'])
    }) {
        question = rest.trim_start();
    }
    question
}

#[cfg(test)]
mod tests {
    use super::{confirmed, without_prefix};
    use everloop_types::Lang;

    #[test]
    fn a_question_in_english_needs_no_prefix_and_one_in_chinese_has_it_always() {
        assert_eq!(confirmed("At what time?", Lang::En), "At what time?");
        assert_eq!(confirmed("the time", Lang::En), "Please confirm: the time");
        assert_eq!(confirmed("几点出发？", Lang::ZhCn), "请确认：几点出发？");
    }

    #[test]
    fn a_prefix_that_the_model_wrote_itself_is_not_said_twice() {
        for (asked, bare) in [
            ("Please confirm: at what time?", "at what time?"),
            ("请确认：请确认：几点出发？", "几点出发？"),
            ("请确认: 几点出发？", "几点出发？"),
            ("Please confirm the time?", "Please confirm the time?"),
            ("At what time?", "At what time?"),
        ] {
            assert_eq!(without_prefix(asked), bare);
        }
    }
}
