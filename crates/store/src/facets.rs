//! The facets of a store: one borrow for each concern, made by the store and free to copy.

use crate::store::Store;

/// Defines each facet and the method of [`Store`] that returns it.
macro_rules! facets {
    ($($(#[$doc:meta])* $name:ident from $method:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name<'a> {
                pub(crate) store: &'a Store,
            }
        )*

        impl Store {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $method(&self) -> $name<'_> {
                    $name { store: self }
                }
            )*
        }
    };
}

facets! {
    /// Journals: appending to them, and reading them back with their frames and settlements.
    Journal from journal;
    /// The queue: creating runs, claiming them, and giving them back.
    RunQueue from queue;
    /// The inboxes of runs: the only way in for a process that does not drive the run.
    RunInbox from inbox;
    /// Messages for channels outside.
    Outbox from outbox;
    /// Conversations: their runs and their messages.
    Conversations from conversations;
    /// Todos, schedules and the reminders that fired.
    AgendaStore from agenda;
    /// Entries of the schedule that start runs, and their firings.
    RunSchedules from run_schedules;
    /// Approvals that apply to later runs too.
    StandingApprovals from approvals;
    /// What people undid of the changes that runs made to files.
    FileUndos from undos;
    /// Answers to requests that carry a key.
    ApiRequests from api_requests;
    /// Facts that later runs are told, and every change of one.
    Facts from facts;
    /// Runs as rows: listing, finding, and their relations.
    RunCatalog from runs;
    /// Retention, copies, moving runs between databases, and health.
    Maintenance from maintenance;
    /// The workers that share this database.
    WorkerRegistry from workers;
}
