//! The tunables of a CRUSH map: which version of each decision its cluster uses.

/// Numbers that select historic or corrected behaviour; a map carries them, and all its clients obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunables {
    /// Retries in the same bucket after a collision, before descending again from the root of the step.
    pub choose_local_tries: u32,
    /// Retries by permutation of the same bucket, after which the descent starts again.
    pub choose_local_fallback_tries: u32,
    /// Attempts per copy, less one.
    pub choose_total_tries: u32,
    /// Whether a failed descent below the failure domain is tried once (1) or as often as a whole descent (0).
    pub chooseleaf_descend_once: u32,
    /// How the attempt number reaches the descent below the failure domain: 0 not at all, n shifted right by n - 1.
    pub chooseleaf_vary_r: u32,
    /// Whether the descent below the failure domain ignores how many copies were placed before.
    pub chooseleaf_stable: u32,
    /// Which straw lengths a straw bucket gets: 0 historic, 1 and above corrected.
    pub straw_calc_version: u32,
    /// Which bucket kinds the map's editors may create, a bit each. Placement does not read it.
    pub allowed_bucket_algs: u32,
    /// Descents a multi-step-retry rule tries for each position (Ceph 19 and later).
    pub msr_descents: u32,
    /// Draws such a descent makes at each step before it gives up.
    pub msr_collision_tries: u32,
}

/// Bits of the bucket kinds every release allowed: uniform (1), list (2) and straw (4).
const LEGACY_ALGS: u32 = (1 << 1) | (1 << 2) | (1 << 4);
/// The same with straw2 (5).
const HAMMER_ALGS: u32 = LEGACY_ALGS | (1 << 5);

/// What a map without tunables for multi-step retries means by them.
const MSR_DEFAULT: u32 = 100;

impl Tunables {
    /// The behaviour of Ceph 0.48 "argonaut", also called legacy; what a text map without tunables means.
    pub const ARGONAUT: Self = Self {
        choose_local_tries: 2,
        choose_local_fallback_tries: 5,
        choose_total_tries: 19,
        chooseleaf_descend_once: 0,
        chooseleaf_vary_r: 0,
        chooseleaf_stable: 0,
        straw_calc_version: 0,
        allowed_bucket_algs: LEGACY_ALGS,
        msr_descents: MSR_DEFAULT,
        msr_collision_tries: MSR_DEFAULT,
    };
    /// Ceph 0.56 "bobtail": no local retries, more descents.
    pub const BOBTAIL: Self = Self {
        choose_local_tries: 0,
        choose_local_fallback_tries: 0,
        choose_total_tries: 50,
        chooseleaf_descend_once: 1,
        ..Self::ARGONAUT
    };
    /// Ceph 0.80 "firefly": descents below the failure domain vary with the attempt.
    pub const FIREFLY: Self = Self { chooseleaf_vary_r: 1, ..Self::BOBTAIL };
    /// Ceph 0.94 "hammer": corrected straw lengths, straw2 allowed.
    pub const HAMMER: Self = Self { straw_calc_version: 1, allowed_bucket_algs: HAMMER_ALGS, ..Self::FIREFLY };
    /// Ceph 10 "jewel", optimal to this day: stable descents below the failure domain.
    pub const JEWEL: Self = Self { chooseleaf_stable: 1, ..Self::HAMMER };

    /// The profile of this name.
    ///
    /// # Arguments
    /// * `name` - `argonaut` (or `legacy`), `bobtail`, `firefly`, `hammer`, `jewel` (or `optimal`).
    ///
    /// # Returns
    /// The tunables, or `None` for any other name.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::Tunables;
    /// assert_eq!(Tunables::profile("optimal"), Some(Tunables::JEWEL));
    /// ```
    #[must_use]
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "argonaut" | "legacy" => Some(Self::ARGONAUT),
            "bobtail" => Some(Self::BOBTAIL),
            "firefly" => Some(Self::FIREFLY),
            "hammer" => Some(Self::HAMMER),
            "jewel" | "optimal" => Some(Self::JEWEL),
            _ => None,
        }
    }

    /// The tunable of this name, to read or set: the names that text and JSON maps use.
    pub(crate) fn field_mut(&mut self, name: &str) -> Option<&mut u32> {
        match name {
            "choose_local_tries" => Some(&mut self.choose_local_tries),
            "choose_local_fallback_tries" => Some(&mut self.choose_local_fallback_tries),
            "choose_total_tries" => Some(&mut self.choose_total_tries),
            "chooseleaf_descend_once" => Some(&mut self.chooseleaf_descend_once),
            "chooseleaf_vary_r" => Some(&mut self.chooseleaf_vary_r),
            "chooseleaf_stable" => Some(&mut self.chooseleaf_stable),
            "straw_calc_version" => Some(&mut self.straw_calc_version),
            "allowed_bucket_algs" => Some(&mut self.allowed_bucket_algs),
            "msr_descents" => Some(&mut self.msr_descents),
            "msr_collision_tries" => Some(&mut self.msr_collision_tries),
            _ => None,
        }
    }

    /// Every tunable with its name, in the order `crushtool --decompile` writes them.
    pub(crate) fn named(&self) -> [(&'static str, u32); 10] {
        [
            ("choose_local_tries", self.choose_local_tries),
            ("choose_local_fallback_tries", self.choose_local_fallback_tries),
            ("choose_total_tries", self.choose_total_tries),
            ("chooseleaf_descend_once", self.chooseleaf_descend_once),
            ("chooseleaf_vary_r", self.chooseleaf_vary_r),
            ("chooseleaf_stable", self.chooseleaf_stable),
            ("straw_calc_version", self.straw_calc_version),
            ("allowed_bucket_algs", self.allowed_bucket_algs),
            ("msr_descents", self.msr_descents),
            ("msr_collision_tries", self.msr_collision_tries),
        ]
    }
}
