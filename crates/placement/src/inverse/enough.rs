//! How many draws settle where an object is, but for a negligible chance.

/// The largest chance, for one object, of needing more draws than are looked at.
pub(crate) const NEGLIGIBLE: f64 = 1e-18;
/// Most draws looked at; where more would be needed, there are few devices and placing every object is cheap.
const DRAWS_MAX: usize = 16;

/// How many draws to look at, so that placement needs a further one with a chance of at most [`NEGLIGIBLE`].
///
/// Placement needs draw number d (from 0) only if the d draws before it fell into fewer domains than there are copies,
/// that is, all into some set of `copies - 1` domains. With n = 1 / `largest_share` equal domains there are at most
/// n^(copies - 1) such sets, and d draws all fall into a given one with the chance ((copies - 1) / n)^d.
pub(crate) fn sufficient_draws(largest_share: f64, copies: usize) -> Option<usize> {
    let others = copies.saturating_sub(1) as f64;
    let sets = (1.0 / largest_share).powf(others);
    (copies.max(1)..=DRAWS_MAX).find(|&draws| sets * (others * largest_share).powi(draws as i32) <= NEGLIGIBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_devices_need_too_many_draws() {
        // 1,024 equal shares: n^2 (2/n)^d <= 1e-18 needs d = 9: 1,048,576 x (1/512)^9 = 4.3e-19.
        assert_eq!(sufficient_draws(1.0 / 8.0, 3), None);
        assert_eq!(sufficient_draws(1.0 / 1024.0, 3), Some(9));
        assert_eq!(sufficient_draws(1.0 / 1024.0, 1), Some(1));
    }
}
