//! The ports of a fabric, or the one of a device: what waits at each in its lanes, and what is next.

use resilver_units::SimTime;

use super::usage::Tally;
use super::{LANES_MAX, LaneOrder, LaneUse, Lanes};
use crate::prefetch;

/// No unit.
const NONE: u32 = u32::MAX;
/// The tag of a lane without a share, behind all others.
const WITHOUT_SHARE: u64 = u64::MAX;
/// Virtual time from which a port's tags are counted anew, and the most by which a unit moves them on: tags stay below 2^63.
const TAG_LIMIT: u64 = 1 << 62;

/// The units of one lane that wait at a port, a list through their numbers.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    /// The start tag of its first unit; the finish tag of its last one served where none waits.
    tag: u64,
}

/// Half a cache line, so that none lies across two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Port {
    virtual_time: u64,
    /// The highest finish tag of all lanes.
    highest: u64,
    /// When it is done with what it serves, in picoseconds.
    busy_until: u64,
    /// The set of lanes that wait.
    waiting: u8,
    /// The lane whose turn it is, where all else is equal.
    turn: u8,
    /// The lane of what it serves.
    serving: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Turns,
    Shares,
    Priority,
}

/// A unit taken out of its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its number.
    pub unit: u32,
    /// Its lane.
    pub lane: usize,
}

/// The serving of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When its serving begins.
    pub start: SimTime,
    /// When the port is done with it.
    pub end: SimTime,
    /// What counts against its lane's share: bytes where the port has one rate, picoseconds elsewhere.
    pub cost: u64,
    /// Its data, with what it takes beside.
    pub bytes: u64,
}

/// Ports of the same lanes, and the units that wait at them; units are numbered by their owner, who uses numbers again.
///
/// A unit that finds its port idle and no other waiting [passes](LanePorts::pass); any other is [pushed](LanePorts::push), and
/// [taken](LanePorts::take) when its turn comes. In both cases its serving [begins](LanePorts::begin) then.
#[derive(Clone, Debug)]
pub struct LanePorts {
    rule: Rule,
    lanes: usize,
    factors: [u64; LANES_MAX],
    priority: [u8; LANES_MAX],
    ports: Vec<Port>,
    queues: Vec<Queue>,
    /// The unit behind each unit in its list.
    next: Vec<u32>,
    tally: Tally,
}

impl LanePorts {
    /// Idle ports.
    ///
    /// # Panics
    /// When [`Lanes::check`] refuses the lanes.
    pub fn new(ports: usize, lanes: &Lanes) -> Self {
        if let Err(error) = lanes.check() {
            panic!("{error}");
        }
        let (mut factors, mut priority) = ([0; LANES_MAX], [0; LANES_MAX]);
        factors[..lanes.count()].copy_from_slice(&lanes.factors());
        let rule = match &lanes.order {
            LaneOrder::Turns => Rule::Turns,
            LaneOrder::Shares => Rule::Shares,
            LaneOrder::Priority(order) => {
                priority[..order.len()].copy_from_slice(order);
                Rule::Priority
            }
        };
        let tag = |lane: usize| if factors[lane] == 0 { WITHOUT_SHARE } else { 0 };
        let of_port = (0..lanes.count()).map(|lane| Queue { first: NONE, last: NONE, tag: tag(lane) });
        LanePorts {
            rule,
            lanes: lanes.count(),
            factors,
            priority,
            ports: vec![Port::default(); ports],
            queues: of_port.collect::<Vec<_>>().repeat(ports),
            next: Vec::new(),
            tally: Tally::new(lanes),
        }
    }

    /// How many lanes each port has.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The lane that a sender's number means: senders that name more lanes than there are share them.
    #[inline]
    pub fn lane(&self, number: u8) -> usize {
        let number = usize::from(number);
        if number < self.lanes { number } else { number % self.lanes }
    }

    /// Whether nothing waits at a port.
    #[inline]
    pub fn is_empty(&self, port: u32) -> bool {
        self.ports[port as usize].waiting == 0
    }

    /// When a port is or was done with what it serves.
    #[inline]
    pub fn busy_until(&self, port: u32) -> SimTime {
        SimTime::from_picoseconds(self.ports[port as usize].busy_until)
    }

    /// Learns that a port is among the next to turn to what waits; returns a unit that it may turn to then.
    #[inline]
    pub fn announce(&self, port: u32) -> u32 {
        // A guess without a branch: the first lane that waits, or the last.
        let lane = (self.ports[port as usize].waiting.trailing_zeros() as usize).min(self.lanes - 1);
        let unit = self.queues[port as usize * self.lanes + lane].first;
        if let Some(next) = self.next.get(unit as usize) {
            prefetch(next);
        }
        unit
    }

    /// Whether a port turns to what waits at it now.
    #[inline]
    pub fn is_due(&self, port: u32, now: SimTime) -> bool {
        let port = &self.ports[port as usize];
        port.waiting != 0 && port.busy_until == now.picoseconds()
    }

    #[inline]
    fn next_turn(&self, lane: usize) -> u8 {
        if lane + 1 == self.lanes { 0 } else { lane as u8 + 1 }
    }

    /// Puts a unit at the end of its lane.
    #[inline]
    pub fn push(&mut self, now: SimTime, port: u32, lane: usize, unit: u32) {
        let last = self.queues[port as usize * self.lanes + lane].last;
        self.insert(now, port, lane, unit, Some(last).filter(|&last| last != NONE));
    }

