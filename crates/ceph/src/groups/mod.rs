//! Placement groups: what each holds, who has it, who serves it, and what is missing.

mod acting;
mod coding;
mod returning;
mod split;
mod start;
mod tally;

pub use acting::{Peers, choose};
pub use returning::{log_entries, written_objects};
pub use split::{merge_into, split_from};
pub use start::{GroupTable, start_groups, with_positions};
pub use tally::{Moving, Tally, places_held, words};

use std::sync::Arc;

use resilver_crush::NONE;
use resilver_crush::pool::PoolKind;

use crate::input::PoolInput;
use coding::Coding;

/// How far a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has every object as it is now.
    Whole,
    /// It lacks objects that the log tells: its OSD serves, and is recovered.
    ByLog,
    /// It lacks objects that only a walk of all finds: its OSD is filled, and serves nothing.
    Filling,
    /// It is being deleted.
    Leaving,
}

/// A piece of a group on an OSD: a copy, or what a code makes for one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The OSD.
    pub osd: u32,
    /// The position under a code; 0 of a copy.
    pub position: u8,
    /// How far it is.
    pub standing: Standing,
    /// Objects that take space.
    pub stored: u64,
    /// Objects that are still to come or to be made anew.
    pub lacking: u64,
}

impl Piece {
    /// A complete piece.
    #[must_use]
    pub fn whole(osd: u32, position: u8, objects: u64) -> Self {
        Piece { osd, position, standing: Standing::Whole, stored: objects, lacking: 0 }
    }

    /// A piece of which nothing is there yet.
    #[must_use]
    pub fn empty(osd: u32, position: u8, objects: u64) -> Self {
        Piece { osd, position, standing: Standing::Filling, stored: 0, lacking: objects }
    }

    /// Whether it is complete.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.standing == Standing::Whole
    }

    /// Counts objects that came, of a group of so many.
    pub fn receive(&mut self, came: u64, objects: u64) {
        let came = came.min(self.lacking);
        self.lacking -= came;
        self.stored = (self.stored + came).min(objects);
        if self.lacking == 0 && self.standing != Standing::Leaving {
            (self.standing, self.stored) = (Standing::Whole, objects);
        }
    }
}

/// What a pool's protection comes to for its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// Copies or pieces.
    pub kind: PoolKind,
    /// How many of them.
    pub size: u32,
    /// OSDs below which a group serves nobody.
    pub min_size: u32,
    /// Pieces that hold the data: 1 of copies.
    pub data_pieces: u32,
    /// Bytes of a stripe of all data pieces.
    pub stripe_width: u64,
    /// Its code; none where any `data_pieces` are enough.
    pub code: Option<Arc<Coding>>,
}

impl Protection {
    /// Of a pool.
    #[must_use]
    pub fn of(pool: &PoolInput) -> Self {
        Protection {
            kind: pool.pool.kind,
            size: pool.pool.size,
            min_size: pool.min_size,
            data_pieces: pool.data_pieces.max(1),
            stripe_width: pool.stripe_width,
            code: pool.code.as_ref().map(|code| Arc::new(Coding::of(code))),
        }
    }

    /// Whether the data is there whichever so many more of the places that are held are lost.
    #[must_use]
    pub fn survives(&self, held: u64, losses: u32) -> bool {
        match &self.code {
            None => held.count_ones() >= self.data_pieces + losses,
            Some(code) => code.survives(held, losses),
        }
    }

    /// How many of the places that are held may be lost, whichever they are; below 0 where the data is lost already.
    #[must_use]
    pub fn spare(&self, held: u64) -> i64 {
        match &self.code {
            None => i64::from(held.count_ones()) - i64::from(self.data_pieces),
            Some(code) => (0..self.size).take_while(|&losses| code.survives(held, losses)).count() as i64 - 1,
        }
    }

    /// Whether positions have a meaning.
    #[must_use]
    pub fn is_coded(&self) -> bool {
        self.kind == PoolKind::Erasure
    }

