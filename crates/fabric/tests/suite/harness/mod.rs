//! A model that sends messages through a switched fabric and writes down what becomes of them.

use std::sync::Arc;

use resilver_fabric::topology::{self, Topology};
use resilver_fabric::{
    Component, Fabric, FabricEvent, Forwarding, Message, Notice, Queues, Routing, Switched, SwitchedEvent,
    SwitchedParameters,
};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Digest, Event, ExitReason, Limit, Model, Schedule, run};
use resilver_units::{Bytes, BytesPerSecond, EndpointId, SimDuration, SimTime};

/// An event of the fabric, or what the test has planned: in the lowest two bits which.
#[derive(Clone, Copy, Debug)]
pub struct Step(u64);

impl Event for Step {
    fn code(&self) -> u64 {
        self.0
    }
}

const FABRIC: u64 = 0;
const SEND: u64 = 1;
const FAIL: u64 = 2;
const REPAIR: u64 = 3;

/// What happened to a message, and when in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    Sent(u64, u64),
    Delivered(u64, u64),
    Lost(u64, u64),
}

/// A hop of a packet as it is seen from outside, on the path of implicit queues and in messages of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    pub from: u32,
    pub to: u32,
    /// When the packet came to the channel, and when it had left it, in picoseconds.
    pub came: u64,
    pub left: u64,
    pub bytes: u64,
}

pub struct Diary {
    pub fabric: Switched,
    pub messages: Vec<Message>,
    components: Vec<Component>,
    pub entries: Vec<Entry>,
    /// When each message had left its sender as `send` said.
    pub left_at: Vec<Option<u64>>,
    /// Every event of the fabric, with its time in picoseconds.
    pub events: Vec<(u64, SwitchedEvent)>,
    /// Every hop, from the scheduling of the arrival at its end, where they are asked for.
    pub hops: Vec<Hop>,
    pub notes_hops: bool,
    /// The message of each packet.
    message_of: Vec<usize>,
    /// The latency of a link and of a switch, in picoseconds.
    latencies: [u64; 2],
}

impl Diary {
    /// Takes down that at `now` the packet of `event`, in node `from`, is told to reach the next node at `due`.
    fn note(&mut self, now: u64, from: u32, due: u64, event: SwitchedEvent) {
        if let SwitchedEvent::Arrive { packet, node } = event {
            let message = self.messages[self.message_of[packet as usize]];
            let is_last = self.fabric.topology().node_of(message.to) == node;
            let left = due - self.latencies[0] - if is_last { 0 } else { self.latencies[1] };
            self.hops.push(Hop { from, to: node, came: now, left, bytes: message.bytes.get() });
        }
    }
}

impl Model for Diary {
    type Event = Step;

    fn execute(&mut self, Step(word): Step, schedule: &mut Schedule<Step>) {
        let (now, number) = (schedule.now(), (word >> 2) as usize);
        let mut planned = Vec::new();
        let plan = |time: SimTime, event: SwitchedEvent| {
            planned.push((time.picoseconds(), event));
            schedule.at(time, Step(event.number() << 2 | FABRIC));
        };
        let mut from = None;
        match word % 4 {
            FABRIC => {
                let event = SwitchedEvent::of_number(word >> 2);
                self.events.push((now.picoseconds(), event));
                if let SwitchedEvent::Arrive { node, .. } = event {
                    from = Some(node);
                }
                let notice = self.fabric.execute(now, event, |_| unreachable!("the fabric keeps its messages"), plan);
                self.entries.extend(notice.map(|notice| match notice {
                    Notice::Delivered(token) => Entry::Delivered(now.picoseconds(), token),
                    Notice::Lost(token) => Entry::Lost(now.picoseconds(), token),
                    Notice::Sent(token) => Entry::Sent(now.picoseconds(), token),
                }));
            }
            SEND => {
                let left_at = self.fabric.send(now, self.messages[number], plan);
                self.left_at[number] = left_at.map(SimTime::picoseconds);
                from = Some(self.fabric.topology().node_of(self.messages[number].from));
                for &(_, event) in &planned {
                    if let SwitchedEvent::Arrive { packet, .. } = event {
                        self.message_of.resize(self.message_of.len().max(packet as usize + 1), 0);
                        self.message_of[packet as usize] = number;
                    }
                }
            }
            FAIL => {
                let entries = &mut self.entries;
                let lost = |token| entries.push(Entry::Lost(now.picoseconds(), token));
                self.fabric.fail(now, self.components[number], plan, lost);
            }
            _ => self.fabric.repair(now, self.components[number]),
        }
        if let (Some(from), true) = (from, self.notes_hops) {
            for (due, event) in planned {
                self.note(now.picoseconds(), from, due, event);
            }
        }
        let total = self.fabric.conservation();
        assert!(total.holds(), "at {now}: {total:?}");
    }

