//! Todos and the schedule, to and from other programs' files.

use everloop_agenda::portable::{PortableContent, exchange_words};
use everloop_app::exchange;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use std::path::Path;

/// `todo export`, `schedule export`: into a file that was not there, or to stdout.
pub(crate) async fn export(
    app: &Console,
    what: PortableContent,
    file: Option<&Path>,
) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let text = exchange::export(&app.reader(), &store, what).await;
    let text = text.map_err(|error| app.fail(error))?;
    match file {
        None => terminal::data(text.trim_end_matches('\n')),
        Some(file) => {
            exchange::write_new(file, &text).map_err(|error| app.fail(error))?;
            app.note(text::chat::written(&file.display()));
        }
    }
    Ok(Exit::Done)
}

/// `todo import`, `schedule import`.
pub(crate) async fn import(
    app: &Console,
    what: PortableContent,
    file: &Path,
) -> Result<Exit, Failure> {
    let store = app.open_to_read().await?;
    let reader = app.reader();
    let done = exchange::import(app, &reader, &store, what, file).await;
    let done = done.map_err(|error| app.fail(error))?;
    terminal::print_line(&exchange_words(&reader, &done));
    Ok(Exit::Done)
}
