//! What buffers of recovery wait for, of some of them, and how busy the parts of the system are meanwhile.
//!
//! Of every so many places of buffers under way one is *traced*: what is in it notes when it comes to each stage. A destination
//! uses its places again and again, so the stages of those that are traced stand for all. That costs one comparison an event.

use resilver_fabric::Fabric;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::gathers::Leg;
use super::outcome::DeviceOutcome;
use super::snapshot::Snapshot;
use super::spent::{STAGES, Spent, Stage, merge};
use super::work::RecoveryWork;
use crate::plant::Plant;
use crate::scenario::RecoveryPolicy;
use crate::trace::{Fate, RecoveryTrace};

/// Places of which one is traced, at most; of a memory for fewer buffers, one in each memory.
const STRIDE_MAX: u64 = 64;
/// Work of so few buffers is traced in full; of more, about so many are while that takes no more than `STRIDE_MAX`.
const FEW_BUFFERS: u64 = 1 << 14;
/// Entries that are kept before they are first added up, and pairs of devices of which sums are kept once there are twice as many.
const FIRST_FILL: usize = 1 << 14;
const PAIRS_MAX: usize = 1 << 18;
/// No position, or no one device.
pub(crate) const NOBODY: u32 = u32::MAX;

/// When a part of a traced buffer came to each of its stages.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    asked: SimTime,
    came: SimTime,
    read: SimTime,
    sent: SimTime,
    left: SimTime,
}

/// A mark that a part passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It is asked for.
    Asked,
    /// The request has come to the source.
    Came,
    /// The source has memory for it and reads it.
    Reads,
    /// It is read, and handed to the network.
    Sends,
    /// It has left the source.
    Left,
}

/// A traced buffer: when it was taken up, when it was whole and by the part at which position, when it was made, and from when on
/// it is written.
#[derive(Clone, Copy, Debug)]
struct Trace {
    opened: SimTime,
    whole: SimTime,
    decoded: SimTime,
    written_from: SimTime,
    /// How long software kept it before.
    kept: SimDuration,
    /// The part that came last, and where it came from.
    last: (u32, u32),
}

/// What buffers wait for.
#[derive(Clone, Debug)]
pub(crate) struct Waits {
    /// One less than how many places have one that is traced, a power of two.
    mask: u32,
    width: usize,
    traces: Vec<Trace>,
    parts: Vec<Part>,
    spent: Vec<Spent>,
    most: usize,
    /// When the work began that is under way, and when its last lost piece was made.
    pub begin: Snapshot,
    pub end: Option<Snapshot>,
    /// Which device made that piece.
    pub last: u32,
    /// All that is noted of buffers and waits, where the run is traced.
    pub trace: Option<Box<RecoveryTrace>>,
}

impl Waits {
    /// Of work that has not begun; `width` is that of the widest code.
    pub(super) fn new(width: usize, policy: &RecoveryPolicy, work: &RecoveryWork) -> Self {
        let (mut buffers, most) = (0, FEW_BUFFERS * STRIDE_MAX);
        let _ = work.tasks.iter().try_for_each(|task| {
            buffers += u64::from(task.buffers_left);
            (buffers < most).then_some(())
        });
        let memory = if policy.pipelining { policy.receive_memory.get() / policy.pipeline_buffer.get() } else { 1 };
        let sources = work.pools.iter().map(|pool| pool.code.data()).max().unwrap_or(1);
        let places = memory / u64::from(sources);
        let stride = 1 << places.min(buffers / FEW_BUFFERS).clamp(1, STRIDE_MAX).ilog2();
        Waits {
            mask: stride - 1,
            width,
            traces: Vec::new(),
            parts: Vec::new(),
            spent: Vec::new(),
            most: FIRST_FILL,
            begin: Snapshot::default(),
            end: None,
            last: NOBODY,
            trace: None,
        }
    }

    /// How many buffers each traced one stands for.
    pub fn stride(&self) -> u64 {
        u64::from(self.mask) + 1
    }

    /// Work begins where there was none.
    pub fn start<F: Fabric>(&mut self, now: SimTime, plant: &Plant<F>, devices: &[DeviceOutcome]) {
        self.begin = Snapshot::of(now, plant, devices);
        (self.spent, self.end, self.last) = (Vec::new(), None, NOBODY);
    }

    /// The last lost piece is made.
    #[cold]
    pub fn stop<F: Fabric>(&mut self, now: SimTime, plant: &Plant<F>, devices: &[DeviceOutcome]) {
        self.end = Some(Snapshot::of(now, plant, devices));
    }

