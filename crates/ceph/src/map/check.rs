//! What an input must keep, as far as the map goes.

use resilver_crush::CrushMap;

use super::WEIGHT_ONE;
use crate::error::CephError;
use crate::input::{ClusterInput, OsdInput, PoolInput, Ratios};
use crate::settings::{ClusterSettings, OsdSettings};

/// Numbers of OSDs stay below this, since arrays reach to the highest. Ceph's own limit is `mon_max_osd`, by default 10,000.
const OSD_LIMIT: u32 = 1 << 18;

/// That a CRUSH map's devices have numbers that arrays may reach to.
pub(super) fn check_devices(field: &str, crush: &CrushMap) -> Result<(), CephError> {
    let devices = crush.max_device();
    if devices <= OSD_LIMIT as i32 {
        return Ok(());
    }
    let rule = format!("numbers of devices are below {OSD_LIMIT}");
    Err(CephError::invalid(format!("{field}: devices"), devices - 1, rule, "leave the device out, or number it lower"))
}

pub(super) fn check_input(input: &ClusterInput, crush: &CrushMap) -> Result<(), CephError> {
    check_settings(&input.settings, &input.osd_settings)?;
    check_ratios(&input.ratios)?;
    check_frames(input.frames)?;
    check_devices("crushmap", crush)?;
    rising("osds", input.osds.iter().map(|osd| i64::from(osd.id)))?;
    for osd in &input.osds {
        check_osd(osd, input.osd_settings.len())?;
    }
    rising("pools", input.pools.iter().map(|pool| pool.pool.id))?;
    for pool in &input.pools {
        check_pool(pool, crush)?;
    }
    if let Some(mode) = &input.stretch_mode {
        check_barrier("stretch_mode: stretch_mode_bucket", mode.bucket, crush)?;
    }
    Ok(())
}

/// The most frames of a film: each has a place for every OSD.
const MOST_FRAMES: u32 = 1000;

fn check_frames(frames: u32) -> Result<(), CephError> {
    // Whatever is thinned keeps its first frame and its last.
    if frames == 0 || (2..=MOST_FRAMES).contains(&frames) {
        return Ok(());
    }
    let rule = format!("a film has 2 to {MOST_FRAMES} frames, or 0 for none");
    Err(CephError::invalid("frames", frames, rule, "give a number in between"))
}

fn rising(what: &str, numbers: impl Iterator<Item = i64>) -> Result<(), CephError> {
    let mut before = None;
    for number in numbers {
        if before.is_some_and(|before| before >= number) {
            let rule = "each number stands once, in rising order";
            return Err(CephError::invalid(what, number, rule, "sort them and leave the second of two out"));
        }
        before = Some(number);
    }
    Ok(())
}

/// That an OSD can be.
pub(super) fn check_osd(osd: &OsdInput, settings: usize) -> Result<(), CephError> {
    let field = |name: &str| format!("osd.{}: {name}", osd.id);
    if osd.id >= OSD_LIMIT {
        let rule = format!("numbers of OSDs are below {OSD_LIMIT}");
        return Err(CephError::invalid("osds", osd.id, rule, "number it lower"));
    }
    check_weight(&field("reweight"), osd.reweight)?;
    check_weight(&field("affinity"), osd.affinity)?;
    if osd.capacity_bytes == 0 {
        let rule = "an OSD has bytes";
        return Err(CephError::invalid(field("capacity_bytes"), 0, rule, "state its size, as `ceph osd df` does"));
    }
    check_own_settings(osd.id, osd.settings, settings)
}

/// That a reweight or an affinity is from 0 to 1.
pub(super) fn check_weight(field: &str, weight: u32) -> Result<(), CephError> {
    if weight <= WEIGHT_ONE {
        return Ok(());
    }
    let value = f64::from(weight) / f64::from(WEIGHT_ONE);
    Err(CephError::invalid(
        field,
        value,
        "it is from 0 to 1",
        "give a share of 1; weights above belong into the CRUSH map",
    ))
}

/// The least share of its rates that a device works at: below it lies nothing that still answers heartbeats.
const LEAST_SPEED: f64 = 1e-3;

