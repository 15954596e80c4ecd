//! Which channel a packet takes next: the local adaptive choice, and the topology's own.

use std::hint::select_unpredictable;

use resilver_units::SimTime;

use super::packet::{NEVER, NONE, Packet};
use super::{Line, Switched};

/// The best channel found so far: the one that is free first, and of these the one that has been used least.
#[derive(Clone, Copy)]
struct Best {
    /// When it could begin to send; [`NEVER`] while none that works was found.
    at: u64,
    busy: u64,
    channel: u32,
    /// How many are as good.
    equals: u32,
}

impl Best {
    /// No channel: as good as one that does not work, which is never better.
    const NONE: Best = Best { at: NEVER, busy: 0, channel: NONE, equals: 0 };

    #[inline]
    fn offer(&mut self, channel: u32, line: Line, now: u64) {
        let (at, busy) = (line.free_at.max(now), line.busy);
        // Which channel is best cannot be foretold, so that nothing here branches on it.
        let (key, best) = (u128::from(at) << 64 | u128::from(busy), u128::from(self.at) << 64 | u128::from(self.busy));
        let (is_better, is_equal) = (key < best, key == best);
        self.at = select_unpredictable(is_better, at, self.at);
        self.busy = select_unpredictable(is_better, busy, self.busy);
        self.channel = select_unpredictable(is_better, channel, self.channel);
        self.equals = select_unpredictable(is_better, 1, self.equals + u32::from(is_equal));
    }
}

impl Switched {
    /// The channel by which packet `id` goes on from `node`, which it came to; `None` if there is none.
    #[inline]
    pub(super) fn next_channel(&mut self, now: SimTime, id: u32, node: u32) -> Option<u32> {
        let packet = self.packets.places[id as usize];
        if self.is_deterministic {
            let channel = self.topology.deterministic(node, packet.destination);
            return (!self.lines[channel as usize].is_failed()).then_some(channel);
        }
        if !packet.is_deviated() {
            // On a shortest way every hop leads nearer, and none back.
            let mut best = Best::NONE;
            let (lines, now) = (&self.lines, now.picoseconds());
            self.topology.shortest(node, packet.destination, |channel| {
                best.offer(channel, lines[channel as usize], now);
            });
            if best.equals == 1 && best.channel != NONE {
                return Some(best.channel);
            }
        }
        self.choose_among(now, id, node)
    }

    /// The same choice where channels are equal, or the shortest ways do not serve.
    #[cold]
    #[inline(never)]
    fn choose_among(&mut self, now: SimTime, id: u32, node: u32) -> Option<u32> {
        let packet = self.packets.places[id as usize];
        let mut shortest = Vec::new();
        self.topology.shortest(node, packet.destination, |channel| shortest.push(channel));
        if let Some(channel) = self.best_of(now, &packet, node, &shortest) {
            return Some(channel);
        }
        let others: Vec<u32> =
            self.topology.channels_from(node).filter(|channel| !shortest.contains(channel)).collect();
        let channel = self.best_of(now, &packet, node, &others)?;
        self.packets.places[id as usize].deviate();
        Some(channel)
    }

    /// The best of `channels` that does not lead back; of several as good, each in turn.
    fn best_of(&mut self, now: SimTime, packet: &Packet, node: u32, channels: &[u32]) -> Option<u32> {
        let topology = &self.topology;
        let previous = if packet.came_by == NONE { NONE } else { topology.peer(topology.reverse(packet.came_by)) };
        let now = now.picoseconds();
        let mut best = Best::NONE;
        let onward = |&&channel: &&u32| topology.peer(channel) != previous;
        for &channel in channels.iter().filter(onward) {
            best.offer(channel, self.lines[channel as usize], now);
        }
        if best.channel == NONE {
            return None;
        }
        let is_equal = |&&channel: &&u32| {
            let line = self.lines[channel as usize];
            (line.free_at.max(now), line.busy) == (best.at, best.busy)
        };
        let turn = &mut self.turns[node as usize];
        let nth = *turn % best.equals;
        *turn = turn.wrapping_add(u32::from(best.equals > 1));
        channels.iter().filter(onward).filter(is_equal).nth(nth as usize).copied()
    }
}
