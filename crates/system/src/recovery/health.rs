//! How many objects lack a piece, over time.

use resilver_kernel::stats::Timeline;
use resilver_units::SimTime;

use super::work::{Copies, RecoveryWork};

/// The pieces that every affected object has, and how many objects are degraded.
#[derive(Clone, Debug)]
pub(super) struct Health {
    /// As far as the system knows.
    copies: Vec<Copies>,
    /// How many fewer of each object's pieces there are than that; empty where the system knows all.
    undetected: Vec<i8>,
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
            undetected: Vec::new(),
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

    /// The pieces that an object has, whether the system knows it or not.
    #[inline]
    fn present(&self, subject: u32) -> Copies {
        let Copies { full, left } = self.copies[subject as usize];
        let fewer = self.undetected.get(subject as usize).copied().unwrap_or(0);
        Copies { full, left: left.saturating_add_signed(-fewer) }
    }

    /// The pieces of an object, as far as the system knows.
    pub fn copies(&self, subject: u32) -> Copies {
        self.copies[subject as usize]
    }

    /// Devices have failed or come back: objects have these pieces as far as the system knows, and so many fewer in truth.
    pub fn change(&mut self, now: SimTime, copies: Vec<Copies>, undetected: Vec<i8>) {
        let is_whole = |copies: Copies| copies.full > 0 && !copies.is_degraded();
        let subjects = 0..self.copies.len() as u32;
        let was_whole: Vec<bool> = subjects.clone().map(|subject| is_whole(self.present(subject))).collect();
        (self.copies, self.undetected) = (copies, undetected);
        if subjects.zip(was_whole).any(|(subject, was_whole)| !was_whole && is_whole(self.present(subject))) {
            self.first_redundant_at.get_or_insert(now);
            self.last_redundant_at = Some(now);
        }
        self.count(now);
    }

    /// Counts the degraded objects anew, which have so many fewer pieces than the system knows.
    pub fn count_without(&mut self, now: SimTime, undetected: Vec<i8>) {
        self.undetected = undetected;
        self.count(now);
    }

    fn count(&mut self, now: SimTime) {
        let (mut degraded, mut at_risk) = (0, 0);
        for subject in 0..self.copies.len() as u32 {
            let copies = self.present(subject);
            degraded += i64::from(copies.is_degraded());
            at_risk += i64::from(copies.is_at_risk(self.least(subject)));
        }
        self.degraded.add(now, degraded - self.degraded.level());
        self.at_risk.add(now, at_risk - self.at_risk.level());
    }

    /// A lost piece of an object is there again.
    #[inline]
    pub fn rebuilt(&mut self, now: SimTime, subject: u32) {
        let least = self.least(subject);
        let was_at_risk = self.present(subject).is_at_risk(least);
        self.copies[subject as usize].left += 1;
        let copies = self.present(subject);
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
