//! Reservations: which groups may move data at a time.
//!
//! A claim takes a slot of its primary's local reserver, then one slot of the remote reserver of each target, one after another in
//! the order given, and holds what it has while it waits for the next. Messages take no time here; what is said at one time is heard
//! in the order in which it was said.
//!
//! Source: `AsyncReserver.h` and `PeeringState.cc` of Ceph 19. Two of its habits show in results: a claim that still waits for a
//! remote slot does not hear that its local slot was taken from it, and goes on; and one that loses a remote slot while it waits
//! for another gives all up and asks again after the retry interval, where one that moves data already asks again at once.

mod priority;
mod reserver;

pub use priority::{
    FORCED_BACKFILL, FORCED_RECOVERY, Standing, backfill_priority, deletion_priority, recovery_priority,
};
pub use reserver::{ItemKey, Reserver, Said, Ticket};

use std::collections::{BTreeMap, VecDeque};

/// Who claims: a number its owner gave.
pub type Claimant = u32;

/// What a claim is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    /// Filling OSDs that have no complete piece.
    Backfill,
    /// Recovery by log.
    Recovery,
    /// Deleting a piece that is left over: a local slot alone.
    Deletion,
}

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It comes to this target: its owner lets it ask ([`Reservations::ask_next`]), or refuses it for space by releasing it.
    Asks(Claimant, u32),
    /// It has every slot.
    Held(Claimant),
    /// It had every slot and lost one: it has none now and asks again at once.
    Deferred(Claimant),
    /// It lost a slot while it waited for another: it has none now and asks again after the retry interval.
    Revoked(Claimant),
}

/// For what a claim waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A slot of the local reserver of its primary.
    Local(u32),
    /// A slot of the remote reserver of a target.
    Remote(u32),
    /// Nothing: it has all.
    Nothing,
}

/// One slot that a claim asks for, and the ticket while it has it or waits for it.
#[derive(Debug, Clone, Copy)]
struct Slot {
    osd: u32,
    key: ItemKey,
    ticket: Option<Ticket>,
}

#[derive(Debug, Clone)]
struct Claim {
    kind: ClaimKind,
    priority: i32,
    /// The local one first.
    slots: Vec<Slot>,
    /// How many it has been granted, in order.
    granted: usize,
}

/// The reservers of all OSDs, and the claims under way.
#[derive(Debug, Default)]
pub struct Reservations {
    local: Vec<Option<Reserver>>,
    remote: Vec<Option<Reserver>>,
    claims: BTreeMap<Claimant, Claim>,
    /// Which claim a ticket is of, and which of its slots.
    tickets: BTreeMap<Ticket, (Claimant, usize)>,
    said: VecDeque<Said>,
    next_ticket: Ticket,
    heard: Vec<Said>,
}

impl Reservations {
    /// No OSDs.
    #[must_use]
    pub fn new() -> Self {
        Reservations::default()
    }

    /// An OSD appears, or has other slots from now on.
    pub fn set_osd(&mut self, osd: u32, slots: u32, least: i32) {
        let at = osd as usize;
        for side in [&mut self.local, &mut self.remote] {
            if side.len() <= at {
                side.resize(at + 1, None);
            }
            match &mut side[at] {
                Some(reserver) => reserver.set(slots, least, &mut self.heard),
                none => *none = Some(Reserver::new(slots, least)),
            }
        }
        self.said.extend(self.heard.drain(..));
    }

    /// Begins a claim.
    ///
    /// # Arguments
    /// * `claimant` - who; it must have no claim.
    /// * `local` - the primary and the key of its piece.
    /// * `remotes` - the targets in the order in which they are asked, with the keys of their pieces.
    pub fn request(
        &mut self,
        claimant: Claimant,
        kind: ClaimKind,
        priority: i32,
        local: (u32, ItemKey),
        remotes: impl IntoIterator<Item = (u32, ItemKey)>,
    ) {
        let slots = std::iter::once(local).chain(remotes).map(|(osd, key)| Slot { osd, key, ticket: None }).collect();
        let replaced = self.claims.insert(claimant, Claim { kind, priority, slots, granted: 0 });
        debug_assert!(replaced.is_none(), "a claimant has one claim at a time");
        self.ask(claimant, 0);
    }

    /// Ends a claim: whatever it has or waits for is given up. One that has none is passed over.
    pub fn release(&mut self, claimant: Claimant) {
        let Some(claim) = self.claims.remove(&claimant) else { return };
        for (at, slot) in claim.slots.iter().enumerate() {
            if let Some(ticket) = slot.ticket {
                self.tickets.remove(&ticket);
                if let Some(reserver) = Self::side(&mut self.local, &mut self.remote, at, slot.osd) {
                    reserver.cancel(slot.key, &mut self.heard);
                }
                self.said.extend(self.heard.drain(..));
            }
        }
    }

