//! Stretch pools: which OSDs a PG serves with, and which of them are taken first.

use resilver_ceph::map::OsdMap;
use resilver_ceph::{ClusterInput, Stretch};
use resilver_crush::NONE;

use crate::common::{cluster, replicated};

/// Three racks of two hosts of two OSDs: OSDs 0 to 3 are in the first rack, 4 to 7 in the second, 8 to 11 in the third.
fn racks(count: u32, mandatory: Option<u32>) -> ClusterInput {
    let mut input = cluster(3, 2, 2);
    input.pools = vec![replicated(1, 8, 4)];
    let map = OsdMap::new(&input).unwrap();
    let barrier = map.crush().type_id("rack").unwrap();
    let mandatory_member = mandatory.and_then(|osd| map.crush().ancestor(osd as i32, "rack"));
    input.pools[0].stretch = Some(Stretch { count, target: 2, barrier, mandatory_member });
    input
}

// Rule: OSDs in as many racks as the pool asks for, one of them the mandatory one; holes count for nothing.
#[test]
fn a_pg_serves_with_osds_in_enough_racks() {
    let map = OsdMap::new(&racks(2, None)).unwrap();
    let admits = |osds: &[i32]| map.barrier(0).unwrap().admits(osds);
    assert!(admits(&[0, 4]) && admits(&[4, 0, 8]));
    assert!(!admits(&[0, 1, 2, 3]) && !admits(&[0, NONE]) && !admits(&[]));
    let map = OsdMap::new(&racks(1, Some(8))).unwrap();
    let admits = |osds: &[i32]| map.barrier(0).unwrap().admits(osds);
    assert!(admits(&[8]) && admits(&[0, 11]) && !admits(&[0, 4]));
    let plain = ClusterInput { pools: vec![replicated(1, 8, 4)], ..racks(1, None) };
    assert!(OsdMap::new(&plain).unwrap().barrier(0).is_none());
}

// Rule: of OSDs outside the up set, first one of the mandatory rack, then the first of the rack that has fewest, and no rack has more
// than its part of the copies, here 4 / 2.
#[test]
fn who_serves_beside_the_up_set_goes_by_racks() {
    let map = OsdMap::new(&racks(2, None)).unwrap();
    let next = |acting: &[i32], others: &[i32]| map.barrier(0).unwrap().next(acting, others, 4);
    assert_eq!(next(&[0], &[1, 2, 5, 9]), Some(2));
    assert_eq!(next(&[0, 4, 5], &[6, 1]), Some(1));
    assert_eq!(next(&[0, 1], &[2, 3]), None);
    assert_eq!(next(&[0, 1], &[]), None);
    let map = OsdMap::new(&racks(2, Some(8))).unwrap();
    let next = |acting: &[i32], others: &[i32]| map.barrier(0).unwrap().next(acting, others, 4);
    assert_eq!(next(&[0, 1], &[4, 9]), Some(1));
    assert_eq!(next(&[0, 9], &[1, 4]), Some(1));
}

// Rule: what no map can mean is refused, with what the field is to be.
#[test]
fn what_a_stretch_pool_cannot_ask_is_refused() {
    for (change, field) in [
        ((|it| it.count = 0) as fn(&mut Stretch), "count"),
        (|it| it.count = 5, "count"),
        (|it| it.target = 0, "target"),
        (|it| it.barrier = 0, "barrier"),
        (|it| it.barrier = 99, "barrier"),
        (|it| it.mandatory_member = Some(-999), "mandatory_member"),
    ] {
        let mut input = racks(2, None);
        change(input.pools[0].stretch.as_mut().unwrap());
        let message = OsdMap::new(&input).unwrap_err().to_string();
        assert!(message.contains(&format!("peering_crush_bucket_{field}")), "{message}");
    }
}
