//! Lanes: the queues of a port or a device that classes of traffic have to themselves, and the order in which it serves them.
//!
//! A lane is a guaranteed share: while all lanes wait, each gets its share of what the port sends. What a lane leaves goes to
//! the others at once, in proportion to their shares. The order is start-time fair queueing (Goyal, Vin and Cheng,
//! "Start-Time Fair Queueing: A Scheduling Algorithm for Integrated Services Packet Switching Networks" (1996)), which needs
//! neither the port's rate nor clocks, and whose fairness holds whatever the rate does:
//!
//! - A unit (a packet, a message or a request) has a start tag: the finish tag of the one before it in its lane, or the port's
//!   virtual time if that is later. Its finish tag is its start tag and its cost / share.
//! - The unit with the lowest start tag is served next; of equal ones that whose lane's turn comes first.
//! - The virtual time is the start tag of the unit in service, and the highest finish tag of all when the port runs empty.
//!
//! So a lane that was idle begins at the present virtual time: it has saved nothing up, and is next behind the unit in service.
//! One that was alone is not held to what it took meanwhile. Between two lanes that both wait, cost / share never differs by
//! more than one unit's of each.

mod ports;
mod usage;

pub use ports::{LanePorts, Service, Taken};
pub use usage::LaneUse;

use serde::Deserialize;
use thiserror::Error;

/// Most lanes of a port: lending is counted for each lane and each set of lanes that wait.
pub const LANES_MAX: usize = 8;
/// A whole, in the unit of shares.
pub const MILLIONTHS: u32 = 1_000_000;
/// Largest factor by which a cost counts: that of a millionth beside the rest, which two lanes need exactly.
const FACTOR_MAX: u64 = 1 << 20;

/// In which order a port serves its lanes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneOrder {
    /// A unit of each lane in turn, those that wait with nothing passed over.
    Turns,
    /// So that each gets its share; one without a share gets what all others leave.
    Shares,
    /// The first of these lanes that waits; what is being served is finished.
    Priority(Vec<u8>),
}

/// The lanes of every port of a fabric, or of every device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fractions")]
pub struct Lanes {
    /// Each lane's guaranteed share, in millionths; their proportions alone count.
    pub shares: Vec<u32>,
    /// In which order they are served.
    pub order: LaneOrder,
}

/// Lanes that no port has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LanesError {
    /// No lane, or too many.
    #[error("lanes: {count} lanes are too few or too many; give from 1 to {LANES_MAX}")]
    Count {
        /// Lanes given.
        count: usize,
    },
    /// A share above the whole.
    #[error("lanes.shares = {share} millionths for lane {lane}: a share is at most 1000000; lower it")]
    Share {
        /// The lane.
        lane: usize,
        /// Its share in millionths.
        share: u32,
    },
    /// A share that is no part of a whole.
    #[error("lanes.shares = {share} for lane {lane}: a share is a number from 0 to 1")]
    Fraction {
        /// The lane.
        lane: usize,
        /// Its share.
        share: String,
    },
    /// Nobody is guaranteed anything.
    #[error("lanes.shares are all 0: give at least one lane a share above 0, or set lanes.order = 'priority'")]
    NoShare,
    /// A lane that has no priority, or two.
    #[error("lanes.priority = {priority:?}: name each of the {count} lanes once")]
    Priority {
        /// The lanes in the order given.
        priority: Vec<u8>,
        /// Lanes there are.
        count: usize,
    },
}

/// Lanes by their shares as parts of a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fractions {
    shares: Vec<f64>,
    order: LaneOrder,
}

impl TryFrom<Fractions> for Lanes {
    type Error = LanesError;

    fn try_from(Fractions { shares, order }: Fractions) -> Result<Self, LanesError> {
        let lanes = Lanes { order, ..Lanes::of_shares(&shares)? };
        lanes.check().map(|()| lanes)
    }
}

impl Lanes {
    /// One lane for all.
    pub fn single() -> Self {
        Lanes::in_turns(1)
    }

    /// `count` lanes that are served in turn.
    pub fn in_turns(count: u8) -> Self {
        Lanes { shares: vec![MILLIONTHS / u32::from(count.max(1)); usize::from(count)], order: LaneOrder::Turns }
    }

    /// Lanes of these shares, each a part of a whole.
    ///
    /// A share above zero is a millionth at least.
    ///
    /// ```
    /// use resilver_kernel::lanes::Lanes;
    /// assert_eq!(Lanes::of_shares(&[0.9, 0.1, 0.0]).unwrap().shares, [900_000, 100_000, 0]);
    /// ```
    ///
    /// # Errors
    /// When a share is not from 0 to 1, all are 0, or there are too many.
    pub fn of_shares(fractions: &[f64]) -> Result<Self, LanesError> {
        let millionths = |(lane, &share): (usize, &f64)| match share {
            0.0 => Ok(0),
            // Casting keeps what lies below 2^32, and a share is 1 at most.
            share if (0.0..=1.0).contains(&share) => Ok(((share * f64::from(MILLIONTHS)).round() as u32).max(1)),
            share => Err(LanesError::Fraction { lane, share: share.to_string() }),
        };
        let shares = fractions.iter().enumerate().map(millionths).collect::<Result<Vec<u32>, _>>()?;
        let lanes = Lanes { shares, order: LaneOrder::Shares };
        lanes.check().map(|()| lanes)
    }

    /// The same lanes in an order of strict priority.
    pub fn by_priority(self, priority: Vec<u8>) -> Self {
        Lanes { order: LaneOrder::Priority(priority), ..self }
    }

