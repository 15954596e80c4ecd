//! Which objects a failure touches, for Python, in batches.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_system::AffectedBatch;

use crate::arrays::array;
use crate::crush::CrushMap;
use crate::errors::system_error;
use crate::simulation::system_config;

/// A search for the objects that a failure touches, stepped from Python so that progress shows and Ctrl-C is heard.
///
/// Made from the JSON that `resilver.simulate` writes, and the CRUSH maps of the pools that are placed by CRUSH.
#[pyclass(module = "resilver._core")]
pub struct AffectedSearch {
    search: resilver_system::AffectedSearch,
}

#[pymethods]
impl AffectedSearch {
    #[new]
    #[pyo3(signature = (system, maps=Vec::new()))]
    fn new(py: Python<'_>, system: &str, maps: Vec<PyRef<'_, CrushMap>>) -> PyResult<Self> {
        let config = system_config(system, &maps)?;
        let search = py.detach(|| resilver_system::AffectedSearch::new(config)).map_err(system_error)?;
        Ok(AffectedSearch { search })
    }

    /// Whether every affected object was handed out.
    fn is_complete(&self) -> bool {
        self.search.is_complete()
    }

    /// Works on for a fraction of a second; returns (fraction done, columns as NumPy arrays).
    ///
    /// `survivors` and `homes` hold all rows', one behind another; `survivor_offsets` and `home_offsets`, an entry longer
    /// than there are rows, say where each begins and ends.
    fn advance<'py>(&mut self, py: Python<'py>) -> PyResult<(f64, Bound<'py, PyDict>)> {
        let batch = py.detach(|| self.search.advance());
        Ok((self.search.fraction(), columns(py, batch)?))
    }
}

fn columns(py: Python<'_>, batch: AffectedBatch) -> PyResult<Bound<'_, PyDict>> {
    let signed = |values: Vec<u32>| values.into_iter().map(|value| value as i32).collect::<Vec<i32>>();
    let offsets = |ends: Vec<u32>| std::iter::once(0).chain(ends).map(|end| end as i32).collect::<Vec<i32>>();
    let dict = PyDict::new(py);
    dict.set_item("object", array(py, &batch.objects)?)?;
    dict.set_item("size_bytes", array(py, &batch.sizes.into_iter().map(|s| s as i64).collect::<Vec<_>>())?)?;
    dict.set_item("survivors", array(py, &signed(batch.survivors))?)?;
    dict.set_item("survivor_offsets", array(py, &offsets(batch.survivor_ends))?)?;
    dict.set_item("homes", array(py, &signed(batch.homes))?)?;
    dict.set_item("home_offsets", array(py, &offsets(batch.home_ends))?)?;
    dict.set_item("lost", array(py, &signed(batch.lost))?)?;
    Ok(dict)
}
