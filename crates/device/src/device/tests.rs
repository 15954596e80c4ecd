use std::sync::Arc;

use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, ObjectId};

use super::*;
use crate::table::tests::jbod;
use crate::{Operation, OperationTimes};

const LANES: [f64; 3] = [0.6, 0.3, 0.1];

fn at(picoseconds: u64) -> SimTime {
    SimTime::from_picoseconds(picoseconds)
}

fn for_(picoseconds: u64) -> SimDuration {
    SimDuration::from_picoseconds(picoseconds)
}

/// Service of 22 ps a request.
fn fixed() -> Service {
    Service::Fixed { read: for_(22), write: for_(22) }
}

/// A device of 22 ps a request, with these shares.
fn laned(discipline: Discipline, fractions: &[f64]) -> Device {
    Device::new(&fixed(), 0, discipline, Some(&Lanes::of_shares(fractions).unwrap()))
}

fn reading(lane: u8) -> Io {
    Io { object: ObjectId::new(0), offset: 0, bytes: Bytes::new(10), direction: Direction::Read, lane, operation: None }
}

fn writing(lane: u8) -> Io {
    Io { direction: Direction::Write, ..reading(lane) }
}

/// A device, and what has completed at it so far, in order.
struct Served {
    device: Device,
    completed: Vec<(u64, SimTime)>,
    /// When the request being served is to be finished.
    next: Option<SimTime>,
}

impl Served {
    fn by(device: Device) -> Self {
        Served { device, completed: Vec::new(), next: None }
    }

    /// Finishes what is done by `now`.
    fn advance(&mut self, now: SimTime) {
        while let Some(end) = self.next.filter(|&end| end <= now) {
            let Finished { tag, next } = self.device.finish(end);
            self.completed.push((tag, end));
            self.next = next;
        }
    }

    fn submit(&mut self, now: SimTime, io: Io, tag: u64) {
        match self.device.submit(now, io, tag) {
            Queued::Completes(end) => self.completed.push((tag, end)),
            Queued::Begins(end) => self.next = Some(end),
            Queued::Waits => {}
        }
    }

    /// Finishes all; returns (tag, picoseconds) in order.
    fn drain(&mut self) -> Vec<(u64, u64)> {
        self.advance(at(u64::MAX));
        self.completed.iter().map(|&(tag, time)| (tag, time.picoseconds())).collect()
    }
}

#[test]
fn requests_wait_for_those_before_them() {
    let io = |offset| Io { offset, bytes: Bytes::new(4096), ..reading(0) };
    let mut served = Served::by(Device::new(&Service::Table(Arc::new(jbod())), 0, Discipline::Fifo, None));
    served.submit(at(0), io(0), 0);
    served.submit(at(0), io(4096), 1);
    let [(_, first), (_, second)] = served.completed[..] else { panic!("both completions are known at once") };
    // The second continues the first: it takes overhead and transfer only, after the first is done.
    let alone = jbod().service_time(Direction::Read, Bytes::new(4096), true);
    assert_eq!(second, first + alone);
    assert_eq!(served.device.busy_until(first), first.since(SimTime::ZERO));
    // An idle device begins at once.
    let later = second + alone + alone;
    served.submit(later, io(8192), 2);
    assert_eq!(served.completed[2], (2, later + alone));
    assert_eq!(served.device.busy_until(later), second.since(SimTime::ZERO));
    assert_eq!((served.device.usage().seeks, served.device.usage().bytes_read.get()), (1, 3 * 4096));
}

#[test]
fn a_seek_is_paid_for_another_object_or_place() {
    let seeks = |object, offset| {
        let mut device = Device::new(&Service::Table(Arc::new(jbod())), 0, Discipline::Fifo, None);
        device.submit(at(0), Io { object: ObjectId::new(1), bytes: Bytes::new(4096), ..reading(0) }, 0);
        device.submit(at(0), Io { object: ObjectId::new(object), offset, ..reading(0) }, 0);
        device.usage().seeks - 1
    };
    assert_eq!(seeks(1, 4096), 0);
    assert_eq!(seeks(1, 4096 + 512), 0);
    assert_eq!(seeks(1, 4096 + 513), 1);
    assert_eq!(seeks(1, 4095), 1);
    assert_eq!(seeks(2, 4096), 1);
}

