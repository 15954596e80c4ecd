//! A volume with one first-in-first-out queue.

use std::sync::Arc;

use resilver_units::{ObjectId, SimTime};

use crate::{Device, DeviceUse, Direction, DiskTable, Io};

/// A volume that serves its requests one by one, in the order they come.
///
/// The service time of a request depends only on the request before it, so its completion is known when it is queued,
/// and the queue needs no memory beyond the time at which it runs empty.
#[derive(Clone, Debug)]
pub struct Disk {
    table: Arc<DiskTable>,
    idle_from: SimTime,
    /// The object of the request queued last, and where that request ends.
    last: Option<(ObjectId, u64)>,
    usage: DeviceUse,
}

impl Disk {
    /// An idle volume.
    pub fn new(table: Arc<DiskTable>) -> Self {
        Disk { table, idle_from: SimTime::ZERO, last: None, usage: DeviceUse::default() }
    }

    /// Whether a request continues the one before it.
    #[inline]
    fn is_sequential(&self, io: Io) -> bool {
        match self.last {
            Some((object, end)) => {
                let gap = self.table.sequential_gap().get();
                object == io.object && io.offset >= end && io.offset - end <= gap
            }
            None => false,
        }
    }
}

impl Device for Disk {
    #[inline]
    fn submit(&mut self, now: SimTime, io: Io) -> SimTime {
        let sequential = self.is_sequential(io);
        let service = self.table.service_time(io.direction, io.bytes, sequential);
        self.last = Some((io.object, io.offset + io.bytes.get()));
        self.idle_from = self.idle_from.max(now) + service;
        self.usage.busy += service;
        self.usage.requests += 1;
        self.usage.seeks += u64::from(!sequential);
        match io.direction {
            Direction::Read => self.usage.bytes_read += io.bytes,
            Direction::Write => self.usage.bytes_written += io.bytes,
        }
        self.idle_from
    }

    fn usage(&self) -> DeviceUse {
        self.usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::jbod;
    use resilver_units::Bytes;

    fn io(object: u64, offset: u64, bytes: u64) -> Io {
        Io { object: ObjectId::new(object), offset, bytes: Bytes::new(bytes), direction: Direction::Read }
    }

    #[test]
    fn requests_wait_for_those_before_them() {
        let mut disk = Disk::new(Arc::new(jbod()));
        let first = disk.submit(SimTime::ZERO, io(1, 0, 4096));
        let second = disk.submit(SimTime::ZERO, io(1, 4096, 4096));
        // The second continues the first: it takes overhead and transfer only, after the first is done.
        let alone = jbod().service_time(Direction::Read, Bytes::new(4096), true);
        assert_eq!(second, first + alone);
        // An idle disk begins at once.
        let later = second + alone + alone;
        assert_eq!(disk.submit(later, io(1, 8192, 4096)), later + alone);
        assert_eq!(disk.usage().seeks, 1);
        assert_eq!(disk.usage().bytes_read.get(), 3 * 4096);
    }

    #[test]
    fn a_seek_is_paid_for_another_object_or_place() {
        let seeks = |next: Io| {
            let mut disk = Disk::new(Arc::new(jbod()));
            disk.submit(SimTime::ZERO, io(1, 0, 4096));
            disk.submit(SimTime::ZERO, next);
            disk.usage().seeks - 1
        };
        assert_eq!(seeks(io(1, 4096, 1)), 0);
        assert_eq!(seeks(io(1, 4096 + 512, 1)), 0);
        assert_eq!(seeks(io(1, 4096 + 513, 1)), 1);
        assert_eq!(seeks(io(1, 4095, 1)), 1);
        assert_eq!(seeks(io(2, 4096, 1)), 1);
    }
}
