//! A volume whose requests wait in lanes, a lane a class of traffic.
//!
//! A lane's share is one of the volume's time, since requests of one size may take times that differ by a hundred: what a
//! request costs is known, and counted, when its turn comes. Seeks are those of the order in which requests are served.

use resilver_kernel::lanes::{LanePorts, LaneUse, Lanes, Service as Serving, Taken};
use resilver_units::{SimDuration, SimTime};

use crate::service::Server;
use crate::{Device, DeviceUse, Finished, Io, Pace, Queued, Service};

/// The one port of a volume.
const PORT: u32 = 0;

/// A request that waits, or a place for one.
#[derive(Clone, Copy, Debug)]
struct Request {
    io: Io,
    tag: u64,
}

/// A volume that serves its lanes by their shares or their priority, each in the order in which its requests come.
#[derive(Clone, Debug)]
pub struct LaneDisk {
    server: Server,
    port: LanePorts,
    requests: Vec<Request>,
    /// Places in `requests` that are free.
    free: Vec<u32>,
    /// The tag of the request that is being served.
    serving: Option<u64>,
    idle_from: SimTime,
    has_failed: bool,
    /// Time that was counted when it failed and is not served.
    unserved: SimDuration,
    usage: DeviceUse,
}

impl LaneDisk {
    /// An idle volume with these lanes; `device` is its number, which its random draws go by where it has any.
    ///
    /// # Panics
    /// When [`Lanes::check`] refuses the lanes.
    pub fn new(service: &Service, device: u64, lanes: &Lanes) -> Self {
        LaneDisk {
            server: Server::new(service, device),
            port: LanePorts::new(1, lanes),
            requests: Vec::new(),
            free: Vec::new(),
            serving: None,
            idle_from: SimTime::ZERO,
            has_failed: false,
            unserved: SimDuration::ZERO,
            usage: DeviceUse::default(),
        }
    }

    /// Keeps a request that has to wait; returns its place.
    fn keep(&mut self, request: Request) -> u32 {
        if let Some(place) = self.free.pop() {
            self.requests[place as usize] = request;
            return place;
        }
        self.requests.push(request);
        u32::try_from(self.requests.len() - 1).expect("2^32 requests exceed any memory")
    }

    fn begin(&mut self, now: SimTime, request: Request, lane: usize) -> SimTime {
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
            let (cost, bytes) = (time.picoseconds(), request.io.bytes.get());
            self.port.begin(PORT, lane, Serving { start: now, end: self.idle_from, cost, bytes });
        }
        self.idle_from
    }

    /// Time that was counted as served and lies after `now`.
    fn ahead(&self, now: SimTime) -> SimDuration {
        if self.has_failed { SimDuration::ZERO } else { self.idle_from.max(now).since(now) }
    }
}

impl Device for LaneDisk {
    fn submit(&mut self, now: SimTime, io: Io, tag: u64) -> Queued {
        self.usage.count(io);
        let (request, lane) = (Request { io, tag }, self.port.lane(io.lane));
        if self.serving.is_none() {
            self.port.pass(PORT, lane);
            return Queued::Begins(self.begin(now, request, lane));
        }
        let place = self.keep(request);
        self.port.push(now, PORT, lane, place);
        Queued::Waits
    }

    fn finish(&mut self, now: SimTime) -> Finished {
        let tag = self.serving.take().expect("a request was being served");
        let Some(Taken { unit, lane }) = self.port.take(now, PORT) else { return Finished { tag, next: None } };
        self.free.push(unit);
        Finished { tag, next: Some(self.begin(now, self.requests[unit as usize], lane)) }
    }

    fn set_pace(&mut self, pace: Pace) {
        self.server.set_pace(pace);
    }

