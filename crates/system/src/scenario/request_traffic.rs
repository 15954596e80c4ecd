//! What clients ask for: who asks, when, for what, and of which server.

use std::sync::Arc;

use resilver_device::Operation;
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};
use serde::Deserialize;

use crate::SystemError;

/// The clients of a system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The pool whose objects they ask for; `None` where they ask for those of all.
    pub pool: Option<usize>,
    /// The endpoints where requests enter, each once.
    pub requesters: Vec<EndpointId>,
    /// The devices that serve them, each once.
    pub servers: Vec<DeviceId>,
    /// When requests come.
    pub arrivals: Arrivals,
    /// Of which sizes and kinds requests are, one class at least; a trace's requests say it themselves.
    pub classes: Vec<RequestClass>,
    /// Size on the wire of a read's request and of a write's acknowledgement.
    pub control: Bytes,
    /// Which server a request goes to.
    pub targets: Targets,
    /// The server of each directory that operations are in, each directory as likely; of none where there are no operations.
    #[serde(default)]
    pub directories: Vec<DeviceId>,
    /// The least time between two requests of one requester of a closed loop.
    pub gap: SimDuration,
    /// How long a requester waits for an answer; `None` where it learns at once of a message that is lost.
    pub timeout: Option<SimDuration>,
    /// When statistics begin.
    pub warm_up: SimDuration,
    /// How long the run lasts from then on; `None` where it lasts as long as the rebuild.
    pub duration: Option<SimDuration>,
}

/// Requests of one size, of those that clients issue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestClass {
    /// Their share of all requests; those of all classes together are one.
    pub share: f64,
    /// The share of them that read, from 0 to 1.
    pub read_share: f64,
    /// Data of each; of an operation none.
    pub size: Bytes,
    /// What each asks of metadata, where they move no data.
    #[serde(default)]
    pub operation: Option<MetadataRequest>,
}

/// An operation on a file, which clients ask of the server of its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataRequest {
    /// Which.
    pub kind: Operation,
    /// The stripes of the file whose servers are asked as well, once the directory's has answered.
    pub stripes: u8,
    /// What each of these reads from its device.
    pub attributes: Bytes,
}

/// The most stripes whose servers an operation asks: with the server of its directory they are the pieces of an operation.
const STRIPES_MAX: u8 = 63;

/// The most classes of one traffic.
const CLASSES_MAX: usize = 64;
/// How far the sum of shares may be from one.
const ROUNDING: f64 = 1e-6;

/// When requests come.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// Each requester keeps a fixed number of requests outstanding.
    Closed {
        /// How many, over all requesters: dealt out evenly, the remainder to the first ones.
        outstanding: u64,
        /// A request is issued at a random moment within this time after the one that it follows was completed.
        interval: SimDuration,
    },
    /// As a flow a requester: what many requests come to, without following any.
    Flows(FlowLaw),
    /// Each requester issues requests after exponentially distributed gaps.
    Poisson {
        /// Requests a second, over all requesters.
        rate: f64,
    },
    /// Each requester issues requests after Pareto distributed gaps.
    Pareto {
        /// Requests a second, over all requesters.
        rate: f64,
        /// The shape, above one: up to two, the variance of the gaps is infinite.
        shape: f64,
    },
    /// Recorded requests, in the order of their times; requesters take turns in issuing them.
    Trace(Arc<Vec<TraceRequest>>),
}

/// What flows stand for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowLaw {
    /// A closed loop.
    Closed {
        /// As there.
        outstanding: u64,
        /// As there.
        interval: SimDuration,
    },
    /// Requests that come whether or not others are done.
    Open {
        /// Requests a second, over all requesters.
        rate: f64,
    },
    /// Recorded requests: as many a second as come on average until the last one.
    Trace(Arc<Vec<TraceRequest>>),
    /// Reads and writes of whole objects of what is stored.
    #[serde(skip)]
    Objects {
        /// How many each requester has under way at the most.
        window: u32,
        /// Data a second that each asks for; `None` for as much as there can be, zero for volumes alone.
        rate: Option<f64>,
    },
}

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TraceRequest {
    /// When it is issued.
    pub at: SimTime,
    /// Whether it reads.
    pub is_read: bool,
    /// Its data.
    pub bytes: Bytes,
    /// The server that it goes to; `None` where one is drawn.
    pub target: Option<DeviceId>,
    /// The object of a sample that it asks for, by its number; none of these where one of the server's is drawn.
    #[serde(skip, default = "any_object")]
    pub object: u32,
}

