//! What an OSD lacks that was down and runs again.

use resilver_units::elementary::{exp, ln_1p};

use crate::settings::OsdSettings;

/// Different objects that so many writes hit, evenly over so many objects.
///
/// Each object stays unwritten with probability (1 - 1/n)^w.
#[must_use]
pub fn written_objects(objects: u64, writes: f64) -> u64 {
    if objects == 0 || writes <= 0.0 {
        return 0;
    }
    let objects = objects as f64;
    // The logarithm of 1 - 1/n is taken by `ln_1p`, since n is large.
    let unwritten = if objects <= 1.0 { 0.0 } else { exp(writes * ln_1p(-1.0 / objects)) };
    (objects * (1.0 - unwritten)).ceil() as u64
}

/// Entries that the log of a group keeps on an OSD that has so many groups (`OSDService::get_target_pg_log_entries`).
#[must_use]
pub fn log_entries(settings: &OsdSettings, groups: u64) -> u64 {
    let share = settings.osd_target_pg_log_entries_per_osd / groups.max(1);
    share.clamp(settings.osd_min_pg_log_entries, settings.osd_max_pg_log_entries.max(settings.osd_min_pg_log_entries))
}
