//! Reservations: who gets slots, in which order, and who loses them.

use proptest::prelude::*;
use resilver_ceph::reserve::{
    ClaimKind, ItemKey, Reservations, Reserver, Said, Standing, Verdict, backfill_priority, deletion_priority,
    recovery_priority,
};

fn key(number: u32) -> ItemKey {
    ItemKey::new(0, number, 0)
}

// Rule: a plain pool's priorities are those that Ceph's own test asserts (osd-backfill-prio.sh: 110, 150, 151, 254), and clamped
// where a pool's own priority would leave the band.
#[test]
fn priorities_are_cephs() {
    let misplaced = Standing { acting: 3, size: 3, min_size: 2, degraded: false, without_missing: 3, pool: 0 };
    assert_eq!(backfill_priority(misplaced), 110);
    assert_eq!(backfill_priority(Standing { degraded: true, ..misplaced }), 150);
    assert_eq!(backfill_priority(Standing { degraded: true, acting: 2, ..misplaced }), 151);
    // 220 + (2 - 1) + 10.
    assert_eq!(backfill_priority(Standing { degraded: true, acting: 1, ..misplaced }), 231);
    assert_eq!(recovery_priority(Standing { degraded: true, without_missing: 2, ..misplaced }), 190);
    assert_eq!(recovery_priority(Standing { degraded: true, without_missing: 1, ..misplaced }), 231);
    assert_eq!(resilver_ceph::reserve::FORCED_BACKFILL, 254);
    assert_eq!(resilver_ceph::reserve::FORCED_RECOVERY, 255);
    // 100 + 10 + 10 of a pool of priority 10; one of -10 has the bare 100.
    assert_eq!(backfill_priority(Standing { pool: 10, ..misplaced }), 120);
    assert_eq!(backfill_priority(Standing { pool: -10, ..misplaced }), 100);
    assert_eq!(
        [deletion_priority(false, false), deletion_priority(true, false), deletion_priority(true, true)],
        [179, 219, 255]
    );
    // 220 + 30 + 20 would be 270: the band ends at 253.
    let wide = Standing { acting: 1, size: 40, min_size: 31, degraded: true, without_missing: 1, pool: 10 };
    assert_eq!(backfill_priority(wide), 253);
}

// Rule: highest priority first, and in the order of the requests within one.
#[test]
fn slots_go_by_priority_and_then_in_order() {
    let (mut reserver, mut said) = (Reserver::new(1, 0), Vec::new());
    for (number, priority) in [(1, 110), (2, 110), (3, 110), (4, 110)] {
        reserver.request(key(number), priority, u64::from(number), &mut said);
    }
    assert_eq!(said, [Said::Granted(1)]);
    reserver.change(key(4), 110, &mut said);
    reserver.cancel(key(1), &mut said);
    reserver.cancel(key(2), &mut said);
    assert_eq!(said, [1, 2, 3].map(Said::Granted));
}

// Rule: a higher priority takes the slot of the lowest holder, an equal one does not; nothing below the least is granted.
#[test]
fn higher_priorities_preempt() {
    let (mut reserver, mut said) = (Reserver::new(2, 105), Vec::new());
    reserver.request(key(1), 110, 1, &mut said);
    reserver.request(key(2), 150, 2, &mut said);
    reserver.request(key(3), 110, 3, &mut said);
    reserver.request(key(4), 104, 4, &mut said);
    assert_eq!(said, [Said::Granted(1), Said::Granted(2)]);
    said.clear();
    reserver.request(key(5), 151, 5, &mut said);
    assert_eq!(said, [Said::Preempted(1), Said::Granted(5)]);
    said.clear();
    reserver.cancel(key(2), &mut said);
    reserver.cancel(key(3), &mut said);
    reserver.cancel(key(5), &mut said);
    assert_eq!(said, [Said::Granted(3)]);
    assert_eq!((reserver.held(), reserver.waiting()), (0, 1));
    // Fewer slots take those of the lowest.
    said.clear();
    reserver.set(0, 0, &mut said);
    reserver.set(1, 0, &mut said);
    assert_eq!(said, [Said::Granted(4)]);
}

/// Hears all that is said until nothing more is; targets always have space.
fn settle(reservations: &mut Reservations) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    while let Some(verdict) = reservations.step() {
        match verdict {
            Verdict::Asks(claimant, _) => reservations.ask_next(claimant),
            other => verdicts.push(other),
        }
    }
    verdicts
}