    /// How many lanes there are.
    pub fn count(&self) -> usize {
        self.shares.len()
    }

    /// A lane's part of the whole.
    pub fn share(&self, lane: usize) -> f64 {
        let whole: u64 = self.shares.iter().map(|&share| u64::from(share)).sum();
        if whole == 0 { 0.0 } else { f64::from(self.shares[lane]) / whole as f64 }
    }

    /// Whether a port can have these lanes.
    ///
    /// # Errors
    /// When their number, a share or the priority is out of its range.
    pub fn check(&self) -> Result<(), LanesError> {
        let count = self.count();
        if !(1..=LANES_MAX).contains(&count) {
            return Err(LanesError::Count { count });
        }
        if let Some((lane, &share)) = self.shares.iter().enumerate().find(|&(_, &share)| share > MILLIONTHS) {
            return Err(LanesError::Share { lane, share });
        }
        match &self.order {
            LaneOrder::Turns => Ok(()),
            LaneOrder::Shares if self.shares.iter().all(|&share| share == 0) => Err(LanesError::NoShare),
            LaneOrder::Shares => Ok(()),
            LaneOrder::Priority(priority) => {
                let mut sorted = priority.clone();
                sorted.sort_unstable();
                let is_each_once = sorted.iter().copied().map(usize::from).eq(0..count);
                let error = || LanesError::Priority { priority: priority.clone(), count };
                if is_each_once { Ok(()) } else { Err(error()) }
            }
        }
    }

    /// What a cost counts by in each lane: in inverse proportion to the shares, and zero where there is none.
    ///
    /// Exact where the least common multiple of the shares allows, as it always does for two lanes; else the lane of the
    /// smallest share counts by [`FACTOR_MAX`], and the others by the nearest whole number to theirs.
    fn factors(&self) -> Vec<u64> {
        let shares: Vec<u64> = self.shares.iter().map(|&share| u64::from(share)).collect();
        let above_zero = || shares.iter().copied().filter(|&share| share > 0);
        let Some(smallest) = above_zero().min() else { return vec![0; shares.len()] };
        let multiple = above_zero().try_fold(1_u64, |multiple, share| {
            let least = u128::from(multiple) * u128::from(share / greatest_divisor(multiple, share));
            u64::try_from(least).ok()
        });
        let factor = |share: u64| match (share, multiple) {
            (0, _) => 0,
            (share, Some(multiple)) if multiple / smallest <= FACTOR_MAX => multiple / share,
            (share, _) => ((FACTOR_MAX * smallest + share / 2) / share).max(1),
        };
        shares.iter().map(|&share| factor(share)).collect()
    }
}

/// The greatest common divisor of two numbers above zero.
fn greatest_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(shares: &[u32]) -> Vec<u64> {
        Lanes { shares: shares.to_vec(), order: LaneOrder::Shares }.factors()
    }

    #[test]
    fn factors_are_in_inverse_proportion_to_the_shares() {
        // Nine times as much at nine times the share.
        assert_eq!(factors(&[900_000, 100_000]), [1, 9]);
        // The least common multiple of 5, 3 and 2 tenths is 30.
        assert_eq!(factors(&[500_000, 300_000, 200_000]), [6, 10, 15]);
        assert_eq!(factors(&[500_000, 0, 500_000]), [1, 0, 1]);
        assert_eq!(factors(&[999_999, 1]), [1, 999_999]);
        assert_eq!(factors(&[0, 0]), [0, 0]);
    }

    #[test]
    fn awkward_shares_keep_their_proportions_to_a_hundred_thousandth() {
        let shares = [345_679, 456_787, 197_534];
        let factors = factors(&shares);
        assert!(factors.iter().all(|&factor| factor <= FACTOR_MAX));
        // The factor 2^20 x 197,534 / 456,787 = 453,448 and more is rounded by half at the most: by 1.1e-6 of it.
        for pair in [(0, 1), (1, 2), (0, 2)] {
            let costs = [pair.0, pair.1].map(|lane| factors[lane] as f64 * f64::from(shares[lane]));
            assert!((costs[0] / costs[1] - 1.0).abs() < 1e-5, "{factors:?}");
        }
    }

    #[test]
    fn lanes_that_no_port_has_are_refused() {
        assert_eq!(Lanes::in_turns(0).check(), Err(LanesError::Count { count: 0 }));
        assert_eq!(Lanes::in_turns(9).check(), Err(LanesError::Count { count: 9 }));
        assert_eq!(Lanes::in_turns(8).check(), Ok(()));
        assert_eq!(Lanes::of_shares(&[0.0, 0.0]), Err(LanesError::NoShare));
        for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(Lanes::of_shares(&[0.5, share]), Err(LanesError::Fraction { lane: 1, .. })), "{share}");
        }
        let shares = Lanes { shares: vec![1_000_001], order: LaneOrder::Turns };
        assert_eq!(shares.check(), Err(LanesError::Share { lane: 0, share: 1_000_001 }));
        for priority in [vec![0], vec![0, 0], vec![0, 2], vec![0, 1, 2]] {
            let lanes = Lanes::in_turns(2).by_priority(priority.clone());
            assert_eq!(lanes.check(), Err(LanesError::Priority { priority, count: 2 }));
        }
        assert_eq!(Lanes::in_turns(2).by_priority(vec![1, 0]).check(), Ok(()));
    }

    #[test]
    fn a_share_above_zero_is_a_millionth_at_least() {
        assert_eq!(Lanes::of_shares(&[1.0, 1e-9]).unwrap().shares, [1_000_000, 1]);
    }
}
