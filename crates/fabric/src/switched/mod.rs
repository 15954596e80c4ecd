//! A fabric of packets on links and switches, on any topology.
//!
//! A message is cut into packets. Each node a packet comes to chooses its next channel; there it waits until all that came
//! before have been sent, is sent in (payload + overhead) / rate, and reaches the next node after the link's latency. A node
//! that passes it on first takes the switch latency. So a packet alone takes h (t + latency) + (h - 1) switch latency over h
//! hops. Under cut-through a node passes on what has come in as soon as that is the head, and only the last hop takes all
//! of t; a packet keeps each channel busy for at least as long as it did the one before, since it comes in no faster.
//! The model is that of Thomasian and Liu's and later studies of network storage: crossbar switches whose only queues are
//! those of the outgoing ports.
//!
//! **Two paths.** A port that serves packets in their order needs no list of them: the time at which it is free again says
//! when the next one begins, and with it when that arrives. So each hop is one event (the fast path, `Queues::Implicit`).
//! A port of several lanes keeps lists, and has an event of its own for each packet that waited (the plain path,
//! `Queues::Explicit`). A test holds both equal. All that a port counts, and the time when it is free of what has come so
//! far, are the same code in both: it sends whenever something waits, so that time does not depend on the order.

mod event;
mod faults;
mod packet;
mod parameters;
mod ports;
mod report;
mod route;

pub use event::{Fate, SwitchedEvent};
pub use parameters::{Forwarding, Queues, Routing, SwitchedError, SwitchedParameters};
pub use report::{ChannelUse, Conservation, Dropped, NetworkUse};

use std::sync::Arc;

use resilver_kernel::prefetch;
use resilver_units::{Bytes, SimDuration, SimTime, TimePerByte};

use self::packet::{HOP_LIMIT, LANE_LIMIT, NEVER, Packet, Packets, Transit, Transits};
use self::ports::Ports;
use self::report::{Baseline, Counters};
use crate::topology::Topology;
use crate::{Component, Fabric, Message, Notice};

/// The head of a packet by which a node knows where it goes, beside the overhead.
const HEAD_BYTES: u32 = 64;

/// How many channels lie between those that are fetched, so that each cache line of 64 B is met.
const LINES_AHEAD: usize = 2;
/// Most channels of a node that are fetched.
const FETCHED_MAX: usize = 6;

/// What a packet's way over a channel depends on, and what is counted of it: half a cache line, all that a hop touches.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Line {
    /// When all that has come so far will have been sent, in picoseconds; [`NEVER`] while it does not work.
    free_at: u64,
    /// Picoseconds of sending, what waits included.
    busy: u64,
    bytes: u64,
    /// Packets that came, modulo 2^32.
    packets: u32,
    /// Those among them that had to wait, modulo 2^32.
    queued: u32,
}

impl Line {
    #[inline]
    fn is_failed(self) -> bool {
        self.free_at == NEVER
    }
}

/// How often 2^32 packets came to each channel, and had to wait there; empty until one did.
#[derive(Clone, Debug, Default)]
struct Carries(Vec<[u64; 2]>);

impl Carries {
    #[cold]
    fn add(&mut self, channel: u32, is_queued: bool) {
        if self.0.len() <= channel as usize {
            self.0.resize(channel as usize + 1, [0; 2]);
        }
        self.0[channel as usize][usize::from(is_queued)] += 1;
    }

    fn of(&self, channel: usize) -> [u64; 2] {
        self.0.get(channel).copied().unwrap_or_default()
    }
}

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug)]
enum Cause {
    NoLink,
    HopLimit,
    Cut,
}

/// A network of links and switches that carries packets.
#[derive(Clone, Debug)]
pub struct Switched {
    topology: Arc<Topology>,
    lines: Vec<Line>,
    carries: Carries,
    rates: Vec<TimePerByte>,
    packets: Packets,
    transits: Transits,
    /// The lists of the plain path.
    ports: Option<Ports>,
    /// How long each packet kept its last channel busy: under cut-through over links of several rates.
    held: Option<Vec<SimDuration>>,
    /// How often each node had to choose among equal channels.
    turns: Vec<u32>,
    payload: u32,
    overhead: u64,
    latency: SimDuration,
    /// From the end of the sending of what is passed on to when the next node has chosen.
    passing: SimDuration,
    hop_limit: u32,
    cuts_through: bool,
    is_deterministic: bool,
    /// How many failures each channel has, its own and its nodes'.
    channel_faults: Vec<u32>,
    node_faults: Vec<u32>,
    link_faults: Vec<u32>,
    counters: Counters,
    hops: Vec<u64>,
    baseline: Baseline,
}

