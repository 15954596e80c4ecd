//! The walk of a tree, for Python.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_walk::{Kind, LeftOut, Options, Rows, Texts};

use crate::tables::{Table, arrow_error};

/// What is to come, within a time: a batch or none yet, and whether the walk has ended.
type Batch = (Option<Table>, bool);

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
    fn next(&self, py: Python<'_>, milliseconds: u64) -> PyResult<Batch> {
        let found = py.detach(|| {
            let held = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
            held.as_ref().map(|walk| walk.next(Duration::from_millis(milliseconds)))
        });
        match found {
            Some(Ok(Some(rows))) => Ok((Some(table(rows)?), false)),
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

fn table(rows: Rows) -> PyResult<Table> {
    batch(rows).map(Table::of).map_err(arrow_error)
}

fn batch(rows: Rows) -> Result<RecordBatch, ArrowError> {
    let count = rows.len();
    let mut raw = vec![None; count];
    for (row, path) in &rows.raw {
        raw[*row] = Some(path.as_slice());
    }
    let folder = DictionaryArray::<Int32Type>::try_new(Int32Array::from(rows.folder), Arc::new(texts(rows.folders)?))?;
    let words = StringArray::from(Kind::WORDS.to_vec());
    let kind = DictionaryArray::<arrow_array::types::Int8Type>::try_new(Int8Array::from(rows.kind), Arc::new(words))?;
    let time = |micros: Vec<i64>| Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC")) as ArrayRef;
    let number = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    RecordBatch::try_from_iter_with_nullable([
        ("folder", Arc::new(folder) as ArrayRef, false),
        ("name", Arc::new(texts(rows.names)?), false),
        ("raw_path", Arc::new(BinaryArray::from(raw)), true),
        ("kind", Arc::new(kind), false),
        ("size_bytes", number(rows.size), false),
        ("allocated_bytes", number(rows.allocated), false),
        ("accessed", time(rows.accessed), false),
        ("modified", time(rows.modified), false),
        ("changed", time(rows.changed), false),
        ("owner", number(rows.owner), false),
        ("links", number(rows.links), false),
        ("stripes", Arc::new(Int32Array::from(rows.stripes)), true),
    ])
}

/// Texts as a column, without copying them.
fn texts(texts: Texts) -> Result<StringArray, ArrowError> {
    let edges = arrow_buffer::OffsetBuffer::new(texts.edges.into());
    StringArray::try_new(edges, texts.text.into_bytes().into(), None)
}
