//! A decision as a run: what it may start, which model decides, and what it reads.

use super::context::TurnContext;
use super::start_run;
use crate::app::App;
use crate::briefing;
use crate::error::AppError;
use crate::facts;
use crate::frames;
use crate::run_types;
use everloop_engine::{EndedTask, Submission};
use everloop_loops::DECISION_LOOP;
use everloop_store::Store;
use everloop_types::{
    ApprovalMode, ConversationId, DecisionTerms, Frame, Goal, Image, Policy, RunProfile, Taint,
    Unattended,
};
use std::path::Path;

/// A message that is to be decided on.
pub(crate) struct DecisionRequest<'a> {
    /// The words.
    pub(crate) text: &'a str,
    /// Pictures that go with them.
    pub(crate) images: Vec<Image>,
    /// The folder of the conversation.
    pub(crate) workspace: &'a Path,
    /// The key that makes it one run.
    pub(crate) idem_key: Option<String>,
    /// The model that the person chose.
    pub(crate) model: Option<&'a str>,
}

/// The run that decides on a message.
pub(crate) async fn submission(
    app: &App,
    store: &Store,
    conversation: &ConversationId,
    request: DecisionRequest<'_>,
) -> Result<Submission, AppError> {
    let mut frame = frame(app, request.workspace, request.model, 0)?;
    if let (Some(terms), Some(model)) = (&mut frame.decision, request.model) {
        terms.model = Some(model.to_owned());
    }
    let context = TurnContext::of_decision(app, store, conversation, None).await?;
    frame.policy.inherited.join(&context.held);
    facts::brief(app, store, &mut frame).await?;
    let context = frames::place_of(request.workspace) + &context.told;
    let goal = Goal { text: request.text.to_owned(), context, images: request.images };
    let loop_name = DECISION_LOOP.to_owned();
    let (idem_key, profile) = (request.idem_key, RunProfile::default());
    Ok(Submission { loop_name, goal, frame, idem_key, profile })
}

/// The decision that follows the end of a run that a decision started (DR-11).
pub(crate) async fn follow_up(
    app: &App,
    store: &Store,
    ended: EndedTask<'_>,
) -> Result<Option<Submission>, AppError> {
    let Some(terms) = ended.frame.follow_up.as_deref() else { return Ok(None) };
    let workspace = Path::new(&ended.frame.workspace);
    let mut frame = frame(app, workspace, None, terms.depth + 1)?;
    let context = TurnContext::of_decision(app, store, ended.conversation, Some(ended.run)).await?;
    frame.policy.inherited.join(&context.held);
    frame.policy.inherited.join(ended.held);
    frame.policy.unattended = ended.frame.policy.unattended;
    facts::brief(app, store, &mut frame).await?;
    let (title, status) = (&terms.title, ended.status);
    let text = format!("[the task {title:?} of type {} has ended: {status}]", terms.run_type);
    let result = format!("\n[its result, which the person has read]\n{}", ended.text);
    let context = frames::place_of(workspace) + &result + &context.told;
    let goal = Goal { text, context, images: Vec::new() };
    let (loop_name, profile) = (DECISION_LOOP.to_owned(), RunProfile::default());
    Ok(Some(Submission { loop_name, goal, frame, idem_key: None, profile }))
}

/// The model that decides: the one that is wanted, else that of the settings.
pub(crate) fn deciding_model(app: &App, wanted: Option<&str>) -> String {
    match wanted.unwrap_or(&app.settings.agent.decision_model) {
        "" => frames::default_model(app),
        name => name.to_owned(),
    }
}

/// What never changes of a decision.
pub(crate) fn frame(
    app: &App,
    workspace: &Path,
    model: Option<&str>,
    depth: u32,
) -> Result<Frame, AppError> {
    let settings = &app.settings.agent;
    let model = frames::model(app, deciding_model(app, model))?;
    let persona = briefing::persona(app, None)?;
    let tools = vec![start_run::spec()];
    let mut frame = frames::frame_of(app, DECISION_LOOP, workspace, model, &persona, tools)?;
    frame.policy = Policy {
        // The one call that it makes changes nothing outside, and a person answers by messages.
        unattended: Unattended::Wait,
        inherited: Taint::default(),
        ..frames::policy(app, ApprovalMode::Ask)
    };
    frame.decision = Some(Box::new(DecisionTerms {
        run_types: run_types::allowed(app),
        reply_within_ms: settings.decision_timeout.ms(),
        depth,
        model: None,
    }));
    Ok(frame)
}
