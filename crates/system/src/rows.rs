//! Where groups and objects are: many at once, by all threads.

use rayon::prelude::*;
use resilver_units::{DeviceId, GroupId, ObjectId};

use crate::config::{PlaceScratch, Placement};
use resilver_placement::layout::object_group;

/// Rows in a piece of work of one thread.
const PART_ROWS: usize = 1024;

/// What stands behind the end of a set that is short.
const NOBODY: i32 = -1;

impl Placement {
    /// The devices of the `rows.len() / width` objects from `first` on, a row of `width` an object.
    ///
    /// With placement groups an object is where its group is. What a set lacks of `width` is -1, and what it has beyond is
    /// left out.
    ///
    /// # Panics
    /// When `width` is zero.
    pub fn place_objects(&self, first: ObjectId, width: usize, rows: &mut [i32]) {
        self.fill(width, rows, |row, scratch, set| {
            let object = ObjectId::new(first.get().wrapping_add(row as u64));
            match self.groups {
                Some(groups) => self.algorithm.place_group(object_group(object, groups), scratch, set),
                None => self.algorithm.place_object(object, scratch, set),
            }
        });
    }

    /// The devices of all groups, a row of `width` a group; `rows` has as many rows as there are groups.
    ///
    /// # Panics
    /// When `width` is zero.
    pub fn place_groups(&self, width: usize, rows: &mut [i32]) {
        self.fill(width, rows, |row, scratch, set| {
            self.algorithm.place_group(GroupId::new(row as u32), scratch, set);
        });
    }

    fn fill(
        &self,
        width: usize,
        rows: &mut [i32],
        place: impl Fn(usize, &mut PlaceScratch, &mut Vec<DeviceId>) + Sync,
    ) {
        rows.par_chunks_mut(PART_ROWS * width).enumerate().for_each(|(part, rows)| {
            let (mut scratch, mut set) = (PlaceScratch::default(), Vec::new());
            for (row, slots) in rows.chunks_mut(width).enumerate() {
                set.clear();
                place(part * PART_ROWS + row, &mut scratch, &mut set);
                slots.fill(NOBODY);
                for (slot, device) in slots.iter_mut().zip(&set) {
                    *slot = device.get() as i32;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_placement::layouts::{Domains, Layout, Modulo, ObjectLayout};

    use super::*;
    use crate::config::Algorithm;

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
