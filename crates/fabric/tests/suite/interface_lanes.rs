//! Lanes at both sides of LogGP interfaces.

use std::sync::Arc;

use proptest::prelude::*;
use resilver_fabric::{Fabric, FabricEvent, LogGp, LogGpEvent, LogGpRow, LogGpTable, Message, Notice};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{Bytes, EndpointId, SimDuration, SimTime};

const LATENCY: u64 = 1_000_000_000;
const GAP: u64 = 200_000_000;
const PER_BYTE: u64 = 3_000_000;
/// The time in which messages are sent, so long that no two arrive in one picosecond.
const SPAN: u64 = 100_000_000_000;

/// How long a message keeps an interface busy.
fn occupancy(bytes: u64) -> u64 {
    GAP + (bytes - 1) * PER_BYTE
}

fn table() -> Arc<LogGpTable> {
    let row = LogGpRow {
        size: Bytes::new(1 << 20),
        latency: SimDuration::from_picoseconds(LATENCY),
        gap_picoseconds: GAP as i64,
        gap_per_byte_picoseconds: PER_BYTE,
    };
    Arc::new(LogGpTable::new(vec![row]).unwrap())
}

/// An event of the fabric, or in the lowest bit the sending of a message.
#[derive(Clone, Copy)]
struct Step(u64);

impl Event for Step {
    fn code(&self) -> u64 {
        self.0
    }
}

struct Play {
    fabric: LogGp,
    messages: Vec<Message>,
    /// When each was delivered and had left its sender, in picoseconds.
    delivered: Vec<Option<u64>>,
    left: Vec<Option<u64>>,
}

impl Model for Play {
    type Event = Step;

    fn execute(&mut self, Step(word): Step, schedule: &mut Schedule<Step>) {
        let now = schedule.now();
        let queue = |time: SimTime, event: LogGpEvent| schedule.at(time, Step(event.number() << 1));
        if word & 1 == 1 {
            let message = self.messages[(word >> 1) as usize];
            let left = self.fabric.send(now, message, queue);
            self.left[message.token as usize] = left.map(SimTime::picoseconds);
            return;
        }
        let messages = &self.messages;
        let message_of = |token: u64| messages[token as usize];
        let event = LogGpEvent::of_number(word >> 1);
        let (place, token) = match self.fabric.execute(now, event, message_of, queue) {
            Some(Notice::Delivered(token)) => (&mut self.delivered, token),
            Some(Notice::Sent(token)) => (&mut self.left, token),
            Some(Notice::Lost(token)) => panic!("message {token} was lost"),
            None => return,
        };
        assert_eq!(place[token as usize].replace(now.picoseconds()), None, "message {token} is told of twice");
    }
}

/// A fabric of eight interfaces with these lanes, and messages of (time, from, to, bytes, lane).
fn play(lanes: &Lanes, messages: &[(u64, u32, u32, u64, u8)]) -> (Play, Schedule<Step>) {
    let mut schedule = Schedule::new();
    let mut play = Play {
        fabric: LogGp::with_lanes(table(), 8, lanes),
        messages: Vec::new(),
        delivered: vec![None; messages.len()],
        left: vec![None; messages.len()],
    };
    for (token, &(at, from, to, bytes, lane)) in (0..).zip(messages) {
        let (from, to, bytes) = (EndpointId::new(from), EndpointId::new(to), Bytes::new(bytes));
        play.messages.push(Message { from, to, bytes, lane, token });
        schedule.at(SimTime::from_picoseconds(at), Step(token << 1 | 1));
    }
    (play, schedule)
}

fn finish(lanes: &Lanes, messages: &[(u64, u32, u32, u64, u8)]) -> Play {
    let (mut play, mut schedule) = play(lanes, messages);
    run(&mut play, &mut schedule, Limit::none()).unwrap();
    play
}

