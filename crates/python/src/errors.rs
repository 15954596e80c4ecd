//! The one mapping of the core's errors to Python's.
//!
//! `resilver.simulate` turns these into the classes of `resilver.errors`, adding what it knows of the study.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use resilver_detection::DetectionError;
use resilver_system::{FaultError, SystemError};
use resilver_units::ErrorClass;

create_exception!(_core, CoreConfigError, PyException, "A part of the system cannot be built as asked.");
create_exception!(_core, CoreFaultError, PyException, "Faults are of what a system has not: a tuple for each.");
create_exception!(_core, CorePlacementError, PyException, "A map, a rule or a pool cannot be used.");
create_exception!(_core, CoreSimulationError, PyException, "A run cannot go on, or broke a law.");

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CoreConfigError", py.get_type::<CoreConfigError>())?;
    module.add("CoreFaultError", py.get_type::<CoreFaultError>())?;
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

/// What went wrong: what the study asked for, or the run itself. Of faults a tuple each: key, number, name, rule, remedy, names
/// that there are.
pub fn system_error(error: SystemError) -> PyErr {
    let tuple = |FaultError { key, count, name, rule, remedy, known }| (key, count, name, rule, remedy, known);
    match error {
        SystemError::Faults(errors) => CoreFaultError::new_err((errors.into_iter().map(tuple).collect::<Vec<_>>(),)),
        error => classed(error.class(), error),
    }
}

/// What a detection cannot be, as of faults.
pub fn detection_error(error: DetectionError) -> PyErr {
    let DetectionError::Value { field, value, rule, remedy } = error else { return config_error(error) };
    system_error(SystemError::Faults(vec![FaultError {
        key: field.to_owned(),
        name: Some(value),
        rule,
        remedy: remedy.to_owned(),
        ..FaultError::default()
    }]))
}
