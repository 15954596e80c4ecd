//! One run from its configuration to its outcome, in steps short enough to show progress and to stop between.

use std::ops::Deref;

use resilver_fabric::topology::Topology;
use resilver_kernel::Digest;
use resilver_kernel::lanes::Lanes;
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::GroupTable;
use resilver_population::RangeTotals;
use resilver_units::GroupId;

use crate::conclusion::Conclusion;
use crate::groups::place_in_parallel;
use crate::recovery::Recovery;
use crate::running::{Moved, Run, begin};
use crate::scan::Scanned;
use crate::scenario::{Detected, FabricConfig, PlaceScratch, SystemConfig, Traffic};
use crate::search::{Found, FoundPool, GroupOutcome, Scan, scan_of_groups, scan_of_objects};
use crate::trace::TraceWindow;
use crate::{SystemError, flows};

/// Groups that one step places.
const GROUPS_A_STEP: u32 = 8192;

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Working out where the placement groups are.
    Placing,
    /// Looking through the population for the affected objects.
    Scanning,
    /// Moving data.
    Rebuilding,
    /// Serving clients, with nothing to rebuild.
    Serving,
    /// Nothing is left to do.
    Done,
}

impl Phase {
    /// Its name where progress is told.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::Placing => "placing",
            Phase::Scanning => "scanning",
            Phase::Rebuilding => "rebuilding",
            Phase::Serving => "serving",
            Phase::Done => "done",
        }
    }
}

/// What a finished run has to tell, of everything in it and of what was there before it began.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What all populations add up to.
    pub population: RangeTotals,
    /// What each pool's does.
    pub populations: Vec<RangeTotals>,
    /// What came of all that moved.
    pub conclusion: Conclusion,
    /// What the groups went through, where there are any.
    pub groups: Option<GroupOutcome>,
    /// How what broke became known, where devices found that out themselves.
    pub detected: Vec<Detected>,
    /// Digest of all events and of the work they did.
    pub digest: Digest,
    /// How many events were executed.
    pub events: u64,
}

impl Deref for Report {
    type Target = Conclusion;

    fn deref(&self) -> &Conclusion {
        &self.conclusion
    }
}

enum Stage {
    Placing(GroupTable),
    Scanning(Box<dyn Scan>),
    Running(Box<Running>),
    Done,
}

struct Running {
    run: Box<dyn Run>,
    /// Whether clients are all there is.
    is_serving: bool,
    populations: Vec<RangeTotals>,
    groups: Option<GroupOutcome>,
}

/// A run under way.
pub struct Simulation {
    config: SystemConfig,
    failed: FailedSet,
    stage: Stage,
    /// What was found in each pool so far; the next one is under way.
    pools: Vec<FoundPool>,
    /// What scans of all parts of the population have found, in place of a scan by the run itself.
    found: Option<Scanned>,
    /// What of the run is traced.
    trace: Option<TraceWindow>,
    report: Option<Report>,
}

/// The search for what failures touch in a pool, that has not begun.
fn search_of(config: &SystemConfig, pool: usize, failed: &FailedSet) -> Result<Stage, SystemError> {
    Ok(match config.pools[pool].placement.groups {
        Some(_) => Stage::Placing(GroupTable::new()),
        None => Stage::Scanning(scan_of_objects(config, pool, failed)?),
    })
}

impl Simulation {
    /// A run of a system that has not begun.
    ///
    /// # Errors
    /// When the population cannot be built.
    pub fn new(config: SystemConfig) -> Result<Self, SystemError> {
        let failed = config.failed();
        let stage = search_of(&config, 0, &failed)?;
        Ok(Simulation { config, failed, stage, pools: Vec::new(), found: None, trace: None, report: None })
    }

    /// A run of a system whose population was scanned in parts.
    ///
    /// `found` is what the scans found, in the order of the population. The run equals one that scans by itself.
    ///
    /// # Errors
    /// When the population cannot be built.
    pub fn with_found(config: SystemConfig, found: Scanned) -> Result<Self, SystemError> {
        Ok(Simulation { found: Some(found), ..Simulation::new(config)? })
    }

    /// The same run, of which a window of time is traced.
    #[must_use]
    pub fn traced(mut self, window: TraceWindow) -> Self {
        self.trace = Some(window);
        self
    }

    /// The nodes and links of the network, where it has them.
    pub fn topology(&self) -> Option<&Topology> {
        match &self.config.fabric {
            FabricConfig::LogGp { .. } => None,
            FabricConfig::Switched { topology, .. } => Some(topology),
        }
    }

    /// What clients ask for.
    pub(crate) fn traffic(&self) -> &[Traffic] {
        &self.config.traffic
    }

    /// The lanes of ports and devices, where there are several.
    pub fn lanes(&self) -> Option<&Lanes> {
        self.config.lanes.as_ref().map(|config| &config.lanes)
    }

    /// What the run is doing.
    pub fn phase(&self) -> Phase {
        match &self.stage {
            Stage::Placing(_) => Phase::Placing,
            Stage::Scanning(_) => Phase::Scanning,
            Stage::Running(running) if running.is_serving => Phase::Serving,
            Stage::Running(_) => Phase::Rebuilding,
            Stage::Done => Phase::Done,
        }
    }

