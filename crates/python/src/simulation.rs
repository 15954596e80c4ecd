//! A run, stepped from Python so that progress shows and Ctrl-C is heard.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_population::RangeTotals;
use resilver_system::{AffectedObject, Moved, Named, Scanned, SystemConfig, TraceWindow, system_of, trace_tables};
use resilver_units::{Bytes, ObjectId, SimTime};

use crate::arrays;
use crate::crush::CrushMap;
use crate::errors::{CoreSimulationError, system_error};

/// The system that the JSON of `resilver.simulate` says, with the names of what breaks.
fn named_config(system: &str, maps: &[PyRef<'_, CrushMap>]) -> PyResult<(SystemConfig, Vec<Named>)> {
    let maps: Vec<_> = maps.iter().map(|map| map.shared()).collect();
    system_of(system, &maps).map_err(system_error)
}

/// The system alone.
pub fn system_config(system: &str, maps: &[PyRef<'_, CrushMap>]) -> PyResult<SystemConfig> {
    named_config(system, maps).map(|(config, _)| config)
}

/// What all parts together hold, for a run that does not scan.
fn scanned(
    py: Python<'_>,
    (files, objects, bytes): (u64, u64, u64),
    affected: &[PyBuffer<u64>],
    sizes: &[PyBuffer<u64>],
) -> PyResult<Scanned> {
    let totals = RangeTotals { files, objects, bytes: Bytes::new(bytes) };
    let mut found = Vec::new();
    for (objects, sizes) in affected.iter().zip(sizes) {
        let pairs = objects.to_vec(py)?.into_iter().zip(sizes.to_vec(py)?);
        found.extend(
            pairs.map(|(object, size)| AffectedObject { object: ObjectId::new(object), size: Bytes::new(size) }),
        );
    }
    Ok(Scanned { totals, affected: found })
}

/// A run under way.
///
/// Made from the JSON that `resilver.simulate` writes, and the CRUSH maps of the pools that are placed by CRUSH.
#[pyclass(module = "resilver._core")]
pub struct Simulation {
    simulation: resilver_system::Simulation,
    /// What breaks, by name.
    faults: Vec<Named>,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (system, maps=Vec::new()))]
    fn new(py: Python<'_>, system: &str, maps: Vec<PyRef<'_, CrushMap>>) -> PyResult<Self> {
        let (config, faults) = named_config(system, &maps)?;
        let simulation = py.detach(|| resilver_system::Simulation::new(config)).map_err(system_error)?;
        Ok(Simulation { simulation, faults })
    }

    /// A run whose population was scanned in parts: (files, objects, bytes) of all, and each part's affected objects and
    /// their sizes, in the order of the population.
    #[staticmethod]
    #[pyo3(signature = (system, maps, totals, affected, sizes))]
    fn with_found(
        py: Python<'_>,
        system: &str,
        maps: Vec<PyRef<'_, CrushMap>>,
        totals: (u64, u64, u64),
        affected: Vec<PyBuffer<u64>>,
        sizes: Vec<PyBuffer<u64>>,
    ) -> PyResult<Self> {
        let (config, faults) = named_config(system, &maps)?;
        let found = scanned(py, totals, &affected, &sizes)?;
        let simulation = py.detach(|| resilver_system::Simulation::with_found(config, found)).map_err(system_error)?;
        Ok(Simulation { simulation, faults })
    }

    /// The same run, traced from one time to another in picoseconds, with at most so many rows a table.
    #[staticmethod]
    fn traced(
        py: Python<'_>,
        system: &str,
        maps: Vec<PyRef<'_, CrushMap>>,
        window: (u64, u64),
        rows_max: usize,
    ) -> PyResult<Self> {
        let (from, to) = (SimTime::from_picoseconds(window.0), SimTime::from_picoseconds(window.1));
        let Simulation { simulation, faults } = Simulation::new(py, system, maps)?;
        Ok(Simulation { simulation: simulation.traced(TraceWindow { from, to, rows_max }), faults })
    }

    /// The rows of a finished run that was traced, as tables by name.
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for table in trace_tables(&self.simulation) {
            tables.set_item(table.name, arrays::table(py, table.columns)?)?;
        }
        Ok(tables)
    }

    /// Works on for a fraction of a second; returns (phase, fraction of it done, events, simulated seconds, lost copies
    /// rebuilt, lost copies to rebuild).
    fn advance(&mut self, py: Python<'_>) -> PyResult<(&'static str, f64, u64, f64, u64, u64)> {
        py.detach(|| self.simulation.advance()).map_err(system_error)?;
        let phase = self.simulation.phase().name();
        let Moved { events, simulated, rebuilt_pieces, pieces_to_rebuild } = self.simulation.moved();
        let fraction = self.simulation.fraction();
        Ok((phase, fraction, events, simulated.seconds(), rebuilt_pieces, pieces_to_rebuild))
    }

    /// What the finished run has to tell: metrics by name, and tables by name, `None` where it has no such part.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let report = self.simulation.report().ok_or_else(|| CoreSimulationError::new_err("the run is not done yet"))?;
        let metrics = arrays::metrics(py, resilver_system::metrics(report, &self.faults))?;
        let found = PyDict::new(py);
        for table in resilver_system::tables(&self.simulation) {
            found.set_item(table.name, arrays::table(py, table.columns)?)?;
        }
        Ok((metrics, found))
    }
}
