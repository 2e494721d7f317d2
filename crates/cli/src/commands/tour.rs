//! Placeholder until the tour is written.
use crate::app::App;
use crate::exit::{Exit, Failure};
pub(crate) async fn tour(_app: &App) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
