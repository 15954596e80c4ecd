//! An OSD: the shards of its queue, its device, and the window of objects it drives; and the ports of hosts.

use std::collections::VecDeque;

use resilver_kernel::{Purpose, Schedule, Stream};
use resilver_units::SimTime;

use super::clients::Clients;
use super::objects::{Device, Source};
use super::{Happening, State, duration};
use crate::input::{DeviceLaw, OsdInput};
use crate::plane::law;
use crate::plane::queue::{Next, ShardQueue};
use crate::settings::OsdSettings;

/// One queue of an OSD and the threads that serve it.
#[derive(Debug)]
pub(super) struct Shard {
    pub queue: ShardQueue,
    /// Threads that serve a request.
    pub busy: u32,
    /// When it is to be looked at again, because limits hold back all that waits.
    pub wake: Option<SimTime>,
}

/// An OSD.
#[derive(Debug)]
pub(super) struct Osd {
    pub device: DeviceLaw,
    pub settings: OsdSettings,
    /// Whose ports it uses.
    pub port: (i32, u32),
    pub shards: Vec<Shard>,
    draws: Stream,
    /// Requests that the device serves, and those that wait for it.
    serving: u32,
    waiting: VecDeque<u32>,
    /// Objects under way of which it is primary, and the works whose turn comes.
    pub active: u32,
    pub turn: VecDeque<u32>,
    /// When the last item that sleeps will have slept.
    pub sleeps_until: SimTime,
    pub clients: Clients,
    pub read_bytes: f64,
    pub written_bytes: f64,
    pub busy_seconds: f64,
    /// Seconds of service of its device since the clients were last asked for, all requests counted.
    pub all_seconds: f64,
}

/// The two ports of a host: until when each is taken.
#[derive(Debug, Default)]
pub(super) struct Ports {
    out: SimTime,
    into: SimTime,
}

impl State {
    pub fn osd_mut(&mut self, osd: u32) -> &mut Osd {
        self.osds[osd as usize].as_mut().expect("an OSD is set before it is used")
    }

    pub fn osd(&self, osd: u32) -> &Osd {
        self.osds[osd as usize].as_ref().expect("an OSD is set before it is used")
    }

    /// Adds an OSD, or gives it other settings.
    pub fn set_osd(&mut self, schedule: &mut Schedule<Happening>, input: &OsdInput, settings: &OsdSettings) {
        let index = input.id as usize;
        if index >= self.osds.len() {
            self.osds.resize_with(index + 1, || None);
        }
        let seed = self.seed;
        let port = if input.host < 0 { (-1, input.id) } else { (input.host, 0) };
        let osd = self.osds[index].get_or_insert_with(|| Osd {
            device: input.device,
            settings: settings.clone(),
            port,
            shards: Vec::new(),
            draws: Stream::new(seed, u64::from(input.id), Purpose::named("wpq")),
            serving: 0,
            waiting: VecDeque::new(),
            active: 0,
            turn: VecDeque::new(),
            sleeps_until: SimTime::ZERO,
            clients: Clients::new(seed, input.id),
            read_bytes: 0.0,
            written_bytes: 0.0,
            busy_seconds: 0.0,
            all_seconds: 0.0,
        });
        (osd.device, osd.settings, osd.port) = (input.device, settings.clone(), port);
        let now = schedule.now().seconds();
        osd.shards.iter_mut().for_each(|shard| shard.queue.set(now, settings));
        // A shard that is no longer used serves what it has.
        while osd.shards.len() < settings.osd_op_num_shards.max(1) as usize {
            osd.shards.push(Shard { queue: ShardQueue::new(settings), busy: 0, wake: None });
        }
        for shard in 0..osd.shards.len() as u32 {
            self.serve(schedule, input.id, shard);
        }
        self.start_objects(schedule, input.id);
    }

    /// Puts a request into the queue of its shard.
    pub fn enqueue(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let queue = &mut self.osd_mut(asked.osd).shards[asked.shard as usize].queue;
        match asked.class {
            Some(class) => queue.push(schedule.now().seconds(), class, request, asked.cost),
            None => queue.push_immediate(request),
        }
        self.serve(schedule, asked.osd, asked.shard);
    }

