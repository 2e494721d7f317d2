//! Errors of copies of the data as sentences and exit codes.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use everloop_app::copies::CopyError;
use everloop_app::error::chain;
use everloop_store::{OpenError, StoreError};
use everloop_text as text;
use std::path::Path;

/// Why there is no copy, or no way back to one.
pub(super) fn of_copy(app: &Console, error: &CopyError) -> Failure {
    let (exit, text) = match error {
        CopyError::Server => (Exit::Usage, text::backup::server()),
        CopyError::NoDatabase(file) => (Exit::Data, text::backup::nothing(&file.display())),
        CopyError::Exists(file) => (Exit::Usage, text::backup::exists(&file.display())),
        CopyError::NotCopied { file, cause } => {
            (Exit::Data, text::backup::failed(&file.display(), cause))
        }
        CopyError::NoFile(copy) => (Exit::Usage, text::restore::no_file(&copy.display())),
        CopyError::SameFile(copy) => (Exit::Usage, text::restore::same(&copy.display())),
        CopyError::Refused { copy, source } => return refused(app, copy, source),
        CopyError::Newer { copy, schema } => {
            (Exit::Data, text::restore::newer(&copy.display(), schema))
        }
        CopyError::Driven(holder) => (Exit::Data, text::restore::driven(&holder.pid)),
        CopyError::NotRestored { database, cause } => {
            (Exit::Data, text::restore::failed(&database.display(), cause))
        }
    };
    app.failure(exit, text)
}

fn refused(app: &Console, copy: &Path, error: &StoreError) -> Failure {
    let text = match error {
        StoreError::Open(OpenError::NewerSchema { .. }) => text::restore::newer,
        StoreError::Open(OpenError::NotOurs { altered: Some(_), .. }) => text::restore::altered,
        StoreError::Open(OpenError::NotOurs { .. }) => text::restore::not_ours,
        _ => text::restore::damaged,
    };
    app.failure(Exit::Data, text(&copy.display(), &chain(error)))
}
