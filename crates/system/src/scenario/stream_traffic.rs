//! What clients stream, and which groups rebuild in place.

use std::sync::Arc;

use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};
use serde::Deserialize;

use super::CodeConfig;
use crate::SystemError;

/// Sustained reads and writes of whole stripes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamTraffic {
    /// What the stripes are.
    pub over: StripesOf,
    /// The endpoints where clients are.
    pub entries: Vec<EndpointId>,
    /// Which entry a server's clients are at, where stripes are of groups.
    pub pairing: Pairing,
    /// Operations under way at a time: of each server and side, or of each entry where stripes are the population's.
    pub window: u32,
    /// Data a second of each server, or each entry; `None` for as much as there can be, zero for none.
    pub rate: Option<f64>,
    /// The share of operations that read, from 0 to 1.
    pub read_share: f64,
    /// Size on the wire of a message without data.
    pub control: Bytes,
    /// Writes that come all at once, where there are any.
    pub bursts: Option<Bursts>,
    /// Jobs whose bursts repeat.
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Whether all of it is flows, and no operation is followed.
    #[serde(default)]
    pub is_flow: bool,
    /// When statistics begin.
    pub warm_up: SimDuration,
    /// How long the run lasts from then on; `None` where it lasts as long as the rebuild.
    pub duration: Option<SimDuration>,
}

/// What the stripes of streams are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StripesOf {
    /// Any servers of a group; each group by its servers.
    Groups(Vec<Vec<DeviceId>>),
    /// The objects of the population, where they are placed.
    Placement,
}

/// Which entry a server's clients are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// That of the server's port: endpoint e has entry e mod R of R.
    Paired,
    /// Any, drawn for each operation.
    Random,
}

/// Writes that come all at once, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// When the first one begins.
    pub first: SimDuration,
    /// From the beginning of one to that of the next.
    pub every: SimDuration,
    /// The data of each, over all servers.
    pub volume: Bytes,
    /// Data a second of each server that is read again and leaves; `None` where what was written stays.
    #[serde(default)]
    pub drain: Option<f64>,
}

/// A job that computes and then moves a volume, again and again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The endpoints where its clients are, over which each volume is dealt.
    pub entries: Vec<EndpointId>,
    /// When it asks for its first burst.
    pub first: SimDuration,
    /// From when it asks for one to when it asks for the next, which begins no sooner than that one has ended.
    pub period: SimDuration,
    /// How long a burst takes where nothing is in its way: it asks for its volume evenly over that.
    pub length: SimDuration,
    /// The data of each burst.
    pub volume: Bytes,
    /// The share of operations that read, from 0 to 1.
    pub read_share: f64,
    /// Operations of each client under way at a time.
    pub window: u32,
}

/// Groups whose servers make strips anew in place, all servers being alive.
#[derive(Clone, Debug)]
pub struct Corruption {
    /// When they begin.
    pub at: SimTime,
    /// Which groups.
    pub groups: Vec<u32>,
    /// Strips that each server makes; `None` where it goes on for as long as the traffic lasts.
    pub strips_per_server: Option<u64>,
    /// Strips that a server makes at a time.
    pub window: u32,
    /// The code that they are stored under; `None` for that of the streams.
    pub code: Option<Arc<Code>>,
}

/// Most operations of a source at a time, so that all places together can be numbered for any fleet there is.
const WINDOW_LIMIT: u32 = 1 << 16;

/// Most jobs of a run: a byte numbers who asks for data.
const JOB_LIMIT: usize = 200;

/// Most corruptions of a run: a byte numbers the codes.
const CORRUPTION_LIMIT: usize = 200;

fn wrong<T>(field: &'static str, value: impl ToString, rule: &'static str) -> Result<T, SystemError> {
    Err(SystemError::Traffic { field, value: value.to_string(), rule })
}

