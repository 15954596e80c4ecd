//! Groups: who holds what, how evenly, and where it goes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn flat(devices: u32, group_size: usize, pieces: usize, spare: Spare, failing: &[u32]) -> Groups {
    let failing: Vec<DeviceId> = failing.iter().copied().map(DeviceId::new).collect();
    Groups::new(Domains::each_its_own(devices), group_size, pieces, spare, &failing).unwrap()
}

fn place(layout: &Groups, object: u64, pieces: usize, failed: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    layout.place(ObjectId::new(object), pieces, |device| failed.contains(&device.get()), &mut found);
    found.iter().map(|device| device.get()).collect()
}

#[test]
fn every_member_and_every_pair_of_a_group_is_as_likely() {
    // 24,000 objects of 3 pieces in 2 groups of 8: a member has 24,000 / 2 x 3/8 = 4,500, standard deviation 61; a pair shares
    // 12,000 x (3 x 2) / (8 x 7) = 1,286, standard deviation 34; a member is first 1,500 times, 38. Six of each.
    let layout = flat(16, 8, 3, Spare::Distributed, &[]);
    let (mut pieces, mut first, mut pairs) = ([0i32; 16], [0i32; 16], [[0i32; 16]; 16]);
    for object in 0..24_000 {
        let set = place(&layout, object, 3, &[]);
        first[set[0] as usize] += 1;
        for &one in &set {
            pieces[one as usize] += 1;
            set.iter().for_each(|&other| pairs[one as usize][other as usize] += 1);
        }
    }
    assert!(pieces.iter().all(|count| (count - 4500).abs() < 366), "{pieces:?}");
    assert!(first.iter().all(|count| (count - 1500).abs() < 228), "{first:?}");
    for (one, other) in (0..8).flat_map(|one| (0..one).map(move |other| (one, other))) {
        assert!((pairs[one][other] - 1286).abs() < 204, "{one} and {other} share {}", pairs[one][other]);
    }
}

#[test]
fn what_a_failed_member_held_goes_to_all_others_of_its_group_alike() {
    // Of 24,000 objects 12,000 x 3/8 = 4,500 lose a piece, which goes to one of 7 members: 643 each, standard deviation 24.
    let layout = flat(16, 8, 3, Spare::Distributed, &[]);
    let mut gained = [0i32; 16];
    for object in 0..24_000 {
        let (before, after) = (place(&layout, object, 3, &[]), place(&layout, object, 3, &[2]));
        after.iter().filter(|device| !before.contains(device)).for_each(|&device| gained[device as usize] += 1);
    }
    let is_right = |(device, &count): (usize, &i32)| match device {
        2 | 8.. => count == 0,
        _ => (count - 643).abs() < 144,
    };
    assert!(gained.iter().enumerate().all(is_right), "{gained:?}");
}

#[test]
fn dedicated_spares_take_the_failed_in_the_order_of_their_failures() {
    // RAID sets of 3 with two spares each: devices 0 to 2 and 5 to 7 hold data, 3 and 4, and 8 and 9, stand by.
    let layout = flat(10, 5, 3, Spare::Dedicated(2), &[2, 0, 6]);
    let object = (0..).find(|&object| layout.group_of(ObjectId::new(object)) == 0).unwrap();
    let set = |failed: &[u32]| {
        let mut set = place(&layout, object, 3, failed);
        set.sort_unstable();
        set
    };
    let of = |member: u32, failed: &[u32]| {
        let spares = layout.stand_ins(0, |device| failed.contains(&device.get()));
        spares.iter().find(|(lost, _)| lost.get() == member).map(|(_, spare)| spare.get())
    };
    assert_eq!(set(&[]), [0, 1, 2]);
    // Device 2 fails first and takes the first spare, though device 0 has the lower number.
    assert_eq!((of(2, &[2]), of(2, &[0, 2]), of(0, &[0, 2])), (Some(3), Some(3), Some(4)));
    assert_eq!(set(&[0, 2]), [1, 3, 4]);
    // The third failure finds no spare, and another group's spares are not for it.
    assert_eq!(set(&[0, 1, 2]), [3, 4]);
    // A spare that fails while it stands in hands on to the next; one that stood by is only missing.
    assert_eq!((of(2, &[2, 3]), of(2, &[2, 4]), of(0, &[0, 2, 4])), (Some(4), Some(3), None));
    // Device 2's spare fails when device 0 has taken the other: device 2 has none any more.
    let late = flat(10, 5, 3, Spare::Dedicated(2), &[2, 0, 3]);
    let spares = late.stand_ins(0, |device| [0, 2, 3].contains(&device.get()));
    assert_eq!(spares, [(DeviceId::new(0), DeviceId::new(4))]);
}

