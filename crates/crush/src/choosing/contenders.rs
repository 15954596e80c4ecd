//! Inputs whose screened device drew high, on their way past the other items.

use crate::choosing::hashing::raise_draws;
use crate::lanes::Lanes;

/// Pairs of input and attempt in which a target's draw is high.
#[derive(Debug)]
pub(crate) struct Contenders {
    pub(crate) count: usize,
    pub(crate) index: Vec<u32>,
    pub(crate) x: Vec<u32>,
    pub(crate) attempt: Vec<u32>,
    /// The target's draw.
    pub(crate) draw: Vec<u32>,
    /// The largest draw that another item has had.
    pub(crate) largest: Vec<u32>,
}

/// Contenders that are held at once; where there are more, some are decided before.
pub(crate) const HELD: usize = 8 << 10;
/// Room for a vector of indices beyond the contenders.
const SPARE: usize = 16;

impl Contenders {
    pub(crate) fn new() -> Self {
        let column = || vec![0; HELD + SPARE];
        Contenders { count: 0, index: column(), x: column(), attempt: column(), draw: column(), largest: column() }
    }

    /// Adds the inputs whose draw is not below `least`; `place` is the index of the first input.
    pub(crate) fn add(&mut self, lanes: Lanes, place: u32, inputs: &[u32], draws: &[u32], attempt: u32, least: u32) {
        assert!(self.count + inputs.len() <= HELD && inputs.len() == draws.len(), "there is room for all");
        #[cfg(target_arch = "x86_64")]
        if lanes == Lanes::Avx512 {
            // SAFETY: these lanes are in use only where the processor has them, and columns have spare room for a vector.
            unsafe { crate::choosing::wide::add(self, place, inputs, draws, attempt, least) };
            return;
        }
        let _ = lanes;
        for ((index, &x), &draw) in (place..).zip(inputs).zip(draws) {
            let one = self.count;
            // Which draw is high no branch predictor foresees: write always, and keep or overwrite.
            (self.index[one], self.x[one], self.draw[one]) = (index, x, draw);
            (self.attempt[one], self.largest[one]) = (attempt, 0);
            self.count += usize::from(draw >= least);
        }
    }

    /// Lets the items draw, and strikes out those whom one of them beats.
    pub(crate) fn strike(&mut self, lanes: Lanes, items: &[i32], window: u32) {
        #[cfg(target_arch = "x86_64")]
        if lanes == Lanes::Avx512 {
            // SAFETY: these lanes are in use only where the processor has them, and columns have spare room for a vector.
            unsafe { crate::choosing::wide::strike(self, items, window) };
            return;
        }
        let count = self.count;
        raise_draws(lanes, &self.x[..count], &self.attempt[..count], items, &mut self.largest[..count]);
        let mut left = 0;
        for one in 0..count {
            let (draw, largest) = (self.draw[one], self.largest[one]);
            (self.index[left], self.x[left], self.attempt[left]) = (self.index[one], self.x[one], self.attempt[one]);
            (self.draw[left], self.largest[left]) = (draw, largest);
            left += usize::from(largest <= draw + window);
        }
        self.count = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::rjenkins1_3;
    use proptest::prelude::*;

    fn rows(contenders: &Contenders) -> Vec<[u32; 5]> {
        let Contenders { count, index, x, attempt, draw, largest } = contenders;
        (0..*count).map(|one| [index[one], x[one], attempt[one], draw[one], largest[one]]).collect()
    }

    proptest! {
        // Rule: with any instructions the inputs with high draws are added, in their order, behind those that are there.
        #[test]
        fn adds_agree(
            first in prop::collection::vec((any::<u32>(), 0u32..100), 0..70), then in prop::collection::vec((any::<u32>(), 0u32..100), 0..70),
            least in 0u32..110
        ) {
            let lists = [(5, 2, &first), (7000, 9, &then)];
            let expected: Vec<[u32; 5]> = lists
                .iter()
                .flat_map(|&(place, attempt, list)| (place..).zip(list).map(move |(index, &(x, draw))| [index, x, attempt, draw, 0]))
                .filter(|&[_, _, _, draw, _]| draw >= least)
                .collect();
            for lanes in Lanes::available() {
                let mut contenders = Contenders::new();
                contenders.largest.fill(1);
                for &(place, attempt, list) in &lists {
                    let (inputs, draws): (Vec<u32>, Vec<u32>) = list.iter().copied().unzip();
                    contenders.add(lanes, place, &inputs, &draws, attempt, least);
                }
                prop_assert_eq!(&rows(&contenders), &expected, "{:?}", lanes);
            }
        }

        // Rule: with any instructions those are left, in their order, whom no item beats by more than the window, with the
        // largest draw that they met.
        #[test]
        fn strikes_agree(
            added in prop::collection::vec((any::<u32>(), 0u32..60, 0u32..1 << 16, 0u32..1 << 16), 0..300),
            items in prop::collection::vec(any::<i32>(), 0..6), window in 0u32..100
        ) {
            let expected: Vec<[u32; 5]> = (0..)
                .zip(&added)
                .map(|(index, &(x, attempt, draw, met))| {
                    let largest = items.iter().map(|&id| rjenkins1_3(x, id as u32, attempt) & 0xffff).fold(met, u32::max);
                    [index, x, attempt, draw, largest]
                })
                .filter(|&[_, _, _, draw, largest]| largest <= draw + window)
                .collect();
            for lanes in Lanes::available() {
                let mut contenders = Contenders::new();
                for (one, &(x, attempt, draw, met)) in added.iter().enumerate() {
                    (contenders.index[one], contenders.x[one], contenders.attempt[one]) = (one as u32, x, attempt);
                    (contenders.draw[one], contenders.largest[one]) = (draw, met);
                }
                contenders.count = added.len();
                contenders.strike(lanes, &items, window);
                prop_assert_eq!(&rows(&contenders), &expected, "{:?}", lanes);
            }
        }
    }
}