/// Stands for no object.
pub(crate) const NO_OBJECT: u32 = u32::MAX;

/// In place of the number of an object.
fn any_object() -> u32 {
    NO_OBJECT
}

/// Which server a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Targets {
    /// Any, each as likely as the others.
    Uniform,
    /// The server of rank k with a probability in proportion to k^-exponent; ranks are dealt out at random.
    Zipf {
        /// The exponent, zero or more.
        exponent: f64,
    },
    /// Some servers, chosen at random, get a share of the requests that is theirs alone.
    Hot {
        /// The share of the servers that are hot, above 0 and at most 1.
        servers: f64,
        /// The share of the requests that they get, from 0 to 1.
        requests: f64,
    },
    /// Each requester has servers of its own, and asks them alike.
    Dealt {
        /// How many; all, where there are fewer.
        each: u32,
        /// Whether the seed draws them; else they are dealt in turn.
        is_drawn: bool,
    },
}

impl RequestClass {
    /// Their shares of all requests: those of them that read, and that write.
    pub(crate) fn shares(&self) -> [f64; 2] {
        let reads = self.share * self.read_share;
        [reads, self.share - reads]
    }
}

impl Traffic {
    /// The share of all requests that read.
    pub(crate) fn read_share(&self) -> f64 {
        self.classes.iter().map(|class| class.shares()[0]).sum()
    }

    /// The most stripes whose servers an operation asks; `None` where there are no operations.
    pub(crate) fn stripes_asked(&self) -> Option<u8> {
        self.classes.iter().filter_map(|class| class.operation).map(|operation| operation.stripes).max()
    }

    /// The number of a request's class, the class, and whether the request reads, by a number from 0 to below 1 that is drawn for it.
    #[inline]
    pub(crate) fn class_at(&self, uniform: f64) -> (u16, &RequestClass, bool) {
        let (mut left, last) = (uniform, self.classes.len() - 1);
        let holds = |(number, class): &(usize, &RequestClass)| {
            let is_here = left < class.share || *number == last;
            if !is_here {
                left -= class.share;
            }
            is_here
        };
        let (number, class) =
            self.classes.iter().enumerate().find(holds).expect("the last class has what rounding leaves");
        (number as u16, class, left < class.share * class.read_share)
    }

