//! The front door of conversations that no terminal has open: those of a server, its pages and
//! channels (DR-2 to DR-7).
//!
//! ```text
//!   message ──► known already? ──► cancel? ──► command? ──► answer to the open question?
//!                                                   └──► a turn: a decision, or straight the loop
//! ```
//!
//! The order is the specification's (PR-1), by the same [`Router`](crate::router::Router) as in a
//! terminal. When [`send`] returns, what the message did is durable. A conversation may have any
//! number of runs at once.
//!
//! Deliberately absent: driving runs (a worker's), lock files and terminals.

mod busy;
mod context;
mod decision;
mod looking;
mod repeated;
mod start_run;
mod waiting;

pub use busy::{BusyPolicy, SendError};
pub(crate) use context::task_line;
pub(crate) use decision::{deciding_model, frame as decision_frame};
pub use looking::READ_ANYWHERE;
pub use repeated::{REQUEST_ID_CHARS_MAX, done_before, steer};
pub(crate) use start_run::{RunStarter, StartRun};
pub use waiting::{MessageQueues, QueueHold, WaitingMessage, uploads_folder};

use crate::answers::{AnswerDraft, AnswerError, AnswerIntent, RunAnswer};
use crate::app::App;
use crate::briefing;
use crate::conversation::router;
use crate::error::{AppError, ConversationError};
use crate::facts;
use crate::frames::{self, RunOptions};
use crate::router::{OpenQuestion, Route, question_of};
use crate::runs;
use crate::settling::{SettleWord, settle_as};
use crate::slash::{self, SlashKind, SlashLine};
use context::TurnContext;
use decision::DecisionRequest;
use everloop_agenda::commands::{self as agenda_commands, AgendaCommand};
use everloop_agenda::show;
use everloop_engine::{Clock, Engine, SystemClock};
use everloop_store::{ConversationRow, InboxSendResult, Store, TurnRecord};
use everloop_text as text;
use everloop_types::journal::InboxMessage;
use everloop_types::{ConversationId, Labels, QuestionKind, RunId, Status, Unattended};
use looking::LookedUp;
use repeated::{known, request_key, turn_of};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs of a conversation that are looked at for a question or for what a cancel means.
const RUNS_LOOKED_AT: usize = 200;

/// Who cancels and answers.
const BY: &str = "user";

/// What a request did that canceled, or had nothing to cancel.
const CANCEL: &str = "cancel";

/// A message to a conversation.
#[derive(Debug, Clone, Default)]
pub struct TurnMessage {
    /// The words.
    pub content: String,
    /// The sender's name of the request: the same name twice is the same turn.
    pub client_request_id: Option<String>,
    /// Image files that go with it.
    pub attachments: Vec<PathBuf>,
    /// What works on it.
    pub mode: TurnMode,
    /// Who sends it.
    pub sender: TurnSender,
    /// The model, as in `provider/model`; that of the settings if there is none.
    pub model: Option<String>,
    /// The questions that it may answer.
    pub answers: SeenQuestions,
}

/// The questions that a sender had before them when they wrote. A message answers no other one: it
/// must not approve a command that opened a moment ago.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SeenQuestions {
    /// Not known, so whichever is open.
    #[default]
    Any,
    /// Those with these ids, as [`OpenQuestion::id`] makes them.
    Only(Vec<String>),
}

impl SeenQuestions {
    fn allow(&self, open: &OpenQuestion) -> bool {
        match self {
            Self::Any => true,
            Self::Only(ids) => ids.contains(&open.id()),
        }
    }
}

/// Who sends a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TurnSender {
    /// The person whose program this is.
    #[default]
    Person,
    /// Whoever knows the secret of a channel. That need not be the person.
    Outside(OutsideSender),
}

/// A sender that need not be the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideSender {
    /// The channel, as in `webhook:ops`.
    pub channel: String,
    /// Whether it may answer questions about calls.
    pub may_approve: bool,
    /// The folder that its runs work in.
    pub workspace: PathBuf,
}

/// What works on a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TurnMode {
    /// A decision first, unless the settings turned that off.
    #[default]
    Decide,
    /// Straight a loop: this one, or that of the settings.
    Loop(Option<String>),
}

