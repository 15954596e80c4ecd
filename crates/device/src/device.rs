//! A storage device: a volume with one queue, or one a lane.

use resilver_kernel::lanes::{LaneUse, Lanes, Service as Serving};
use resilver_units::{SimDuration, SimTime};

use crate::queue::{PORT, Queue, Request};
use crate::service::Server;
use crate::{DeviceUse, Direction, Discipline, Finished, Io, Pace, Queued, Service};

/// A volume that serves its requests one by one.
///
/// Where they are served in the order they come, the service time of a request depends only on the request before it: its completion is
/// known when it is queued, and the queue needs no memory beyond the time at which it runs empty. Elsewhere requests wait, in lanes that
/// are served by their shares or their priority. A lane's share is one of the volume's time, since requests of one size may take times
/// that differ by a hundred: what a request costs is known, and counted, when its turn comes. Seeks are those of the order of service.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Device {
    server: Server,
    /// When it is done with what it serves, and with all that is queued where that is known.
    idle_from: SimTime,
    has_failed: bool,
    usage: DeviceUse,
    /// What waits, where the order of service is not the order of coming.
    queue: Option<Box<Queue>>,
}

impl Device {
    /// An idle volume with these lanes, where it has any; `number` is its own, which its random draws go by where it has any.
    ///
    /// # Panics
    /// When [`Lanes::check`] refuses the lanes.
    pub fn new(service: &Service, number: u64, discipline: Discipline, lanes: Option<&Lanes>) -> Self {
        let queue = match (discipline, lanes) {
            (Discipline::Fifo, None) => None,
            (_, lanes) => Some(Box::new(Queue::new(discipline, lanes.unwrap_or(&Lanes::single())))),
        };
        Device {
            server: Server::new(service, number),
            idle_from: SimTime::ZERO,
            has_failed: false,
            usage: DeviceUse::default(),
            queue,
        }
    }

    /// Queues a request at time `now`, with a tag that [`Device::finish`] gives back.
    ///
    /// Calls come in the order of simulated time.
    #[inline]
    pub fn submit(&mut self, now: SimTime, io: Io, tag: u64) -> Queued {
        self.usage.requests += 1;
        match io.direction {
            Direction::Read => self.usage.bytes_read += io.bytes,
            Direction::Write => self.usage.bytes_written += io.bytes,
        }
        if self.queue.is_some() {
            return self.submit_to_lane(now, io, tag);
        }
        let begin = self.idle_from.max(now);
        let (time, seeks) = self.server.serve(begin, io);
        self.idle_from = begin + time;
        if !self.has_failed {
            self.usage.busy += time;
            self.usage.seeks += u64::from(seeks);
        }
        Queued::Completes(self.idle_from)
    }

    fn submit_to_lane(&mut self, now: SimTime, io: Io, tag: u64) -> Queued {
        let request = Request { io, tag, is_void: self.has_failed };
        let queue = self.queue.as_mut().expect("it has lanes");
        let lane = queue.port.lane(io.lane);
        if queue.serving.is_some() {
            queue.push(now, request, lane);
            return Queued::Waits;
        }
        queue.port.pass(PORT, lane);
        Queued::Begins(self.begin(now, request, lane))
    }

    fn begin(&mut self, now: SimTime, request: Request, lane: usize) -> SimTime {
        let queue = self.queue.as_mut().expect("it has lanes");
        queue.serving = Some(request.tag);
        let (time, seeks) = self.server.serve(now, request.io);
        if request.is_void {
            // Over with in name only, so that nothing of it is left if the device is to work again.
            return now;
        }
        self.idle_from = now + time;
        self.usage.busy += time;
        self.usage.seeks += u64::from(seeks);
        let (cost, bytes) = (time.picoseconds(), request.io.bytes.get());
        queue.port.begin(PORT, lane, Serving { start: now, end: self.idle_from, cost, bytes });
        self.idle_from
    }

    /// Finishes the request that is being served, at the time that was given when it was begun.
    ///
    /// # Panics
    /// When none is being served, or the device knows all its completions in advance.
    pub fn finish(&mut self, now: SimTime) -> Finished {
        let queue = self.queue.as_mut().expect("a request waited for its completion");
        let tag = queue.serving.take().expect("a request was being served");
        let next = queue.take(now);
        Finished { tag, next: next.map(|(request, lane)| self.begin(now, request, lane)) }
    }

    /// When the device is done with what it serves, and with all that is queued where that is known.
    pub fn idle_from(&self) -> SimTime {
        self.idle_from
    }

    /// The tag of what is being served, where requests wait for their turn.
    pub fn serving(&self) -> Option<u64> {
        self.queue.as_ref().and_then(|queue| queue.serving)
    }

    /// Sets how fast the device works, before it is given its first request.
    pub fn set_pace(&mut self, pace: Pace) {
        self.server.set_pace(pace);
    }

    /// Counts the requests that pass those of a class of traffic, where the order of service lets them do so for ever.
    pub fn watch(&mut self, class: u8) {
        if let Some(queue) = &mut self.queue {
            queue.watch(class);
        }
    }

    /// How many requests in a row passed those of the watched class that wait, though they came after them.
    pub fn passed(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.passed())
    }

    /// The device fails: what is queued goes on in name only, and counts no more as time that it served.
    pub fn fail(&mut self, now: SimTime) {
        self.usage.busy = self.busy_until(now);
        self.has_failed = true;
        if let Some(queue) = &mut self.queue {
            queue.fail(now);
        }
    }

    /// The device works again: what was in its queue when it failed is not served.
    pub fn repair(&mut self, now: SimTime) {
        self.has_failed = false;
        self.idle_from = now;
    }

    /// What the device did so far, with the data of requests in the queue, and the time of those that were counted.
    pub fn usage(&self) -> DeviceUse {
        self.usage
    }

    /// The time that the device served requests until `now`.
    pub fn busy_until(&self, now: SimTime) -> SimDuration {
        // Without a gap in the queue, all that was counted and not served lies between now and its end.
        let ahead = if self.has_failed { SimDuration::ZERO } else { self.idle_from.max(now).since(now) };
        self.usage.busy - ahead
    }

    /// Statistics of lanes begin anew: what is being served is shared out.
    pub fn begin_statistics(&mut self, now: SimTime) {
        if let Some(queue) = &mut self.queue {
            queue.port.begin_statistics(now);
        }
    }

    /// What each lane did from the beginning of its statistics to `now`; nothing where there is one for all.
    pub fn lane_uses(&self, now: SimTime) -> Vec<LaneUse> {
        let several = self.queue.as_ref().filter(|queue| queue.port.lanes() > 1);
        several.map_or(Vec::new(), |queue| queue.port.uses(now))
    }
}

#[cfg(test)]
mod tests;
