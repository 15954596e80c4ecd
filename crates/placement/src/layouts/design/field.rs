//! Finite fields, and the designs that come of them.

use super::{BLOCKS_MAX, Construction};

/// The largest field that is built: with more points, no design over it has few enough blocks.
const ELEMENTS_MAX: u32 = 1 << 13;

/// A field of p^m elements. An element is a polynomial over the integers modulo p, written as a number whose digits to the
/// base p are its coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    prime: u32,
    elements: u32,
    /// The powers of a generator of the units, from power zero on.
    powers: Vec<u32>,
}

/// The prime and the exponent of which a number is a power.
pub(crate) fn prime_power(number: u32) -> Option<(u32, u32)> {
    let prime = (2..).take_while(|factor| factor * factor <= number).find(|factor| number.is_multiple_of(*factor));
    let prime = prime.unwrap_or(number);
    let (mut rest, mut exponent) = (number, 0);
    while prime > 1 && rest.is_multiple_of(prime) {
        rest /= prime;
        exponent += 1;
    }
    (rest == 1 && exponent > 0).then_some((prime, exponent))
}

/// The designs over the field of as many elements as there are points, with their numbers of blocks.
pub(super) fn counts(points: u32, width: usize) -> Vec<(u64, Construction)> {
    let Some((prime, exponent)) = prime_power(points).filter(|_| points <= ELEMENTS_MAX && width > 1) else {
        return Vec::new();
    };
    let (points, width) = (points, width as u32);
    let translates = u64::from(points) * u64::from(base_set(prime, points, width).multipliers);
    let mut counts = vec![(translates, Construction::FieldTranslates)];
    if prime_power(width).is_some_and(|(base, power)| base == prime && exponent.is_multiple_of(power)) {
        let blocks = u64::from(points) * u64::from(points - 1) / u64::from(width * (width - 1));
        counts.push((blocks, Construction::AffineLines));
    }
    counts.retain(|&(count, _)| count <= BLOCKS_MAX);
    counts
}

/// A set whose multiples by the first `multipliers` powers of the generator have all differences equally often.
struct BaseSet {
    /// Whether zero is in it.
    has_zero: bool,
    /// Its other elements are the powers whose exponents are multiples of this, from power zero on.
    step: u32,
    multipliers: u32,
}

fn base_set(prime: u32, elements: u32, width: u32) -> BaseSet {
    let units = elements - 1;
    // Multiples of a set and of its negative have the same differences, so half of them do, unless the set is its own
    // negative, which a subgroup of even order is.
    let halved = |multipliers: u32, is_own_negative: bool| {
        if prime == 2 || is_own_negative { multipliers } else { multipliers / 2 }
    };
    if units.is_multiple_of(width) {
        let step = units / width;
        return BaseSet { has_zero: false, step, multipliers: halved(step, width.is_multiple_of(2)) };
    }
    if units.is_multiple_of(width - 1) {
        let step = units / (width - 1);
        return BaseSet { has_zero: true, step, multipliers: halved(step, (width - 1).is_multiple_of(2)) };
    }
    BaseSet { has_zero: false, step: 1, multipliers: halved(units, false) }
}

impl Field {
    /// The field with this many elements.
    ///
    /// # Panics
    /// When the number is not a power of a prime.
    pub(crate) fn new(elements: u32) -> Self {
        let (prime, _) = prime_power(elements).expect("a field has as many elements as a power of a prime");
        // The variable of the polynomials generates the units for some of the values that its highest power can be
        // reduced to; with degree one, those are the generators themselves.
        let powers = (1..elements).find_map(|reduced| powers_of_variable(prime, elements, reduced));
        Field { prime, elements, powers: powers.expect("the units of a finite field have a generator") }
    }

    /// The sum of two elements: digit by digit, without carry.
    pub(crate) fn add(&self, a: u32, b: u32) -> u32 {
        add(self.prime, a, b)
    }

