//! What streams, bursts and jobs ask for as flows: traffics of whole objects, and the volumes that come to them at their times.

use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::refused;
use crate::SystemError;
use crate::scenario::{Arrivals, FlowLaw, RequestClass, StreamTraffic, StripesOf, SystemConfig, Targets, Traffic};

/// Volumes that come again and again, dealt alike over the clients of a traffic.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Which of the traffics.
    pub law: usize,
    /// When the first one is asked for, and from then on one after each such time.
    pub first: SimTime,
    pub every: SimDuration,
    /// The bytes of each.
    pub volume: f64,
    /// The job whose they are, and how long each takes where nothing is in its way; `None` of bursts beside streams.
    pub job: Option<(u32, SimDuration)>,
}

impl Series {
    /// When the volume of a number comes where none before it was late.
    pub fn planned(&self, number: u64) -> SimTime {
        let after = u128::from(self.every.picoseconds()) * u128::from(number) + u128::from(self.first.picoseconds());
        SimTime::from_picoseconds(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// The rate that one of so many clients asks for at the most.
    pub fn rate_of_one(&self, clients: usize) -> f64 {
        self.job.map_or(f64::INFINITY, |(_, length)| self.volume / length.seconds() / clients as f64)
    }
}

/// The system with its streams, bursts and jobs as traffics of whole objects, behind those that it has, and their volumes.
///
/// # Errors
/// When streams are over groups of servers, of which nothing is stored.
pub(super) fn with_streams_as_traffic(config: &SystemConfig) -> Result<(SystemConfig, Vec<Series>), SystemError> {
    let (mut asked, mut series) = (SystemConfig { streams: None, ..config.clone() }, Vec::new());
    let Some(streams) = &config.streams else { return Ok((asked, series)) };
    if streams.over != StripesOf::Placement {
        return Err(refused("streams over groups store nothing; give a population, or use engine = 'events'"));
    }
    let devices = (0..config.endpoint_of.len() as u32).map(DeviceId::new).collect();
    let traffic = traffic_of(streams, devices);
    let mut add = |entries: &[EndpointId], (window, rate): (u32, Option<f64>), read_share: f64| {
        let arrivals = Arrivals::Flows(FlowLaw::Objects { window, rate });
        // Each object says its own size.
        let classes = vec![RequestClass { share: 1.0, read_share, size: Bytes::new(1), operation: None }];
        asked.traffic.push(Traffic { requesters: entries.to_vec(), arrivals, classes, ..traffic.clone() });
        asked.traffic.len() - 1
    };
    if streams.rate != Some(0.0) {
        add(&streams.entries, (streams.window, streams.rate), streams.read_share);
    }
    if let Some(bursts) = streams.bursts {
        let law = add(&streams.entries, (streams.window, Some(0.0)), 0.0);
        let (first, every, volume) = (SimTime::ZERO + bursts.first, bursts.every, bursts.volume.get() as f64);
        series.push(Series { law, first, every, volume, job: None });
    }
    for (number, job) in (0u32..).zip(&streams.jobs) {
        let law = add(&job.entries, (job.window, Some(0.0)), job.read_share);
        let (first, every, volume) = (SimTime::ZERO + job.first, job.period, job.volume.get() as f64);
        series.push(Series { law, first, every, volume, job: Some((number, job.length)) });
    }
    Ok((asked, series))
}

/// What all traffics of streams have in common.
fn traffic_of(streams: &StreamTraffic, servers: Vec<DeviceId>) -> Traffic {
    Traffic {
        pool: None,
        requesters: Vec::new(),
        servers,
        arrivals: Arrivals::Flows(FlowLaw::Objects { window: streams.window, rate: None }),
        classes: Vec::new(),
        control: streams.control,
        targets: Targets::Uniform,
        directories: Vec::new(),
        gap: SimDuration::ZERO,
        timeout: None,
        warm_up: streams.warm_up,
        duration: streams.duration,
    }
}
