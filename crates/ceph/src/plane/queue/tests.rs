//! Shares of backlogged classes, and order in a queue.

use resilver_kernel::{Purpose, Stream};

use super::*;
use crate::plane::law::{self, Asked};
use crate::plane::testing;
use crate::settings::{CostModel, Share, Shares};

const MIB: f64 = 1024.0 * 1024.0;

fn share(reservation: f64, weight: f64, limit: Option<f64>) -> Share {
    Share { reservation, weight, limit }
}

fn mclock(client: Share, recovery: Share, best_effort: Share) -> OsdSettings {
    testing::settings(true, testing::mclock(true, Shares { client, recovery, best_effort }))
}

/// Serves two backlogged classes at a cost a second, and says what each got of it.
fn served(settings: &OsdSettings, classes: [OpClass; 2], costs: [f64; 2], speed: f64, seconds: f64) -> [f64; 2] {
    let mut queue = ShardQueue::new(settings);
    let mut draws = Stream::new(1, 0, Purpose::named("wpq"));
    let (mut now, mut got) = (0.0, [0.0; 2]);
    // All wait from the start: what comes anew takes its time of arrival for its tag where that is later, and is not owed what went before.
    for (index, class) in classes.into_iter().enumerate() {
        for _ in 0..(speed * seconds / costs[index]).ceil() as u64 {
            queue.push(now, class, index as u32, costs[index]);
        }
    }
    while now < seconds {
        match queue.pop(now, &mut draws) {
            Next::Item(token) => {
                got[token as usize] += costs[token as usize];
                now += costs[token as usize] / speed;
            }
            Next::At(time) => now = time,
            Next::Empty => break,
        }
    }
    got.map(|cost| cost / now)
}

/// Both figures lie within 1 % of those expected.
fn within_a_hundredth(got: [f64; 2], expected: [f64; 2]) {
    for (got, expected) in got.into_iter().zip(expected) {
        assert!((got / expected - 1.0).abs() < 0.01, "{got} is not {expected}");
    }
}

#[test]
fn backlogged_classes_share_by_weight_and_none_gets_less_than_its_reservation() {
    let settings = mclock(share(0.3, 1.0, None), share(0.2, 2.0, None), share(0.0, 1.0, None));
    let capacity = 150.0 * MIB;
    let classes = [OpClass::Client, OpClass::Recovery];
    // Weights 1 : 2 give a third and two thirds, which is more than 30 % and 20 %.
    let got = served(&settings, classes, [0.5e6, 4e6], capacity, 400.0);
    within_a_hundredth(got, [capacity / 3.0, capacity * 2.0 / 3.0]);
    // Of 60 % and 20 % with weights 1 : 2, the first is more than a third and holds; the other has the rest.
    let kept = mclock(share(0.6, 1.0, None), share(0.2, 2.0, None), share(0.0, 1.0, None));
    within_a_hundredth(served(&kept, classes, [0.5e6, 4e6], capacity, 400.0), [0.6 * capacity, 0.4 * capacity]);
    // A device that does 40 % of what was promised serves by the reservations alone, 3 : 2.
    let got = served(&settings, classes, [0.5e6, 4e6], 0.4 * capacity, 400.0);
    within_a_hundredth(got, [0.24 * capacity, 0.16 * capacity]);
}

#[test]
fn a_limit_holds_a_class_back_and_the_other_takes_what_is_left() {
    let settings = mclock(share(0.5, 1.0, None), share(0.5, 1.0, None), share(0.0, 1.0, Some(0.7)));
    let capacity = 150.0 * MIB;
    // Best effort has no reservation: the device does twice the capacity, of which 1 : 1 would be 100 %, but 70 % is the most.
    let got = served(&settings, [OpClass::Client, OpClass::BestEffort], [1e6, 1e6], 2.0 * capacity, 400.0);
    within_a_hundredth(got, [1.3 * capacity, 0.7 * capacity]);
    // Alone it has its limit and no more, whatever the device does.
    let alone = served(&settings, [OpClass::BestEffort; 2], [1e6, 1e6], 9.0 * capacity, 400.0);
    assert!(((alone[0] + alone[1]) / (0.7 * capacity) - 1.0).abs() < 0.01, "{alone:?}");
}

#[test]
fn wpq_draws_by_weight_and_by_cost() {
    let settings = testing::settings(true, testing::wpq());
    // An item of 20 MiB is the dearest: it goes in a tenth of its draws, one of 64 KiB in 99.7 % of them.
    let got = served(&settings, [OpClass::Client, OpClass::Recovery], [65_536.0, 20.0 * MIB], 1e8, 50_000.0);
    let ratio = (got[1] / (20.0 * MIB)) / (got[0] / 65_536.0);
    // Some 170,000 items of recovery: 1 % is more than four standard deviations.
    assert!((ratio / (3.0 * 0.1 / (63.0 * (1.0 - 0.9 / 320.0))) - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn small_objects_cost_as_much_as_the_floor() {
    let settings = mclock(share(0.5, 1.0, None), share(0.5, 1.0, None), share(0.0, 1.0, None));
    let work = |bytes| super::super::Work {
        kind: super::super::WorkKind::Push,
        class: OpClass::Recovery,
        group: 0,
        primary: 0,
        objects: 1,
        piece_bytes: bytes,
        data_pieces: 1,
        source_parts: 1,
        sources: vec![],
        targets: vec![1],
        by_log: false,
    };
    let item = |bytes| law::cost(&settings, Asked::Item, &work(bytes), bytes as f64);
    // 150 MiB/s over 315 requests/s is 499,321 bytes and a part, 487.6 KiB.
    assert_eq!(item(4096).floor(), 499_321.0);
    assert_eq!(item(4096), item(487 << 10));
    assert_eq!(item(4 << 20), 4.0 * MIB);
    // The old model of the same device: requests, and bytes as parts of one.
    let OpQueue::Mclock(mut old) = settings.queue.clone() else { unreachable!("made so above") };
    old.cost = CostModel::Iops { per_io: 1.0, per_byte: 1.0 / 65_536.0, osd_recovery_cost: 4 << 20 };
    let old = OsdSettings { queue: OpQueue::Mclock(old), ..settings.clone() };
    assert_eq!(law::cost(&old, Asked::Item, &work(4 << 20), 0.0), 65.0);
    let rates = law::rates(&old, OpClass::Recovery).expect("mClock has rates");
    assert_eq!(rates.reservation, 157.5);
}

#[test]
fn what_is_immediate_goes_before_all_classes() {
    let settings = mclock(share(0.5, 1.0, None), share(0.5, 1.0, None), share(0.0, 1.0, None));
    let mut queue = ShardQueue::new(&settings);
    let mut draws = Stream::new(1, 0, Purpose::named("wpq"));
    queue.push(0.0, OpClass::Client, 1, 1.0);
    queue.push_immediate(2);
    assert_eq!(queue.pop(0.0, &mut draws), Next::Item(2));
    assert_eq!(queue.pop(0.0, &mut draws), Next::Item(1));
    assert_eq!(queue.pop(0.0, &mut draws), Next::Empty);
}
