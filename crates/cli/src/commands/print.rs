//! `everloop -p "question"`: the answer alone, for scripts. What comes on stdin is read with it, or
//! is the question if none is given.

use super::front::{self, FrontDoor};
use super::run;
use super::runs;
use crate::args::{PrintArgs, RunArgs, RunOptionArgs, RunsVerb};
use everloop_app::conversation::router;
use everloop_app::frames;
use everloop_app::one_shot::{self, PipedInput};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::{ConversationId, RunId};
use std::io::{IsTerminal, Read};

/// Bytes of the input that are read.
const INPUT_BYTES_MAX: u64 = 400_000;

pub(crate) async fn print(app: &Console, mut args: PrintArgs) -> Result<Exit, Failure> {
    let app = &app.clone().quietly().with_person(false);
    let (question, beside) = match args.question.take() {
        Some(question) => (question, None),
        None => (input(app)?, Some(PipedInput::Goal)),
    };
    if question.trim().is_empty() {
        return Err(Failure { exit: Exit::Usage, words: app.text(text::print::no_question()) });
    }
    if let Some(id) = args.resume.take() {
        return answered(app, id, question, args.output_format).await;
    }
    let continued = match args.continued {
        true => Some(last_conversation(app, &args.how).await?),
        false => None,
    };
    if let Some(conversation) = &continued
        && router(app, "").is_cancel(&question)
    {
        return canceled(app, conversation).await;
    }
    let goal = match front::route(app, &question, &mut args.how, args.output_format).await? {
        FrontDoor::Done(exit) => return Ok(exit),
        FrontDoor::Goal(goal) => goal,
    };
    if let Some(run) = asking(app, continued.as_ref()).await? {
        return answered(app, Some(run.to_string()), question, args.output_format).await;
    }
    let piped = match beside {
        Some(piped) => piped,
        None => PipedInput::beside(&input(app)?),
    };
    let PrintArgs { output_format, how, .. } = args;
    let run = RunArgs { goal: Some(goal), output_format, how, ..RunArgs::default() };
    let conversation = match continued {
        Some(conversation) => conversation,
        None => one_shot::new_conversation(),
    };
    run::run_with(app, run, piped, Some(&conversation)).await
}

/// The conversation of the last question of `-p` in this folder; that of its chat if there was
/// none.
async fn last_conversation(app: &Console, how: &RunOptionArgs) -> Result<ConversationId, Failure> {
    let workspace = app.checked(frames::workspace(how.workspace.as_deref()))?;
    let store = app.open_store().await?;
    app.checked(one_shot::last_conversation(app, &store, &workspace).await)
}

/// Cancels the newest run of the conversation that is under way or waits.
async fn canceled(app: &Console, conversation: &ConversationId) -> Result<Exit, Failure> {
    let store = app.open_store().await?;
    let open = store.conversations().open_runs_of(conversation).await;
    let open = open.map_err(|error| app.store_failure(&error))?;
    drop(store);
    let key = match open.into_iter().next() {
        Some((run, _)) => {
            runs::runs(app, RunsVerb::Cancel { id: run.to_string(), json: false }).await?;
            text::door::canceled()
        }
        None => text::door::nothing_to_cancel(),
    };
    terminal::print_line(&app.text(key));
    Ok(Exit::Done)
}

/// The newest run of the conversation that asks something.
async fn asking(
    app: &Console,
    conversation: Option<&ConversationId>,
) -> Result<Option<RunId>, Failure> {
    let Some(conversation) = conversation else { return Ok(None) };
    let store = app.open_store().await?;
    app.checked(one_shot::asking_run(&store, conversation).await)
}

/// The question of a run is answered, the newest that waits if none is named.
async fn answered(
    app: &Console,
    id: Option<String>,
    answer: String,
    output_format: crate::args::OutputFormat,
) -> Result<Exit, Failure> {
    let id = match id {
        Some(id) => id,
        None => newest(app).await?.to_string(),
    };
    let (answer, to, json) = (Some(answer), None, false);
    runs::runs(app, RunsVerb::Resume { id, answer, to, output_format, json }).await
}

async fn newest(app: &Console) -> Result<RunId, Failure> {
    let store = app.open_store().await?;
    let newest = app.checked(one_shot::newest_run(&store).await)?;
    newest.ok_or_else(|| app.failure(Exit::Usage, text::chat::no_run()))
}

/// What is piped in; nothing from a terminal.
pub(crate) fn input(app: &Console) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| app.failure(Exit::Failed, text::error::system(&error)))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        let most = (INPUT_BYTES_MAX / 1000).to_string();
        let words = app.text(text::print::input_too_long(&most));
        return Err(Failure { exit: Exit::Usage, words });
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
