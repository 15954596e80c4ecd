//! What never changes of a system: its parts, its groups, and what each device means to them.

use std::sync::OnceLock;

use super::cause::Cause;
use super::check::check;
use super::judge::Judge;
use super::speed::Shares;
use crate::DurabilityError;
use crate::input::{DurabilityInput, LatentInput, NO_DEVICE, PoolInput, RepairInput};

/// The tree of parts, whose lowest level is the devices.
#[derive(Debug)]
pub(super) struct Tree {
    /// How many parts each level has.
    pub counts: Vec<usize>,
    /// For each device the part of each level that it is in, from the top; the last is itself.
    ancestors: Vec<u32>,
    /// Devices by level and part.
    below: Vec<Rows<u32>>,
}

impl Tree {
    fn of(input: &DurabilityInput) -> Self {
        let counts: Vec<usize> = input.levels.iter().map(|level| level.parents.len()).collect();
        let (levels, devices) = (counts.len(), counts[counts.len() - 1]);
        let mut ancestors = vec![0; levels * devices];
        for device in 0..devices {
            let mut part = device as u32;
            for level in (0..levels).rev() {
                ancestors[device * levels + level] = part;
                part = input.levels[level].parents[part as usize];
            }
        }
        let below = (0..levels).map(|level| {
            let pairs = (0..devices).map(|device| (ancestors[device * levels + level], device as u32));
            Rows::of(counts[level], pairs)
        });
        Self { below: below.collect(), ancestors, counts }
    }

    /// The level of the devices.
    pub fn lowest(&self) -> usize {
        self.counts.len() - 1
    }

    pub fn devices(&self) -> usize {
        self.counts[self.lowest()]
    }

    /// The parts that a device is in, from the top; the last is itself.
    #[inline]
    pub fn ancestors(&self, device: u32) -> &[u32] {
        let levels = self.counts.len();
        &self.ancestors[device as usize * levels..(device as usize + 1) * levels]
    }

    /// The devices of a part.
    pub fn below(&self, level: usize, part: u32) -> &[u32] {
        self.below[level].row(part)
    }
}

/// Rows of different lengths, one behind the other.
#[derive(Clone, Debug)]
pub(super) struct Rows<T> {
    starts: Vec<u64>,
    items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Sorts items by the numbers of their rows; within a row they stay in their order.
    pub fn of(count: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        pairs.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 0..count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut items = vec![T::default(); starts[count] as usize];
        for (row, item) in pairs {
            items[next[row as usize] as usize] = item;
            next[row as usize] += 1;
        }
        Self { starts, items }
    }

    #[inline]
    pub fn row(&self, row: u32) -> &[T] {
        &self.items[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}

/// Groups of one code.
#[derive(Debug)]
pub(super) struct Pool {
    pub judge: Judge,
    /// The numbers of its groups begin here.
    first: u32,
    sets: Vec<u32>,
    piece_bytes: Vec<u64>,
}

/// What a device is to the groups that it holds pieces of.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    pub bytes: f64,
    /// The fewest further losses that lose data where it alone is lost, among groups that lack nothing else.
    pub margin: u32,
    /// Bytes that have to be readable when it is repaired alone, all its groups together.
    pub lone_reads: f64,
    /// Whether some of its groups lack something when it alone is lost that others do not: a hole, or all tolerance.
    pub is_frail: bool,
}

/// What never changes.
#[derive(Debug)]
pub(super) struct Plan {
    pub tree: Tree,
    pub pools: Vec<Pool>,
    /// For each device its groups, and its place in each.
    places: Rows<(u32, u16)>,
    pub holdings: Vec<Holding>,
    /// Devices that share a group with each, ascending; found when first asked for.
    neighbors: Vec<OnceLock<Box<[u32]>>>,
    /// What each device's repair takes of what is shared; found when first asked for.
    pub shares: Vec<OnceLock<Shares>>,
    pub causes: Vec<Cause>,
    pub repair: RepairInput,
    pub latent: Option<LatentInput>,
    /// The largest distance of any pool's code.
    pub distance: u32,
    pub mission: f64,
}

impl Plan {
    /// Checks an input and builds what never changes of it.
    pub fn of(input: &DurabilityInput) -> Result<Self, DurabilityError> {
        check(input)?;
        let tree = Tree::of(input);
        if input.pools.is_empty() {
            return Err(DurabilityError::invalid("pools", "[]", "something is stored", "add a pool"));
        }
        let mut pools = Vec::new();
        let mut groups = 0;
        for (number, pool) in input.pools.iter().enumerate() {
            pools.push(build_pool(pool, &tree, groups, &format!("pools[{number}]"))?);
            groups += pools[number].groups();
        }
        let all = || pools.iter().flat_map(|pool| (0..pool.groups()).map(move |group| (pool, pool.first + group)));
        let pairs = all().flat_map(|(pool, group)| {
            let places = (0..).zip(pool.members(group)).filter(|&(_, &device)| device != NO_DEVICE);
            places.map(move |(place, &device)| (device, (group, place)))
        });
        let places = Rows::of(tree.devices(), pairs);
        let distance = pools.iter().map(|pool| pool.judge.distance).max().expect("there is a pool");
        let mut plan = Self {
            causes: input.failures.iter().map(|failure| Cause::of(failure, &tree)).collect(),
            neighbors: (0..tree.devices()).map(|_| OnceLock::new()).collect(),
            shares: (0..tree.devices()).map(|_| OnceLock::new()).collect(),
            holdings: Vec::new(),
            repair: input.repair.clone(),
            latent: input
                .latent
                .clone()
                .filter(|latent| latent.errors_per_byte_read + latent.errors_per_byte_second > 0.0),
            mission: input.mission_seconds,
            tree,
            pools,
            places,
            distance,
        };
        plan.holdings = (0..plan.tree.devices() as u32).map(|device| plan.holding(device)).collect();
        Ok(plan)
    }

