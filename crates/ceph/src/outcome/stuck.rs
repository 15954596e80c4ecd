//! Groups that are not clean at the end, and why.

use std::collections::BTreeMap;

use super::tries::tries_needed;
use super::{Column, Table, reals, texts};
use crate::groups::{Group, Tally, is_osd, places_held, words};
use crate::healing::{Cause, Healing};
use crate::input::Flag;

fn set_text(set: &[i32]) -> String {
    let name = |&osd: &i32| if is_osd(osd) { osd.to_string() } else { "-".to_owned() };
    set.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn osds_text(osds: &[u32]) -> String {
    osds.iter().map(|osd| format!("osd.{osd}")).collect::<Vec<_>>().join(", ")
}

/// (reason, whether an OSD that is down and may return has the data) of a group without its data.
fn without_data(healing: &Healing, group: &Group) -> (String, bool) {
    let protection = &healing.protections[group.pool];
    let needed = protection.data_pieces;
    let dead = healing.dead();
    let kept = places_held(&group.pieces, protection, |piece| piece.is_whole() && !dead.contains(&piece.osd));
    let holders = group.pieces.iter().filter(|piece| piece.is_whole()).map(|piece| piece.osd);
    let mut down: Vec<u32> = holders.filter(|&osd| !healing.answers(osd)).collect();
    down.sort_unstable();
    down.dedup();
    let up = places_held(&group.pieces, protection, |piece| piece.is_whole() && healing.answers(piece.osd));
    let what = if needed == 1 {
        "no complete copy is up".to_owned()
    } else if protection.code.is_some() {
        format!("{} complete shards are up, from which its code does not restore the others", up.count_ones())
    } else {
        format!("{} complete pieces are up, and it takes {needed}", up.count_ones())
    };
    if protection.survives(kept, 0) {
        (format!("{what}; it waits for {}", osds_text(&down)), true)
    } else if down.is_empty() {
        (format!("{what}, and no OSD that is down has any"), false)
    } else {
        (format!("{what}; {} died", osds_text(&down)), false)
    }
}

fn waits(cause: Cause) -> String {
    match cause {
        Cause::Local(osd) => format!("it waits for a slot of its primary osd.{osd}"),
        Cause::Remote(osd) => format!("it waits for a slot of its target osd.{osd}"),
        Cause::Space(osd) => format!("osd.{osd} has no space for it"),
        Cause::Retry => "it lost a slot and asks again".to_owned(),
        Cause::Paused => "a flag, or an OSD that died and is not down yet, holds it".to_owned(),
    }
}

fn found_of(group: &Group) -> usize {
    group.up.iter().filter(|&&osd| is_osd(osd)).count()
}

/// The tries that a rule needs, by PG: of those whose rule gives up before it has found all.
fn tries_by_pg(healing: &Healing, numbers: &[usize]) -> BTreeMap<usize, i32> {
    let mut by_pool: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for group in numbers.iter().map(|&number| &healing.groups[number]) {
        if found_of(group) < healing.protections[group.pool].size as usize {
            by_pool.entry(group.pool).or_default().push(group.number);
        }
    }
    let of_pool = |(pool, numbers): (usize, Vec<u32>)| {
        let (tries, filled) = tries_needed(&healing.map, pool, &numbers)?;
        Some(filled.into_iter().filter_map(move |number| Some((healing.table.get(pool, number)? as usize, tries))))
    };
    by_pool.into_iter().filter_map(of_pool).flatten().collect()
}

/// Why an OSD withholds PGs, and what lets them in.
fn not_taken_on(healing: &Healing, osd: u32) -> String {
    let settings = healing.map.settings_of(osd);
    let wanted = healing.groups.iter().filter(|group| group.exists && group.up.contains(&(osd as i32))).count();
    let (per_osd, ratio) = (settings.mon_max_pg_per_osd, settings.osd_max_pg_per_osd_hard_ratio);
    let enough = (10.0 * wanted as f64 / f64::from(per_osd)).ceil() / 10.0;
    format!(
        "osd.{osd} is to have {wanted} PGs and takes on no more than {} (mon_max_pg_per_osd {per_osd} x \
         osd_max_pg_per_osd_hard_ratio {ratio}); a ratio of {enough} lets them in",
        settings.most_groups().unwrap_or_default()
    )
}

/// (state, reason) of a group.
fn state_of(healing: &Healing, number: usize, tries: Option<i32>) -> (String, String) {
    let (group, job) = (&healing.groups[number], &healing.jobs[number]);
    let protection = &healing.protections[group.pool];
    if let Some(osd) = group.acting.iter().find(|&&osd| osd >= 0 && healing.hung.contains(&(osd as u32))) {
        let why = "is dead and still up in the map, as the monitors mark no further OSD down";
        let rule = if healing.map.has(Flag::NoDown) { "nodown is set" } else { "mon_osd_min_up_ratio" };
        return ("stale".to_owned(), format!("osd.{osd} {why} ({rule}): requests to it hang"));
    }
    if group.tally.is_down {
        let (reason, held) = without_data(healing, group);
        return (words(group, job.moving, held), reason);
    }
    let state = words(group, job.moving, false);
    let found = found_of(group);
    let barrier = healing.map.barrier(group.pool).filter(|barrier| !barrier.admits(&group.acting));
    let objection = barrier.map(|barrier| barrier.objection(&group.acting));
    let reason = if let Some(osd) = group.withheld {
        not_taken_on(healing, osd)
    } else if let Some((cause, _)) = job.waits {
        waits(cause)
    } else if job.work.is_some() {
        "the run ended while it moved".to_owned()
    } else if let Some(tries) = tries {
        let size = protection.size;
        format!("its rule gives up at {found} OSDs of {size}; with `step set_choose_tries {tries}` it finds all")
    } else if found < protection.size as usize {
        let osds = if found == 1 { "OSD that is" } else { "OSDs that are" };
        format!("its rule finds {found} {osds} up, of {}", protection.size)
    } else if let Some(objection) = objection {
        return (state, objection);
    } else {
        "it is below min_size, and osd_allow_recovery_below_min_size is false".to_owned()
    };
    (state, objection.map_or_else(|| reason.clone(), |objection| format!("{objection}; {reason}")))
}

/// A row a group.
pub(super) fn stuck(healing: &Healing) -> Table {
    let numbers: Vec<usize> = (0..healing.groups.len())
        .filter(|&number| healing.groups[number].exists && !healing.groups[number].tally.is_clean())
        .collect();
    let tries = tries_by_pg(healing, &numbers);
    let state = |&number: &usize| state_of(healing, number, tries.get(&number).copied());
    let (states, reasons): (Vec<String>, Vec<String>) = numbers.iter().map(state).unzip();
    let group = |&number: &usize| &healing.groups[number];
    let id = |group: &Group| healing.map.pools()[group.pool].pool.id;
    let counts = |of: fn(&Tally) -> u64| numbers.iter().map(|number| of(&group(number).tally) as i64).collect();
    // One that is refused again and again is stuck since it was refused first.
    let since = |&number: &usize| {
        let job = &healing.jobs[number];
        job.refused.unwrap_or(job.since).seconds()
    };
    Table::new(
        "stuck",
        vec![
            ("pgid", texts(numbers.iter().map(group).map(|group| format!("{}.{:x}", id(group), group.number)))),
            ("pool", Column::Counts(numbers.iter().map(group).map(id).collect())),
            ("state", texts(states.into_iter())),
            ("reason", texts(reasons.into_iter())),
            ("since_seconds", reals(numbers.iter().map(since))),
            ("osds", texts(numbers.iter().map(group).map(|group| set_text(&group.acting)))),
            ("degraded_objects", Column::Counts(counts(|tally| tally.degraded))),
            ("misplaced_objects", Column::Counts(counts(|tally| tally.misplaced))),
        ],
    )
}
