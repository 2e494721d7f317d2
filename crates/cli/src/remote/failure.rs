//! Why a server elsewhere did not do it, as a sentence and an exit code.

use everloop_app::error::chain;
use everloop_console::Console;
use everloop_console::{Exit, Failure};
use everloop_remote::RemoteError;
use everloop_text as text;

pub(super) fn of(app: &Console, url: &str, error: &RemoteError) -> Failure {
    let (exit, text) = match error {
        RemoteError::BadAddress(_) => (Exit::Usage, text::remote::bad_address(&url)),
        RemoteError::NotEncrypted(_) => (Exit::Usage, text::remote::not_encrypted(&url)),
        RemoteError::BadToken => (Exit::Configuration, text::remote::bad_token()),
        RemoteError::Unreachable { source, .. } => {
            (Exit::Failed, text::remote::unreachable(&url, &chain(source)))
        }
        RemoteError::Silent(_) => (Exit::Failed, text::remote::silent(&url)),
        RemoteError::NotEverloop(_) => (Exit::Failed, text::remote::not_everloop(&url)),
        RemoteError::OtherVersion { found } => (Exit::Failed, text::remote::other_version(found)),
        RemoteError::Redirected => (Exit::Failed, text::remote::redirected(&url)),
        RemoteError::Client(_) => (Exit::Failed, text::remote::broken(&chain(error))),
        RemoteError::Refused(problem) if problem.code == "unauthorized" => {
            (Exit::Configuration, text::remote::wrong_token(&url))
        }
        RemoteError::Refused(problem) => {
            (exit_of(&problem.code), text::remote::refused(&problem.to_string()))
        }
    };
    app.failure(exit, text)
}

/// The exit code that the command would have had here.
fn exit_of(code: &str) -> Exit {
    match code {
        "not_found" | "invalid_input" | "bad_request" | "bad_cursor" | "event_ahead"
        | "key_reused" | "body_too_large" => Exit::Usage,
        "forbidden_host" | "forbidden_origin" | "model_unavailable" => Exit::Configuration,
        "database_unavailable" | "read_only" | "events_trimmed" => Exit::Data,
        _ => Exit::Failed,
    }
}
