//! Evening out by bytes: our own plan, which Ceph has no like of.
//!
//! What it lowers is the sum over OSDs of used² / capacity, whose least value for given bytes is that of equal fill. A piece of `b`
//! bytes that goes from OSD s to t lowers it by `b (2 (s's fill - t's fill) - b (1 / s's capacity + 1 / t's))`. Step by step, the
//! fullest OSD that can be relieved gives up the piece of which most is gained. So no step leaves the cluster less even, the fewest
//! entries do the most, and bytes go from full to empty at once, never by way of a third.

use std::collections::BTreeSet;

use crate::balance::Entry;
use crate::balance::groups::{Groups, RawSets};
use crate::balance::shape::RuleShape;
use crate::pool::{Osds, Pool, apply_pairs};

/// What a step must gain by byte, so that no two steps undo each other over the last bits of a sum.
const LEAST_GAIN: f64 = 1e-9;

/// A pool and what its groups hold.
#[derive(Debug, Clone, Copy)]
pub struct PoolBytes<'a> {
    /// The pool.
    pub pool: &'a Pool,
    /// Its sets by CRUSH alone.
    pub raw: &'a RawSets,
    /// Bytes of a piece (a copy or a strip) of each of its groups.
    pub piece_bytes: &'a [u64],
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteLimits {
    /// Pieces that are elsewhere afterwards, at most.
    pub pieces: usize,
    /// Bytes of pieces that are elsewhere afterwards, at most.
    pub moved_bytes: u64,
    /// No piece moves between OSDs whose fill differs by less, as a share of their capacity.
    pub within: f64,
}

