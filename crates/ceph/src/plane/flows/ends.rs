//! When works end: a heap that knows where each is, so that an end that moves leaves no trace.

use resilver_units::SimTime;

use crate::plane::WorkId;

/// That a work is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// Ends of works, the first on top; of equal ones that of the lowest number.
#[derive(Debug, Default)]
pub(super) struct Ends {
    heap: Vec<(SimTime, WorkId)>,
    /// By work, where it is in the heap.
    places: Vec<u32>,
}

impl Ends {
    pub fn first(&self) -> Option<(SimTime, WorkId)> {
        self.heap.first().copied()
    }

    /// A work ends at this time, and no longer at another one.
    pub fn set(&mut self, id: WorkId, end: SimTime) {
        if self.places.len() <= id as usize {
            self.places.resize(id as usize + 1, NOWHERE);
        }
        let mut place = self.places[id as usize];
        if place == NOWHERE {
            place = self.heap.len() as u32;
            self.heap.push((end, id));
        }
        self.sift(place as usize, (end, id));
    }

    /// A work does not end.
    pub fn remove(&mut self, id: WorkId) {
        let Some(place) = self.places.get_mut(id as usize) else { return };
        let place = std::mem::replace(place, NOWHERE) as usize;
        if place == NOWHERE as usize {
            return;
        }
        let last = self.heap.pop().expect("a work that has a place is in the heap");
        if place < self.heap.len() {
            self.sift(place, last);
        }
    }

    /// Puts an entry where it belongs, of the places above and below one that is free.
    fn sift(&mut self, mut free: usize, entry: (SimTime, WorkId)) {
        while free > 0 && entry < self.heap[(free - 1) / 2] {
            self.put(free, self.heap[(free - 1) / 2]);
            free = (free - 1) / 2;
        }
        loop {
            let (left, right) = (2 * free + 1, 2 * free + 2);
            let least = if right < self.heap.len() && self.heap[right] < self.heap[left] { right } else { left };
            if least >= self.heap.len() || entry < self.heap[least] {
                break;
            }
            self.put(free, self.heap[least]);
            free = least;
        }
        self.put(free, entry);
    }

    fn put(&mut self, place: usize, entry: (SimTime, WorkId)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use resilver_kernel::{Purpose, Stream};

    use super::*;

    #[test]
    fn the_first_end_is_that_of_a_search_through_all() {
        let mut draws = Stream::new(1, 0, Purpose::named("ends"));
        let (mut ends, mut plain) = (Ends::default(), BTreeMap::new());
        for _ in 0..20_000 {
            let id = draws.below(64) as WorkId;
            if draws.below(3) == 0 {
                ends.remove(id);
                plain.remove(&id);
            } else {
                // Few times, so that many are equal.
                let end = SimTime::try_from(draws.below(16) as f64).unwrap();
                ends.set(id, end);
                plain.insert(id, end);
            }
            assert_eq!(ends.first(), plain.iter().map(|(id, end)| (*end, *id)).min());
        }
    }
}
