//! A volume whose requests wait in lanes, a lane a class of traffic.
//!
//! A lane's share is one of the volume's time, since requests of one size may take times that differ by a hundred: what a
//! request costs is known, and counted, when its turn comes. Seeks are those of the order in which requests are served.

use resilver_kernel::lanes::{LanePorts, LaneUse, Lanes, Service as Serving, Taken};
use resilver_units::{SimDuration, SimTime};

use crate::service::Server;
use crate::{Device, DeviceUse, Finished, Io, Queued, Service};

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
        let (mut time, seeks) = self.server.serve(request.io);
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
