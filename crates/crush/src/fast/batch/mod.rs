//! Many inputs placed at once.
//!
//! [`CrushMap::place`] is the definition: one input, one draw at a time. A [`Batch`] does the same for many inputs. Where the
//! rule is one choose step over straw and straw2 buckets without local retries, as nearly all clusters' rules are, what an
//! attempt finds depends on the input and the attempt alone, so all copies of all inputs descend in lockstep; the few
//! attempts that collide, or land on a device that is out, are tried again in further rounds. A rule that chooses devices from
//! one vring bucket has a road of its own. Everything else takes the plain road, input by input. Property tests hold the
//! roads equal.

mod descend;
mod flat_ring;
mod lockstep;
mod plan;
mod settle;
#[cfg(target_arch = "x86_64")]
mod wide;

use self::descend::{Descent, Descents, Landing};
use self::flat_ring::{FlatRing, RingBlock};
use self::plan::Plan;
use self::settle::{Progress, Settled};
use crate::choosing::choose::{Scratch, Tries};
use crate::lanes::Lanes;
use crate::map::CrushMap;
use crate::map::rule::{Choose, Rule, Step};
use crate::map::weight_set::WeightSets;

/// What follows the end of a mapping that is shorter than its row.
pub const SHORT: i32 = -1;

/// Descents begun together: enough that the rounds for those that collide are not too small for vectors.
const DESCENTS: usize = 3072;
/// Most copies that are placed in lockstep; a mapping that is longer fills the vectors by itself.
const COPIES_MAX: usize = 64;

/// A rule made ready for placing many inputs.
///
/// # Examples
/// ```
/// use resilver_crush::{Batch, BatchScratch, BucketKind, CrushMap, Level, Tunables};
/// let map = CrushMap::hierarchical(64, 16, None, BucketKind::Straw2, Tunables::JEWEL, Level::Rack).unwrap();
/// let batch = Batch::new(&map, map.rule_by_id(0).unwrap(), 3, map.default_weight_sets());
/// let mut devices = vec![0; 100 * 3];
/// let inputs: Vec<u32> = (0..100).collect();
/// batch.place(&inputs, &[], &mut BatchScratch::new(), &mut devices);
/// assert!(devices.iter().all(|device| (0..64).contains(device)));
/// ```
#[derive(Debug)]
pub struct Batch<'m> {
    map: &'m CrushMap,
    rule: &'m Rule,
    copies: usize,
    weight_sets: Option<&'m WeightSets>,
    road: Road<'m>,
}

/// How a batch places its inputs.
#[derive(Debug)]
enum Road<'m> {
    /// One by one.
    Plain,
    /// All copies of all inputs together.
    Lockstep(Box<Lockstep<'m>>),
    /// From one vring bucket of devices.
    FlatRing(FlatRing<'m>),
}

/// What a rule of one choose step asks for.
#[derive(Clone, Copy)]
struct Single {
    root: i32,
    choose: Choose,
    tries: Tries,
    /// How many items the step asks for, and how many of them there is room for.
    wanted: u32,
    positions: usize,
}

/// The one choose step of a rule whose inputs descend in lockstep, with the settings in force there.
#[derive(Debug)]
struct Lockstep<'m> {
    plan: Plan<'m>,
    choose: Choose,
    /// How many items the step asks for, which is also the stride of an indep step's attempts.
    wanted: u32,
    /// How many of them there is room for.
    positions: usize,
    /// Attempts per copy, and per copy below the chosen type.
    total: u32,
    leaf_total: u32,
    vary_r: u32,
    stable: bool,
}

/// Working memory of [`Batch::place`], reused from batch to batch; one a thread.
#[derive(Debug, Default)]
pub struct BatchScratch {
    plain: Scratch,
    devices: Vec<i32>,
    descents: Descents,
    landings: Vec<Landing>,
    progress: Vec<Progress>,
    waiting: Vec<u32>,
    ring: RingBlock,
}

impl BatchScratch {
    /// Working memory that uses the best instructions of this processor.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Working memory that uses the given instructions, or the portable ones where the processor lacks those. With
    /// [`Lanes::Plain`] every input takes the plain road.
    #[must_use]
    pub fn with_lanes(lanes: Lanes) -> Self {
        BatchScratch { plain: Scratch::with_lanes(lanes), ..Self::default() }
    }
}

