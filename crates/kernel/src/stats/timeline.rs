//! How a level and an amount went over the time of a run, in a bounded number of intervals.

use resilver_units::{SimDuration, SimTime};

/// The width of the first intervals, 2^20 ps (about a microsecond); it doubles as the run grows longer.
const FIRST_WIDTH_BITS: u32 = 20;
/// How many intervals are kept unless asked otherwise.
const DEFAULT_INTERVALS: usize = 512;

/// One interval of a [`Timeline`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Where it begins.
    pub start: SimTime,
    /// How long it is.
    pub duration: SimDuration,
    /// The mean over its time of the level.
    pub mean_level: f64,
    /// The sum of the amounts recorded in it.
    pub amount: u64,
    /// How many amounts were recorded in it.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    /// Level times picoseconds.
    integral: i128,
    amount: u64,
    count: u64,
}

impl Bin {
    fn take(&mut self, other: Bin) {
        self.integral += other.integral;
        self.amount += other.amount;
        self.count += other.count;
    }
}

/// A level that changes in steps and an amount that arrives in pieces, over the time from zero, in equal intervals.
///
/// When the time outgrows the intervals, neighbours are joined and each is twice as wide, so there are between a half
/// and all of the number asked for once a run is long enough, however long it is. All sums are whole numbers: how time
/// was cut and in which order timelines were merged does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Intervals are 2^this picoseconds wide.
    width_bits: u32,
    /// The most intervals, an even number.
    most: usize,
    bins: Vec<Bin>,
    since: SimTime,
    level: i64,
}

impl Timeline {
    /// With at most 512 intervals.
    pub fn new() -> Self {
        Timeline::with_intervals(DEFAULT_INTERVALS)
    }

    /// With at most `most` intervals, rounded up to an even number above zero.
    pub fn with_intervals(most: usize) -> Self {
        let most = most.max(1).next_multiple_of(2);
        Timeline { width_bits: FIRST_WIDTH_BITS, most, bins: Vec::with_capacity(most), since: SimTime::ZERO, level: 0 }
    }

    /// Raises the level by `change` at `time`, which is no earlier than the step before.
    #[inline]
    pub fn add(&mut self, time: SimTime, change: i64) {
        self.advance(time);
        self.level += change;
    }

    /// Records that `amount` arrived at `time`, which is no earlier than the step before.
    #[inline]
    pub fn record(&mut self, time: SimTime, amount: u64) {
        self.advance(time);
        let index = self.index_reaching(time);
        self.bins[index].take(Bin { integral: 0, amount, count: 1 });
    }

    /// The level after the last step.
    pub const fn level(&self) -> i64 {
        self.level
    }

    /// Joins what `other` has: levels and amounts add up. Both run on to the later of their times.
    ///
    /// # Panics
    /// When the two keep different numbers of intervals.
    pub fn merge(&mut self, other: &Timeline) {
        assert_eq!(self.most, other.most, "timelines to merge keep the same number of intervals");
        let mut other = other.clone();
        let end = self.since.max(other.since);
        self.advance(end);
        other.advance(end);
        let width_bits = self.width_bits.max(other.width_bits);
        self.widen(width_bits);
        other.widen(width_bits);
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (own, others) in self.bins.iter_mut().zip(&other.bins) {
            own.take(*others);
        }
        self.level += other.level;
    }

    /// The intervals from time zero to `end`, the last one cut off there; `end` is no earlier than the last step.
    ///
    /// What was recorded at `end` itself belongs to the last interval, also where another would begin.
    pub fn intervals(&self, end: SimTime) -> Vec<Interval> {
        let mut whole = self.clone();
        whole.advance(end);
        let width = 1_u64 << whole.width_bits;
        if end.picoseconds() > 0 && end.picoseconds().is_multiple_of(width) {
            let beyond = (end.picoseconds() / width) as usize;
            if let Some(bin) = whole.bins.get(beyond).copied() {
                whole.bins.truncate(beyond);
                whole.bins[beyond - 1].take(bin);
            }
        }
        let interval = |(index, bin): (usize, &Bin)| {
            let start = index as u64 * width;
            let duration = width.min(end.picoseconds() - start);
            Interval {
                start: SimTime::from_picoseconds(start),
                duration: SimDuration::from_picoseconds(duration),
                // No time passes in a timeline that ends where it starts: its level is the one it stands at.
                mean_level: if duration == 0 { whole.level as f64 } else { bin.integral as f64 / duration as f64 },
                amount: bin.amount,
                count: bin.count,
            }
        };
        whole.bins.iter().enumerate().map(interval).collect()
    }

    /// Adds the level's time up to `time` to the intervals it crosses.
    #[inline]
    fn advance(&mut self, time: SimTime) {
        debug_assert!(time >= self.since, "{time} is before the last step, at {}", self.since);
        let (mut from, to) = (self.since.picoseconds(), time.picoseconds());
        if from >= to {
            return;
        }
        let last = self.index_reaching(time);
        let level = i128::from(self.level);
        for index in (from >> self.width_bits) as usize..last {
            let edge = (index as u64 + 1) << self.width_bits;
            self.bins[index].integral += level * i128::from(edge - from);
            from = edge;
        }
        self.bins[last].integral += level * i128::from(to - from);
        self.since = time;
    }