/// The entries that even out bytes relative to capacity.
///
/// An OSD with a reweight below 1 takes up to that share of what the giver has, as Ceph's balancer gives it that share of its
/// weight; it gives only what it has above others. Where a piece may go is what the pool's rule says: a piece that is alone in its failure domain may go to another that the group does not use, below the same buckets further
/// up; a group of pieces that a rule keeps together stays together. Groups with a `pg_upmap` of an operator's stay as they are.
///
/// # Arguments
/// * `map` - the cluster's CRUSH map.
/// * `pools` - those that may be moved, each with its groups' bytes.
/// * `osds` - the state of each OSD; those that are down or out neither give nor take.
/// * `capacity`, `used` - bytes of each OSD, by number; what is used counts other pools and overhead too.
/// * `limits` - when to stop.
///
/// # Returns
/// The groups whose entry changes, by pool and group, each with its pairs afterwards.
///
/// # Examples
/// ```
/// use resilver_crush::balance::{ByteLimits, PoolBytes, RawSets, plan_by_bytes};
/// use resilver_crush::{BucketKind, CrushMap, Tunables};
/// use resilver_crush::pool::{Exceptions, Osds, Pool, PoolKind};
/// let map = CrushMap::flat(4, BucketKind::Straw2, Tunables::JEWEL);
/// let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
/// let pool = Pool { id: 1, pg_num: 64, pgp_num: 64, size: 1, rule: 0, hashpspool: true, kind, exceptions };
/// let osds = Osds { reweight: &[0x10000; 4], is_up: &[true; 4], affinity: &[] };
/// let raw = RawSets::place(&map, &pool, osds).unwrap();
/// let mut used = [0; 4];
/// (0..64).for_each(|group| used[raw.of(group)[0] as usize] += 5);
/// let limits = ByteLimits { pieces: 64, moved_bytes: u64::MAX, within: 0.0 };
/// let pools = [PoolBytes { pool: &pool, raw: &raw, piece_bytes: &[5; 64] }];
/// let entries = plan_by_bytes(&pools, osds, &[1000; 4], &used, limits);
/// entries.iter().flat_map(|entry| &entry.pairs).for_each(|&(from, to)| {
///     used[from as usize] -= 5;
///     used[to as usize] += 5;
/// });
/// // 64 groups of one copy are 16 for each of the four.
/// assert_eq!(used, [80; 4]);
/// ```
pub fn plan_by_bytes(
    pools: &[PoolBytes<'_>],
    osds: Osds<'_>,
    capacity: &[u64],
    used: &[u64],
    limits: ByteLimits,
) -> Vec<Entry> {
    let placed: Vec<(&Pool, &RawSets)> = pools.iter().map(|one| (one.pool, one.raw)).collect();
    let mut plan = Plan::new(Groups::new(&placed, osds), pools, capacity, used);
    // What an OSD cannot give now, it may give after others gave; the second look finds it.
    let mut stuck: BTreeSet<i32> = BTreeSet::new();
    let mut is_fresh = true;
    loop {
        match plan.best_step(&stuck, limits) {
            Ok(step) => {
                plan.take(step);
                is_fresh = false;
            }
            Err(tried) if tried.is_empty() && (is_fresh || stuck.is_empty()) => break,
            Err(tried) if tried.is_empty() => {
                stuck.clear();
                is_fresh = true;
            }
            Err(tried) => stuck.extend(tried),
        }
    }
    plan.groups.changed()
}

/// A piece that goes elsewhere.
#[derive(Debug, Clone)]
struct Step {
    group: u32,
    place: usize,
    from: i32,
    to: i32,
    bytes: u64,
    gain: f64,
    pairs: Vec<(i32, i32)>,
}

/// An OSD, as far as it may give and take.
#[derive(Debug, Clone, Default)]
struct Store {
    /// Bytes that fit; 0 of one that neither gives nor takes.
    capacity: f64,
    /// Its reweight, as a share.
    reweight: f64,
    used: f64,
    /// (group, place in its set).
    pieces: Vec<(u32, u32)>,
}

impl Store {
    /// How full it is, as one that gives.
    fn fill(&self) -> f64 {
        self.used / self.capacity
    }

    /// How full it is, as one that takes.
    fn level(&self) -> f64 {
        self.used / (self.capacity * self.reweight)
    }
}

/// Where everything is by now.
struct Plan<'a> {
    groups: Groups<'a>,
    /// By group.
    piece_bytes: Vec<u64>,
    /// By group: its set at first, and by now.
    before: Vec<Vec<i32>>,
    sets: Vec<Vec<i32>>,
    stores: Vec<Store>,
    /// OSDs that may give, by rising fill.
    givers: Vec<i32>,
    /// By member: OSDs that its rule reaches and that may take, by rising fill.
    takers: Vec<Vec<i32>>,
    moved_pieces: usize,
    moved_bytes: u64,
    /// The largest capacity times reweight.
    largest: f64,
}

