//! Codes for Python: what they survive, and what repairs and reads gather.

use pyo3::prelude::*;
use resilver_redundancy::{Matrix, Pieces};

use crate::arrays::rows;
use crate::errors::config_error;

/// A code by which objects are kept in pieces.
#[pyclass(frozen)]
pub struct Code {
    inner: resilver_redundancy::Code,
}

#[pymethods]
impl Code {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Ok(Self { inner: resilver_redundancy::Code::parse(text).map_err(config_error)? })
    }

    #[getter]
    fn name(&self) -> String {
        self.inner.name()
    }

    #[getter]
    fn data(&self) -> u32 {
        self.inner.data()
    }

    #[getter]
    fn parity(&self) -> u32 {
        self.inner.parity()
    }

    #[getter]
    fn pieces(&self) -> u32 {
        self.inner.pieces()
    }

    #[getter]
    fn fault_tolerance(&self) -> u32 {
        self.inner.fault_tolerance()
    }

    #[getter]
    fn locality(&self) -> u32 {
        self.inner.locality()
    }

    #[getter]
    fn repair_parts(&self) -> u32 {
        self.inner.repair_parts()
    }

    /// The place of each piece in a PG's set.
    #[getter]
    fn places(&self) -> Vec<u32> {
        self.inner.group_places()
    }

    fn generator<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix(py, self.inner.generator())
    }

    fn is_survivable(&self, lost: Vec<u32>) -> PyResult<bool> {
        Ok(self.inner.is_survivable(self.pieces_of(&lost)?))
    }

    fn is_survivable_by_lines(&self, lost: Vec<u32>) -> PyResult<bool> {
        Ok(self.inner.is_survivable_by_lines(self.pieces_of(&lost)?))
    }

    /// Sets survived and sets there are, or nothing where they are too many to look at.
    fn survivable(&self, py: Python<'_>, losses: u32) -> Option<(u64, u64)> {
        py.detach(|| self.inner.survivable(losses))
    }

    fn survivable_by_lines(&self, py: Python<'_>, losses: u32) -> Option<(u64, u64)> {
        py.detach(|| self.inner.survivable_by_lines(losses))
    }

    fn repair(&self, lost: Vec<u32>, piece: u32, prefer: Vec<u32>) -> PyResult<Option<Vec<u32>>> {
        self.pieces_of(&[piece])?;
        let (lost, mut gathered) = (self.pieces_of(&lost)?, Vec::new());
        Ok(self.inner.repair(lost, piece, &prefer, &mut gathered).then_some(gathered))
    }

    fn read(&self, lost: Vec<u32>, prefer: Vec<u32>) -> PyResult<Option<Vec<u32>>> {
        let (lost, mut gathered) = (self.pieces_of(&lost)?, Vec::new());
        Ok(self.inner.read(lost, &prefer, &mut gathered).then_some(gathered))
    }

    fn decoding<'py>(
        &self,
        py: Python<'py>,
        gathered: Vec<u32>,
        wanted: Vec<u32>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.pieces_of(&gathered)?;
        self.pieces_of(&wanted)?;
        self.inner.decoding(&gathered, &wanted).map(|factors| matrix(py, &factors)).transpose()
    }
}

impl Code {
    /// The set of pieces of these numbers, all of which must be pieces.
    fn pieces_of(&self, numbers: &[u32]) -> PyResult<Pieces> {
        check_pieces(&self.inner.name(), self.inner.pieces(), numbers)?;
        Ok(Pieces::of(numbers.iter().copied()))
    }
}

/// Steps of a repair: the level, the piece and what is gathered for it.
type Steps = Vec<(u32, u32, Vec<u32>)>;

/// Codes of several levels.
#[pyclass(frozen)]
pub struct CodeTree {
    inner: resilver_redundancy::CodeTree,
}

#[pymethods]
impl CodeTree {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Ok(Self { inner: resilver_redundancy::CodeTree::parse(text).map_err(config_error)? })
    }

    #[getter]
    fn name(&self) -> String {
        self.inner.name()
    }

    #[getter]
    fn levels(&self) -> Vec<Code> {
        self.inner.levels().iter().map(|code| Code { inner: code.clone() }).collect()
    }

    #[getter]
    fn data(&self) -> u32 {
        self.inner.data()
    }

    #[getter]
    fn pieces(&self) -> u32 {
        self.inner.pieces()
    }

    #[getter]
    fn fault_tolerance(&self) -> u32 {
        self.inner.fault_tolerance()
    }

    fn is_survivable(&self, lost: Vec<u32>) -> PyResult<bool> {
        self.check(&lost)?;
        Ok(self.inner.is_survivable(&lost))
    }

    fn dead_groups(&self, lost: Vec<u32>) -> PyResult<Vec<Vec<u32>>> {
        self.check(&lost)?;
        Ok(self.inner.dead_groups(&lost))
    }

    /// The steps, or nothing where the data are lost.
    fn repairs(&self, lost: Vec<u32>) -> PyResult<Option<Steps>> {
        self.check(&lost)?;
        let steps = self.inner.repairs(&lost);
        Ok(steps.map(|steps| steps.into_iter().map(|step| (step.level, step.piece, step.gathered)).collect()))
    }
}

impl CodeTree {
    fn check(&self, lost: &[u32]) -> PyResult<()> {
        check_pieces(&self.inner.name(), self.inner.pieces(), lost)
    }
}

/// All `numbers` must be pieces of the code.
fn check_pieces(name: &str, pieces: u32, numbers: &[u32]) -> PyResult<()> {
    let last = pieces - 1;
    numbers.iter().find(|&&number| number > last).map_or(Ok(()), |number| {
        Err(config_error(format!("piece {number}: the pieces of '{name}' are numbered 0 to {last}; name one of them")))
    })
}

fn matrix<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
    let cells: Vec<u8> = (0..matrix.rows()).flat_map(|row| matrix.row(row).iter().copied()).collect();
    rows(py, &cells, matrix.rows(), matrix.columns())
}