    /// The interval that `time` falls into, with the intervals made to reach it.
    #[inline]
    fn index_reaching(&mut self, time: SimTime) -> usize {
        let index = (time.picoseconds() >> self.width_bits) as usize;
        if index < self.bins.len() { index } else { self.reach(time) }
    }

    #[cold]
    fn reach(&mut self, time: SimTime) -> usize {
        let mut width_bits = self.width_bits;
        while time.picoseconds() >> width_bits >= self.most as u64 {
            width_bits += 1;
        }
        self.widen(width_bits);
        let index = (time.picoseconds() >> width_bits) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        index
    }

    /// Joins neighbours until intervals are 2^`width_bits` wide.
    fn widen(&mut self, width_bits: u32) {
        while self.width_bits < width_bits {
            let joined = self.bins.len().div_ceil(2);
            for index in 0..joined {
                let mut bin = self.bins[2 * index];
                bin.take(self.bins.get(2 * index + 1).copied().unwrap_or_default());
                self.bins[index] = bin;
            }
            self.bins.truncate(joined);
            self.width_bits += 1;
        }
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDTH: u64 = 1 << FIRST_WIDTH_BITS;

    fn at(picoseconds: u64) -> SimTime {
        SimTime::from_picoseconds(picoseconds)
    }

    #[test]
    fn a_level_is_averaged_over_each_interval() {
        // Level 8 from a quarter into the first interval to the middle of the second, over two intervals.
        let mut timeline = Timeline::with_intervals(4);
        timeline.add(at(WIDTH / 4), 8);
        timeline.record(at(WIDTH / 2), 100);
        timeline.add(at(WIDTH + WIDTH / 2), -8);
        timeline.record(at(WIDTH + WIDTH / 2), 30);
        timeline.record(at(2 * WIDTH), 1);
        let got: Vec<_> = timeline.intervals(at(2 * WIDTH)).iter().map(|i| (i.mean_level, i.amount, i.count)).collect();
        assert_eq!(got, [(6.0, 100, 1), (4.0, 31, 2)]);
    }

    #[test]
    fn a_time_beyond_the_intervals_doubles_their_width() {
        // Four intervals reach 4 widths; time 9 widths needs intervals of 4 (reaching 16), of which it fills 3.
        let mut timeline = Timeline::with_intervals(4);
        timeline.record(at(0), 1);
        timeline.record(at(3 * WIDTH), 2);
        timeline.record(at(9 * WIDTH), 4);
        let got: Vec<_> =
            timeline.intervals(at(9 * WIDTH)).iter().map(|i| (i.duration.picoseconds() / WIDTH, i.amount)).collect();
        assert_eq!(got, [(4, 3), (4, 0), (1, 4)]);
    }

    #[test]
    fn an_empty_run_has_no_intervals() {
        assert!(Timeline::new().intervals(SimTime::ZERO).is_empty());
    }

    #[test]
    fn the_horizon_is_within_reach() {
        let mut timeline = Timeline::new();
        timeline.add(at(u64::MAX - 1), 1);
        assert!(timeline.intervals(at(u64::MAX - 1)).len() <= DEFAULT_INTERVALS);
    }

    /// Steps of (time since the one before, change of level, amount).
    fn steps() -> impl Strategy<Value = Vec<(u64, i64, u64)>> {
        prop::collection::vec((0..20 * WIDTH, -50..50_i64, 0..1000_u64), 1..60)
    }

    fn play(steps: &[(u64, i64, u64)]) -> (Timeline, u64) {
        let mut timeline = Timeline::with_intervals(16);
        let mut now = 0;
        for &(gap, change, amount) in steps {
            now += gap;
            timeline.add(at(now), change);
            timeline.record(at(now), amount);
        }
        (timeline, now)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_whatever_the_width(steps in steps()) {
            let (timeline, end) = play(&steps);
            let intervals = timeline.intervals(at(end));
            let (mut level, mut area) = (0, 0);
            for &(gap, change, _) in &steps {
                area += level * gap as i64;
                level += change;
            }
            let got: f64 = intervals.iter().map(|i| i.mean_level * i.duration.picoseconds() as f64).sum();
            if end > 0 {
                // 16 products of 53 bits each.
                prop_assert!((got - area as f64).abs() <= 1e-12 * end as f64 * 3000.0);
                prop_assert_eq!(intervals.iter().map(|i| i.duration.picoseconds()).sum::<u64>(), end);
            }
            prop_assert_eq!(
                intervals.iter().map(|i| i.amount).sum::<u64>(), steps.iter().map(|step| step.2).sum::<u64>()
            );
            prop_assert!(intervals.len() <= 16);
        }

        #[test]
        fn merging_does_not_depend_on_order(left in steps(), right in steps()) {
            let ((left, left_end), (right, right_end)) = (play(&left), play(&right));
            let (mut one, mut other) = (left.clone(), right.clone());
            one.merge(&right);
            other.merge(&left);
            let end = at(left_end.max(right_end));
            prop_assert_eq!(one.intervals(end), other.intervals(end));
        }
    }
}
