//! Which attempts of a choose step a screen must look at, and how likely each is made.

use crate::inverse::{NEGLIGIBLE, chance_of_draw, sufficient_draws};

/// Most rounds of an indep step looked at; where more would be needed, there are few devices and placing every input is cheap.
const ROUNDS_MAX: u32 = 16;

/// An attempt that may put a target into the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::crush) struct Look {
    pub(in crate::crush) attempt: u32,
    /// At most how likely it is made.
    pub(in crate::crush) chance: f64,
}

/// The attempts of a firstn step for `wanted` of `devices` equal devices, but for negligible ones; `None` where they are many.
pub(in crate::crush) fn firstn_looks(devices: usize, wanted: usize, targets: usize) -> Option<Vec<Look>> {
    let size = devices as f64;
    let attempts = sufficient_draws(size, wanted, targets)?;
    Some((0..attempts).map(|one| Look { attempt: one as u32, chance: chance_of_draw(one, size, wanted) }).collect())
}

/// The attempts of an indep step for `wanted` of `devices` equal devices, but for negligible ones; `None` where they are many.
///
/// In round f position p makes attempt p + `wanted` x f, if it met a device of another position in every round before. In round
/// 0 it meets one of the p positions before it, with a chance of at most p / n, and in a later round one of the others, with at
/// most (`wanted` - 1) / n. So position 0 makes no attempt but its first. Each round is at most half as likely as the one
/// before, if n is at least twice `wanted`, so all rounds from one on are at most twice as likely as that one.
pub(in crate::crush) fn indep_looks(devices: usize, wanted: usize, targets: usize) -> Option<Vec<Look>> {
    if devices < 2 * wanted {
        return None;
    }
    let size = devices as f64;
    let meets_later = (wanted - 1) as f64 / size;
    let chance = |position: usize, round: u32| match round {
        0 => 1.0,
        _ => position as f64 / size * meets_later.powi(round as i32 - 1),
    };
    let share = targets as f64 / size;
    let is_enough = |round: u32| {
        let made: f64 = (0..wanted).map(|position| chance(position, round)).sum();
        2.0 * share * made <= NEGLIGIBLE
    };
    let rounds = (1..=ROUNDS_MAX).find(|&round| is_enough(round))?;
    let looks = (0..rounds).flat_map(|round| {
        let first = usize::from(round > 0);
        (first..wanted).map(move |position| Look {
            attempt: position as u32 + wanted as u32 * round,
            chance: chance(position, round),
        })
    });
    Some(looks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_of_an_indep_step_end_where_they_are_negligible() {
        // Eleven of 1,024, one target: round f is made with at most 55/1,024 (10/1,024)^(f - 1), and falls on the target with
        // 1/1,024. Twice that is 9.1e-17 for f = 7 and 8.9e-19 for f = 8: eight rounds, of 11 attempts and then seven of 10.
        let looks = indep_looks(1024, 11, 1).unwrap();
        assert_eq!(looks.len(), 11 + 7 * 10);
        assert_eq!(looks[11], Look { attempt: 12, chance: 1.0 / 1024.0 });
        assert_eq!(looks[80], Look { attempt: 87, chance: 10.0 / 1024.0 * (10.0_f64 / 1024.0).powi(6) });
        // One position meets nobody, and a target that is none is never hit.
        assert_eq!(indep_looks(1024, 1, 5).unwrap().len(), 1);
        assert_eq!(indep_looks(1024, 11, 0).unwrap().len(), 11);
        // Eleven of 30: a round is a third as likely as the one before, and sixteen are not enough.
        assert!(indep_looks(30, 11, 1).is_none() && indep_looks(21, 11, 0).is_none());
    }
}
