//! A run, stepped from Python so that progress shows and Ctrl-C is heard.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_device::DeviceUse;
use resilver_system::{DeviceOutcome, Moved, Named, PartUse, Phase, PoolOutcome, Report};
use resilver_units::SimTime;

use crate::config::named_config;
use crate::crush::CrushMap;
use crate::errors::{CoreSimulationError, system_error};
use crate::faults::set_names;
use crate::lanes;
use crate::network_report;
use crate::parts::scanned;
use crate::periods::set_periods;
use crate::streams;

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
        affected: Vec<PyReadonlyArray1<'_, u64>>,
        sizes: Vec<PyReadonlyArray1<'_, u64>>,
    ) -> PyResult<Self> {
        let (config, faults) = named_config(system, &maps)?;
        let found = scanned(totals, &affected, &sizes);
        let simulation = py.detach(|| resilver_system::Simulation::with_found(config, found)).map_err(system_error)?;
        Ok(Simulation { simulation, faults })
    }

    /// Works on for a fraction of a second; returns (phase, fraction of it done, events, simulated seconds, lost copies
    /// rebuilt, lost copies to rebuild).
    fn advance(&mut self, py: Python<'_>) -> PyResult<(&'static str, f64, u64, f64, u64, u64)> {
        py.detach(|| self.simulation.advance()).map_err(system_error)?;
        let phase = match self.simulation.phase() {
            Phase::Placing => "placing",
            Phase::Scanning => "scanning",
            Phase::Rebuilding => "rebuilding",
            Phase::Serving => "serving",
            Phase::Done => "done",
        };
        let Moved { events, simulated, rebuilt_pieces, pieces_to_rebuild } = self.simulation.moved();
        let fraction = self.simulation.fraction();
        Ok((phase, fraction, events, simulated.seconds(), rebuilt_pieces, pieces_to_rebuild))
    }

    /// What the finished run has to tell: a dictionary of numbers, and of columns as NumPy arrays.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = self.simulation.report().ok_or_else(|| CoreSimulationError::new_err("the run is not done yet"))?;
        let dict = PyDict::new(py);
        set_totals(&dict, report)?;
        set_names(&dict, &self.faults)?;
        dict.set_item("servers", servers(py, report)?)?;
        dict.set_item("transfers", transfers(py, report)?)?;
        dict.set_item("timeline", timeline(py, report)?)?;
        dict.set_item("interfaces", interfaces(py, report)?)?;
        network_report::set_network_totals(&dict, report)?;
        streams::set_totals(&dict, report)?;
        dict.set_item("stripe_groups", streams::stripe_groups(py, report)?)?;
        let topology = self.simulation.topology();
        dict.set_item("links", network_report::links(py, report, topology)?)?;
        let names = topology.map(|topology| (0..topology.nodes()).map(|node| topology.node_name(node)));
        dict.set_item("node_names", names.map_or_else(Vec::new, Iterator::collect::<Vec<String>>))?;
        dict.set_item("distributions", network_report::distributions(py, report)?)?;
        dict.set_item("lanes", lanes::lane_columns(py, report, self.simulation.lanes())?)?;
        dict.set_item("lending", lanes::lending_columns(py, report)?)?;
        dict.set_item("parts", parts(py, report)?)?;
        dict.set_item("traffic", network_report::traffic(py, report)?)?;
        dict.set_item("pools", pools(py, report, &self.simulation.traffic_pools())?)?;
        Ok(dict)
    }
}