fn shares(fractions: &[f64]) -> Lanes {
    Lanes::of_shares(fractions).unwrap()
}

proptest! {
    #[test]
    fn messages_of_one_lane_go_as_through_interfaces_without_lanes(seed in any::<u64>(), lane in 0_u8..3) {
        let mut draws = Stream::new(seed, 0, Purpose::named("messages"));
        let messages: Vec<_> = (0..300)
            .map(|_| {
                let [from, to] = [(); 2].map(|()| draws.below(8) as u32);
                (draws.below(SPAN), from, to, 1 + draws.below(2000), lane)
            })
            .collect();
        let plain = finish(&Lanes::single(), &messages);
        for lanes in [shares(&[0.6, 0.3, 0.1]), Lanes::in_turns(3), Lanes::in_turns(3).by_priority(vec![2, 0, 1])] {
            let laned = finish(&lanes, &messages);
            prop_assert_eq!(&laned.delivered, &plain.delivered);
            prop_assert_eq!(&laned.left, &plain.left);
            prop_assert_eq!(laned.fabric.uses(SimTime::MAX), plain.fabric.uses(SimTime::MAX));
        }
    }

    #[test]
    fn every_message_is_delivered_and_counted_in_its_lane(seed in any::<u64>()) {
        let mut draws = Stream::new(seed, 1, Purpose::named("messages"));
        let messages: Vec<_> = (0..300)
            .map(|_| {
                let from = draws.below(8) as u32;
                let to = (from + 1 + draws.below(7) as u32) % 8;
                (draws.below(SPAN / 2), from, to, 1 + draws.below(2000), draws.below(3) as u8)
            })
            .collect();
        let (mut play, mut schedule) = play(&shares(&[0.6, 0.3, 0.1]), &messages);
        run(&mut play, &mut schedule, Limit::none()).unwrap();
        prop_assert!(play.delivered.iter().all(Option::is_some) && play.left.iter().all(Option::is_some));
        // A message has been received before its gap is over.
        let end = schedule.now() + SimDuration::from_picoseconds(GAP);
        for (lane, of_lane) in (0..3).zip(play.fabric.lane_uses(end)) {
            let of_messages = messages.iter().filter(|message| message.4 == lane);
            let (units, bytes, busy) = of_messages.fold((0, 0, 0), |(units, bytes, busy), message| {
                (units + 2, bytes + 2 * message.3, busy + 2 * occupancy(message.3))
            });
            // Once at the sender and once at the receiver.
            prop_assert_eq!((of_lane.units, of_lane.bytes.get()), (units, bytes));
            prop_assert_eq!(of_lane.busy_picoseconds, u128::from(busy));
        }
        // What each interface did is the same sum, by endpoint.
        let busy: u64 = play.fabric.uses(end).iter().map(|usage| usage.send_busy.picoseconds()).sum();
        prop_assert_eq!(busy, messages.iter().map(|message| occupancy(message.3)).sum::<u64>());
    }
}

#[test]
fn each_lane_gets_its_share_of_both_sides_while_all_wait() {
    for fractions in [vec![0.9, 0.1], vec![0.95, 0.05], vec![0.25, 0.75], vec![0.5, 0.3, 0.2]] {
        for sizes in [[1000, 1000, 1000], [1000, 64, 300]] {
            let lanes = shares(&fractions);
            // One sender to a receiver for each lane; then a sender for each lane to one receiver.
            for is_sender in [true, false] {
                let end = 2_000 * occupancy(1000);
                let mut messages = Vec::new();
                for (lane, &bytes) in (0_u8..).zip(&sizes[..fractions.len()]) {
                    let other = 1 + u32::from(lane);
                    let (from, to) = if is_sender { (0, other) } else { (other, 0) };
                    (0..end / occupancy(bytes)).for_each(|_| messages.push((0, from, to, bytes, lane)));
                }
                let (mut play, mut schedule) = play(&lanes, &messages);
                run(&mut play, &mut schedule, Limit::until(SimTime::from_picoseconds(end))).unwrap();
                let mut busy = vec![0; fractions.len()];
                for (message, (left, delivered)) in play.messages.iter().zip(play.left.iter().zip(&play.delivered)) {
                    if if is_sender { left } else { delivered }.is_some() {
                        busy[usize::from(message.lane)] += occupancy(message.bytes.get());
                    }
                }
                let all: u64 = busy.iter().sum();
                for (lane, &busy) in busy.iter().enumerate() {
                    // Tags of 95 and 5 hundredths come round after 20 messages, so a lane may lack one of its 100.
                    let error = busy as f64 / all as f64 / lanes.share(lane) - 1.0;
                    assert!(error.abs() <= 0.01, "{fractions:?} {sizes:?}: lane {lane} is off by {error}");
                }
            }
        }
    }
}

