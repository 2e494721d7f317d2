//! Where the bars of a run stand: time as places, with long waits folded.

/// A wait that is longer is drawn as a break of a fixed width.
const FOLDED_FROM_MS: i64 = 20_000;

/// The width of a break, in percent of the axis.
const BREAK_SHARE: f64 = 6.0;

/// The room that the words of a tick need, in percent of the axis.
const TICK_SHARE: f64 = 9.0;

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A call of the model.
    Model,
    /// A call of a tool.
    Tool,
    /// Waiting for a person, a timer, a model or a child.
    Wait,
    /// A plan was written.
    Plan,
    /// The run was taken over.
    Recovery,
    /// Another run was begun.
    Child,
}

impl StepKind {
    /// The class of its bar.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Wait => "wait",
            Self::Plan => "plan",
            Self::Recovery => "cut",
            Self::Child => "plan",
        }
    }
}

/// A piece of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSpan {
    /// When it began, in milliseconds.
    pub from: i64,
    /// When it ended.
    pub to: i64,
    /// Whether nothing works in it.
    pub waits: bool,
}

/// How long some pieces of time are, in milliseconds, without others: what overlaps counts once.
#[must_use]
pub fn time_in(spans: &[TimeSpan], without: &[TimeSpan]) -> i64 {
    length(spans.iter().chain(without)) - length(without.iter())
}

fn length<'a>(spans: impl Iterator<Item = &'a TimeSpan>) -> i64 {
    let mut all: Vec<(i64, i64)> = spans.map(|span| (span.from, span.to)).collect();
    all.sort_unstable();
    let (mut total, mut until) = (0, i64::MIN);
    for (from, to) in all {
        total += (to - from.max(until)).max(0);
        until = until.max(to);
    }
    total
}

/// The axis of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAxis {
    begin: i64,
    end: i64,
    /// The waits that are folded, in order and apart.
    folds: Vec<(i64, i64)>,
}

impl TimeAxis {
    /// The axis of these pieces of time, on which long waits have their whole length. A stretch in
    /// which the run was not there, as before a fork, is folded all the same.
    #[must_use]
    pub fn unfolded(spans: &[TimeSpan], gap: Option<TimeSpan>) -> Self {
        let awake = spans.iter().map(|span| TimeSpan { waits: false, ..*span });
        Self::of(&awake.chain(gap).collect::<Vec<_>>())
    }

    /// The axis of these pieces of time.
    #[must_use]
    pub fn of(spans: &[TimeSpan]) -> Self {
        let begin = spans.iter().map(|span| span.from).min().unwrap_or(0);
        let end = spans.iter().map(|span| span.to).max().unwrap_or(0).max(begin + 1);
        let mut folds: Vec<(i64, i64)> = spans
            .iter()
            .filter(|span| span.waits && span.to - span.from > FOLDED_FROM_MS)
            .map(|span| (span.from, span.to))
            .collect();
        folds.sort_unstable();
        folds.dedup_by(|later, earlier| {
            let overlaps = later.0 < earlier.1;
            if overlaps {
                earlier.1 = earlier.1.max(later.1);
            }
            overlaps
        });
        Self { begin, end, folds }
    }

    /// The folded waits: where each begins, in percent, and how long it is.
    #[must_use]
    pub fn breaks(&self) -> Vec<(f64, i64)> {
        self.folds.iter().map(|(from, to)| (self.place(*from), to - from)).collect()
    }

    /// The length of a break, in percent.
    #[must_use]
    pub fn break_width(&self) -> f64 {
        let room = 100.0 / (self.folds.len().max(1) as f64);
        BREAK_SHARE.min(room / 2.0)
    }

    /// The place of a moment, in percent.
    #[must_use]
    pub fn place(&self, at: i64) -> f64 {
        let at = at.clamp(self.begin, self.end);
        let folded: i64 = self.folds.iter().map(|(from, to)| to - from).sum();
        let worked = (self.end - self.begin - folded).max(1) as f64;
        let breaks = self.break_width() * self.folds.len() as f64;
        let scale = (100.0 - breaks) / worked;
        let mut place = 0.0;
        let mut from = self.begin;
        for (fold_from, fold_to) in &self.folds {
            if at <= *fold_from {
                return place + (at - from) as f64 * scale;
            }
            place += (fold_from - from) as f64 * scale;
            if at < *fold_to {
                let share = (at - fold_from) as f64 / (fold_to - fold_from) as f64;
                return place + share * self.break_width();
            }
            place += self.break_width();
            from = *fold_to;
        }
        (place + (at - from) as f64 * scale).min(100.0)
    }

