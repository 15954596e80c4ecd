//! Rules: the steps by which a map turns an input into devices.

/// The hole that an indep rule leaves where it finds no device.
pub const NONE: i32 = 0x7fff_ffff;

/// Smallest and largest number of copies of a rule that names none; releases from Ceph 17 on write these.
pub(crate) const SIZES: (u32, u32) = (1, 100);

/// One step of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Start from this bucket (or device).
    Take(i32),
    /// Replace each item in hand by items chosen below it.
    Choose(Choose),
    /// Replace the bucket in hand by `count` items of a type below it, in a multi-step-retry rule (Ceph 19 and later).
    ChooseMsr {
        /// How many items; zero means as many as are asked for.
        count: i32,
        /// Type of the items to choose; 0 is a device.
        type_id: i32,
    },
    /// Append the items in hand to the result.
    Emit,
    /// Do nothing.
    Noop,
    /// Attempts per copy for the steps that follow; zero leaves the map's tunable.
    SetChooseTries(i32),
    /// Attempts below the failure domain; zero leaves the map's tunable.
    SetChooseleafTries(i32),
    /// Retries in the same bucket.
    SetChooseLocalTries(i32),
    /// Retries by permutation.
    SetChooseLocalFallbackTries(i32),
    /// The tunable `chooseleaf_vary_r` for the steps that follow.
    SetChooseleafVaryR(i32),
    /// The tunable `chooseleaf_stable` for the steps that follow.
    SetChooseleafStable(i32),
    /// Descents that a multi-step-retry rule tries in each of its blocks.
    SetMsrDescents(i32),
    /// Draws that such a descent makes for an item that nothing else uses before it gives up.
    SetMsrCollisionTries(i32),
}

/// A choose step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choose {
    /// Whether results are compacted (firstn, replicas) or keep their positions (indep, erasure codes).
    pub firstn: bool,
    /// Whether to go on to a device below each chosen item (chooseleaf).
    pub leaf: bool,
    /// How many items; zero or below counts back from the number of copies asked for.
    pub count: i32,
    /// Type of the items to choose; 0 is a device.
    pub type_id: i32,
}

/// A rule of a CRUSH map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The rule's id.
    pub id: u32,
    /// The rule's name.
    pub name: String,
    /// The number by which pools of older clusters name the rule; equal to the id in later ones.
    pub ruleset: u32,
    /// The kind of pool it serves: 1 replicated, 3 erasure coded, 4 and 5 the same with multi-step retries (MSR).
    pub pool_kind: u8,
    /// Smallest number of copies it serves.
    pub min_size: u32,
    /// Largest number of copies it serves.
    pub max_size: u32,
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Step {
    /// The step that sets something to `value`, by the name that maps use.
    ///
    /// # Arguments
    /// * `name` - `set_choose_tries`, `set_chooseleaf_tries`, ...
    /// * `value` - the number to set.
    ///
    /// # Returns
    /// The step, or `None` for any other name.
    pub(crate) fn setting(name: &str, value: i32) -> Option<Self> {
        match name {
            "set_choose_tries" => Some(Self::SetChooseTries(value)),
            "set_chooseleaf_tries" => Some(Self::SetChooseleafTries(value)),
            "set_choose_local_tries" => Some(Self::SetChooseLocalTries(value)),
            "set_choose_local_fallback_tries" => Some(Self::SetChooseLocalFallbackTries(value)),
            "set_chooseleaf_vary_r" => Some(Self::SetChooseleafVaryR(value)),
            "set_chooseleaf_stable" => Some(Self::SetChooseleafStable(value)),
            "set_msr_descents" => Some(Self::SetMsrDescents(value)),
            "set_msr_collision_tries" => Some(Self::SetMsrCollisionTries(value)),
            _ => None,
        }
    }

    /// The step of this number in a binary map, with its two arguments.
    ///
    /// # Returns
    /// The step, or `None` for a number that no release uses.
    pub(crate) fn from_number(number: u32, first: i32, second: i32) -> Option<Self> {
        let choose = |firstn, leaf| Self::Choose(Choose { firstn, leaf, count: first, type_id: second });
        Some(match number {
            0 => Self::Noop,
            1 => Self::Take(first),
            2 => choose(true, false),
            3 => choose(false, false),
            4 => Self::Emit,
            6 => choose(true, true),
            7 => choose(false, true),
            8 => Self::SetChooseTries(first),
            9 => Self::SetChooseleafTries(first),
            10 => Self::SetChooseLocalTries(first),
            11 => Self::SetChooseLocalFallbackTries(first),
            12 => Self::SetChooseleafVaryR(first),
            13 => Self::SetChooseleafStable(first),
            14 => Self::SetMsrDescents(first),
            15 => Self::SetMsrCollisionTries(first),
            16 => Self::ChooseMsr { count: first, type_id: second },
            _ => return None,
        })
    }

    /// The step's number in a binary map, and its two arguments.
    pub(crate) fn number(self) -> (u32, i32, i32) {
        match self {
            Self::Noop => (0, 0, 0),
            Self::Take(item) => (1, item, 0),
            Self::Choose(choose) => {
                let number = 3 - u32::from(choose.firstn) + 4 * u32::from(choose.leaf);
                (number, choose.count, choose.type_id)
            }
            Self::Emit => (4, 0, 0),
            Self::SetChooseTries(value) => (8, value, 0),
            Self::SetChooseleafTries(value) => (9, value, 0),
            Self::SetChooseLocalTries(value) => (10, value, 0),
            Self::SetChooseLocalFallbackTries(value) => (11, value, 0),
            Self::SetChooseleafVaryR(value) => (12, value, 0),
            Self::SetChooseleafStable(value) => (13, value, 0),
            Self::SetMsrDescents(value) => (14, value, 0),
            Self::SetMsrCollisionTries(value) => (15, value, 0),
            Self::ChooseMsr { count, type_id } => (16, count, type_id),
        }
    }

    /// The name and value of a step that sets something, else `None`.
    pub(crate) fn as_setting(self) -> Option<(&'static str, i32)> {
        match self {
            Self::SetChooseTries(value) => Some(("set_choose_tries", value)),
            Self::SetChooseleafTries(value) => Some(("set_chooseleaf_tries", value)),
            Self::SetChooseLocalTries(value) => Some(("set_choose_local_tries", value)),
            Self::SetChooseLocalFallbackTries(value) => Some(("set_choose_local_fallback_tries", value)),
            Self::SetChooseleafVaryR(value) => Some(("set_chooseleaf_vary_r", value)),
            Self::SetChooseleafStable(value) => Some(("set_chooseleaf_stable", value)),
            Self::SetMsrDescents(value) => Some(("set_msr_descents", value)),
            Self::SetMsrCollisionTries(value) => Some(("set_msr_collision_tries", value)),
            Self::Take(_) | Self::Choose(_) | Self::ChooseMsr { .. } | Self::Emit | Self::Noop => None,
        }
    }
}