    fn holding(&self, device: u32) -> Holding {
        let mut holding = Holding { bytes: 0.0, margin: self.distance, lone_reads: 0.0, is_frail: false };
        for &(group, place) in self.places(device) {
            let pool = self.pool(group);
            holding.bytes += pool.piece_bytes(group);
            if pool.judge.distance > 1 {
                holding.margin = holding.margin.min(pool.judge.distance - 1);
            }
            holding.lone_reads += self.lone_reads(group, place);
            holding.is_frail |= pool.judge.distance == 1 || pool.members(group).contains(&NO_DEVICE);
        }
        holding
    }

    /// The groups that a device holds a piece of, and its place in each.
    #[inline]
    pub fn places(&self, device: u32) -> &[(u32, u16)] {
        self.places.row(device)
    }

    /// The pool of a group.
    #[inline]
    pub fn pool(&self, group: u32) -> &Pool {
        let after = self.pools.partition_point(|pool| pool.first <= group);
        &self.pools[after - 1]
    }

    /// Bytes of a group that have to be readable when the piece at a place alone is made anew; none of a group that lacks more anyway.
    pub fn lone_reads(&self, group: u32, place: u16) -> f64 {
        let pool = self.pool(group);
        if self.latent.is_none() || pool.judge.distance != 2 || pool.members(group).contains(&NO_DEVICE) {
            return 0.0;
        }
        f64::from(pool.judge.needed(&mut vec![u32::from(place)])) * pool.piece_bytes(group)
    }

    /// The devices that share a group with one, ascending.
    pub fn neighbors(&self, device: u32) -> &[u32] {
        self.neighbors[device as usize].get_or_init(|| {
            let groups = self.places(device).iter().map(|&(group, _)| group);
            let mut found: Vec<u32> = groups.flat_map(|group| self.pool(group).members(group)).copied().collect();
            found.retain(|&other| other != NO_DEVICE && other != device);
            found.sort_unstable();
            found.dedup();
            found.into_boxed_slice()
        })
    }
}

impl Pool {
    pub fn groups(&self) -> u32 {
        (self.sets.len() / self.judge.pieces as usize) as u32
    }

    /// The devices of a group by place.
    #[inline]
    pub fn members(&self, group: u32) -> &[u32] {
        let pieces = self.judge.pieces as usize;
        let first = (group - self.first) as usize * pieces;
        &self.sets[first..first + pieces]
    }

    /// Bytes of one piece of a group.
    #[inline]
    pub fn piece_bytes(&self, group: u32) -> f64 {
        let place = if self.piece_bytes.len() == 1 { 0 } else { (group - self.first) as usize };
        self.piece_bytes[place] as f64
    }
}

/// Checks a pool and builds it.
fn build_pool(input: &PoolInput, tree: &Tree, first: u32, path: &str) -> Result<Pool, DurabilityError> {
    let judge = Judge::parse(&input.code)?;
    let (pieces, devices) = (judge.pieces as usize, tree.devices());
    let invalid = |field: String, value: String, rule: String, remedy: &str| {
        Err(DurabilityError::invalid(format!("{path}.{field}"), value, rule, remedy))
    };
    if pieces > devices {
        let rule = format!("a group has its {pieces} pieces on different devices, and there are {devices}");
        return invalid("code".into(), input.code.clone(), rule, "take a smaller code, or more devices");
    }
    if input.sets.is_empty() || !input.sets.len().is_multiple_of(pieces) {
        let rule = format!("each group of {} has {pieces} places, and there is one group at least", input.code);
        return invalid("sets".into(), format!("{} places", input.sets.len()), rule, "give all places of each group");
    }
    let groups = input.sets.len() / pieces;
    if first as usize + groups >= u32::MAX as usize {
        let rule = "there are fewer than 2^32 - 1 groups in all".into();
        return invalid("sets".into(), format!("{groups} groups"), rule, "take fewer");
    }
    if input.piece_bytes.len() != 1 && input.piece_bytes.len() != groups {
        let (value, rule) =
            (input.piece_bytes.len(), format!("there is one size for all groups, or one for each of {groups}"));
        return invalid("piece_bytes".into(), format!("{value} sizes"), rule, "give one or as many");
    }
    let mut last_group = vec![u32::MAX; devices];
    let mut holes = Vec::new();
    for (group, members) in (0..).zip(input.sets.chunks(pieces)) {
        holes.clear();
        for (place, &device) in members.iter().enumerate() {
            let field = || format!("sets[{}]", group as usize * pieces + place);
            if device == NO_DEVICE {
                holes.push(place as u32);
            } else if device as usize >= devices {
                let rule = format!("there are {devices} devices, numbered from 0");
                return invalid(field(), device.to_string(), rule, "name one of them");
            } else if std::mem::replace(&mut last_group[device as usize], group) == group {
                let rule = format!("a device holds one piece of a group, and group {group} names it twice");
                return invalid(field(), device.to_string(), rule, "name another one, or none for a hole");
            }
        }
        if judge.margin(&holes) == 0 {
            let rule = format!("group {group} lacks {} devices, more than {} survives", holes.len(), input.code);
            return invalid(
                "sets".into(),
                format!("{members:?}"),
                rule,
                "leave out groups that have lost data already",
            );
        }
    }
    Ok(Pool { judge, first, sets: input.sets.clone(), piece_bytes: input.piece_bytes.clone() })
}