#[test]
fn a_lane_that_comes_back_is_next_on_both_sides() {
    // Lane 1 alone sends without a pause. At half of its third message one of lane 0 comes to the sender: it is the fourth to
    // leave, and its sender hears of it when it has.
    let time = occupancy(1000);
    let mut messages: Vec<_> = (0..6).map(|_| (0, 0, 1, 1000, 1)).collect();
    messages.push((5 * time / 2, 0, 2, 1000, 0));
    let play = finish(&shares(&[0.9, 0.1]), &messages);
    let left: Vec<u64> = play.left.iter().map(|left| left.unwrap() / time).collect();
    assert_eq!(left, [1, 2, 3, 5, 6, 7, 4]);
    let undisturbed = 3 * time + LATENCY + 999 * PER_BYTE;
    assert_eq!(play.delivered[6], Some(undisturbed));

    // Six senders of lane 1 and one of lane 0 whose message arrives last, half-way through the third: it is the fourth.
    let mut messages: Vec<_> = (0..6).map(|sender| (0, sender, 7, 1000, 1)).collect();
    messages.push((5 * time / 2, 6, 7, 1000, 0));
    let play = finish(&shares(&[0.9, 0.1]), &messages);
    let ranks: Vec<u64> = play.delivered.iter().map(|at| (at.unwrap() - LATENCY - 999 * PER_BYTE) / time + 1).collect();
    assert_eq!(ranks, [1, 2, 3, 5, 6, 7, 4]);
}

#[test]
fn a_higher_priority_waits_for_the_message_in_service_alone() {
    let time = occupancy(1000);
    let mut messages: Vec<_> = (0..5).map(|_| (0, 0, 1, 1000, 0)).collect();
    messages.extend([(10, 0, 1, 1000, 1), (20, 0, 1, 1000, 1)]);
    let play = finish(&Lanes::in_turns(2).by_priority(vec![1, 0]), &messages);
    let left: Vec<u64> = play.left.iter().map(|left| left.unwrap() / time).collect();
    assert_eq!(left, [1, 4, 5, 6, 7, 2, 3]);
}

#[test]
fn statistics_of_lanes_begin_with_what_is_left_of_a_message() {
    let (time, begin) = (occupancy(1000), LATENCY / 2);
    let (mut play, mut schedule) = play(&Lanes::in_turns(2), &[(0, 0, 1, 1000, 1)]);
    run(&mut play, &mut schedule, Limit::until(SimTime::from_picoseconds(begin))).unwrap();
    play.fabric.begin_statistics(SimTime::from_picoseconds(begin));
    run(&mut play, &mut schedule, Limit::none()).unwrap();
    // What was left of its sending, as time alone, and all of its receiving, which began after.
    let uses = play.fabric.lane_uses(schedule.now() + SimDuration::from_picoseconds(GAP));
    assert_eq!((uses[1].units, uses[1].bytes.get()), (1, 1000));
    assert_eq!(uses[1].busy_picoseconds, u128::from(time - begin + time));
}