    /// The product of two elements.
    pub(crate) fn multiply(&self, a: u32, b: u32, logarithms: &[u32]) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        let sum = logarithms[a as usize] + logarithms[b as usize];
        self.powers[(sum % (self.elements - 1)) as usize]
    }

    /// The exponent of the generator that gives each element but zero.
    pub(crate) fn logarithms(&self) -> Vec<u32> {
        let mut logarithms = vec![0; self.elements as usize];
        for (exponent, &power) in self.powers.iter().enumerate() {
            logarithms[power as usize] = exponent as u32;
        }
        logarithms
    }

    /// The lines of the affine space over the subfield of `width` elements: its multiples, and their translates.
    pub(super) fn affine_lines(&self, width: u32) -> Vec<u32> {
        let units = self.elements - 1;
        let step = units / (width - 1);
        let mut blocks = Vec::new();
        for direction in 0..step {
            let mut is_covered = vec![false; self.elements as usize];
            for point in 0..self.elements {
                if is_covered[point as usize] {
                    continue;
                }
                let along = (0..width - 1).map(|turn| self.powers[((direction + turn * step) % units) as usize]);
                for offset in std::iter::once(0).chain(along) {
                    let element = self.add(point, offset);
                    is_covered[element as usize] = true;
                    blocks.push(element);
                }
            }
        }
        blocks
    }

    /// The multiples of one set, and their translates.
    pub(super) fn translates(&self, width: u32) -> Vec<u32> {
        let units = self.elements - 1;
        let BaseSet { has_zero, step, multipliers } = base_set(self.prime, self.elements, width);
        let mut blocks = Vec::with_capacity(multipliers as usize * self.elements as usize * width as usize);
        for multiplier in 0..multipliers {
            let others = width - u32::from(has_zero);
            let zero = has_zero.then_some(0);
            let multiple = (0..others).map(|turn| self.powers[((multiplier + turn * step) % units) as usize]);
            let multiple: Vec<u32> = zero.into_iter().chain(multiple).collect();
            for shift in 0..self.elements {
                blocks.extend(multiple.iter().map(|&element| self.add(element, shift)));
            }
        }
        blocks
    }
}

fn add(prime: u32, a: u32, b: u32) -> u32 {
    if prime == 2 {
        return a ^ b;
    }
    let (mut a, mut b, mut place, mut sum) = (a, b, 1, 0);
    while a > 0 || b > 0 {
        sum += (a % prime + b % prime) % prime * place;
        a /= prime;
        b /= prime;
        place = place.wrapping_mul(prime);
    }
    sum
}

/// The powers of the variable where its highest power is reduced to `reduced`, if they are all elements but zero.
fn powers_of_variable(prime: u32, elements: u32, reduced: u32) -> Option<Vec<u32>> {
    let top_place = elements / prime;
    let mut multiples = vec![0];
    for _ in 1..prime {
        multiples.push(add(prime, *multiples.last()?, reduced));
    }
    let mut powers = vec![1];
    loop {
        let last = *powers.last()?;
        // A shift by one place, and the digit that falls out at the top times what the highest power is reduced to.
        let next = add(prime, last % top_place * prime, multiples[(last / top_place) as usize]);
        if next == 1 || next == 0 || powers.len() as u32 > elements - 1 {
            return (next == 1 && powers.len() as u32 == elements - 1).then_some(powers);
        }
        powers.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_primes_are_told_from_other_numbers() {
        let expected = [None, None, Some((2, 1)), Some((3, 1)), Some((2, 2)), Some((5, 1)), None, Some((7, 1))];
        assert_eq!((0..8).map(prime_power).collect::<Vec<_>>(), expected);
        assert_eq!(prime_power(729), Some((3, 6)));
        assert_eq!(prime_power(1024), Some((2, 10)));
        assert_eq!(prime_power(8191), Some((8191, 1)));
        assert_eq!(prime_power(36), None);
    }

    #[test]
    fn a_field_obeys_its_laws() {
        for elements in [2, 3, 4, 8, 9, 13, 16, 25, 27] {
            let field = Field::new(elements);
            let logarithms = field.logarithms();
            let times = |a, b| field.multiply(a, b, &logarithms);
            for a in 0..elements {
                assert_eq!(times(a, 1), a);
                assert_eq!(field.add(a, 0), a);
                assert!((0..elements).any(|b| field.add(a, b) == 0));
                for b in 0..elements {
                    assert_eq!(times(a, b), times(b, a));
                    for c in 0..elements {
                        assert_eq!(times(a, field.add(b, c)), field.add(times(a, b), times(a, c)));
                    }
                }
            }
        }
    }
}
