//! Which failures are critical: those that bring closer to loss what lacks most.

use super::StorageSystem;
use super::lost::NONE;
use super::plan::Plan;
use crate::Draws;
use crate::input::{LawInput, NO_DEVICE};

/// Where more devices than this would have to be marked, all are critical; of many devices, more than half of them.
const MARKED_MAX: usize = 16_384;
const FEW: usize = 1_024;
/// A part is drawn so often until one is of those that are asked for; then these are listed.
const TRIES: usize = 64;

/// Parts of a level that are marked.
#[derive(Debug, Default)]
struct Marks {
    is_marked: Vec<bool>,
    list: Vec<u32>,
}

impl Clone for Marks {
    fn clone(&self) -> Self {
        let mut other = Self::default();
        other.clone_from(self);
        other
    }

    fn clone_from(&mut self, other: &Self) {
        self.is_marked.clone_from(&other.is_marked);
        self.list.clone_from(&other.list);
    }
}

impl Marks {
    fn clear(&mut self) {
        for part in self.list.drain(..) {
            self.is_marked[part as usize] = false;
        }
    }

    fn add(&mut self, part: u32) {
        if !std::mem::replace(&mut self.is_marked[part as usize], true) {
            self.list.push(part);
        }
    }
}

/// Which parts are critical.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Which {
    #[default]
    All,
    /// Devices that share a group with this one, which alone is lost.
    Neighbors(u32),
    Marked,
}

/// What lacks most, and what would hit it.
#[derive(Debug, Default)]
pub(super) struct Focus {
    which: Which,
    /// How far from loss the groups are that lack most; none where nothing lacks.
    pub margin: Option<u32>,
    /// What marks were made for: the margin, changes of groups of it, and losses and returns of devices until then.
    made_for: Option<(u32, u64, u64)>,
    /// Marked parts by level, where parts of the level lose data.
    marks: Vec<Marks>,
    /// By cause, how many parts that can fail are critical.
    pub critical: Vec<u32>,
}

impl Clone for Focus {
    fn clone(&self) -> Self {
        let mut other = Self::default();
        other.clone_from(self);
        other
    }

    fn clone_from(&mut self, other: &Self) {
        self.which = other.which;
        self.margin = other.margin;
        self.made_for = other.made_for;
        self.marks.clone_from(&other.marks);
        self.critical.clone_from(&other.critical);
    }
}

impl Focus {
    pub fn new(plan: &Plan) -> Self {
        let lowest = plan.tree.lowest();
        let is_needed = |level| level == lowest || plan.causes.iter().any(|cause| cause.level == level && cause.loses);
        let of_level = |(level, &count): (usize, &usize)| {
            let is_marked = if is_needed(level) { vec![false; count] } else { Vec::new() };
            Marks { is_marked, list: Vec::new() }
        };
        let marks = plan.tree.counts.iter().enumerate().map(of_level).collect();
        Self { marks, critical: vec![0; plan.causes.len()], ..Self::default() }
    }
}

impl Focus {
    /// What was found is to be found anew.
    pub fn forget(&mut self) {
        self.made_for = None;
    }
}

impl StorageSystem {
    /// Finds anew what is critical, unless nothing has changed that it follows from.
    pub(super) fn refocus(&mut self) {
        let plan = self.plan.clone();
        let margin_of = |&slot: &u32| plan.holdings[self.slots[slot as usize].device as usize].margin;
        let lone = self.active.iter().map(margin_of).min();
        self.focus.margin = self.damaged.margin().into_iter().chain(lone).min();
        let made_for =
            self.focus.margin.map(|margin| (margin, self.damaged.changes(margin), self.losses + self.returned));
        if made_for.is_some() && made_for == self.focus.made_for {
            self.count_critical();
            return;
        }
        self.focus.made_for = made_for;
        self.focus.marks.iter_mut().for_each(Marks::clear);
        let Some(margin) = self.focus.margin else {
            self.focus.which = Which::All;
            self.count_critical();
            return;
        };
        let is_of_devices = plan.causes.iter().all(|cause| !cause.loses || cause.level == plan.tree.lowest());
        let first = self.slots[self.active[0] as usize].device;
        self.focus.which = Which::Marked;
        if self.active.len() == 1 && self.damaged.is_empty() && is_of_devices {
            self.focus.which = Which::Neighbors(first);
        } else if !self.mark(&plan, margin) {
            self.focus.which = Which::All;
        }
        self.count_critical();
    }

