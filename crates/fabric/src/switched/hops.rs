//! A packet's hop: into a channel's port, through it, and on to the next node.

use resilver_kernel::lanes::{Service, Taken};
use resilver_units::{Bytes, SimDuration, SimTime, TimePerByte};

use super::packet::{NEVER, Packet};
use super::{Cause, Held, Switched, SwitchedEvent};

/// The head of a packet by which a node knows where it goes, beside the overhead.
const HEAD_BYTES: u32 = 64;

/// How long a channel of this rate sends so much; a picosecond at least, so that packets begin one after another.
#[inline]
pub(super) fn time_of(rate: TimePerByte, bytes: u64) -> SimDuration {
    rate.time_for(Bytes::new(bytes)).max(SimDuration::from_picoseconds(1))
}

impl Switched {
    /// How long a channel sends `payload`.
    #[inline]
    pub(super) fn transmission(&self, channel: u32, payload: u32) -> SimDuration {
        let bytes = u64::from(payload) + self.overhead;
        if self.rates.len() > 1 {
            time_of(self.rates[self.topology.link_of(channel) as usize], bytes)
        } else if payload == self.payload {
            self.whole
        } else {
            time_of(self.rates[0], bytes)
        }
    }

    /// How long a channel sends `payload` that it begins with at `start`.
    #[inline]
    fn transmission_at(&self, start: SimTime, channel: u32, payload: u32) -> SimDuration {
        let time = self.transmission(channel, payload);
        match self.paces.get(channel as usize) {
            Some(Some(pace)) => pace.time_for(start, time),
            _ => time,
        }
    }

    /// How long a packet keeps its channel busy.
    #[inline]
    pub(super) fn occupancy(&self, id: u32) -> SimDuration {
        let packet = &self.packets.places[id as usize];
        match &self.held {
            Some(held) => held[id as usize].occupancy,
            None => self.transmission(packet.channel, packet.payload),
        }
    }

    /// From the beginning of a packet's transmission to node `to`, which takes `occupancy`, to its next event.
    #[inline]
    pub(super) fn passage(&self, start: SimTime, packet: &Packet, to: u32, occupancy: SimDuration) -> SimDuration {
        if to == packet.destination {
            occupancy + self.latency
        } else if self.cuts_through {
            self.transmission_at(start, packet.channel, packet.payload.min(HEAD_BYTES)) + self.passing
        } else {
            occupancy + self.passing
        }
    }

    /// Notes when a packet's transmission begins, and returns how long it takes from then on.
    #[inline(never)]
    fn hold(&mut self, id: u32, start: SimTime, before: SimDuration) -> SimDuration {
        let Packet { channel, payload, .. } = self.packets.places[id as usize];
        let occupancy = self.transmission_at(start, channel, payload).max(before);
        if let Some(held) = &mut self.held {
            if held.len() <= id as usize {
                held.resize(id as usize + 1, Held::default());
            }
            held[id as usize] = Held { start, occupancy, before };
        }
        occupancy
    }

