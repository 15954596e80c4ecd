//! How many objects lack a copy, over time.

use resilver_kernel::stats::Timeline;
use resilver_units::SimTime;

use crate::work::Copies;

/// The copies of every affected object, or its pieces, and how many objects are degraded.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    copies: Vec<Copies>,
    /// The most copies with which a degraded object is at risk: it may not survive the loss of another.
    least: u16,
    /// Level: objects that can be restored and lack a copy.
    pub degraded: Timeline,
    /// Level: those of them that are at risk.
    pub at_risk: Timeline,
    /// When the first affected object had all its copies again.
    pub first_redundant_at: Option<SimTime>,
    /// When the last one had that has them again.
    pub last_redundant_at: Option<SimTime>,
}

impl Copies {
    /// Whether a copy is missing of an object that is not lost for good.
    fn is_degraded(self) -> bool {
        self.left < self.full
    }

    fn is_at_risk(self, least: u16) -> bool {
        self.is_degraded() && self.left <= least
    }
}

impl Health {
    /// Objects that have these copies once the first devices have failed, and are at risk with `least` or fewer.
    pub fn new(copies: Vec<Copies>, least: u16) -> Self {
        Health {
            copies,
            least,
            degraded: Timeline::new(),
            at_risk: Timeline::new(),
            first_redundant_at: None,
            last_redundant_at: None,
        }
    }

    /// The copies of an object.
    pub fn copies(&self, subject: u32) -> Copies {
        self.copies[subject as usize]
    }

    /// Devices have failed, and objects have these copies.
    pub fn fail(&mut self, now: SimTime, copies: Vec<Copies>) {
        self.copies = copies;
        self.count(now);
    }

    /// Counts the degraded objects anew.
    pub fn count(&mut self, now: SimTime) {
        let degraded = self.copies.iter().filter(|copies| copies.is_degraded()).count() as i64;
        let at_risk = self.copies.iter().filter(|copies| copies.is_at_risk(self.least)).count() as i64;
        self.degraded.add(now, degraded - self.degraded.level());
        self.at_risk.add(now, at_risk - self.at_risk.level());
    }

    /// A lost copy of an object is complete again.
    #[inline]
    pub fn rebuilt(&mut self, now: SimTime, subject: u32) {
        let copies = &mut self.copies[subject as usize];
        let was_at_risk = copies.is_at_risk(self.least);
        copies.left += 1;
        let is_rescued = was_at_risk && !copies.is_at_risk(self.least);
        if copies.left == copies.full {
            self.restored(now, is_rescued);
        } else if is_rescued {
            self.at_risk.add(now, -1);
        }
    }

    /// The last missing copy of an object is complete, which was at risk or not.
    ///
    /// Where one pull settles that for its object, this does not fetch the object's copies: of millions, they are seldom in
    /// the cache.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_needs_one_copy_is_restored_alike_with_and_without_its_copies() {
        // One object has two of three copies left, another one of two, which puts it at risk. Each gets the only copy that
        // it lacks, after 5 and 9 ps.
        let copies = vec![Copies { full: 3, left: 2 }, Copies { full: 2, left: 1 }];
        let at = SimTime::from_picoseconds;
        let (mut plain, mut fast) = (Health::new(copies.clone(), 1), Health::new(copies, 1));
        for health in [&mut plain, &mut fast] {
            health.count(at(0));
            assert_eq!((health.degraded.level(), health.at_risk.level()), (2, 1));
        }
        plain.rebuilt(at(5), 0);
        plain.rebuilt(at(9), 1);
        fast.restored(at(5), false);
        fast.restored(at(9), true);
        assert_eq!((plain.degraded.level(), plain.at_risk.level()), (0, 0));
        assert_eq!((&plain.degraded, &plain.at_risk), (&fast.degraded, &fast.at_risk));
        let times = |health: &Health| (health.first_redundant_at, health.last_redundant_at);
        assert_eq!(times(&plain), (Some(at(5)), Some(at(9))));
        assert_eq!(times(&fast), times(&plain));
    }
}
