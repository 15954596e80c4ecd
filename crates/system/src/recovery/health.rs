//! How many objects lack a piece, over time.

use resilver_kernel::stats::Timeline;
use resilver_units::SimTime;

use super::work::{Copies, RecoveryWork};

/// The pieces that every affected object has, and how many objects are degraded.
#[derive(Clone, Debug)]
pub(super) struct Health {
    copies: Vec<Copies>,
    /// The most pieces with which a degraded object of each pool is at risk: it may not survive the loss of another.
    least: Vec<u8>,
    /// The pool of each object; empty where there is one.
    pool_of: Vec<u16>,
    /// Level: objects that can be restored and lack a piece.
    pub degraded: Timeline,
    /// Level: those of them that are at risk.
    pub at_risk: Timeline,
    /// When the first affected object had all its pieces again.
    pub first_redundant_at: Option<SimTime>,
    /// When the last one had that has them again.
    pub last_redundant_at: Option<SimTime>,
}

impl Copies {
    /// Whether a piece is missing of an object that is not lost for good.
    fn is_degraded(self) -> bool {
        self.left < self.full
    }

    fn is_at_risk(self, least: u8) -> bool {
        self.is_degraded() && self.left <= least
    }
}

impl Health {
    /// Objects that have these pieces once the first devices have failed.
    pub fn new(copies: Vec<Copies>, work: &RecoveryWork) -> Self {
        // Beyond the losses that a code always survives, the next one may be the last.
        let least_of = |&code: &u8| {
            let code = &work.pools[usize::from(code)].code;
            (code.pieces() - code.fault_tolerance()) as u8
        };
        Health {
            copies,
            least: work.code_of.iter().map(least_of).collect(),
            pool_of: work.pool_of.clone(),
            degraded: Timeline::new(),
            at_risk: Timeline::new(),
            first_redundant_at: None,
            last_redundant_at: None,
        }
    }

    #[inline]
    fn least(&self, subject: u32) -> u8 {
        self.least[self.pool_of.get(subject as usize).map_or(0, |&pool| usize::from(pool))]
    }

    /// The pieces of an object.
    pub fn copies(&self, subject: u32) -> Copies {
        self.copies[subject as usize]
    }

    /// Devices have failed or come back, and objects have these pieces.
    pub fn change(&mut self, now: SimTime, copies: Vec<Copies>) {
        let is_whole = |copies: &Copies| copies.full > 0 && !copies.is_degraded();
        if self.copies.iter().zip(&copies).any(|(before, after)| is_whole(after) && !is_whole(before)) {
            self.first_redundant_at.get_or_insert(now);
            self.last_redundant_at = Some(now);
        }
        self.copies = copies;
        self.count(now);
    }

    /// Counts the degraded objects anew.
    pub fn count(&mut self, now: SimTime) {
        let degraded = self.copies.iter().filter(|copies| copies.is_degraded()).count() as i64;
        let is_at_risk = |(subject, copies): &(u32, &Copies)| copies.is_at_risk(self.least(*subject));
        let at_risk = (0..).zip(&self.copies).filter(is_at_risk).count() as i64;
        self.degraded.add(now, degraded - self.degraded.level());
        self.at_risk.add(now, at_risk - self.at_risk.level());
    }

    /// A lost piece of an object is there again.
    #[inline]
    pub fn rebuilt(&mut self, now: SimTime, subject: u32) {
        let least = self.least(subject);
        let copies = &mut self.copies[subject as usize];
        let was_at_risk = copies.is_at_risk(least);
        copies.left += 1;
        let (is_whole, is_rescued) = (copies.left == copies.full, was_at_risk && !copies.is_at_risk(least));
        if is_rescued {
            self.at_risk.add(now, -1);
        }
        if is_whole {
            self.restored(now, false);
        }
    }

    /// The only missing piece of an object is there again, which was at risk or not.
    ///
    /// Where that is known beforehand, this does not fetch the object's pieces: of millions, they are seldom in the cache.
    #[inline]
    pub fn restored(&mut self, now: SimTime, was_at_risk: bool) {
        if was_at_risk {
            self.at_risk.add(now, -1);
        }
        self.degraded.add(now, -1);
        self.first_redundant_at.get_or_insert(now);
        self.last_redundant_at = Some(now);
    }
}
