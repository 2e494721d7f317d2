//! The question that the person has before them: which one it is, and what a line does to it.
//!
//! Only a question of this terminal's own is answered by a bare line: of a run that was begun here,
//! that was taken up here (`/resume`), or that a terminal left which is gone. A question of another
//! terminal or another conversation is announced once, and needs `/resume`.

use super::terminals::Terminals;
use super::{ChatReply, Conversation, Reaction};
use crate::answers::{AnswerReading, ScopeChoice, read_answer};
use crate::conversations::ListedConversation;
use crate::error::AppError;
use crate::router::{OpenQuestion, question_of};
use crate::runs;
use everloop_engine::{Clock, QuestionAnswer, SystemClock, Update};
use everloop_store::{InboxSendResult, Store, StoreError};
use everloop_types::{ConversationId, QuestionKind, RunId, Status};
use std::time::Duration;

/// How long a canceled run may take to end before the person is answered.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

/// Questions of other conversations that are looked at.
const OUTSIDE: usize = 20;

/// What a person should know when they come back to a conversation.
#[derive(Debug)]
pub struct Greeting {
    /// Reminders that nobody has read.
    pub unread: i64,
    /// The question that the next plain line answers, and the goal of the run that asks.
    pub question: Option<(OpenQuestion, String)>,
}

/// A question that is not asked here.
#[derive(Debug)]
pub enum QuestionElsewhere {
    /// Another terminal in this conversation shows it.
    Terminal(OpenQuestion),
    /// A run of another conversation asks it.
    Conversation(Box<ListedConversation>),
}

/// The questions that runs of a conversation ask, and the one that is shown in this terminal.
pub struct OpenQuestions {
    store: Store,
    conversation: ConversationId,
    pub(super) terminals: Terminals,
    /// The question that the person has before them; the next plain line answers it.
    pub(super) seen: Option<OpenQuestion>,
    /// The question below which the meanings of "always" are listed. It is the whole question, with
    /// its run: ids of questions repeat from run to run.
    scope_menu: Option<OpenQuestion>,
}

impl OpenQuestions {
    /// How many meanings of "always" the person has before them; 0 if that is not asked.
    #[must_use]
    pub fn asked_scopes(&self) -> usize {
        let seen = self.seen.as_ref().filter(|seen| self.scope_menu.as_ref() == Some(seen));
        let request = seen.and_then(|seen| seen.question.request.as_ref());
        request.map_or(0, |request| request.scopes.len())
    }

    /// The list of what "always" may mean is no longer before the person: from now on a number is
    /// no choice from it. Whether there was one.
    pub fn drop_scope_menu(&mut self) -> bool {
        self.scope_menu.take().is_some()
    }

    /// The person has this question before them.
    pub(super) fn show(&mut self, open: OpenQuestion) {
        self.scope_menu = None;
        self.seen = Some(open);
    }

    /// The person has no question before them.
    pub(super) fn clear(&mut self) {
        self.scope_menu = None;
        self.seen = None;
    }

    /// Those of the conversation. Takes up the ones that no other terminal has before it.
    pub(super) async fn open(
        store: Store,
        conversation: ConversationId,
        terminals: Terminals,
    ) -> Result<Self, AppError> {
        let mut questions = Self { store, conversation, terminals, seen: None, scope_menu: None };
        questions.take_up().await?;
        Ok(questions)
    }

    /// The question that the person has before them.
    #[must_use]
    pub fn seen(&self) -> Option<&OpenQuestion> {
        self.seen.as_ref()
    }

