//! The census of a population, for Python: how many files and objects there are of each size.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use resilver_population::{Census, Files, RangeTotals, SizeClass};
use resilver_system::{Contents, FileWords, read};

use crate::arrays::array;
use crate::errors::{config_error, system_error};

/// Files in a part, the piece of work of one thread.
const PART_FILES: u64 = 1 << 15;
/// The most parts in a block, whose end is looked for before the next one is drawn.
const BLOCK_PARTS: u64 = 64;
/// How long one step takes, so that progress shows and Ctrl-C is heard.
const STEP: Duration = Duration::from_millis(100);

/// A census of a population under way, stepped from Python.
///
/// Made from the JSON that `resilver.simulate` writes for the population of a system, and the seed of the run.
#[pyclass(module = "resilver._core")]
pub struct PopulationCensus {
    files: Files<FileWords>,
    next_file: u64,
    totals: RangeTotals,
    census: Census,
    is_complete: bool,
}

#[pymethods]
impl PopulationCensus {
    #[new]
    fn new(population: &str, seed: u64) -> PyResult<Self> {
        let Contents { histogram, decomposition, extent } = read(population).map_err(system_error)?;
        // The words that a run draws its files from, so that a census counts the very files of the run with its seed.
        Ok(PopulationCensus {
            files: Files::new(histogram, decomposition, extent, FileWords::new(seed, 0)).map_err(config_error)?,
            next_file: 0,
            totals: RangeTotals::default(),
            census: Census::default(),
            is_complete: false,
        })
    }

    /// Whether every file was counted.
    fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Counts on for a fraction of a second; returns the fraction that is done.
    fn advance(&mut self, py: Python<'_>) -> f64 {
        py.detach(|| {
            let start = Instant::now();
            while !self.is_complete && start.elapsed() < STEP {
                self.count_block();
            }
        });
        if self.is_complete {
            return 1.0;
        }
        (self.next_file as f64 / self.files.expected_files().max(1) as f64).min(0.999)
    }

    /// The classes by rising size, class k from 2^k up to 2^(k+1) bytes, as a dictionary of columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let column = |value: fn(&SizeClass) -> u64| {
            let values: Vec<i64> = self.census.classes().iter().map(|class| value(class) as i64).collect();
            array(py, &values)
        };
        let dict = PyDict::new(py);
        dict.set_item("files", column(|class| class.files)?)?;
        dict.set_item("file_bytes", column(|class| class.file_bytes.get())?)?;
        dict.set_item("objects", column(|class| class.objects)?)?;
        dict.set_item("object_bytes", column(|class| class.object_bytes.get())?)?;
        Ok(dict)
    }
}

impl PopulationCensus {
    /// Counts the next block of files; its parts add up whatever the number of threads.
    fn count_block(&mut self) {
        // Little beyond the end, so that a small population does not pay for a large block.
        let block_parts = self.files.files_to_end(self.totals).div_ceil(PART_FILES).min(BLOCK_PARTS);
        let ranges = |part: u64| {
            let start = self.next_file + part * PART_FILES;
            start..start + PART_FILES
        };
        let parts: Vec<(Census, RangeTotals)> =
            (0..block_parts).into_par_iter().map(|part| self.count(ranges(part))).collect();
        for (part, (census, totals)) in (0..block_parts).zip(parts) {
            let range = ranges(part);
            if let Some(end) = self.files.end_within(range.clone(), self.totals, totals) {
                let (census, _) = self.count(range.start..end);
                self.census.add(&census);
                self.is_complete = true;
                return;
            }
            self.census.add(&census);
            self.totals.add(totals);
        }
        self.next_file += block_parts * PART_FILES;
    }

    fn count(&self, range: std::ops::Range<u64>) -> (Census, RangeTotals) {
        let decomposition = self.files.decomposition();
        let mut census = Census::default();
        let totals = self.files.visit(range, |_, size| census.add_file(size, decomposition));
        (census, totals)
    }
}