fn set_totals(dict: &Bound<'_, PyDict>, report: &Report) -> PyResult<()> {
    let outcome = &report.outcome;
    let losses = outcome.losses;
    dict.set_item("digest", report.digest.to_string())?;
    dict.set_item("events", report.events)?;
    dict.set_item("simulated_seconds", outcome.ended_at.seconds())?;
    dict.set_item("population_files", report.has_files.then_some(report.population.files))?;
    dict.set_item("population_objects", report.population.objects)?;
    dict.set_item("population_bytes", report.population.bytes.get())?;
    dict.set_item("affected_objects", losses.affected_objects)?;
    dict.set_item("unrecoverable_objects", losses.unrecoverable_objects)?;
    dict.set_item("unrecoverable_bytes", losses.unrecoverable_bytes.get())?;
    dict.set_item("undersized_replicas", losses.undersized_pieces)?;
    dict.set_item("rebuilt_objects", outcome.rebuilt_objects)?;
    dict.set_item("rebuilt_pieces", outcome.rebuilt_pieces)?;
    dict.set_item("rebuilt_bytes", outcome.rebuilt_bytes.get())?;
    dict.set_item("remapped_objects", outcome.moved_objects)?;
    dict.set_item("remapped_pieces", outcome.moved_pieces)?;
    dict.set_item("remapped_bytes", outcome.remapped_bytes.get())?;
    let after_failure = |time: SimTime| time.since(outcome.begins_at).seconds();
    dict.set_item("rebuild_seconds", after_failure(outcome.rebuilt_at))?;
    dict.set_item("rebuild_p50_seconds", outcome.half_rebuilt_at.map(after_failure))?;
    dict.set_item("rebuild_p99_seconds", outcome.nearly_rebuilt_at.map(after_failure))?;
    dict.set_item("gathered_bytes", outcome.coded.map(|coded| coded.gathered_bytes.get()))?;
    dict.set_item("decoded_bytes", outcome.coded.map(|coded| coded.decoded_bytes.get()))?;
    dict.set_item("network_bytes", report.network_bytes.get())?;
    dict.set_item("first_redundant_seconds", outcome.first_redundant_at.map(after_failure))?;
    dict.set_item("last_redundant_seconds", outcome.last_redundant_at.map(after_failure))?;
    dict.set_item("placement_groups", report.groups.as_ref().map(|groups| groups.groups))?;
    dict.set_item("placement_groups_affected", report.groups.as_ref().map(|groups| groups.affected))
}

/// A dictionary a pool: what it holds, what became of it, and what the clients that ask for it alone got; `traffic_pools` says
/// which of them do.
fn pools<'py>(py: Python<'py>, report: &Report, traffic_pools: &[Option<usize>]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let outcome = &report.outcome;
    let of_pool = |number: usize| {
        let (population, PoolOutcome { losses, rebuilt_objects, rebuilt_pieces, rebuilt_bytes, rebuilt_at }) =
            (report.populations[number], outcome.pools[number]);
        let dict = PyDict::new(py);
        dict.set_item("objects", population.objects)?;
        dict.set_item("bytes", population.bytes.get())?;
        dict.set_item("affected_objects", losses.affected_objects)?;
        dict.set_item("unrecoverable_objects", losses.unrecoverable_objects)?;
        dict.set_item("unrecoverable_bytes", losses.unrecoverable_bytes.get())?;
        dict.set_item("undersized_pieces", losses.undersized_pieces)?;
        dict.set_item("rebuilt_objects", rebuilt_objects)?;
        dict.set_item("rebuilt_pieces", rebuilt_pieces)?;
        dict.set_item("rebuilt_bytes", rebuilt_bytes.get())?;
        dict.set_item("rebuild_seconds", rebuilt_at.since(outcome.begins_at).seconds())?;
        let law = traffic_pools.iter().position(|&pool| pool == Some(number));
        let clients = report.clients.as_ref().zip(law).map(|(clients, law)| &clients.laws[law]);
        set_periods(&dict, clients)?;
        Ok(dict)
    };
    (0..outcome.pools.len()).map(of_pool).collect()
}

fn servers<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let devices = &report.outcome.devices;
    let integers = |value: fn(&DeviceOutcome) -> u64| -> Vec<i64> { devices.iter().map(|d| value(d) as i64).collect() };
    let finish = devices.iter().map(|d| d.finished_at.map_or(f64::NAN, SimTime::seconds));
    let gained = report.groups.as_ref().map(|groups| groups.gained.iter().map(|&count| i64::from(count)));
    let columns = PyDict::new(py);
    columns.set_item("failed", devices.iter().map(|d| d.is_failed).collect::<Vec<bool>>().into_pyarray(py))?;
    columns.set_item("placement_groups_gained", gained.map(|gained| gained.collect::<Vec<i64>>().into_pyarray(py)))?;
    columns.set_item("rebuilt_objects", integers(|d| d.rebuilt_pieces).into_pyarray(py))?;
    columns.set_item("rebuilt_bytes", integers(|d| d.rebuilt_bytes.get()).into_pyarray(py))?;
    columns.set_item("remapped_objects", integers(|d| d.moved_pieces).into_pyarray(py))?;
    columns.set_item("remapped_bytes", integers(|d| d.remapped_bytes.get()).into_pyarray(py))?;
    columns.set_item("sent_objects", integers(|d| d.sent_pieces).into_pyarray(py))?;
    columns.set_item("sent_bytes", integers(|d| d.sent_bytes.get()).into_pyarray(py))?;
    columns.set_item("finish_seconds", finish.collect::<Vec<f64>>().into_pyarray(py))?;
    // With clients, what disks did is told of the time of their statistics.
    let disks: Vec<DeviceUse> = match &report.clients {
        Some(clients) => clients.disks.clone(),
        None => devices.iter().map(|device| device.disk).collect(),
    };
    let of_disks = |value: fn(&DeviceUse) -> u64| -> Vec<i64> { disks.iter().map(|d| value(d) as i64).collect() };
    let busy = disks.iter().map(|disk| disk.busy.seconds());
    columns.set_item("device_busy_seconds", busy.collect::<Vec<f64>>().into_pyarray(py))?;
    columns.set_item("device_bytes_read", of_disks(|disk| disk.bytes_read.get()).into_pyarray(py))?;
    columns.set_item("device_bytes_written", of_disks(|disk| disk.bytes_written.get()).into_pyarray(py))?;
    network_report::set_servers(&columns, report)?;
    Ok(columns)
}

