//! Flaws.
use super::shown::Shown;
use super::{Mind, speaking};
use everloop_types::Reply;

pub(super) fn reply(_mind: Mind, shown: &Shown<'_>) -> Reply {
    speaking::reply(shown)
}