impl Switched {
    /// An idle network of this topology.
    ///
    /// # Panics
    /// When [`SwitchedParameters::check`] refuses the parameters.
    pub fn new(topology: Arc<Topology>, parameters: SwitchedParameters) -> Self {
        if let Err(error) = parameters.check(&topology) {
            panic!("{error}");
        }
        let (channels, several_rates) = (topology.channels(), !parameters.link_rates.is_empty());
        let rates = if several_rates { &parameters.link_rates[..] } else { std::slice::from_ref(&parameters.rate) };
        let cuts_through = parameters.forwarding == Forwarding::CutThrough;
        let is_explicit = parameters.lanes > 1 || parameters.queues == Queues::Explicit;
        let nodes = topology.nodes() as usize;
        Switched {
            lines: vec![Line::default(); channels as usize],
            carries: Carries::default(),
            rates: rates.iter().map(|rate| rate.time_per_byte()).collect(),
            packets: Packets::new(),
            transits: Transits::new(),
            ports: is_explicit.then(|| Ports::new(channels, parameters.lanes)),
            held: (cuts_through && several_rates).then(Vec::new),
            turns: vec![0; nodes],
            payload: parameters.packet.get() as u32,
            overhead: parameters.overhead.get(),
            latency: parameters.latency,
            passing: parameters.latency + parameters.switch_latency,
            hop_limit: parameters.hop_limit.min(HOP_LIMIT),
            cuts_through,
            is_deterministic: parameters.routing == Routing::Deterministic,
            channel_faults: vec![0; channels as usize],
            node_faults: vec![0; nodes],
            link_faults: vec![0; topology.links() as usize],
            counters: Counters::default(),
            hops: Vec::new(),
            baseline: Baseline {
                counters: Counters::default(),
                busy: vec![0; channels as usize],
                since: SimTime::ZERO,
            },
            topology,
        }
    }

    /// The network's nodes and links.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How long a channel sends `payload`; a picosecond at least, so that packets begin one after another.
    #[inline]
    fn transmission(&self, channel: u32, payload: u32) -> SimDuration {
        let rate = if self.rates.len() == 1 { 0 } else { self.topology.link_of(channel) as usize };
        let time = self.rates[rate].time_for(Bytes::new(u64::from(payload) + self.overhead));
        time.max(SimDuration::from_picoseconds(1))
    }

    /// How long a packet keeps its channel busy.
    #[inline]
    fn occupancy(&self, id: u32) -> SimDuration {
        let packet = self.packets.places[id as usize];
        match &self.held {
            Some(held) => held[id as usize],
            None => self.transmission(packet.channel, packet.payload),
        }
    }

    /// From the beginning of a packet's transmission to node `to`, which takes `occupancy`, to its next event.
    #[inline]
    fn passage(&self, packet: &Packet, to: u32, occupancy: SimDuration) -> SimDuration {
        if to == packet.destination {
            occupancy + self.latency
        } else if self.cuts_through {
            self.transmission(packet.channel, packet.payload.min(HEAD_BYTES)) + self.passing
        } else {
            occupancy + self.passing
        }
    }

    /// Sends a packet on from `node`; returns when it has left where that is known, or why it is dropped.
    #[inline]
    fn forward(
        &mut self,
        now: SimTime,
        id: u32,
        node: u32,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) -> Result<SimTime, Cause> {
        let packet = self.packets.places[id as usize];
        if packet.hops() >= self.hop_limit {
            return Err(Cause::HopLimit);
        }
        let channel = self.next_channel(now, id, node).ok_or(Cause::NoLink)?;
        let packet = &mut self.packets.places[id as usize];
        packet.channel = channel;
        packet.begin_hop();
        let packet = *packet;
        let mut occupancy = self.transmission(channel, packet.payload);
        if let Some(held) = &mut self.held {
            if held.len() <= id as usize {
                held.resize(id as usize + 1, SimDuration::ZERO);
            }
            // What comes in slowly goes out no faster.
            let before = if packet.hops() > 1 { held[id as usize] } else { SimDuration::ZERO };
            occupancy = occupancy.max(before);
            held[id as usize] = occupancy;
        }
        let line = &mut self.lines[channel as usize];
        let free_at = SimTime::from_picoseconds(line.free_at);
        let (start, is_queued) = (free_at.max(now), free_at > now);
        line.free_at = (start + occupancy).picoseconds();
        line.busy += occupancy.picoseconds();
        line.bytes += u64::from(packet.payload) + self.overhead;
        line.packets = line.packets.wrapping_add(1);
        line.queued = line.queued.wrapping_add(u32::from(is_queued));
        if line.packets == 0 {
            self.carries.add(channel, false);
        }
        if line.queued == 0 && is_queued {
            self.carries.add(channel, true);
        }
        if self.ports.is_some() {
            self.enter_port(now, id, free_at, schedule);
        } else {
            let to = self.topology.peer(channel);
            let due = start + self.passage(&packet, to, occupancy);
            self.packets.places[id as usize].due = due.picoseconds();
            schedule(due, SwitchedEvent::Arrive { packet: id, node: to });
        }
        Ok(start + occupancy)
    }