    /// Bytes of a piece of an object of so many bytes: whole stripes under a code.
    #[must_use]
    pub fn piece_of(&self, object_bytes: u64) -> u64 {
        if !self.is_coded() {
            return object_bytes;
        }
        let pieces = u64::from(self.data_pieces);
        match self.stripe_width {
            0 => object_bytes.div_ceil(pieces),
            stripe => object_bytes.div_ceil(stripe) * (stripe / pieces).max(1),
        }
    }
}

/// What a group holds, before redundancy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of their omaps, which every piece of a copy has in full.
    pub omap_bytes: u64,
}

impl Contents {
    /// Mean bytes of an object, rounded up.
    #[must_use]
    pub fn object_bytes(&self) -> u64 {
        if self.objects == 0 { 0 } else { self.bytes.div_ceil(self.objects) }
    }

    /// Mean bytes of a piece of an object as it is moved, its part of the omap with it.
    #[must_use]
    pub fn moved_piece_bytes(&self, protection: &Protection) -> u64 {
        let omap = self.omap_bytes.checked_div(self.objects).unwrap_or(0);
        protection.piece_of(self.object_bytes()) + omap
    }

    /// Bytes that a piece with so many of the objects takes on an OSD that allocates units of `min_alloc`.
    ///
    /// Sizes of objects are not known, so all are taken to have the mean; each takes whole units.
    #[must_use]
    pub fn allocated(&self, protection: &Protection, stored: u64, min_alloc: u64) -> u64 {
        if self.objects == 0 {
            return if stored == 0 { 0 } else { self.omap_bytes };
        }
        let object = protection.piece_of(self.object_bytes()).next_multiple_of(min_alloc.max(1));
        let omap = u128::from(self.omap_bytes) * u128::from(stored) / u128::from(self.objects);
        stored * object + omap as u64
    }
}

/// A placement group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The place of its pool in the map's list.
    pub pool: usize,
    /// Its number in the pool.
    pub number: u32,
    /// What it holds.
    pub contents: Contents,
    /// OSDs that should have it, by position; holes only under a code.
    pub up: Vec<i32>,
    /// The primary of `up`.
    pub up_primary: i32,
    /// OSDs that serve it.
    pub acting: Vec<i32>,
    /// The primary of `acting`, or `NO_PRIMARY`.
    pub primary: i32,
    /// Every piece there is, on OSDs that are up or down.
    pub pieces: Vec<Piece>,
    /// Whether an operator forces it.
    pub forced: bool,
    /// An OSD that is to have it and takes on no more groups.
    pub withheld: Option<u32>,
    /// Whether it still exists: a group that was merged does not.
    pub exists: bool,
    /// What it lacks, as it was counted last.
    pub tally: Tally,
}

impl Group {
    /// The piece of a position on an OSD.
    #[must_use]
    pub fn piece(&self, osd: u32, position: u8) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.osd == osd && piece.position == position)
    }

    /// The same, to be changed.
    pub fn piece_mut(&mut self, osd: u32, position: u8) -> Option<&mut Piece> {
        self.pieces.iter_mut().find(|piece| piece.osd == osd && piece.position == position)
    }

    /// OSDs that serve it, holes left out, with their positions.
    pub fn serving(&self, coded: bool) -> impl Iterator<Item = (u32, u8)> + '_ {
        members(&self.acting, coded)
    }

    /// How many OSDs serve it.
    #[must_use]
    pub fn serving_count(&self) -> u32 {
        self.acting.iter().filter(|&&osd| is_osd(osd)).count() as u32
    }
}

/// Whether this is an OSD and no hole.
#[must_use]
pub fn is_osd(osd: i32) -> bool {
    osd >= 0 && osd != NONE
}

/// OSDs of a set with their positions, holes left out.
pub fn members(set: &[i32], coded: bool) -> impl Iterator<Item = (u32, u8)> + '_ {
    let osds = set.iter().enumerate().filter(|&(_, &osd)| is_osd(osd));
    osds.map(move |(at, &osd)| (osd as u32, if coded { at as u8 } else { 0 }))
}
