//! Arrays and tables for Python, which NumPy and PyArrow make themselves: the core copies its numbers in.

use pyo3::IntoPyObjectExt;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_system::{Column, Metric, Metrics};

/// What an array of NumPy holds.
pub trait Cell: Element {
    /// Its name there.
    const NAME: &'static str;
}

macro_rules! cells {
    ($($cell:ty: $name:literal),*) => {
        $(impl Cell for $cell {
            const NAME: &'static str = $name;
        })*
    };
}

cells!(u8: "uint8", i8: "int8", i32: "int32", i64: "int64", u64: "uint64", f64: "float64");

/// An array of these values.
pub fn array<'py, T: Cell>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyAny>> {
    let array = py.import("numpy")?.call_method1("empty", (values.len(), T::NAME))?;
    PyBuffer::<T>::get(&array)?.copy_from_slice(py, values)?;
    Ok(array)
}

/// An array of these values in rows of so many.
pub fn rows<'py, T: Cell>(py: Python<'py>, values: &[T], count: usize, width: usize) -> PyResult<Bound<'py, PyAny>> {
    array(py, values)?.call_method1("reshape", (count, width))
}

/// The Arrow table of the core's columns; nothing where it has none.
pub fn table(py: Python<'_>, columns: Vec<(String, Column)>) -> PyResult<Option<Bound<'_, PyAny>>> {
    if columns.is_empty() {
        return Ok(None);
    }
    let arrow = py.import("pyarrow")?;
    let (mut names, mut arrays) = (Vec::new(), Vec::new());
    for (name, column) in columns {
        names.push(name);
        arrays.push(arrow_array(&arrow, column)?);
    }
    arrow.call_method1("table", (arrays, names)).map(Some)
}

fn arrow_array<'py>(arrow: &Bound<'py, PyModule>, column: Column) -> PyResult<Bound<'py, PyAny>> {
    let py = arrow.py();
    match column {
        Column::Numbers(numbers) => arrow.call_method1("array", (array(py, &numbers)?,)),
        Column::Counts(counts) => arrow.call_method1("array", (array(py, &counts)?,)),
        Column::Reals(reals) => {
            // One that is not a number becomes null.
            let options = PyDict::new(py);
            options.set_item("from_pandas", true)?;
            arrow.call_method("array", (array(py, &reals)?,), Some(&options))
        }
        Column::Flags(flags) => arrow.call_method1("array", (flags, "bool")),
        Column::Texts(texts) => arrow.call_method1("array", (texts, "string")),
        Column::Words(places, words) => {
            let (places, words) = (array(py, &places)?, words.to_vec());
            arrow.getattr("DictionaryArray")?.call_method1("from_arrays", (places, words))
        }
        Column::Metrics(metrics) => {
            let kind = match metrics.iter().flatten().next() {
                None => "null",
                Some(Metric::Count(_)) => "int64",
                Some(Metric::Real(_)) => "double",
                Some(Metric::Text(_)) => "string",
            };
            let cells = metrics.into_iter().map(|metric| object(py, metric)).collect::<PyResult<Vec<_>>>()?;
            arrow.call_method1("array", (cells, kind))
        }
    }
}

fn object(py: Python<'_>, metric: Option<Metric>) -> PyResult<Bound<'_, PyAny>> {
    match metric {
        None => Ok(py.None().into_bound(py)),
        Some(Metric::Count(count)) => count.into_bound_py_any(py),
        Some(Metric::Real(real)) => real.into_bound_py_any(py),
        Some(Metric::Text(text)) => text.into_bound_py_any(py),
    }
}

/// Metrics by name.
pub fn metrics(py: Python<'_>, metrics: Metrics) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, metric) in metrics {
        dict.set_item(name, object(py, metric)?)?;
    }
    Ok(dict)
}