    /// Puts a packet into its port, which was to be free at `free_at` before.
    fn enter_port(
        &mut self,
        now: SimTime,
        id: u32,
        free_at: SimTime,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) {
        let packet = self.packets.places[id as usize];
        let ports = self.ports.as_mut().expect("only the plain path has ports");
        let is_empty = ports.is_empty(packet.channel);
        if free_at <= now && is_empty {
            self.transmit(now, id, schedule);
            return;
        }
        self.packets.places[id as usize].due = NEVER;
        ports.push(packet.channel, packet.lane(), id);
        if is_empty {
            // Nothing else waited, so the port is free of the packet that it sends at `free_at`.
            ports.serve_at(packet.channel, free_at.picoseconds());
            schedule(free_at, SwitchedEvent::Free { channel: packet.channel });
        }
    }

    /// Begins to send a packet of the plain path; returns when its port is free again.
    fn transmit(&mut self, now: SimTime, id: u32, schedule: &mut impl FnMut(SimTime, SwitchedEvent)) -> SimTime {
        let occupancy = self.occupancy(id);
        let packet = self.packets.places[id as usize];
        if !packet.has_left_source() {
            self.packets.places[id as usize].leave_source();
            self.leave_sender(now + occupancy, packet.message, schedule);
        }
        let to = self.topology.peer(packet.channel);
        let due = now + self.passage(&packet, to, occupancy);
        self.packets.places[id as usize].due = due.picoseconds();
        schedule(due, SwitchedEvent::Arrive { packet: id, node: to });
        now + occupancy
    }

    /// A port has sent a packet, and others wait.
    fn serve(&mut self, now: SimTime, channel: u32, schedule: &mut impl FnMut(SimTime, SwitchedEvent)) {
        let Some(ports) = &mut self.ports else { return };
        if ports.serves_at(channel) != now.picoseconds() {
            return;
        }
        let Some(id) = ports.pop(channel) else { return };
        let free_at = self.transmit(now, id, schedule);
        let ports = self.ports.as_mut().expect("only the plain path serves ports");
        if ports.is_empty(channel) {
            ports.serve_at(channel, NEVER);
        } else {
            ports.serve_at(channel, free_at.picoseconds());
            schedule(free_at, SwitchedEvent::Free { channel });
        }
    }

    /// A packet of the plain path will have left its message's sender at `time`, or never will.
    fn leave_sender(&mut self, time: SimTime, message: u32, schedule: &mut impl FnMut(SimTime, SwitchedEvent)) {
        let transit = &mut self.transits.places[message as usize];
        transit.unsent -= 1;
        // Of packets on channels of several rates, the last to begin may not be the last to have left.
        transit.left_at = transit.left_at.max(time.picoseconds());
        if transit.unsent == 0 {
            transit.tells += 1;
            schedule(SimTime::from_picoseconds(transit.left_at), SwitchedEvent::Tell { message, fate: Fate::Sent });
        }
    }

    /// Takes a packet out of the network for good.
    #[inline]
    fn retire(&mut self, id: u32) -> (u32, &mut Transit) {
        let message = self.packets.places[id as usize].message;
        self.packets.remove(id);
        let transit = &mut self.transits.places[message as usize];
        transit.packets -= 1;
        (message, transit)
    }

    #[inline]
    fn deliver(&mut self, id: u32) -> Option<Notice> {
        let packet = self.packets.places[id as usize];
        self.counters.delivered += 1;
        self.counters.deviated += u64::from(packet.is_deviated());
        let hops = packet.hops() as usize;
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0);
        }
        self.hops[hops] += 1;
        let (message, transit) = self.retire(id);
        let notice = (transit.packets == 0 && !transit.is_lost).then_some(Notice::Delivered(transit.token));
        self.transits.settle(message);
        notice
    }

    /// Drops a packet; returns its message and its token if that is lost by it.
    #[cold]
    fn drop_packet(
        &mut self,
        now: SimTime,
        id: u32,
        cause: Cause,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) -> Option<u64> {
        let dropped = &mut self.counters.dropped;
        match cause {
            Cause::NoLink => dropped.no_link += 1,
            Cause::HopLimit => dropped.hop_limit += 1,
            Cause::Cut => dropped.cut += 1,
        }
        let packet = self.packets.places[id as usize];
        if self.ports.is_some() && !packet.has_left_source() {
            self.leave_sender(now, packet.message, schedule);
        }
        let (message, transit) = self.retire(id);
        let lost = (!std::mem::replace(&mut transit.is_lost, true)).then_some(transit.token);
        self.transits.settle(message);
        lost
    }

    /// Has a message's sender told of it at `now`.
    fn tell(&mut self, now: SimTime, message: u32, fate: Fate, schedule: &mut impl FnMut(SimTime, SwitchedEvent)) {
        self.transits.places[message as usize].tells += 1;
        schedule(now, SwitchedEvent::Tell { message, fate });
    }
}

