//! Laws of hash rings.

use super::*;
use proptest::prelude::*;

fn flat(devices: u32) -> HashRing {
    HashRing::new((0..devices).collect(), 64, RingWalk::Successors)
}

fn rehashed(devices: u32) -> HashRing {
    HashRing { walk: RingWalk::Rehash, ..flat(devices) }
}

fn place(ring: &HashRing, object: u64, copies: usize, failed: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    ring.place(ObjectId::new(object), copies, |device| failed.contains(&device.get()), &mut found);
    found.iter().map(|device| device.get()).collect()
}

#[test]
fn too_few_domains_give_fewer_copies() {
    for ring in [flat(2), rehashed(2)] {
        assert_eq!(place(&ring, 77, 3, &[]).len(), 2);
        assert_eq!(place(&ring, 77, 3, &[0]), [1]);
    }
    for walk in [RingWalk::Successors, RingWalk::Rehash] {
        // Six devices in two domains hold two copies at the most.
        assert_eq!(place(&HashRing::new(vec![0, 0, 0, 1, 1, 1], 64, walk), 77, 3, &[]).len(), 2);
    }
}

#[test]
fn load_is_even_to_what_the_points_allow() {
    // A device's share of the ring has a relative standard deviation of about 1/sqrt(points): 1/32 for 1,024 points,
    // plus that of the sample, 1/sqrt(10,000). Five of both, added in quadrature, is 0.165; over 16 devices that is
    // a false alarm in about a hundred thousand seeds, and this one is fixed.
    let ring = HashRing::new((0..16).collect(), 1024, RingWalk::Rehash);
    let mut counts = [0u32; 16];
    for object in 0..160_000u64 {
        counts[place(&ring, object, 1, &[])[0] as usize] += 1;
    }
    for count in counts {
        assert!((f64::from(count) / 10_000.0 - 1.0).abs() < 0.165, "{counts:?}");
    }
}

proptest! {
    /// A failure moves only the copies of the failed device: the others stay, in their order.
    #[test]
    fn survivors_stay(object: u64, failed in 0u32..12) {
        for ring in [flat(12), rehashed(12)] {
            let before = place(&ring, object, 3, &[]);
            let after = place(&ring, object, 3, &[failed]);
            let kept: Vec<u32> = before.iter().copied().filter(|&d| d != failed).collect();
            prop_assert_eq!(&after[..kept.len()], &kept[..]);
            prop_assert!(!after.contains(&failed));
            prop_assert_eq!(after.len(), 3);
        }
    }

    /// The affected intervals hold exactly the positions from which a failed device is found.
    #[test]
    fn intervals_are_exact(object: u64, failed in 0u32..12) {
        let ring = flat(12);
        let position = object_position(ObjectId::new(object));
        let intervals = ring.affected_intervals(3, |device| device.get() == failed);
        let inside = intervals.iter().any(|&(start, end)| start <= position && position <= end);
        prop_assert_eq!(inside, place(&ring, object, 3, &[]).contains(&failed));
    }

    /// A batch holds, row by row, what each object's own placement gives.
    #[test]
    fn a_batch_equals_one_by_one(
        first in 0u64..u64::MAX - 1000, devices in 1u32..40, copies in 0usize..6, domains in 1u32..40
    ) {
        for walk in [RingWalk::Rehash, RingWalk::Successors] {
            let ring = HashRing::new((0..devices).map(|device| device % domains).collect(), 16, walk);
            let mut rows = vec![7; 600 * copies];
            ring.place_batch(first..first + 600, copies, &mut rows);
            for (object, row) in (first..).zip(rows.chunks_exact(copies.max(1))) {
                let mut expected = place(&ring, object, copies, &[]);
                expected.resize(copies, NO_DEVICE);
                prop_assert_eq!(row, &expected[..]);
            }
        }
    }

    /// A change of one device's points moves data only to it or from it; with no points it is removed.
    ///
    /// With a position for every copy, an object that has the device before and after may exchange one other: where two
    /// of its positions meet the device, no rule can know which of them it met first. The next test bounds how many.
    #[test]
    fn reweighting_moves_data_only_to_or_from_the_device(
        first: u32, before in prop::collection::vec(0u32..40, 12), changed in 0u32..12, points in 0u32..80
    ) {
        let mut after = before.clone();
        after[changed as usize] = points;
        for walk in [RingWalk::Rehash, RingWalk::Successors] {
            let ring = |points_of: &[u32]| HashRing::weighted((0..12).collect(), points_of, walk);
            let (old_ring, new_ring) = (ring(&before), ring(&after));
            for object in (0..500).map(|index| u64::from(first) + index) {
                let (old, new) = (place(&old_ring, object, 3, &[]), place(&new_ring, object, 3, &[]));
                let gained: Vec<u32> = new.iter().copied().filter(|one| !old.contains(one)).collect();
                let left: Vec<u32> = old.iter().copied().filter(|one| !new.contains(one)).collect();
                match (old.contains(&changed), new.contains(&changed)) {
                    (false, false) => prop_assert_eq!(&old, &new),
                    (false, true) => prop_assert_eq!(gained, [changed]),
                    (true, false) => prop_assert_eq!(left, [changed]),
                    (true, true) if walk == RingWalk::Successors => prop_assert!(gained.is_empty() && left.is_empty()),
                    (true, true) => prop_assert!(gained.len() <= 1 && left.len() <= 1, "{:?} -> {:?}", old, new),
                }
            }
        }
    }
}

