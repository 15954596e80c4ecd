//! Times that are drawn.

use resilver_kernel::{exp, ln};

use crate::Draws;
use crate::input::TimeInput;

/// A time, drawn where it is not always the same.
pub(super) fn draw(time: &TimeInput, draws: &mut Draws) -> f64 {
    match time {
        TimeInput::Fixed { seconds } => *seconds,
        _ => at(time, draws.uniform_open()),
    }
}

/// The time that is longer than a share `1 - exceeded` of all: from an evenly drawn `exceeded` in (0, 1) a drawn time.
pub(super) fn at(time: &TimeInput, exceeded: f64) -> f64 {
    match time {
        TimeInput::Fixed { seconds } => *seconds,
        TimeInput::Exponential { mean_seconds } => -mean_seconds * ln(exceeded),
        TimeInput::Weibull { shape, scale_seconds, least_seconds } => {
            least_seconds + scale_seconds * exp(ln(-ln(exceeded)) / shape)
        }
        TimeInput::Drawn { seconds } => seconds[(exceeded * seconds.len() as f64) as usize],
    }
}
