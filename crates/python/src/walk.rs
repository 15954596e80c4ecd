//! The walk of a tree, for Python.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use resilver_walk::{Kind, LeftOut, Options, Rows, Texts};

use crate::arrays::array;

/// What is to come, within a time: the columns of a batch or none yet, and whether the walk has ended.
type Batch<'py> = (Option<Bound<'py, PyDict>>, bool);

/// What was not counted, by name; and the path and error number of some that cannot be read.
type Uncounted<'py> = (Bound<'py, PyDict>, Vec<(Vec<u8>, i32)>);

/// A walk under way; see `resilver.importers.walk`.
#[pyclass(frozen, module = "resilver._core")]
pub struct Walk {
    walk: Mutex<Option<resilver_walk::Walk>>,
}

#[pymethods]
impl Walk {
    /// Begin to walk a folder.
    #[new]
    fn new(root: &[u8], workers: usize, one_file_system: bool, every_name: bool, with_rows: bool) -> PyResult<Self> {
        let options = Options { workers, one_file_system, every_name, with_rows };
        let walk = resilver_walk::Walk::new(Path::new(OsStr::from_bytes(root)), options)
            .map_err(|error| PyOSError::new_err((error.raw_os_error().unwrap_or(0), error.to_string())))?;
        Ok(Walk { walk: Mutex::new(Some(walk)) })
    }

    /// The next batch of rows, waiting so many milliseconds for it.
    fn next<'py>(&self, py: Python<'py>, milliseconds: u64) -> PyResult<Batch<'py>> {
        let found = py.detach(|| {
            let held = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
            held.as_ref().map(|walk| walk.next(Duration::from_millis(milliseconds)))
        });
        match found {
            Some(Ok(Some(rows))) => Ok((Some(columns(py, rows)?), false)),
            Some(Ok(None)) => Ok((None, false)),
            Some(Err(_)) | None => Ok((None, true)),
        }
    }

    /// End it.
    fn stop(&self) {
        self.walk.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Files, folders read, tasks pending, and bytes of files.
    fn progress(&self) -> (u64, u64, u64, u64) {
        let held = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.as_ref().map(resilver_walk::Walk::progress).unwrap_or_default();
        (found.files, found.folders, found.pending, found.bytes)
    }

    /// By the word of each kind: how many, apparent bytes, occupied bytes.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.as_ref().map(resilver_walk::Walk::totals).unwrap_or_default();
        let dict = PyDict::new(py);
        for (kind, word) in Kind::WORDS.iter().enumerate() {
            dict.set_item(word, (found.count[kind], found.size[kind], found.allocated[kind]))?;
        }
        Ok(dict)
    }

    /// What was not counted, by name; and the path and error number of some that cannot be read.
    fn left_out<'py>(&self, py: Python<'py>) -> PyResult<Uncounted<'py>> {
        let held = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let LeftOut { further_names, other_file_systems, unreadable, vanished, examples } =
            held.as_ref().map(resilver_walk::Walk::left_out).unwrap_or_default();
        let dict = PyDict::new(py);
        dict.set_item("further_names", further_names)?;
        dict.set_item("other_file_systems", other_file_systems)?;
        dict.set_item("unreadable", unreadable)?;
        dict.set_item("vanished", vanished)?;
        Ok((dict, examples))
    }
}

/// The columns of a batch as arrays. Of texts: where each begins and the last ends, and all of them; of stripes, -1 is none.
fn columns(py: Python<'_>, rows: Rows) -> PyResult<Bound<'_, PyDict>> {
    let texts = |Texts { edges, text }| Ok::<_, PyErr>((array(py, &edges)?, PyBytes::new(py, text.as_bytes())));
    let stripes: Vec<i32> = rows.stripes.into_iter().map(|count| count.unwrap_or(-1)).collect();
    let raw: Vec<_> = rows.raw.iter().map(|(row, path)| (row, PyBytes::new(py, path))).collect();
    let dict = PyDict::new(py);
    dict.set_item("folders", texts(rows.folders)?)?;
    dict.set_item("folder", array(py, &rows.folder)?)?;
    dict.set_item("name", texts(rows.names)?)?;
    dict.set_item("raw_path", raw)?;
    dict.set_item("kinds", Kind::WORDS)?;
    dict.set_item("kind", array(py, &rows.kind)?)?;
    dict.set_item("size_bytes", array(py, &rows.size)?)?;
    dict.set_item("allocated_bytes", array(py, &rows.allocated)?)?;
    dict.set_item("accessed", array(py, &rows.accessed)?)?;
    dict.set_item("modified", array(py, &rows.modified)?)?;
    dict.set_item("changed", array(py, &rows.changed)?)?;
    dict.set_item("owner", array(py, &rows.owner)?)?;
    dict.set_item("links", array(py, &rows.links)?)?;
    dict.set_item("stripes", array(py, &stripes)?)?;
    Ok(dict)
}