impl Fabric for Switched {
    type Event = SwitchedEvent;

    /// Messages within one node do not cross the network: they are delivered at once, unless it has failed.
    ///
    /// Each message is delivered or lost once. On the plain path the sender is told once that all has left, or will never
    /// leave, before or after it is told of a loss.
    #[inline]
    fn send(
        &mut self,
        now: SimTime,
        message: Message,
        mut schedule: impl FnMut(SimTime, SwitchedEvent),
    ) -> Option<SimTime> {
        let (from, to) = (self.topology.node_of(message.from), self.topology.node_of(message.to));
        let bytes = message.bytes.get();
        let is_local = from == to;
        let packets = bytes.div_ceil(u64::from(self.payload)).max(1);
        let packets = if is_local { 0 } else { u32::try_from(packets).expect("2^32 packets exceed any memory") };
        let unsent = if self.ports.is_some() { packets } else { 0 };
        let transit = Transit { token: message.token, packets, unsent, left_at: 0, tells: 0, is_lost: false };
        let number = self.transits.insert(transit);
        if is_local {
            let fate = if self.node_faults[from as usize] == 0 { Fate::Delivered } else { Fate::Lost };
            self.tell(now, number, fate, &mut schedule);
            return Some(now);
        }
        self.counters.sent += u64::from(packets);
        // One more event than needed keeps the message's place while its packets enter, should all be dropped.
        self.transits.places[number as usize].tells += 1;
        let (mut left_at, mut rest, mut is_lost) = (now, bytes, false);
        for _ in 0..packets {
            let payload = rest.min(u64::from(self.payload)) as u32;
            rest -= u64::from(payload);
            let id = self.packets.insert(Packet::new(to, number, payload, message.lane % LANE_LIMIT));
            match self.forward(now, id, from, &mut schedule) {
                Ok(time) => left_at = left_at.max(time),
                Err(cause) => is_lost |= self.drop_packet(now, id, cause, &mut schedule).is_some(),
            }
        }
        if is_lost {
            self.tell(now, number, Fate::Lost, &mut schedule);
        }
        self.transits.places[number as usize].tells -= 1;
        self.ports.is_none().then_some(left_at)
    }

    #[inline]
    fn token(_: SwitchedEvent) -> Option<u64> {
        None
    }

    #[inline]
    fn execute(
        &mut self,
        now: SimTime,
        event: SwitchedEvent,
        _: impl FnOnce(u64) -> Message,
        mut schedule: impl FnMut(SimTime, SwitchedEvent),
    ) -> Option<Notice> {
        match event {
            SwitchedEvent::Arrive { packet: id, node } => {
                let packet = &mut self.packets.places[id as usize];
                if packet.due != now.picoseconds() {
                    return None;
                }
                if packet.destination == node {
                    return self.deliver(id);
                }
                packet.came_by = packet.channel;
                match self.forward(now, id, node, &mut schedule) {
                    Ok(_) => None,
                    Err(cause) => self.drop_packet(now, id, cause, &mut schedule).map(Notice::Lost),
                }
            }
            SwitchedEvent::Free { channel } => {
                self.serve(now, channel, &mut schedule);
                None
            }
            SwitchedEvent::Tell { message, fate } => {
                let transit = &mut self.transits.places[message as usize];
                transit.tells -= 1;
                let token = transit.token;
                self.transits.settle(message);
                Some(match fate {
                    Fate::Delivered => Notice::Delivered(token),
                    Fate::Lost => Notice::Lost(token),
                    Fate::Sent => Notice::Sent(token),
                })
            }
        }
    }

    /// Fetches the packet, and the lines of the channels that it may go on by.
    #[inline]
    fn announce(&self, event: SwitchedEvent) {
        if let SwitchedEvent::Arrive { packet, node } = event {
            prefetch(&self.packets.places[packet as usize]);
            let channels = self.topology.channels_from(node);
            let lines = &self.lines[channels.start as usize..channels.end as usize];
            for line in lines.iter().step_by(LINES_AHEAD).take(FETCHED_MAX) {
                prefetch(line);
            }
        }
    }

    fn fail(
        &mut self,
        now: SimTime,
        component: Component,
        mut schedule: impl FnMut(SimTime, SwitchedEvent),
        mut lost: impl FnMut(u64),
    ) {
        self.break_component(now, component, &mut schedule, &mut lost);
    }

    fn repair(&mut self, now: SimTime, component: Component) {
        self.mend_component(now, component);
    }

    fn begin_statistics(&mut self, now: SimTime) {
        self.begin_anew(now);
    }
}
