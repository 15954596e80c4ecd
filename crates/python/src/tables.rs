//! Tables of a run for Python, as Arrow.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, NullArray, RecordBatch, StringArray,
    StructArray, ffi,
};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use resilver_system::{Column, Metric, Metrics};

use crate::errors::CoreSimulationError;

/// A table, which anything that reads Arrow takes as it is.
#[pyclass(frozen, module = "resilver._core")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table of columns that are Arrow's already.
    pub fn of(batch: RecordBatch) -> Self {
        Table { batch }
    }
}

#[pymethods]
impl Table {
    /// The columns by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may pass over what is asked for, and give what it has.
        drop(requested_schema);
        let (array, schema) = ffi::to_ffi(&StructArray::from(self.batch.clone()).into_data()).map_err(arrow_error)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// Columns that do not fit each other.
pub fn arrow_error(error: arrow_schema::ArrowError) -> PyErr {
    CoreSimulationError::new_err(error.to_string())
}

/// The table of the core's columns; nothing where it has none.
pub fn table(columns: Vec<(String, Column)>) -> PyResult<Option<Table>> {
    if columns.is_empty() {
        return Ok(None);
    }
    let columns = columns.into_iter().map(|(name, column)| (name, array(column), true));
    RecordBatch::try_from_iter_with_nullable(columns).map(|batch| Some(Table { batch })).map_err(arrow_error)
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::Numbers(numbers) => Arc::new(Int32Array::from(numbers)),
        Column::Counts(counts) => Arc::new(Int64Array::from(counts)),
        Column::Flags(flags) => Arc::new(BooleanArray::from(flags)),
        Column::Texts(texts) => Arc::new(StringArray::from(texts)),
        Column::Reals(reals) if reals.iter().any(|real| real.is_nan()) => {
            Arc::new(reals.into_iter().map(|real| (!real.is_nan()).then_some(real)).collect::<Float64Array>())
        }
        Column::Reals(reals) => Arc::new(Float64Array::from(reals)),
        Column::Metrics(metrics) => match metrics.iter().flatten().next() {
            None => Arc::new(NullArray::new(metrics.len())),
            Some(Metric::Count(_)) => Arc::new(metrics.iter().map(count).collect::<Int64Array>()),
            Some(Metric::Real(_)) => Arc::new(metrics.iter().map(real).collect::<Float64Array>()),
            Some(Metric::Text(_)) => Arc::new(metrics.iter().map(text).collect::<StringArray>()),
        },
    }
}

fn count(metric: &Option<Metric>) -> Option<i64> {
    if let Some(Metric::Count(count)) = metric { Some(*count as i64) } else { None }
}

fn real(metric: &Option<Metric>) -> Option<f64> {
    if let Some(Metric::Real(real)) = metric { Some(*real) } else { None }
}

fn text(metric: &Option<Metric>) -> Option<&str> {
    if let Some(Metric::Text(text)) = metric { Some(text) } else { None }
}

/// Metrics by name.
pub fn metrics<'py>(py: Python<'py>, metrics: Metrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, metric) in metrics {
        match metric {
            None => dict.set_item(name, py.None())?,
            Some(Metric::Count(count)) => dict.set_item(name, count)?,
            Some(Metric::Real(real)) => dict.set_item(name, real)?,
            Some(Metric::Text(text)) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}
