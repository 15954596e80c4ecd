//! Links and nodes that fail and are repaired, and what becomes of the packets in them.
//!
//! Faults are rare, so each looks through all packets on their way. A packet whose transmission had begun before the fault
//! and is not over is cut; one that has not begun chooses again; one that has been sent arrives, unless the node that it is
//! about to reach is the one that fails. Under cut-through a packet has left a channel when its head has
//! reached the next node.

use resilver_kernel::lanes::Taken;
use resilver_units::{SimDuration, SimTime};

use super::packet::{NEVER, NONE};
use super::{Cause, Switched, SwitchedEvent};
use crate::Component;

/// Where a packet on a channel is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sending,
    Sent,
}

impl Switched {
    /// Whether a node works, and a link and the node at its other end with it.
    pub fn is_linked(&self, node: u32) -> bool {
        // A channel fails with its link and with either of its nodes.
        self.topology.channels_from(node).any(|channel| !self.lines[channel as usize].is_failed())
    }

    /// Whether a node has not failed, whatever became of its links.
    pub fn is_up(&self, node: u32) -> bool {
        self.node_faults[node as usize] == 0
    }

    /// The channels that a component's failure concerns.
    fn channels_of(&self, component: Component) -> Vec<u32> {
        match component {
            Component::Link(link) => self.topology.channels_of(link).to_vec(),
            Component::Node(node) => {
                let out = self.topology.channels_from(node);
                out.flat_map(|channel| [channel, self.topology.reverse(channel)]).collect()
            }
        }
    }

    /// When a packet that is not in a list began or will begin to be sent.
    fn start_of(&self, id: u32) -> (SimTime, SimDuration) {
        let packet = self.packets.places[id as usize];
        let occupancy = self.occupancy(id);
        if let Some(held) = &self.held {
            return (held[id as usize].start, occupancy);
        }
        let passage = self.passage(SimTime::ZERO, &packet, self.topology.peer(packet.channel), occupancy);
        (SimTime::ZERO + SimTime::from_picoseconds(packet.due).since(SimTime::ZERO + passage), occupancy)
    }

    fn stage_of(&self, id: u32, now: SimTime) -> Stage {
        let packet = self.packets.places[id as usize];
        if packet.due == NEVER {
            return Stage::Waiting;
        }
        let (start, occupancy) = self.start_of(id);
        if start >= now {
            Stage::Waiting
        } else if start + occupancy > now && packet.due > now.picoseconds() {
            Stage::Sending
        } else {
            Stage::Sent
        }
    }

    pub(super) fn break_component(
        &mut self,
        now: SimTime,
        component: Component,
        schedule: &mut impl FnMut(SimTime, SwitchedEvent),
        lost: &mut impl FnMut(u64),
    ) {
        let node = match component {
            Component::Link(_) => NONE,
            Component::Node(node) => node,
        };
        *self.faults_of(component) += 1;
        let mut is_broken = vec![false; self.lines.len()];
        let mut broken = self.channels_of(component);
        broken.sort_unstable();
        for &channel in &broken {
            self.channel_faults[channel as usize] += 1;
            is_broken[channel as usize] = self.channel_faults[channel as usize] == 1;
            if is_broken[channel as usize] {
                let line = &mut self.lines[channel as usize];
                // What lies ahead will not be sent.
                line.busy -= line.free_at.saturating_sub(now.picoseconds());
                line.free_at = NEVER;
                if let Some(ports) = &mut self.ports {
                    ports.cut(now, channel);
                }
            }
        }
        let (mut cut, mut again) = (Vec::new(), Vec::new());
        for id in 0..self.packets.places.len() as u32 {
            let channel = self.packets.places[id as usize].channel;
            if channel == NONE || !(is_broken[channel as usize] || self.topology.peer(channel) == node) {
                continue;
            }
            match self.stage_of(id, now) {
                // What waits at a node that fails is cut; its channels are broken, so what waits there is looked at here.
                Stage::Waiting if self.source_of(channel) == node => cut.push(id),
                Stage::Waiting if is_broken[channel as usize] => {
                    // A packet of the plain path that began just now is the first of its port.
                    let start = self.packets.places[id as usize].due;
                    again.push((channel, if start == NEVER { SimTime::MAX } else { self.start_of(id).0 }, id));
                }
                Stage::Sending if is_broken[channel as usize] => cut.push(id),
                Stage::Sent if self.topology.peer(channel) == node => cut.push(id),
                _ => {}
            }
        }
        let again = self.in_order(now, node, &broken, again);
        for id in cut {
            if let Some(token) = self.drop_packet(now, id, Cause::Cut, schedule) {
                lost(token);
            }
        }
        for (channel, id) in again {
            let node = self.source_of(channel);
            let packet = &mut self.packets.places[id as usize];
            packet.take_hop_back();
            packet.due = NEVER;
            if let Err(cause) = self.forward(now, id, node, schedule)
                && let Some(token) = self.drop_packet(now, id, cause, schedule)
            {
                lost(token);
            }
        }
    }

    /// The packets that choose again, channel by channel, in the order in which each would have sent them.
    fn in_order(
        &mut self,
        now: SimTime,
        node: u32,
        broken: &[u32],
        mut again: Vec<(u32, SimTime, u32)>,
    ) -> Vec<(u32, u32)> {
        again.sort_unstable();
        let Some(ports) = &mut self.ports else {
            return again.into_iter().map(|(channel, _, id)| (channel, id)).collect();
        };
        let mut ordered = Vec::with_capacity(again.len());
        for &channel in broken {
            let begun = again.iter().filter(|&&(at, start, _)| at == channel && start != SimTime::MAX);
            ordered.extend(begun.map(|&(channel, _, id)| (channel, id)));
            while let Some(Taken { unit, lane }) = ports.take(now, channel) {
                ports.charge(channel, lane, u64::from(self.packets.places[unit as usize].payload) + self.overhead);
                // What waited at a node that fails leaves its list, and no more.
                if self.topology.peer(self.topology.reverse(channel)) != node {
                    ordered.push((channel, unit));
                }
            }
        }
        ordered
    }

    /// The node that a channel leaves.
    fn source_of(&self, channel: u32) -> u32 {
        self.topology.peer(self.topology.reverse(channel))
    }

    /// Takes back one failure of a component; one that has none stays as it is.
    pub(super) fn mend_component(&mut self, now: SimTime, component: Component) {
        let faults = self.faults_of(component);
        if *faults == 0 {
            return;
        }
        *faults -= 1;
        for channel in self.channels_of(component) {
            self.channel_faults[channel as usize] -= 1;
            if self.channel_faults[channel as usize] == 0 {
                self.lines[channel as usize].free_at = now.picoseconds();
            }
        }
    }

    /// How many failures of its own a component has.
    fn faults_of(&mut self, component: Component) -> &mut u32 {
        match component {
            Component::Link(link) => &mut self.link_faults[link as usize],
            Component::Node(node) => &mut self.node_faults[node as usize],
        }
    }
}
