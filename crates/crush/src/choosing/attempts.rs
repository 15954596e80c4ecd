//! Which attempts of a choose step a screen must look at, and how likely each is made.

use crate::choosing::enough::{NEGLIGIBLE, chance_of_draw, sufficient_draws};

/// Most rounds of an indep step looked at; where more would be needed, there are few devices and placing every input is cheap.
const ROUNDS_MAX: u32 = 16;

/// An attempt that may put a target into the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) attempt: u32,
    /// At most how likely it is made.
    pub(crate) chance: f64,
}

/// The attempts that a screen looks at, but for some that are negligible together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Looks {
    pub(crate) looks: Vec<Look>,
    /// What may be left out of each, so that with the attempts that are not looked at it is [`NEGLIGIBLE`] an attempt.
    pub(crate) negligible: f64,
}

/// The attempts of a firstn step for `wanted` of `devices` equal devices, but for negligible ones; `None` where they are many.
pub(crate) fn firstn_looks(devices: usize, wanted: usize, targets: usize) -> Option<Looks> {
    let size = devices as f64;
    let attempts = sufficient_draws(size, wanted, targets)?;
    let look = |one| Look { attempt: one as u32, chance: chance_of_draw(one, size, wanted) };
    Some(Looks { looks: (0..attempts).map(look).collect(), negligible: NEGLIGIBLE })
}

/// The attempts of an indep step for `wanted` of `devices` equal devices, but for negligible ones; `None` where they are many.
///
/// In round f position p makes attempt p + `wanted` x f, if it met a device of another position in every round before. In round
/// 0 it meets one of the p positions before it, with a chance of at most p / n, and in a later round one of the others, with at
/// most (`wanted` - 1) / n. So position 0 makes no attempt but its first. Each round is at most half as likely as the one
/// before, if n is at least twice `wanted`, so all rounds from one on are at most twice as likely as that one.
pub(crate) fn indep_looks(devices: usize, wanted: usize, targets: usize) -> Option<Looks> {
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
    let left_out = |round: u32| {
        let made: f64 = (0..wanted).map(|position| chance(position, round)).sum();
        share * made / (1.0 - meets_later)
    };
    let count = |rounds: u32| wanted + (rounds as usize - 1) * (wanted - 1);
    let negligible = |rounds: u32| NEGLIGIBLE - left_out(rounds) / count(rounds) as f64;
    // At most three quarters of it, lest draws be thought too low at hardly any height.
    let rounds = (1..=ROUNDS_MAX).find(|&rounds| negligible(rounds) >= NEGLIGIBLE / 4.0)?;
    let looks = (0..rounds).flat_map(|round| {
        let first = usize::from(round > 0);
        (first..wanted).map(move |position| Look {
            attempt: position as u32 + wanted as u32 * round,
            chance: chance(position, round),
        })
    });
    Some(Looks { looks: looks.collect(), negligible: negligible(rounds) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_of_an_indep_step_end_where_they_are_negligible() {
        // Eleven of 1,024, one target: round f is made with at most 55/1,024 (10/1,024)^(f - 1), and falls on the target with
        // 1/1,024. With what follows it that is 4.6e-17 for f = 7, less than three quarters of 1e-18 for each of the 71 attempts
        // before it: seven rounds, of 11 attempts and then six of 10. Of 7.1e-17 there are 2.5e-17 left, 3.5e-19 an attempt.
        let Looks { looks, negligible } = indep_looks(1024, 11, 1).unwrap();
        assert_eq!(looks.len(), 11 + 6 * 10);
        assert!((3.4e-19..3.6e-19).contains(&negligible), "{negligible}");
        assert_eq!(looks[11], Look { attempt: 12, chance: 1.0 / 1024.0 });
        assert_eq!(looks[70], Look { attempt: 76, chance: 10.0 / 1024.0 * (10.0_f64 / 1024.0).powi(5) });
        // One position meets nobody, and a target that is none is never hit.
        assert_eq!(indep_looks(1024, 1, 5).unwrap().looks.len(), 1);
        assert_eq!(indep_looks(1024, 11, 0).unwrap().looks.len(), 11);
        // Eleven of 30: a round is a third as likely as the one before, and sixteen are not enough.
        assert!(indep_looks(30, 11, 1).is_none() && indep_looks(21, 11, 0).is_none());
    }
}
