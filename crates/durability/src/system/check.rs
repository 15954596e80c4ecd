//! What of an input means nothing, found before anything is built of it.

use crate::DurabilityError;
use crate::input::{
    BurstInput, DurabilityInput, EffectInput, FailureInput, LatentInput, LawInput, RepairInput, SpeedInput, TimeInput,
};

type Checked = Result<(), DurabilityError>;

/// An error where a rule does not hold.
fn hold(is_held: bool, field: impl FnOnce() -> String, value: impl ToString, rule: &str, remedy: &str) -> Checked {
    if is_held { Ok(()) } else { Err(DurabilityError::invalid(field(), value, rule, remedy)) }
}

/// A number above zero, and not without end.
fn above_zero(field: impl FnOnce() -> String, value: f64, remedy: &str) -> Checked {
    hold(value.is_finite() && value > 0.0, field, value, "it is a finite number above 0", remedy)
}

/// A number from zero on, and not without end.
fn from_zero(field: impl FnOnce() -> String, value: f64, remedy: &str) -> Checked {
    hold(value.is_finite() && value >= 0.0, field, value, "it is a finite number from 0 on", remedy)
}

/// Checks all but the pools, which are checked where they are built.
pub(super) fn check(input: &DurabilityInput) -> Checked {
    above_zero(|| "mission_seconds".into(), input.mission_seconds, "say how long data has to last")?;
    check_levels(input)?;
    hold(!input.failures.is_empty(), || "failures".into(), "[]", "something fails", "add a failure")?;
    for (number, failure) in input.failures.iter().enumerate() {
        check_failure(input, failure, &format!("failures[{number}]"))?;
    }
    check_repair(input, &input.repair)?;
    input.latent.as_ref().map_or(Ok(()), check_latent)
}

fn check_levels(input: &DurabilityInput) -> Checked {
    hold(!input.levels.is_empty(), || "levels".into(), "[]", "there is a level at least", "add that of the devices")?;
    let mut above = 1;
    for (number, level) in input.levels.iter().enumerate() {
        let field = || format!("levels[{number}].parents");
        hold(!level.parents.is_empty(), field, "[]", "a level has a part at least", "add one, or leave the level out")?;
        let is_numbered = level.parents.len() < u32::MAX as usize;
        hold(is_numbered, field, level.parents.len(), "a level has fewer than 2^32 - 1 parts", "take fewer")?;
        let wrong = level.parents.iter().position(|&parent| parent as usize >= above);
        if let Some(part) = wrong {
            let rule = format!("the level above has {above} parts, numbered from 0");
            let field = format!("levels[{number}].parents[{part}]");
            return Err(DurabilityError::invalid(field, level.parents[part], rule, "name one of them"));
        }
        above = level.parents.len();
    }
    Ok(())
}

fn check_failure(input: &DurabilityInput, failure: &FailureInput, path: &str) -> Checked {
    let levels = input.levels.len();
    let level = || format!("{path}.level");
    hold(failure.level < levels, level, failure.level, "it is the number of a level, from 0 at the top", "name one")?;
    let parts = input.levels[failure.level].parents.len();
    let mut seen = vec![false; parts];
    for (place, &part) in failure.parts.iter().enumerate() {
        let field = || format!("{path}.parts[{place}]");
        hold(
            (part as usize) < parts,
            field,
            part,
            "it is the number of a part of the level",
            "name one that there is",
        )?;
        let is_new = !std::mem::replace(&mut seen[part as usize], true);
        hold(is_new, field, part, "a part is named once", "leave the second out")?;
    }
    let members = if failure.parts.is_empty() { parts } else { failure.parts.len() };
    check_law(failure, parts, members, path)?;
    if let EffectInput::Away { lasts, lost_share } = &failure.effect {
        check_time(lasts, &format!("{path}.effect.lasts"), false)?;
        let field = || format!("{path}.effect.lost_share");
        hold((0.0..=1.0).contains(lost_share), field, lost_share, "it is a share from 0 to 1", "give one")?;
    }
    failure.burst.as_ref().map_or(Ok(()), |burst| check_burst(failure, burst, path))
}

