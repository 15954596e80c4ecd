//! How fast a device or a link works: a speed of its own, and a health that changes at known times.

use resilver_units::{SimDuration, SimTime};

use crate::{Purpose, Stream};

const SPEED: Purpose = Purpose::named("speed");

/// How many standard deviations a device's speed is from 1 at the most.
const REACH: f64 = 4.0;

/// How fast a device or a link works over time: work that takes a second at speed 1 takes 1 / s seconds at speed s.
///
/// Work that is under way when the speed changes goes on at the new one.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// What the device's own speed is, whatever its health.
    speed: f64,
    /// From when on it has which health, in the order of time; before the first it is whole.
    health: Vec<(SimTime, f64)>,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { speed: 1.0, health: Vec::new() }
    }
}

impl Pace {
    /// Largest spread: a device four standard deviations below the mean then works at a fifth of its speed.
    pub const SPREAD_MAX: f64 = 0.2;

    /// The pace of a device whose speed is drawn from a normal distribution around 1, cut at four standard deviations.
    ///
    /// `spread` is the standard deviation, from 0 to [`Pace::SPREAD_MAX`]; the draw depends on the seed and the device alone.
    ///
    /// # Examples
    /// ```
    /// use resilver_kernel::Pace;
    /// assert_eq!(Pace::drawn(1, 17, 0.0), Pace::default());
    /// assert!((Pace::drawn(1, 17, 0.02).speed() - 1.0).abs() <= 0.08);
    /// ```
    pub fn drawn(seed: u64, device: u64, spread: f64) -> Self {
        Pace::drawn_again(seed, device, spread, 0)
    }

    /// The pace of the device that stands there after so many replacements, each of which draws its speed anew.
    ///
    /// # Examples
    /// ```
    /// use resilver_kernel::Pace;
    /// assert_eq!(Pace::drawn_again(1, 17, 0.02, 0), Pace::drawn(1, 17, 0.02));
    /// assert_ne!(Pace::drawn_again(1, 17, 0.02, 1), Pace::drawn(1, 17, 0.02));
    /// ```
    pub fn drawn_again(seed: u64, device: u64, spread: f64, replacements: u32) -> Self {
        debug_assert!((0.0..=Pace::SPREAD_MAX).contains(&spread), "spread={spread}");
        if spread <= 0.0 {
            return Pace::default();
        }
        let mut stream = Stream::new(seed, device, SPEED);
        let mut next = || loop {
            let drawn = stream.normal();
            if drawn.abs() <= REACH {
                return drawn;
            }
        };
        for _ in 0..replacements {
            next();
        }
        Pace { speed: 1.0 + spread * next(), health: Vec::new() }
    }

    /// The same device with a health that changes: from each of these times on it has that health, above 0.
    ///
    /// # Panics
    /// When times do not rise, or a health is not above 0 and at most 1.
    #[must_use]
    pub fn with_health(mut self, health: &[(SimTime, f64)]) -> Self {
        assert!(health.windows(2).all(|pair| pair[0].0 < pair[1].0), "times of health rise");
        assert!(health.iter().all(|&(_, health)| health > 0.0 && health <= 1.0), "a device that works has health");
        self.health = health.to_vec();
        self
    }

    /// The device's own speed.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Whether the device always works at speed 1.
    pub fn is_plain(&self) -> bool {
        self.speed == 1.0 && self.health.is_empty()
    }

    /// How long work takes that begins then and would take `work` at speed 1, to the nearest picosecond.
    pub fn time_for(&self, begin: SimTime, work: SimDuration) -> SimDuration {
        let changed = self.health.partition_point(|&(from, _)| from <= begin);
        let mut health = changed.checked_sub(1).map_or(1.0, |last| self.health[last].1);
        let (mut left, mut now) = (work.picoseconds() as f64, begin);
        for &(change, next) in &self.health[changed..] {
            let done = change.since(now).picoseconds() as f64 * self.speed * health;
            if done >= left {
                break;
            }
            (left, now, health) = (left - done, change, next);
        }
        now.since(begin) + SimDuration::from_picoseconds((left / (self.speed * health)).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(picoseconds: u64) -> SimTime {
        SimTime::from_picoseconds(picoseconds)
    }

    fn takes(pace: &Pace, begin: u64, work: u64) -> u64 {
        pace.time_for(at(begin), SimDuration::from_picoseconds(work)).picoseconds()
    }

    #[test]
    fn a_slow_device_takes_as_many_times_as_long() {
        let slow = Pace::default().with_health(&[(at(0), 0.1)]);
        assert_eq!(takes(&slow, 0, 1000), 10_000);
        assert_eq!(takes(&Pace { speed: 0.8, ..Pace::default() }, 7, 1000), 1250);
        // Both: a device of speed 0.8 at health 0.1 works at 0.08.
        assert_eq!(takes(&Pace { speed: 0.8, ..slow }, 0, 1000), 12_500);
        assert_eq!(takes(&Pace::default(), 3, 0), 0);
    }

    #[test]
    fn work_under_way_goes_on_at_the_speed_that_changes() {
        let pace = Pace::default().with_health(&[(at(1000), 0.1), (at(3000), 1.0), (at(5000), 0.5)]);
        // Over with before the change, and just at it.
        assert_eq!((takes(&pace, 0, 999), takes(&pace, 0, 1000)), (999, 1000));
        // 400 before the change; the other 100 take 1000.
        assert_eq!(takes(&pace, 600, 500), 400 + 1000);
        // 400 before, 200 in the 2000 at a tenth, 300 after.
        assert_eq!(takes(&pace, 600, 900), 400 + 2000 + 300);
        // 400, 200, 2000 in the whole time, and the last 400 at half the speed.
        assert_eq!(takes(&pace, 600, 3000), 400 + 2000 + 2000 + 800);
        assert_eq!(takes(&pace, 5000, 10), 20);
    }

    #[test]
    fn work_takes_as_long_in_one_piece_as_in_two() {
        let pace = Pace { speed: 0.93, health: Vec::new() }.with_health(&[(at(500), 0.3), (at(900), 0.7)]);
        for begin in (0..1000).step_by(37) {
            let whole = takes(&pace, begin, 800);
            let first = takes(&pace, begin, 300);
            // Each piece is rounded to a picosecond, and what that shifts is worked at 0.279 at the least: 4 ps.
            assert!(whole.abs_diff(first + takes(&pace, begin + first, 500)) <= 4, "{begin}");
        }
    }

    #[test]
    fn speeds_are_normal_and_never_far_out() {
        let speeds: Vec<f64> = (0..20_000).map(|device| Pace::drawn(5, device, 0.1).speed()).collect();
        let mean = speeds.iter().sum::<f64>() / 20_000.0;
        let variance = speeds.iter().map(|speed| (speed - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Standard deviations: of the mean 0.1 / sqrt(20000) = 7.1e-4, of the variance 0.01 sqrt(2 / 20000) = 1e-4; five of
        // either are a false alarm in 10^6.
        assert!((mean - 1.0).abs() < 3.6e-3, "{mean}");
        assert!((variance - 0.01).abs() < 5e-4, "{variance}");
        assert!(speeds.iter().all(|speed| (speed - 1.0).abs() <= 0.4));
    }
}
