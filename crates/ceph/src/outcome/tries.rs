//! How many tries a rule takes that gives up before it has found an OSD for every place.

use resilver_crush::pool::Osds;
use resilver_crush::{Rule, Scratch, Step};

use crate::map::OsdMap;

/// The most tries that are tried: an OSD that takes more has less than 1/1,000 of what its rule draws from.
const MOST: i32 = 1 << 14;

/// The least `set_choose_tries` with which CRUSH fills every place of those of a pool's PGs that any number of tries fills.
///
/// Further tries come after those that a rule makes now, so that what it finds stays.
///
/// # Arguments
/// * `place` - the pool's place in the map.
/// * `numbers` - PGs that lack an OSD.
///
/// # Returns
/// The tries, and the PGs that they fill; none where they fill none.
pub(super) fn tries_needed(map: &OsdMap, place: usize, numbers: &[u32]) -> Option<(i32, Vec<u32>)> {
    let pool = &map.pools()[place].pool;
    let rule = map.crush().rule_by_id(pool.rule).filter(|rule| !rule.is_msr())?;
    // An OSD that is down and in has its place: more tries do not take it away.
    let up = vec![true; map.reweights().len()];
    let osds = Osds { is_up: &up, ..map.states() };
    let (mut scratch, mut set) = (Scratch::new(), Vec::new());
    let mut fills = |tries: i32, number: u32| {
        let rule = with_tries(rule, tries);
        pool.up_set(map.crush(), &rule, number, osds, &mut scratch, &mut set);
        set.iter().filter(|&&osd| crate::groups::is_osd(osd)).count() >= pool.size as usize
    };
    let now = tries_of(rule, map);
    let (mut least, mut filled) = (now, Vec::new());
    for &number in numbers {
        if fills(now, number) {
            continue;
        }
        if fills(least, number) {
            filled.push(number);
            continue;
        }
        if !fills(MOST, number) {
            // Where no PG is filled it is the OSDs that are too few, for all of the pool.
            if filled.is_empty() {
                return None;
            }
            continue;
        }
        let (mut low, mut high) = (least, MOST);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fills(middle, number) { high = middle } else { low = middle }
        }
        least = high;
        filled.push(number);
    }
    (!filled.is_empty()).then_some((least, filled))
}

/// How often a rule tries now: as its last step that says so, else as the map's tunable, which does not count the first try.
fn tries_of(rule: &Rule, map: &OsdMap) -> i32 {
    let stated = rule.steps.iter().rev().find_map(|step| match *step {
        Step::SetChooseTries(tries) if tries > 0 => Some(tries),
        _ => None,
    });
    stated.unwrap_or_else(|| i32::try_from(map.crush().tunables().choose_total_tries).map_or(MOST, |tries| tries + 1))
}

/// A rule with another number of tries.
fn with_tries(rule: &Rule, tries: i32) -> Rule {
    let mut rule = rule.clone();
    rule.steps.retain(|step| !matches!(step, Step::SetChooseTries(_)));
    rule.steps.insert(0, Step::SetChooseTries(tries));
    rule
}
