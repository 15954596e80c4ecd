//! The mission as it comes, and where futures beside it begin.

use resilver_kernel::{Stream, exp, ln};

use super::Walker;
use super::steps::Happened;
use crate::{Hazard, Model};

/// At most so many futures are begun in a mission, as expected: for the effort of more there are other missions.
const MOST_STARTS: f64 = 4096.0;

impl<M: Model> Walker<'_, M> {
    /// A mission as it comes; what it loses counts.
    pub(super) fn plain(&mut self, draws: &mut Stream) -> Option<()> {
        self.steps.restart(draws);
        let mut alive = 1.0;
        while self.main.now() < self.mission {
            self.steps.look(&self.main);
            let happened = self.steps.plain(&mut self.main, self.mission, draws);
            if self.tally.happened(&happened, self.main.now()) {
                self.go_on()?;
                alive = self.tally.losses(&mut self.main, &happened, 1.0, alive);
            }
        }
        self.tally.mission_ended(alive);
        Some(())
    }

    /// A mission as it comes, with futures beside it, which count instead of the excursions of its own; what it loses where none
    /// stands for it counts as it comes.
    pub(super) fn with_futures(&mut self, draws: &mut Stream, futures: &mut Stream) -> Option<()> {
        self.steps.restart(draws);
        let mut starts = Starts::plan(&self.main, self.mission, futures);
        let mut alive = 1.0;
        while self.main.now() < self.mission {
            let calm = self.is_calm(&self.main);
            let start = starts.next(&self.main);
            let before = self.main.now();
            let foreseen = Starts::foreseen(&self.main);
            self.steps.look(&self.main);
            let happened = self.steps.plain(&mut self.main, start.min(self.mission), draws);
            starts.passed(foreseen, before, self.main.now());
            if self.tally.happened(&happened, self.main.now()) {
                self.go_on()?;
                let stood_for = match happened {
                    Happened::Failure { kind } => self.begins_excursions(&self.steps.hazards[kind]),
                    _ => false,
                };
                if calm && !stood_for {
                    alive = self.tally.losses(&mut self.main, &happened, 1.0, alive);
                    if !self.is_calm(&self.main) {
                        self.side.clone_from(&self.main);
                        self.future(1.0, alive, futures)?;
                    }
                } else {
                    alive = happened.survived(&mut self.main, alive);
                }
            } else if self.main.now() == start {
                for kind in 0..self.main.kinds() {
                    if starts.is_due(kind, start) && calm {
                        self.begin(kind, starts.intensity(kind, foreseen, start), alive, futures)?;
                    }
                }
                starts.begun(start);
            }
        }
        self.tally.mission_ended(alive);
        Some(())
    }

    /// Begins a future with a failure of a kind now, where such a failure begins excursions and is possible.
    fn begin(&mut self, kind: usize, intensity: f64, alive: f64, draws: &mut Stream) -> Option<()> {
        self.steps.look(&self.main);
        let hazard = self.steps.hazards[kind];
        if hazard.rate == 0.0 || !self.begins_excursions(&hazard) {
            return Some(());
        }
        self.side.clone_from(&self.main);
        if !self.side.fail(kind, draws) {
            return Some(());
        }
        let weight = hazard.rate / intensity;
        let happened = Happened::Failure { kind };
        self.tally.happened(&happened, self.side.now());
        let alive = self.tally.losses(&mut self.side, &happened, weight, alive);
        if self.is_calm(&self.side) { Some(()) } else { self.future(weight, alive, draws) }
    }

    /// Whether failures of such a hazard are those of which futures are begun: any that may end the calm.
    fn begins_excursions(&self, hazard: &Hazard) -> bool {
        self.from == 0 || hazard.critical
    }

    /// Whether no excursion is under way.
    pub(super) fn is_calm(&self, model: &M) -> bool {
        if self.from == 0 { model.is_idle() } else { level(model) < self.from }
    }
}

/// How many steps of damage there are.
pub(super) fn level<M: Model>(model: &M) -> u32 {
    // Damage is a number of steps over all steps, rounded: a thousandth of a step is neither.
    (model.damage() * model.steps() as f64 + 1e-3) as u32
}

