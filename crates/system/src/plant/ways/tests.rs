use std::num::NonZeroU32;

use resilver_parts::Declaration;
use resilver_units::ObjectId;

use super::*;

fn at(picoseconds: u64) -> SimTime {
    SimTime::from_picoseconds(picoseconds)
}

fn io(direction: Direction) -> Io {
    Io { object: ObjectId::new(0), offset: 0, bytes: Bytes::new(100), direction, lane: 0, operation: None }
}

/// A unit of two controllers, which take 10 ps a request and carry a drive each; the first is gone from 15 to 50 ps.
fn ways(has_partner: bool) -> Ways {
    let time = SimDuration::from_picoseconds(10);
    let service = resilver_parts::PartService { time, rate: None };
    let partner = Some(has_partner);
    let level = |name: &str, count| Declaration::new(name, Some("unit"), count);
    let levels = [
        Declaration { ports: NonZeroU32::new(1), ..Declaration::new("unit", None, 1) },
        Declaration { carries: Some("drive".into()), service: Some(service), partner, ..level("controller", 2) },
        level("drive", 2),
    ];
    let parts = Parts::new(&levels).unwrap();
    let first = parts.find("controller.0").unwrap();
    let fault = Fault { at: at(15), until: Some(at(50)), parts: vec![first.index() as u32], ..Fault::default() };
    Ways::of(&parts, &[fault]).unwrap()
}

/// When each of these requests passes the part that it goes to next.
fn passes(ways: &mut Ways, now: u64, places: &[u32]) -> Vec<u64> {
    let pass = |&place: &u32| match ways.go(at(now), place) {
        Next::Passes(time) => time.picoseconds(),
        Next::Device | Next::Over => 0,
    };
    places.iter().map(pass).collect()
}

#[test]
fn what_waits_at_a_part_that_goes_joins_its_partner_s_queue_in_its_order() {
    let mut ways = ways(true);
    let writes: Vec<u32> = (0..4).map(|event| ways.enter(u32::from(event == 3), io(Direction::Write), event)).collect();
    assert_eq!(passes(&mut ways, 0, &writes), [10, 20, 30, 10]);
    let old = ways.event(writes[1]);
    ways.pass(writes[0]);
    assert!(matches!(ways.go(at(10), writes[0]), Next::Device));
    ways.pass(writes[3]);
    assert!(matches!(ways.go(at(10), writes[3]), Next::Device));
    // The second was being served and begins anew; the third waits behind it.
    assert_eq!(ways.change(at(15), 0), [writes[1], writes[2]]);
    assert_eq!(passes(&mut ways, 15, &writes[1..3]), [25, 35]);
    assert_eq!(ways.place_of(old), None);
    assert_eq!(ways.place_of(ways.event(writes[1])), Some(writes[1]));
    // What comes later goes the partner's way, too.
    let later = ways.enter(0, io(Direction::Write), 9);
    assert_eq!(passes(&mut ways, 16, &[later]), [45]);
    for place in [writes[1], writes[2], later] {
        ways.pass(place);
        assert!(matches!(ways.go(at(45), place), Next::Device));
    }
    // The first served until it went, and passed one request; the partner passed four.
    let uses = ways.uses(at(45), SimDuration::from_picoseconds(45)).unwrap();
    let told: Vec<(&str, u64, u64)> =
        uses.iter().map(|one| (one.name.as_str(), one.requests, one.busy.picoseconds())).collect();
    assert_eq!(told, [("controller.0", 1, 15), ("controller.1", 4, 40)]);
    // What comes while it is gone goes to the partner and stays there; what comes once it is back is served by the part itself.
    let meanwhile = ways.enter(0, io(Direction::Write), 10);
    assert_eq!(passes(&mut ways, 49, &[meanwhile]), [59]);
    assert!(ways.change(at(50), 1).is_empty());
    let (back, other) = (ways.enter(0, io(Direction::Write), 11), ways.enter(1, io(Direction::Write), 12));
    assert_eq!(passes(&mut ways, 50, &[back, other]), [60, 69]);
    for place in [meanwhile, back, other] {
        ways.pass(place);
        assert!(matches!(ways.go(at(69), place), Next::Device));
    }
    let uses = ways.uses(at(69), SimDuration::from_picoseconds(69)).unwrap();
    assert_eq!(uses.iter().map(|one| one.requests).collect::<Vec<u64>>(), [2, 6]);
}

#[test]
fn without_a_partner_what_waits_is_over_with_its_device() {
    let mut ways = ways(false);
    let write = ways.enter(0, io(Direction::Write), 7);
    passes(&mut ways, 12, &[write]);
    assert_eq!(ways.change(at(15), 0), [write]);
    assert!(matches!(ways.go(at(15), write), Next::Over));
    assert_eq!(ways.leave(write).event, 7);
}

#[test]
fn nothing_passes_on_from_a_device_that_failed() {
    let mut ways = ways(true);
    let (read, other) = (ways.enter(0, io(Direction::Read), 1), ways.enter(1, io(Direction::Read), 2));
    ways.set_down(DeviceId::new(0), true);
    assert!(matches!(ways.go(at(3), read), Next::Over));
    assert!(matches!(ways.go(at(3), other), Next::Passes(time) if time == at(13)));
}

#[test]
fn parts_without_a_service_are_no_ways() {
    let levels = [Declaration::new("host", None, 2), Declaration::new("osd", Some("host"), 2)];
    let parts = Parts::new(&levels).unwrap();
    assert!(Ways::of(&parts, &[]).is_none());
}
