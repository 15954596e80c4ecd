//! The hold model: each event schedules one more, at an exponential distance, with a constant number pending.
//!
//! It is that of Jones, "An empirical comparison of priority-queue and event-set implementations" (CACM 29, 1986). The
//! kernel is measured whole: `run`, clock, digest and a model around the queue. Beside it stand the same run over the
//! plain queue, and the standard library's heap bare: pairs of time and a number, with no clock and no digest.
//!
//! Increments come from a table of 8,192 exponential samples of mean 1e9 ps, so that drawing them costs one load.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

use resilver_kernel::queue::{Plain, QueueKind, Radix};
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{SimDuration, SimTime};

/// Pending events, and the goal for the kernel in million events a second.
const CASES: [(usize, f64); 3] = [(1_000, 25.0), (100_000, 20.0), (1_000_000, 15.0)];
const TABLE: usize = 8192;
const MEAN_PICOSECONDS: f64 = 1e9;

/// An event of the size that system models have: a kind and three numbers, 16 bytes.
#[derive(Clone, Copy)]
enum Step {
    Arrive { server: u32, object: u32, bytes: u32 },
    Leave { server: u32, object: u32, bytes: u32 },
}

impl Event for Step {
    #[inline]
    fn code(&self) -> u64 {
        match *self {
            Step::Arrive { server, object, .. } => u64::from(server) << 32 | u64::from(object),
            Step::Leave { server, object, .. } => 1 << 63 | u64::from(server) << 32 | u64::from(object),
        }
    }
}

fn increments() -> Vec<SimDuration> {
    let mut stream = Stream::new(1, 0, Purpose::named("bench"));
    (0..TABLE).map(|_| SimDuration::from_picoseconds(stream.exponential(MEAN_PICOSECONDS) as u64)).collect()
}

struct Hold {
    increments: Vec<SimDuration>,
    at: usize,
}

impl Hold {
    #[inline]
    fn increment(&mut self) -> SimDuration {
        self.at = (self.at + 1) % TABLE;
        self.increments[self.at]
    }
}

impl<K: QueueKind> Model<K> for Hold {
    type Event = Step;
    #[inline]
    fn execute(&mut self, event: Step, schedule: &mut Schedule<Step, K>) {
        let delay = self.increment();
        let follower = match event {
            Step::Arrive { server, object, bytes } => Step::Leave { server, object, bytes },
            Step::Leave { server, object, bytes } => Step::Arrive { server, object, bytes },
        };
        schedule.after(delay, follower);
    }
}

fn step(index: usize) -> Step {
    Step::Arrive { server: index as u32 % 1024, object: index as u32, bytes: 64 << 20 }
}

/// A hold model in its steady state.
fn prepared<K: QueueKind>(pending: usize) -> (Hold, Schedule<Step, K>) {
    let mut model = Hold { increments: increments(), at: 0 };
    let mut schedule = Schedule::<Step, K>::of_kind(pending);
    for index in 0..pending {
        let delay = model.increment();
        schedule.after(delay, step(index));
    }
    run(&mut model, &mut schedule, Limit::events(3 * pending as u64)).expect("no event is out of time");
    (model, schedule)
}

/// The standard library's heap in its steady state, and its increments.
fn prepared_heap(pending: usize) -> (BinaryHeap<Reverse<(SimTime, usize)>>, Hold) {
    let mut model = Hold { increments: increments(), at: 0 };
    let mut heap: BinaryHeap<_> =
        (0..pending).map(|index| Reverse((SimTime::ZERO + model.increment(), index))).collect();
    hold_heap(&mut heap, &mut model, 3 * pending as u64);
    (heap, model)
}

fn hold_heap(heap: &mut BinaryHeap<Reverse<(SimTime, usize)>>, model: &mut Hold, events: u64) {
    for _ in 0..events {
        let Some(Reverse((time, event))) = heap.pop() else {
            return;
        };
        heap.push(Reverse((time + model.increment(), event)));
    }
}

/// Million events a second: the median of 15 pieces of `events` each.
fn median_rate(events: u64, mut piece: impl FnMut(u64)) -> f64 {
    let mut rates: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            piece(events);
            events as f64 / start.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn main() {
    println!("hold model, million events a second (medians of 15)");
    println!("{:>10} {:>8} {:>8} {:>8} {:>10}", "pending", "goal", "kernel", "plain", "bare heap");
    for (pending, goal) in CASES {
        let events = 2 * pending.max(250_000) as u64;
        let (mut model, mut schedule) = prepared::<Radix>(pending);
        let kernel = median_rate(events, |count| {
            black_box(run(&mut model, &mut schedule, Limit::events(count)).expect("no event is out of time"));
        });
        let (mut model, mut schedule) = prepared::<Plain>(pending);
        let plain = median_rate(events / 4, |count| {
            black_box(run(&mut model, &mut schedule, Limit::events(count)).expect("no event is out of time"));
        });
        let (mut heap, mut model) = prepared_heap(pending);
        let bare = median_rate(events / 4, |count| hold_heap(&mut heap, &mut model, count));
        println!("{pending:>10} {goal:>8.1} {kernel:>8.1} {plain:>8.1} {bare:>10.1}");
    }
}
