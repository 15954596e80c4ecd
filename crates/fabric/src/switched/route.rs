//! Which channel a packet takes next: the local adaptive choice, and the topology's own.

use std::hint::select_unpredictable;

use resilver_units::SimTime;

use super::packet::{NEVER, NONE};
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
    fn offer(&mut self, channel: u32, line: &Line, now: u64) {
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

/// Which of several channels that are as good is to be taken.
struct Turn {
    best: Best,
    /// How many of them come before it.
    left: u32,
    chosen: u32,
}

impl Turn {
    /// The next of a node's turns.
    #[inline]
    fn next(best: Best, turns: &mut u32) -> Self {
        let left = *turns % best.equals;
        *turns = turns.wrapping_add(u32::from(best.equals > 1));
        Turn { best, left, chosen: best.channel }
    }

    #[inline]
    fn offer(&mut self, channel: u32, line: &Line, now: u64) {
        let is_equal = (line.free_at.max(now), line.busy) == (self.best.at, self.best.busy);
        self.chosen = select_unpredictable(is_equal & (self.left == 0), channel, self.chosen);
        self.left = self.left.wrapping_sub(u32::from(is_equal));
    }
}

impl Switched {
    /// The channels of all shortest ways between two nodes, or of the one way of deterministic routing, those from the first
    /// node first with how many these are.
    pub(super) fn ways_between(&self, from: u32, to: u32) -> (Vec<u32>, usize) {
        let (mut channels, mut nodes, mut first) = (Vec::new(), vec![from], 0);
        let mut seen = vec![false; self.topology.nodes() as usize];
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            if node == to {
                continue;
            }
            let mut take = |channel| {
                channels.push(channel);
                let peer = self.topology.peer(channel);
                if !std::mem::replace(&mut seen[peer as usize], true) {
                    nodes.push(peer);
                }
            };
            if self.is_deterministic {
                take(self.topology.deterministic(node, to));
            } else {
                self.topology.shortest(node, to, take);
            }
            if node == from {
                first = channels.len();
            }
        }
        (channels, first)
    }

    /// The channel by which packet `id` goes on from `node`, which it came to; `None` if there is none.
    pub(super) fn next_channel(&mut self, now: SimTime, id: u32, node: u32) -> Option<u32> {
        let packet = &self.packets.places[id as usize];
        if self.is_deterministic {
            let channel = self.topology.deterministic(node, packet.destination);
            return (!self.lines[channel as usize].is_failed()).then_some(channel);
        }
        if !packet.is_deviated() {
            // On a shortest way every hop leads nearer, and none back.
            let (mut best, destination) = (Best::NONE, packet.destination);
            let (lines, now) = (&self.lines, now.picoseconds());
            self.topology.shortest(node, destination, |channel| best.offer(channel, &lines[channel as usize], now));
            if best.channel != NONE {
                if best.equals == 1 {
                    return Some(best.channel);
                }
                let mut turn = Turn::next(best, &mut self.turns[node as usize]);
                self.topology.shortest(node, destination, |channel| turn.offer(channel, &lines[channel as usize], now));
                return Some(turn.chosen);
            }
        }
        self.choose_among(now, id, node)
    }

    /// The same choice where the shortest ways do not serve, or have been left: none that leads back.
    #[cold]
    #[inline(never)]
    fn choose_among(&mut self, now: SimTime, id: u32, node: u32) -> Option<u32> {
        let packet = &mut self.packets.places[id as usize];
        let (topology, lines, now) = (&self.topology, &self.lines, now.picoseconds());
        let previous = if packet.came_by == NONE { NONE } else { topology.peer(topology.reverse(packet.came_by)) };
        let leads_on = |&channel: &u32| topology.peer(channel) != previous;
        let mut choice = Vec::new();
        if packet.is_deviated() && topology.spare_links() > 0 {
            // What has met a failure takes spare links as all others.
            let hops = |node| topology.distance_with_spares(node, packet.destination);
            choice.extend(topology.channels_from(node).filter(|&channel| hops(topology.peer(channel)) < hops(node)));
        } else {
            topology.shortest(node, packet.destination, |channel| choice.push(channel));
        }
        choice.retain(leads_on);
        if choice.iter().all(|&channel| lines[channel as usize].is_failed()) {
            // Those on shortest ways do not work or lead back, so they are as good as not among these.
            choice = topology.channels_from(node).filter(leads_on).collect();
            if choice.iter().all(|&channel| lines[channel as usize].is_failed()) {
                return None;
            }
            packet.deviate();
            let hops = |node| topology.distance_with_spares(node, packet.destination);
            // One that has turned away just before takes any, lest it circle.
            if topology.spare_links() > 0 && (previous == NONE || hops(node) < hops(previous)) {
                choice.retain(|&channel| !lines[channel as usize].is_failed());
                let nearest = choice.iter().map(|&channel| hops(topology.peer(channel))).min();
                choice.retain(|&channel| Some(hops(topology.peer(channel))) == nearest);
            }
        }
        let mut best = Best::NONE;
        choice.iter().for_each(|&channel| best.offer(channel, &lines[channel as usize], now));
        let mut turn = Turn::next(best, &mut self.turns[node as usize]);
        choice.iter().for_each(|&channel| turn.offer(channel, &lines[channel as usize], now));
        Some(turn.chosen)
    }
}