/// That a device may work at a share of its rates.
pub(super) fn check_speed(share: f64) -> Result<(), CephError> {
    if (LEAST_SPEED..=1.0).contains(&share) {
        return Ok(());
    }
    let rule = format!("a device works at a share of its rates from {LEAST_SPEED} to 1");
    Err(CephError::invalid("slow: share", share, rule, "give a share in between, or have the OSD fail"))
}

/// That an OSD's settings are listed.
pub(super) fn check_own_settings(osd: u32, own: u32, count: usize) -> Result<(), CephError> {
    if (own as usize) < count {
        return Ok(());
    }
    let rule = format!("there are {count} lists of settings, numbered from 0");
    Err(CephError::invalid(format!("osd.{osd}: settings"), own, rule, "name one of them"))
}

fn check_pool(pool: &PoolInput, crush: &CrushMap) -> Result<(), CephError> {
    let field = |name: &str| format!("pool {} ({}): {name}", pool.pool.id, pool.name);
    pool.pool.rule_of(crush).map_err(CephError::crush(field("rule")))?;
    for (name, number) in [("size", pool.pool.size), ("pg_num", pool.pool.pg_num), ("pgp_num", pool.pool.pgp_num)] {
        if number == 0 {
            return Err(CephError::invalid(field(name), 0, "it is at least 1", "give 1 or more"));
        }
    }
    let (pg_num, pgp_num) = (pool.pool.pg_num, pool.pool.pgp_num);
    if pgp_num > pg_num {
        let rule = format!("pgp_num is at most pg_num, {pg_num}");
        return Err(CephError::invalid(field("pgp_num"), pgp_num, rule, "give it pg_num or less"));
    }
    check_pg_num(&field("pg_num_target"), pool.pg_num_target)?;
    if let Some(stretch) = &pool.stretch {
        for (name, number) in [("count", stretch.count), ("target", stretch.target)] {
            if number == 0 || number > pool.pool.size {
                let rule = format!("it is from 1 to the size, {}", pool.pool.size);
                let field = field(&format!("peering_crush_bucket_{name}"));
                return Err(CephError::invalid(field, number, rule, "give a number in between"));
            }
        }
        check_barrier(&field("peering_crush_bucket_barrier"), stretch.barrier, crush)?;
        if let Some(member) = stretch.mandatory_member.filter(|&member| crush.bucket(member).is_none()) {
            let field = field("peering_crush_bucket_mandatory_member");
            let rule = "it is a bucket of the CRUSH map";
            return Err(CephError::invalid(field, member, rule, "give the bucket's number, or leave it out"));
        }
    }
    check_sizes(pool, pool.pool.size, pool.min_size)
}

/// That a barrier is a type of buckets of the map.
fn check_barrier(field: &str, barrier: i32, crush: &CrushMap) -> Result<(), CephError> {
    if barrier > 0 && crush.types().contains_key(&barrier) {
        return Ok(());
    }
    let rule = "it is the number of a type of buckets of the CRUSH map";
    Err(CephError::invalid(field, barrier, rule, "give the number that the map has for it"))
}

/// The most groups of a pool that are followed, far above what Ceph's `mon_max_pool_pg_num` lets through by default.
const PG_NUM_LIMIT: u32 = 1 << 24;

/// That a pool may come to have so many groups.
pub(super) fn check_pg_num(field: &str, pg_num: u32) -> Result<(), CephError> {
    if (1..=PG_NUM_LIMIT).contains(&pg_num) {
        return Ok(());
    }
    let rule = format!("a pool comes to have 1 to {PG_NUM_LIMIT} groups");
    Err(CephError::invalid(field, pg_num, rule, "give a number in between"))
}