impl StreamTraffic {
    /// Checks that streams and corruptions can be drawn from these, for a system of `devices` devices.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub(crate) fn check(
        &self,
        (devices, has_rebuild): (usize, bool),
        code: Option<&CodeConfig>,
        corruptions: &[Corruption],
    ) -> Result<(), SystemError> {
        if self.entries.is_empty() {
            return wrong("streams.entries", "[]", "name one endpoint at least");
        }
        if !(1..WINDOW_LIMIT).contains(&self.window) {
            return wrong("streams.window", self.window, "it must be from 1 to 65,535");
        }
        if !(0.0..=1.0).contains(&self.read_share) {
            return wrong("reads", self.read_share, "it must be from 0 to 1");
        }
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate >= 0.0)) {
            return wrong("streams.rate", rate, "it must be finite, and zero or more");
        }
        if self.duration == Some(SimDuration::ZERO) {
            return wrong("duration", "0 s", "it must be above zero");
        }
        let endless = corruptions.iter().any(|corruption| corruption.strips_per_server.is_none());
        if self.duration.is_none() && (endless || (corruptions.is_empty() && !has_rebuild)) {
            return wrong("duration", "null", "without a rebuild that ends, say how long the run lasts");
        }
        if let Some(bursts) = self.bursts {
            bursts.check()?;
            if bursts.drain.is_some() && (self.over == StripesOf::Placement || self.is_flow) {
                return wrong("streams.bursts.drain", "given", "what is drained is streams' over groups, by events");
            }
        }
        self.jobs.iter().try_for_each(Job::check)?;
        if self.jobs.len() > JOB_LIMIT {
            return wrong("jobs", self.jobs.len(), "there may be 200 of them at the most");
        }
        if !self.jobs.is_empty() && self.over != StripesOf::Placement {
            return wrong("jobs", "given", "they move whole objects of what is stored; give a population");
        }
        match &self.over {
            StripesOf::Groups(groups) => self.check_groups(groups, devices, code, corruptions),
            StripesOf::Placement if corruptions.is_empty() => Ok(()),
            StripesOf::Placement => {
                wrong("faults.corrupt", "given", "only streams over groups have groups that rebuild in place")
            }
        }
    }

    fn check_groups(
        &self,
        groups: &[Vec<DeviceId>],
        devices: usize,
        code: Option<&CodeConfig>,
        corruptions: &[Corruption],
    ) -> Result<(), SystemError> {
        let Some(CodeConfig { code, strip, .. }) = code else {
            return wrong("redundancy.code", "null", "streams over groups need a code, such as 'rs 8+3' or 'copies 3'");
        };
        if strip.is_none_or(Bytes::is_zero) {
            return wrong("redundancy.strip", "null", "streams over groups need a strip's size, such as '64 KiB'");
        }
        let own = corruptions.iter().filter_map(|corruption| corruption.code.as_ref());
        let most = own.map(|code| code.pieces()).fold(code.pieces(), u32::max) as usize;
        if let Some(group) = groups.iter().find(|group| group.len() < most) {
            let value = format!("a group of {}", group.len());
            return wrong("streams.groups", value, "each group must have a server for every piece of a stripe");
        }
        let mut seen = vec![false; devices];
        for device in groups.iter().flatten() {
            match seen.get_mut(device.index()) {
                Some(is_seen) if !*is_seen => *is_seen = true,
                _ => return wrong("streams.groups", device.get(), "a server is one of the system's, and in one group"),
            }
        }
        if corruptions.len() > CORRUPTION_LIMIT {
            return wrong("faults.corrupt", corruptions.len(), "there may be 200 of them at the most");
        }
        for corruption in corruptions {
            if !(1..WINDOW_LIMIT).contains(&corruption.window) {
                return wrong("faults.corrupt.window", corruption.window, "it must be from 1 to 65,535");
            }
            if let Some(&group) = corruption.groups.iter().find(|&&group| group as usize >= groups.len()) {
                return wrong("faults.corrupt.groups", group, "it must be the number of one of the groups");
            }
        }
        Ok(())
    }
}

impl Job {
    fn check(&self) -> Result<(), SystemError> {
        if self.entries.is_empty() {
            return wrong("jobs.clients", "0", "it must have one client at least");
        }
        if self.period == SimDuration::ZERO || self.length == SimDuration::ZERO || self.volume.is_zero() {
            return wrong("jobs.signature", "0", "its period, length and volume must be above zero");
        }
        if !(0.0..=1.0).contains(&self.read_share) {
            return wrong("jobs.signature.reads", self.read_share, "it must be from 0 to 1");
        }
        if !(1..WINDOW_LIMIT).contains(&self.window) {
            return wrong("jobs.window", self.window, "it must be from 1 to 65,535");
        }
        Ok(())
    }
}

impl Bursts {
    fn check(self) -> Result<(), SystemError> {
        if self.every == SimDuration::ZERO {
            return wrong("streams.bursts.every", "0 s", "it must be above zero");
        }
        if self.volume.is_zero() {
            return wrong("streams.bursts.volume", "0 B", "it must be above zero");
        }
        if let Some(rate) = self.drain.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return wrong("streams.bursts.drain", rate, "it must be finite, and above zero");
        }
        Ok(())
    }
}

/// The time between operations of `data` at a rate above zero, in picoseconds; at least one.
pub(crate) fn pace_of(data: Bytes, rate: f64) -> Option<SimDuration> {
    let time = BytesPerSecond::new(rate)?.time_for(data);
    Some(time.max(SimDuration::from_picoseconds(1)))
}
