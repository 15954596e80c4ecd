//! The radix queue is held against its plain twin.

use proptest::prelude::*;

use super::{EventQueue, PlainQueue, RadixQueue};
use crate::{Purpose, Stream};

/// One thing done to both queues.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Push so many entries, due this long after the time popped last.
    Push { gap: u64, times: usize },
    /// Pop so many entries, each pushing none.
    Pop { times: usize },
    /// Pop all that is due within this long after the time popped last.
    PopWithin { gap: u64 },
}

/// Gaps of every magnitude, with zero and a few small ones often, so that equal times and bursts are common.
fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        2 => 0..4_u64,
        2 => (0..5_u64).prop_map(|multiple| multiple << 12),
        6 => (any::<u64>(), 20..64_u32).prop_map(|(bits, shift)| bits >> shift),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (gap(), prop_oneof![4 => Just(1_usize), 1 => 1..100_usize])
            .prop_map(|(gap, times)| Step::Push { gap, times }),
        2 => (1..30_usize).prop_map(|times| Step::Pop { times }),
        1 => gap().prop_map(|gap| Step::PopWithin { gap }),
    ];
    prop::collection::vec(step, 0..400)
}

/// Both queues, filled and emptied together, with the entries numbered in the order of their pushes.
struct Twins {
    radix: RadixQueue<u32>,
    plain: PlainQueue<u32>,
    pushed: u32,
    last: u64,
}

impl Twins {
    fn new() -> Self {
        Twins { radix: RadixQueue::with_capacity(0), plain: PlainQueue::with_capacity(0), pushed: 0, last: 0 }
    }

    fn push(&mut self, gap: u64) {
        let time = self.last.saturating_add(gap);
        self.radix.push(time, self.pushed);
        self.plain.push(time, self.pushed);
        self.pushed += 1;
    }

