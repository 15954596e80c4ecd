//! The one mapping of the core's errors to Python's.
//!
//! `resilver.simulate` turns these into the classes of `resilver.errors`, adding what it knows of the study.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use resilver_detection::DetectionError;
use resilver_system::SystemError;
use resilver_units::{ErrorClass, Refusal};

create_exception!(_core, CoreConfigError, PyException, "A part of the system cannot be built as asked.");
create_exception!(_core, CoreRefusal, PyException, "Values that cannot be: a tuple for each.");
create_exception!(_core, CorePlacementError, PyException, "A map, a rule or a pool cannot be used.");
create_exception!(_core, CoreSimulationError, PyException, "A run cannot go on, or broke a law.");

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CoreConfigError", py.get_type::<CoreConfigError>())?;
    module.add("CoreRefusal", py.get_type::<CoreRefusal>())?;
    module.add("CorePlacementError", py.get_type::<CorePlacementError>())?;
    module.add("CoreSimulationError", py.get_type::<CoreSimulationError>())
}

/// A part of the system cannot be built as asked.
pub fn config_error(error: impl ToString) -> PyErr {
    CoreConfigError::new_err(error.to_string())
}

/// A map, a rule or a pool cannot be used.
pub fn placement_error(error: impl ToString) -> PyErr {
    CorePlacementError::new_err(error.to_string())
}

/// An error of a class, as Python has it.
pub fn classed(class: ErrorClass, error: impl ToString) -> PyErr {
    match class {
        ErrorClass::Config => config_error(error),
        ErrorClass::Placement => placement_error(error),
        ErrorClass::Simulation => CoreSimulationError::new_err(error.to_string()),
    }
}

/// What went wrong: what the study asked for, or the run itself.
pub fn system_error(error: SystemError) -> PyErr {
    match error {
        SystemError::Faults(refusals) => refused(refusals),
        error => classed(error.class(), error),
    }
}

/// What a detection cannot be.
pub fn detection_error(error: DetectionError) -> PyErr {
    match error {
        DetectionError::Refused(refusal) => refused(vec![*refusal]),
        error => config_error(error),
    }
}

/// Values that cannot be: a tuple each, of key, number, name, rule, remedy, and names that there are.
pub fn refused(refusals: Vec<Refusal>) -> PyErr {
    let tuple = |Refusal { key, count, name, rule, remedy, known }| (key, count, name, rule, remedy, known);
    CoreRefusal::new_err((refusals.into_iter().map(tuple).collect::<Vec<_>>(),))
}