    /// How much of the present phase is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let of_pools = |fraction: f64| (self.pools.len() as f64 + fraction) / self.config.pools.len() as f64;
        match &self.stage {
            Stage::Placing(table) => of_pools(f64::from(table.len()) / f64::from(self.groups().max(1))),
            Stage::Scanning(scan) => of_pools(scan.fraction()),
            Stage::Running(running) => running.run.fraction(),
            Stage::Done => 1.0,
        }
    }

    /// How far the data movement has come: all zero before the scan's end.
    pub fn moved(&self) -> Moved {
        match (&self.stage, &self.report) {
            (Stage::Running(running), _) => running.run.moved(),
            (_, Some(report)) => Moved {
                events: report.events,
                simulated: report.outcome.ended_at,
                rebuilt_pieces: report.outcome.rebuilt_pieces,
                pieces_to_rebuild: report.outcome.losses.pieces_to_rebuild,
            },
            _ => Moved::default(),
        }
    }

    /// What the finished run has to tell; `None` until it is done.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Works on for a fraction of a second.
    ///
    /// # Errors
    /// When the system cannot be simulated, or broke a conservation law.
    pub fn advance(&mut self) -> Result<(), SystemError> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Placing(table) => self.place(table)?,
            Stage::Scanning(mut scan) => {
                match self.found.take() {
                    Some(found) => scan.complete_with(found)?,
                    None => scan.advance(),
                }
                if scan.is_complete() { self.end_search(scan)? } else { Stage::Scanning(scan) }
            }
            Stage::Running(mut running) => {
                if running.run.advance()? {
                    self.report = Some(self.finish(*running)?);
                    Stage::Done
                } else {
                    Stage::Running(running)
                }
            }
            Stage::Done => Stage::Done,
        };
        Ok(())
    }

    /// How many groups the pool has that is under way.
    fn groups(&self) -> u32 {
        self.config.pools[self.pools.len()].placement.groups.unwrap_or(0)
    }

    fn place(&self, mut table: GroupTable) -> Result<Stage, SystemError> {
        let (groups, pool) = (self.groups(), self.pools.len());
        let first = table.len();
        let count = GROUPS_A_STEP.min(groups - first);
        let algorithm = &self.config.pools[pool].placement.algorithm;
        table.append(&place_in_parallel(count, PlaceScratch::default, |group, scratch, set| {
            algorithm.place_group(GroupId::new(first + group.get()), scratch, set);
        }));
        if table.len() < groups {
            return Ok(Stage::Placing(table));
        }
        Ok(Stage::Scanning(scan_of_groups(&self.config, pool, &self.failed, &table)?))
    }

    /// Goes on to the next pool, and behind the last one to what is to be done.
    fn end_search(&mut self, scan: Box<dyn Scan>) -> Result<Stage, SystemError> {
        self.pools.push(scan.finish(&self.config, self.pools.len())?);
        if self.pools.len() < self.config.pools.len() {
            return search_of(&self.config, self.pools.len(), &self.failed);
        }
        self.begin_rebuild()
    }

    fn begin_rebuild(&mut self) -> Result<Stage, SystemError> {
        let found = Found::of(&self.config, std::mem::take(&mut self.pools))?;
        let (config, Found { work, populations, groups }) = (&self.config, found);
        // A system of no groups has none to tell of.
        let groups = groups.filter(|groups| groups.groups > 0);
        let bytes = work.bytes();
        let may_lose = matches!(config.fabric, FabricConfig::Switched { .. }) || !config.breaking(false).is_empty();
        let mut recovery = Recovery::of_system(config, work)?;
        if may_lose {
            recovery = recovery.with_retry(config.retry);
        }
        if let Some(window) = self.trace {
            if flows::asks(config) {
                return Err(SystemError::Described("trace: clients as flows send no messages".to_owned()));
            }
            recovery = recovery.with_trace(window);
        }
        let is_serving = (!config.traffic.is_empty() || config.streams.is_some()) && bytes.is_zero();
        let run = if flows::asks(config) { flows::begin(config, bytes)? } else { begin(config, recovery, bytes)? };
        Ok(Stage::Running(Box::new(Running { run, is_serving, populations, groups })))
    }

    fn finish(&self, running: Running) -> Result<Report, SystemError> {
        let Running { run, populations, groups, .. } = running;
        let population = populations.iter().fold(RangeTotals::default(), |sum, &pool| sum.and(pool));
        let (mut conclusion, mut digest, events) = run.conclude()?;
        let outcome = &mut conclusion.outcome;
        if !self.config.has_code() {
            // What copies take is what they weigh.
            outcome.coded = None;
        }
        // The events tell what moved and when; the rest of what a run found is folded in behind them.
        let losses = outcome.losses;
        for word in [
            population.objects,
            population.bytes.get(),
            losses.affected_objects,
            losses.lost_pieces,
            outcome.rebuilt_bytes.get(),
            outcome.remapped_bytes.get(),
        ] {
            digest.fold(word);
        }
        let detected = self.config.detected.clone();
        Ok(Report { population, populations, conclusion, groups, detected, digest, events })
    }
}