    /// Sends a packet on from `node`; returns when it has left where that is known, or why it is dropped.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        now: SimTime,
        id: u32,
        node: u32,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) -> Result<SimTime, Cause> {
        // Fields are read one by one: a copy of a whole packet would wait for the stores of its parts to reach the cache.
        if self.packets.places[id as usize].hops() >= self.hop_limit {
            return Err(Cause::HopLimit);
        }
        let channel = self.next_channel(now, id, node).ok_or(Cause::NoLink)?;
        let packet = &mut self.packets.places[id as usize];
        packet.channel = channel;
        packet.begin_hop();
        let (payload, is_passed_on) = (packet.payload, packet.hops() > 1);
        let free_at = SimTime::from_picoseconds(self.lines[channel as usize].free_at);
        let (start, is_queued) = (free_at.max(now), free_at > now);
        let occupancy = match &self.held {
            None => self.transmission(channel, payload),
            Some(held) => {
                // What comes in slowly under cut-through goes out no faster.
                let is_held = self.cuts_through && is_passed_on;
                let before = if is_held { held[id as usize].occupancy } else { SimDuration::ZERO };
                self.hold(id, start, before)
            }
        };
        let line = &mut self.lines[channel as usize];
        line.free_at = (start + occupancy).picoseconds();
        line.busy += occupancy.picoseconds();
        line.bytes += u64::from(payload) + self.overhead;
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
            let due = start + self.passage(start, &self.packets.places[id as usize], to, occupancy);
            self.packets.places[id as usize].due = due.picoseconds();
            schedule(due, SwitchedEvent::Arrive { packet: id, node: to });
        }
        Ok(start + occupancy)
    }

    /// Puts a packet into its port, which was to be free at `free_at` before.
    pub(super) fn enter_port(
        &mut self,
        now: SimTime,
        id: u32,
        free_at: SimTime,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) {
        let packet = &mut self.packets.places[id as usize];
        let channel = packet.channel;
        let ports = self.ports.as_mut().expect("only the plain path has ports");
        let (is_empty, lane) = (ports.is_empty(channel), ports.lane(packet.lane()));
        if free_at <= now && is_empty {
            ports.pass(channel, lane);
            self.transmit(now, id, lane, schedule);
            return;
        }
        packet.due = NEVER;
        ports.push(now, channel, lane, id);
        if is_empty {
            // Nothing else waited, so the port is free of the packet that it sends at `free_at`.
            schedule(free_at, SwitchedEvent::Free { channel });
        }
    }

    /// Begins to send a packet of the plain path; returns when its port is free again.
    fn transmit(
        &mut self,
        now: SimTime,
        id: u32,
        lane: usize,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
    ) -> SimTime {
        let occupancy = self.begin_sending(now, id);
        let packet = &mut self.packets.places[id as usize];
        let Packet { channel, message, payload, .. } = *packet;
        if !packet.has_left_source() {
            packet.leave_source();
            self.leave_sender(now + occupancy, message, schedule);
        }
        let bytes = u64::from(payload) + self.overhead;
        let service = Service { start: now, end: now + occupancy, cost: bytes, bytes };
        self.ports.as_mut().expect("only the plain path has ports").begin(channel, lane, service);
        let to = self.topology.peer(channel);
        let due = now + self.passage(now, &self.packets.places[id as usize], to, occupancy);
        self.packets.places[id as usize].due = due.picoseconds();
        schedule(due, SwitchedEvent::Arrive { packet: id, node: to });
        now + occupancy
    }

    /// How long a packet of the plain path takes that is sent from now on.
    ///
    /// A channel that is slow for a while takes as long for all that waits in any order, but for what is lost in rounding to
    /// picoseconds. So it is said anew when the last begins, when the port is to be free.
    fn begin_sending(&mut self, now: SimTime, id: u32) -> SimDuration {
        let Some(held) = &self.held else { return self.occupancy(id) };
        let (channel, before) = (self.packets.places[id as usize].channel, held[id as usize].before);
        let occupancy = self.hold(id, now, before);
        if self.ports.as_ref().is_some_and(|ports| ports.is_empty(channel)) {
            let (line, free_at) = (&mut self.lines[channel as usize], (now + occupancy).picoseconds());
            line.busy = line.busy + free_at - line.free_at;
            line.free_at = free_at;
        }
        occupancy
    }

    /// A port has sent a packet, and others wait.
    pub(super) fn serve(&mut self, now: SimTime, channel: u32, schedule: &mut impl FnMut(SimTime, SwitchedEvent)) {
        let Some(ports) = &mut self.ports else { return };
        // An event from before a failure finds the port empty, or busy until another time.
        if !ports.is_due(channel, now) {
            return;
        }
        let Some(Taken { unit, lane }) = ports.take(now, channel) else { return };
        let is_empty = ports.is_empty(channel);
        let free_at = self.transmit(now, unit, lane, schedule);
        if !is_empty {
            schedule(free_at, SwitchedEvent::Free { channel });
        }
    }
}
