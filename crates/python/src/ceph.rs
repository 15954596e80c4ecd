//! A Ceph cluster that heals, stepped from Python so that progress shows and Ctrl-C is heard.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_ceph::{ClusterInput, Column, HealError};
use resilver_system::read;

use crate::errors::{classed, system_error};
use crate::tables::{Table, arrow_error};

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
        for table in resilver_ceph::tables(&mut self.healing) {
            let columns = table.columns.into_iter().map(|(name, column)| (name, array(column), true));
            let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(arrow_error)?;
            found.set_item(table.name, Table::of(batch))?;
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

fn array(column: Column) -> ArrayRef {
    match column {
        Column::Counts(counts) => Arc::new(Int64Array::from(counts)),
        Column::Reals(reals) => Arc::new(Float64Array::from(reals)),
        Column::Texts(texts) => Arc::new(StringArray::from(texts)),
    }
}

fn heal_error(error: HealError) -> PyErr {
    classed(error.class(), error)
}