impl<'m> Batch<'m> {
    /// Prepares `rule` for placing `copies` devices an input.
    ///
    /// # Arguments
    /// * `map`, `rule` - the map, and one of its rules.
    /// * `copies` - how many devices to find for each input.
    /// * `weight_sets` - choose_args: a pool's ([`CrushMap::weight_sets_for`]), the default's or none.
    #[must_use]
    pub fn new(map: &'m CrushMap, rule: &'m Rule, copies: usize, weight_sets: Option<&'m WeightSets>) -> Self {
        let road = Single::of(map, rule, copies).and_then(|single| {
            let lockstep = || Lockstep::new(map, &single, weight_sets).map(|road| Road::Lockstep(Box::new(road)));
            FlatRing::new(map, &single).map(Road::FlatRing).or_else(lockstep)
        });
        Batch { map, rule, copies, weight_sets, road: road.unwrap_or(Road::Plain) }
    }

    /// Whether the rule is one that places many inputs together; others take the plain road, input by input.
    #[must_use]
    pub fn is_together(&self) -> bool {
        !matches!(self.road, Road::Plain)
    }

    /// Places inputs, each into its row of `out`.
    ///
    /// # Arguments
    /// * `inputs` - the inputs.
    /// * `reweight` - 16.16 reweight of each device by id: 0 is out, 0x10000 is in; ids beyond the end are in.
    /// * `scratch` - working memory.
    /// * `out` - receives the devices, shape (inputs, copies): [`NONE`](crate::NONE) where an indep rule leaves a hole, and
    ///   [`SHORT`] after the end of a mapping that is short.
    ///
    /// # Panics
    /// When `out` has another length than inputs times copies.
    pub fn place(&self, inputs: &[u32], reweight: &[u32], scratch: &mut BatchScratch, out: &mut [i32]) {
        assert_eq!(out.len(), inputs.len() * self.copies, "one row of {} devices an input", self.copies);
        if self.copies == 0 {
            return;
        }
        let lanes = scratch.plain.lanes();
        match &self.road {
            Road::Lockstep(lockstep) if lanes != Lanes::Plain => {
                let share = DESCENTS.div_ceil(lockstep.positions);
                for (inputs, rows) in inputs.chunks(share).zip(out.chunks_mut(share * self.copies)) {
                    self.place_share(lockstep, inputs, reweight, scratch, rows);
                }
            }
            Road::FlatRing(ring) if lanes != Lanes::Plain => {
                let mut block = std::mem::take(&mut scratch.ring);
                let plainly = |x, row: &mut [i32]| self.place_plainly(x, reweight, scratch, row);
                ring.place((lanes, &mut block), (inputs, self.copies, reweight), out, plainly);
                scratch.ring = block;
            }
            _ => {
                for (&x, row) in inputs.iter().zip(out.chunks_exact_mut(self.copies)) {
                    self.place_plainly(x, reweight, scratch, row);
                }
            }
        }
    }

    /// Places one input, whose devices `out` receives without padding.
    pub(crate) fn place_one(&self, x: u32, reweight: &[u32], scratch: &mut BatchScratch, out: &mut Vec<i32>) {
        self.map.place_with(self.rule, x, self.copies, reweight, self.weight_sets, &mut scratch.plain, out);
    }

    /// Places one input by the plain road.
    fn place_plainly(&self, x: u32, reweight: &[u32], scratch: &mut BatchScratch, row: &mut [i32]) {
        let mut devices = std::mem::take(&mut scratch.devices);
        self.place_one(x, reweight, scratch, &mut devices);
        row[..devices.len()].copy_from_slice(&devices);
        row[devices.len()..].fill(SHORT);
        scratch.devices = devices;
    }

