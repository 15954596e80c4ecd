//! A Ceph cluster that heals, stepped from Python so that progress shows and Ctrl-C is heard.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_ceph::{ClusterInput, HealError};
use resilver_system::{Column, read};

use crate::arrays::table;
use crate::errors::{classed, system_error};

/// Steps of the loop between two looks at Python: a fraction of a second of a large cluster.
const STEPS: usize = 256;

/// A cluster that heals.
///
/// Made from the JSON of a `ClusterInput`, which `resilver.whatif` writes.
#[pyclass(module = "resilver._core")]
pub struct Healing {
    healing: resilver_ceph::Healing,
}

#[pymethods]
impl Healing {
    #[new]
    fn new(py: Python<'_>, input: &str) -> PyResult<Self> {
        let input: ClusterInput = read(input).map_err(system_error)?;
        let healing = py.detach(|| resilver_ceph::Healing::of(&input)).map_err(heal_error)?;
        Ok(Healing { healing })
    }

    /// Works on for a fraction of a second; returns (whether there is more to come, simulated seconds, groups that are not clean,
    /// groups in all, the share of the known work that is done).
    fn advance(&mut self, py: Python<'_>) -> PyResult<(bool, f64, u64, u64, f64)> {
        let goes_on = py.detach(|| self.healing.advance(STEPS)).map_err(heal_error)?;
        let (unclean, groups) = self.healing.unclean();
        Ok((goes_on, self.healing.now().seconds(), unclean, groups, self.healing.fraction()))
    }

    /// What the finished run has to tell: tables by name.
    fn report<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for resilver_ceph::Table { name, columns } in resilver_ceph::tables(&mut self.healing) {
            let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), common(column))).collect();
            found.set_item(name, table(py, columns)?)?;
        }
        Ok(found)
    }

    /// What the run took to compute, in steps of like cost: equal for equal runs, 0 by events.
    fn effort(&self) -> u64 {
        self.healing.effort()
    }

    /// The digest of all that happened, in hexadecimal digits.
    fn digest(&self) -> String {
        self.healing.digest().to_string()
    }
}

/// The column as that of a system's table.
fn common(column: resilver_ceph::Column) -> Column {
    match column {
        resilver_ceph::Column::Counts(counts) => Column::Counts(counts),
        resilver_ceph::Column::Reals(reals) => {
            Column::Reals(reals.into_iter().map(|real| real.unwrap_or(f64::NAN)).collect())
        }
        resilver_ceph::Column::Texts(texts) => Column::Texts(texts),
    }
}

fn heal_error(error: HealError) -> PyErr {
    classed(error.class(), error)
}