    /// Round moments of the first stretch of work, in milliseconds from the beginning: those for
    /// whose words there is room before the first break.
    #[must_use]
    pub fn ticks(&self) -> Vec<i64> {
        let first = self.folds.first().map_or(self.end, |(from, _)| *from) - self.begin;
        let step = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000]
            .into_iter()
            .find(|step| first / step <= 3)
            .unwrap_or(3_600_000);
        let place = |at: i64| self.place(self.begin + at);
        let room = place(first);
        let (mut ticks, mut last) = (vec![0], 0.0);
        for at in (1..=first / step).map(|n| n * step).filter(|at| *at < first) {
            if place(at) - last >= TICK_SHARE && room - place(at) >= TICK_SHARE {
                last = place(at);
                ticks.push(at);
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: i64, to: i64, waits: bool) -> TimeSpan {
        TimeSpan { from, to, waits }
    }

    #[test]
    fn without_long_waits_time_is_even() {
        let axis = TimeAxis::of(&[span(0, 1_000, false), span(1_000, 2_000, false)]);
        assert!((axis.place(1_000) - 50.0).abs() < 0.01);
        assert_eq!(axis.breaks(), vec![]);
    }

    #[test]
    fn a_wait_of_two_days_leaves_the_work_readable() {
        let days = 172_800_000;
        let axis = TimeAxis::of(&[
            span(0, 1_000, false),
            span(1_000, days, true),
            span(days, days + 1_000, false),
        ]);
        assert!((axis.place(1_000) - 47.0).abs() < 0.01, "{}", axis.place(1_000));
        assert!((axis.place(days) - 53.0).abs() < 0.01, "{}", axis.place(days));
        assert!((axis.place(days + 1_000) - 100.0).abs() < 0.01);
        assert_eq!(axis.breaks().len(), 1);
    }

    #[test]
    fn a_tick_without_room_before_a_break_has_no_words() {
        let early = TimeAxis::of(&[
            span(0, 900, false),
            span(900, 90_000, true),
            span(90_000, 99_000, false),
        ]);
        assert_eq!(early.ticks(), [0]);
        let even = TimeAxis::of(&[span(0, 900, false)]);
        assert_eq!(even.ticks(), [0, 500]);
    }

    #[test]
    fn time_that_overlaps_is_counted_once_and_what_is_left_out_not_at_all() {
        let spans = [span(0, 100, true), span(50, 150, true), span(200, 300, true)];
        assert_eq!(time_in(&spans, &[]), 250);
        assert_eq!(time_in(&spans, &[span(140, 250, true), span(400, 500, true)]), 190);
        assert_eq!(time_in(&[], &spans), 0);
    }

    #[test]
    fn the_time_before_a_fork_is_folded_even_where_waits_are_not() {
        let (work, gap) =
            ([span(0, 1_000, false), span(700_000, 701_000, false)], span(1_000, 700_000, true));
        let axis = TimeAxis::unfolded(&work, Some(gap));
        assert!((axis.place(1_000) - 47.0).abs() < 0.01, "{}", axis.place(1_000));
        assert_eq!(axis.breaks().len(), 1);
    }

    #[test]
    fn places_grow_with_time_however_waits_overlap() {
        let axis = TimeAxis::of(&[
            span(0, 500, false),
            span(400, 30_000, true),
            span(20_000, 60_000, true),
            span(60_000, 61_000, false),
        ]);
        let places: Vec<f64> = (0..=61).map(|n| axis.place(n * 1_000)).collect();
        assert!(places.windows(2).all(|pair| pair[0] <= pair[1]), "{places:?}");
        assert_eq!(axis.breaks().len(), 1);
    }
}
