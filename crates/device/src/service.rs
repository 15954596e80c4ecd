//! How long requests take to serve: by a measured table, or a time of their own.

use std::sync::Arc;

use resilver_kernel::{Purpose, Stream};
use resilver_units::{ObjectId, SimDuration, SimTime};
use serde::Deserialize;

use crate::{Direction, DiskTable, Io, Pace};

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
}

impl Server {
    /// The server of the device with this number.
    pub(crate) fn new(service: &Service, device: u64) -> Self {
        let kind = match service {
            Service::Table(table) => Kind::Table(Arc::clone(table)),
            &Service::Fixed { read, write } => Kind::Fixed { read, write },
            &Service::Exponential { read, write, seed } => {
                let draws = Box::new(Stream::new(seed, device, Purpose::named("service")));
                Kind::Exponential { read, write, draws }
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
                let mean = of_direction(io.direction, *read, *write).seconds();
                let drawn = if mean > 0.0 { draws.exponential(mean) } else { 0.0 };
                (SimDuration::from_picoseconds((drawn * PICOSECONDS_PER_SECOND).round() as u64), false)
            }
        }
    }
}

fn of_direction(direction: Direction, read: SimDuration, write: SimDuration) -> SimDuration {
    match direction {
        Direction::Read => read,
        Direction::Write => write,
    }
}