/// What a message did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnReceipt {
    /// It began a turn.
    Turn {
        /// The id of the turn: that of its first run.
        turn_id: RunId,
        /// The run whose final message is the reply.
        run_id: RunId,
        /// Whether an earlier request with the same id began it.
        repeated: bool,
    },
    /// It answered the open question of this run.
    Answered {
        /// The turn that goes on.
        turn_id: RunId,
        /// The run that asked.
        run_id: RunId,
        /// Whether an earlier request with the same id answered it.
        repeated: bool,
    },
    /// It was meant as an answer, and is not understood as one, or came too late.
    NotAnswered {
        /// The run that asks.
        run_id: RunId,
        /// What it asks, as the person reads it.
        question: String,
        /// Whether the question is open, so that clearer words answer it.
        is_open: bool,
    },
    /// It was told to this run, which works.
    Steered {
        /// The run.
        run_id: RunId,
        /// Whether an earlier request with the same id told it.
        repeated: bool,
    },
    /// It waits until nothing works in the conversation, and is sent then.
    Queued {
        /// Its name among the messages that wait.
        queued_id: String,
    },
    /// It canceled this run.
    Canceled {
        /// The run.
        run_id: RunId,
        /// Whether an earlier request with the same id canceled it.
        repeated: bool,
    },
    /// It was to cancel something, and nothing runs.
    NothingToCancel,
    /// It was a command, and this is the reply.
    Command {
        /// In the person's language.
        text: String,
    },
    /// It says nothing.
    Empty,
    /// There is no model, and no rule understands it.
    NoModel,
    /// There is no model. By the rules it means this command, which is not carried out unless it is
    /// sent.
    Suggested {
        /// The command.
        command: String,
    },
}

/// Takes a message into a conversation. When this returns, what it did is durable.
///
/// # Errors
/// If there is no such conversation, something that the message names cannot be used, or the store
/// fails. Nothing was begun then.
pub async fn send(
    app: &App,
    engine: &Arc<Engine>,
    conversation: &ConversationId,
    message: TurnMessage,
) -> Result<TurnReceipt, AppError> {
    let row = engine.store().conversations().get(conversation).await?;
    let row = row.ok_or_else(|| ConversationError::NotFound(conversation.to_string()))?;
    let request = request_key(conversation, &message)?;
    let turn = TurnRouter { app, engine, row, request, message: &message };
    if let Some(receipt) = turn.known().await? {
        return Ok(receipt);
    }
    let open = open_questions(engine.store(), conversation).await?;
    let seen = open.into_iter().find(|question| message.answers.allow(question));
    let reader = app.reader_at(None);
    let model = frames::default_model(app);
    match router(app, &model).route(&message.content, &reader.now, seen) {
        Route::Nothing => Ok(TurnReceipt::Empty),
        Route::Cancel => turn.cancel().await,
        Route::Wrong(wrong) => Ok(TurnReceipt::Command { text: show::wrong(&reader, &wrong) }),
        Route::OwnCommand(command) => Ok(turn.not_here(&format!("!{command}"))),
        Route::Rule(command) => Ok(TurnReceipt::Suggested { command }),
        Route::Look(command, _) => turn.perform(&command).await,
        Route::NoModel => Ok(TurnReceipt::NoModel),
        Route::Slash(slash) => turn.command(&slash).await,
        Route::Answer(open, line) => turn.answer(open, line).await,
        Route::Goal(goal) => turn.begin(&goal).await,
    }
}

/// Whether a message stops what is under way, so that it must not wait for its end.
#[must_use]
pub fn is_stop(app: &App, text: &str) -> bool {
    everloop_text::is_stop(text) || router(app, "").is_cancel_request(text)
}

/// The questions of a conversation that are open, the one that was asked last first.
async fn open_questions(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Vec<OpenQuestion>, AppError> {
    let mut rows = store.runs().of_conversation(conversation, RUNS_LOOKED_AT).await?;
    rows.retain(|row| row.status == Status::Waiting);
    rows.sort_by_key(|row| std::cmp::Reverse(row.times.updated_at));
    let mut open = Vec::new();
    for row in rows {
        open.extend(question_of(store, &row.run).await?);
    }
    Ok(open)
}

/// One message on its way.
struct TurnRouter<'a> {
    app: &'a App,
    engine: &'a Arc<Engine>,
    row: ConversationRow,
    request: Option<String>,
    message: &'a TurnMessage,
}