    /// Another priority of a claim, at its primary alone, as `pg force-backfill` has it.
    pub fn change(&mut self, claimant: Claimant, priority: i32) {
        let Some(claim) = self.claims.get_mut(&claimant) else { return };
        claim.priority = priority;
        let slot = claim.slots[0];
        if slot.ticket.is_some()
            && let Some(reserver) = Self::side(&mut self.local, &mut self.remote, 0, slot.osd)
        {
            reserver.change(slot.key, priority, &mut self.heard);
            self.said.extend(self.heard.drain(..));
        }
    }

    /// Goes on until one claim has a verdict; nothing when all that was said is heard.
    pub fn step(&mut self) -> Option<Verdict> {
        while let Some(said) = self.said.pop_front() {
            let verdict = match said {
                Said::Granted(ticket) => self.granted(ticket),
                Said::Preempted(ticket) => self.preempted(ticket),
            };
            if verdict.is_some() {
                return verdict;
            }
        }
        None
    }

    /// Lets a claim ask for its next slot.
    pub fn ask_next(&mut self, claimant: Claimant) {
        if let Some(next) = self.claims.get(&claimant).map(|claim| claim.granted) {
            self.ask(claimant, next);
        }
    }

    /// For what a claim waits; nothing of one that there is not.
    #[must_use]
    pub fn waits_for(&self, claimant: Claimant) -> Option<WaitsFor> {
        let claim = self.claims.get(&claimant)?;
        Some(match claim.slots.get(claim.granted) {
            Some(slot) if claim.granted == 0 => WaitsFor::Local(slot.osd),
            Some(slot) => WaitsFor::Remote(slot.osd),
            None => WaitsFor::Nothing,
        })
    }

    /// Checks that no reserver gave more than it has.
    ///
    /// # Errors
    /// The sentence of what does not hold.
    pub fn check(&self) -> Result<(), String> {
        for (side, name) in [(&self.local, "local"), (&self.remote, "remote")] {
            for (osd, reserver) in side.iter().enumerate() {
                if let Some(reserver) = reserver.as_ref().filter(|reserver| reserver.held() > reserver.slots()) {
                    let (held, slots) = (reserver.held(), reserver.slots());
                    return Err(format!("osd.{osd} gave {held} {name} slots of {slots}"));
                }
            }
        }
        Ok(())
    }

    /// Claims under way, and slots given out on either side: none of both once all is done.
    #[must_use]
    pub fn outstanding(&self) -> (usize, usize) {
        let held = |side: &[Option<Reserver>]| side.iter().flatten().map(Reserver::held).sum::<usize>();
        (self.claims.len(), held(&self.local) + held(&self.remote))
    }

    fn side<'a>(
        local: &'a mut [Option<Reserver>],
        remote: &'a mut [Option<Reserver>],
        at: usize,
        osd: u32,
    ) -> Option<&'a mut Reserver> {
        let side = if at == 0 { local } else { remote };
        side.get_mut(osd as usize)?.as_mut()
    }

    fn ask(&mut self, claimant: Claimant, at: usize) {
        let Some(claim) = self.claims.get_mut(&claimant) else { return };
        self.next_ticket += 1;
        let ticket = self.next_ticket;
        claim.slots[at].ticket = Some(ticket);
        self.tickets.insert(ticket, (claimant, at));
        let Slot { osd, key, .. } = claim.slots[at];
        if let Some(reserver) = Self::side(&mut self.local, &mut self.remote, at, osd) {
            reserver.request(key, claim.priority, ticket, &mut self.heard);
        }
        self.said.extend(self.heard.drain(..));
    }

    fn granted(&mut self, ticket: Ticket) -> Option<Verdict> {
        let &(claimant, at) = self.tickets.get(&ticket)?;
        let claim = self.claims.get_mut(&claimant)?;
        debug_assert_eq!(claim.granted, at, "slots come one after another");
        claim.granted = at + 1;
        Some(match claim.slots.get(at + 1) {
            Some(next) => Verdict::Asks(claimant, next.osd),
            None => Verdict::Held(claimant),
        })
    }

    fn preempted(&mut self, ticket: Ticket) -> Option<Verdict> {
        let (claimant, at) = self.tickets.remove(&ticket)?;
        let claim = self.claims.get_mut(&claimant)?;
        claim.slots[at].ticket = None;
        let moves = claim.granted == claim.slots.len();
        if moves {
            self.release(claimant);
            return Some(Verdict::Deferred(claimant));
        }
        if at > 0 && claim.kind == ClaimKind::Backfill {
            self.release(claimant);
            return Some(Verdict::Revoked(claimant));
        }
        None
    }
}
