//! How likely data is lost: batches of trajectories, run on all threads while Python is asked now and then whether to go on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use resilver_durability::input::DurabilityInput;
use resilver_durability::rare::{Chain, ChainInput, run_batch};
use resilver_durability::system::StorageSystem;
use resilver_durability::{Method, Model};
use resilver_system::read;

use crate::errors::{CoreSimulationError, config_error, system_error};

/// Between two looks at Python.
const LOOK: Duration = Duration::from_millis(100);

/// What fails and heals: a storage system, or a Markov chain.
enum Kind {
    Chain(Chain),
    System(Box<StorageSystem>),
}

/// What fails and heals, of which batches of missions can be run.
#[pyclass(frozen, module = "resilver._core")]
pub struct DurabilityModel {
    kind: Kind,
    mission: f64,
}

#[pymethods]
impl DurabilityModel {
    /// A storage system, from the JSON of a `DurabilityInput`.
    #[new]
    fn new(py: Python<'_>, input: &str) -> PyResult<Self> {
        let input: DurabilityInput = read(input).map_err(system_error)?;
        let system = py.detach(|| StorageSystem::new(&input)).map_err(config_error)?;
        Ok(DurabilityModel { kind: Kind::System(Box::new(system)), mission: input.mission_seconds })
    }

    /// A Markov chain, from the JSON of a `ChainInput`.
    #[staticmethod]
    fn of_chain(input: &str) -> PyResult<Self> {
        let input: ChainInput = read(input).map_err(system_error)?;
        let chain = Chain::of(&input).map_err(config_error)?;
        Ok(DurabilityModel { mission: chain.mission_seconds(), kind: Kind::Chain(chain) })
    }

    /// How long the repair of each device that holds something takes while nothing else is lost.
    fn repair_seconds(&self, py: Python<'_>) -> Vec<f64> {
        let Kind::System(system) = &self.kind else { return Vec::new() };
        py.detach(|| system.repair_seconds())
    }

    /// Runs a batch: the JSON of its sums, or None where `progress`, told the trajectories done, said no.
    #[pyo3(signature = (method, seed, number, trajectories, progress = None))]
    fn batch(
        &self,
        py: Python<'_>,
        method: &str,
        seed: u64,
        number: u64,
        trajectories: u64,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let numbers = (seed, number, trajectories);
        match &self.kind {
            Kind::Chain(chain) => batch(py, chain, self.mission, method, numbers, progress),
            Kind::System(system) => batch(py, system.as_ref(), self.mission, method, numbers, progress),
        }
    }
}

fn batch<M: Model>(
    py: Python<'_>,
    model: &M,
    mission: f64,
    method: &str,
    (seed, number, trajectories): (u64, u64, u64),
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    let method: Method = read(method).map_err(system_error)?;
    let (stopped, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let keep_going = |ended: u64| {
        done.fetch_add(ended, Ordering::Relaxed);
        !stopped.load(Ordering::Relaxed)
    };
    let mut heard = Ok(());
    let sums = thread::scope(|scope| {
        let (tell, ended) = mpsc::channel();
        let ended = Mutex::new(ended);
        let waited = || ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
        let keep_going = &keep_going;
        let worker = scope.spawn(move || {
            let sums = run_batch(model, method, mission, seed, number, trajectories, keep_going);
            // Nobody listens any more where Python said no.
            let _ = tell.send(());
            sums
        });
        while py.detach(waited) == Err(mpsc::RecvTimeoutError::Timeout) {
            heard = look(py, progress.as_ref(), done.load(Ordering::Relaxed)).map(|goes_on| {
                if !goes_on {
                    stopped.store(true, Ordering::Relaxed);
                }
            });
            if heard.is_err() {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
        }
        py.detach(|| worker.join())
    });
    heard?;
    let sums = sums.map_err(|_| CoreSimulationError::new_err("a trajectory broke a law of the core"))?;
    let sums = sums.map_err(config_error)?;
    sums.map(|sums| serde_json::to_string(&sums).map_err(config_error)).transpose()
}

/// Whether Python wants to go on; an error where a signal says otherwise.
fn look(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, done: u64) -> PyResult<bool> {
    py.check_signals()?;
    progress.map_or(Ok(true), |progress| progress.call1((done,))?.is_truthy())
}
