//! How many objects lack a piece, over time.

use resilver_kernel::stats::Timeline;
use resilver_placement::inverse::FailedSet;
use resilver_units::{DeviceId, SimTime};

use super::Recovery;
use super::homes::HomesScratch;
use super::places::{LOST, NOBODY, device_at, is_there};
use super::work::{Copies, RecoveryWork};
use crate::scan::AffectedObject;
use crate::scenario::faults::Span;

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

impl Recovery {
    /// Devices are gone with nobody told: what they held is missing where the system is to know of it.
    pub(crate) fn lose_undetected(&mut self, now: SimTime) {
        if !self.undetected.is_empty() {
            self.count_missing(now);
        }
    }

    /// Counts the degraded objects anew.
    pub(super) fn count_missing(&mut self, now: SimTime) {
        let undetected = self.undetected_pieces(now);
        self.health.count_without(now, undetected);
    }

    /// How many fewer pieces each object has than the system knows; empty where it knows all.
    ///
    /// Before it knows of any failure what is known of objects is what the first one leaves, so that the pieces it takes are added.
    pub(super) fn undetected_pieces(&self, now: SimTime) -> Vec<i8> {
        let is_now = |&&((since, at), _): &&(Span, DeviceId)| since <= now && now < at;
        let devices: Vec<DeviceId> = self.undetected.iter().filter(is_now).map(|&(_, device)| device).collect();
        let has_begun = self.stages_passed() > 0;
        if devices.is_empty() && has_begun {
            return Vec::new();
        }
        let gone = FailedSet::new(self.devices.len(), &devices);
        let (mut scratch, mut before) = (HomesScratch::default(), vec![NOBODY; self.stride]);
        let mut fewer_of = |(subject, affected): (u32, &AffectedObject)| {
            let mut row = self.row(subject);
            let known = if has_begun { 0 } else { row.iter().filter(|&&place| place == LOST).count() as i8 };
            if known > 0 {
                let before = &mut before[..row.len()];
                self.work.homes.fill(0, affected.object, &mut scratch, before);
                row = before;
            }
            let is_gone = |place: &&u32| is_there(**place) && gone.contains(DeviceId::new(device_at(**place)));
            row.iter().filter(is_gone).count() as i8 - known
        };
        (0..).zip(&self.work.objects).map(&mut fewer_of).collect()
    }
}