    fn fail(&mut self, now: SimTime) -> SimDuration {
        let ahead = self.ahead(now);
        self.has_failed = true;
        self.unserved = ahead;
        self.port.cut(now, PORT);
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

    fn begin_statistics(&mut self, now: SimTime) {
        self.port.begin_statistics(now);
    }

    fn lane_uses(&self, now: SimTime) -> Vec<LaneUse> {
        self.port.uses(now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_kernel::{Purpose, Stream};
    use resilver_units::{Bytes, ObjectId};

    use super::*;
    use crate::table::tests::jbod;
    use crate::{Direction, Disk};

    fn at(picoseconds: u64) -> SimTime {
        SimTime::from_picoseconds(picoseconds)
    }

    /// A volume of 22 ps a request, with these shares.
    fn volume(fractions: &[f64]) -> LaneDisk {
        let time = SimDuration::from_picoseconds(22);
        LaneDisk::new(&Service::Fixed { read: time, write: time }, 0, &Lanes::of_shares(fractions).unwrap())
    }

    fn io(lane: u8) -> Io {
        Io { object: ObjectId::new(0), offset: 0, bytes: Bytes::new(10), direction: Direction::Read, lane }
    }

    /// Finishes what is left; returns (tag, time) in order.
    fn drain(volume: &mut LaneDisk, mut end: SimTime) -> Vec<(u64, u64)> {
        let mut finished = Vec::new();
        loop {
            let Finished { tag, next } = volume.finish(end);
            finished.push((tag, end.picoseconds()));
            match next {
                Some(time) => end = time,
                None => return finished,
            }
        }
    }

    #[test]
    fn a_lane_that_comes_back_is_next_behind_the_request_being_served() {
        let mut volume = volume(&[0.9, 0.1]);
        assert_eq!(volume.submit(at(0), io(1), 0), Queued::Begins(at(22)));
        for tag in 1..4 {
            assert_eq!(volume.submit(at(0), io(1), tag), Queued::Waits);
        }
        assert_eq!(volume.finish(at(22)), Finished { tag: 0, next: Some(at(44)) });
        assert_eq!(volume.submit(at(30), io(0), 9), Queued::Waits);
        assert_eq!(drain(&mut volume, at(44)), [(1, 44), (9, 66), (2, 88), (3, 110)]);
        let [clients, rebuild] = &volume.lane_uses(at(110))[..] else { panic!("two lanes") };
        assert_eq!((clients.units, clients.waited_picoseconds, clients.busy_picoseconds), (1, 14, 22));
        // 22, then twice 44 and more: the third waited until 66, the fourth until 88.
        assert_eq!((rebuild.units, rebuild.waited_picoseconds, rebuild.busy_picoseconds), (4, 22 + 66 + 88, 88));
        // Lane 0 lent nine tenths of all four requests of 10 B, as it waited during none of their beginnings.
        assert_eq!(clients.lent_bytes[1], Bytes::new(36));
    }

    #[test]
    fn lanes_share_time_and_not_requests() {
        // Writes of lane 1 take ten times as long as reads of lane 0: at equal shares ten reads go with one write.
        let [read, write] = [10, 100].map(SimDuration::from_picoseconds);
        let lanes = Lanes::of_shares(&[0.5, 0.5]).unwrap();
        let mut volume = LaneDisk::new(&Service::Fixed { read, write }, 0, &lanes);
        let first = volume.submit(at(0), io(0), 0);
        assert_eq!(first, Queued::Begins(at(10)));
        for tag in 1..3000 {
            volume.submit(at(0), io(0), tag);
        }
        for tag in 3000..3300 {
            volume.submit(at(0), Io { direction: Direction::Write, ..io(1) }, tag);
        }
        let finished = drain(&mut volume, at(10));
        let writes = finished.iter().filter(|&&(tag, time)| tag >= 3000 && time <= 40_000).count();
        // Half of 40,000 ps are 200 writes; one more or less may be under way.
        assert!(writes.abs_diff(200) <= 1, "{writes}");
    }

    #[test]
    fn each_lane_gets_its_share_while_all_wait() {
        for fractions in [vec![0.9, 0.1], vec![0.25, 0.75], vec![0.6, 0.3, 0.1]] {
            let mut volume = volume(&fractions);
            let lanes = fractions.len() as u8;
            for tag in 0..6000 {
                volume.submit(at(0), io((tag % u64::from(lanes)) as u8), tag);
            }
            // All lanes wait for as long as the largest share takes a lane's 2,000 requests or more.
            let finished = drain(&mut volume, at(22));
            for (lane, &share) in fractions.iter().enumerate() {
                let of_lane =
                    finished[..2000].iter().filter(|&&(tag, _)| tag % u64::from(lanes) == lane as u64).count();
                assert!(
                    (of_lane as f64 / 2000.0 / share - 1.0).abs() < 0.01,
                    "{fractions:?}: lane {lane} has {of_lane}"
                );
            }
        }
    }

    #[test]
    fn requests_of_one_lane_are_served_as_by_a_volume_without_lanes() {
        let service = Service::Table(Arc::new(jbod()));
        let lanes = Lanes::of_shares(&[0.6, 0.3, 0.1]).unwrap();
        let (mut plain, mut laned) = (Disk::new(&service, 0), LaneDisk::new(&service, 0, &lanes));
        let mut draws = Stream::new(3, 0, Purpose::named("requests"));
        let (mut expected, mut completed, mut next) = (Vec::new(), Vec::new(), None);
        let mut now = 0;
        for tag in 0..500 {
            now += draws.below(20_000_000_000);
            while let Some(end) = next.filter(|&end| end <= at(now)) {
                let finished = laned.finish(end);
                completed.push((finished.tag, end));
                next = finished.next;
            }
            let direction = [Direction::Read, Direction::Write][draws.below(2) as usize];
            let (object, offset) = (ObjectId::new(draws.below(3)), draws.below(4) * 4096);
            let io = Io { object, offset, bytes: Bytes::new(4096), direction, lane: 2 };
            let Queued::Completes(end) = plain.submit(at(now), io, tag) else { panic!("it tells each completion") };
            expected.push((tag, end));
            if let Queued::Begins(end) = laned.submit(at(now), io, tag) {
                next = Some(end);
            }
            assert_eq!(laned.busy_until(at(now)), plain.busy_until(at(now)));
        }
        while let Some(end) = next {
            let finished = laned.finish(end);
            completed.push((finished.tag, end));
            next = finished.next;
        }
        assert_eq!(completed, expected);
        assert_eq!(laned.usage(), plain.usage());
        // The order of service is the order of coming, and so are the seeks.
        assert!(plain.usage().seeks > 300, "{} seeks", plain.usage().seeks);
    }

    #[test]
    fn a_failed_volume_counts_no_more_time_and_a_repaired_one_begins_anew() {
        let mut volume = volume(&[0.5, 0.5]);
        volume.submit(at(0), io(0), 1);
        volume.submit(at(0), io(1), 2);
        // Ten of the 22 ps are served when it fails; the other request is over with in name only.
        assert_eq!(volume.fail(at(10)), SimDuration::from_picoseconds(12));
        assert_eq!(volume.finish(at(22)), Finished { tag: 1, next: Some(at(22)) });
        assert_eq!(volume.finish(at(22)), Finished { tag: 2, next: None });
        volume.repair(at(50));
        assert_eq!(volume.submit(at(60), io(1), 3), Queued::Begins(at(82)));
        assert_eq!(volume.finish(at(82)), Finished { tag: 3, next: None });
        assert_eq!(volume.usage().busy, SimDuration::from_picoseconds(32));
        let uses = volume.lane_uses(at(100));
        assert_eq!([&uses[0], &uses[1]].map(|lane| (lane.units, lane.busy_picoseconds)), [(1, 10), (1, 22)]);
    }
}