fn transfers<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let transfers = &report.outcome.transfers;
    let columns = PyDict::new(py);
    let source = transfers.iter().map(|t| t.source.get() as i32);
    columns.set_item("source", source.collect::<Vec<i32>>().into_pyarray(py))?;
    let destination = transfers.iter().map(|t| t.destination.get() as i32);
    columns.set_item("destination", destination.collect::<Vec<i32>>().into_pyarray(py))?;
    let objects = transfers.iter().map(|t| t.pieces as i64);
    columns.set_item("objects", objects.collect::<Vec<i64>>().into_pyarray(py))?;
    let bytes = transfers.iter().map(|t| t.bytes.get() as i64);
    columns.set_item("bytes", bytes.collect::<Vec<i64>>().into_pyarray(py))?;
    Ok(columns)
}

fn timeline<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let intervals = &report.outcome.timeline;
    let columns = PyDict::new(py);
    let start = intervals.iter().map(|interval| interval.start.seconds());
    columns.set_item("start_seconds", start.collect::<Vec<f64>>().into_pyarray(py))?;
    let duration = intervals.iter().map(|interval| interval.duration.seconds());
    columns.set_item("duration_seconds", duration.collect::<Vec<f64>>().into_pyarray(py))?;
    let in_flight = intervals.iter().map(|interval| interval.in_flight_bytes);
    columns.set_item("in_flight_bytes", in_flight.collect::<Vec<f64>>().into_pyarray(py))?;
    let rebuilt = intervals.iter().map(|interval| interval.rebuilt_bytes as i64);
    columns.set_item("rebuilt_bytes", rebuilt.collect::<Vec<i64>>().into_pyarray(py))?;
    let degraded = intervals.iter().map(|interval| interval.degraded_objects);
    columns.set_item("degraded_objects", degraded.collect::<Vec<f64>>().into_pyarray(py))?;
    let at_risk = intervals.iter().map(|interval| interval.at_risk_objects);
    columns.set_item("at_risk_objects", at_risk.collect::<Vec<f64>>().into_pyarray(py))?;
    Ok(columns)
}

fn parts<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let parts = &report.parts;
    let columns = PyDict::new(py);
    columns.set_item("level", parts.iter().map(|part| part.level.as_str()).collect::<Vec<_>>())?;
    columns.set_item("name", parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>())?;
    let integers = |value: fn(&PartUse) -> u64| -> Vec<i64> { parts.iter().map(|part| value(part) as i64).collect() };
    columns.set_item("requests", integers(|part| part.requests).into_pyarray(py))?;
    columns.set_item("bytes", integers(|part| part.bytes.get()).into_pyarray(py))?;
    let busy = parts.iter().map(|part| part.busy.seconds());
    columns.set_item("busy_seconds", busy.collect::<Vec<f64>>().into_pyarray(py))?;
    Ok(columns)
}

fn interfaces<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let send = report.interfaces.iter().map(|interface| interface.send_busy.seconds());
    columns.set_item("send_busy_seconds", send.collect::<Vec<f64>>().into_pyarray(py))?;
    let receive = report.interfaces.iter().map(|interface| interface.receive_busy.seconds());
    columns.set_item("receive_busy_seconds", receive.collect::<Vec<f64>>().into_pyarray(py))?;
    Ok(columns)
}