    /// The question that the next plain line will answer, if it has not been shown yet.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn take_next(&mut self) -> Result<Option<OpenQuestion>, AppError> {
        if self.seen.is_some() && self.is_still_asked().await? {
            return Ok(None);
        }
        self.clear();
        for run in self.waiting().await? {
            if self.terminals.has(&run)
                && let Some(open) = self.asks(&run).await?
            {
                self.show(open.clone());
                return Ok(Some(open));
            }
        }
        Ok(None)
    }

    /// Whether the question that the person has before them is still open.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn is_still_asked(&self) -> Result<bool, AppError> {
        let Some(seen) = &self.seen else { return Ok(false) };
        let still = self.asks(&seen.run).await?;
        Ok(still.is_some_and(|still| still.question.id == seen.question.id))
    }

    /// The run whose question the person has before them, if it was answered elsewhere.
    pub async fn take_gone(&mut self) -> Option<RunId> {
        // A store that fails for a moment is looked at again.
        if self.seen.is_none() || self.is_still_asked().await.unwrap_or(true) {
            return None;
        }
        let seen = self.seen.take()?;
        self.scope_menu = None;
        Some(runs::top(&self.store, &seen.run).await.unwrap_or(seen.run))
    }

    /// Whether something happened to the run whose question the person has before them.
    pub fn asks_in(&self, update: &Update) -> bool {
        let Update::Entry(run, _) = update else { return false };
        self.seen.as_ref().is_some_and(|seen| seen.run == *run)
    }

    /// Questions that are not asked here, each told of once.
    pub async fn elsewhere(&mut self) -> Vec<QuestionElsewhere> {
        let mut found = Vec::new();
        for run in self.waiting().await.unwrap_or_default() {
            if self.terminals.has(&run) {
                continue;
            }
            let Ok(Some(open)) = self.asks(&run).await else { continue };
            if self.terminals.announces(&run, &open.question.id) {
                found.push(QuestionElsewhere::Terminal(OpenQuestion { run, ..open }));
            }
        }
        // A store that fails for a moment is asked again before the next line.
        found.extend(self.outside().await.unwrap_or_default());
        found
    }

    /// Questions of other conversations: those that another terminal shows now, and those that
    /// nobody has read. The latter count as read once a chat has told of them.
    async fn outside(&mut self) -> Result<Vec<QuestionElsewhere>, AppError> {
        let all = self.store.conversations().questions_outside(&self.conversation, OUTSIDE).await?;
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let in_use = self.terminals.of_others().conversations;
        let mut found = Vec::new();
        for asked in all {
            let is_shown = in_use.contains(&asked.conversation);
            let is_new = self.terminals.announces(&asked.run, &asked.question);
            if !is_new || self.terminals.has(&asked.run) || !is_shown && asked.read_pos >= asked.pos
            {
                continue;
            }
            if !is_shown {
                let now = SystemClock.now();
                let conversations = self.store.conversations();
                conversations.mark_read(&asked.conversation, Some(asked.pos), now).await?;
            }
            if let Some(row) = self.store.conversations().get(&asked.conversation).await? {
                let one = ListedConversation::new(row);
                found.push(QuestionElsewhere::Conversation(Box::new(one)));
            }
        }
        Ok(found)
    }

    /// The menu that the line may answer; a menu is answered by the very next line, or not at all.
    pub(super) fn take_scope_menu(&mut self) -> Option<OpenQuestion> {
        self.scope_menu.take()
    }

    /// Goes on with another conversation.
    pub(super) async fn enter(&mut self, conversation: ConversationId) -> Result<(), AppError> {
        self.conversation = conversation;
        self.clear();
        self.take_up().await
    }

    /// Takes up the questions that no other terminal has before it.
    async fn take_up(&mut self) -> Result<(), AppError> {
        let others = self.terminals.of_others().runs;
        for run in self.waiting().await? {
            if !others.contains(&run) {
                self.terminals.take(&run);
            }
        }
        Ok(())
    }

    /// A run that is over asks nothing any more, whoever answered it.
    pub(super) fn forget_of(&mut self, over: &RunId) {
        if self.seen.as_ref().is_some_and(|seen| seen.run == *over) {
            self.clear();
        }
    }

    /// The run that a cancel is about.
    pub(super) async fn current(&self) -> Result<Option<RunId>, AppError> {
        if let Some(seen) = &self.seen {
            return runs::top(&self.store, &seen.run).await.map(Some);
        }
        let open = self.open_runs().await?;
        Ok(open.into_iter().map(|(run, _)| run).find(|run| self.terminals.has(run)))
    }

    /// Whether news of a run are for this terminal: it has the run, or the run is of this
    /// conversation and the terminal that had it is gone.
    pub(super) async fn is_ours(&mut self, run: &RunId) -> bool {
        let Ok(top) = runs::top(&self.store, run).await else { return false };
        if self.terminals.has(&top) {
            return true;
        }
        let row = self.store.runs().get(&top).await.ok().flatten();
        let is_here = row.is_some_and(|row| row.conversation == self.conversation);
        is_here && !self.terminals.of_others().runs.contains(&top) && !self.terminals.is_told(&top)
    }

    /// The runs of the conversation that wait, the newest first.
    async fn waiting(&self) -> Result<Vec<RunId>, AppError> {
        let open = self.open_runs().await?;
        let waiting = open.into_iter().filter(|(_, status)| *status == Status::Waiting);
        Ok(waiting.map(|(run, _)| run).collect())
    }

    async fn asks(&self, run: &RunId) -> Result<Option<OpenQuestion>, AppError> {
        Ok(question_of(&self.store, run).await?)
    }

    /// The runs of the conversation that have not ended, the newest first.
    pub(super) async fn open_runs(&self) -> Result<Vec<(RunId, Status)>, StoreError> {
        self.store.conversations().open_runs_of(&self.conversation).await
    }

    /// How many runs of the conversation work on when it is left.
    pub async fn count_working(&self) -> usize {
        let open = self.open_runs().await.unwrap_or_default();
        open.iter().filter(|(_, status)| *status != Status::Waiting).count()
    }
}

