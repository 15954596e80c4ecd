//! A volume that serves reads before writes.
//!
//! A write that was acknowledged when its data had arrived keeps nobody waiting, while a read does, so the reads' queue is
//! emptied first (Mehech, "The Impact of Failures on Large Distributed Storage Systems" (2007), section 4.4). What is being
//! served is finished whatever comes.

use std::collections::VecDeque;

use resilver_units::{SimDuration, SimTime};

use crate::service::Server;
use crate::{Device, DeviceUse, Direction, Finished, Io, Pace, Queued, Service};

#[derive(Clone, Copy, Debug)]
struct Request {
    io: Io,
    tag: u64,
}

/// A volume that serves its reads in the order they come, and its writes in theirs while no read waits.
#[derive(Clone, Debug)]
pub struct ReadsFirst {
    server: Server,
    reads: VecDeque<Request>,
    writes: VecDeque<Request>,
    /// The tag of the request that is being served.
    serving: Option<u64>,
    idle_from: SimTime,
    has_failed: bool,
    /// Time that was counted when it failed and is not served.
    unserved: SimDuration,
    usage: DeviceUse,
}

impl ReadsFirst {
    /// An idle volume; `device` is its number, which its random draws go by where it has any.
    pub fn new(service: &Service, device: u64) -> Self {
        ReadsFirst {
            server: Server::new(service, device),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            serving: None,
            idle_from: SimTime::ZERO,
            has_failed: false,
            unserved: SimDuration::ZERO,
            usage: DeviceUse::default(),
        }
    }

    fn begin(&mut self, now: SimTime, request: Request) -> SimTime {
        let (mut time, seeks) = self.server.serve(now, request.io);
        if self.has_failed {
            // What is queued is over with in name only, so that nothing of it is left if the device is to work again.
            time = SimDuration::ZERO;
        }
        self.serving = Some(request.tag);
        self.idle_from = now + time;
        if !self.has_failed {
            self.usage.busy += time;
            self.usage.seeks += u64::from(seeks);
        }
        self.idle_from
    }

    /// Time that was counted as served and lies after `now`.
    fn ahead(&self, now: SimTime) -> SimDuration {
        if self.has_failed { SimDuration::ZERO } else { self.idle_from.max(now).since(now) }
    }
}

impl Device for ReadsFirst {
    fn submit(&mut self, now: SimTime, io: Io, tag: u64) -> Queued {
        self.usage.count(io);
        let request = Request { io, tag };
        if self.serving.is_none() {
            return Queued::Begins(self.begin(now, request));
        }
        match io.direction {
            Direction::Read => self.reads.push_back(request),
            Direction::Write => self.writes.push_back(request),
        }
        Queued::Waits
    }

    fn finish(&mut self, now: SimTime) -> Finished {
        let tag = self.serving.take().expect("a request was being served");
        let next = self.reads.pop_front().or_else(|| self.writes.pop_front());
        Finished { tag, next: next.map(|request| self.begin(now, request)) }
    }

    fn set_pace(&mut self, pace: Pace) {
        self.server.set_pace(pace);
    }

    fn fail(&mut self, now: SimTime) -> SimDuration {
        let ahead = self.ahead(now);
        self.has_failed = true;
        self.unserved = ahead;
        ahead
    }

    fn repair(&mut self, _now: SimTime) {
        self.usage.busy = self.usage.busy - std::mem::take(&mut self.unserved);
        self.has_failed = false;
    }

    fn usage(&self) -> DeviceUse {
        self.usage
    }

    fn busy_until(&self, now: SimTime) -> SimDuration {
        self.usage.busy - self.ahead(now)
    }
}

#[cfg(test)]
mod tests {
    use resilver_units::{Bytes, ObjectId};

    use super::*;

    const SERVICE: u64 = 22;

    fn volume() -> ReadsFirst {
        let time = SimDuration::from_picoseconds(SERVICE);
        ReadsFirst::new(&Service::Fixed { read: time, write: time }, 0)
    }

    fn io(direction: Direction) -> Io {
        Io { object: ObjectId::new(0), offset: 0, bytes: Bytes::new(10), direction, lane: 0 }
    }

    fn at(picoseconds: u64) -> SimTime {
        SimTime::from_picoseconds(picoseconds)
    }

    #[test]
    fn reads_pass_waiting_writes_but_not_the_one_being_served() {
        let mut volume = volume();
        assert_eq!(volume.submit(at(0), io(Direction::Write), 1), Queued::Begins(at(22)));
        assert_eq!(volume.submit(at(1), io(Direction::Write), 2), Queued::Waits);
        assert_eq!(volume.submit(at(2), io(Direction::Read), 3), Queued::Waits);
        assert_eq!(volume.submit(at(3), io(Direction::Read), 4), Queued::Waits);
        // The write that is being served, both reads in their order, then the other write: 22 ps each.
        assert_eq!(volume.finish(at(22)), Finished { tag: 1, next: Some(at(44)) });
        assert_eq!(volume.finish(at(44)), Finished { tag: 3, next: Some(at(66)) });
        assert_eq!(volume.finish(at(66)), Finished { tag: 4, next: Some(at(88)) });
        assert_eq!(volume.busy_until(at(70)), SimDuration::from_picoseconds(70));
        assert_eq!(volume.finish(at(88)), Finished { tag: 2, next: None });
        assert_eq!(volume.submit(at(100), io(Direction::Write), 5), Queued::Begins(at(122)));
        assert_eq!(volume.busy_until(at(110)), SimDuration::from_picoseconds(98));
        assert_eq!(volume.usage().requests, 5);
    }

    #[test]
    fn a_failed_volume_counts_no_more_time() {
        let mut volume = volume();
        volume.submit(at(0), io(Direction::Read), 1);
        volume.submit(at(0), io(Direction::Read), 2);
        // Ten of the 22 ps are served when it fails.
        assert_eq!(volume.fail(at(10)), SimDuration::from_picoseconds(12));
        volume.finish(at(22));
        volume.finish(at(44));
        assert_eq!(volume.usage().busy, SimDuration::from_picoseconds(22));
    }

    #[test]
    fn exponential_service_has_its_mean() {
        let mean = SimDuration::from_picoseconds(1_000_000);
        let mut server = Server::new(&Service::Exponential { read: mean, write: mean, seed: 1 }, 3);
        let count = 100_000;
        let total: u64 = (0..count).map(|_| server.serve(SimTime::ZERO, io(Direction::Read)).0.picoseconds()).sum();
        // The mean of n draws has the standard deviation mean / sqrt(n); five of them leave a false alarm of 6e-7.
        let reach = 5.0 * 1e6 / f64::from(count).sqrt();
        assert!((total as f64 / f64::from(count) - 1e6).abs() < reach);
    }
}