    /// Marks what is critical at a margin, if that is not too much.
    fn mark(&mut self, plan: &Plan, margin: u32) -> bool {
        let records = self.damaged.at_margin(margin);
        let is_lone = |&&slot: &&u32| plan.holdings[self.slots[slot as usize].device as usize].margin == margin;
        let lone = || self.active.iter().filter(is_lone).map(|&slot| self.slots[slot as usize].device);
        let most = (plan.tree.devices() / 2).clamp(FEW, MARKED_MAX);
        let mut many: usize =
            records.len() * plan.pools.iter().map(|pool| pool.judge.pieces as usize).max().unwrap_or(0);
        for device in lone() {
            many += plan.neighbors(device).len();
            if many > most {
                return false;
            }
        }
        if many > most {
            return false;
        }
        let focus = &mut self.focus;
        let of_device = &self.of_device;
        let mut mark = |device: u32| {
            if device == NO_DEVICE || of_device[device as usize] != NONE {
                return;
            }
            for (marks, &part) in focus.marks.iter_mut().zip(plan.tree.ancestors(device)) {
                if !marks.is_marked.is_empty() {
                    marks.add(part);
                }
            }
        };
        lone().for_each(|device| plan.neighbors(device).iter().for_each(|&other| mark(other)));
        for record in records {
            plan.pool(record.group).members(record.group).iter().for_each(|&member| mark(member));
        }
        true
    }

    fn count_critical(&mut self) {
        let plan = self.plan.clone();
        for (number, cause) in plan.causes.iter().enumerate() {
            let is_random = matches!(cause.law, LawInput::Exponential { .. } | LawInput::Weibull { .. });
            // None of them is lost, so that all can fail where all of the level do.
            let can_all = cause.has_all() && !cause.is_away();
            let counted = |list: &[u32]| {
                if can_all {
                    return list.len() as u32;
                }
                list.iter().filter(|&&part| cause.has(part) && !self.is_down(number, part)).count() as u32
            };
            self.focus.critical[number] = match self.focus.which {
                _ if !cause.loses || !is_random || cause.is_burst() => 0,
                Which::All => self.states[number].alive,
                Which::Neighbors(device) => counted(plan.neighbors(device)),
                Which::Marked => counted(&self.focus.marks[cause.level].list),
            };
        }
    }

    /// Whether a part cannot fail by a cause now, since it is down already.
    pub(super) fn is_down(&self, cause: usize, part: u32) -> bool {
        let cause = &self.plan.causes[cause];
        let is_lost = cause.level == self.plan.tree.lowest() && self.of_device[part as usize] != NONE;
        is_lost || cause.is_away() && self.away.is_away(cause.level, part)
    }

    /// Whether the failure of a part by a cause is critical.
    fn is_critical(&self, cause: usize, part: u32) -> bool {
        let cause = &self.plan.causes[cause];
        cause.loses
            && match self.focus.which {
                Which::All => true,
                Which::Neighbors(device) => self.plan.neighbors(device).binary_search(&part).is_ok(),
                Which::Marked => self.focus.marks[cause.level].is_marked[part as usize],
            }
    }

    /// Draws a part that fails by a cause, of the critical ones or of the others; there is one.
    pub(super) fn draw_part(&self, cause: usize, critical: bool, draws: &mut Draws) -> u32 {
        let law = &self.plan.causes[cause];
        let list = match self.focus.which {
            Which::Neighbors(device) if critical => self.plan.neighbors(device),
            Which::Marked if critical => &self.focus.marks[law.level].list,
            _ => &law.parts,
        };
        let is_one =
            |part: u32| law.has(part) && !self.is_down(cause, part) && self.is_critical(cause, part) == critical;
        for _ in 0..TRIES {
            let part = list[draws.below(list.len() as u64) as usize];
            if is_one(part) {
                return part;
            }
        }
        let left: Vec<u32> = list.iter().copied().filter(|&part| is_one(part)).collect();
        left[draws.below(left.len() as u64) as usize]
    }

    /// The integral of the rate of the failures of a cause by age, of the critical parts or of the others, from now until `to`.
    pub(super) fn expected_by_age(&self, cause: usize, critical: bool, to: f64) -> f64 {
        let law = &self.plan.causes[cause];
        let Some(ages) = &self.states[cause].ages else { return 0.0 };
        if critical && self.focus.critical[cause] == 0 {
            return 0.0;
        }
        if self.focus.which == Which::All && self.states[cause].alive as usize == law.parts.len() {
            return if critical == law.loses { ages.expected_of_all(self.now, to) } else { 0.0 };
        }
        let parts = match self.focus.which {
            Which::Neighbors(device) if critical => self.plan.neighbors(device),
            Which::Marked if critical => &self.focus.marks[law.level].list,
            _ => &law.parts,
        };
        let is_one = |part: &&u32| {
            law.has(**part) && !self.is_down(cause, **part) && self.is_critical(cause, **part) == critical
        };
        parts.iter().filter(is_one).map(|&part| ages.expected(part, self.now, to)).sum()
    }
}