    #[inline]
    fn is_traced(&self, slot: u32) -> bool {
        slot & self.mask == 0
    }

    fn place(&self, slot: u32) -> usize {
        (slot / (self.mask + 1)) as usize
    }

    /// A place takes a buffer up.
    #[inline]
    pub fn open(&mut self, slot: u32, now: SimTime) {
        if self.is_traced(slot) {
            self.begin_trace(slot, now);
        }
    }

    #[inline(never)]
    fn begin_trace(&mut self, slot: u32, now: SimTime) {
        let place = self.place(slot);
        let kept = SimDuration::ZERO;
        let trace = Trace { opened: now, whole: now, decoded: now, written_from: now, kept, last: (NOBODY, NOBODY) };
        if self.traces.len() <= place {
            self.traces.resize(place + 1, trace);
            self.parts.resize((place + 1) * self.width, Part::default());
        }
        self.traces[place] = trace;
    }

    /// A part passes a mark.
    #[inline]
    pub(super) fn mark(&mut self, leg: Leg, mark: Mark, now: SimTime) {
        if mark == Mark::Reads {
            self.note(|trace| trace.went((leg.slot, leg.position), now, Fate::Done));
        }
        if self.is_traced(leg.slot) {
            self.put_mark(leg, mark, now);
        }
    }

    #[inline(never)]
    fn put_mark(&mut self, leg: Leg, mark: Mark, now: SimTime) {
        let place = self.place(leg.slot) * self.width + leg.position as usize;
        let part = &mut self.parts[place];
        match mark {
            // What comes behind has not been yet.
            Mark::Asked => *part = Part { asked: now, came: now, read: now, sent: now, left: now },
            Mark::Came => part.came = now,
            Mark::Reads => part.read = now,
            Mark::Sends => part.sent = now,
            Mark::Left => part.left = now,
        }
    }

    /// All parts of a buffer are there, of which one came last, from this source.
    #[inline]
    pub(super) fn whole(&mut self, leg: Leg, source: u32, now: SimTime) {
        if self.is_traced(leg.slot) {
            let place = self.place(leg.slot);
            let trace = &mut self.traces[place];
            (trace.whole, trace.last) = (now, (leg.position, source));
        }
    }

    /// Software keeps a buffer so long before its piece is made.
    #[inline]
    pub fn held_for(&mut self, slot: u32, time: SimDuration) {
        if self.is_traced(slot) {
            let place = self.place(slot);
            self.traces[place].kept = time;
        }
    }

    /// A buffer's piece is made of its parts, and written from now on unless it is handed over first.
    #[inline]
    pub fn write(&mut self, slot: u32, now: SimTime) {
        self.note(|trace| trace.know(slot, |row| row.decoded = Some(now)));
        if self.is_traced(slot) {
            let place = self.place(slot);
            (self.traces[place].decoded, self.traces[place].written_from) = (now, now);
        }
    }

    /// A buffer is where it is to be, and written from now on.
    pub fn handed_over(&mut self, slot: u32, now: SimTime) {
        if self.is_traced(slot) {
            let place = self.place(slot);
            self.traces[place].written_from = now;
        }
    }

    /// A buffer is written, which one device drove to another that it is at, or to itself.
    #[inline]
    pub fn done(&mut self, slot: u32, ends: (u32, u32), bytes: Bytes, now: SimTime) {
        self.note(|trace| trace.ended(slot, now, Fate::Done));
        if self.is_traced(slot) {
            self.end_trace(slot, ends, bytes, now);
        }
    }

    #[inline(never)]
    fn end_trace(&mut self, slot: u32, (driver, target): (u32, u32), bytes: Bytes, now: SimTime) {
        let place = self.place(slot);
        let Trace { opened, whole, decoded, written_from, kept, last: (position, source) } = self.traces[place];
        if position == NOBODY {
            // A source failed that it was to come from, and what had come sufficed.
            return;
        }
        let Part { asked, came, read, sent, left } = self.parts[place * self.width + position as usize];
        // An interface may be done with a message only after that has arrived.
        let left = left.max(sent).min(whole);
        let stages = [
            asked.since(opened),
            came.since(asked),
            read.since(came),
            sent.since(read),
            left.since(sent),
            whole.since(left),
            decoded.since(whole) - kept,
            kept,
            written_from.since(decoded),
            now.since(written_from),
        ];
        if self.spent.len() >= self.most {
            self.add_up();
        }
        let mut of_source = stages.map(SimDuration::picoseconds);
        let ends = |other: u32| u64::from(driver) << 32 | u64::from(other);
        let (buffers, bytes) = (1, bytes.get());
        if driver != target {
            let mut of_target = [0; STAGES];
            for stage in [Stage::HandOver, Stage::Write] {
                of_target[stage as usize] = std::mem::take(&mut of_source[stage as usize]);
            }
            self.spent.push(Spent { ends: ends(target), is_handed_over: true, stages: of_target, buffers, bytes });
        }
        self.spent.push(Spent { ends: ends(source), is_handed_over: false, stages: of_source, buffers, bytes });
    }

