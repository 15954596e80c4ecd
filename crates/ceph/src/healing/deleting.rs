//! Pieces that are left over, and their deletion.

use super::Healing;
use super::job::{Deletion, Owner};
use crate::fill::Fullness;
use crate::groups::Standing;
use crate::plane::{OpClass, Work, WorkKind};
use crate::reserve::{ClaimKind, ItemKey, deletion_priority};

impl Healing {
    /// Pieces that are left over of a group that lacks nothing go, where their OSDs run.
    pub(super) fn purge(&mut self, number: u32) {
        let group = &self.groups[number as usize];
        let coded = self.protections[group.pool].is_coded();
        let left: Vec<(u32, u8)> = group
            .pieces
            .iter()
            .filter(|piece| piece.standing != Standing::Leaving && self.map.is_up(piece.osd))
            .map(|piece| (piece.osd, piece.position))
            .filter(|&piece| !group.serving(coded).any(|serving| serving == piece))
            .collect();
        for (osd, position) in left {
            if let Some(piece) = self.groups[number as usize].piece_mut(osd, position) {
                piece.standing = Standing::Leaving;
            }
            self.deletions.push(Some(Deletion { group: number, osd, position, work: None }));
            self.counts.totals.deleting += 1;
            self.ask_deletion(self.deletions.len() as u32 - 1);
        }
    }

    /// Asks for the local slot of a deletion.
    pub(super) fn ask_deletion(&mut self, deletion: u32) {
        let Some(Deletion { group, osd, position, .. }) = self.deletions[deletion as usize] else { return };
        let group = &self.groups[group as usize];
        let fullness = self.fill.judge(osd, 0);
        let priority = deletion_priority(fullness >= Fullness::Nearfull, fullness >= Fullness::Backfillfull);
        let key = ItemKey::new(group.pool, group.number, position);
        let claimant = Owner::Deletion(deletion).claimant();
        self.reservations.request(claimant, ClaimKind::Deletion, priority, (osd, key), []);
    }

    /// A deletion has its slot.
    pub(super) fn delete(&mut self, deletion: u32) {
        let Some(Deletion { group, osd, position, .. }) = self.deletions[deletion as usize] else { return };
        let group = &self.groups[group as usize];
        let protection = &self.protections[group.pool];
        let stored = group.piece(osd, position).map_or(0, |piece| piece.stored);
        if stored == 0 {
            self.finish_deletion(deletion);
            return;
        }
        let work = Work {
            kind: WorkKind::Delete,
            class: OpClass::BestEffort,
            group: ItemKey::new(group.pool, group.number, 0).0,
            primary: osd,
            objects: stored,
            piece_bytes: group.contents.moved_piece_bytes(protection),
            data_pieces: protection.data_pieces,
            sources: Vec::new(),
            source_parts: 1,
            targets: Vec::new(),
            by_log: false,
        };
        let id = self.start_work(Owner::Deletion(deletion), work, vec![(osd, position)], Vec::new());
        if let Some(deletion) = &mut self.deletions[deletion as usize] {
            deletion.work = Some(id);
        }
    }

    pub(super) fn count_deletion(&mut self, deletion: u32, gone: u64) {
        let Some(Deletion { group, osd, position, .. }) = self.deletions[deletion as usize] else { return };
        let group = &mut self.groups[group as usize];
        let (contents, protection) = (group.contents, &self.protections[group.pool]);
        if let (Some(piece), Some(space)) = (group.piece_mut(osd, position), self.fill.space_mut(osd)) {
            let before = contents.allocated(protection, piece.stored, space.min_alloc);
            piece.stored -= gone.min(piece.stored);
            space.held = space.held - before + contents.allocated(protection, piece.stored, space.min_alloc);
        }
    }

    /// A piece is gone, or is given up at once because its OSD is to have it again.
    pub(super) fn finish_deletion(&mut self, deletion: u32) {
        let Some(Deletion { group, osd, position, work }) = self.deletions[deletion as usize] else { return };
        if let Some(id) = work
            && self.works[id as usize].as_ref().is_some_and(|running| running.owner == Owner::Deletion(deletion))
        {
            self.stop_work(id);
        }
        self.deletions[deletion as usize] = None;
        self.counts.totals.deleting -= 1;
        self.reservations.release(Owner::Deletion(deletion).claimant());
        self.drop_piece(group, osd, position);
        self.sync_osd(osd);
    }

    /// Takes a piece off an OSD.
    pub(super) fn drop_piece(&mut self, number: u32, osd: u32, position: u8) {
        let group = &mut self.groups[number as usize];
        let (contents, protection) = (group.contents, &self.protections[group.pool]);
        let Some(at) = group.pieces.iter().position(|piece| piece.osd == osd && piece.position == position) else {
            return;
        };
        let piece = group.pieces.swap_remove(at);
        if let Some(space) = self.fill.space_mut(osd) {
            space.held -= contents.allocated(protection, piece.stored, space.min_alloc);
            space.groups -= 1;
            self.has_room = true;
        }
        self.changed_at = self.now;
    }
}
