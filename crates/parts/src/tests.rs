use std::num::NonZeroU32;

use proptest::prelude::*;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, SimDuration};

use crate::{Declaration, PartId, PartService, Parts};

fn level(level: &str, within: Option<&str>, count: u32) -> Declaration {
    Declaration::new(level, within, count)
}

fn of_class(class: &str, declaration: Declaration) -> Declaration {
    Declaration { class: Some(class.to_owned()), ..declaration }
}

fn with_service(megabytes_per_second: f64, declaration: Declaration) -> Declaration {
    let rate = BytesPerSecond::new(megabytes_per_second * 1e6);
    Declaration { service: Some(PartService { time: SimDuration::ZERO, rate }), ..declaration }
}

/// Two units, each of two controllers that carry the disks of five enclosures with four disks each.
fn couplets() -> Vec<Declaration> {
    let controller = with_service(1000.0, level("controller", Some("unit"), 2));
    vec![
        Declaration { ports: NonZeroU32::new(1), ..level("unit", None, 2) },
        Declaration { carries: Some("drive".to_owned()), partner: Some(true), ..controller },
        level("enclosure", Some("unit"), 5),
        level("drive", Some("enclosure"), 4),
    ]
}

/// Sets of so many drives, each from another enclosure.
fn sets(level: &str, within: Option<&str>, size: u32, spares: u32) -> Declaration {
    let (size, spares, across) = (NonZeroU32::new(size), NonZeroU32::new(spares), Some("enclosure".to_owned()));
    Declaration { of: Some("drive".to_owned()), size, spares, across, ..Declaration::new(level, within, 0) }
}

fn names(parts: &Parts, of: &[PartId]) -> Vec<String> {
    of.iter().map(|&part| parts.name(part)).collect()
}

#[test]
fn parts_are_numbered_through_the_tree_and_a_container_s_classes_in_their_order() {
    let parts = Parts::new(&[
        level("rack", None, 2),
        level("host", Some("rack"), 3),
        of_class("hdd", level("osd", Some("host"), 4)),
        of_class("ssd", level("osd", Some("host"), 1)),
    ])
    .unwrap();
    // Five devices a host: osd.0 to osd.3 of host.0 are disks, osd.4 is flash, and osd.17 is the third of host.3.
    let osd = parts.find("osd.17").unwrap();
    assert_eq!((parts.class(osd), parts.class(parts.find("osd.19").unwrap())), (Some("hdd"), Some("ssd")));
    let host = parts.parent(osd).unwrap();
    assert_eq!((parts.name(host), parts.name(parts.parent(host).unwrap())), ("host.3".into(), "rack.1".into()));
    let below: Vec<u32> = parts.devices_below(parts.find("rack.1").unwrap()).iter().map(|one| one.get()).collect();
    assert_eq!(below, (15..30).collect::<Vec<u32>>());
    // Nobody said who has the ports, so the devices' containers have them.
    assert_eq!(parts.port_of(DeviceId::new(17)), host);
    for name in ["osd.30", "osd.01", "host", "shelf.0", "osd.-1"] {
        assert_eq!(parts.find(name), None, "{name}");
    }
}

#[test]
fn bytes_pass_what_carries_a_part_and_not_what_contains_it() {
    let parts = Parts::new(&couplets()).unwrap();
    let way = |device| names(&parts, &parts.way(DeviceId::new(device)).unwrap());
    // The twenty drives of unit.0 are dealt over its two controllers in turn; those of unit.1 over the other two.
    assert_eq!(
        (way(0), way(1), way(19), way(20)),
        (
            vec!["controller.0".to_owned()],
            vec!["controller.1".to_owned()],
            vec!["controller.1".to_owned()],
            vec!["controller.2".to_owned()]
        )
    );
    // An enclosure takes its drives away; a controller that carries them has none in it.
    assert_eq!(parts.devices_below(parts.find("enclosure.1").unwrap()).len(), 4);
    assert!(parts.devices_below(parts.find("controller.1").unwrap()).is_empty());
}