// Rule: two groups that want each other's OSDs, as primary and as target, do not wait for each other for ever.
#[test]
fn groups_that_want_each_others_slots_do_not_deadlock() {
    let mut reservations = Reservations::new();
    (0..4).for_each(|osd| reservations.set_osd(osd, 1, 0));
    // Both want remote slots of 2 and 3; both orders are asked as 2, then 3.
    reservations.request(0, ClaimKind::Backfill, 110, (0, key(0)), [(2, key(0)), (3, key(0))]);
    reservations.request(1, ClaimKind::Backfill, 110, (1, key(1)), [(2, key(1)), (3, key(1))]);
    reservations.request(2, ClaimKind::Backfill, 110, (2, key(2)), [(0, key(2))]);
    reservations.request(3, ClaimKind::Backfill, 110, (3, key(3)), [(0, key(3))]);
    assert_eq!(settle(&mut reservations), [Verdict::Held(2), Verdict::Held(0)]);
    reservations.release(0);
    assert_eq!(settle(&mut reservations), [Verdict::Held(1)]);
    reservations.release(2);
    assert_eq!(settle(&mut reservations), [Verdict::Held(3)]);
    reservations.release(1);
    reservations.release(3);
    assert_eq!((settle(&mut reservations), reservations.outstanding()), (vec![], (0, 0)));
}

// Rule: a claim that moves and loses a slot has none and may ask at once; one that waits for its next slot does not hear of the
// loss of its local one, and one that loses a remote one there asks again later.
#[test]
fn what_a_loss_means_depends_on_where_the_claim_is() {
    let mut reservations = Reservations::new();
    (0..6).for_each(|osd| reservations.set_osd(osd, 1, 0));
    reservations.request(0, ClaimKind::Backfill, 110, (0, key(0)), [(2, key(0))]);
    assert_eq!(settle(&mut reservations), [Verdict::Held(0)]);
    // 1 waits for the slot of 2 that 0 has, and holds its local one.
    reservations.request(1, ClaimKind::Backfill, 110, (1, key(1)), [(2, key(1))]);
    reservations.request(2, ClaimKind::Backfill, 150, (1, key(2)), [(3, key(2))]);
    assert_eq!(settle(&mut reservations), [Verdict::Held(2)]);
    reservations.release(0);
    // It goes on without its local slot.
    assert_eq!(settle(&mut reservations), [Verdict::Held(1)]);
    // 3 holds a remote slot of 3 after 2 has gone, and waits for 2.
    reservations.release(2);
    reservations.request(4, ClaimKind::Backfill, 110, (4, key(4)), [(4, key(4)), (5, key(4))]);
    assert_eq!(settle(&mut reservations), [Verdict::Held(4)]);
    reservations.request(3, ClaimKind::Backfill, 110, (3, key(3)), [(3, key(3)), (5, key(3))]);
    reservations.request(5, ClaimKind::Backfill, 150, (5, key(5)), [(3, key(5))]);
    assert_eq!(settle(&mut reservations), [Verdict::Revoked(3), Verdict::Held(5)]);
    reservations.request(6, ClaimKind::Backfill, 254, (2, key(6)), [(5, key(6))]);
    assert_eq!(settle(&mut reservations), [Verdict::Deferred(4), Verdict::Held(6)]);
}

proptest! {
    // Rule: whatever claims come, each of them is served once those before it are done, no reserver gives more than it has, and in
    // the end nobody holds anything.
    #[test]
    fn every_claim_is_served(
        claims in prop::collection::vec((0..8_u32, prop::collection::btree_set(8..16_u32, 1..4), 100..103_i32), 1..60),
        slots in 1..3_u32,
    ) {
        let mut reservations = Reservations::new();
        (0..16).for_each(|osd| reservations.set_osd(osd, slots, 0));
        let ask = |reservations: &mut Reservations, claimant: u32| {
            let (primary, targets, priority) = &claims[claimant as usize];
            let own = key(claimant);
            reservations.request(claimant, ClaimKind::Backfill, *priority, (*primary, own), targets.iter().map(|&osd| (osd, own)));
        };
        (0..claims.len() as u32).for_each(|claimant| ask(&mut reservations, claimant));
        let mut moving = std::collections::VecDeque::new();
        let mut served = 0;
        loop {
            for verdict in settle(&mut reservations) {
                match verdict {
                    Verdict::Held(claimant) => moving.push_back(claimant),
                    Verdict::Deferred(claimant) | Verdict::Revoked(claimant) => {
                        moving.retain(|&other| other != claimant);
                        ask(&mut reservations, claimant);
                    }
                    Verdict::Asks(..) => {}
                }
            }
            prop_assert_eq!(reservations.check(), Ok(()));
            let Some(claimant) = moving.pop_front() else {
                if settle(&mut reservations).is_empty() { break }
                continue;
            };
            served += 1;
            reservations.release(claimant);
        }
        prop_assert_eq!(served, claims.len());
        prop_assert_eq!(reservations.outstanding(), (0, 0));
    }
}