    /// Pops from both, and says whether something came out; panics where they differ.
    fn pop(&mut self, until: u64) -> bool {
        assert_eq!(self.radix.earliest(), self.plain.earliest());
        let (fast, slow) = (self.radix.pop(until), self.plain.pop(until));
        assert_eq!(fast, slow, "the radix queue gives another entry than the plain one");
        assert_eq!(self.radix.len(), self.plain.len());
        if let Some((time, _)) = fast {
            self.last = time;
        }
        fast.is_some()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn both_queues_give_the_same_entries_in_the_same_order(steps in steps()) {
        let mut twins = Twins::new();
        for step in steps {
            match step {
                Step::Push { gap, times } => (0..times).for_each(|_| twins.push(gap)),
                Step::Pop { times } => (0..times).for_each(|_| { twins.pop(u64::MAX); }),
                Step::PopWithin { gap } => {
                    let until = twins.last.saturating_add(gap);
                    while twins.pop(until) {}
                }
            }
        }
        while twins.pop(u64::MAX) {}
        prop_assert!(twins.radix.is_empty());
    }

    #[test]
    fn both_queues_agree_when_each_entry_schedules_more(seed: u64, spread in 0..40_u32, pending in 1..2000_usize) {
        // The hold model, as a simulation does it, with zero to three successors for each entry at gaps below 2^spread.
        let mut stream = Stream::new(seed, 0, Purpose::named("test"));
        let mut twins = Twins::new();
        (0..pending).for_each(|_| twins.push(stream.below(1 << spread)));
        for _ in 0..4000 {
            if !twins.pop(u64::MAX) {
                break;
            }
            for _ in 0..[0, 1, 1, 2, 1, 1, 1, 3][stream.below(8) as usize] {
                let gap = stream.next_u64() >> (64 - spread.max(1)) >> stream.below(u64::from(spread) + 1);
                twins.push(gap);
            }
        }
        while twins.pop(u64::MAX) {}
    }
}

#[test]
fn a_crowded_front_is_relieved_and_keeps_its_order() {
    // Ten entries over a wide range are sorted into the front; a thousand more are then pushed among them, latest
    // first, which would cost a thousand shifts each if the front only ever grew.
    let mut twins = Twins::new();
    (0..10).for_each(|index| twins.push(5_000 + index * 1_000));
    assert!(twins.pop(u64::MAX));
    (0..1000).rev().for_each(|index| twins.push(index / 3));
    while twins.pop(u64::MAX) {}
}

#[test]
fn a_time_not_reached_leaves_the_queue_as_it_was() {
    // An entry beyond the limit stays, and an earlier one pushed afterwards still comes first.
    let mut twins = Twins::new();
    (0..40).for_each(|index| twins.push(1_000_000 + index));
    assert!(!twins.pop(999_999));
    twins.push(7);
    assert!(twins.pop(999_999) && twins.last == 7);
    while twins.pop(u64::MAX) {}
}

#[test]
fn the_last_picosecond_before_the_horizon_is_a_time_like_any_other() {
    let mut twins = Twins::new();
    for gap in [u64::MAX - 1, u64::MAX, 0, 1 << 63, (1 << 63) - 1] {
        (0..20).for_each(|_| twins.push(gap));
    }
    while twins.pop(u64::MAX) {}
    assert_eq!(twins.last, u64::MAX);
}

#[test]
fn a_burst_of_one_time_gives_its_room_back() {
    // The front keeps at most 16 x 64 places once it is used up, and with the first entry popped afterwards it is.
    let mut queue = RadixQueue::with_capacity(0);
    (0..100_000).for_each(|index| queue.push(0, index));
    queue.push(1, 0);
    (0..100_001).for_each(|_| assert!(queue.pop(u64::MAX).is_some()));
    assert!(queue.room() <= 2048, "{} places for nothing", queue.room());
}

/// Runs the hold model on a radix queue: pop one, push one at a gap drawn from `gap`; returns the most room held.
fn hold(pending: usize, pops: usize, mut gap: impl FnMut() -> u64) -> usize {
    let mut queue = RadixQueue::with_capacity(0);
    (0..pending).for_each(|index| queue.push(gap(), index));
    let mut most = queue.room();
    for _ in 0..pops {
        let (time, event) = queue.pop(u64::MAX).expect("each pop is followed by a push");
        queue.push(time + gap(), event);
        most = most.max(queue.room());
    }
    most
}

#[test]
fn memory_stays_within_three_times_what_is_pending() {
    // The arena holds what is pending and one partly filled chunk a bucket, and a growing vector doubles: 2 x (1 + a
    // little). Popped entries of the front are forgotten once they are half of it.
    let pending = 100_000;
    let mut stream = Stream::new(1, 0, Purpose::named("test"));
    let spread = hold(pending, 500_000, || stream.exponential(1e9) as u64);
    assert!(spread < 3 * pending, "{spread} places for {pending} spread entries");
    let equal = hold(pending, 500_000, || 0);
    assert!(equal < 3 * pending, "{equal} places for {pending} entries of one time");
    // One entry that follows itself without delay needs room for the front's shortest length at most twice over.
    let chain = hold(1, 500_000, || 0);
    assert!(chain < 300, "{chain} places for one entry");
}

#[test]
fn what_is_announced_is_still_to_come() {
    // A dense stretch, which is divided first, and a sparse one: entry i is due at 100 i, then 10^9 i. Announcements are no
    // more than hints, but each is of an entry that is queued, and of a run's entries most are announced.
    let mut queue: RadixQueue<u64> = RadixQueue::with_capacity(0);
    (0..200_u64).for_each(|entry| queue.push(100 * entry, entry));
    (200..300_u64).for_each(|entry| queue.push(1_000_000_000 * entry, entry));
    let (mut announced, mut popped) = (std::collections::BTreeSet::new(), Vec::new());
    loop {
        let done = popped.len() as u64;
        let next = queue.pop_announcing(u64::MAX, |entry, _| {
            assert!(entry >= done, "{entry} was popped before it was announced");
            announced.insert(entry);
        });
        let Some((_, entry)) = next else { break };
        popped.push(entry);
    }
    assert_eq!(popped, Vec::from_iter(0..300));
    assert!(announced.len() > 150, "{} of 300", announced.len());
}