fn check_law(failure: &FailureInput, parts: usize, members: usize, path: &str) -> Checked {
    match &failure.law {
        LawInput::Exponential { rate_per_second } => above_zero(
            || format!("{path}.law.rate_per_second"),
            *rate_per_second,
            "give a rate, or leave the failure out where it never comes",
        ),
        LawInput::Weibull { shape, scale_seconds, age_seconds } => {
            above_zero(|| format!("{path}.law.shape"), *shape, "give one: 1 is a constant rate")?;
            above_zero(|| format!("{path}.law.scale_seconds"), *scale_seconds, "give one")?;
            let field = || format!("{path}.law.age_seconds");
            let is_counted = age_seconds.len() <= 1 || age_seconds.len() == members;
            let rule = "there is no age (all are new), one for all, or one for each part that fails so";
            hold(is_counted, field, format!("{} ages of {members} parts", age_seconds.len()), rule, "give as many")?;
            for (place, &age) in age_seconds.iter().enumerate() {
                from_zero(|| format!("{path}.law.age_seconds[{place}]"), age, "give the age at the beginning")?;
            }
            Ok(())
        }
        LawInput::Trace { seconds, parts: named } => {
            let field = || format!("{path}.law.parts");
            let is_paired = seconds.len() == named.len() && !seconds.is_empty();
            let value = format!("{} times and {} parts", seconds.len(), named.len());
            hold(is_paired, field, value, "a trace has a part for each of its times, and one at least", "pair them")?;
            for (place, (&at, &part)) in seconds.iter().zip(named).enumerate() {
                from_zero(|| format!("{path}.law.seconds[{place}]"), at, "count from the mission's beginning")?;
                let is_later = place == 0 || seconds[place - 1] <= at;
                let remedy = "sort the trace by time";
                hold(is_later, || format!("{path}.law.seconds[{place}]"), at, "a trace never runs backwards", remedy)?;
                let is_one = (part as usize) < parts && (failure.parts.is_empty() || failure.parts.contains(&part));
                let rule = "it is the number of a part that fails so";
                hold(is_one, || format!("{path}.law.parts[{place}]"), part, rule, "name one that there is")?;
            }
            Ok(())
        }
        LawInput::Planned { first_seconds, every_seconds } => {
            from_zero(|| format!("{path}.law.first_seconds"), *first_seconds, "count from the mission's beginning")?;
            above_zero(|| format!("{path}.law.every_seconds"), *every_seconds, "say how long after one the next is")
        }
    }
}

fn check_burst(failure: &FailureInput, burst: &BurstInput, path: &str) -> Checked {
    let is_timed = !matches!(failure.law, LawInput::Weibull { .. } | LawInput::Trace { .. });
    let rule = "bursts come at a constant rate, or are planned";
    let remedy = "give an exponential law, or leave the burst out and name the parts that fail together in a trace";
    hold(is_timed, || format!("{path}.law"), "weibull or trace, with a burst", rule, remedy)?;
    if let Some(within) = burst.within {
        let rule = "a burst lies within a part of the level of what fails, or of one above it";
        hold(within <= failure.level, || format!("{path}.burst.within"), within, rule, "name such a level")?;
    }
    hold(!burst.sizes.is_empty(), || format!("{path}.burst.sizes"), "[]", "a burst has a size", "give one")?;
    let mut sum = 0.0;
    for (place, &(size, weight)) in burst.sizes.iter().enumerate() {
        let field = || format!("{path}.burst.sizes[{place}]");
        hold(size > 0, field, size, "a part fails at least", "give a number of 1 or more")?;
        from_zero(field, weight, "give its weight among all sizes")?;
        sum += weight;
    }
    above_zero(|| format!("{path}.burst.sizes"), sum, "give weights that add up to more than 0")?;
    from_zero(|| format!("{path}.burst.spread_seconds"), burst.spread_seconds, "0 is all at once")
}

