//! Steady flows, for Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use resilver_flow::{Flow, Flows, OWN_CAP};

use crate::arrays::array;
use crate::errors::config_error;

/// The rate of each flow, the resource that binds it (-1 where that is its own cap), what each resource gives, and how many rows were solved.
type Columns<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize);

/// The max-min fair rates of flows. The way of flow `i` is `resources[starts[i]..starts[i + 1]]`, and each byte costs each of these its `costs`; arrays that
/// say something of each flow are as long as there are flows.
#[pyfunction]
#[pyo3(signature = (capacities, starts, resources, costs, weights, caps, counts))]
#[allow(clippy::too_many_arguments, reason = "they are the columns of one table")]
pub fn fair_rates<'py>(
    py: Python<'py>,
    capacities: PyBuffer<f64>,
    starts: PyBuffer<i64>,
    resources: PyBuffer<u32>,
    costs: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    caps: PyBuffer<f64>,
    counts: PyBuffer<u64>,
) -> PyResult<Columns<'py>> {
    let (starts, resources, costs) = (starts.to_vec(py)?, resources.to_vec(py)?, costs.to_vec(py)?);
    let (weights, caps, counts) = (weights.to_vec(py)?, caps.to_vec(py)?, counts.to_vec(py)?);
    let capacities = capacities.to_vec(py)?;
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
    Ok((array(py, &rates)?, array(py, &binding)?, array(py, &found.used)?, solved))
}