    fn announce(&self, Step(word): Step) {
        if word % 4 == FABRIC {
            self.fabric.announce(SwitchedEvent::of_number(word >> 2));
        }
    }
}

/// A fabric with a plan of what is sent and what fails when.
pub struct Play {
    pub diary: Diary,
    pub schedule: Schedule<Step>,
}

impl Play {
    pub fn new(topology: &Arc<Topology>, parameters: SwitchedParameters) -> Self {
        let latencies = [parameters.latency, parameters.switch_latency].map(SimDuration::picoseconds);
        let diary = Diary {
            fabric: Switched::new(Arc::clone(topology), parameters),
            messages: Vec::new(),
            components: Vec::new(),
            entries: Vec::new(),
            left_at: Vec::new(),
            events: Vec::new(),
            hops: Vec::new(),
            notes_hops: false,
            message_of: Vec::new(),
            latencies,
        };
        Play { diary, schedule: Schedule::new() }
    }

    /// Plans a message; its token is its number.
    pub fn send(&mut self, at: u64, from: u32, to: u32, bytes: u64) -> &mut Self {
        self.send_in_lane(at, from, to, bytes, 0)
    }

    pub fn send_in_lane(&mut self, at: u64, from: u32, to: u32, bytes: u64, lane: u8) -> &mut Self {
        let token = self.diary.messages.len() as u64;
        let (from, to, bytes) = (EndpointId::new(from), EndpointId::new(to), Bytes::new(bytes));
        self.diary.messages.push(Message { from, to, bytes, lane, token });
        self.diary.left_at.push(None);
        self.schedule.at(SimTime::from_picoseconds(at), Step(token << 2 | SEND));
        self
    }

    pub fn fail(&mut self, at: u64, component: Component) -> &mut Self {
        self.plan(at, component, FAIL)
    }

    pub fn repair(&mut self, at: u64, component: Component) -> &mut Self {
        self.plan(at, component, REPAIR)
    }

    fn plan(&mut self, at: u64, component: Component, kind: u64) -> &mut Self {
        let number = self.diary.components.len() as u64;
        self.diary.components.push(component);
        self.schedule.at(SimTime::from_picoseconds(at), Step(number << 2 | kind));
        self
    }

    /// Runs until nothing is left to happen; returns what became of the messages.
    pub fn run(&mut self) -> &[Entry] {
        assert_eq!(run(&mut self.diary, &mut self.schedule, Limit::none()), Ok(ExitReason::Drained));
        &self.diary.entries
    }

    pub fn until(&mut self, at: u64) -> &mut Self {
        run(&mut self.diary, &mut self.schedule, Limit::until(SimTime::from_picoseconds(at))).unwrap();
        self
    }

    pub fn events(&mut self, count: u64) -> ExitReason {
        run(&mut self.diary, &mut self.schedule, Limit::events(count)).unwrap()
    }

    pub fn digest(&self) -> Digest {
        self.schedule.digest()
    }

    /// When each message was delivered, in picoseconds.
    pub fn delivered_at(&self) -> Vec<Option<u64>> {
        let mut delivered = vec![None; self.diary.messages.len()];
        for entry in &self.diary.entries {
            if let Entry::Delivered(at, token) = *entry {
                assert_eq!(delivered[token as usize].replace(at), None, "message {token} was delivered twice");
            }
        }
        delivered
    }
}

pub fn torus(sides: &[u32], routers: &[u32]) -> Arc<Topology> {
    Arc::new(topology::torus(sides, routers).unwrap())
}

pub fn mesh(sides: &[u32], routers: &[u32]) -> Arc<Topology> {
    Arc::new(topology::mesh(sides, routers).unwrap())
}

pub const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;

/// Links of a gigabit a second, of which a byte takes 8,000 ps, without latency; packets of 64 KiB and 38 B.
pub fn gigabit() -> SwitchedParameters {
    SwitchedParameters {
        rate: BytesPerSecond::new(125e6).unwrap(),
        link_rates: Vec::new(),
        latency: SimDuration::ZERO,
        switch_latency: SimDuration::from_picoseconds(6 * PICOSECONDS_PER_MICROSECOND),
        overhead: Bytes::new(38),
        packet: Bytes::kibibytes(64),
        forwarding: Forwarding::StoreAndForward,
        routing: Routing::Adaptive,
        hop_limit: 64,
        lanes: Lanes::single(),
        queues: Queues::Implicit,
    }
}

pub fn rate(bytes_per_second: f64) -> BytesPerSecond {
    BytesPerSecond::new(bytes_per_second).unwrap()
}
