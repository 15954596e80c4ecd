//! Steady flows, for Python.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use resilver_flow::{Flow, Flows, OWN_CAP};

use crate::errors::config_error;

/// The rate of each flow, the resource that binds it (-1 where that is its own cap), what each resource gives, and how many rows were solved.
type Columns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, usize);

/// The max-min fair rates of flows. The way of flow `i` is `resources[starts[i]..starts[i + 1]]`, and each byte costs each of these its `costs`; arrays that
/// say something of each flow are as long as there are flows.
#[pyfunction]
#[pyo3(signature = (capacities, starts, resources, costs, weights, caps, counts))]
#[allow(clippy::too_many_arguments, reason = "they are the columns of one table")]
pub fn fair_rates<'py>(
    py: Python<'py>,
    capacities: PyReadonlyArray1<'py, f64>,
    starts: PyReadonlyArray1<'py, i64>,
    resources: PyReadonlyArray1<'py, u32>,
    costs: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray1<'py, f64>,
    caps: PyReadonlyArray1<'py, f64>,
    counts: PyReadonlyArray1<'py, u64>,
) -> PyResult<Columns<'py>> {
    let (starts, resources, costs) = (starts.as_slice()?, resources.as_slice()?, costs.as_slice()?);
    let (weights, caps, counts) = (weights.as_slice()?, caps.as_slice()?, counts.as_slice()?);
    let capacities = capacities.as_slice()?.to_vec();
    let solve = || {
        let mut flows = Flows::new(capacities).map_err(config_error)?;
        let mut way = Vec::new();
        let mut rows = Vec::with_capacity(weights.len());
        for (flow, ends) in starts.windows(2).enumerate() {
            let range = ends[0] as usize..ends[1] as usize;
            let (Some(resources), Some(costs)) = (resources.get(range.clone()), costs.get(range)) else {
                return Err(config_error(format!(
                    "starts[{flow}] = {}: it must begin a way within resources",
                    ends[0]
                )));
            };
            way.clear();
            way.extend(resources.iter().copied().zip(costs.iter().copied()));
            let flow = Flow { weight: weights[flow], cap: caps[flow], count: counts[flow] };
            rows.push(flows.add(&way, flow).map_err(config_error)?);
        }
        let rates = resilver_flow::fair_rates(&flows).map_err(config_error)?;
        Ok((rates, rows))
    };
    let (found, rows) = py.detach(solve)?;
    let rates: Vec<f64> = rows.iter().map(|&row| found.rates[row as usize]).collect();
    let binding = |row: &u32| match found.binding[*row as usize] {
        OWN_CAP => -1,
        resource => i64::from(resource),
    };
    let binding: Vec<i64> = rows.iter().map(binding).collect();
    let solved = found.rates.len();
    Ok((rates.into_pyarray(py), binding.into_pyarray(py), found.used.into_pyarray(py), solved))
}
