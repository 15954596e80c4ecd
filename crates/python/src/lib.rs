//! The native module `resilver._core`: conversions between Python and the core, and the one mapping of errors.
//!
//! Nothing is decided here: `resilver.simulate` says what a system is made of, and the crates of the core do the work.

mod affected;
mod arrays;
mod balance;
mod ceph;
mod codes;
mod crush;
mod devices;
mod durability;
mod errors;
mod faults;
mod flows;
mod layouts;
mod levels;
mod parts;
mod pools;
mod population;
mod simulation;
mod topology;
mod walk;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<codes::Code>()?;
    module.add_class::<codes::CodeTree>()?;
    module.add_class::<ceph::Healing>()?;
    module.add_class::<durability::DurabilityModel>()?;
    module.add_class::<crush::CrushMap>()?;
    module.add_class::<levels::ClusterParts>()?;
    module.add_function(wrap_pyfunction!(levels::parts_shape, module)?)?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<affected::AffectedSearch>()?;
    module.add_class::<parts::PopulationScan>()?;
    module.add_class::<population::PopulationCensus>()?;
    module.add_class::<topology::Topology>()?;
    module.add_function(wrap_pyfunction!(devices::drawn_speeds, module)?)?;
    module.add_function(wrap_pyfunction!(balance::upmaps_by_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(balance::upmaps_by_groups, module)?)?;
    module.add_class::<walk::Walk>()?;
    module.add_function(wrap_pyfunction!(faults::check_detection, module)?)?;
    module.add_function(wrap_pyfunction!(faults::name_faults, module)?)?;
    module.add_function(wrap_pyfunction!(flows::fair_rates, module)?)?;
    module.add_function(wrap_pyfunction!(pools::group_sets, module)?)?;
    module.add_function(wrap_pyfunction!(pools::group_of_name, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::place_objects, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::system_group_sets, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::parity_group_balance, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::place_pieces, module)?)?;
    errors::register(module)
}
