//! How long requests take to serve: by a measured table, or a time of their own.

use std::sync::Arc;

use resilver_kernel::{Purpose, Stream};
use resilver_units::{ObjectId, SimDuration, SimTime};
use serde::Deserialize;

use crate::{Direction, DiskTable, Io, Operation, Pace};

/// Picoseconds in a second.
const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// How long a device takes for a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Service {
    /// By direction, size, and whether the request continues the one before it.
    Table(Arc<DiskTable>),
    /// The same for every request of a direction, whatever its size.
    Fixed {
        /// Of a read.
        read: SimDuration,
        /// Of a write.
        write: SimDuration,
    },
    /// Exponentially distributed, for comparison with the theory of queues.
    Exponential {
        /// The mean of a read.
        read: SimDuration,
        /// The mean of a write.
        write: SimDuration,
        /// Key of the draws: that of the system.
        #[serde(skip)]
        seed: u64,
    },
    /// By the operation, at a server of metadata; data takes no time there.
    Operations {
        /// Of each operation.
        times: OperationTimes,
        /// Whether times are exponentially distributed, with these means.
        is_exponential: bool,
        /// Key of the draws: that of the system.
        #[serde(skip)]
        seed: u64,
    },
}

/// How long each operation takes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationTimes {
    /// Of the attributes of a file.
    pub stat: SimDuration,
    /// Of an open.
    pub open: SimDuration,
    /// Of a new file.
    pub create: SimDuration,
    /// Of a removal.
    pub unlink: SimDuration,
}

impl OperationTimes {
    fn of(self, operation: Option<Operation>) -> SimDuration {
        match operation {
            None => SimDuration::ZERO,
            Some(Operation::Stat) => self.stat,
            Some(Operation::Open) => self.open,
            Some(Operation::Create) => self.create,
            Some(Operation::Unlink) => self.unlink,
        }
    }
}

/// The serving end of one device: it knows the request before.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    kind: Kind,
    /// The object of the request served last, and where that request ends.
    last: Option<(ObjectId, u64)>,
    /// How fast it works, where that is not always at speed 1.
    pace: Option<Box<Pace>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Table(Arc<DiskTable>),
    Fixed {
        read: SimDuration,
        write: SimDuration,
    },
    /// The means of both directions, and the draws, which are many words.
    Exponential {
        read: SimDuration,
        write: SimDuration,
        draws: Box<Stream>,
    },
    /// The means, and the draws where times are drawn.
    Operations {
        times: OperationTimes,
        draws: Option<Box<Stream>>,
    },
}

impl Server {
    /// The server of the device with this number.
    pub(crate) fn new(service: &Service, device: u64) -> Self {
        let kind = match service {
            Service::Table(table) => Kind::Table(Arc::clone(table)),
            &Service::Fixed { read, write } => Kind::Fixed { read, write },
            &Service::Exponential { read, write, seed } => {
                Kind::Exponential { read, write, draws: Box::new(draws_of(seed, device)) }
            }
            &Service::Operations { times, is_exponential, seed } => {
                let draws = is_exponential.then(|| Box::new(draws_of(seed, device)));
                Kind::Operations { times, draws }
            }
        };
        Server { kind, last: None, pace: None }
    }

    /// Sets how fast it works.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.pace = Some(pace).filter(|pace| !pace.is_plain()).map(Box::new);
    }

    /// The time that the next request takes when it is begun then, and whether it pays a seek.
    #[inline]
    pub(crate) fn serve(&mut self, begin: SimTime, io: Io) -> (SimDuration, bool) {
        let (work, seeks) = self.work(io);
        match &self.pace {
            None => (work, seeks),
            Some(pace) => (pace.time_for(begin, work), seeks),
        }
    }

    /// The time that the next request takes at speed 1, and whether it pays a seek.
    #[inline]
    fn work(&mut self, io: Io) -> (SimDuration, bool) {
        match &mut self.kind {
            Kind::Table(table) => {
                let is_sequential = match self.last {
                    Some((object, end)) => {
                        let gap = table.sequential_gap().get();
                        object == io.object && io.offset >= end && io.offset - end <= gap
                    }
                    None => false,
                };
                self.last = Some((io.object, io.offset + io.bytes.get()));
                (table.service_time(io.direction, io.bytes, is_sequential), !is_sequential)
            }
            Kind::Fixed { read, write } => (of_direction(io.direction, *read, *write), false),
            Kind::Exponential { read, write, draws } => {
                (exponential(of_direction(io.direction, *read, *write), draws), false)
            }
            Kind::Operations { times, draws } => {
                let time = times.of(io.operation);
                (draws.as_mut().map_or(time, |draws| exponential(time, draws)), false)
            }
        }
    }
}

/// The draws of a device's service times.
fn draws_of(seed: u64, device: u64) -> Stream {
    Stream::new(seed, device, Purpose::named("service"))
}

/// A drawn time with this mean.
#[inline]
fn exponential(mean: SimDuration, draws: &mut Stream) -> SimDuration {
    let mean = mean.seconds();
    let drawn = if mean > 0.0 { draws.exponential(mean) } else { 0.0 };
    SimDuration::from_picoseconds((drawn * PICOSECONDS_PER_SECOND).round() as u64)
}

fn of_direction(direction: Direction, read: SimDuration, write: SimDuration) -> SimDuration {
    match direction {
        Direction::Read => read,
        Direction::Write => write,
    }
}