/// Draws requests, failures and repairs, and holds a queue that knows its completions to one of `lanes` in which all of them wait in
/// `lane`: completions, use, and time served are the same.
fn assert_served_as_in_lanes(lanes: &Lanes, lane: u8, seed: u64) {
    let service = Service::Table(Arc::new(jbod()));
    let mut plain = Served::by(Device::new(&service, 0, Discipline::Fifo, None));
    let mut laned = Served::by(Device::new(&service, 0, Discipline::Fifo, Some(lanes)));
    let pace = Pace::drawn_again(seed, 0, 0.1, 0).with_health(&[(at(50_000_000_000), 0.5), (at(900_000_000_000), 1.0)]);
    plain.device.set_pace(pace.clone());
    laned.device.set_pace(pace);
    let mut draws = Stream::new(seed, 0, Purpose::named("requests"));
    let (mut now, mut tag) = (0, 0);
    for _ in 0..10 {
        for _ in 0..draws.below(100) {
            now += draws.below(20_000_000_000);
            let direction = [Direction::Read, Direction::Write][draws.below(2) as usize];
            let (object, offset) = (ObjectId::new(draws.below(3)), draws.below(4) * 4096);
            let io = Io { offset, bytes: Bytes::new(4096), direction, object, ..reading(lane) };
            laned.advance(at(now));
            for served in [&mut plain, &mut laned] {
                served.submit(at(now), io, tag);
            }
            tag += 1;
            assert_eq!(laned.device.busy_until(at(now)), plain.device.busy_until(at(now)));
        }
        // What waits when it fails is not served; when the one being served would have been done, it works again.
        now += draws.below(20_000_000_000);
        laned.advance(at(now));
        let is_under_way = |&(_, end): &(u64, SimTime)| end > at(now);
        let last = plain.completed.iter().copied().find(is_under_way).map_or(at(now), |(_, end)| end);
        for served in [&mut plain, &mut laned] {
            served.device.fail(at(now));
        }
        now = last.picoseconds() + draws.below(20_000_000_000);
        laned.advance(at(now));
        assert_eq!(laned.device.busy_until(at(now)), plain.device.busy_until(at(now)));
        // Those are over in name only: at once in lanes, and in their order in a queue that had given their times before.
        let served_by =
            |served: &Served| served.completed.iter().copied().filter(|&(_, end)| end <= last).collect::<Vec<_>>();
        assert_eq!(served_by(&laned).len(), laned.completed.len());
        laned.completed.truncate(served_by(&plain).len());
        plain.completed.truncate(laned.completed.len());
        assert_eq!(laned.completed, plain.completed);
        for served in [&mut plain, &mut laned] {
            served.device.repair(at(now));
        }
    }
    assert_eq!(laned.device.usage().busy, plain.device.usage().busy);
    assert!(laned.completed.len() > 100, "{} completions", laned.completed.len());
}

#[test]
fn a_queue_that_knows_its_completions_is_one_lane_also_through_failures() {
    for seed in 0..20 {
        assert_served_as_in_lanes(&Lanes::single(), 0, seed);
        assert_served_as_in_lanes(&Lanes::of_shares(&LANES).unwrap(), 2, seed);
    }
}

#[test]
fn a_lane_that_comes_back_is_next_behind_the_request_being_served() {
    let mut served = Served::by(laned(Discipline::Fifo, &[0.9, 0.1]));
    for tag in 0..4 {
        served.submit(at(0), reading(1), tag);
    }
    served.advance(at(30));
    served.submit(at(30), reading(0), 9);
    assert_eq!(served.drain(), [(0, 22), (1, 44), (9, 66), (2, 88), (3, 110)]);
    let [clients, rebuild] = &served.device.lane_uses(at(110))[..] else { panic!("two lanes") };
    assert_eq!((clients.units, clients.waited_picoseconds, clients.busy_picoseconds), (1, 14, 22));
    // 22, then twice 44 and more: the third waited until 66, the fourth until 88.
    assert_eq!((rebuild.units, rebuild.waited_picoseconds, rebuild.busy_picoseconds), (4, 22 + 66 + 88, 88));
    // Lane 0 lent nine tenths of all four requests of 10 B, as it waited during none of their beginnings.
    assert_eq!(clients.lent_bytes[1], Bytes::new(36));
}

