//! A run's time in three periods: before its first fault, during the faults and the recovery, and after it.
//!
//! What clients get beside a rebuild says something of the rebuild only if neither the time before the failure nor the time
//! after the last piece is mixed into it.

use resilver_units::{Bytes, SimDuration, SimTime};

use super::outcome::{Counts, Delays};

/// Part of a run's time, by what its faults do then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Period {
    /// Nothing has failed yet.
    #[default]
    Before,
    /// From the first fault to the last piece made; where nothing is to be made, to the last repair, or the run's end.
    During,
    /// All that could be recovered is.
    After,
}

impl Period {
    /// All periods, in the order of their times.
    pub const ALL: [Period; 3] = [Period::Before, Period::During, Period::After];
}

/// What clients got in one period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeriodOutcome {
    /// How much of the period lies within the time of statistics.
    pub window: SimDuration,
    /// Requests by what became of them.
    pub counts: Counts,
    /// Reads completed.
    pub reads: Delays,
    /// Writes completed.
    pub writes: Delays,
}

impl PeriodOutcome {
    /// Of both, in the same period.
    pub(super) fn with(self, other: &PeriodOutcome) -> PeriodOutcome {
        PeriodOutcome {
            window: other.window,
            counts: self.counts.with(other.counts),
            reads: self.reads.with(&other.reads),
            writes: self.writes.with(&other.writes),
        }
    }

    /// Of the whole time, of what was got in each period of it.
    pub(crate) fn of_all(periods: &[PeriodOutcome; 3]) -> PeriodOutcome {
        periods.iter().fold(PeriodOutcome::default(), |sum, period| {
            let window = sum.window + period.window;
            PeriodOutcome { window, ..sum.with(period) }
        })
    }

    /// Data read and written by clients a second; `None` where the period has no time.
    pub fn per_second(&self, bytes: Bytes) -> Option<f64> {
        let seconds = self.window.seconds();
        (seconds > 0.0).then(|| bytes.get() as f64 / seconds)
    }
}

/// What several classes of requests got in each period together.
pub(crate) fn together<'a>(classes: impl Iterator<Item = &'a [PeriodOutcome; 3]> + Clone) -> [PeriodOutcome; 3] {
    Period::ALL.map(|period| {
        let of_period = classes.clone().map(|periods| &periods[period as usize]);
        of_period.fold(PeriodOutcome::default(), |sum, of_class| sum.with(of_class))
    })
}

/// What is counted of each period.
#[derive(Clone, Debug, Default)]
pub(super) struct Periods {
    outcomes: [PeriodOutcome; 3],
    current: Period,
    /// When the current period, or statistics where they began later, began.
    since: SimTime,
}

impl Periods {
    pub fn current(&self) -> Period {
        self.current
    }

    /// What is counted now.
    #[inline]
    pub fn counted(&mut self) -> &mut PeriodOutcome {
        &mut self.outcomes[self.current as usize]
    }

    /// Leaves out what was before `now`.
    pub fn begin(&mut self, now: SimTime) {
        *self = Periods { current: self.current, since: now, ..Periods::default() };
    }

    /// Another period begins.
    pub fn enter(&mut self, now: SimTime, period: Period) {
        let since = self.since;
        self.counted().window += now.since(since);
        (self.current, self.since) = (period, now);
    }

    /// What each period came to, up to `end`.
    pub fn outcomes(&self, end: SimTime) -> [PeriodOutcome; 3] {
        let mut closed = self.clone();
        closed.enter(end, self.current);
        closed.outcomes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_counts_from_the_beginning_of_statistics() {
        // Statistics begin at 2, the fault comes at 5 and all is whole at 9 of 12: 3, 4 and 3 of the 10 that count.
        let at = |time: u64| SimTime::ZERO + SimDuration::from_picoseconds(time);
        let mut periods = Periods::default();
        periods.counted().counts.lost += 1;
        periods.begin(at(2));
        periods.enter(at(5), Period::During);
        periods.counted().counts.lost += 2;
        periods.enter(at(9), Period::After);
        let outcomes = periods.outcomes(at(12));
        assert_eq!(outcomes.clone().map(|period| period.window.picoseconds()), [3, 4, 3]);
        assert_eq!(outcomes.map(|period| period.counts.lost), [0, 2, 0]);
    }
}
