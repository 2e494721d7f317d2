//! A question of a run that this process follows, put to the person at its terminal.

use super::Foreground;
use crate::args::OutputFormat;
use everloop_app::answers::{QuestionLine, ScopeChoice};
use everloop_app::router::OpenQuestion;
use everloop_app::runs;
use everloop_chat::KeyAnswers;
use everloop_console::show::answering::{answered_line, how_to_answer, unclear};
use everloop_console::show::approval::{self, question_lines, question_words};
use everloop_console::{Console, Exit, Failure, Signals, terminal};
use everloop_engine::QuestionAnswer;
use everloop_text as text;
use everloop_types::{Question, QuestionKind, RunId};

/// What came of putting a question to the person.
pub(super) enum QuestionEnd {
    Answered,
    Unanswered,
    Terminated,
}

/// The next answer: by keys where there are any, else as a line.
async fn answer_line(
    app: &Console,
    keys: Option<&mut KeyAnswers>,
    question: &Question,
    prompt: &str,
    scopes: usize,
) -> Option<String> {
    let Some(keys) = keys else { return terminal::ask(prompt).await };
    if scopes == 0 {
        terminal::eprint_line(&how_to_answer(app, question));
    }
    keys.next(app, question, scopes).await
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
        question_lines(app, question, &text).iter().for_each(terminal::eprint_styled);
        self.drop_typed_ahead(question).await;
        // From here on a key is an answer, before the person reads that it is one.
        let mut keys = KeyAnswers::start(app, question)?;
        let prompt = match question.kind {
            QuestionKind::Ask => "› ".to_owned(),
            _ => format!("{} › ", how_to_answer(app, question)),
        };
        let open = OpenQuestion { run: run.clone(), question: question.clone(), text };
        let mut choice = ScopeChoice::Ask;
        let (text, meaning) = loop {
            let asked = question.request.as_ref().filter(|_| choice == ScopeChoice::Asked);
            let scopes = asked.map_or(0, |request| request.scopes.len());
            let line = tokio::select! {
                line = answer_line(app, keys.as_mut(), question, &prompt, scopes) => line,
                exit = signals.next() => match exit {
                    Exit::Terminated => return Ok(QuestionEnd::Terminated),
                    _ => None,
                },
            };
            let Some(line) = line else { return Ok(QuestionEnd::Unanswered) };
            let read = choice;
            choice = ScopeChoice::Ask;
            let words = match app.checked(QuestionLine::read(app, &open, &line, read))? {
                QuestionLine::Answer { text, meaning } => break (text, meaning),
                QuestionLine::Cancel => {
                    self.cancel().await?;
                    terminal::eprint_line(&app.text(text::door::canceled()));
                    return Ok(QuestionEnd::Answered);
                }
                QuestionLine::Empty => app.text(text::answer::empty()),
                QuestionLine::Command => app.text(text::answer::no_commands()),
                QuestionLine::WhichScope => {
                    choice = ScopeChoice::Asked;
                    approval::scope_lines(app, question)
                }
                QuestionLine::HowToEdit => approval::edit_lines(app, question),
                QuestionLine::Unclear => unclear(app, question, &line),
            };
            terminal::eprint_line(&words);
            if keys.is_none() {
                self.drop_typed_ahead(question).await;
            }
        };
        drop(keys);
        let answer = QuestionAnswer { question: question.id.clone(), text, by: "user".to_owned() };
        let sent = self.engine.answer(run, answer).await;
        sent.map_err(|error| app.store_failure(&error))?;
        app.note_styled(&answered_line(app, &meaning));
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
        let asked = question_words(app, question, &asked);
        let (id, to) = (self.run.short(), question.id.as_str());
        terminal::eprint_line(
            &app.text(text::run::NeedsPerson { id: &id, question: &asked, to: &to }.text()),
        );
        match self.format {
            OutputFormat::Text => terminal::print_line(self.run.as_str()),
            OutputFormat::Json | OutputFormat::StreamJson => self.print_result().await?,
        }
        Ok(Exit::NeedsPerson)
    }

    async fn question_text(&self, run: &RunId, question: &Question) -> Result<String, Failure> {
        let asked = runs::question_text(self.store(), run, question).await;
        Ok(self.app.checked(asked)?.unwrap_or_else(|| question.text.clone()))
    }
}