impl<'a> Plan<'a> {
    fn new(groups: Groups<'a>, pools: &[PoolBytes<'_>], capacity: &[u64], used: &[u64]) -> Self {
        let osds = groups.osds;
        let stores: Vec<Store> = (0..capacity.len())
            .map(|osd| {
                let reweight = osds.reweight.get(osd).copied().unwrap_or(0x10000);
                let takes_part = osds.is_up(osd as i32) && reweight > 0 && used.len() > osd;
                let capacity = if takes_part { capacity[osd] as f64 } else { 0.0 };
                let used = used.get(osd).copied().unwrap_or(0) as f64;
                Store { capacity, reweight: f64::from(reweight) / 65536.0, used, pieces: Vec::new() }
            })
            .collect();
        let mut piece_bytes = Vec::new();
        for member in &groups.members {
            let own = pools.iter().find(|one| one.pool.id == member.pool.id).map_or(&[][..], |one| one.piece_bytes);
            piece_bytes.extend((0..member.pool.pg_num as usize).map(|ps| own.get(ps).copied().unwrap_or(0)));
        }
        let mut sets = vec![Vec::new(); piece_bytes.len()];
        for group in groups.numbers() {
            groups.set(group, &mut sets[group as usize]);
        }
        let largest = stores.iter().map(|store| store.capacity * store.reweight).fold(0.0, f64::max);
        let mut plan = Self {
            largest,
            piece_bytes,
            before: sets.clone(),
            sets,
            givers: Vec::new(),
            takers: Vec::new(),
            moved_pieces: 0,
            moved_bytes: 0,
            stores,
            groups,
        };
        plan.list_pieces();
        plan.list_osds();
        plan
    }

    fn list_pieces(&mut self) {
        for group in self.groups.numbers() {
            let (member, _) = self.groups.member(group);
            let is_movable = member.shape.is_plain && !self.groups.is_fixed(group) && self.is_readable(group);
            if !is_movable || self.piece_bytes[group as usize] == 0 {
                continue;
            }
            for (place, &osd) in self.sets[group as usize].iter().enumerate() {
                if let Some(store) = usize::try_from(osd).ok().and_then(|osd| self.stores.get_mut(osd)) {
                    store.pieces.push((group, place as u32));
                }
            }
        }
    }

    /// Whether the places of a group's set tell the rule's blocks apart: a short set says not which block fell short.
    fn is_readable(&self, group: u32) -> bool {
        let (member, _) = self.groups.member(group);
        member.shape.blocks.len() == 1 || self.sets[group as usize].len() == member.pool.size as usize
    }

    fn list_osds(&mut self) {
        let rising = |list: &mut Vec<i32>, measure: fn(&Store) -> f64| {
            list.sort_by(|&one, &other| {
                let (first, second) = (&self.stores[one as usize], &self.stores[other as usize]);
                measure(first).total_cmp(&measure(second)).then(one.cmp(&other))
            });
        };
        let has_room = |osd: i32| self.stores.get(osd as usize).is_some_and(|store| store.capacity > 0.0);
        let mut givers: Vec<i32> = (0..self.stores.len() as i32).filter(|&osd| has_room(osd)).collect();
        givers.retain(|&osd| !self.stores[osd as usize].pieces.is_empty());
        rising(&mut givers, Store::fill);
        let of_rule = |shape: &RuleShape| -> Vec<i32> {
            let mut own: Vec<i32> = shape.weights.keys().copied().filter(|&osd| has_room(osd)).collect();
            rising(&mut own, Store::level);
            own
        };
        self.takers = self.groups.members.iter().map(|member| of_rule(member.shape)).collect();
        self.givers = givers;
    }

    /// The step off the fullest OSD that has one, or those that were asked in vain.
    fn best_step(&self, stuck: &BTreeSet<i32>, limits: ByteLimits) -> Result<Step, Vec<i32>> {
        let mut tried = Vec::new();
        for &osd in self.givers.iter().rev().filter(|osd| !stuck.contains(osd)) {
            if let Some(step) = self.best_step_off(osd, limits) {
                return Ok(step);
            }
            tried.push(osd);
        }
        Err(tried)
    }

    fn best_step_off(&self, osd: i32, limits: ByteLimits) -> Option<Step> {
        let store = &self.stores[osd as usize];
        let mut best: Option<Step> = None;
        for &(group, place) in &store.pieces {
            let bytes = self.piece_bytes[group as usize];
            let is_full = self.moved_pieces >= limits.pieces || self.moved_bytes + bytes > limits.moved_bytes;
            if is_full && !self.is_elsewhere(group, place as usize) {
                continue;
            }
            let least = best.as_ref().map_or(bytes as f64 * LEAST_GAIN, |step| step.gain);
            for &to in &self.takers[self.groups.member_place(group)] {
                let taker = &self.stores[to as usize];
                let apart = store.fill() - taker.level();
                let per_byte = 2.0 * apart - bytes as f64 / store.capacity;
                if apart < limits.within || bytes as f64 * (per_byte - bytes as f64 / self.largest) <= least {
                    break;
                }
                let gain = bytes as f64 * (per_byte - bytes as f64 / (taker.capacity * taker.reweight));
                if gain <= least || !self.may_go(group, place as usize, to) {
                    continue;
                }
                let (pieces, moved) = self.moved_with(group, place as usize, to);
                let is_within = pieces <= limits.pieces && moved <= limits.moved_bytes;
                let Some(pairs) = self.pairs_with(group, place as usize, to).filter(|_| is_within) else { continue };
                best = Some(Step { group, place: place as usize, from: osd, to, bytes, gain, pairs });
                break;
            }
        }
        best
    }

    /// Whether the pool's rule lets a piece go to an OSD.
    fn may_go(&self, group: u32, place: usize, to: i32) -> bool {
        let (member, ps) = self.groups.member(group);
        let (set, raw) = (&self.sets[group as usize], member.raw.of(ps));
        // A pair whose target CRUSH itself names at another place would be passed over, or depend on the order of pairs.
        if set.contains(&to) || (raw.contains(&to) && raw.get(place) != Some(&to)) {
            return false;
        }
        member.shape.may_replace(set, place, to)
    }

    /// The pairs of a group with one of its pieces elsewhere; `None` where pairs cannot say it.
    fn pairs_with(&self, group: u32, place: usize, to: i32) -> Option<Vec<(i32, i32)>> {
        let (member, ps) = self.groups.member(group);
        let mut wanted = self.sets[group as usize].clone();
        wanted[place] = to;
        let raw = member.raw.of(ps);
        let apart = raw.iter().zip(&wanted).filter(|(from, to)| from != to);
        let pairs: Vec<(i32, i32)> = apart.map(|(&from, &to)| (from, to)).collect();
        let mut found = raw.to_vec();
        apply_pairs(&pairs, self.groups.osds, &mut found);
        (found == wanted).then_some(pairs)
    }

    /// Pieces and bytes that are elsewhere than at first once a piece has gone to an OSD.
    fn moved_with(&self, group: u32, place: usize, to: i32) -> (usize, u64) {
        let bytes = self.piece_bytes[group as usize];
        let (will, does) = (self.before[group as usize][place] != to, self.is_elsewhere(group, place));
        let pieces = self.moved_pieces + usize::from(will) - usize::from(does);
        (pieces, self.moved_bytes + u64::from(will) * bytes - u64::from(does) * bytes)
    }

    /// Whether a piece is elsewhere than at first.
    fn is_elsewhere(&self, group: u32, place: usize) -> bool {
        self.before[group as usize][place] != self.sets[group as usize][place]
    }

    fn take(&mut self, step: Step) {
        (self.moved_pieces, self.moved_bytes) = self.moved_with(step.group, step.place, step.to);
        for osd in [step.from, step.to] {
            self.unlist(osd);
        }
        let piece = (step.group, step.place as u32);
        self.stores[step.from as usize].pieces.retain(|&one| one != piece);
        self.stores[step.to as usize].pieces.push(piece);
        self.stores[step.from as usize].used -= step.bytes as f64;
        self.stores[step.to as usize].used += step.bytes as f64;
        for osd in [step.from, step.to] {
            self.list(osd);
        }
        self.sets[step.group as usize][step.place] = step.to;
        if self.sets[step.group as usize] == self.before[step.group as usize] {
            self.groups.put_back(step.group);
        } else {
            self.groups.put(step.group, step.pairs);
        }
    }

    /// Takes an OSD out of the lists that are sorted by fill, before its fill changes.
    fn unlist(&mut self, osd: i32) {
        for list in self.takers.iter_mut().chain([&mut self.givers]) {
            list.retain(|&one| one != osd);
        }
    }

    /// Puts an OSD back into them.
    fn list(&mut self, osd: i32) {
        let Self { stores, takers, givers, groups, .. } = self;
        let put = |list: &mut Vec<i32>, measure: fn(&Store) -> f64| {
            let own = measure(&stores[osd as usize]);
            let is_before = |&one: &i32| measure(&stores[one as usize]).total_cmp(&own).then(one.cmp(&osd)).is_lt();
            list.insert(list.partition_point(is_before), osd);
        };
        for (list, member) in takers.iter_mut().zip(&groups.members) {
            if member.shape.weights.contains_key(&osd) {
                put(list, Store::level);
            }
        }
        if !stores[osd as usize].pieces.is_empty() {
            put(givers, Store::fill);
        }
    }
}
