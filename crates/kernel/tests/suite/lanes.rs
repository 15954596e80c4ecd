//! Lanes at one port: the fast path beside a plain twin, and what shares, turns and priorities promise.

use proptest::prelude::*;
use resilver_kernel::lanes::{LaneOrder, LanePorts, LaneUse, Lanes, Service, Taken};
use resilver_kernel::{Purpose, Stream};
use resilver_units::SimTime;

/// A unit that comes to the port, which takes a picosecond for each unit of cost.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    lane: usize,
    cost: u64,
}

/// A unit's number, and when its serving began.
type Start = (usize, u64);

/// The slow twin: start and finish tags as the textbook has them, given on arrival, in exact fractions, and a search of all
/// that wait for each service.
struct Twin {
    lanes: Lanes,
    /// Each lane's share times `scale` divides without a rest.
    scale: u128,
    virtual_time: u128,
    highest: u128,
    finish: Vec<u128>,
    /// What waits: number, lane, cost and start tag, in the order of arrival.
    waiting: Vec<(usize, usize, u64, u128)>,
    last_lane: usize,
}

impl Twin {
    fn new(lanes: &Lanes) -> Self {
        let scale = lanes.shares.iter().filter(|&&share| share > 0).map(|&share| u128::from(share)).product();
        let (finish, last_lane) = (vec![0; lanes.count()], lanes.count() - 1);
        Twin { lanes: lanes.clone(), scale, virtual_time: 0, highest: 0, finish, waiting: vec![], last_lane }
    }

    fn arrive(&mut self, number: usize, Arrival { lane, cost, .. }: Arrival) {
        let start = self.virtual_time.max(self.finish[lane]);
        if self.lanes.shares[lane] > 0 {
            self.finish[lane] = start + u128::from(cost) * (self.scale / u128::from(self.lanes.shares[lane]));
        }
        self.waiting.push((number, lane, cost, start));
    }

    /// How many lanes lie between the last one served and this one.
    fn distance(&self, lane: usize) -> usize {
        (lane + self.lanes.count() - self.last_lane - 1) % self.lanes.count()
    }

    /// The unit that is served next, and its cost.
    fn next(&mut self) -> Option<(usize, u64)> {
        let rank = |&(_, lane, _, start): &(usize, usize, u64, u128)| match &self.lanes.order {
            LaneOrder::Turns => (false, 0, self.distance(lane)),
            LaneOrder::Shares if self.lanes.shares[lane] == 0 => (true, 0, self.distance(lane)),
            LaneOrder::Shares => (false, start, self.distance(lane)),
            LaneOrder::Priority(order) => (false, 0, order.iter().position(|&each| usize::from(each) == lane).unwrap()),
        };
        // Of equal ranks, the first to come.
        let place = (0..self.waiting.len()).min_by_key(|&place| (rank(&self.waiting[place]), place));
        let Some(place) = place else {
            self.virtual_time = self.highest;
            return None;
        };
        let (number, lane, cost, start) = self.waiting.remove(place);
        self.last_lane = lane;
        if self.lanes.shares[lane] > 0 {
            self.virtual_time = start;
            let end = start + u128::from(cost) * (self.scale / u128::from(self.lanes.shares[lane]));
            self.highest = self.highest.max(end);
        } else {
            self.virtual_time = self.highest;
        }
        Some((number, cost))
    }
}

fn twin(lanes: &Lanes, arrivals: &[Arrival]) -> Vec<Start> {
    let (mut twin, mut started, mut free_at, mut next) = (Twin::new(lanes), Vec::new(), 0, 0);
    while next < arrivals.len() || !twin.waiting.is_empty() {
        // The port turns to what waits before it takes what comes at that time.
        let at = arrivals.get(next).map_or(u64::MAX, |arrival| arrival.at);
        if free_at <= at {
            if let Some((number, cost)) = twin.next() {
                started.push((number, free_at));
                free_at += cost;
                continue;
            }
            free_at = free_at.max(at);
        }
        twin.arrive(next, arrivals[next]);
        next += 1;
        if free_at == at {
            // It came to an idle port.
            let (number, cost) = twin.next().expect("one has just come");
            started.push((number, at));
            free_at = at + cost;
        }
    }
    started
}

