//! When shares of an amount were reached that grows over time and whose end is not known beforehand.

use resilver_units::SimTime;

/// Most points that are kept; beyond them every second one is left out, and so are those between.
const MOST_POINTS: usize = 1 << 13;

/// An amount that grows: its value at points of time.
///
/// A run of fewer than 2^13 additions keeps each of them and tells times exactly. A longer one keeps points that are at most
/// 2^-12 of the amount apart, and tells the time of the first kept point at which a share was reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Curve {
    points: Vec<(SimTime, u64)>,
    total: u64,
    last_at: SimTime,
    /// The least amount between two points.
    step: u64,
}

impl Curve {
    /// The amount grows.
    #[inline]
    pub fn add(&mut self, now: SimTime, amount: u64) {
        self.total += amount;
        self.last_at = now;
        let kept = self.points.last().map_or(0, |&(_, kept)| kept);
        if self.total - kept >= self.step.max(1) {
            self.keep(now);
        }
    }

    fn keep(&mut self, now: SimTime) {
        self.points.push((now, self.total));
        if self.points.len() == MOST_POINTS {
            self.step = (self.total / (MOST_POINTS as u64 / 2)).max(self.step);
            let mut kept = 0;
            self.points.retain(|&(_, value)| {
                let is_far = value - kept >= self.step;
                kept = if is_far { value } else { kept };
                is_far
            });
        }
    }

    /// When `share` of the amount was reached, of 0 to 1; `None` where there is no amount.
    pub fn reached(&self, share: f64) -> Option<SimTime> {
        let wanted = share * self.total as f64;
        let first = self.points.partition_point(|&(_, value)| (value as f64) < wanted);
        (self.total > 0).then(|| self.points.get(first).map_or(self.last_at, |&(time, _)| time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_few_additions_are_exact() {
        let at = SimTime::from_picoseconds;
        let mut curve = Curve::default();
        assert_eq!(curve.reached(0.5), None);
        for (time, amount) in [(3, 10), (5, 0), (9, 80), (20, 10)] {
            curve.add(at(time), amount);
        }
        // 10, 10, 90 and 100: a half is reached by the third addition, 90 % as well, and 91 % by the last.
        let reached = [0.1, 0.5, 0.9, 0.91, 1.0].map(|share| curve.reached(share).unwrap().picoseconds());
        assert_eq!(reached, [3, 9, 9, 20, 20]);
    }

    #[test]
    fn shares_of_many_additions_are_close() {
        // Addition i of one unit comes at i ps, so share s of a million is reached at s x 10^6; points lie 2^-12 apart: 244.
        let mut curve = Curve::default();
        (1..=1_000_000).for_each(|time| curve.add(SimTime::from_picoseconds(time), 1));
        assert!(curve.points.len() < MOST_POINTS);
        for share in [0.01, 0.5, 0.99] {
            let reached = curve.reached(share).unwrap().picoseconds() as f64;
            assert!((0.0..=2.0 * 244.2).contains(&(reached - share * 1e6)), "{share}: {reached}");
        }
        assert_eq!(curve.reached(1.0), Some(SimTime::from_picoseconds(1_000_000)));
    }
}
