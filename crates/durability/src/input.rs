//! What Python asks: a system, how its parts fail, and how it heals. All in SI units; times count from the mission's beginning.

use serde::Deserialize;

/// No device at this place of a set.
pub const NO_DEVICE: u32 = u32::MAX;

/// A system whose durability is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurabilityInput {
    /// How long data has to last, in seconds.
    pub mission_seconds: f64,
    /// The levels of parts from the top; the last is the devices.
    pub levels: Vec<LevelInput>,
    /// What is stored where.
    pub pools: Vec<PoolInput>,
    /// What fails.
    pub failures: Vec<FailureInput>,
    /// How it heals.
    pub repair: RepairInput,
    /// Sectors that cannot be read, if any.
    #[serde(default)]
    pub latent: Option<LatentInput>,
}

/// A level of parts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelInput {
    /// Its name, such as `rack`.
    pub name: String,
    /// For each part the part of the level above that it is in; at the top, 0.
    pub parents: Vec<u32>,
}

/// Groups (sets of pieces) of one code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolInput {
    /// Its name.
    pub name: String,
    /// The code, as a study writes it (`rs 8+3`, `copies 3`, `rs 2+1 over rs 6+1`).
    pub code: String,
    /// Devices of each group by place, one group after the other; [`NO_DEVICE`] where there is none.
    pub sets: Vec<u32>,
    /// Bytes of one piece of each group, or one number for all.
    pub piece_bytes: Vec<u64>,
}

/// A way to fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureInput {
    /// What it is called among the causes of loss.
    pub name: String,
    /// The level of its parts, from 0 at the top.
    pub level: usize,
    /// The parts that fail so; all of the level where there are none.
    #[serde(default)]
    pub parts: Vec<u32>,
    /// When they fail.
    pub law: LawInput,
    /// What becomes of them.
    pub effect: EffectInput,
    /// Several at once, if so: the law is then that of bursts, of the whole system.
    #[serde(default)]
    pub burst: Option<BurstInput>,
}

/// When parts fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum LawInput {
    /// Each at a constant rate (of bursts: all together).
    Exponential {
        /// Failures a second.
        rate_per_second: f64,
    },
    /// Each by its age, from when it was new; a repaired part is new.
    Weibull {
        /// The shape: below 1 the young fail more, above 1 the old.
        shape: f64,
        /// The scale, in seconds.
        scale_seconds: f64,
        /// The age of each part at the beginning, or one for all.
        #[serde(default)]
        age_seconds: Vec<f64>,
    },
    /// At these times, these parts.
    Trace {
        /// When, ascending, in seconds.
        seconds: Vec<f64>,
        /// Which.
        parts: Vec<u32>,
    },
    /// One part after the other, in turn, each so long after the one before (planned work).
    Planned {
        /// When the first.
        first_seconds: f64,
        /// How long after it the next.
        every_seconds: f64,
    },
}

/// What becomes of a failed part.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum EffectInput {
    /// What its devices held is lost.
    Lost,
    /// It is away and comes back with what it holds.
    Away {
        /// For how long.
        lasts: TimeInput,
        /// The share of its devices (each by chance) that do not come back.
        #[serde(default)]
        lost_share: f64,
    },
}

/// How many fail together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstInput {
    /// The level in one part of which they all are, drawn evenly; anywhere where there is none.
    #[serde(default)]
    pub within: Option<usize>,
    /// How many parts: each number and its weight. What is more than there are is all.
    pub sizes: Vec<(u32, f64)>,
    /// Over how long they are spread, evenly, in seconds.
    #[serde(default)]
    pub spread_seconds: f64,
}

/// A time that is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum TimeInput {
    /// Always the same.
    Fixed {
        /// It.
        seconds: f64,
    },
    /// Exponentially distributed.
    Exponential {
        /// Its mean.
        mean_seconds: f64,
    },
    /// Weibull, and a least time before it.
    Weibull {
        /// The shape.
        shape: f64,
        /// The scale.
        scale_seconds: f64,
        /// What is added.
        #[serde(default)]
        least_seconds: f64,
    },
    /// One of these, each as likely.
    Drawn {
        /// They.
        seconds: Vec<f64>,
    },
}

/// How it heals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairInput {
    /// From a loss until it is known and repair may begin.
    pub detection: TimeInput,
    /// From then until there is something to repair to: zero where space is spare.
    pub replacement: TimeInput,
    /// How fast.
    pub speed: SpeedInput,
    /// What comes back at once.
    pub returns: Returns,
    /// Whether groups that lack more pieces are made whole first.
    pub most_lost_first: bool,
}

/// What of a lost device comes back at once.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// All that it held, at the end of its repair.
    Devices,
    /// Group after group, evenly over its repair, in a random order.
    Groups,
}

/// How fast lost devices are made whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum SpeedInput {
    /// Each takes this time, whatever else is being repaired.
    Parallel {
        /// The time of each.
        takes: TimeInput,
    },
    /// One after the other, as they became ready.
    Serial {
        /// The time of each.
        takes: TimeInput,
        /// How many at once in the whole system. Where there is none, each waits for those before it that share a group with it, so
        /// that every RAID set has a repair of its own.
        #[serde(default)]
        crews: Option<usize>,
    },
    /// Times that were simulated or measured, by how many devices are being repaired at once.
    ByLost {
        /// Of one, two, three and so on at once; the last is that of more. Where the number changes, what is left of the work goes
        /// on at the new speed.
        takes: Vec<TimeInput>,
    },
    /// As fast as the bandwidth lasts, shared max-min fairly by what is repaired at once.
    Shared {
        /// What each device gives to repair, reads and writes together, in bytes a second.
        device_bytes_per_second: f64,
        /// What parts of upper levels pass in each direction.
        limits: Vec<LimitInput>,
        /// Whether a lost device is made anew on one replacement, else spread over all that are left.
        onto_replacement: bool,
    },
}

/// What a part of a level passes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitInput {
    /// The level.
    pub level: usize,
    /// Bytes a second for repair.
    pub bytes_per_second: f64,
}

/// Sectors that cannot be read, found by scrubbing or too late.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentInput {
    /// Errors that a byte read meets by itself (1e-15 a bit is 8e-15).
    #[serde(default)]
    pub errors_per_byte_read: f64,
    /// Errors that come up on a stored byte a second.
    #[serde(default)]
    pub errors_per_byte_second: f64,
    /// How often every byte is read and mended; never where there is none.
    #[serde(default)]
    pub scrub_every_seconds: Option<f64>,
    /// Bytes that one error takes.
    pub bytes_per_error: u64,
}