/// Checks a time; a repair takes some time at least.
fn check_time(time: &TimeInput, path: &str, is_some: bool) -> Checked {
    let one = |field: String, value: f64| {
        let remedy = "give a time in seconds";
        if is_some { above_zero(|| field, value, remedy) } else { from_zero(|| field, value, remedy) }
    };
    match time {
        TimeInput::Fixed { seconds } => one(format!("{path}.seconds"), *seconds),
        TimeInput::Exponential { mean_seconds } => {
            above_zero(|| format!("{path}.mean_seconds"), *mean_seconds, "give a mean in seconds")
        }
        TimeInput::Weibull { shape, scale_seconds, least_seconds } => {
            above_zero(|| format!("{path}.shape"), *shape, "give one: 1 is an exponential time")?;
            above_zero(|| format!("{path}.scale_seconds"), *scale_seconds, "give one")?;
            from_zero(|| format!("{path}.least_seconds"), *least_seconds, "give what is added to each")
        }
        TimeInput::Drawn { seconds } => {
            let field = || format!("{path}.seconds");
            hold(!seconds.is_empty(), field, "[]", "there is a time to draw", "give one")?;
            let mut times = seconds.iter().enumerate();
            times.try_for_each(|(place, &seconds)| one(format!("{path}.seconds[{place}]"), seconds))
        }
    }
}

fn check_repair(input: &DurabilityInput, repair: &RepairInput) -> Checked {
    check_time(&repair.detection, "repair.detection", false)?;
    check_time(&repair.replacement, "repair.replacement", false)?;
    match &repair.speed {
        SpeedInput::Parallel { takes } => check_time(takes, "repair.speed.takes", true),
        SpeedInput::Serial { takes, crews } => {
            let field = || "repair.speed.crews".into();
            hold(*crews != Some(0), field, 0, "there is one repair crew at least", "give one or more")?;
            check_time(takes, "repair.speed.takes", true)
        }
        SpeedInput::ByLost { takes } => {
            let field = || "repair.speed.takes".into();
            hold(!takes.is_empty(), field, "[]", "there is the time of one lost at a time", "give it")?;
            let mut times = takes.iter().enumerate();
            times.try_for_each(|(place, takes)| check_time(takes, &format!("repair.speed.takes[{place}]"), true))
        }
        SpeedInput::Shared { device_bytes_per_second, limits, .. } => {
            let field = || "repair.speed.device_bytes_per_second".into();
            above_zero(field, *device_bytes_per_second, "say what a device gives to repair")?;
            for (place, limit) in limits.iter().enumerate() {
                let field = || format!("repair.speed.limits[{place}].level");
                let is_upper = limit.level + 1 < input.levels.len();
                let rule = "it is the number of a level above the devices";
                hold(is_upper, field, limit.level, rule, "name one; devices have a rate of their own")?;
                let is_first = limits[..place].iter().all(|other| other.level != limit.level);
                hold(is_first, field, limit.level, "a level has one limit", "leave the second out")?;
                let field = || format!("repair.speed.limits[{place}].bytes_per_second");
                above_zero(field, limit.bytes_per_second, "say what a part passes, or leave the limit out")?;
            }
            Ok(())
        }
    }
}

fn check_latent(latent: &LatentInput) -> Checked {
    let remedy = "give a rate, or leave it out for none";
    from_zero(|| "latent.errors_per_byte_read".into(), latent.errors_per_byte_read, remedy)?;
    from_zero(|| "latent.errors_per_byte_second".into(), latent.errors_per_byte_second, remedy)?;
    if let Some(every) = latent.scrub_every_seconds {
        let remedy = "say how often all is read, or leave it out for never";
        above_zero(|| "latent.scrub_every_seconds".into(), every, remedy)?;
    }
    let field = || "latent.bytes_per_error".into();
    hold(
        latent.bytes_per_error > 0,
        field,
        latent.bytes_per_error,
        "an error takes a byte at least",
        "give the sector's",
    )
}
