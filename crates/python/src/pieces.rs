//! Where the pieces of given objects are, for Python.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use resilver_placement::layout::object_group;
use resilver_system::PlaceScratch;
use resilver_units::ObjectId;

use crate::config::system_config;
use crate::crush::CrushMap;

/// Objects that one task places: some milliseconds of work, so that tasks are few and every thread has some.
const OBJECTS_A_TASK: usize = 1024;

/// The devices of given objects of a system, position by position, before anything fails: an array of shape (objects, pieces),
/// in which -1 stands where a position has no device.
#[pyfunction]
#[pyo3(signature = (system, map, objects, pieces))]
pub fn place_pieces<'py>(
    py: Python<'py>,
    system: &str,
    map: Option<&CrushMap>,
    objects: PyReadonlyArray1<'py, u64>,
    pieces: usize,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let placement = system_config(system, map.map(CrushMap::shared))?.placement;
    let objects = objects.as_slice()?;
    let mut rows = Array2::from_elem((objects.len(), pieces), -1);
    py.detach(|| {
        let slots =
            rows.as_slice_mut().expect("a new array is contiguous").par_chunks_mut(OBJECTS_A_TASK * pieces.max(1));
        slots.zip(objects.par_chunks(OBJECTS_A_TASK)).for_each(|(slots, objects)| {
            let (mut scratch, mut positions) = (PlaceScratch::default(), Vec::new());
            for (slots, &object) in slots.chunks_mut(pieces).zip(objects) {
                positions.clear();
                let object = ObjectId::new(object);
                match placement.groups {
                    Some(groups) => {
                        let group = object_group(object, groups);
                        placement.algorithm.place_group_positions(group, &mut scratch, &mut positions);
                    }
                    None => placement.algorithm.place_object_positions(object, &mut scratch, &mut positions),
                }
                for (slot, device) in slots.iter_mut().zip(&positions) {
                    *slot = device.map_or(-1, |device| device.get() as i32);
                }
            }
        });
    });
    Ok(rows.into_pyarray(py))
}