    #[cold]
    fn add_up(&mut self) {
        merge(&mut self.spent);
        if self.spent.len() > PAIRS_MAX {
            // So many sources are none to be named each: those that took least are put together, destination by destination.
            let mut times: Vec<u64> = self.spent.iter().map(Spent::picoseconds).collect();
            let (_, &mut least, _) = times.select_nth_unstable(self.spent.len() - PAIRS_MAX / 2);
            for spent in self.spent.iter_mut().filter(|spent| spent.picoseconds() <= least) {
                spent.ends |= u64::from(NOBODY);
            }
            merge(&mut self.spent);
        }
        self.most = (2 * self.spent.len()).max(FIRST_FILL);
    }

    /// What was spent by driver, then the other device.
    pub fn spent(&self) -> Vec<Spent> {
        let mut spent = self.spent.clone();
        merge(&mut spent);
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::super::Recovery;
    use super::*;

    /// Of no work, which is traced in full.
    fn traced_in_full(width: usize) -> Waits {
        let work = Recovery::of_nothing(1).work;
        Waits::new(width, &RecoveryPolicy::default(), &work)
    }

    fn at(time: u64) -> SimTime {
        SimTime::from_picoseconds(time)
    }

    // Rule: the stages of a traced buffer are the times between its marks, of the part that came last; they add up to the time
    // from its being taken up to its being written.
    #[test]
    fn the_stages_of_a_buffer_add_up_to_its_time() {
        let mut waits = traced_in_full(2);
        waits.open(0, at(10));
        let [first, last] = [0, 1].map(|position| Leg { slot: 0, position });
        for (leg, times) in [(first, [10, 11, 12, 13, 14]), (last, [15, 17, 20, 24, 29])] {
            let marks = [Mark::Asked, Mark::Came, Mark::Reads, Mark::Sends, Mark::Left];
            marks.into_iter().zip(times).for_each(|(mark, time)| waits.mark(leg, mark, at(time)));
        }
        waits.whole(last, 7, at(35));
        waits.write(0, at(42));
        let mut others = waits.clone();
        waits.done(0, (3, 3), Bytes::new(9), at(50));
        let [spent] = &waits.spent()[..] else { panic!("one pair") };
        assert_eq!((spent.driver(), spent.other(), spent.buffers, spent.bytes), (3, 7, 1, 9));
        assert_eq!((spent.stages, spent.picoseconds()), ([5, 2, 3, 4, 5, 6, 7, 0, 0, 8], 50 - 10));
        others.handed_over(0, at(44));
        others.done(0, (3, 5), Bytes::new(9), at(50));
        let [handed, gathered] = &others.spent()[..] else { panic!("two pairs") };
        assert_eq!((handed.driver(), handed.other(), &handed.stages[8..]), (3, 5, &[2, 6][..]));
        assert_eq!((gathered.other(), gathered.picoseconds()), (7, 42 - 10));
    }

    #[test]
    fn so_many_sources_are_put_together_that_take_least() {
        let mut waits = traced_in_full(1);
        let count = 4 * PAIRS_MAX as u32;
        for source in 0..count {
            // One source takes a thousand times as long as each of the others.
            let time = if source == 77 { 1000 } else { 1 };
            waits.open(0, at(0));
            waits.mark(Leg { slot: 0, position: 0 }, Mark::Asked, at(0));
            waits.whole(Leg { slot: 0, position: 0 }, source, at(time));
            waits.write(0, at(time));
            waits.done(0, (0, 0), Bytes::new(1), at(time));
        }
        let spent = waits.spent();
        assert!(spent.len() <= 2 * PAIRS_MAX, "{}", spent.len());
        assert_eq!(spent.iter().map(|one| one.buffers).sum::<u64>(), u64::from(count));
        assert_eq!(spent.iter().find(|one| one.other() == 77).map(Spent::picoseconds), Some(1000));
    }
}
