//! Evening out by numbers of groups, as Ceph's balancer does: step by step, each step one pair written or taken away.
//!
//! The definition is `OSDMap::calc_pg_upmaps` of Ceph 16.2: an OSD's target is its share of the weight, times all pieces; a step
//! relieves the fullest OSD or fills the emptiest; it stands if the sum of the squared deviations falls. Sums are in single
//! precision and in Ceph's order, since a comparison decides on the last bit now and then.

use std::collections::{BTreeMap, BTreeSet};

use crate::NONE;
use crate::balance::Entry;
use crate::balance::groups::{Groups, RawSets};
use crate::balance::remap::{Sides, remapped};
use crate::pool::{Osds, Pool};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountLimits {
    /// Steps at most (`upmap_max_optimizations`; 10 a round of the balancer).
    pub steps: usize,
    /// Groups by which an OSD may miss its target (`upmap_max_deviation`, 5); 0 counts as 1.
    pub deviation: u32,
}

/// How to go on where a step would not help (`osd_calc_pg_upmaps_aggressively`, on by default): groups are tried in an order that
/// is drawn, and others after one that did not help.
pub struct Retries<'a> {
    /// Steps that did not help before one turns to the other side (`osd_calc_pg_upmaps_local_fallback_retries`, 100).
    pub most: u32,
    /// Puts groups into an order that is drawn.
    pub shuffle: &'a mut dyn FnMut(&mut [u32]),
}

/// The entries by which Ceph's balancer would even out some pools, taken together.
///
/// Ceph balances one pool at a time; several at once are what `osdmaptool` and the balancer leave to their callers.
///
/// # Arguments
/// * `pools` - the pools, each with its sets by CRUSH alone.
/// * `osds` - the state of each OSD.
/// * `limits` - when to stop.
/// * `retries` - how to go on where a step would not help; none stops there, which needs no draws
///   (`osd_calc_pg_upmaps_aggressively` false).
///
/// # Returns
/// The groups whose entry changes, by pool and group, each with its pairs after all steps; and about how many steps more it takes
/// until no OSD misses its target by more than is borne.
///
/// # Examples
/// ```
/// use resilver_crush::balance::{CountLimits, RawSets, calc_pg_upmaps};
/// use resilver_crush::{BucketKind, CrushMap, Tunables};
/// use resilver_crush::pool::{Exceptions, Osds, Pool, PoolKind};
/// let map = CrushMap::flat(4, BucketKind::Straw2, Tunables::JEWEL);
/// let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
/// let pool = Pool { id: 1, pg_num: 64, pgp_num: 64, size: 1, rule: 0, hashpspool: true, kind, exceptions };
/// let osds = Osds { reweight: &[0x10000; 4], is_up: &[true; 4], affinity: &[] };
/// let raw = RawSets::place(&map, &pool, osds).unwrap();
/// let limits = CountLimits { steps: 50, deviation: 1 };
/// let (entries, left) = calc_pg_upmaps(&[(&pool, &raw)], osds, limits, None);
/// let mut groups = [0i32; 4];
/// (0..64).for_each(|group| groups[raw.of(group)[0] as usize] += 1);
/// entries.iter().flat_map(|entry| &entry.pairs).for_each(|&(from, to)| {
///     groups[from as usize] -= 1;
///     groups[to as usize] += 1;
/// });
/// // 64 groups of one copy are 16 for each of the four, and one may miss that by 1.
/// assert!(groups.iter().all(|groups| (15..=17).contains(groups)) && left == 0);
/// ```
pub fn calc_pg_upmaps(
    pools: &[(&Pool, &RawSets)],
    osds: Osds<'_>,
    limits: CountLimits,
    mut retries: Option<Retries<'_>>,
) -> (Vec<Entry>, u64) {
    let Some(mut tally) = Tally::new(Groups::new(pools, osds)) else { return (Vec::new(), 0) };
    let bound = limits.deviation.max(1) as f32;
    let mut found = tally.deviations();
    let mut fills_first = false;
    for _ in 0..limits.steps {
        if found.left(bound) == 0 {
            break;
        }
        let round = Round::new(&found, bound);
        match tally.step(&found, &round, &mut fills_first, retries.as_mut()) {
            Outcome::Better(deviations) => found = deviations,
            Outcome::OtherSide => {}
            Outcome::Stuck => break,
        }
    }
    (tally.groups.changed(), found.left(bound))
}