#[test]
fn a_set_without_spares_stays_short() {
    let layout = flat(12, 4, 4, Spare::Distributed, &[]);
    for object in 0..50 {
        let before = place(&layout, object, 4, &[]);
        let after = place(&layout, object, 4, &[before[1]]);
        assert_eq!(after, [before[0], before[2], before[3]]);
    }
}

#[test]
fn what_makes_no_groups_is_refused() {
    let new = |devices: u32, size: usize, pieces: usize, spare: Spare| {
        Groups::new(Domains::each_its_own(devices), size, pieces, spare, &[]).map_err(|error| error.to_string())
    };
    for (devices, size) in [(10, 4), (10, 0), (10, 20), (0, 1), (2048, 2048)] {
        assert!(new(devices, size, 1, Spare::Distributed).unwrap_err().contains("placement.group_size"));
    }
    assert!(new(12, 4, 5, Spare::Distributed).unwrap_err().contains("lie in 4 failure domains"));
    assert!(new(12, 4, 3, Spare::Dedicated(2)).unwrap_err().contains("the 2 members of a group that hold data"));
    assert!(new(12, 4, 1, Spare::Dedicated(9)).unwrap_err().contains("the 0 members"));
    // Racks of two servers: a group of four lies in two of them.
    let racks = Domains::new((0..12).map(|device| device / 2).collect());
    let error = Groups::new(racks, 4, 3, Spare::Distributed, &[]).unwrap_err().to_string();
    assert!(error.contains("lie in 2 failure domains"), "{error}");
    assert!(new(1024, 1024, 64, Spare::Distributed).is_ok());
}

proptest! {
    // Rule: pieces stay in their group and on different members, failures one after another move nothing but what they take,
    // and a piece is missing only where its group has nobody left for it.
    #[test]
    fn failures_one_after_another_move_only_what_they_take(
        object: u64, size in 1usize..90, shape in (1usize..20, 0usize..5), order in prop::collection::vec(0u32..400, 0..40)
    ) {
        let (pieces, spares) = (shape.0.min(size), shape.1.min(size - shape.0.min(size)));
        let devices = 4 * size as u32;
        let mut seen = BTreeSet::new();
        let order: Vec<u32> = order.into_iter().map(|device| device % devices).filter(|&device| seen.insert(device)).collect();
        for spare in [Spare::Distributed, Spare::Dedicated(spares)] {
            let layout = flat(devices, size, pieces, spare, &order);
            let group = layout.group_of(ObjectId::new(object)) as u32;
            let mut before = place(&layout, object, pieces, &[]);
            prop_assert_eq!(before.len(), pieces);
            for count in 1..=order.len() {
                let failed = &order[..count];
                let after = place(&layout, object, pieces, failed);
                let distinct: BTreeSet<u32> = after.iter().copied().collect();
                prop_assert_eq!(distinct.len(), after.len());
                prop_assert!(after.iter().all(|device| device / size as u32 == group && !failed.contains(device)));
                let kept: Vec<u32> = before.iter().copied().filter(|device| !failed.contains(device)).collect();
                let stayed: Vec<u32> = after.iter().copied().filter(|device| before.contains(device)).collect();
                prop_assert_eq!(&stayed, &kept);
                let working = size - failed.iter().filter(|&device| device / size as u32 == group).count();
                if spare == Spare::Distributed {
                    prop_assert_eq!(after.len(), pieces.min(working));
                }
                before = after;
            }
        }
    }
}
