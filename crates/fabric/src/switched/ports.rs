//! The explicit queues of ports: lists of the packets that wait, a list a lane.

use super::packet::{NEVER, NONE};

#[derive(Clone, Copy, Debug)]
struct Lane {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    /// The lane whose turn it is.
    turn: u8,
    /// When the port may send on, in picoseconds; [`NEVER`] if nothing waits. Events of other times are stale.
    serves_at: u64,
    /// Packets that wait.
    waiting: u32,
}

/// The packets that wait at each channel's port, by lanes.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    lanes: u8,
    ports: Vec<Port>,
    queues: Vec<Lane>,
    /// The packet behind each packet in its list.
    next: Vec<u32>,
}

impl Ports {
    pub fn new(channels: u32, lanes: u8) -> Self {
        let queues = vec![Lane { first: NONE, last: NONE }; channels as usize * usize::from(lanes)];
        Ports {
            lanes,
            ports: vec![Port { turn: 0, serves_at: NEVER, waiting: 0 }; channels as usize],
            queues,
            next: Vec::new(),
        }
    }

    pub fn is_empty(&self, channel: u32) -> bool {
        self.ports[channel as usize].waiting == 0
    }

    /// Puts a packet at the end of a lane.
    pub fn push(&mut self, channel: u32, lane: u8, packet: u32) {
        if self.next.len() <= packet as usize {
            self.next.resize(packet as usize + 1, NONE);
        }
        self.next[packet as usize] = NONE;
        // Senders that name more lanes than there are share them.
        let queue = &mut self.queues[channel as usize * usize::from(self.lanes) + usize::from(lane % self.lanes)];
        if queue.last == NONE {
            queue.first = packet;
        } else {
            self.next[queue.last as usize] = packet;
        }
        queue.last = packet;
        self.ports[channel as usize].waiting += 1;
    }

    /// A packet of a lane is sent without having waited: the turn is the next lane's.
    pub fn pass(&mut self, channel: u32, lane: u8) {
        self.ports[channel as usize].turn = (lane % self.lanes + 1) % self.lanes;
    }

    /// Takes the packet that is next: lanes in turn, those without packets passed over.
    pub fn pop(&mut self, channel: u32) -> Option<u32> {
        let port = &mut self.ports[channel as usize];
        if port.waiting == 0 {
            return None;
        }
        port.waiting -= 1;
        let queues = &mut self.queues[channel as usize * usize::from(self.lanes)..][..usize::from(self.lanes)];
        while queues[usize::from(port.turn)].first == NONE {
            port.turn = (port.turn + 1) % self.lanes;
        }
        let queue = &mut queues[usize::from(port.turn)];
        let packet = queue.first;
        queue.first = self.next[packet as usize];
        if queue.first == NONE {
            queue.last = NONE;
        }
        port.turn = (port.turn + 1) % self.lanes;
        Some(packet)
    }

    /// When the port may send on, in picoseconds.
    pub fn serves_at(&self, channel: u32) -> u64 {
        self.ports[channel as usize].serves_at
    }

    /// Sets down when the port may send on; [`NEVER`] if nothing waits.
    pub fn serve_at(&mut self, channel: u32, time: u64) {
        self.ports[channel as usize].serves_at = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_served_in_turn_a_packet_each() {
        // Lane 0 holds 1 2 3, lane 1 nothing, lane 2 holds 4: after 1 it is the turn of 4, then of lane 0 alone.
        let mut ports = Ports::new(2, 3);
        for (lane, packet) in [(0, 1), (0, 2), (0, 3), (2, 4)] {
            ports.push(1, lane, packet);
        }
        assert!(ports.is_empty(0));
        let served: Vec<u32> = std::iter::from_fn(|| ports.pop(1)).collect();
        assert_eq!(served, [1, 4, 2, 3]);
    }
}
