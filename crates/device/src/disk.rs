//! A volume with one first-in-first-out queue.

use resilver_units::{SimDuration, SimTime};

use crate::service::Server;
use crate::{Device, DeviceUse, Finished, Io, Pace, Queued, Service};

/// A volume that serves its requests one by one, in the order they come.
///
/// The service time of a request depends only on the request before it, so its completion is known when it is queued,
/// and the queue needs no memory beyond the time at which it runs empty.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Disk {
    server: Server,
    idle_from: SimTime,
    /// Time that was counted when it failed and is not served.
    unserved: SimDuration,
    usage: DeviceUse,
}

impl Disk {
    /// An idle volume; `device` is its number, which its random draws go by where it has any.
    pub fn new(service: &Service, device: u64) -> Self {
        Disk {
            server: Server::new(service, device),
            idle_from: SimTime::ZERO,
            unserved: SimDuration::ZERO,
            usage: DeviceUse::default(),
        }
    }

    /// Time that was counted as served and lies after `now`.
    fn ahead(&self, now: SimTime) -> SimDuration {
        self.idle_from.max(now).since(now)
    }
}

impl Device for Disk {
    #[inline]
    fn submit(&mut self, now: SimTime, io: Io, _tag: u64) -> Queued {
        let begin = self.idle_from.max(now);
        let (time, seeks) = self.server.serve(begin, io);
        self.idle_from = begin + time;
        self.usage.busy += time;
        self.usage.seeks += u64::from(seeks);
        self.usage.count(io);
        Queued::Completes(self.idle_from)
    }

    fn finish(&mut self, _now: SimTime) -> Finished {
        unreachable!("a volume in the order of its requests tells each completion when it is queued")
    }

    fn set_pace(&mut self, pace: Pace) {
        self.server.set_pace(pace);
    }

    fn fail(&mut self, now: SimTime) -> SimDuration {
        self.unserved = self.ahead(now);
        self.unserved
    }

    fn repair(&mut self, now: SimTime) {
        self.usage.busy = self.usage.busy - std::mem::take(&mut self.unserved);
        self.idle_from = now;
    }

    fn usage(&self) -> DeviceUse {
        self.usage
    }

    fn busy_until(&self, now: SimTime) -> SimDuration {
        // Without a gap in the queue, all that was counted and not served lies between now and its end.
        self.usage.busy - self.ahead(now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_units::{Bytes, ObjectId};

    use super::*;
    use crate::Direction;
    use crate::table::tests::jbod;

    fn disk() -> Disk {
        Disk::new(&Service::Table(Arc::new(jbod())), 0)
    }

    fn io(object: u64, offset: u64, bytes: u64) -> Io {
        Io { object: ObjectId::new(object), offset, bytes: Bytes::new(bytes), direction: Direction::Read, lane: 0 }
    }

    fn completion(disk: &mut Disk, now: SimTime, io: Io) -> SimTime {
        match disk.submit(now, io, 0) {
            Queued::Completes(time) => time,
            other => panic!("{other:?} does not tell the completion"),
        }
    }

    #[test]
    fn requests_wait_for_those_before_them() {
        let mut disk = disk();
        let first = completion(&mut disk, SimTime::ZERO, io(1, 0, 4096));
        let second = completion(&mut disk, SimTime::ZERO, io(1, 4096, 4096));
        // The second continues the first: it takes overhead and transfer only, after the first is done.
        let alone = jbod().service_time(Direction::Read, Bytes::new(4096), true);
        assert_eq!(second, first + alone);
        assert_eq!(disk.busy_until(first), first.since(SimTime::ZERO));
        // An idle disk begins at once.
        let later = second + alone + alone;
        assert_eq!(completion(&mut disk, later, io(1, 8192, 4096)), later + alone);
        assert_eq!(disk.busy_until(later), second.since(SimTime::ZERO));
        assert_eq!(disk.usage().seeks, 1);
        assert_eq!(disk.usage().bytes_read.get(), 3 * 4096);
    }

    #[test]
    fn a_seek_is_paid_for_another_object_or_place() {
        let seeks = |next: Io| {
            let mut disk = disk();
            disk.submit(SimTime::ZERO, io(1, 0, 4096), 0);
            disk.submit(SimTime::ZERO, next, 0);
            disk.usage().seeks - 1
        };
        assert_eq!(seeks(io(1, 4096, 1)), 0);
        assert_eq!(seeks(io(1, 4096 + 512, 1)), 0);
        assert_eq!(seeks(io(1, 4096 + 513, 1)), 1);
        assert_eq!(seeks(io(1, 4095, 1)), 1);
        assert_eq!(seeks(io(2, 4096, 1)), 1);
    }
}
