//! The scan of a population in parts, for Python.

use pyo3::prelude::*;
use resilver_system::{Part, Scanned};
use resilver_units::Bytes;

use crate::arrays::array;
use crate::crush::CrushMap;
use crate::errors::system_error;
use crate::simulation::system_config;

/// Files, objects and bytes of a part; its affected objects and their sizes; whether the population ends in it.
type PartColumns<'py> = (u64, u64, u64, Bound<'py, PyAny>, Bound<'py, PyAny>, bool);

/// The scan of a system's population, part by part.
///
/// Made from the JSON that `resilver.simulate` writes, and the CRUSH maps of the pools that are placed by CRUSH.
#[pyclass(module = "resilver._core", frozen)]
pub struct PopulationScan {
    scan: resilver_system::PopulationScan,
}

#[pymethods]
impl PopulationScan {
    #[new]
    #[pyo3(signature = (system, maps=Vec::new()))]
    fn new(py: Python<'_>, system: &str, maps: Vec<PyRef<'_, CrushMap>>) -> PyResult<Self> {
        let config = system_config(system, &maps)?;
        let scan = py.detach(|| resilver_system::PopulationScan::new(&config)).map_err(system_error)?;
        Ok(PopulationScan { scan })
    }

    /// Whether there are files to scan.
    fn can_split(&self) -> bool {
        self.scan.can_split()
    }

    /// About how many files there are.
    fn expected_files(&self) -> u64 {
        self.scan.expected_files()
    }

    /// What a range of files holds; cut where the population ends, if `bytes_before` says what lies before it.
    #[pyo3(signature = (first, files, bytes_before=None))]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        first: u64,
        files: u64,
        bytes_before: Option<u64>,
    ) -> PyResult<PartColumns<'py>> {
        let part = py.detach(|| match bytes_before {
            Some(bytes) => self.scan.scan_to_end(first, files, Bytes::new(bytes)),
            None => self.scan.scan(first, files),
        });
        let Part { scanned: Scanned { totals, affected }, is_last } = part.map_err(system_error)?;
        let objects: Vec<u64> = affected.iter().map(|one| one.object.get()).collect();
        let sizes: Vec<u64> = affected.iter().map(|one| one.size.get()).collect();
        let (objects, sizes) = (array(py, &objects)?, array(py, &sizes)?);
        Ok((totals.files, totals.objects, totals.bytes.get(), objects, sizes, is_last))
    }
}
