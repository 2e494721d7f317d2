//! A question of a run that this process follows, put to the person at its terminal.

use super::Foreground;
use crate::args::OutputFormat;
use crate::chat;
use crate::commands::reply;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::terminal;
use everloop_app::answers::QuestionLine;
use everloop_app::router::OpenQuestion;
use everloop_app::runs;
use everloop_engine::QuestionAnswer;
use everloop_text as text;
use everloop_types::{Question, QuestionKind, RunId};

/// What came of putting a question to the person.
pub(super) enum QuestionEnd {
    Answered,
    Unanswered,
    Terminated,
}

impl Foreground<'_> {
    /// Puts the open question to the person, until they answer it in words that count.
    pub(super) async fn ask(
        &self,
        run: &RunId,
        question: &Question,
        signals: &mut Signals,
    ) -> Result<QuestionEnd, Failure> {
        let app = self.app;
        let text = self.question_text(run, question).await?;
        terminal::complain(&text);
        self.drop_typed_ahead(question).await;
        let prompt = match question.kind {
            QuestionKind::Ask => "› ".to_owned(),
            _ => format!("{} › ", reply::how(app, question)),
        };
        let open = OpenQuestion { run: run.clone(), question: question.clone(), text };
        let (text, meaning) = loop {
            let line = tokio::select! {
                line = terminal::ask(&prompt) => line,
                exit = signals.next() => match exit {
                    Exit::Terminated => return Ok(QuestionEnd::Terminated),
                    _ => None,
                },
            };
            let Some(line) = line else { return Ok(QuestionEnd::Unanswered) };
            let words = match app.checked(QuestionLine::read(app, &open, &line))? {
                QuestionLine::Answer { text, meaning } => break (text, meaning),
                QuestionLine::Cancel => {
                    self.cancel().await?;
                    terminal::complain(&app.text(text::door::canceled()));
                    return Ok(QuestionEnd::Answered);
                }
                QuestionLine::Empty => app.text(text::answer::empty()),
                QuestionLine::Command => app.text(text::answer::no_commands()),
                QuestionLine::Unclear => reply::unclear(app, question, &line),
            };
            terminal::complain(&words);
            self.drop_typed_ahead(question).await;
        };
        let answer = QuestionAnswer { question: question.id.clone(), text, by: "user".to_owned() };
        let sent = self.engine.answer(run, answer).await;
        sent.map_err(|error| app.store_failure(&error))?;
        app.note_line(&chat::answered(app, &meaning));
        Ok(QuestionEnd::Answered)
    }

    /// Whoever typed it had not read the question. Where an answer allows something, the rest of a
    /// paste that still comes in is no answer either.
    async fn drop_typed_ahead(&self, question: &Question) {
        let dropped = match question.kind {
            QuestionKind::Ask => terminal::drop_typed_ahead(),
            QuestionKind::Approve | QuestionKind::Settle => terminal::await_quiet().await,
        };
        if dropped {
            self.app.note(text::answer::typed_ahead());
        }
    }

    /// Nobody can be asked: the run is kept, and its id printed.
    pub(super) async fn needs_person(
        &self,
        run: &RunId,
        question: &Question,
    ) -> Result<Exit, Failure> {
        let app = self.app;
        let asked = self.question_text(run, question).await?;
        let (id, to) = (self.run.as_str(), question.id.as_str());
        terminal::complain(
            &app.text(text::run::NeedsPerson { id: &id, question: &asked, to: &to }.text()),
        );
        match self.format {
            OutputFormat::Text => terminal::answer(self.run.as_str()),
            OutputFormat::Json | OutputFormat::StreamJson => self.print_result().await?,
        }
        Ok(Exit::NeedsPerson)
    }

    async fn question_text(&self, run: &RunId, question: &Question) -> Result<String, Failure> {
        let asked = runs::question_text(self.store(), run, question).await;
        Ok(self.app.checked(asked)?.unwrap_or_else(|| question.text.clone()))
    }
}
