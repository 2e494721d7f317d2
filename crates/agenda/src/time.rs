//! Dates, times and repetitions, in phrases and in calendars.
//!
//! ```text
//!   "每周一早上9点" ──dates──► ParsedDate { at, repeat } ──► Series ──► Occurrence, Occurrence, …
//!   "交周报 明天"   ──texts──► ParsedText { title, when, ahead }
//! ```
//!
//! Deliberately absent: clocks (callers pass the time), storage, texts for users.

pub mod ahead;
pub mod cron;
pub mod dates;
pub mod lengths;
pub mod repeat;
pub mod series;
mod spans;
pub mod texts;

mod clock;
mod clock_readings;
mod days;
mod every;
mod guard;
mod holiday_phrases;
mod holidays;
mod leftovers;
mod limits;
mod lunar;
mod meaning;
mod month_days;
mod numeric;
mod offsets;
pub mod optional;
mod quarters;
mod scan;
mod titles;
mod typos;
mod weeks;
mod within;
mod words;

pub use ahead::LeadTime;
pub use cron::{Cron, CronError, CronField};
pub use dates::{ParsedDate, Precision};
pub use every::SpokenRepeat;
pub use leftovers::says_several_times;
pub use repeat::{MonthDay, MonthDays, Repeat, Weekdays};
pub use series::{Occurrence, Series};
pub use texts::{ParsedText, TextSubject, UnclearPhrase};