#[test]
fn lanes_share_time_and_not_requests() {
    // Writes of lane 1 take ten times as long as reads of lane 0: at equal shares ten reads go with one write.
    let lanes = Lanes::of_shares(&[0.5, 0.5]).unwrap();
    let service = Service::Fixed { read: for_(10), write: for_(100) };
    let mut served = Served::by(Device::new(&service, 0, Discipline::Fifo, Some(&lanes)));
    for tag in 0..3300 {
        served.submit(at(0), if tag < 3000 { reading(0) } else { writing(1) }, tag);
    }
    let writes = served.drain().iter().filter(|&&(tag, time)| tag >= 3000 && time <= 40_000).count();
    // Half of 40,000 ps are 200 writes; one more or less may be under way.
    assert!(writes.abs_diff(200) <= 1, "{writes}");
}

#[test]
fn each_lane_gets_its_share_while_all_wait() {
    for (discipline, fractions) in [
        (Discipline::Fifo, &[0.9, 0.1][..]),
        (Discipline::Fifo, &[0.25, 0.75]),
        (Discipline::Fifo, &LANES),
        (Discipline::ReadsFirst, &LANES),
    ] {
        let mut served = Served::by(laned(discipline, fractions));
        let lanes = fractions.len() as u64;
        for tag in 0..6000 {
            let lane = (tag % lanes) as u8;
            served.submit(at(0), if tag % 5 == 0 { reading(lane) } else { writing(lane) }, tag);
        }
        // All lanes wait for as long as the largest share takes a lane's 2,000 requests or more.
        let finished = served.drain();
        for (lane, &share) in fractions.iter().enumerate() {
            let of_lane = finished[..2000].iter().filter(|&&(tag, _)| tag % lanes == lane as u64).count();
            assert!((of_lane as f64 / 2000.0 / share - 1.0).abs() < 0.01, "{fractions:?}: lane {lane} has {of_lane}");
        }
    }
}

#[test]
fn reads_pass_waiting_writes_and_none_that_is_served() {
    let mut served = Served::by(Device::new(&fixed(), 0, Discipline::ReadsFirst, None));
    for (tag, io) in [(0, writing(0)), (1, writing(0)), (2, reading(0)), (3, writing(0)), (4, reading(0))] {
        served.submit(at(0), io, tag);
    }
    served.advance(at(70));
    // Both reads in their order, then the writes in theirs; a read that comes now passes the last of them.
    served.submit(at(70), reading(0), 5);
    assert_eq!(served.device.busy_until(at(70)), for_(70));
    assert_eq!(served.drain(), [(0, 22), (2, 44), (4, 66), (1, 88), (5, 110), (3, 132)]);
    assert_eq!((served.device.usage().requests, served.device.lane_uses(at(132)).len()), (6, 0));
}

#[test]
fn requests_that_pass_a_class_are_counted_until_its_turn_where_it_has_no_share() {
    let passed = |lanes: Option<&Lanes>| {
        let mut served = Served::by(Device::new(&fixed(), 0, Discipline::ReadsFirst, lanes));
        served.device.watch(1);
        served.submit(at(0), reading(0), 0);
        served.submit(at(0), writing(1), 1);
        // A read is served every 22 ps, and another comes just before: the write waits, and two places are enough for what waits.
        let counts = (1..=10).map(|turn| {
            served.advance(at(22 * turn - 1));
            served.submit(at(22 * turn - 1), reading(0), 1 + turn);
            served.advance(at(22 * turn));
            served.device.passed()
        });
        let counts: Vec<u64> = counts.collect();
        served.drain();
        (counts, served.device.passed())
    };
    let of_first = Lanes::in_turns(2).by_priority(vec![0, 1]);
    for lanes in [None, Some(&of_first)] {
        assert_eq!(passed(lanes), (vec![0, 0, 1, 2, 3, 4, 5, 6, 7, 8], 0));
    }
    assert_eq!(passed(Some(&Lanes::of_shares(&[0.9, 0.1]).unwrap())).0, [0; 10]);
}

#[test]
fn reads_pass_the_writes_of_their_own_lane_alone() {
    // Lane 1 is behind lane 0, whose writes its reads do not pass.
    let lanes = Lanes::in_turns(2).by_priority(vec![0, 1]);
    let mut served = Served::by(Device::new(&fixed(), 0, Discipline::ReadsFirst, Some(&lanes)));
    for (tag, io) in [(0, writing(1)), (1, writing(1)), (2, writing(0)), (3, reading(1)), (4, reading(0))] {
        served.submit(at(0), io, tag);
    }
    assert_eq!(served.drain(), [(0, 22), (4, 44), (2, 66), (3, 88), (1, 110)]);
}