    /// Puts a unit into its lane, behind one that waits there or before all of them.
    #[inline]
    pub fn insert(&mut self, now: SimTime, port: u32, lane: usize, unit: u32, behind: Option<u32>) {
        if self.next.len() <= unit as usize {
            self.next.resize(unit as usize + 1, NONE);
        }
        self.tally.wait(lane, now);
        let queue = &mut self.queues[port as usize * self.lanes + lane];
        let port = &mut self.ports[port as usize];
        if queue.first == NONE {
            // What a lane did not use while it was idle is gone. A lane without a share stays behind all others.
            queue.tag = queue.tag.max(port.virtual_time);
            port.waiting |= 1 << lane;
        }
        let before = behind.map_or(&mut queue.first, |behind| &mut self.next[behind as usize]);
        let next = std::mem::replace(before, unit);
        self.next[unit as usize] = next;
        if next == NONE {
            queue.last = unit;
        }
    }

    /// A unit of a lane goes straight through an idle port: a new busy period begins, in which all lanes are equal.
    #[inline]
    pub fn pass(&mut self, port: u32, lane: usize) {
        self.ports[port as usize].turn = self.next_turn(lane);
        if self.rule == Rule::Shares {
            self.reach(port, self.ports[port as usize].highest);
            let start = self.ports[port as usize].virtual_time;
            let queue = &mut self.queues[port as usize * self.lanes + lane];
            queue.tag = queue.tag.max(start);
        }
    }

    /// Moves a port's virtual time on to `tag`.
    #[inline]
    fn reach(&mut self, port: u32, tag: u64) {
        self.ports[port as usize].virtual_time = tag;
        if tag >= TAG_LIMIT {
            self.count_anew(port);
        }
    }

    /// Counts a port's tags from its virtual time on; those below are as good as equal to it.
    #[cold]
    fn count_anew(&mut self, port: u32) {
        let at = &mut self.ports[port as usize];
        let passed = std::mem::take(&mut at.virtual_time);
        at.highest -= passed;
        for queue in &mut self.queues[port as usize * self.lanes..][..self.lanes] {
            if queue.tag != WITHOUT_SHARE {
                queue.tag = queue.tag.saturating_sub(passed);
            }
        }
    }

    /// The lane that is next at a port; some lane waits.
    #[inline]
    fn next_lane(&self, port: u32) -> usize {
        let Port { waiting, turn, .. } = self.ports[port as usize];
        if waiting & (waiting - 1) == 0 {
            return waiting.trailing_zeros() as usize;
        }
        let waits = |lane: usize| waiting >> lane & 1 == 1;
        if self.rule == Rule::Priority {
            let first = self.priority[..self.lanes].iter().map(|&lane| usize::from(lane)).find(|&lane| waits(lane));
            return first.expect("some lane waits");
        }
        let queues = &self.queues[port as usize * self.lanes..][..self.lanes];
        let (mut lane, mut found) = (usize::from(turn), None);
        for _ in 0..self.lanes {
            if waits(lane) {
                if self.rule == Rule::Turns {
                    return lane;
                }
                if found.is_none_or(|found: usize| queues[lane].tag < queues[found].tag) {
                    found = Some(lane);
                }
            }
            lane = usize::from(self.next_turn(lane));
        }
        found.expect("some lane waits")
    }

    /// Takes the unit that is next at a port, if one waits.
    #[inline]
    pub fn take(&mut self, now: SimTime, port: u32) -> Option<Taken> {
        if self.is_empty(port) {
            return None;
        }
        let lane = self.next_lane(port);
        let turn = self.next_turn(lane);
        let place = port as usize * self.lanes + lane;
        let queue = &mut self.queues[place];
        let unit = queue.first;
        let next = self.next[unit as usize];
        queue.first = next;
        let tag = queue.tag;
        self.tally.turn_to(lane, now);
        let at = &mut self.ports[port as usize];
        at.turn = turn;
        if next == NONE {
            queue.last = NONE;
            at.waiting &= !(1 << lane);
        }
        if self.rule == Rule::Shares {
            // Where a lane without a share is served, no other waits.
            let highest = at.highest;
            self.reach(port, if tag == WITHOUT_SHARE { highest } else { tag });
        }
        Some(Taken { unit, lane })
    }

    /// Counts a cost against a lane's share.
    #[inline]
    pub fn charge(&mut self, port: u32, lane: usize, cost: u64) {
        if self.rule == Rule::Shares && self.factors[lane] > 0 {
            let queue = &mut self.queues[port as usize * self.lanes + lane];
            queue.tag += cost.saturating_mul(self.factors[lane]).min(TAG_LIMIT);
            let at = &mut self.ports[port as usize];
            at.highest = at.highest.max(queue.tag);
        }
    }

    /// The serving of a unit begins that passed or was taken.
    #[inline]
    pub fn begin(&mut self, port: u32, lane: usize, service: Service) {
        self.charge(port, lane, service.cost);
        let at = &mut self.ports[port as usize];
        at.serving = lane as u8;
        at.busy_until = service.end.picoseconds();
        let busy = service.end.since(service.start).picoseconds();
        self.tally.count(lane, at.waiting, service.bytes, busy);
    }

    /// A port stops at `now` what it serves, where it is not done.
    pub fn cut(&mut self, now: SimTime, port: u32) {
        let at = &mut self.ports[port as usize];
        let ahead = at.busy_until.saturating_sub(now.picoseconds());
        at.busy_until -= ahead;
        self.tally.cut(usize::from(at.serving), ahead);
    }

    /// Statistics begin anew; what is being served is shared out.
    pub fn begin_statistics(&mut self, now: SimTime) {
        let ends = self.ports.iter().map(|port| (usize::from(port.serving), port.busy_until));
        self.tally.begin_anew(now, ends);
    }

    /// What each lane did from the beginning of statistics to `now`.
    pub fn uses(&self, now: SimTime) -> Vec<LaneUse> {
        self.tally.uses(now, self.ports.iter().map(|port| (usize::from(port.serving), port.busy_until)))
    }
}
