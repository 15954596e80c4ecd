//! Changes in a sentence each.

use crate::input::Change;
use crate::map::{MapChange, OsdMap, StretchChange};

/// The most OSDs that a sentence names.
const MOST_NAMES: usize = 8;

fn named(osds: &[u32]) -> String {
    let names: Vec<String> = osds.iter().take(MOST_NAMES).map(|osd| format!("osd.{osd}")).collect();
    match osds.len() {
        0..=MOST_NAMES => names.join(", "),
        all => format!("{} and {} more", names.join(", "), all - MOST_NAMES),
    }
}

fn are(osds: &[u32]) -> &'static str {
    if osds.len() == 1 { "is" } else { "are" }
}

fn pool_of(map: &OsdMap, pool: i64) -> String {
    map.pool_index(pool).map_or_else(|| pool.to_string(), |place| map.pools()[place].name.clone())
}

fn flags(set: &[crate::input::Flag]) -> String {
    set.iter().map(|flag| format!("{flag:?}").to_lowercase()).collect::<Vec<_>>().join(", ")
}

/// What a change of the plan does.
pub(super) fn sentence(change: &Change, map: &OsdMap) -> String {
    match change {
        Change::Fail { osds } => format!("{} died", named(osds)),
        Change::Stop { osds } => format!("{} {} stopped", named(osds), are(osds)),
        Change::Start { osds } => format!("{} {} started", named(osds), are(osds)),
        Change::Out { osds } => format!("{} {} marked out", named(osds), are(osds)),
        Change::In { osds } => format!("{} {} marked in", named(osds), are(osds)),
        Change::Reweight { osds, weight } => {
            format!("reweight of {} is {:.4}", named(osds), f64::from(*weight) / 65536.0)
        }
        Change::Slow { osds, share } => {
            let verb = if osds.len() == 1 { "works" } else { "work" };
            let speed = if *share < 1.0 { format!("{} %", (share * 1e4).round() / 1e2) } else { "full".to_owned() };
            format!("{} {verb} at {speed} speed", named(osds))
        }
        Change::CrushReweight { item, weight } => format!("CRUSH weight of {item} is {weight}"),
        Change::CrushMove { item, .. } => format!("{item} moved in the CRUSH map"),
        Change::CrushRename { item, name } => format!("{item} renamed to {name}"),
        Change::Add { osds } => {
            let numbers: Vec<u32> = osds.iter().map(|added| added.osd.id).collect();
            format!("{} {} added", named(&numbers), are(&numbers))
        }
        Change::Replace { osds } => {
            let numbers: Vec<u32> = osds.iter().map(|osd| osd.id).collect();
            format!("the {} of {} replaced", if osds.len() == 1 { "device" } else { "devices" }, named(&numbers))
        }
        Change::SetRule { pool, rule } => format!("rule of {} is {rule}", pool_of(map, *pool)),
        Change::PgNum { pool, pg_num } => format!("pg_num of {} is to be {pg_num}", pool_of(map, *pool)),
        Change::PoolSize { pool, size, min_size } => {
            format!("size of {} is {size}, min_size {min_size}", pool_of(map, *pool))
        }
        Change::Crush { .. } => "another CRUSH map".to_owned(),
        Change::Balance { on } => format!("the balancer is {}", if *on { "on" } else { "off" }),
        Change::Upmap { pool, group, pairs } => {
            format!("upmap of {pool}.{group:x} has {} pairs", pairs.len())
        }
        Change::Flags { set, unset } => match (set.is_empty(), unset.is_empty()) {
            (false, true) => format!("{} set", flags(set)),
            (true, _) => format!("{} unset", flags(unset)),
            (false, false) => format!("{} set, {} unset", flags(set), flags(unset)),
        },
        Change::Settings { .. } => "other settings".to_owned(),
        Change::Force { pool, groups } if groups.is_empty() => {
            format!("all groups of {} are forced", pool_of(map, *pool))
        }
        Change::Force { pool, groups } => format!("{} groups of {} are forced", groups.len(), pool_of(map, *pool)),
    }
}

/// What an agent does; nothing of upmap entries, which are told together.
pub(super) fn sentence_of(change: &MapChange, map: &OsdMap) -> Option<String> {
    let pool = |place: usize| &map.pools()[place].name;
    Some(match change {
        MapChange::Down(osds) => format!("the monitors mark {} down", named(osds)),
        MapChange::Up(osds) => format!("the monitors mark {} up", named(osds)),
        MapChange::Out(osds) => format!("the monitors mark {} out", named(osds)),
        MapChange::Split { pool: place, pg_num } => format!("pg_num of {} is {pg_num}", pool(*place)),
        MapChange::Merge { pool: place } => {
            format!("pg_num of {} is {}", pool(*place), map.pools()[*place].pool.pg_num)
        }
        MapChange::PgpNum { pool: place, pgp_num } => format!("pgp_num of {} is {pgp_num}", pool(*place)),
        MapChange::Stretch(StretchChange::Degraded(site)) => {
            format!("the monitors enter degraded stretch mode: {} serves alone", map.crush().item_name(*site))
        }
        MapChange::Stretch(StretchChange::Recovering) => "the site that was down is back and recovers".to_owned(),
        MapChange::Stretch(StretchChange::Healthy) => "the monitors leave degraded stretch mode".to_owned(),
        MapChange::Upmap { .. } | MapChange::DropUpmap { .. } => return None,
    })
}

/// What upmap entries an agent wrote and removed at one time.
pub(super) fn upmaps_of(changes: &[MapChange]) -> Option<String> {
    let written = changes.iter().filter(|change| matches!(change, MapChange::Upmap { pairs, .. } if !pairs.is_empty()));
    let removed = changes.iter().filter(|change| match change {
        MapChange::Upmap { pairs, .. } => pairs.is_empty(),
        MapChange::DropUpmap { .. } => true,
        _ => false,
    });
    let count = |all: usize| if all == 1 { "1 entry".to_owned() } else { format!("{all} entries") };
    match (written.count(), removed.count()) {
        (0, 0) => None,
        (written, 0) => Some(format!("upmap: {} written", count(written))),
        (0, removed) => Some(format!("upmap: {} removed", count(removed))),
        (written, removed) => Some(format!("upmap: {} written, {} removed", count(written), count(removed))),
    }
}