impl Conversation {
    /// What a person should know when they come back.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn greeting(&mut self) -> Result<Greeting, AppError> {
        let unread = self.store().agenda().count_unread_firings().await?;
        let question = match self.questions.take_next().await? {
            Some(open) => {
                let run = self.store().runs().get(&open.run).await?;
                Some((open, run.map(|row| row.goal).unwrap_or_default()))
            }
            None => None,
        };
        self.place.mark_read(self.store()).await;
        Ok(Greeting { unread, question })
    }

    /// Cancels the run whose question is open, or the newest one of this terminal.
    pub(super) async fn cancel(&mut self) -> Result<ChatReply, AppError> {
        let Some(run) = self.questions.current().await? else {
            return Ok(ChatReply::NothingToCancel);
        };
        self.engine.cancel(&run, "user").await?;
        // Whoever drives it ends it soon; if nobody does, its cancel waits in its inbox.
        let _ = tokio::time::timeout(CANCEL_WITHIN, self.run(&run).until_stopped()).await;
        self.questions.clear();
        self.questions.terminals.forget(&run);
        Ok(ChatReply::Canceled)
    }

    /// Answers a question. `menu` is the question below which the meanings of "always" were listed
    /// when the line was typed.
    pub(super) async fn answer(
        &mut self,
        open: OpenQuestion,
        line: String,
        menu: Option<OpenQuestion>,
    ) -> Result<Reaction, AppError> {
        if open.question.kind == QuestionKind::Settle {
            return self.answer_settling(open, &line).await;
        }
        // In a pipe "always" alone means exactly this call; a person is asked.
        let choice = if !self.app.attended {
            ScopeChoice::Exact
        } else if menu.as_ref() == Some(&open) {
            ScopeChoice::Asked
        } else {
            ScopeChoice::Ask
        };
        let (text, meaning) = match read_answer(&open.question, &line, choice) {
            AnswerReading::Send { text, meaning } => (text, meaning),
            AnswerReading::WhichScope => {
                self.questions.scope_menu = Some(open.clone());
                return Ok(ChatReply::WhichScope(Box::new(open.question)).into());
            }
            AnswerReading::HowToEdit => {
                return Ok(ChatReply::HowToEdit(Box::new(open.question)).into());
            }
            AnswerReading::Unclear => return Ok(ChatReply::UnclearPermission(line).into()),
        };
        self.questions.clear();
        let top = runs::top(self.store(), &open.run).await?;
        self.shown.pass_over_past(&top).await;
        let answer = QuestionAnswer { question: open.question.id, text, by: "user".to_owned() };
        match self.engine.answer(&open.run, answer).await? {
            InboxSendResult::Accepted => {
                Ok(Reaction::Follow(top, Some(ChatReply::Answered(meaning))))
            }
            // It was meant as an answer, so it is not a goal, though nobody asks any more.
            InboxSendResult::AlreadySent
            | InboxSendResult::Finished(_)
            | InboxSendResult::NoSuchRun => Ok(Reaction::Reply(ChatReply::AnsweredElsewhere(line))),
        }
    }
}