/// What an OSD should have and has.
#[derive(Debug, Default)]
struct Holder {
    /// Its weight by the pools' rules, summed.
    weight: f32,
    /// Its groups, rising.
    groups: Vec<u32>,
}

/// By how much OSDs miss their targets, in groups.
#[derive(Debug)]
struct Deviations {
    /// By OSD, rising.
    by_osd: Vec<(i32, f32)>,
    /// Rising; equal ones by OSD.
    order: Vec<(f32, i32)>,
    /// The sum of their squares, which Ceph calls the standard deviation.
    squares: f32,
}

impl Deviations {
    fn of(&self, osd: i32) -> f32 {
        self.by_osd.binary_search_by_key(&osd, |one| one.0).map_or(0.0, |place| self.by_osd[place].1)
    }

    /// The groups by which OSDs miss their targets beyond a bound, above or below it, whichever are more: a step moves one.
    fn left(&self, bound: f32) -> u64 {
        let beyond =
            |sign: f32| self.order.iter().map(|one| (sign * one.0 - bound).max(0.0).ceil() as u64).sum::<u64>();
        beyond(1.0).max(beyond(-1.0))
    }
}

/// Who gives and who takes in a step.
#[derive(Debug)]
struct Round {
    sides: Sides,
    bound: f32,
    /// Whether those give that are above their target by no more than is borne, since others lack more.
    relieves_all: bool,
}

impl Round {
    fn new(found: &Deviations, bound: f32) -> Self {
        let mut sides = Sides::default();
        let mut more_overfull = BTreeSet::new();
        for &(deviation, osd) in &found.order {
            if deviation > bound {
                sides.overfull.insert(osd);
            } else if deviation > 0.0 {
                more_overfull.insert(osd);
            } else if deviation < -bound {
                sides.underfull.push(osd);
            } else if deviation < 0.0 {
                sides.more_underfull.push(osd);
            }
        }
        let relieves_all = sides.overfull.is_empty() && !sides.underfull.is_empty();
        if relieves_all {
            sides.overfull = more_overfull;
        }
        Self { sides, bound, relieves_all }
    }
}

/// A step that is tried: other pairs of one group, and the pieces that count elsewhere by it.
#[derive(Debug)]
struct Trial {
    group: u32,
    pairs: Vec<(i32, i32)>,
    moves: Vec<(i32, i32)>,
}

/// The groups for which a step did not help.
struct PassedOver {
    is: Vec<bool>,
    count: usize,
}

/// What came of a step.
enum Outcome {
    /// It was taken.
    Better(Deviations),
    /// Too many did not help; the next one begins at the other side.
    OtherSide,
    /// There is none.
    Stuck,
}

/// Which OSD has which groups, with the entries as they are by now.
struct Tally<'a> {
    groups: Groups<'a>,
    holders: BTreeMap<i32, Holder>,
    groups_per_weight: f32,
}