    /// Lets the free threads of a shard take what its queue gives.
    pub fn serve(&mut self, schedule: &mut Schedule<Happening>, osd_id: u32, index: u32) {
        loop {
            let osd = self.osd_mut(osd_id);
            let shard = &mut osd.shards[index as usize];
            if shard.busy >= osd.settings.osd_op_num_threads_per_shard.max(1) {
                return;
            }
            let now = schedule.now();
            match shard.queue.pop(now.seconds(), &mut osd.draws) {
                Next::Item(request) => self.execute_request(schedule, request),
                Next::At(due) => {
                    // A tag is a time in seconds, rounded to picoseconds: one later, it has passed for certain.
                    let due = (SimTime::ZERO + duration(due)).max(now) + duration(1e-12);
                    if shard.wake.is_none_or(|wake| due < wake || wake < now) {
                        shard.wake = Some(due);
                        schedule.at(due, Happening::Wake { osd: osd_id, shard: index });
                    }
                    return;
                }
                Next::Empty => return,
            }
        }
    }

    /// Gives a request to its device; it holds a thread of its shard meanwhile, if it came through it.
    pub fn submit(&mut self, schedule: &mut Schedule<Happening>, request: u32, threaded: bool) {
        let asked = &mut self.requests[request as usize];
        asked.threaded = threaded;
        let (osd, shard) = (asked.osd, asked.shard);
        let osd = self.osd_mut(osd);
        if threaded {
            osd.shards[shard as usize].busy += 1;
        }
        if osd.serving < osd.device.channels.max(1) {
            self.begin_service(schedule, request);
        } else {
            osd.waiting.push_back(request);
        }
    }

    /// Takes a request onto a free channel.
    fn begin_service(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let osd = self.osd_mut(asked.osd);
        let Device { write, bytes, times } = asked.device;
        let one = if write { osd.device.write(bytes) } else { osd.device.read(bytes) };
        let (seconds, bytes) = (one * f64::from(times), bytes * f64::from(times));
        let share = seconds / f64::from(osd.device.channels.max(1));
        osd.serving += 1;
        osd.all_seconds += share;
        if matches!(asked.source, Source::Object(_)) {
            osd.busy_seconds += share;
            *if write { &mut osd.written_bytes } else { &mut osd.read_bytes } += bytes;
        }
        schedule.after(duration(seconds), Happening::Served(request));
    }

    /// A device is done with a request: the next takes its channel, and its thread takes the next of the queue.
    pub fn served(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let osd = self.osd_mut(asked.osd);
        osd.serving -= 1;
        if osd.serving < osd.device.channels.max(1)
            && let Some(next) = osd.waiting.pop_front()
        {
            self.begin_service(schedule, next);
        }
        if asked.threaded {
            self.osd_mut(asked.osd).shards[asked.shard as usize].busy -= 1;
        }
        self.after_service(schedule, request);
        if asked.threaded {
            self.serve(schedule, asked.osd, asked.shard);
        }
    }

    /// Sends a request as a message of so many bytes to where it is served next; within a host that takes no time.
    pub fn send(&mut self, schedule: &mut Schedule<Happening>, from: u32, request: u32, bytes: f64) {
        let (here, there) = (self.osd(from).port, self.osd(self.requests[request as usize].osd).port);
        let now = schedule.now();
        if here == there {
            schedule.at(now, Happening::Came(request));
            return;
        }
        let latency = duration(self.network.latency_seconds);
        if bytes == 0.0 {
            schedule.after(latency, Happening::Came(request));
            return;
        }
        let length = duration(bytes / self.network.host_bytes_per_second);
        let port = self.ports.entry(here).or_default();
        let begins = port.out.max(now);
        port.out = begins + length;
        self.requests[request as usize].wire = bytes;
        schedule.at(begins + latency, Happening::Reaches(request));
    }

    /// The first byte of a message is at the port of its receiver, who takes messages one after the other.
    pub fn reaches(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let length = duration(asked.wire / self.network.host_bytes_per_second);
        let port = self.ports.entry(self.osd(asked.osd).port).or_default();
        port.into = port.into.max(schedule.now()) + length;
        let there = port.into;
        schedule.at(there, Happening::Came(request));
    }

    /// The shard of an OSD that a group's requests wait in.
    pub fn shard_of(&self, osd: u32, group: u64) -> u32 {
        law::shard(&self.osd(osd).settings, group)
    }
}
