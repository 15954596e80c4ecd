//! A run under way: of a system, or of a Ceph cluster that heals.

use std::sync::Arc;

use resilver_ceph::{ClusterInput, HealError, Healing};
use resilver_crush::{CrushMap, MapError};
use resilver_system::{Column, Metrics, Named, Simulation, SystemError, read, system_of};
use resilver_units::ErrorClass;

use crate::answer;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A system, of the JSON that `resilver.core_input` writes.
    System,
    /// A Ceph cluster, of the JSON that `resilver.whatif` writes.
    Cluster,
}

enum Stage {
    System(Box<Simulation>, Vec<Named>),
    Cluster(Box<Healing>),
    /// It came to its end, or could not go on.
    Over,
}

/// A run, and what is known of it.
pub struct Session {
    stage: Stage,
    answer: Vec<u8>,
}

/// Why a run cannot begin or go on.
struct Failure {
    class: ErrorClass,
    message: String,
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Self {
        Failure { class: error.class(), message: error.to_string() }
    }
}

impl From<HealError> for Failure {
    fn from(error: HealError) -> Self {
        Failure { class: error.class(), message: error.to_string() }
    }
}

impl Failure {
    fn of_input(message: impl ToString) -> Self {
        Failure { class: ErrorClass::Config, message: message.to_string() }
    }

    fn of_map(number: usize, error: impl ToString) -> Self {
        Failure { class: ErrorClass::Placement, message: format!("maps[{number}]: {}", error.to_string()) }
    }
}

impl Session {
    /// A run that has not begun, or the answer why there is none.
    ///
    /// # Arguments
    /// * `work` - what runs; `None` for what is no kind of run.
    /// * `text` - its JSON.
    /// * `maps` - the CRUSH maps beside it, each behind its length.
    pub fn new(work: Option<Work>, text: Vec<u8>, maps: &[u8]) -> Self {
        match begun(work, text, maps) {
            Ok(stage) => {
                let answer = progress(&stage);
                Session { stage, answer }
            }
            Err(failure) => Session { stage: Stage::Over, answer: answer::failed(failure.class, &failure.message) },
        }
    }

    /// Works on for so many steps, or to the end; returns whether there is more to come.
    pub fn advance(&mut self, steps: usize) -> bool {
        let ended = match stepped(&mut self.stage, steps) {
            Ok(true) => {
                self.answer = progress(&self.stage);
                return true;
            }
            Ok(false) => outcome(&mut self.stage),
            Err(failure) => Some(answer::failed(failure.class, &failure.message)),
        };
        // What is over keeps its answer, and its memory is given back.
        if let Some(answer) = ended {
            self.answer = answer;
        }
        self.stage = Stage::Over;
        false
    }

    /// What is known of the run.
    pub fn answer(&self) -> &[u8] {
        &self.answer
    }
}

fn begun(work: Option<Work>, text: Vec<u8>, maps: &[u8]) -> Result<Stage, Failure> {
    let text = String::from_utf8(text).map_err(Failure::of_input)?;
    Ok(match work {
        Some(Work::System) => {
            let (config, faults) = system_of(&text, &maps_of(maps)?)?;
            Stage::System(Box::new(Simulation::new(config)?), faults)
        }
        Some(Work::Cluster) => {
            let input: ClusterInput = read(&text)?;
            Stage::Cluster(Box::new(Healing::of(&input)?))
        }
        None => return Err(Failure::of_input("it is no kind of run; begin one of a system or of a cluster")),
    })
}

/// The CRUSH maps that stand behind each other, each behind its length of 4 bytes.
fn maps_of(mut bytes: &[u8]) -> Result<Vec<Arc<CrushMap>>, Failure> {
    let mut maps = Vec::new();
    while !bytes.is_empty() {
        let cut = || Failure::of_map(maps.len(), "it ends before its length says; give all of it");
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let (own, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        let map = CrushMap::from_bytes(own).map_err(|error: MapError| Failure::of_map(maps.len(), error))?;
        maps.push(Arc::new(map));
        bytes = rest;
    }
    Ok(maps)
}

/// Works on; returns whether there is more to come.
fn stepped(stage: &mut Stage, steps: usize) -> Result<bool, Failure> {
    match stage {
        Stage::System(simulation, _) => {
            for _ in 0..steps {
                simulation.advance()?;
                if simulation.report().is_some() {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Stage::Cluster(healing) => Ok(healing.advance(steps)?),
        Stage::Over => Ok(false),
    }
}

fn progress(stage: &Stage) -> Vec<u8> {
    match stage {
        Stage::System(simulation, _) => answer::working(simulation),
        Stage::Cluster(healing) => answer::healing(healing),
        Stage::Over => Vec::new(),
    }
}

/// What a run came to; `None` where that was told.
fn outcome(stage: &mut Stage) -> Option<Vec<u8>> {
    match stage {
        Stage::System(simulation, faults) => {
            let report = simulation.report()?;
            let metrics = resilver_system::metrics(report, faults);
            let tables = resilver_system::tables(simulation).into_iter();
            let tables = tables.map(|table| (table.name, table.columns));
            Some(answer::done(report.digest.to_string(), std::iter::once(row_of(metrics)).chain(tables)))
        }
        Stage::Cluster(healing) => {
            let tables = resilver_ceph::tables(healing).into_iter().map(|table| {
                let columns = table.columns.into_iter().map(|(name, own)| (name.to_owned(), column(own)));
                (table.name, columns.collect())
            });
            Some(answer::done(healing.digest().to_string(), tables))
        }
        Stage::Over => None,
    }
}

/// Metrics as a table of one row.
fn row_of(metrics: Metrics) -> answer::Told {
    let columns = metrics.into_iter().map(|(name, metric)| (name, Column::Metrics(vec![metric])));
    ("metrics", columns.collect())
}

/// A column of a cluster as one of a system.
fn column(column: resilver_ceph::Column) -> Column {
    match column {
        resilver_ceph::Column::Counts(counts) => Column::Counts(counts),
        resilver_ceph::Column::Reals(reals) => {
            Column::Reals(reals.into_iter().map(|real| real.unwrap_or(f64::NAN)).collect())
        }
        resilver_ceph::Column::Texts(texts) => Column::Texts(texts),
    }
}
