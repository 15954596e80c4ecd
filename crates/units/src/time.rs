//! Simulated time in whole picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::Deserialize;

/// One second, in picoseconds.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// A point of simulated time: picoseconds since the start of the run.
///
/// A `u64` of picoseconds reaches 213.5 days. A time past that is [`SimTime::MAX`], the *horizon*: sums saturate there,
/// and the event kernel ends a run with an error when an event would be due at it. Longer horizons belong to the
/// durability methods, which do not simulate every transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "f64")]
#[repr(transparent)]
pub struct SimTime(u64);

/// A length of simulated time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "f64")]
#[repr(transparent)]
pub struct SimDuration(u64);

/// A number of seconds that simulated time cannot express.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// The value is negative, infinite or not a number.
    #[error("{0} s is not a time: it must be a finite number of seconds, zero or more")]
    NotATime(f64),
    /// The value lies beyond the horizon of a `u64` of picoseconds.
    #[error(
        "{0} s is beyond the simulated horizon of 18446744 s (213 days); use the durability methods for longer spans"
    )]
    BeyondHorizon(f64),
}

impl SimTime {
    /// The start of the run.
    pub const ZERO: SimTime = SimTime(0);
    /// The horizon, 213.5 days: no event may be due here.
    pub const MAX: SimTime = SimTime(u64::MAX);

    /// The point `picoseconds` after the start.
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        SimTime(picoseconds)
    }

    /// Picoseconds since the start.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest `f64`.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }

    /// The time since `earlier`, or zero when `earlier` is later.
    pub const fn since(self, earlier: SimTime) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl TryFrom<f64> for SimTime {
    type Error = TimeError;

    /// The point so many seconds after the start.
    fn try_from(seconds: f64) -> Result<Self, TimeError> {
        SimDuration::from_seconds(seconds).map(|after| SimTime::ZERO + after)
    }
}

impl TryFrom<f64> for SimDuration {
    type Error = TimeError;

    fn try_from(seconds: f64) -> Result<Self, TimeError> {
        SimDuration::from_seconds(seconds)
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: SimDuration = SimDuration(0);

    /// A length of `picoseconds`.
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        SimDuration(picoseconds)
    }

    /// A length of `seconds`, rounded to the nearest picosecond.
    ///
    /// # Errors
    /// When `seconds` is negative, not finite, or beyond the horizon.
    pub fn from_seconds(seconds: f64) -> Result<Self, TimeError> {
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(TimeError::NotATime(seconds));
        }
        let picoseconds = (seconds * PICOSECONDS_PER_SECOND as f64).round();
        if picoseconds >= u64::MAX as f64 {
            return Err(TimeError::BeyondHorizon(seconds));
        }
        Ok(SimDuration(picoseconds as u64))
    }

    /// The length in picoseconds.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// The length in seconds, rounded to the nearest `f64`.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
}

/// Saturates at the horizon, where the kernel reports an error.
impl Add<SimDuration> for SimTime {
    type Output = SimTime;
    fn add(self, length: SimDuration) -> SimTime {
        SimTime(self.0.saturating_add(length.0))
    }
}

impl Add for SimDuration {
    type Output = SimDuration;
    fn add(self, other: SimDuration) -> SimDuration {
        SimDuration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for SimDuration {
    fn add_assign(&mut self, other: SimDuration) {
        *self = *self + other;
    }
}

impl Sub for SimDuration {
    type Output = SimDuration;
    fn sub(self, other: SimDuration) -> SimDuration {
        SimDuration(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds())
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_past_the_horizon_stays_at_the_horizon() {
        let late = SimTime::from_picoseconds(u64::MAX - 1);
        assert_eq!(late + SimDuration::from_picoseconds(5), SimTime::MAX);
    }

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        // 4.16 ms is 4,160,000,000 ps although 0.00416 has no exact binary form.
        let length = SimDuration::from_seconds(0.00416).unwrap();
        assert_eq!(length.picoseconds(), 4_160_000_000);
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        assert!(matches!(SimDuration::from_seconds(-1.0), Err(TimeError::NotATime(_))));
        assert!(matches!(SimDuration::from_seconds(f64::NAN), Err(TimeError::NotATime(_))));
        // 2^64 ps is 18,446,744.07 s.
        assert!(matches!(SimDuration::from_seconds(18_446_745.0), Err(TimeError::BeyondHorizon(_))));
        assert!(SimDuration::from_seconds(18_446_743.0).is_ok());
    }
}