    /// Checks that requests can be drawn from this, for a system of `devices` devices.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub(crate) fn check(&self, devices: usize, has_rebuild: bool) -> Result<(), SystemError> {
        let wrong = |field, value: String, rule| Err(SystemError::Traffic { field, value, rule });
        if self.requesters.is_empty() {
            return wrong("requesters", "[]".into(), "name one endpoint at least");
        }
        if self.servers.is_empty() || self.servers.iter().any(|server| server.index() >= devices) {
            let rule = "name one device of the system at least, and no other";
            return wrong("servers", format!("{} devices", self.servers.len()), rule);
        }
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        if !(1..=CLASSES_MAX).contains(&self.classes.len()) {
            return wrong("classes", self.classes.len().to_string(), "give from 1 to 64");
        }
        if let Some(class) = self.classes.iter().find(|class| !is_share(class.read_share)) {
            return wrong("read_share", class.read_share.to_string(), "it must be from 0 to 1");
        }
        let sum: f64 = self.classes.iter().map(|class| class.share).sum();
        if !self.classes.iter().all(|class| is_share(class.share)) || (sum - 1.0).abs() > ROUNDING {
            return wrong("share", sum.to_string(), "shares are from 0 to 1, and 1 together");
        }
        let stripes = self.stripes_asked();
        if stripes > Some(STRIPES_MAX) {
            return wrong("classes.stripes", "64 or more".into(), "an operation asks 63 stripes at the most");
        }
        let is_known = |server: &DeviceId| server.index() < devices;
        if stripes.is_some() && self.directories.is_empty() || !self.directories.iter().all(is_known) {
            let rule = "operations need a server for each directory, of the system's devices";
            return wrong("directories", format!("{} servers", self.directories.len()), rule);
        }
        if self.timeout == Some(SimDuration::ZERO) {
            return wrong("timeout", "0 s".into(), "it must be above zero");
        }
        if self.duration == Some(SimDuration::ZERO) {
            return wrong("duration", "0 s".into(), "it must be above zero");
        }
        if self.duration.is_none() && !has_rebuild {
            return wrong("duration", "null".into(), "without a rebuild to wait for, say how long the run lasts");
        }
        self.check_targets().and_then(|()| self.check_arrivals(devices))
    }

    fn check_targets(&self) -> Result<(), SystemError> {
        let wrong = |field, value: f64, rule| Err(SystemError::Traffic { field, value: value.to_string(), rule });
        match self.targets {
            Targets::Uniform => Ok(()),
            Targets::Zipf { exponent } if exponent.is_finite() && exponent >= 0.0 => Ok(()),
            Targets::Zipf { exponent } => wrong("targets.exponent", exponent, "it must be finite, zero or more"),
            Targets::Hot { servers, .. } if !(servers > 0.0 && servers <= 1.0) => {
                wrong("targets.servers", servers, "it must be above 0 and at most 1")
            }
            Targets::Hot { requests, .. } if !(0.0..=1.0).contains(&requests) => {
                wrong("targets.requests", requests, "it must be from 0 to 1")
            }
            Targets::Dealt { each: 0, .. } => wrong("targets.each", 0.0, "it must be 1 at least"),
            Targets::Hot { .. } | Targets::Dealt { .. } => Ok(()),
        }
    }

    fn check_arrivals(&self, devices: usize) -> Result<(), SystemError> {
        let wrong = |field, value: String, rule| Err(SystemError::Traffic { field, value, rule });
        let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
        match &self.arrivals {
            Arrivals::Closed { outstanding, .. } | Arrivals::Flows(FlowLaw::Closed { outstanding, .. })
                if !(1..1 << 24).contains(outstanding) =>
            {
                wrong("arrivals.outstanding", outstanding.to_string(), "it must be from 1 to 2^24 - 1")
            }
            Arrivals::Poisson { rate } | Arrivals::Pareto { rate, .. } | Arrivals::Flows(FlowLaw::Open { rate })
                if !is_rate(*rate) =>
            {
                wrong("arrivals.requests_per_second", rate.to_string(), "it must be finite and above zero")
            }
            Arrivals::Pareto { shape, .. } if !(shape.is_finite() && *shape > 1.0) => {
                let rule = "it must be above one, or the mean gap is infinite";
                wrong("arrivals.shape", shape.to_string(), rule)
            }
            Arrivals::Trace(requests) | Arrivals::Flows(FlowLaw::Trace(requests)) => {
                let is_known = |target: DeviceId| target.index() < devices;
                match requests.iter().position(|request| request.target.is_some_and(|target| !is_known(target))) {
                    Some(row) => wrong("arrivals.target", format!("row {row}"), "the system has no such device"),
                    None if !requests.is_sorted_by_key(|request| request.at) => {
                        wrong("arrivals.seconds", "falling".into(), "times must not fall from one row to the next")
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_the_class_and_the_kind_by_their_shares() {
        // Of ten tenths the first class has six, of which two thirds read, and the second four, of which a half do.
        let class =
            |share, read_share, size| RequestClass { share, read_share, size: Bytes::new(size), operation: None };
        let traffic = Traffic {
            pool: None,
            requesters: vec![EndpointId::new(1)],
            servers: vec![DeviceId::new(0)],
            arrivals: Arrivals::Poisson { rate: 1.0 },
            classes: vec![class(0.6, 2.0 / 3.0, 10), class(0.4, 0.5, 100)],
            control: Bytes::new(64),
            targets: Targets::Uniform,
            directories: Vec::new(),
            gap: SimDuration::ZERO,
            timeout: None,
            warm_up: SimDuration::ZERO,
            duration: None,
        };
        let drawn = |tenth: u32| {
            let (number, class, is_read) = traffic.class_at((f64::from(tenth) + 0.5) / 10.0);
            (number, class.size.get(), is_read)
        };
        let (first, second) = (|is_read| (0, 10, is_read), |is_read| (1, 100, is_read));
        let expected =
            [[first(true); 4].to_vec(), vec![first(false); 2], vec![second(true); 2], vec![second(false); 2]];
        assert_eq!((0..10).map(drawn).collect::<Vec<_>>(), expected.concat());
        // What rounding leaves is the last one's.
        assert_eq!(traffic.class_at(1.0 - f64::EPSILON).0, 1);
        // 0.6 x 10 + 0.4 x 100 bytes, and 0.4 + 0.2 of them read.
        assert!((traffic.read_share() - 0.6).abs() < 1e-12);
    }
}