#[test]
fn reweighting_moves_next_to_nothing_else() {
    // Device 0 of 200 gets twice its points. An object exchanges another device only if two of its three positions meet
    // device 0 afterwards, one of them by a point that is new: 3 pairs x 2 x (1/201)^2 = 1.5e-4, 30 of 200,000 objects
    // with a standard deviation of 5.5; the share of a device of 256 points varies by 6 %. Sixty is beyond five deviations.
    let mut points_of = [256; 200];
    let before = HashRing::weighted((0..200).collect(), &points_of, RingWalk::Rehash);
    points_of[0] = 512;
    let after = HashRing::weighted((0..200).collect(), &points_of, RingWalk::Rehash);
    let exchanged = |object: &u64| {
        let (old, new) = (place(&before, *object, 3, &[]), place(&after, *object, 3, &[]));
        old.contains(&0) && new.iter().any(|one| !old.contains(one))
    };
    let count = (0..200_000u64).filter(exchanged).count();
    assert!(count <= 60, "{count}");
}

#[test]
fn no_points_and_no_devices_place_nothing() {
    for walk in [RingWalk::Rehash, RingWalk::Successors] {
        assert!(place(&HashRing::new(vec![], 64, walk), 1, 3, &[]).is_empty());
        let ring = HashRing::weighted(vec![0, 1], &[0, 0], walk);
        assert!(place(&ring, 1, 3, &[]).is_empty());
        let mut row = [0; 3];
        ring.place_batch(1..2, 3, &mut row);
        assert_eq!(row, [NO_DEVICE; 3]);
    }
}

#[test]
fn a_ring_of_which_all_fails_is_not_walked_around() {
    // A million objects around a ring of a million points would take hours.
    let ring = HashRing::new((0..1024).collect(), 1024, RingWalk::Rehash);
    let mut found = Vec::new();
    for object in 0..2000 {
        ring.place(ObjectId::new(object), 3, |device| device.get() != 5, &mut found);
        assert_eq!(found, [DeviceId::new(5)]);
    }
}

#[test]
fn points_are_shared_by_weight() {
    // Device 1 has twice the points of the others: 2/5 of 40,000 first copies, 16,000, within what 1/sqrt(1024) allows,
    // 500, and the sample's deviation, 98: five of both are 2,550.
    let ring = HashRing::weighted((0..4).collect(), &[1024, 2048, 1024, 1024], RingWalk::Rehash);
    let count = (0..40_000).filter(|&object| place(&ring, object, 1, &[]) == [1]).count();
    assert!(count.abs_diff(16_000) < 2550, "{count}");
}

// Rule: an object does not stand on a point for having its number. Were points and objects hashed alike, object n would lie
// on point n of device 0, and device 0 would hold all of the first 1,024. Of 64 devices it holds 16 of them on average, with
// a standard deviation of 4 and that of its share of the ring, 3 %: six of both are 27.
#[test]
fn the_first_objects_are_spread_like_all_others() {
    let ring = HashRing::new((0..64).collect(), 1024, RingWalk::Rehash);
    let mut found = Vec::new();
    let mut held = 0;
    for object in (0..1024).map(ObjectId::new) {
        ring.place(object, 1, |_| false, &mut found);
        held += u32::from(found[0].get() == 0);
    }
    assert!(held < 16 + 27, "{held}");
}
