//! What a group lacks, and Ceph's words for it.

use super::{Group, Piece, Protection, Standing, is_osd, members};
use crate::map::Barrier;

/// What a group lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Copies (or pieces) of objects that are not there.
    pub degraded: u64,
    /// Copies of objects that are there, but not where they should be.
    pub misplaced: u64,
    /// Fewer OSDs serve than should.
    pub is_undersized: bool,
    /// It serves nobody.
    pub is_inactive: bool,
    /// The next loss may lose data or stop it: one copy is left, or the code survives no further loss.
    pub is_at_risk: bool,
    /// What is up does not have the data.
    pub is_down: bool,
    /// Another set serves than should.
    pub is_remapped: bool,
}

impl Tally {
    /// Whether every object is where it should be.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.degraded == 0 && self.misplaced == 0 && !self.is_undersized && !self.is_inactive && !self.is_down
    }

    /// Counts a group.
    ///
    /// As Ceph counts: what lacks for the places that no OSD serves is degraded, less what has come to those that are filled; what
    /// the others that are filled lack is misplaced.
    #[must_use]
    pub fn of(
        group: &Group,
        protection: &Protection,
        barrier: Option<Barrier<'_>>,
        is_up: &impl Fn(u32) -> bool,
    ) -> Self {
        let serving = group.serving_count();
        let coded = protection.is_coded();
        let left = places_held(&group.pieces, protection, |piece| piece.is_whole() && is_up(piece.osd));
        let (degraded, misplaced) =
            if coded { lacking_pieces(group, protection) } else { lacking_copies(group, protection.size, serving) };
        let is_down = !protection.survives(left, 0);
        Tally {
            degraded,
            misplaced,
            is_undersized: serving < protection.size,
            is_inactive: is_down
                || serving < protection.min_size
                || group.withheld.is_some()
                || barrier.is_some_and(|barrier| !barrier.admits(&group.acting)),
            is_at_risk: !protection.survives(left, 1),
            is_down,
            is_remapped: group.acting != group.up,
        }
    }
}

/// Objects that the piece of a place still lacks.
fn lacks(group: &Group, osd: u32, position: u8) -> u64 {
    match group.piece(osd, position) {
        Some(piece) if piece.standing != Standing::Leaving => piece.lacking,
        _ => group.contents.objects,
    }
}

fn lacking_copies(group: &Group, size: u32, serving: u32) -> (u64, u64) {
    let behind: u64 = members(&group.acting, false).map(|(osd, _)| lacks(group, osd, 0)).sum();
    let mut coming: Vec<u64> = members(&group.up, false)
        .filter(|&(osd, _)| !group.acting.contains(&(osd as i32)))
        .map(|(osd, _)| lacks(group, osd, 0))
        .collect();
    coming.sort_unstable();
    let holes = size.saturating_sub(serving) as usize;
    let filling = coming.len().min(holes);
    let degraded = coming[..filling].iter().sum::<u64>() + (holes - filling) as u64 * group.contents.objects;
    let mut misplaced: u64 = coming[filling..].iter().sum();
    // One that serves for a place that the map fills with nobody is not where it should be.
    let strangers = group.acting.iter().filter(|osd| !group.up.contains(osd)).count();
    misplaced += strangers.saturating_sub(coming.len() - filling) as u64 * group.contents.objects;
    (behind + degraded, misplaced)
}

fn lacking_pieces(group: &Group, protection: &Protection) -> (u64, u64) {
    let (mut degraded, mut misplaced) = (0, 0);
    for at in 0..protection.size as usize {
        let up = group.up.get(at).copied().filter(|&osd| is_osd(osd));
        let acting = group.acting.get(at).copied().filter(|&osd| is_osd(osd));
        let lacking = up.map_or(group.contents.objects, |osd| lacks(group, osd as u32, at as u8));
        match acting {
            None => degraded += lacking,
            Some(osd) if Some(osd) == up => degraded += lacking,
            Some(_) => misplaced += lacking,
        }
    }
    (degraded, misplaced)
}

/// What moves of a group, for its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moving {
    /// Nothing.
    #[default]
    No,
    /// It waits for reservations of a backfill.
    BackfillWait,
    /// It is backfilled.
    Backfilling,
    /// A target has no space.
    BackfillToofull,
    /// It waits for reservations of a recovery.
    RecoveryWait,
    /// It is recovered by log.
    Recovering,
    /// An OSD of it is full.
    RecoveryToofull,
}

impl Moving {
    fn word(self) -> Option<&'static str> {
        match self {
            Moving::No => None,
            Moving::BackfillWait => Some("backfill_wait"),
            Moving::Backfilling => Some("backfilling"),
            Moving::BackfillToofull => Some("backfill_toofull"),
            Moving::RecoveryWait => Some("recovery_wait"),
            Moving::Recovering => Some("recovering"),
            Moving::RecoveryToofull => Some("recovery_toofull"),
        }
    }
}

/// A group's state in Ceph's words, in the order in which Ceph writes them.
///
/// # Arguments
/// * `held_elsewhere` - where the data is not up: whether an OSD that is down, and may return, has it.
#[must_use]
pub fn words(group: &Group, moving: Moving, held_elsewhere: bool) -> String {
    let tally = &group.tally;
    if tally.is_down {
        return if held_elsewhere { "down" } else { "incomplete" }.to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    if group.withheld.is_some() {
        words.push("activating");
    } else if !tally.is_inactive {
        words.push("active");
    }
    if tally.is_undersized {
        words.push("undersized");
    }
    if tally.degraded > 0 {
        words.push("degraded");
    }
    if tally.is_remapped {
        words.push("remapped");
    }
    words.extend(moving.word());
    if tally.is_clean() && moving == Moving::No {
        words.push("clean");
    }
    if tally.is_inactive && group.withheld.is_none() {
        words.push("peered");
    }
    words.join("+")
}

/// Places of a group's data that pieces which pass a test fill, a bit each: the positions of a code, or the first ones for so many copies.
#[must_use]
pub fn places_held(pieces: &[Piece], protection: &Protection, holds: impl Fn(&Piece) -> bool) -> u64 {
    let mut positions = 0_u64;
    let mut copies = 0_u32;
    for piece in pieces.iter().filter(|piece| holds(piece)) {
        positions |= 1 << piece.position;
        copies += 1;
    }
    if protection.is_coded() { positions } else { u64::MAX.checked_shr(64 - copies.min(64)).unwrap_or(0) }
}