/// What the port of [`LanePorts`] serves when, and what its lanes did until all was over.
fn fast(lanes: &Lanes, arrivals: &[Arrival]) -> (Vec<Start>, Vec<LaneUse>) {
    let mut ports = LanePorts::new(3, lanes);
    let mut started = Vec::new();
    // The middle port is the one that is used; its neighbours may not matter.
    let serve = |ports: &mut LanePorts, number: usize, lane: usize, now: u64| {
        let cost = arrivals[number].cost;
        let [start, end] = [now, now + cost].map(SimTime::from_picoseconds);
        ports.begin(1, lane, Service { start, end, cost, bytes: cost });
        (number, now)
    };
    let mut turn = |ports: &mut LanePorts, until: u64| {
        while !ports.is_empty(1) && ports.busy_until(1).picoseconds() <= until {
            let now = ports.busy_until(1);
            assert!(ports.is_due(1, now));
            let Taken { unit, lane } = ports.take(now, 1).expect("one waits");
            started.push(serve(ports, unit as usize, lane, now.picoseconds()));
        }
    };
    let mut passed = Vec::new();
    for (number, &Arrival { at, lane, .. }) in arrivals.iter().enumerate() {
        turn(&mut ports, at);
        if ports.is_empty(1) && ports.busy_until(1).picoseconds() <= at {
            ports.pass(1, lane);
            passed.push(serve(&mut ports, number, lane, at));
        } else {
            ports.push(SimTime::from_picoseconds(at), 1, lane, number as u32);
        }
    }
    turn(&mut ports, u64::MAX);
    started.extend(passed);
    started.sort_by_key(|&(_, at)| at);
    let end = ports.busy_until(1);
    (started, ports.uses(end))
}

/// Lanes of an order drawn, whose factors are exact.
fn lanes() -> impl Strategy<Value = Lanes> {
    let shares =
        [vec![1], vec![9, 1], vec![1, 1], vec![5, 3, 2], vec![3, 0, 1], vec![0, 2, 0], vec![95, 5], vec![1; 4]];
    (0..shares.len(), 0_usize..3, any::<u64>()).prop_map(move |(shares_of, order, seed)| {
        let shares = shares[shares_of].clone();
        let mut priority: Vec<u8> = (0..shares.len() as u8).collect();
        priority.rotate_left(seed as usize % shares.len());
        if seed % 2 == 1 {
            priority.reverse();
        }
        let order = [LaneOrder::Turns, LaneOrder::Shares, LaneOrder::Priority(priority)][order].clone();
        Lanes { shares, order }
    })
}

/// Arrivals of random lanes and costs: some in bursts, some after the port has run empty.
fn arrivals(seed: u64, lanes: usize, count: usize) -> Vec<Arrival> {
    let mut draws = Stream::new(seed, 1, Purpose::named("arrivals"));
    let mut at = 0;
    (0..count)
        .map(|_| {
            at += [0, draws.below(12), draws.below(12), draws.below(400)][draws.below(4) as usize];
            let cost = [8, 1 + draws.below(40)][draws.below(2) as usize];
            Arrival { at, lane: draws.below(lanes as u64) as usize, cost }
        })
        .collect()
}