/// A claim of the twin's.
#[derive(serde::Deserialize)]
struct Drawn {
    at: u64,
    primary: u32,
    targets: Vec<u32>,
    priority: i32,
    kind: String,
    time: u64,
}

/// A case of the twin's, with what happens.
#[derive(serde::Deserialize)]
struct Case {
    osds: u32,
    slots: u32,
    claims: Vec<Drawn>,
    events: Vec<(u64, u32, String)>,
}

/// Claims of given times, which end first at a time, then try again, then come.
struct Play<'c> {
    case: &'c Case,
    reservations: Reservations,
    left: Vec<u64>,
    began: Vec<Option<u64>>,
    retries: Vec<(u64, u32)>,
    events: Vec<(u64, u32, String)>,
}

impl Play<'_> {
    fn ask(&mut self, claimant: u32) {
        let Drawn { primary, targets, priority, kind, .. } = &self.case.claims[claimant as usize];
        let kind = match kind.as_str() {
            "backfill" => ClaimKind::Backfill,
            "recovery" => ClaimKind::Recovery,
            _ => ClaimKind::Deletion,
        };
        let own = key(claimant);
        let remotes = targets.iter().map(|&osd| (osd, own));
        self.reservations.request(claimant, kind, *priority, (*primary, own), remotes);
    }

    fn tell(&mut self, now: u64, claimant: u32, what: &str) {
        self.events.push((now, claimant, what.to_owned()));
    }

    fn settle(&mut self, now: u64) {
        while let Some(verdict) = self.reservations.step() {
            match verdict {
                Verdict::Asks(claimant, _) => self.reservations.ask_next(claimant),
                Verdict::Held(claimant) => {
                    self.began[claimant as usize] = Some(now);
                    self.tell(now, claimant, "held");
                }
                Verdict::Deferred(claimant) => {
                    let at = claimant as usize;
                    self.left[at] -= self.began[at].take().map_or(0, |began| now - began);
                    self.tell(now, claimant, "deferred");
                    self.ask(claimant);
                }
                Verdict::Revoked(claimant) => {
                    self.tell(now, claimant, "revoked");
                    self.retries.push((now + 30, claimant));
                }
            }
        }
        self.reservations.check().unwrap();
    }

    fn run(&mut self) {
        let mut coming: Vec<(u64, u32)> =
            (0..).zip(&self.case.claims).map(|(number, claim)| (claim.at, number)).collect();
        loop {
            let end = |at: usize| self.began[at].map(|began| began + self.left[at]);
            let ends: Vec<(u64, u32)> =
                (0..self.left.len()).filter_map(|at| end(at).map(|end| (end, at as u32))).collect();
            let Some(now) = ends.iter().chain(&self.retries).chain(&coming).map(|entry| entry.0).min() else { return };
            for &(_, claimant) in ends.iter().filter(|entry| entry.0 == now) {
                self.tell(now, claimant, "done");
                self.began[claimant as usize] = None;
                self.reservations.release(claimant);
            }
            self.settle(now);
            let mut due: Vec<u32> = Vec::new();
            for list in [&mut self.retries, &mut coming] {
                let mut of_now: Vec<u32> = list.iter().filter(|entry| entry.0 == now).map(|entry| entry.1).collect();
                of_now.sort_unstable();
                due.extend(of_now);
                list.retain(|entry| entry.0 != now);
            }
            for claimant in due {
                self.ask(claimant);
                self.settle(now);
            }
        }
    }
}

// Rule: on random clusters with given times, what happens to each claim is what the twin in plain Python says, to the event
// (`tests/reference/ceph_reservations.py` writes the cases).
#[test]
fn claims_fare_as_the_twin_says() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("reservations.json")).unwrap();
    assert_eq!(cases.len(), 40);
    for (number, case) in cases.iter().enumerate() {
        let mut reservations = Reservations::new();
        (0..case.osds).for_each(|osd| reservations.set_osd(osd, case.slots, 0));
        let left: Vec<u64> = case.claims.iter().map(|claim| claim.time).collect();
        let began = vec![None; left.len()];
        let mut play = Play { case, reservations, left, began, retries: Vec::new(), events: Vec::new() };
        play.run();
        assert_eq!(play.events, case.events, "case {number}");
        assert_eq!(play.reservations.outstanding(), (0, 0));
    }
}
