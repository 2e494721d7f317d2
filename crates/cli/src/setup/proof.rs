//! A model that was chosen is tried, and what it refuses is asked for again, until it answers or
//! the person decides without that. Nothing is written before.

use super::probe::{self, TrialProblem};
use super::{kept, model, naming, tried, with_key};
use everloop_app::frames::default_model;
use everloop_app::models::lists;
use everloop_app::setup::{SetupDraft, full_name, plain_answer};
use everloop_console::{Console, Failure, terminal};
use everloop_text as text;

/// What the person wants after a failure that no other answer mends for certain.
enum NextTry {
    Again,
    Key,
    Name,
    Provider,
    Keep,
    Leave,
}

/// The application with a model that answers, or as the person wants it.
pub(super) async fn proven(app: Console, mut draft: SetupDraft) -> Result<Console, Failure> {
    loop {
        let problem = match probe::tell(&tried(&app, &draft), !draft.is_empty()).await {
            Ok(()) => return kept(&app, draft),
            Err(problem) => problem,
        };
        match mended(&app, &mut draft, problem).await? {
            NextTry::Keep => {
                let app = kept(&app, draft)?;
                terminal::eprint_line(&app.text(text::setup::left_as_is()));
                return Ok(app);
            }
            NextTry::Leave => {
                terminal::eprint_line(&app.text(text::setup::nothing_saved()));
                return Ok(app);
            }
            _ => {}
        }
    }
}

/// Asks for what is to be tried next, and puts it into the draft.
async fn mended(
    app: &Console,
    draft: &mut SetupDraft,
    problem: TrialProblem,
) -> Result<NextTry, Failure> {
    let mut next = match problem {
        TrialProblem::Key => NextTry::Key,
        TrialProblem::Name => NextTry::Name,
        TrialProblem::Other => next_try(app).await,
    };
    loop {
        let is_answered = match next {
            NextTry::Again | NextTry::Keep | NextTry::Leave => true,
            NextTry::Key => another_key(app, draft).await?,
            NextTry::Name => another_name(app, draft).await?,
            NextTry::Provider => another_provider(app, draft).await?,
        };
        if is_answered {
            return Ok(next);
        }
        // Who has no other key may want another model or another provider.
        next = next_try(app).await;
    }
}

async fn next_try(app: &Console) -> NextTry {
    let prompt = app.text(text::setup::next_try());
    let prompt = format!("{} ", terminal::wrapped(prompt.trim_end()));
    loop {
        let Some(said) = terminal::ask(&prompt).await else {
            return NextTry::Leave;
        };
        match plain_answer(&said).as_str() {
            "" => return NextTry::Again,
            "k" => return NextTry::Key,
            "m" => return NextTry::Name,
            "p" => return NextTry::Provider,
            "s" => return NextTry::Keep,
            "q" => return NextTry::Leave,
            _ => terminal::eprint_line(&app.text(text::setup::not_understood(&"k, m, p, s, q"))),
        }
    }
}

fn provider_of(app: &Console, draft: &SetupDraft) -> String {
    let name = default_model(&tried(app, draft));
    name.split_once('/').map_or("", |(provider, _)| provider).to_owned()
}

/// Asks for the key again; whether one was given.
async fn another_key(app: &Console, draft: &mut SetupDraft) -> Result<bool, Failure> {
    let provider = provider_of(app, draft);
    let tried = tried(app, draft);
    let Some(wanted) = with_key(&tried, provider.clone(), String::new()).await? else {
        return Ok(false);
    };
    if wanted.key.is_empty() {
        return Ok(false);
    }
    app.checked(draft.set_key(app, &provider, &wanted.key))?;
    Ok(true)
}

/// Asks for the model again, out of those that there are; whether one was named.
async fn another_name(app: &Console, draft: &mut SetupDraft) -> Result<bool, Failure> {
    let provider = provider_of(app, draft);
    let offered = lists::offered(&tried(app, draft), &provider).await;
    let Some(name) = naming::asked(app, &offered).await else { return Ok(false) };
    app.checked(draft.set_model(&full_name(&provider, &name, &offered)))?;
    Ok(true)
}

/// Asks for the provider again; what was answered about the one before is forgotten.
async fn another_provider(app: &Console, draft: &mut SetupDraft) -> Result<bool, Failure> {
    let Some(chosen) = model(app).await? else { return Ok(false) };
    *draft = chosen;
    Ok(true)
}
