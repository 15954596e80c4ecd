//! A run executes events in order, stops where it is told, and gives the same digest however it is cut.

use proptest::prelude::*;
use resilver_kernel::queue::{Plain, QueueKind, Radix};
use resilver_kernel::{Digest, Event, ExitReason, KernelError, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{SimDuration, SimTime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Note(u64);

impl Event for Note {
    fn code(&self) -> u64 {
        self.0
    }
}

/// Writes down what happens, and lets each event schedule what `plan` says.
struct Diary<F> {
    entries: Vec<(u64, u64)>,
    plan: F,
}

impl<K: QueueKind, F: FnMut(u64, &mut Schedule<Note, K>)> Model<K> for Diary<F> {
    type Event = Note;
    fn execute(&mut self, Note(number): Note, schedule: &mut Schedule<Note, K>) {
        self.entries.push((schedule.now().picoseconds(), number));
        (self.plan)(number, schedule);
    }
}

fn diary<F: FnMut(u64, &mut Schedule<Note>)>(plan: F) -> Diary<F> {
    Diary { entries: Vec::new(), plan }
}

fn at(picoseconds: u64) -> SimTime {
    SimTime::from_picoseconds(picoseconds)
}

#[test]
fn events_of_one_time_are_executed_as_they_were_scheduled() {
    // Event 1 at time 5 schedules 9 for its own time, which comes after 2 and 3, scheduled for then before.
    let mut schedule = Schedule::new();
    for (time, number) in [(9, 4), (5, 1), (5, 2), (5, 3)] {
        schedule.at(at(time), Note(number));
    }
    let mut model = diary(|number, schedule| {
        if number == 1 {
            schedule.after(SimDuration::ZERO, Note(9));
        }
    });
    assert_eq!(run(&mut model, &mut schedule, Limit::none()), Ok(ExitReason::Drained));
    assert_eq!(model.entries, [(5, 1), (5, 2), (5, 3), (5, 9), (9, 4)]);
    assert_eq!((schedule.executed(), schedule.pending(), schedule.now()), (5, 0, at(9)));
}

#[test]
fn an_empty_schedule_is_drained_at_once() {
    let mut schedule = Schedule::new();
    for limit in [Limit::none(), Limit::events(0), Limit::until(at(5))] {
        assert_eq!(run(&mut diary(|_, _| ()), &mut schedule, limit), Ok(ExitReason::Drained));
    }
    assert_eq!((schedule.now(), schedule.digest()), (SimTime::ZERO, Digest::new()));
}

#[test]
fn the_last_instant_is_included_and_the_clock_stands_there() {
    let mut schedule = Schedule::new();
    for time in [10, 20, 30] {
        schedule.at(at(time), Note(time));
    }
    let mut model = diary(|_, _| ());
    assert_eq!(run(&mut model, &mut schedule, Limit::until(at(20))), Ok(ExitReason::EndTime));
    assert_eq!(model.entries, [(10, 10), (20, 20)]);
    assert_eq!(run(&mut model, &mut schedule, Limit::until(at(25))), Ok(ExitReason::EndTime));
    assert_eq!((schedule.now(), schedule.pending()), (at(25), 1));
    // A limit in the past executes nothing and does not turn the clock back.
    assert_eq!(run(&mut model, &mut schedule, Limit::until(at(3))), Ok(ExitReason::EndTime));
    assert_eq!(schedule.now(), at(25));
}

#[test]
fn an_event_limit_counts_the_events_of_one_call() {
    let mut schedule = Schedule::new();
    (0..5).for_each(|time| schedule.at(at(time), Note(time)));
    let mut model = diary(|_, _| ());
    assert_eq!(run(&mut model, &mut schedule, Limit::events(2)), Ok(ExitReason::EventLimit));
    assert_eq!(schedule.executed(), 2);
    assert_eq!(run(&mut model, &mut schedule, Limit::events(3)), Ok(ExitReason::Drained));
    assert_eq!(schedule.executed(), 5);
}

#[test]
fn an_event_in_the_past_ends_the_run_and_is_not_executed() {
    let mut schedule = Schedule::new();
    schedule.at(at(10), Note(1));
    schedule.at(at(20), Note(2));
    let mut model = diary(|_, schedule| schedule.at(at(4), Note(3)));
    let fault = Err(KernelError::IntoThePast { now: at(10), due: at(4) });
    assert_eq!(run(&mut model, &mut schedule, Limit::none()), fault);
    assert_eq!(run(&mut model, &mut schedule, Limit::none()), fault);
    assert_eq!(model.entries, [(10, 1)]);
}

#[test]
fn an_event_beyond_the_horizon_ends_the_run() {
    // 2^64 - 1 ps is the horizon; the picosecond before it is a time like any other.
    let mut schedule = Schedule::new();
    schedule.at(at(u64::MAX - 1), Note(1));
    assert_eq!(run(&mut diary(|_, _| ()), &mut schedule, Limit::none()), Ok(ExitReason::Drained));
    schedule.after(SimDuration::from_picoseconds(1), Note(2));
    let error = run(&mut diary(|_, _| ()), &mut schedule, Limit::none()).unwrap_err();
    assert_eq!(error, KernelError::BeyondHorizon { now: at(u64::MAX - 1) });
    assert!(error.to_string().contains("213 days"));
}

#[test]
fn the_first_fault_is_the_one_reported() {
    let mut schedule = Schedule::new();
    schedule.at(SimTime::MAX, Note(1));
    schedule.at(SimTime::MAX, Note(2));
    schedule.at(at(0), Note(3));
    let mut model = diary(|_, _| ());
    assert_eq!(run(&mut model, &mut schedule, Limit::none()), Err(KernelError::BeyondHorizon { now: SimTime::ZERO }));
    assert!(model.entries.is_empty());
}

/// A population of events that multiply and die out, drawn from `seed`; returns the diary, digest and count.
fn family<K: QueueKind>(seed: u64, limits: &[Limit]) -> (Vec<(u64, u64)>, Digest, u64) {
    let mut stream = Stream::new(seed, 0, Purpose::named("test"));
    let mut schedule = Schedule::<Note, K>::of_kind(0);
    (0..200).for_each(|number| schedule.at(at(stream.below(50)), Note(number)));
    let mut born = 200;
    let mut model = Diary {
        entries: Vec::new(),
        plan: |_, schedule: &mut Schedule<Note, K>| {
            for _ in 0..[0, 1, 1, 2][stream.below(4) as usize] {
                if born < 5000 {
                    let spread = 1 << stream.below(30);
                    schedule.after(SimDuration::from_picoseconds(stream.below(spread)), Note(born));
                    born += 1;
                }
            }
        },
    };
    for &limit in limits {
        run(&mut model, &mut schedule, limit).expect("no event is out of time");
    }
    assert_eq!(run(&mut model, &mut schedule, Limit::none()), Ok(ExitReason::Drained));
    (model.entries, schedule.digest(), schedule.executed())
}

proptest! {
    #[test]
    fn both_queues_give_one_run(seed: u64) {
        prop_assert_eq!(family::<Radix>(seed, &[]), family::<Plain>(seed, &[]));
    }

    #[test]
    fn a_run_in_pieces_is_the_run_in_one(
        seed: u64, cuts in prop::collection::vec((0..1_u64 << 32, 0..300_u64), 0..20),
    ) {
        let limits: Vec<_> = cuts.iter().map(|&(until, events)| Limit { until: at(until), events }).collect();
        prop_assert_eq!(family::<Radix>(seed, &limits), family::<Radix>(seed, &[]));
    }
}