#[test]
fn a_partner_takes_over_for_what_is_gone_and_not_for_what_is_slow() {
    let mut parts = Parts::new(&couplets()).unwrap();
    let [first, second] = ["controller.0", "controller.1"].map(|name| parts.find(name).unwrap());
    parts.set_health(first, 0.1);
    assert_eq!(parts.way(DeviceId::new(0)), Some(vec![first]));
    parts.set_health(first, 0.0);
    assert_eq!(parts.way(DeviceId::new(0)), Some(vec![second]));
    parts.set_health(second, 0.0);
    assert_eq!(parts.way(DeviceId::new(0)), None);
    // The other unit's controllers are partners of each other alone.
    assert!(parts.way(DeviceId::new(20)).is_some());
}

#[test]
fn a_set_is_made_of_one_member_from_each_enclosure() {
    let mut levels = couplets();
    levels[1].carries = Some("ost".to_owned());
    levels.push(sets("ost", Some("unit"), 5, 0));
    let parts = Parts::new(&levels).unwrap();
    // Five enclosures of four drives make four sets of five a unit, each with one drive of each enclosure.
    assert_eq!(parts.of_level("ost").len(), 8);
    let ost = parts.find("ost.1").unwrap();
    assert_eq!(names(&parts, parts.members(ost)), ["drive.1", "drive.5", "drive.9", "drive.13", "drive.17"]);
    // A drive's bytes pass its set, and with it the controller that carries the set.
    assert_eq!(names(&parts, &parts.way(DeviceId::new(5)).unwrap()), ["controller.1"]);
}

#[test]
fn a_set_that_nothing_carries_is_on_no_way() {
    let mut levels = couplets();
    levels.push(sets("ost", Some("unit"), 5, 0));
    let parts = Parts::new(&levels).unwrap();
    assert_eq!(names(&parts, &parts.way(DeviceId::new(5)).unwrap()), ["controller.1"]);
    assert_eq!(names(&parts, &parts.carriers(DeviceId::new(5))), ["controller.1", "unit.0"]);
}

#[test]
fn spares_are_the_last_of_each_enclosure_and_in_no_set() {
    let mut levels = couplets();
    levels.push(sets("ost", Some("unit"), 5, 1));
    let parts = Parts::new(&levels).unwrap();
    // Three of four drives of an enclosure are dealt, so three sets a unit; drives 3, 7, 11, ... stand by.
    assert_eq!(parts.of_level("ost").len(), 6);
    let members: Vec<u32> =
        parts.of_level("ost").iter().flat_map(|&set| parts.devices_below(set)).map(|d| d.get()).collect();
    assert!(members.len() == 30 && members.iter().all(|drive| drive % 4 != 3));
    // Of six sets, an enclosure of the first unit holds one member of each of the first three.
    assert_eq!(parts.members_within("ost", "enclosure")[4], [1, 1, 1, 0, 0, 0]);
    assert_eq!(parts.members_within("ost", "unit")[1], [0, 0, 0, 5, 5, 5]);
}

#[test]
fn a_way_passes_services_from_the_device_up() {
    let parts = Parts::new(&[
        level("rack", None, 1),
        with_service(2000.0, Declaration { ports: NonZeroU32::new(1), ..level("host", Some("rack"), 1) }),
        with_service(600.0, level("expander", Some("host"), 2)),
        level("osd", Some("expander"), 2),
    ])
    .unwrap();
    let way = parts.way(DeviceId::new(3)).unwrap();
    assert_eq!(names(&parts, &way), ["expander.1", "host.0"]);
    // 600 kB at 600 MB/s take a millisecond.
    assert_eq!(parts.service(way[0]).unwrap().time_for(Bytes::new(600_000)).seconds(), 0.001);
}

