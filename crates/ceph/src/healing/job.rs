//! What a group is about, and what moves for it.

use resilver_units::{SimDuration, SimTime};

use crate::groups::{Moving, Tally};
use crate::plane::WorkId;
use crate::reserve::{ClaimKind, Claimant};

/// The bit that tells the claim of a deletion from that of a group.
const DELETION: Claimant = 1 << 31;

/// Whose claim or work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A group's.
    Group(u32),
    /// A deletion's.
    Deletion(u32),
}

impl Owner {
    pub(crate) fn of(claimant: Claimant) -> Self {
        if claimant & DELETION == 0 { Owner::Group(claimant) } else { Owner::Deletion(claimant & !DELETION) }
    }

    pub(crate) fn claimant(self) -> Claimant {
        match self {
            Owner::Group(group) => group,
            Owner::Deletion(deletion) => deletion | DELETION,
        }
    }
}

/// Why a group does not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// It waits for a local slot of its primary.
    Local(u32),
    /// It waits for a remote slot of a target.
    Remote(u32),
    /// A target has no space.
    Space(u32),
    /// It lost a slot and waits for its next try.
    Retry,
    /// A flag, or an OSD that died and is not down yet, holds it.
    Paused,
}

/// What a group is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Job {
    /// In Ceph's words.
    pub(crate) moving: Moving,
    /// (OSD, position) of those that are filled.
    pub(crate) fill: Vec<(u32, u8)>,
    /// (OSD, position) of those that are recovered by log.
    pub(crate) recover: Vec<(u32, u8)>,
    /// What moves.
    pub(crate) work: Option<WorkId>,
    /// Why nothing moves, and since when.
    pub(crate) waits: Option<(Cause, SimTime)>,
    /// When it asks again.
    pub(crate) retry: Option<SimTime>,
    /// Since when its state has been what it is.
    pub(crate) since: SimTime,
    /// Since when every try was refused for space.
    pub(crate) refused: Option<SimTime>,
    /// When it began to serve, or to serve nobody, and how long it had served before.
    pub(crate) turned: SimTime,
    pub(crate) served: SimDuration,
    /// How long it had served when these OSDs, which have pieces of it, went down.
    pub(crate) away: Vec<(u32, SimDuration)>,
    /// As it was counted last.
    pub(crate) counted: Option<(Tally, Moving)>,
}

impl Job {
    /// What it claims, or will.
    pub(crate) fn kind(&self) -> ClaimKind {
        if self.recover.is_empty() { ClaimKind::Backfill } else { ClaimKind::Recovery }
    }

    /// The OSDs that get objects now.
    pub(crate) fn targets(&self) -> &[(u32, u8)] {
        if self.recover.is_empty() { &self.fill } else { &self.recover }
    }
}

/// A piece that is deleted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deletion {
    pub(crate) group: u32,
    pub(crate) osd: u32,
    pub(crate) position: u8,
    pub(crate) work: Option<WorkId>,
}

/// A work of the plane.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) owner: Owner,
    /// OSDs that get a piece of each object, with its position; the OSD itself of a deletion.
    pub(crate) targets: Vec<(u32, u8)>,
    /// OSDs that are read, an entry a piece.
    pub(crate) read: Vec<u32>,
    pub(crate) piece_bytes: u64,
    /// Bytes of an object that each of them reads.
    pub(crate) read_bytes: u64,
    /// Objects counted so far, of so many.
    pub(crate) seen: u64,
    pub(crate) objects: u64,
    /// Until when its time has been put down to what limits it.
    pub(crate) accounted: SimTime,
    /// Whether the plane has ended it.
    pub(crate) is_over: bool,
}
