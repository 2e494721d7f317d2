//! Dates, times and repetitions, as people say them and as calendars count them.
