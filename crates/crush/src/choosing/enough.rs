//! How many draws settle where an object is, but for a negligible chance.

/// The largest chance of an error that is taken for none.
pub(crate) const NEGLIGIBLE: f64 = 1e-18;
/// Most draws looked at; where more would be needed, there are few devices and placing every object is cheap.
const DRAWS_MAX: usize = 16;

/// At most how likely placement needs draw number `draw` (from 0), among `devices` equal devices.
///
/// It needs draw d only if the d draws before fell on fewer devices than there are copies, that is, all into some set of
/// `copies - 1` devices. Of n devices there are at most n^(copies - 1) / (copies - 1)! such sets, and d draws all fall into
/// a given one with the chance ((copies - 1) / n)^d.
pub(crate) fn chance_of_draw(draw: usize, devices: f64, copies: usize) -> f64 {
    if draw < copies {
        return 1.0;
    }
    let others = copies - 1;
    let orders: f64 = (1..=others).map(|one| one as f64).product();
    let sets = devices.powi(others as i32) / orders;
    (sets * (others as f64 / devices).powi(draw as i32)).min(1.0)
}

/// How many draws to look at, so that a further one puts a copy on one of `targets` with a chance of at most [`NEGLIGIBLE`].
///
/// Draw d is made and falls on a target with the chance of the draw times `targets` / n. Each further draw is at most half
/// as likely, if n is at least twice the number of copies, so all of them together are twice that at most.
pub(crate) fn sufficient_draws(devices: f64, copies: usize, targets: usize) -> Option<usize> {
    if devices < 2.0 * copies as f64 {
        return None;
    }
    let share = targets as f64 / devices;
    (copies.max(1)..=DRAWS_MAX).find(|&draws| 2.0 * share * chance_of_draw(draws, devices, copies) <= NEGLIGIBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_devices_need_too_many_draws() {
        // 1,024 equal devices: n^2 / 2 (2/n)^d 2/n <= 1e-18 needs d = 8: 1,024 x (1/512)^8 = 2.2e-19; d = 7 gives 1.1e-16.
        assert_eq!(sufficient_draws(8.0, 3, 1), None);
        assert_eq!(sufficient_draws(4.0, 3, 0), None);
        assert_eq!(sufficient_draws(1024.0, 3, 1), Some(8));
        assert_eq!(sufficient_draws(1024.0, 1, 1), Some(1));
    }

    #[test]
    fn the_first_draws_are_always_made() {
        // The fourth draw is made if three fell on two devices or one: (1,024^2 / 2) (2 / 1,024)^3 = 2^19 / 2^27 = 1/256.
        let chances = [0, 2, 3].map(|draw| chance_of_draw(draw, 1024.0, 3));
        assert_eq!(chances, [1.0, 1.0, 1.0 / 256.0]);
    }
}