impl<'a> Tally<'a> {
    /// Counts the up sets; `None` where nothing has weight.
    fn new(groups: Groups<'a>) -> Option<Self> {
        let mut holders: BTreeMap<i32, Holder> = BTreeMap::new();
        let (mut total, mut pieces) = (0.0f32, 0u64);
        for member in &groups.members {
            pieces += u64::from(member.pool.size) * u64::from(member.pool.pg_num);
            for (&osd, &share) in &member.shape.weights {
                let reweight = usize::try_from(osd).ok().and_then(|osd| groups.osds.reweight.get(osd)).copied();
                let weight = reweight.unwrap_or(0x10000) as f32 / 65536.0 * share;
                if weight != 0.0 {
                    holders.entry(osd).or_default().weight += weight;
                    total += weight;
                }
            }
        }
        if total == 0.0 {
            return None;
        }
        // Who is up has a place in a list, which is found sooner than one in a tree.
        let mut of_osd: Vec<Vec<u32>> = vec![Vec::new(); groups.osds.is_up.len()];
        let mut set = Vec::new();
        for group in groups.numbers() {
            groups.set(group, &mut set);
            for &osd in set.iter().filter(|&&osd| groups.osds.is_up(osd)) {
                let own = &mut of_osd[osd as usize];
                if own.last() != Some(&group) {
                    own.push(group);
                }
            }
        }
        for (osd, own) in of_osd.into_iter().enumerate().filter(|(_, own)| !own.is_empty()) {
            holders.entry(osd as i32).or_default().groups = own;
        }
        Some(Self { groups, holders, groups_per_weight: pieces as f32 / total })
    }

    fn deviation(&self, of: &Holder) -> f32 {
        of.groups.len() as f32 - of.weight * self.groups_per_weight
    }

    fn squares(&self) -> f32 {
        self.holders.values().map(|of| self.deviation(of)).fold(0.0, |sum, deviation| sum + deviation * deviation)
    }

    fn deviations(&self) -> Deviations {
        let squares = self.squares();
        let by_osd: Vec<(i32, f32)> = self.holders.iter().map(|(&osd, holder)| (osd, self.deviation(holder))).collect();
        let mut order: Vec<(f32, i32)> = by_osd.iter().map(|&(osd, deviation)| (deviation, osd)).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        Deviations { by_osd, order, squares }
    }

    /// Looks for a step and takes it if it helps.
    fn step(
        &mut self,
        found: &Deviations,
        round: &Round,
        fills_first: &mut bool,
        mut retries: Option<&mut Retries<'_>>,
    ) -> Outcome {
        let mut passed_over = PassedOver { is: vec![false; self.groups.numbers().len()], count: 0 };
        loop {
            let fills = *fills_first && !round.sides.underfull.is_empty();
            let relief = if fills { None } else { self.relieve(found, round, &passed_over, retries.as_deref_mut()) };
            let trial = relief.or_else(|| self.fill(round, &passed_over, retries.as_deref_mut()));
            let Some(trial) = trial else {
                if retries.is_none() || !*fills_first {
                    return Outcome::Stuck;
                }
                *fills_first = false;
                return Outcome::OtherSide;
            };
            let counted = self.count(&trial);
            if self.squares() < found.squares {
                self.groups.put(trial.group, trial.pairs);
                return Outcome::Better(self.deviations());
            }
            self.count_back(trial.group, &counted);
            let Some(retries) = retries.as_deref() else { return Outcome::Stuck };
            if passed_over.count + 1 >= retries.most as usize {
                *fills_first = !*fills_first;
                return Outcome::OtherSide;
            }
            passed_over.is[trial.group as usize] = true;
            passed_over.count += 1;
        }
    }

    /// A step that takes a group off one of the fullest OSDs.
    fn relieve(
        &self,
        found: &Deviations,
        round: &Round,
        passed_over: &PassedOver,
        mut retries: Option<&mut Retries<'_>>,
    ) -> Option<Trial> {
        for &(deviation, osd) in found.order.iter().rev() {
            if deviation < 0.0 || (!round.relieves_all && deviation <= round.bound) {
                break;
            }
            let own = &self.holders[&osd].groups;
            let mut own: Vec<u32> = own.iter().copied().filter(|&group| !passed_over.is[group as usize]).collect();
            if let Some(retries) = retries.as_deref_mut() {
                (retries.shuffle)(&mut own);
            }
            let dropped = own.iter().find_map(|&group| self.without(group, |pair| pair.1 == osd));
            let trial = dropped.or_else(|| own.iter().find_map(|&group| self.other_pair(group, found, round)));
            if trial.is_some() {
                return trial;
            }
        }
        None
    }

