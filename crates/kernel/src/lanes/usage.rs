//! What lanes did: what each sent, how long it kept ports busy and waited, and what it lent to others.

use resilver_units::{Bytes, SimTime};

use super::{LANES_MAX, Lanes};

/// Picoseconds in a second.
const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// What one lane did at all ports of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneUse {
    /// Data whose sending or serving began, with what it takes beside.
    pub bytes: Bytes,
    /// Packets, messages or requests.
    pub units: u64,
    /// Time in which a port was at it, in picoseconds; of many ports the sum passes what one run's time can.
    pub busy_picoseconds: u128,
    /// Time that its units waited for their turn, in picoseconds, also of those that still do.
    pub waited_picoseconds: u128,
    /// What it lent to each lane: its share of what that lane sent while it had nothing that waited.
    pub lent_bytes: Vec<Bytes>,
}

impl LaneUse {
    /// Time in which a port was at it, in seconds.
    pub fn busy_seconds(&self) -> f64 {
        self.busy_picoseconds as f64 / PICOSECONDS_PER_SECOND
    }

    /// Mean time that a unit waited for its turn, in seconds; `None` where there was none.
    pub fn mean_wait_seconds(&self) -> Option<f64> {
        let waited = self.waited_picoseconds as f64 / PICOSECONDS_PER_SECOND;
        (self.units > 0).then(|| waited / self.units as f64)
    }

    /// Adds what the same lanes did elsewhere, lane by lane; `sum` may be empty.
    pub fn add_all(sum: &mut Vec<LaneUse>, others: &[LaneUse]) {
        if sum.len() < others.len() {
            sum.resize_with(others.len(), LaneUse::default);
        }
        for (lane, other) in sum.iter_mut().zip(others) {
            lane.bytes += other.bytes;
            lane.units += other.units;
            lane.busy_picoseconds += other.busy_picoseconds;
            lane.waited_picoseconds += other.waited_picoseconds;
            lane.lent_bytes.resize(lane.lent_bytes.len().max(other.lent_bytes.len()), Bytes::ZERO);
            for (lent, &more) in lane.lent_bytes.iter_mut().zip(&other.lent_bytes) {
                *lent += more;
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    units: u64,
    busy: u128,
    /// The sum of times at which units ceased to wait less that of those at which they began, in picoseconds.
    waited: i128,
    /// Units that wait.
    waiting: u64,
}

impl Count {
    /// Picoseconds that units waited to `now`.
    fn waited_to(&self, now: SimTime) -> u128 {
        let waited = self.waited + i128::from(self.waiting) * i128::from(now.picoseconds());
        u128::try_from(waited).expect("no unit waits for less than no time")
    }
}

/// The counts of all ports together.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Each lane's share in millionths.
    shares: Vec<u32>,
    counts: [Count; LANES_MAX],
    /// Bytes of each lane, by the set of lanes that waited when their sending began.
    bytes: Vec<u64>,
}

impl Tally {
    pub fn new(lanes: &Lanes) -> Self {
        let count = lanes.count();
        // Shares of a whole: what lanes lend is a part of what was sent.
        let shares = (0..count).map(|lane| (lanes.share(lane) * f64::from(super::MILLIONTHS)).round() as u32).collect();
        Tally { shares, counts: [Count::default(); LANES_MAX], bytes: vec![0; count << count] }
    }

    /// Counts a unit whose serving begins, while the lanes of the set `waiting` wait.
    #[inline]
    pub fn count(&mut self, lane: usize, waiting: u8, bytes: u64, busy: u64) {
        let count = &mut self.counts[lane];
        count.units += 1;
        count.busy += u128::from(busy);
        self.bytes[lane << self.shares.len() | usize::from(waiting)] += bytes;
    }

    /// A unit begins to wait.
    #[inline]
    pub fn wait(&mut self, lane: usize, now: SimTime) {
        let count = &mut self.counts[lane];
        count.waiting += 1;
        count.waited -= i128::from(now.picoseconds());
    }

    /// A unit waits no more.
    #[inline]
    pub fn turn_to(&mut self, lane: usize, now: SimTime) {
        let count = &mut self.counts[lane];
        count.waiting -= 1;
        count.waited += i128::from(now.picoseconds());
    }

    /// Takes back what lies ahead of a port that was at this lane.
    pub fn cut(&mut self, lane: usize, ahead: u64) {
        self.counts[lane].busy -= u128::from(ahead);
    }

    /// Begins anew, with what lies ahead of the ports: each port's lane, and when it will be done.
    pub fn begin_anew(&mut self, now: SimTime, ends: impl Iterator<Item = (usize, u64)>) {
        for count in &mut self.counts {
            let waited = -i128::from(count.waiting) * i128::from(now.picoseconds());
            *count = Count { waiting: count.waiting, waited, ..Count::default() };
        }
        self.bytes.fill(0);
        for (lane, end) in ends {
            self.counts[lane].busy += u128::from(end.saturating_sub(now.picoseconds()));
        }
    }

    /// What each lane did to `now`; `ends` as before.
    pub fn uses(&self, now: SimTime, ends: impl Iterator<Item = (usize, u64)>) -> Vec<LaneUse> {
        let lanes = self.shares.len();
        let of_lane = |lane: usize| &self.bytes[lane << lanes..(lane + 1) << lanes];
        let lent_to = |lender: usize, borrower: usize| {
            let without = of_lane(borrower).iter().enumerate().filter(|(waiting, _)| waiting >> lender & 1 == 0);
            let sent: u128 = without.map(|(_, &bytes)| u128::from(bytes)).sum();
            let lent = sent * u128::from(self.shares[lender]) / u128::from(super::MILLIONTHS);
            // A share of a sum that fits into a word fits as well.
            Bytes::new(if lender == borrower { 0 } else { lent as u64 })
        };
        let mut uses: Vec<LaneUse> = (0..lanes)
            .map(|lane| LaneUse {
                bytes: Bytes::new(of_lane(lane).iter().sum()),
                units: self.counts[lane].units,
                busy_picoseconds: self.counts[lane].busy,
                waited_picoseconds: self.counts[lane].waited_to(now),
                lent_bytes: (0..lanes).map(|borrower| lent_to(lane, borrower)).collect(),
            })
            .collect();
        for (lane, end) in ends {
            uses[lane].busy_picoseconds -= u128::from(end.saturating_sub(now.picoseconds()));
        }
        uses
    }
}