/// That a pool may have a size and a least size.
pub(super) fn check_sizes(pool: &PoolInput, size: u32, min_size: u32) -> Result<(), CephError> {
    let field = |name: &str| format!("pool {} ({}): {name}", pool.pool.id, pool.name);
    if pool.data_pieces == 0 || pool.data_pieces > size {
        let rule = format!("of the {size} pieces of an object 1 to {size} hold data");
        return Err(CephError::invalid(field("data_pieces"), pool.data_pieces, rule, "correct it, or the size"));
    }
    if let Some(code) = pool.code.as_ref().filter(|code| (code.data(), code.pieces()) != (pool.data_pieces, size)) {
        let rule = format!("it has {} shards of data of {size}", pool.data_pieces);
        return Err(CephError::invalid(field("code"), code.name(), rule, "correct it, or the sizes"));
    }
    if min_size == 0 || min_size > size {
        let rule = format!("it is from 1 to the size, {size}");
        return Err(CephError::invalid(field("min_size"), min_size, rule, "give a number in between"));
    }
    Ok(())
}

/// That ratios are shares, and in order as far as Ceph keeps them so.
fn check_ratios(ratios: &Ratios) -> Result<(), CephError> {
    let named = [
        ("nearfull", ratios.nearfull),
        ("backfillfull", ratios.backfillfull),
        ("full", ratios.full),
        ("failsafe", ratios.failsafe),
    ];
    for (name, value) in named {
        if !(value > 0.0 && value <= 1.0) {
            let rule = "a ratio is a share above 0, at most 1";
            return Err(CephError::invalid(format!("ratios: {name}"), value, rule, "give a share such as 0.9"));
        }
    }
    // Before Luminous the ratio for backfills was a setting of OSDs, which could stand below nearfull.
    for pair in named[1..].windows(2) {
        let [(low, least), (name, value)] = pair else { continue };
        if value < least {
            let rule = format!("it is not below {low} = {least}");
            let remedy = "ceph reports OSD_OUT_OF_ORDER_FULL for such a map; set them in order";
            return Err(CephError::invalid(format!("ratios: {name}"), value, rule, remedy));
        }
    }
    Ok(())
}

/// That settings can be gone by.
pub(super) fn check_settings(settings: &ClusterSettings, own: &[OsdSettings]) -> Result<(), CephError> {
    let ClusterSettings { mgr_tick_period, balancer_sleep_interval, .. } = *settings;
    for (name, value, least) in [
        ("osd_heartbeat_grace", settings.osd_heartbeat_grace, 0.0),
        ("mon_osd_down_out_interval", settings.mon_osd_down_out_interval, 0.0),
        // A period of nothing would look for ever at one time.
        ("mgr_tick_period", mgr_tick_period, 0.1),
        ("balancer_sleep_interval", balancer_sleep_interval, 0.1),
        ("mon_stretch_recovery_min_wait", settings.mon_stretch_recovery_min_wait, 0.0),
    ] {
        if !(value.is_finite() && value >= least && value <= 1e7) {
            let rule = format!("it is a number of seconds from {least} to 10,000,000");
            return Err(CephError::invalid(name, value, rule, "correct the setting"));
        }
    }
    for (name, value) in [
        ("mon_osd_min_in_ratio", settings.mon_osd_min_in_ratio),
        ("mon_osd_min_up_ratio", settings.mon_osd_min_up_ratio),
        ("target_max_misplaced_ratio", settings.target_max_misplaced_ratio),
        ("mon_stretch_cluster_recovery_ratio", settings.mon_stretch_cluster_recovery_ratio),
    ] {
        if !(0.0..=1.0).contains(&value) {
            return Err(CephError::invalid(name, value, "it is a share from 0 to 1", "correct the setting"));
        }
    }
    for (index, one) in own.iter().enumerate() {
        let ratio = one.osd_max_pg_per_osd_hard_ratio;
        if !(0.0..=1e6).contains(&ratio) {
            let field = format!("osd_settings {index}: osd_max_pg_per_osd_hard_ratio");
            return Err(CephError::invalid(field, ratio, "it is from 0 to 1,000,000", "correct the setting"));
        }
        if one.osd_op_num_shards == 0 || one.osd_op_num_threads_per_shard == 0 {
            let field = format!("osd_settings {index}: osd_op_num_shards x osd_op_num_threads_per_shard");
            return Err(CephError::invalid(field, 0, "an OSD has at least one thread", "give 1 or more"));
        }
    }
    Ok(())
}
