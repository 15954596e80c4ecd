//! Which device of each of several domains a group takes.

use crate::layouts::design::field::{Field, prime_power};

/// The most tuples of the complete transversal design.
const TUPLES_MAX: u64 = 1 << 16;

/// How the devices of several domains are combined.
enum Combination {
    /// Each with its like: there is one device a domain, or one domain a group.
    Alike,
    /// Lines over a field of as many elements as a domain has devices.
    FieldLines,
    /// Every tuple.
    All(u64),
    /// Lines modulo the number of devices.
    ModuloLines,
}

fn combination(size: u32, width: usize) -> Combination {
    if size == 1 || width == 1 {
        return Combination::Alike;
    }
    if prime_power(size).is_some() && width as u64 <= u64::from(size) {
        return Combination::FieldLines;
    }
    let all = u64::from(size).checked_pow(width as u32).filter(|&all| all <= TUPLES_MAX);
    all.map_or(Combination::ModuloLines, Combination::All)
}

/// How many tuples there are.
pub(super) fn count(size: u32, width: usize) -> u64 {
    match combination(size, width) {
        Combination::Alike => u64::from(size),
        Combination::All(all) => all,
        Combination::FieldLines | Combination::ModuloLines => u64::from(size) * u64::from(size),
    }
}

/// The first `most` tuples of `width` numbers below `size`, one behind another: of all of them, any two places take
/// every pair of numbers equally often where that is known to be possible.
///
/// Over a field of `size` elements, of which each place has one of its own, these are the lines i + s e. Else all tuples
/// are taken, where they are few. Where neither is possible, lines modulo `size` give every number equally often at each place,
/// but pairs only for places whose distance has no factor in common with `size`.
pub(super) fn tuples(size: u32, width: usize, most: usize) -> Vec<u32> {
    match combination(size, width) {
        Combination::Alike => (0..size).take(most).flat_map(|number| vec![number; width]).collect(),
        Combination::FieldLines => {
            let field = Field::new(size);
            let logarithms = field.logarithms();
            lines(size, width, most, |slope, place| field.multiply(slope, place, &logarithms), |a, b| field.add(a, b))
        }
        // The first place varies fastest, so that any `size` tuples from a multiple of it on take each of its numbers.
        Combination::All(all) => (0..all).take(most).flat_map(|tuple| digits(tuple, size, width)).collect(),
        Combination::ModuloLines => {
            let modulus = u64::from(size);
            let times = |a, b| (u64::from(a) * u64::from(b) % modulus) as u32;
            lines(size, width, most, times, |a, b| ((u64::from(a) + u64::from(b)) % modulus) as u32)
        }
    }
}

fn lines(
    size: u32,
    width: usize,
    most: usize,
    times: impl Fn(u32, u32) -> u32,
    plus: impl Fn(u32, u32) -> u32,
) -> Vec<u32> {
    let ends = (0..size).flat_map(|slope| (0..size).map(move |start| (slope, start)));
    let mut tuples = Vec::new();
    for (slope, start) in ends.take(most) {
        tuples.extend((0..width as u32).map(|place| plus(start, times(slope, place % size))));
    }
    tuples
}

fn digits(tuple: u64, size: u32, width: usize) -> impl Iterator<Item = u32> {
    let size = u64::from(size);
    let mut rest = tuple;
    (0..width).map(move |_| {
        let digit = rest % size;
        rest /= size;
        digit as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least and greatest number of tuples in which a pair of numbers stands at a pair of places.
    fn pairs(size: u32, width: usize) -> (usize, usize) {
        let tuples = tuples(size, width, usize::MAX);
        let mut counts = Vec::new();
        for (one, other) in (0..width).flat_map(|one| (one + 1..width).map(move |other| (one, other))) {
            for (x, y) in (0..size).flat_map(|x| (0..size).map(move |y| (x, y))) {
                counts.push(tuples.chunks(width).filter(|tuple| (tuple[one], tuple[other]) == (x, y)).count());
            }
        }
        (*counts.iter().min().unwrap(), *counts.iter().max().unwrap())
    }

    #[test]
    fn any_two_places_take_every_pair_of_numbers_equally_often() {
        // Over a field of as many elements once; else all tuples, of which size^(width - 2) have a pair.
        assert_eq!(pairs(16, 3), (1, 1));
        assert_eq!(pairs(5, 5), (1, 1));
        assert_eq!(pairs(2, 3), (2, 2));
        assert_eq!(pairs(6, 4), (36, 36));
        assert_eq!(pairs(1, 4), (1, 1));
    }

    #[test]
    fn a_size_without_a_field_and_with_too_many_tuples_is_even_by_number() {
        // 20^5 tuples are too many. Each of the 400 lines takes one number a place: 20 times each.
        let tuples = tuples(20, 5, usize::MAX);
        assert_eq!(tuples.len(), 400 * 5);
        for place in 0..5 {
            for number in 0..20 {
                assert_eq!(tuples.chunks(5).filter(|tuple| tuple[place] == number).count(), 20);
            }
        }
    }
}
