//! The mean over time of a level that steps.

use resilver_units::SimTime;

/// The time mean and the peak of a level (a queue's length, bytes in flight) that changes in steps.
///
/// The integral is kept exactly, as an integer, so the mean does not depend on how time was cut into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeMean {
    start: SimTime,
    since: SimTime,
    level: i64,
    peak: i64,
    /// Level times picoseconds, from `start` to `since`.
    integral: i128,
}

impl TimeMean {
    /// A level of zero from `start` on.
    pub const fn new(start: SimTime) -> Self {
        TimeMean { start, since: start, level: 0, peak: 0, integral: 0 }
    }

    /// Raises the level by `change` at `time`, which is no earlier than the change before.
    #[inline]
    pub fn add(&mut self, time: SimTime, change: i64) {
        debug_assert!(time >= self.since, "{time} is before the last change, at {}", self.since);
        self.integral += i128::from(self.level) * i128::from(time.since(self.since).picoseconds());
        self.since = time;
        self.level += change;
        self.peak = self.peak.max(self.level);
    }

    /// The level after the last change.
    pub const fn level(&self) -> i64 {
        self.level
    }

    /// The highest level so far, at least zero.
    pub const fn peak(&self) -> i64 {
        self.peak
    }

    /// Level times seconds from the start to `end`, which is no earlier than the last change.
    pub fn level_seconds(&self, end: SimTime) -> f64 {
        let open = i128::from(self.level) * i128::from(end.since(self.since).picoseconds());
        (self.integral + open) as f64 * 1e-12
    }

    /// The mean level from the start to `end`, which is no earlier than the last change; `None` over no time.
    pub fn mean(&self, end: SimTime) -> Option<f64> {
        let elapsed = end.since(self.start).picoseconds();
        let open = i128::from(self.level) * i128::from(end.since(self.since).picoseconds());
        (elapsed > 0).then(|| (self.integral + open) as f64 / elapsed as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_weighs_each_level_by_its_time() {
        // From 10: level 0 for 10 ps, 4 for 20 ps, 1 for 10 ps: (0 + 80 + 10) / 40 = 2.25.
        let at = SimTime::from_picoseconds;
        let mut mean = TimeMean::new(at(10));
        mean.add(at(20), 4);
        mean.add(at(40), -3);
        assert_eq!(mean.mean(at(50)), Some(2.25));
        assert_eq!((mean.level(), mean.peak()), (1, 4));
        assert!((mean.level_seconds(at(50)) - 90e-12).abs() < 1e-24);
    }

    #[test]
    fn no_time_has_no_mean() {
        assert_eq!(TimeMean::new(SimTime::ZERO).mean(SimTime::ZERO), None);
    }

    #[test]
    fn the_largest_levels_and_times_do_not_overflow() {
        // 2^62 bytes in flight for 2^63 ps: an integral of 2^125, of which the mean is 2^62 again.
        let mut mean = TimeMean::new(SimTime::ZERO);
        mean.add(SimTime::ZERO, 1 << 62);
        assert_eq!(mean.mean(SimTime::from_picoseconds(1 << 63)), Some((1_u64 << 62) as f64));
    }
}
