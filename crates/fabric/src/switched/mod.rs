//! A fabric of packets on links and switches, on any topology.
//!
//! A message is cut into packets. Each node a packet comes to chooses its next channel; there it waits until all that came
//! before have been sent, is sent in (payload + overhead) / rate, and reaches the next node after the link's latency. A node
//! that passes it on first takes the switch latency. So a packet alone takes h (t + latency) + (h - 1) switch latency over h
//! hops. Under cut-through a node passes on what has come in as soon as that is the head, and only the last hop takes all
//! of t; a packet keeps each channel busy for at least as long as it did the one before, since it comes in no faster.
//! The model is that of Mehech, "The impact of failures on large distributed storage systems" (UCSC-SSRC-07-10, 2007):
//! crossbar switches whose only queues are those of the outgoing ports, and local, adaptive routing.
//!
//! **Two paths.** A port that serves packets in their order needs no list of them: the time at which it is free again says
//! when the next one begins, and with it when that arrives. So each hop is one event (the fast path, `Queues::Implicit`).
//! A port of several lanes keeps lists, and has an event of its own for each packet that waited (the plain path,
//! `Queues::Explicit`). A test holds both equal. All that a port counts, and the time when it is free of what has come so
//! far, are the same code in both: it sends whenever something waits, so that time does not depend on the order.

mod event;
mod faults;
mod hops;
mod messages;
mod packet;
mod parameters;
mod report;
mod route;

pub use event::{Fate, SwitchedEvent};
pub use parameters::{Forwarding, Queues, Routing, SwitchedError, SwitchedParameters};
pub use report::{ChannelUse, Conservation, Dropped, NetworkUse};

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use resilver_kernel::lanes::LanePorts;
use resilver_kernel::{Pace, prefetch};
use resilver_units::{Bytes, EndpointId, SimDuration, SimTime, TimePerByte};

use self::hops::time_of;
use self::packet::{HOP_LIMIT, LANE_LIMIT, NEVER, NONE, Packet, Packets, Transit, Transits};
use self::report::{Baseline, Counters};
use crate::topology::Topology;
use crate::{Component, Fabric, Message, Notice, PortUse};

/// How many channels lie between those that are fetched, so that each cache line of 64 B is met.
const LINES_AHEAD: usize = 2;
/// Most channels of a node that are fetched.
const FETCHED_MAX: u32 = 12;

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

/// A packet's transmission.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    start: SimTime,
    /// How long it keeps its channel busy.
    occupancy: SimDuration,
    /// How long it kept the one before busy, where it comes in no faster.
    before: SimDuration,
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
    ports: Option<LanePorts>,
    /// How long each packet keeps its channel busy: under cut-through over links of several rates, or where any is ever slow.
    held: Option<Vec<Held>>,
    /// How fast each channel is over time; empty where none is ever slow.
    paces: Vec<Option<Box<Pace>>>,
    /// How often each node had to choose among equal channels.
    turns: Vec<u32>,
    payload: u32,
    overhead: u64,
    /// How long a packet of all that payload is sent, at the first of the rates.
    whole: SimDuration,
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
        let is_explicit = parameters.lanes.count() > 1 || parameters.queues == Queues::Explicit;
        let nodes = topology.nodes() as usize;
        let rates: Vec<TimePerByte> = rates.iter().map(|rate| rate.time_per_byte()).collect();
        Switched {
            lines: vec![Line::default(); channels as usize],
            carries: Carries::default(),
            whole: time_of(rates[0], parameters.packet.get() + parameters.overhead.get()),
            rates,
            packets: Packets::new(),
            transits: Transits::new(),
            ports: is_explicit.then(|| LanePorts::new(channels as usize, &parameters.lanes)),
            held: (cuts_through && several_rates).then(Vec::new),
            paces: Vec::new(),
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
                bytes: vec![0; channels as usize],
                since: SimTime::ZERO,
            },
            topology,
        }
    }

    /// The same network with channels that work at a share of their rate for a while: what waits in a port for a time, and
    /// what is sent meanwhile, takes that much longer, exactly.
    #[must_use]
    pub fn with_paces(mut self, paces: &BTreeMap<u32, Pace>) -> Self {
        if !paces.is_empty() {
            let of = |channel| paces.get(&channel).cloned().map(Box::new);
            self.paces = (0..self.lines.len() as u32).map(of).collect();
            self.held = Some(Vec::new());
        }
        self
    }

    /// The network's nodes and links.
    pub fn topology(&self) -> &Topology {
        &self.topology
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

    /// Fetches the packet and the lines of the channels that it may go on by, or what waits at a port.
    #[inline]
    fn announce(&self, event: SwitchedEvent) {
        match event {
            SwitchedEvent::Arrive { packet, node } => {
                prefetch(&self.packets.places[packet as usize]);
                let Range { start, end } = self.topology.channels_from(node);
                let end = end.min(start + FETCHED_MAX);
                for channel in (start..end).step_by(LINES_AHEAD) {
                    prefetch(&self.lines[channel as usize]);
                }
            }
            SwitchedEvent::Free { channel } => {
                let unit = self.ports.as_ref().map_or(NONE, |ports| ports.announce(channel));
                if let Some(packet) = self.packets.places.get(unit as usize) {
                    prefetch(packet);
                }
            }
            SwitchedEvent::Tell { .. } => {}
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

    fn ports(&self, now: SimTime) -> Vec<PortUse> {
        let port = |(channel, line): (usize, &Line)| PortUse {
            busy: SimDuration::from_picoseconds(self.busy_until(channel, now)),
            bytes: Bytes::new(self.baseline.bytes[channel] + line.bytes),
        };
        self.lines.iter().enumerate().map(port).collect()
    }

    fn has_links(&self) -> bool {
        true
    }

    fn ways(&self, from: EndpointId, to: EndpointId) -> (Vec<u32>, usize) {
        self.ways_between(self.topology.node_of(from), self.topology.node_of(to))
    }

    fn begin_statistics(&mut self, now: SimTime) {
        self.begin_anew(now);
    }
}
