//! Where groups and objects are: many at once, by all threads.

use rayon::prelude::*;
use resilver_placement::layout::object_group;
use resilver_placement::ring::{HashRing, NO_DEVICE};
use resilver_units::{GroupId, ObjectId};

use super::{Algorithm, PlaceScratch, Placement};

/// Rows in a piece of work of one thread.
const PART_ROWS: usize = 1024;

/// What stands behind the end of a set that is short.
const NOBODY: i32 = -1;

/// What is placed.
enum Unit {
    Group(GroupId),
    Object(ObjectId),
}

impl Placement {
    /// The devices of the `rows.len() / width` objects from `first` on, a row of `width` an object.
    ///
    /// With placement groups an object is where its group is. What a set lacks of `width` is -1, at the end or, under a rule that
    /// keeps positions, where it is lacking; what it has beyond is left out.
    ///
    /// # Panics
    /// When `width` is zero.
    pub fn place_objects(&self, first: ObjectId, width: usize, rows: &mut [i32]) {
        if let Some(ring) = self.whole_ring(width)
            && first.get().checked_add(rows.len() as u64).is_some()
        {
            return place_on_ring(ring, first, width, rows);
        }
        self.fill(width, rows, |row| self.unit_of(ObjectId::new(first.get().wrapping_add(row as u64))));
    }

    /// The devices of given objects, a row of `width` an object, as [`place_objects`](Self::place_objects) gives them.
    ///
    /// # Panics
    /// When `width` is zero, or `rows` has another number of rows than there are objects.
    pub fn place_listed(&self, objects: &[u64], width: usize, rows: &mut [i32]) {
        assert_eq!(rows.len(), objects.len() * width, "there is a row an object");
        self.fill(width, rows, |row| self.unit_of(ObjectId::new(objects[row])));
    }

    /// The devices of all groups, a row of `width` a group; `rows` has as many rows as there are groups.
    ///
    /// # Panics
    /// When `width` is zero.
    pub fn place_groups(&self, width: usize, rows: &mut [i32]) {
        self.fill(width, rows, |row| Unit::Group(GroupId::new(row as u32)));
    }

    /// What places an object: its group, or itself.
    fn unit_of(&self, object: ObjectId) -> Unit {
        match self.groups {
            Some(groups) => Unit::Group(object_group(object, groups)),
            None => Unit::Object(object),
        }
    }

    /// The ring on which each object is placed by itself in `copies` copies, if it is one of which nothing is out.
    fn whole_ring(&self, copies: usize) -> Option<&HashRing> {
        match &self.algorithm {
            Algorithm::Ring { ring, copies: own, is_out }
                if self.groups.is_none() && *own == copies && !is_out.contains(&true) =>
            {
                Some(ring)
            }
            _ => None,
        }
    }

    fn fill(&self, width: usize, rows: &mut [i32], unit_of: impl Fn(usize) -> Unit + Sync) {
        let keeps_positions = self.algorithm.keeps_positions();
        rows.par_chunks_mut(PART_ROWS * width).enumerate().for_each(|(part, rows)| {
            let (mut scratch, mut set, mut positions) = (PlaceScratch::default(), Vec::new(), Vec::new());
            for (row, slots) in rows.chunks_mut(width).enumerate() {
                let unit = unit_of(part * PART_ROWS + row);
                slots.fill(NOBODY);
                if keeps_positions {
                    positions.clear();
                    match unit {
                        Unit::Group(group) => self.algorithm.place_group_positions(group, &mut scratch, &mut positions),
                        Unit::Object(object) => {
                            self.algorithm.place_object_positions(object, &mut scratch, &mut positions);
                        }
                    }
                    for (slot, device) in slots.iter_mut().zip(&positions) {
                        *slot = device.map_or(NOBODY, |device| device.get() as i32);
                    }
                    continue;
                }
                set.clear();
                match unit {
                    Unit::Group(group) => self.algorithm.place_group(group, &mut scratch, &mut set),
                    Unit::Object(object) => self.algorithm.place_object(object, &mut scratch, &mut set),
                }
                for (slot, device) in slots.iter_mut().zip(&set) {
                    *slot = device.get() as i32;
                }
            }
        });
    }
}

/// [`Placement::place_objects`] for a ring, which places a range of objects together.
fn place_on_ring(ring: &HashRing, first: ObjectId, copies: usize, rows: &mut [i32]) {
    rows.par_chunks_mut(PART_ROWS * copies).enumerate().for_each_init(Vec::new, |found, (part, rows)| {
        let start = first.get() + (part * PART_ROWS) as u64;
        found.resize(rows.len(), NO_DEVICE);
        ring.place_batch(start..start + (rows.len() / copies) as u64, copies, found);
        for (slot, &device) in rows.iter_mut().zip(&*found) {
            *slot = if device == NO_DEVICE { NOBODY } else { device as i32 };
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_placement::layouts::{Domains, Layout, Modulo, ObjectLayout};

    use resilver_placement::ring::RingWalk;

    use super::*;

    // Rule: objects placed together on a ring are where each is by itself, also where four copies are one too many for the
    // domains there are.
    #[test]
    fn a_ring_s_rows_equal_one_by_one() {
        for walk in [RingWalk::Rehash, RingWalk::Successors] {
            let ring = Arc::new(HashRing::new((0..30).map(|device| device % 3).collect(), 64, walk));
            let algorithm = Algorithm::Ring { ring: Arc::clone(&ring), copies: 4, is_out: vec![false; 30] };
            let placement = Placement { groups: None, algorithm, domain_of: None };
            assert!(placement.whole_ring(4).is_some() && placement.whole_ring(3).is_none());
            let mut rows = vec![0; 3000 * 4];
            placement.place_objects(ObjectId::new(70), 4, &mut rows);
            for (object, row) in (70..).map(ObjectId::new).zip(rows.chunks(4)) {
                let mut set = Vec::new();
                ring.place(object, 4, |_| false, &mut set);
                let expected: Vec<i32> = set.iter().map(|device| device.get() as i32).chain([-1]).collect();
                assert_eq!(row, expected);
            }
        }
    }

    #[test]
    fn many_rows_equal_one_by_one() {
        // Four of seven devices are in, so the fifth place of a row is empty.
        let layout = Arc::new(Layout::Modulo(Modulo::new(Domains::each_its_own(7))));
        let is_out: Vec<bool> = (0..7).map(|device| device > 4 || device == 2).collect();
        let algorithm = Algorithm::Layout { layout: Arc::clone(&layout), copies: 5, is_out: is_out.clone() };
        for groups in [None, Some(50)] {
            let placement = Placement { groups, algorithm: algorithm.clone(), domain_of: None };
            let mut rows = vec![0; 3000 * 5];
            placement.place_objects(ObjectId::new(70), 5, &mut rows);
            for (object, row) in (70..).map(ObjectId::new).zip(rows.chunks(5)) {
                let placed =
                    groups.map_or(object, |groups| ObjectId::new(u64::from(object_group(object, groups).get())));
                let mut set = Vec::new();
                layout.place(placed, 5, |device| is_out[device.index()], &mut set);
                let expected: Vec<i32> = set.iter().map(|device| device.get() as i32).chain([-1]).collect();
                assert_eq!(row, expected);
            }
        }
        let mut rows = vec![0; 50 * 2];
        Placement { groups: Some(50), algorithm, domain_of: None }.place_groups(2, &mut rows);
        assert!(rows.iter().all(|&device| [0, 1, 3, 4].contains(&device)));
    }
}