proptest! {
    #[test]
    fn the_fast_path_serves_what_the_twin_serves_when_it_does(lanes in lanes(), seed in any::<u64>()) {
        let arrivals = arrivals(seed, lanes.count(), 400);
        prop_assert_eq!(fast(&lanes, &arrivals).0, twin(&lanes, &arrivals));
    }

    #[test]
    fn costs_that_pass_the_limit_of_tags_change_nothing(seed in any::<u64>()) {
        // Costs from 2^55 to 2^56: at a tenth of the port, a unit of the first lane moves its tag on by 9 x 2^55 and more, so
        // that 100 of them pass the limit of 2^62 about ten times. All 200 take less than the 2^64 ps of simulated time.
        let lanes = Lanes { shares: vec![1, 9], order: LaneOrder::Shares };
        let mut draws = Stream::new(seed, 2, Purpose::named("arrivals"));
        let arrivals: Vec<Arrival> = (0..200)
            .map(|_| Arrival { at: 0, lane: draws.below(2) as usize, cost: (1 << 55) + draws.below(1 << 55) })
            .collect();
        prop_assert_eq!(fast(&lanes, &arrivals).0, twin(&lanes, &arrivals));
    }

    #[test]
    fn two_lanes_of_equal_shares_and_units_are_served_in_turn(seed in any::<u64>()) {
        let arrivals: Vec<Arrival> =
            arrivals(seed, 2, 400).into_iter().map(|arrival| Arrival { cost: 8, ..arrival }).collect();
        let shares = Lanes { shares: vec![1, 1], order: LaneOrder::Shares };
        prop_assert_eq!(fast(&shares, &arrivals).0, fast(&Lanes::in_turns(2), &arrivals).0);
    }

    #[test]
    fn the_counts_of_lanes_are_those_of_the_units_served(lanes in lanes(), seed in any::<u64>()) {
        let arrivals = arrivals(seed, lanes.count(), 300);
        let (started, uses) = fast(&lanes, &arrivals);
        for lane in 0..lanes.count() {
            let served: Vec<&Start> = started.iter().filter(|start| arrivals[start.0].lane == lane).collect();
            let costs: u64 = served.iter().map(|start| arrivals[start.0].cost).sum();
            let waited: u64 = served.iter().map(|&&(number, at)| at - arrivals[number].at).sum();
            prop_assert_eq!(uses[lane].units, served.len() as u64);
            prop_assert_eq!(uses[lane].bytes.get(), costs);
            prop_assert_eq!(uses[lane].busy_picoseconds, u128::from(costs));
            prop_assert_eq!(uses[lane].waited_picoseconds, u128::from(waited));
            // What a lane borrows is a part of what it sent, and no more than the others' shares of it.
            let borrowed: u64 = uses.iter().map(|lender| lender.lent_bytes[lane].get()).sum();
            prop_assert!(borrowed as f64 <= costs as f64 * (1.0 - lanes.share(lane)) + 1.0);
        }
    }
}

/// What each lane was served of a backlog of units that all wait from the start, until `until`.
fn served_of_backlog(lanes: &Lanes, costs: &[u64], until: u64) -> Vec<u64> {
    let count = |cost: u64| until / cost + 2;
    let mut all: Vec<Arrival> = Vec::new();
    for (lane, &cost) in costs.iter().enumerate() {
        all.extend((0..count(cost)).map(|_| Arrival { at: 0, lane, cost }));
    }
    let mut served = vec![0; costs.len()];
    for (number, at) in fast(lanes, &all).0 {
        if at < until {
            served[all[number].lane] += all[number].cost;
        }
    }
    served
}

#[test]
fn lanes_that_wait_get_their_shares() {
    let shares =
        [vec![0.5, 0.5], vec![0.9, 0.1], vec![0.95, 0.05], vec![0.25, 0.75], vec![0.345_679, 0.456_787, 0.197_534]];
    for (fractions, costs) in shares.iter().flat_map(|each| [(each, [100, 100, 100]), (each, [1000, 64, 300])]) {
        let lanes = Lanes::of_shares(fractions).unwrap();
        let until = 5_000_000;
        let served = served_of_backlog(&lanes, &costs[..lanes.count()], until);
        let all: u64 = served.iter().sum();
        for (lane, &bytes) in served.iter().enumerate() {
            // Between lanes that wait, served / share differs by a unit's of each at most (Goyal, Vin and Cheng, theorem 1): by
            // 1000 / 0.05 + 1000 / 0.05 = 40,000 of 5,000,000.
            let error = bytes as f64 / all as f64 / lanes.share(lane) - 1.0;
            assert!(error.abs() < 0.01, "{fractions:?} {costs:?}: lane {lane} is off by {error}");
        }
    }
}

