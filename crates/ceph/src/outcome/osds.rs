//! What the OSDs came to.

use super::{Column, Table, counts, maybe, reals, texts};
use crate::fill::Space;
use crate::groups::members;
use crate::healing::Healing;

fn add(counts: &mut Vec<u64>, osd: u32) {
    if counts.len() <= osd as usize {
        counts.resize(osd as usize + 1, 0);
    }
    counts[osd as usize] += 1;
}

/// (groups of each OSD at the start, those that it should have at the end).
fn groups_of(healing: &Healing) -> (Vec<u64>, Vec<u64>) {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    // Groups that were split off later were none at the start.
    for holders in &healing.first_holders[..healing.first_groups] {
        holders.iter().for_each(|&(osd, _)| add(&mut start, osd));
    }
    for group in healing.groups.iter().filter(|group| group.exists) {
        members(&group.up, false).for_each(|(osd, _)| add(&mut end, osd));
    }
    (start, end)
}

/// A row an OSD.
pub(super) fn osds(healing: &mut Healing) -> Table {
    let (start, end) = groups_of(healing);
    let numbers: Vec<u32> = healing.fill.iter().map(|(osd, _)| osd).collect();
    let now = healing.now;
    let busy: Vec<f64> = numbers.iter().map(|&osd| healing.plane.used(now, osd).2).collect();
    let hosts: Vec<String> = numbers.iter().map(|&osd| healing.host_of(osd)).collect();
    let spaces: Vec<&Space> = healing.fill.iter().map(|(_, space)| space).collect();
    let of = |value: fn(&Space) -> u64| counts(spaces.iter().map(|space| value(space)));
    let crossed = |value: fn(&Space) -> Option<f64>| maybe(spaces.iter().map(|space| value(space)));
    let groups = |counted: &[u64]| {
        Column::Counts(numbers.iter().map(|&osd| counted.get(osd as usize).copied().unwrap_or(0) as i64).collect())
    };
    Table::new(
        "osds",
        vec![
            ("osd", counts(numbers.iter().map(|&osd| u64::from(osd)))),
            ("name", texts(numbers.iter().map(|osd| format!("osd.{osd}")))),
            ("host", texts(hosts.into_iter())),
            ("used_start_bytes", of(|space| space.watch.start)),
            ("used_end_bytes", of(Space::used)),
            ("peak_used_bytes", of(|space| space.watch.peak)),
            ("peak_seconds", reals(spaces.iter().map(|space| space.watch.peak_seconds))),
            ("capacity_bytes", of(|space| space.capacity)),
            ("nearfull_seconds", crossed(|space| space.watch.crossings.nearfull)),
            ("backfillfull_seconds", crossed(|space| space.watch.crossings.backfillfull)),
            ("full_seconds", crossed(|space| space.watch.crossings.full)),
            ("failsafe_seconds", crossed(|space| space.watch.crossings.failsafe)),
            ("received_bytes", of(|space| space.received)),
            ("sent_bytes", of(|space| space.sent)),
            ("groups_start", groups(&start)),
            ("groups_end", groups(&end)),
            ("busy_seconds", reals(busy.into_iter())),
        ],
    )
}