impl TurnRouter<'_> {
    fn store(&self) -> &Store {
        self.engine.store()
    }

    /// Who answers a question, so that the same request is known again.
    fn answers_as(&self) -> String {
        self.request.as_ref().map_or_else(|| BY.to_owned(), |key| format!("{BY} {key}"))
    }

    async fn known(&self) -> Result<Option<TurnReceipt>, AppError> {
        let Some(key) = &self.request else { return Ok(None) };
        known(self.store(), &self.row.id, key).await
    }

    async fn turn_of(&self, run: &RunId) -> Result<RunId, AppError> {
        turn_of(self.store(), run).await
    }

    /// Cancels the run whose question is open, else the newest one that has not ended.
    async fn cancel(&self) -> Result<TurnReceipt, AppError> {
        let open = open_questions(self.store(), &self.row.id).await?;
        let run = match open.first() {
            Some(open) => Some(runs::top(self.store(), &open.run).await?),
            None => {
                let rows = self.store().runs().of_conversation(&self.row.id, RUNS_LOOKED_AT);
                let mut living = rows.await?.into_iter().filter(|row| !row.status.is_final());
                living.next().map(|row| row.run)
            }
        };
        let record = self.request.clone().map(|key| {
            let (did, at) = (CANCEL.to_owned(), SystemClock.now());
            TurnRecord { key, did, run: run.clone(), at }
        });
        let sent = match (&run, &record) {
            (Some(run), Some(record)) => {
                let cancel = InboxMessage::Cancel { by: BY.to_owned() };
                self.engine.send_once(run, "cancel", &cancel, Some(record)).await?
            }
            (Some(run), None) => self.engine.cancel(run, BY).await?,
            (None, _) => InboxSendResult::NoSuchRun,
        };
        // Nothing was to be canceled, or somebody else was faster: the request is done anyhow.
        if let Some(record) = record.filter(|_| sent != InboxSendResult::Accepted)
            && !self.store().conversations().keep_turn(&record).await?
            && let Some(receipt) = self.known().await?
        {
            return Ok(receipt);
        }
        Ok(run.map_or(TurnReceipt::NothingToCancel, |run_id| TurnReceipt::Canceled {
            run_id,
            repeated: false,
        }))
    }

    async fn command(&self, slash: &SlashLine) -> Result<TurnReceipt, AppError> {
        match slash.command.kind {
            SlashKind::Cancel => self.cancel().await,
            SlashKind::Help => {
                let named = slash.rest.trim_start_matches('/');
                let text = slash::help_text(slash::find(named), self.app.lang);
                Ok(TurnReceipt::Command { text })
            }
            SlashKind::Agenda => {
                let reader = self.app.reader_at(None);
                match agenda_commands::parse(&slash.line, &reader.now) {
                    Ok(command) => self.perform(&command).await,
                    Err(wrong) => Ok(TurnReceipt::Command { text: show::wrong(&reader, &wrong) }),
                }
            }
            SlashKind::Plain | SlashKind::Follow | SlashKind::Loop | SlashKind::Quit => {
                let is_person = self.message.sender == TurnSender::Person;
                let (app, store, row) = (self.app, self.store(), &self.row);
                let look = LookedUp { app, store, row, is_person };
                Ok(match look.at(slash.command.name, slash.rest.trim()).await? {
                    Some(text) => TurnReceipt::Command { text },
                    None => self.not_here(&format!("/{}", slash.command.name)),
                })
            }
        }
    }

    fn not_here(&self, command: &str) -> TurnReceipt {
        TurnReceipt::Command { text: text::turns::not_here(&command).in_lang(self.app.lang) }
    }

    /// Carries out a command about todos or the schedule, once for each request.
    async fn perform(&self, command: &AgendaCommand) -> Result<TurnReceipt, AppError> {
        let reader = self.app.reader_at(None);
        let agenda = self.app.agenda(self.store().clone());
        let is_outside = matches!(self.message.sender, TurnSender::Outside(_));
        // Its runs would belong to nobody who answers for what they were told.
        if is_outside && agenda.runs().starts_runs(command).await? {
            return Ok(self.not_here("/schedule … --run"));
        }
        let result = agenda.perform(command, &reader.now, self.request.as_deref()).await?;
        Ok(TurnReceipt::Command { text: show::answer(&reader, &result) })
    }

    async fn answer(&self, open: OpenQuestion, line: String) -> Result<TurnReceipt, AppError> {
        let run_id = open.run.clone();
        if let TurnSender::Outside(sender) = &self.message.sender
            && !sender.may_approve
            && open.question.kind != QuestionKind::Ask
        {
            let text = text::channels::reply::operator(&run_id).in_lang(self.app.lang);
            return Ok(TurnReceipt::Command { text });
        }
        let not_answered = |is_open: bool| {
            let (run_id, question) = (run_id.clone(), open.text.clone());
            TurnReceipt::NotAnswered { run_id, question, is_open }
        };
        if open.question.kind == QuestionKind::Settle {
            return Ok(if self.settle(&open, &line).await? {
                let turn_id = self.turn_of(&run_id).await?;
                TurnReceipt::Answered { turn_id, run_id, repeated: false }
            } else {
                not_answered(SettleWord::read(&line).is_none())
            });
        }
        let question = Some(open.question.id.clone());
        let answer = RunAnswer { intent: AnswerIntent::Words(line), question };
        let draft = AnswerDraft::read(self.app, self.store(), &run_id, answer, |_, _| ()).await;
        let draft = match draft {
            Ok(draft) => draft,
            Err(AnswerError::App(error)) => return Err(error),
            // It is no yes and no no.
            Err(AnswerError::Unclear { .. }) => return Ok(not_answered(true)),
            // Somebody else was faster.
            Err(_) => return Ok(not_answered(false)),
        };
        if !draft.send_as(self.engine, &self.answers_as()).await? {
            return Ok(not_answered(false));
        }
        let turn_id = self.turn_of(&run_id).await?;
        Ok(TurnReceipt::Answered { turn_id, run_id, repeated: false })
    }

    /// Says what became of a call whose outcome is unknown; whether the line says so.
    async fn settle(&self, open: &OpenQuestion, line: &str) -> Result<bool, AppError> {
        let calls = self.engine.open_unknowns(&open.run).await?;
        let call = calls.into_iter().find(|call| call.settled.is_none());
        let (Some(call), Some(word)) = (call, SettleWord::read(line)) else { return Ok(false) };
        let report = settle_as(self.engine, &call, word, &self.answers_as()).await?;
        Ok(report.settled(&open.run)?.is_some())
    }

    /// Begins a turn.
    async fn begin(&self, goal: &str) -> Result<TurnReceipt, AppError> {
        let message = self.message;
        let workspace = match &self.message.sender {
            TurnSender::Person => frames::workspace(self.row.workspace.as_deref().map(Path::new))?,
            TurnSender::Outside(sender) => sender.workspace.clone(),
        };
        let decides = self.app.settings.agent.loop_enabled && message.mode == TurnMode::Decide;
        let mut submission = if decides {
            let images = briefing::images(self.app, &message.attachments)?;
            let idem_key = self.request.clone();
            let model = message.model.as_deref();
            let request =
                DecisionRequest { text: goal, images, workspace: &workspace, idem_key, model };
            decision::submission(self.app, self.store(), &self.row.id, request).await?
        } else {
            self.straight(goal, workspace).await?
        };
        if let TurnSender::Outside(sender) = &self.message.sender {
            let policy = &mut submission.frame.policy;
            policy.unattended = self.app.settings.approvals.unattended;
            policy.inherited.take(Labels::ALL, &sender.channel);
        }
        submission.idem_key.clone_from(&self.request);
        let run = self.engine.submit_in(self.row.id.clone(), submission).await?;
        // Within the span of a request: what goes wrong later names the turn, and this the request.
        tracing::info!(conversation = %self.row.id, turn_id = %run, "turn begun");
        Ok(TurnReceipt::Turn { turn_id: run.clone(), run_id: run, repeated: false })
    }

    /// A run straight under a loop.
    async fn straight(
        &self,
        goal: &str,
        workspace: PathBuf,
    ) -> Result<everloop_engine::Submission, AppError> {
        let message = self.message;
        let loop_name = match &message.mode {
            TurnMode::Loop(name) => name.clone(),
            TurnMode::Decide => None,
        };
        let images = message.attachments.clone();
        let workspace = Some(workspace);
        let model = message.model.clone();
        let options = RunOptions { loop_name, workspace, images, model, ..RunOptions::default() };
        let mut submission = frames::submission(self.app, &options, goal)?;
        let earlier = TurnContext::of_history(self.app, self.store(), &self.row.id).await?;
        submission.frame.policy.inherited.join(&earlier.held);
        submission.frame.policy.unattended = Unattended::Wait;
        facts::brief(self.app, self.store(), &mut submission.frame).await?;
        submission.goal.context += &earlier.told;
        Ok(submission)
    }
}
