//! Packets and messages on their way, each kind in an arena whose places are used again.

/// No packet, message or channel.
pub(super) const NONE: u32 = u32::MAX;
/// Most hops that a packet can count.
pub(super) const HOP_LIMIT: u32 = (1 << 24) - 1;
/// Most lanes that a packet can name.
pub(super) const LANE_LIMIT: u8 = 1 << 6;
/// When a packet that waits in an explicit queue is due, or one that is no more.
pub(super) const NEVER: u64 = u64::MAX;

const HOP: u32 = 1 << 8;
const DEVIATED: u32 = 1 << 7;
const LEFT_SOURCE: u32 = 1 << 6;

/// A packet on its way: half a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// When it is at the next node and may go on.
    ///
    /// An event of a packet is stale unless it comes at this time: a packet that chose another channel, or was dropped, may
    /// have events left from before. One that comes at this time is right, whichever hop it was scheduled for, and as a
    /// transmission takes time, no second one can be.
    pub due: u64,
    /// Where it goes.
    pub destination: u32,
    /// The channel that it is on or waits for; of one that is no more, [`NONE`].
    pub channel: u32,
    /// The channel that it came by to the node that `channel` leaves; at its source [`NONE`].
    pub came_by: u32,
    /// The message that it is a part of; of one that is no more, the next free place.
    pub message: u32,
    /// Payload in bytes.
    pub payload: u32,
    /// Hops in the upper 24 bits, then whether it has left the shortest ways, whether it has left its source, and its lane.
    state: u32,
}

impl Packet {
    #[inline]
    pub fn new(destination: u32, message: u32, payload: u32, lane: u8) -> Self {
        let state = u32::from(lane);
        Packet { due: NEVER, destination, channel: NONE, came_by: NONE, message, payload, state }
    }

    /// Hops that it began.
    #[inline]
    pub fn hops(&self) -> u32 {
        self.state / HOP
    }

    #[inline]
    pub fn begin_hop(&mut self) {
        self.state += HOP;
    }

    /// The hop that it waited for is not to be.
    pub fn take_hop_back(&mut self) {
        self.state -= HOP;
    }

    /// Whether it has left the shortest ways.
    #[inline]
    pub fn is_deviated(&self) -> bool {
        self.state & DEVIATED != 0
    }

    pub fn deviate(&mut self) {
        self.state |= DEVIATED;
    }

    /// Whether it has begun to leave its source: explicit queues keep track of it.
    #[inline]
    pub fn has_left_source(&self) -> bool {
        self.state & LEFT_SOURCE != 0
    }

    #[inline]
    pub fn leave_source(&mut self) {
        self.state |= LEFT_SOURCE;
    }

    #[inline]
    pub fn lane(&self) -> u8 {
        self.state as u8 % LANE_LIMIT
    }
}

/// The packets on their way.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    pub places: Vec<Packet>,
    free: u32,
    live: u64,
}

impl Packets {
    pub const fn new() -> Self {
        Packets { places: Vec::new(), free: NONE, live: 0 }
    }

    /// Packets on their way.
    pub const fn live(&self) -> u64 {
        self.live
    }

    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        let id = self.free;
        if id == NONE {
            let id = u32::try_from(self.places.len()).expect("2^32 packets exceed any memory");
            self.places.push(packet);
            return id;
        }
        self.free = self.places[id as usize].message;
        self.places[id as usize] = packet;
        id
    }

    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.live -= 1;
        let place = &mut self.places[id as usize];
        (place.due, place.channel, place.message) = (NEVER, NONE, self.free);
        self.free = id;
    }
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transit {
    /// The sender's token; of one that is no more, the next free place.
    pub token: u64,
    /// Packets on their way.
    pub packets: u32,
    /// Packets that have not left the sender, where it is yet to be told.
    pub unsent: u32,
    /// When all packets that have begun to leave the sender will have left, where it is yet to be told.
    pub left_at: u64,
    /// Events that are to tell of it.
    pub tells: u32,
    /// Whether a packet was dropped.
    pub is_lost: bool,
}

/// The messages on their way.
#[derive(Clone, Debug)]
pub(super) struct Transits {
    pub places: Vec<Transit>,
    free: u32,
}

impl Transits {
    pub const fn new() -> Self {
        Transits { places: Vec::new(), free: NONE }
    }

    #[inline]
    pub fn insert(&mut self, transit: Transit) -> u32 {
        let id = self.free;
        if id == NONE {
            let id = u32::try_from(self.places.len()).expect("2^32 messages exceed any memory");
            self.places.push(transit);
            return id;
        }
        self.free = self.places[id as usize].token as u32;
        self.places[id as usize] = transit;
        id
    }

    /// Frees a message's place if nothing of it is left to happen.
    #[inline]
    pub fn settle(&mut self, id: u32) {
        let place = &mut self.places[id as usize];
        if place.packets == 0 && place.tells == 0 && place.unsent == 0 {
            place.token = u64::from(self.free);
            self.free = id;
        }
    }
}
