//! How long requests take to serve: by a measured table, or a time of their own.

use std::sync::Arc;

use resilver_kernel::{Purpose, Stream};
use resilver_units::{ObjectId, SimDuration};

use crate::{Direction, DiskTable, Io};

/// Picoseconds in a second.
const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// How long a device takes for a request.
#[derive(Clone, Debug)]
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
        /// Key of the draws.
        seed: u64,
    },
}

/// The serving end of one device: it knows the request before.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    kind: Kind,
    /// The object of the request served last, and where that request ends.
    last: Option<(ObjectId, u64)>,
}

#[derive(Clone, Debug)]
enum Kind {
    Table(Arc<DiskTable>),
    Fixed { read: SimDuration, write: SimDuration },
    Exponential { read: SimDuration, write: SimDuration, draws: Stream },
}

impl Server {
    /// The server of the device with this number.
    pub(crate) fn new(service: &Service, device: u64) -> Self {
        let kind = match service {
            Service::Table(table) => Kind::Table(Arc::clone(table)),
            &Service::Fixed { read, write } => Kind::Fixed { read, write },
            &Service::Exponential { read, write, seed } => {
                Kind::Exponential { read, write, draws: Stream::new(seed, device, Purpose::named("service")) }
            }
        };
        Server { kind, last: None }
    }

    /// The time that the next request takes, and whether it pays a seek.
    #[inline]
    pub(crate) fn serve(&mut self, io: Io) -> (SimDuration, bool) {
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
