//! What a switched fabric did: its statistics, and the law that every packet is accounted for.

use resilver_kernel::lanes::LaneUse;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::{Carries, Switched};

/// What one channel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelUse {
    /// The node that it leaves.
    pub from: u32,
    /// The node that it leads to.
    pub to: u32,
    /// The link that it is a direction of.
    pub link: u32,
    /// Time in which it was sending.
    pub busy: SimDuration,
    /// Packets that came to be sent on it.
    pub packets: u64,
    /// Those among them that had to wait.
    pub queued: u64,
    /// What they hold, their overhead included.
    pub bytes: Bytes,
    /// Whether it does not work now.
    pub is_failed: bool,
}

/// Packets dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// No channel was left to go by.
    pub no_link: u64,
    /// Too many hops.
    pub hop_limit: u64,
    /// Cut by the failure of a link or of a node.
    pub cut: u64,
}

impl Dropped {
    /// All together.
    pub const fn total(self) -> u64 {
        self.no_link + self.hop_limit + self.cut
    }
}

/// What became of all packets since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Packets sent.
    pub sent: u64,
    /// Packets that reached their destination.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets on their way, which are counted by themselves.
    pub under_way: u64,
}

impl Conservation {
    /// Whether every packet is accounted for.
    pub const fn holds(self) -> bool {
        self.sent == self.delivered + self.dropped + self.under_way
    }
}

/// What a switched fabric did since its statistics began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkUse {
    /// What each channel did.
    pub channels: Vec<ChannelUse>,
    /// Packets that entered the network.
    pub packets_sent: u64,
    /// Packets that reached their destination.
    pub packets_delivered: u64,
    /// Packets dropped.
    pub packets_dropped: Dropped,
    /// Packets that had to wait for a channel, once for each.
    pub packets_queued: u64,
    /// Packets that came to be sent on a channel, once for each.
    pub packets_forwarded: u64,
    /// Packets on their way now.
    pub packets_under_way: u64,
    /// Packets delivered after each number of hops.
    pub hops: Vec<u64>,
    /// Packets delivered that had left the shortest ways.
    pub deviated: u64,
    /// What became of all packets since the start of the run.
    pub total: Conservation,
    /// What each lane did at all ports, where there are several: of packets whose sending has begun.
    pub lanes: Vec<LaneUse>,
}

/// Packets counted since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub sent: u64,
    pub delivered: u64,
    pub deviated: u64,
    pub dropped: Dropped,
}

/// What the statistics leave out: all that was before they began.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub counters: Counters,
    /// Picoseconds that each channel had been sending.
    pub busy: Vec<u64>,
    /// Bytes that each channel had passed.
    pub bytes: Vec<u64>,
    pub since: SimTime,
}

impl Switched {
    /// Picoseconds that a channel has been sending up to `now`.
    ///
    /// It sends without a pause until it is free, so what lies ahead of `now` is all that is not done.
    pub(super) fn busy_until(&self, channel: usize, now: SimTime) -> u64 {
        let line = self.lines[channel];
        if line.is_failed() { line.busy } else { line.busy - line.free_at.saturating_sub(now.picoseconds()) }
    }

    pub(super) fn begin_anew(&mut self, now: SimTime) {
        self.baseline.since = now;
        self.baseline.counters = self.counters;
        self.baseline.busy = (0..self.lines.len()).map(|channel| self.busy_until(channel, now)).collect();
        self.baseline.bytes.iter_mut().zip(&self.lines).for_each(|(sum, line)| *sum += line.bytes);
        self.hops.clear();
        if let Some(ports) = &mut self.ports {
            ports.begin_statistics(now);
        }
        self.carries = Carries::default();
        for line in &mut self.lines {
            (line.packets, line.queued, line.bytes) = (0, 0, 0);
        }
    }

    /// What became of all packets since the start of the run.
    pub fn conservation(&self) -> Conservation {
        let Counters { sent, delivered, dropped, .. } = self.counters;
        Conservation { sent, delivered, dropped: dropped.total(), under_way: self.packets.live() }
    }

    /// What the fabric did from the beginning of its statistics to `now`.
    pub fn report(&self, now: SimTime) -> NetworkUse {
        let (counters, before) = (self.counters, self.baseline.counters);
        let channels: Vec<ChannelUse> = (0..self.lines.len()).map(|channel| self.channel_use(channel, now)).collect();
        let total = self.conservation();
        debug_assert!(total.holds(), "{total:?}");
        NetworkUse {
            packets_sent: counters.sent - before.sent,
            packets_delivered: counters.delivered - before.delivered,
            packets_dropped: Dropped {
                no_link: counters.dropped.no_link - before.dropped.no_link,
                hop_limit: counters.dropped.hop_limit - before.dropped.hop_limit,
                cut: counters.dropped.cut - before.dropped.cut,
            },
            packets_queued: channels.iter().map(|channel| channel.queued).sum(),
            packets_forwarded: channels.iter().map(|channel| channel.packets).sum(),
            packets_under_way: total.under_way,
            hops: self.hops.clone(),
            deviated: counters.deviated - before.deviated,
            total,
            channels,
            lanes: self.ports.as_ref().filter(|ports| ports.lanes() > 1).map_or_else(Vec::new, |ports| ports.uses(now)),
        }
    }

    fn channel_use(&self, channel: usize, now: SimTime) -> ChannelUse {
        let (line, number) = (self.lines[channel], channel as u32);
        let [packets, queued] = self.carries.of(channel).map(|carries| carries << 32);
        let busy = SimDuration::from_picoseconds(self.busy_until(channel, now) - self.baseline.busy[channel]);
        debug_assert!(
            busy <= now.since(self.baseline.since),
            "channel {channel} was busy for longer than there was time"
        );
        ChannelUse {
            from: self.topology.peer(self.topology.reverse(number)),
            to: self.topology.peer(number),
            link: self.topology.link_of(number),
            busy,
            packets: packets + u64::from(line.packets),
            queued: queued + u64::from(line.queued),
            bytes: Bytes::new(line.bytes),
            is_failed: line.is_failed(),
        }
    }
}