#[test]
fn a_failed_device_counts_no_more_time_and_serves_nothing_that_waited() {
    let lanes = Lanes::of_shares(&[0.5, 0.5]).unwrap();
    for discipline in [Discipline::Fifo, Discipline::ReadsFirst] {
        let mut served = Served::by(Device::new(&fixed(), 0, discipline, Some(&lanes)));
        served.submit(at(0), reading(0), 1);
        served.submit(at(0), reading(1), 2);
        // Ten of the 22 ps are served when it fails; it works again before that request would have been done, and what waited behind
        // it is over with in name only.
        served.device.fail(at(10));
        assert_eq!(served.device.busy_until(at(15)), for_(10));
        served.device.repair(at(20));
        served.submit(at(20), reading(1), 3);
        assert_eq!(served.drain(), [(1, 22), (2, 22), (3, 44)]);
        assert_eq!(served.device.usage().busy, for_(32));
        let uses = served.device.lane_uses(at(100));
        assert_eq!([&uses[0], &uses[1]].map(|lane| (lane.units, lane.busy_picoseconds)), [(1, 10), (1, 22)]);
    }
}

#[test]
fn a_device_of_changing_health_serves_at_it_also_what_is_under_way() {
    let slow = Pace::default().with_health(&[(at(0), 0.25)]);
    // Three requests of 100 ps; from 150 ps to 350 ps the device works at a tenth. The second is half done at 150, gets 20 done
    // until 350 and takes 30 more; the third is served at full speed.
    let slow_for_a_while = Pace::default().with_health(&[(at(150), 0.1), (at(350), 1.0)]);
    let service = Service::Fixed { read: for_(100), write: for_(100) };
    for (discipline, lanes) in
        [(Discipline::Fifo, None), (Discipline::ReadsFirst, None), (Discipline::Fifo, Some(&Lanes::in_turns(2)))]
    {
        for (pace, expected) in [(&slow, [400, 800, 1200]), (&slow_for_a_while, [100, 380, 480])] {
            let mut served = Served::by(Device::new(&service, 0, discipline, lanes));
            served.device.set_pace(pace.clone());
            (0..3).for_each(|tag| served.submit(at(0), reading(0), tag));
            assert_eq!(served.drain(), [(0, expected[0]), (1, expected[1]), (2, expected[2])]);
            assert_eq!(served.device.usage().busy, for_(expected[2]));
        }
    }
}

#[test]
fn exponential_service_has_its_mean() {
    let mean = for_(1_000_000);
    let mut server = Server::new(&Service::Exponential { read: mean, write: mean, seed: 1 }, 3);
    let count = 100_000;
    let total: u64 = (0..count).map(|_| server.serve(SimTime::ZERO, reading(0)).0.picoseconds()).sum();
    // The mean of n draws has the standard deviation mean / sqrt(n); five of them leave a false alarm of 6e-7.
    let reach = 5.0 * 1e6 / f64::from(count).sqrt();
    assert!((total as f64 / f64::from(count) - 1e6).abs() < reach);
}

#[test]
fn operations_take_the_time_of_their_kind() {
    let times = OperationTimes { stat: for_(2), open: for_(3), create: for_(5), unlink: for_(7) };
    let of = |operation| Io { operation: Some(operation), bytes: Bytes::ZERO, ..reading(0) };
    let all = [Operation::Stat, Operation::Open, Operation::Create, Operation::Unlink];
    let service = Service::Operations { times, is_exponential: false, seed: 1 };
    let mut served = Served::by(Device::new(&service, 0, Discipline::Fifo, None));
    (0..).zip(all).for_each(|(tag, operation)| served.submit(at(0), of(operation), tag));
    assert_eq!(served.drain(), [(0, 2), (1, 5), (2, 10), (3, 17)]);
    // Drawn times have these means: of 10,000 the mean deviates by a hundredth of itself. A share of 1 / e, 3,679 with a deviation of 48,
    // takes longer.
    let slow = OperationTimes { unlink: for_(7_000_000), ..times };
    let service = Service::Operations { times: slow, is_exponential: true, seed: 1 };
    let mut served = Served::by(Device::new(&service, 0, Discipline::Fifo, None));
    (0..10_000).for_each(|tag| served.submit(at(0), of(Operation::Unlink), tag));
    let ends = served.drain();
    let mean = ends.last().unwrap().1 as f64 / 10_000.0;
    assert!((mean / 7e6 - 1.0).abs() < 0.04, "{mean}");
    let longer = ends.windows(2).filter(|pair| pair[1].1 - pair[0].1 > 7_000_000).count();
    assert!(longer.abs_diff(3679) < 192, "{longer}");
}
