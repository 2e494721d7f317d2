//! A question for permission outside of a chat, answered with the keys of a chat.

use super::asking::{LinePurpose, answer_keys, answer_prompt, line_after, whole_line};
use super::editor::{Editor, EditorInput};
use everloop_console::{Console, Failure, terminal};
use everloop_types::{Question, QuestionKind};
use std::path::Path;

/// Answers of one key, and lines where words are wanted. While it lives, it has the terminal.
pub struct KeyAnswers(Editor);

impl KeyAnswers {
    /// For a question that one key can answer; none where the screen cannot be drawn on.
    pub fn start(app: &Console, question: &Question) -> Result<Option<Self>, Failure> {
        let has_screen = terminal::answers_are_seen() && !terminal::is_dumb();
        match question.kind {
            QuestionKind::Approve | QuestionKind::Settle if has_screen => {
                Editor::start(app, Path::new(".")).map(|editor| Some(Self(editor)))
            }
            _ => Ok(None),
        }
    }

    /// The answer, as a line that says the same; none if the person gives none. Where it was asked
    /// what "always" covers, `scopes` says how many choices there are.
    pub async fn next(
        &mut self,
        app: &Console,
        question: &Question,
        scopes: usize,
    ) -> Option<String> {
        let mut purpose = self.ask(app, question, scopes);
        let line = loop {
            match self.0.next().await {
                EditorInput::Line(line) => break Some(whole_line(purpose, &line)),
                EditorInput::Instant(answer, sent) => match line_after(answer, sent, question) {
                    None => break Some(answer.to_string()),
                    Some((wanted, prompt, typed)) => {
                        purpose = wanted;
                        self.0.ask(app, &app.text(prompt), &typed, &[]);
                    }
                },
                EditorInput::Gone => break None,
                // Back to the question itself.
                EditorInput::Interrupt { .. } | EditorInput::Escape | EditorInput::Rewind
                    if purpose != LinePurpose::Message =>
                {
                    self.0.discard();
                    purpose = self.ask(app, question, scopes);
                }
                EditorInput::Interrupt { empty: true } | EditorInput::End => break None,
                EditorInput::Interrupt { .. }
                | EditorInput::Escape
                | EditorInput::Rewind
                | EditorInput::Plan
                | EditorInput::Unfold
                | EditorInput::Redraw => {}
            }
        };
        self.0.hide();
        line
    }

    fn ask(&mut self, app: &Console, question: &Question, scopes: usize) -> LinePurpose {
        let keys = answer_keys(question, scopes);
        self.0.ask(app, &app.text(answer_prompt(question)), "", &keys);
        LinePurpose::Message
    }
}