/// How many futures of each kind begin as the time that is left until something foreseen falls to 1/e of it, and from when on no
/// more do.
const BY_LOGARITHM: f64 = 0.25;
const LAST_SECONDS: f64 = 900.0;

/// When futures begin, by the kind of their first failure: evenly over the mission, from a moment that is drawn; and, where nothing
/// is under way and something is foreseen (a failure of a trace, planned work), evenly over the logarithm of the time that is left
/// until then, since it may meet what failed just before, and nothing says how long before that is.
struct Starts {
    /// How many a second, evenly.
    evenly: Vec<f64>,
    next: Vec<f64>,
    /// How many more by the logarithm are due until the next.
    left: f64,
    next_by_logarithm: f64,
}

impl Starts {
    /// About half as many as the mission has failures by the rates at its beginning, since a future and a failure of the mission
    /// cost about the same; and one for every kind at least. Half of them are shared alike by all kinds, so that none is missed, and
    /// half by rate.
    fn plan<M: Model>(model: &M, mission: f64, draws: &mut Stream) -> Self {
        // Bounds may be far above rates, where the young fail most.
        let until = model.next_change().min(model.bounded_until()).min(mission);
        let time = until - model.now();
        let rate = |kind| if time > 0.0 { model.expected_failures(kind, until) / time } else { 0.0 };
        let rates: Vec<f64> = (0..model.kinds()).map(rate).collect();
        let (all, kinds) = (rates.iter().sum::<f64>(), rates.len() as f64);
        let starts = (0.5 * all * mission).clamp(kinds, MOST_STARTS.max(kinds));
        let share = |&rate: &f64| {
            let by_rate = if all > 0.0 { rate / all } else { 1.0 / kinds };
            starts * (0.5 / kinds + 0.5 * by_rate) / mission
        };
        let evenly: Vec<f64> = rates.iter().map(share).collect();
        let next = evenly.iter().map(|intensity| draws.uniform() / intensity).collect();
        Starts { evenly, next, left: draws.uniform_open(), next_by_logarithm: f64::INFINITY }
    }

    /// When what is foreseen happens: where nothing is under way, what is certain is no repair.
    fn foreseen<M: Model>(model: &M) -> f64 {
        if model.is_idle() { model.next_change() } else { f64::INFINITY }
    }

    /// When the next begins, if nothing happens before.
    fn next<M: Model>(&mut self, model: &M) -> f64 {
        let foreseen = Self::foreseen(model);
        self.next_by_logarithm = f64::INFINITY;
        if foreseen.is_finite() {
            let left = foreseen + LAST_SECONDS - model.now();
            let at = model.now() + left * (1.0 - exp(-self.left / BY_LOGARITHM));
            // Just before it there is no telling apart by rounding.
            if at > model.now() && at < foreseen {
                self.next_by_logarithm = at;
            }
        }
        self.next.iter().copied().fold(self.next_by_logarithm, f64::min)
    }

    /// Time has passed.
    fn passed(&mut self, foreseen: f64, from: f64, to: f64) {
        if foreseen.is_finite() {
            let left = |time| foreseen + LAST_SECONDS - time;
            // By rounding, one that is due next may seem to be over.
            self.left = (self.left - BY_LOGARITHM * ln(left(from) / left(to))).max(1e-12);
        }
    }

    /// Whether a future of a kind begins now, at a start.
    fn is_due(&self, kind: usize, now: f64) -> bool {
        self.next[kind] == now || self.next_by_logarithm == now
    }

    /// How many futures of a kind begin a second, now.
    fn intensity(&self, kind: usize, foreseen: f64, now: f64) -> f64 {
        self.evenly[kind] + BY_LOGARITHM / (foreseen + LAST_SECONDS - now)
    }

    /// Those that were due have begun.
    fn begun(&mut self, now: f64) {
        for (next, intensity) in self.next.iter_mut().zip(&self.evenly) {
            if *next == now {
                *next += 1.0 / intensity;
            }
        }
        if self.next_by_logarithm == now {
            self.left = 1.0;
        }
    }
}