    /// Places as many inputs as descend together, round by round.
    fn place_share(
        &self,
        lockstep: &Lockstep,
        inputs: &[u32],
        reweight: &[u32],
        scratch: &mut BatchScratch,
        rows: &mut [i32],
    ) {
        let positions = lockstep.positions;
        let lanes = scratch.plain.lanes();
        scratch.landings.clear();
        scratch.landings.resize(inputs.len() * positions, Landing::OPEN);
        scratch.progress.clear();
        scratch.progress.resize(inputs.len(), Progress::default());
        scratch.descents.open.clear();
        for (index, &x) in inputs.iter().enumerate() {
            let first = (0..positions).map(|position| lockstep.descent(x, position, 0, index * positions));
            scratch.descents.open.extend(first);
        }
        scratch.waiting.clear();
        scratch.waiting.extend(0..inputs.len() as u32);
        while !scratch.waiting.is_empty() {
            scratch.descents.run(&lockstep.plan, lockstep.choose.leaf, lanes, &mut scratch.landings);
            let mut waiting = std::mem::take(&mut scratch.waiting);
            waiting.retain(|&index| {
                let (index, x) = (index as usize, inputs[index as usize]);
                let landings = &mut scratch.landings[index * positions..][..positions];
                let row = &mut rows[index * self.copies..][..self.copies];
                let progress = &mut scratch.progress[index];
                match lockstep.settle(x, reweight, landings, progress, row) {
                    Settled::Placed => return false,
                    Settled::Unfit => {
                        self.place_plainly(x, reweight, scratch, row);
                        return false;
                    }
                    Settled::Waiting => {}
                }
                for position in lockstep.wanting(landings, progress) {
                    landings[position] = Landing::OPEN;
                    let descent = lockstep.descent(x, position, progress.failures, index * positions);
                    scratch.descents.open.push(descent);
                }
                true
            });
            scratch.waiting = waiting;
        }
    }
}

impl Single {
    /// What a rule asks for, if it has one choose step and no multi-step retries.
    fn of(map: &CrushMap, rule: &Rule, copies: usize) -> Option<Self> {
        if rule.is_msr() {
            return None;
        }
        let mut tries = Tries::new(map.tunables());
        let (mut root, mut chosen, mut is_emitted) = (None, None, false);
        for &step in &rule.steps {
            match step {
                Step::Take(item) if root.is_none() => root = Some(item),
                Step::Choose(choose) if root.is_some() && chosen.is_none() => chosen = Some((choose, tries)),
                Step::Emit if chosen.is_some() && !is_emitted => is_emitted = true,
                Step::Noop => {}
                setting if setting.as_setting().is_some() => tries.set(setting),
                _ => return None,
            }
        }
        let (choose, tries) = chosen.filter(|_| is_emitted)?;
        let wanted = if choose.count > 0 { i64::from(choose.count) } else { i64::from(choose.count) + copies as i64 };
        let wanted = u32::try_from(wanted).ok().filter(|&wanted| wanted > 0)?;
        let positions = copies.min(wanted as usize);
        let is_served = (1..=COPIES_MAX).contains(&positions);
        root.filter(|_| is_served).map(|root| Single { root, choose, tries, wanted, positions })
    }
}

impl<'m> Lockstep<'m> {
    /// The lockstep form of a step, where it has one.
    fn new(map: &'m CrushMap, single: &Single, weight_sets: Option<&'m WeightSets>) -> Option<Self> {
        let &Single { root, choose, tries, wanted, positions } = single;
        let is_simple = tries.local == 0 && tries.fallback == 0 && tries.total > 0 && tries.vary_r <= u32::BITS;
        if !is_simple {
            return None;
        }
        Some(Lockstep {
            plan: Plan::new(map, root, choose.type_id, weight_sets)?,
            choose,
            wanted,
            positions,
            total: tries.total,
            leaf_total: tries.leaf_total(choose.firstn, map.tunables()),
            vary_r: tries.vary_r,
            stable: tries.stable,
        })
    }

    /// The descent for a position after so many failures there; its answer goes to the position's slot from `first` on.
    fn descent(&self, x: u32, position: usize, failures: u32, first: usize) -> Descent {
        let slot = first + position;
        let position = position as u32;
        if !self.choose.firstn {
            let attempt = position.wrapping_add(self.wanted.wrapping_mul(failures));
            return Descent::new(x, attempt, position.wrapping_add(attempt), slot);
        }
        let attempt = position + failures;
        let parent_r = if self.vary_r == 0 { 0 } else { attempt >> (self.vary_r - 1) };
        Descent::new(x, attempt, parent_r + if self.stable { 0 } else { position }, slot)
    }
}
