//! The field of 256 elements, GF(2^8), with the polynomial x^8 + x^4 + x^3 + x^2 + 1 and the generator x.
//!
//! Bytes are its elements and addition is exclusive or. The polynomial, 0x11d, is that of the storage systems' libraries,
//! so that what they compute with our matrices is what we say (`docs/decisions/0012-the-field-is-ours.md`).

/// The polynomial, with the term x^8.
const POLYNOMIAL: u16 = 0x11d;

/// Powers of the generator twice over, so that the sum of two logarithms needs no remainder.
const POWERS: [u8; 510] = powers();

/// The logarithm of each element but zero.
const LOGARITHMS: [u8; 256] = logarithms();

const fn powers() -> [u8; 510] {
    let mut table = [0; 510];
    let mut power = 1u16;
    let mut exponent = 0;
    while exponent < 510 {
        table[exponent] = power as u8;
        power <<= 1;
        if power > 0xff {
            power ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    table
}

const fn logarithms() -> [u8; 256] {
    let mut table = [0; 256];
    let mut exponent = 0;
    while exponent < 255 {
        table[POWERS[exponent] as usize] = exponent as u8;
        exponent += 1;
    }
    table
}

/// The product of two elements.
#[inline]
pub const fn multiply(left: u8, right: u8) -> u8 {
    if left == 0 || right == 0 {
        return 0;
    }
    POWERS[LOGARITHMS[left as usize] as usize + LOGARITHMS[right as usize] as usize]
}

/// The element that multiplies a non-zero `element` to one; zero for zero, which has none.
#[inline]
pub const fn invert(element: u8) -> u8 {
    if element == 0 { 0 } else { POWERS[255 - LOGARITHMS[element as usize] as usize] }
}

/// The generator to the power of `exponent`.
pub const fn power(exponent: u32) -> u8 {
    POWERS[(exponent % 255) as usize]
}

/// Adds `factor` times `other` to `row`, element by element.
pub fn add_multiple(row: &mut [u8], other: &[u8], factor: u8) {
    for (element, &addend) in row.iter_mut().zip(other) {
        *element ^= multiply(addend, factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication by its definition: shift, add, and reduce by the polynomial.
    fn product_of_polynomials(left: u8, right: u8) -> u8 {
        let mut product = 0u16;
        for bit in 0..8 {
            product ^= if right >> bit & 1 == 1 { u16::from(left) << bit } else { 0 };
        }
        for bit in (8..16).rev() {
            product ^= if product >> bit & 1 == 1 { POLYNOMIAL << (bit - 8) } else { 0 };
        }
        product as u8
    }

    #[test]
    fn every_product_is_that_of_the_polynomials() {
        for left in 0..=255 {
            for right in 0..=255 {
                assert_eq!(multiply(left, right), product_of_polynomials(left, right), "{left} x {right}");
            }
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse_and_is_a_power_of_the_generator() {
        assert!((1..=255).all(|element| multiply(element, invert(element)) == 1));
        let mut reached: Vec<u8> = (0..255).map(power).collect();
        reached.sort_unstable();
        assert_eq!(reached, (1..=255).collect::<Vec<u8>>());
    }
}