/// `tests/cases/refused/parts.toml` has the others, each with its words.
#[test]
fn what_makes_no_cluster_is_refused_at_its_key() {
    let refused = |levels: &[Declaration]| Parts::new(levels).unwrap_err().key;
    let at = |index: usize, key: &str| format!("parts.{index}.{key}");
    assert_eq!(refused(&[]), at(0, "level"));
    assert_eq!(refused(&[level("a", None, 0)]), at(0, "count"));
    assert_eq!(refused(&[level("a", Some("b"), 1), level("b", Some("c"), 1), level("c", Some("b"), 1)]), at(0, "in"));
    // Counts are multiplied without wrapping round.
    let many = ["b", "c", "d"].map(|above| level(above, None, u32::MAX));
    let [b, c, d] = many;
    let of = |part: Declaration, within: &str| Declaration { within: Some(within.to_owned()), ..part };
    assert_eq!(refused(&[b, of(c, "b"), of(d, "c"), level("e", Some("d"), u32::MAX)]), at(3, "count"));
    // More is dealt over what lies beside, and nothing is divided by none.
    let mut levels = couplets();
    levels.push(Declaration { across: Some("unit".to_owned()), ..sets("ost", Some("enclosure"), 2, 0) });
    assert_eq!(refused(&levels), at(4, "across"));
    levels[4] = sets("ost", Some("unit"), 7, 0);
    assert_eq!(refused(&levels), at(4, "size"));
}

proptest! {
    /// In any tree, each level's parts share the devices without gap or overlap, evenly and in their order.
    #[test]
    fn every_level_divides_the_devices(counts in prop::collection::vec(1u32..5, 1..5), classes in 1u32..3) {
        let name = |depth: usize| format!("level{depth}");
        let mut levels: Vec<Declaration> = Vec::new();
        for (depth, &count) in counts.iter().enumerate() {
            let within = depth.checked_sub(1).map(name);
            levels.push(level(&name(depth), within.as_deref(), count));
        }
        let last = levels.pop().unwrap();
        (0..classes).for_each(|class| levels.push(of_class(&format!("class{class}"), last.clone())));
        let parts = Parts::new(&levels).unwrap();
        let mut expected = 1;
        for (depth, &count) in counts.iter().enumerate() {
            let is_last = depth + 1 == counts.len();
            expected *= if is_last { count * classes } else { count };
            let of_level = parts.of_level(&name(depth));
            prop_assert_eq!(of_level.len() as u32, expected);
            let below: Vec<u32> =
                of_level.iter().flat_map(|&part| parts.devices_below(part)).map(|one| one.get()).collect();
            prop_assert_eq!(below, (0..parts.devices().len() as u32).collect::<Vec<u32>>());
            let size = parts.devices().len() / of_level.len();
            prop_assert!(of_level.iter().all(|&part| parts.devices_below(part).len() == size));
            for (number, &part) in of_level.iter().enumerate() {
                prop_assert_eq!(parts.find(&format!("level{depth}.{number}")), Some(part));
            }
        }
    }

    /// Sets share the devices, and no two members of one are in one enclosure where there are enough enclosures.
    #[test]
    fn sets_are_spread_as_far_as_can_be(enclosures in 1u32..7, drives in 1u32..7, size in 1u32..7) {
        let set = sets("set", None, size, 0);
        let built = Parts::new(&[level("enclosure", None, enclosures), level("drive", Some("enclosure"), drives), set]);
        let is_even = (enclosures * drives).is_multiple_of(size);
        prop_assert_eq!(built.is_ok(), is_even);
        if let Ok(parts) = built {
            let mut all: Vec<DeviceId> = Vec::new();
            for &set in parts.of_level("set") {
                let members = parts.devices_below(set);
                let of = |enclosure| members.iter().filter(|one| one.get() / drives == enclosure).count() as u32;
                prop_assert!((0..enclosures).all(|one| of(one) <= size.div_ceil(enclosures)));
                all.extend(members);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..enclosures * drives).map(DeviceId::new).collect::<Vec<_>>());
        }
    }

    /// Whatever is gone, a way passes only parts that work, and none only where a pair is gone together.
    #[test]
    fn a_way_passes_what_works(gone in prop::collection::vec(any::<bool>(), 4)) {
        let mut parts = Parts::new(&couplets()).unwrap();
        let controllers = parts.of_level("controller").to_vec();
        for (&controller, &is_gone) in controllers.iter().zip(&gone) {
            parts.set_health(controller, if is_gone { 0.0 } else { 1.0 });
        }
        for device in 0..40u32 {
            let pair = (device / 20) as usize * 2;
            let way = parts.way(DeviceId::new(device));
            prop_assert_eq!(way.is_none(), gone[pair] && gone[pair + 1]);
            prop_assert!(way.iter().flatten().all(|&part| parts.health(part) > 0.0));
        }
    }
}
