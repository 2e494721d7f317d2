//! Dates, times and repetitions, as people say them and as calendars count them.
//!
//! ```text
//!   "每周一早上9点" ──dates──► When { at, repeat } ──► Series ──► Occurrence, Occurrence, …
//! ```
//!
//! Deliberately absent: clocks (callers say what time it is), storage, texts for users.

pub mod dates;
pub mod repeat;
pub mod series;

mod clock;
mod days;
mod every;
mod offsets;
mod scan;
mod words;

pub use dates::{Precision, When};
pub use repeat::{MonthDay, Repeat, Weekdays};
pub use series::{Occurrence, Series};
