//! Detection held to closed forms, laws and slow twins.

mod laws;
mod protocols;
mod twins;

use std::sync::Arc;

use resilver_detection::{Detection, Group, KnownBy, Outcome, Protocol};
use resilver_fabric::{LogGp, LogGpRow, LogGpTable};
use resilver_units::{Bytes, EndpointId, SimDuration};

/// The latency of the network that tests go over, whose interfaces are never busy.
pub const LATENCY: f64 = 1e-3;

/// A length of time.
pub fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).expect("a time")
}

/// A network of one latency and no gaps.
pub fn network(endpoints: usize) -> LogGp {
    let row =
        LogGpRow { size: Bytes::new(1), latency: seconds(LATENCY), gap_picoseconds: 0, gap_per_byte_picoseconds: 0 };
    LogGp::new(Arc::new(LogGpTable::new(vec![row]).expect("a table")), endpoints)
}

/// Members with an endpoint each, of whom some fail.
pub fn group(members: u32, failing: &[u32]) -> Group {
    let endpoints = (0..members).map(EndpointId::new).collect();
    Group { endpoints, failing: failing.to_vec(), ..Group::default() }
}

/// Periods of a second, no loss, and a timeout as the protocol needs it.
pub fn detection(protocol: Protocol) -> Detection {
    let timeout = match protocol {
        Protocol::Swim { .. } => 0.2,
        // News take some periods to come round.
        Protocol::Gossip { .. } => 12.5,
        _ => 3.5,
    };
    Detection {
        protocol,
        period: seconds(1.0),
        timeout: seconds(timeout),
        warm_up: seconds(10.0),
        message: Bytes::new(64),
        entry: Bytes::new(8),
        loss: 0.0,
        background: None,
        known_by: KnownBy::All,
    }
}

/// One of each kind at least.
pub fn all_protocols() -> Vec<Protocol> {
    vec![
        Protocol::Monitor { monitors: 1 },
        Protocol::Monitor { monitors: 3 },
        Protocol::AllToAll {},
        Protocol::Gossip { fanout: 2 },
        Protocol::Swim { fanout: 3, suspicion: SimDuration::ZERO },
        Protocol::Swim { fanout: 3, suspicion: seconds(2.0) },
    ]
}

/// What comes of it over the network of tests.
pub fn detect(config: &Detection, group: &Group, seed: u64) -> Outcome {
    config.detect(group, network(group.endpoints.len()), seed, 0).expect("it can be simulated")
}

/// The mean of so many values and its standard error.
pub fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Holds the mean of values to what is expected, within five standard errors.
pub fn hold_mean(values: &[f64], expected: f64, what: &str) {
    let (mean, error) = mean(values);
    assert!((mean - expected).abs() < 5.0 * error, "{what}: {mean} +- {error}, expected {expected}");
}
