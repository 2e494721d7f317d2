//! All checks.

mod arrows;
mod attempts;
mod docs;
mod fault_matrix;
mod leftovers;
mod messages;
mod named_tests;
mod names;
mod profiles;
mod purity;
mod references;
mod sizes;
mod test_programs;
mod traces;
mod types;
mod user_text;

pub use arrows::check_arrows;
pub use attempts::check_attempts;
pub use docs::check_docs;
pub use fault_matrix::check_fault_matrix;
pub use leftovers::check_leftovers;
pub use messages::check_messages;
pub use named_tests::check_named_tests;
pub use names::check_names;
pub use profiles::check_profiles;
pub use purity::check_purity;
pub use references::check_references;
pub use sizes::check_sizes;
pub use test_programs::check_test_programs;
pub use traces::check_traces;
pub use types::check_types;
pub use user_text::check_user_text;

use crate::{Complaint, Tree};

/// Runs every check; sorted by path and line.
#[must_use]
pub fn check_all(tree: &Tree) -> Vec<Complaint> {
    let checks: [fn(&Tree) -> Vec<Complaint>; 16] = [
        check_arrows,
        check_docs,
        check_attempts,
        check_fault_matrix,
        check_messages,
        check_leftovers,
        check_named_tests,
        check_names,
        check_profiles,
        check_purity,
        check_references,
        check_sizes,
        check_test_programs,
        check_traces,
        check_types,
        check_user_text,
    ];
    let mut complaints: Vec<Complaint> = checks.iter().flat_map(|check| check(tree)).collect();
    complaints.sort();
    complaints.dedup();
    complaints
}

/// A page that a check reads is not there: a check of nothing would find nothing.
fn without_page(tree: &Tree, page: &str) -> Vec<Complaint> {
    let root = tree.file("Cargo.toml");
    root.map(|root| root.complain(1, format!("{page} is not there; a check reads it")))
        .into_iter()
        .collect()
}

/// What a check reports about the given files, one line each.
#[cfg(test)]
fn said(check: fn(&Tree) -> Vec<Complaint>, files: &[(&str, &str)]) -> Vec<String> {
    check(&Tree::made_of(files)).iter().map(ToString::to_string).collect()
}