#[test]
fn a_lane_without_a_share_gets_what_others_leave() {
    let lanes = Lanes::of_shares(&[1.0, 0.0]).unwrap();
    let unit = |at, lane| Arrival { at, lane, cost: 10 };
    // Lane 1 waits from the start, and comes into service when lane 0 has nothing: at 20, and at 40 behind what came at 25.
    let arrivals = [unit(0, 0), unit(0, 1), unit(1, 0), unit(2, 1), unit(25, 0)];
    assert_eq!(fast(&lanes, &arrivals).0, [(0, 0), (2, 10), (1, 20), (4, 30), (3, 40)]);
}

#[test]
fn a_lane_that_comes_back_is_next_and_has_saved_nothing_up() {
    let lanes = Lanes::of_shares(&[0.9, 0.1]).unwrap();
    // Lane 1 has had the port to itself for 100 units of 10 when lane 0 comes at 1005 with twelve: lane 0 is next, at 1010, and
    // gets nine units for one of lane 1, whose unit in service has the start tag V and whose next has V + 10 / 0.1: behind nine
    // units of 10 / 0.9. Both tags are V + 100 then, and it is lane 1's turn.
    let mut arrivals: Vec<Arrival> = (0..120).map(|_| Arrival { at: 0, lane: 1, cost: 10 }).collect();
    arrivals.extend((0..12).map(|_| Arrival { at: 1005, lane: 0, cost: 10 }));
    let (started, uses) = fast(&lanes, &arrivals);
    let lane_0: Vec<u64> = started.iter().filter(|start| start.0 >= 120).map(|start| start.1).collect();
    let expected: Vec<u64> = (0..9).map(|unit| 1010 + 10 * unit).chain((0..3).map(|unit| 1110 + 10 * unit)).collect();
    assert_eq!(lane_0, expected);
    // Lane 0 lends 0.9 of the 101 units before it came and of the 18 after its last was served; while one unit of lane 1 was
    // served it waited, so that it lent nothing. Lane 1 waited throughout.
    assert_eq!(uses[0].lent_bytes[1].get(), (101 + 18) * 9);
    assert_eq!(uses[1].lent_bytes[0].get(), 0);
}

#[test]
fn statistics_begin_anew_with_what_is_left_of_a_service() {
    let lanes = Lanes::in_turns(2);
    let time = SimTime::from_picoseconds;
    let mut ports = LanePorts::new(1, &lanes);
    ports.pass(0, 0);
    ports.begin(0, 0, Service { start: time(0), end: time(100), cost: 7, bytes: 7 });
    ports.push(time(10), 0, 1, 4);
    ports.begin_statistics(time(40));
    // 30 of the 100 lie within the window from 40 to 70, and the unit that waits has waited in all of it.
    let [lane_0, lane_1] = &ports.uses(time(70))[..] else { panic!("two lanes") };
    assert_eq!((lane_0.busy_picoseconds, lane_0.units, lane_0.bytes.get()), (30, 0, 0));
    assert_eq!((lane_1.waited_picoseconds, lane_1.units), (30, 0));
    // The port breaks at 90: the rest is not served.
    ports.cut(time(90), 0);
    assert_eq!(ports.uses(time(200))[0].busy_picoseconds, 50);
    assert_eq!(ports.take(time(120), 0), Some(Taken { unit: 4, lane: 1 }));
    assert_eq!(ports.uses(time(200))[1].waited_picoseconds, 80);
}