    /// A step that takes away an entry that leads off one of the emptiest OSDs.
    fn fill(&self, round: &Round, passed_over: &PassedOver, mut retries: Option<&mut Retries<'_>>) -> Option<Trial> {
        for &osd in &round.sides.underfull {
            let entries = self.groups.with_pairs();
            let mut entries: Vec<u32> = entries.filter(|&group| !passed_over.is[group as usize]).collect();
            if let Some(retries) = retries.as_deref_mut() {
                (retries.shuffle)(&mut entries);
            }
            let trial = entries.iter().find_map(|&group| self.without(group, |pair| pair.0 == osd));
            if trial.is_some() {
                return trial;
            }
        }
        None
    }

    /// The step that takes the pairs away from a group for which `leaves` holds, if it has any.
    fn without(&self, group: u32, leaves: impl Fn((i32, i32)) -> bool) -> Option<Trial> {
        let before = self.groups.pairs(group);
        if !before.iter().any(|&pair| leaves(pair)) {
            return None;
        }
        let (gone, pairs): (Vec<_>, Vec<_>) = before.iter().partition(|pair| leaves(**pair));
        let moves = gone.into_iter().map(|(from, to)| (to, from)).collect::<Vec<_>>();
        Some(Trial { group, pairs, moves })
    }

    /// The step that adds a pair to a group: of those that the walk over its rule offers, the one off the OSD that is fullest.
    fn other_pair(&self, group: u32, found: &Deviations, round: &Round) -> Option<Trial> {
        let (member, _) = self.groups.member(group);
        let mut pairs = self.groups.pairs(group).to_vec();
        if self.groups.is_fixed(group) || pairs.len() >= member.pool.size as usize || !member.shape.is_plain {
            return None;
        }
        let mut set = Vec::new();
        self.groups.set(group, &mut set);
        if !set.iter().any(|osd| round.sides.overfull.contains(osd)) {
            return None;
        }
        let other = remapped(member.shape, &round.sides, &set);
        if other.len() != set.len() {
            return None;
        }
        let has = |osd: i32| pairs.iter().any(|&(from, to)| from == osd || to == osd);
        let mut best: Option<((i32, i32), f32)> = None;
        for (&from, &to) in set.iter().zip(&other) {
            let deviation = found.of(from);
            if from != to && !has(from) && !has(to) && deviation > best.map_or(0.0, |one| one.1) {
                best = Some(((from, to), deviation));
            }
        }
        let (pair, _) = best?;
        pairs.push(pair);
        debug_assert!(pair.0 != NONE && pair.1 != NONE, "holes have no deviation and take nothing");
        Some(Trial { group, pairs, moves: vec![pair] })
    }

    /// Counts the pieces of a trial elsewhere, and returns what that changed, for [`count_back`](Self::count_back).
    fn count(&mut self, trial: &Trial) -> Vec<(i32, bool)> {
        let mut changed = Vec::new();
        for &(from, to) in &trial.moves {
            for (osd, holds) in [(from, false), (to, true)] {
                if self.set_holds(osd, trial.group, holds) {
                    changed.push((osd, holds));
                }
            }
        }
        changed
    }

    fn count_back(&mut self, group: u32, changed: &[(i32, bool)]) {
        for &(osd, holds) in changed.iter().rev() {
            self.set_holds(osd, group, !holds);
        }
    }

    /// Says whether an OSD has a group, and returns whether that is new.
    fn set_holds(&mut self, osd: i32, group: u32, holds: bool) -> bool {
        // An OSD without weight, to which a group returns as its entry goes, has the target zero; Ceph stops with a failed
        // assertion there.
        let own = &mut self.holders.entry(osd).or_default().groups;
        match (own.binary_search(&group), holds) {
            (Ok(place), false) => drop(own.remove(place)),
            (Err(place), true) => own.insert(place, group),
            _ => return false,
        }
        true
    }
}
