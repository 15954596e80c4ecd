use super::*;

fn balance(domains: Domains, width: usize, groups: Option<u64>) -> Balance {
    Declustered::new(domains, width, groups).unwrap().balance()
}

#[test]
fn every_pair_of_devices_shares_equally_many_groups() {
    // Of b groups of g, a device is in r = b g / n, and a pair in r (g - 1) / (n - 1).
    let expected = Balance { groups: 1344, load_min: 63, load_max: 63, pairs_min: 2, pairs_max: 2 };
    assert_eq!(balance(Domains::each_its_own(64), 3, None), expected);
}

#[test]
fn every_pair_of_devices_in_different_racks_shares_equally_many_groups() {
    // Eight racks of four: all affine images over eight elements, of a triple, are 7 x 8 = 56 triples of racks, each pair in
    // 56 x 6 / (8 x 7) = 6 of them; but the complete design has as many. Times 16 lines: 896 groups, a device is
    // in 896 x 3 / 32 = 84, and a pair of devices in different racks in 6 x 16 / 16 = 6.
    let racks = Domains::new((0..32).map(|device| device / 4).collect());
    let expected = Balance { groups: 896, load_min: 84, load_max: 84, pairs_min: 6, pairs_max: 6 };
    assert_eq!(balance(racks, 3, None), expected);
}

#[test]
fn a_given_number_of_groups_is_as_even_as_it_allows() {
    // 500 groups of 3 over 100 devices: five whole rounds of translates, so each device is in 15. Pairs: 15 x 2 / 99 = 0.3.
    let found = balance(Domains::each_its_own(100), 3, Some(500));
    assert_eq!(found, Balance { groups: 500, load_min: 15, load_max: 15, pairs_min: 0, pairs_max: 1 });
    // 1,234 groups end in the middle of a round of 100, so a device may be in up to three more than another.
    let found = balance(Domains::each_its_own(100), 3, Some(1234));
    assert_eq!(found.groups, 1234);
    assert!(found.load_max - found.load_min <= 3 && found.pairs_max <= 2, "{found:?}");
}

#[test]
fn what_a_failed_device_held_is_read_and_written_evenly() {
    // 130,000 objects on 13 devices with three copies: 30,000 on the failed one. Its 12 partners hold two other copies of
    // each, 5,000 each with a standard deviation of 65; its 30,000 new copies go to 12 devices, 2,500 each with one of 48. Six of
    // either, over 24 counts, is a false alarm in 10^7.
    let layout = Declustered::new(Domains::each_its_own(13), 3, None).unwrap();
    let (mut read, mut written) = ([0i32; 13], [0i32; 13]);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for object in (0..130_000).map(ObjectId::new) {
        layout.place(object, 3, |_| false, &mut before);
        if !before.contains(&DeviceId::new(4)) {
            continue;
        }
        layout.place(object, 3, |device| device.get() == 4, &mut after);
        assert_eq!(after.len(), 3);
        before.iter().for_each(|device| read[device.index()] += 1);
        after.iter().filter(|device| !before.contains(device)).for_each(|device| written[device.index()] += 1);
    }
    assert_eq!(written[4], 0);
    for device in (0..13).filter(|&device| device != 4) {
        assert!((read[device] - 5000).abs() < 6 * 65 + 100, "{read:?}");
        assert!((written[device] - 2500).abs() < 6 * 48 + 50, "{written:?}");
    }
}

#[test]
fn what_cannot_be_grouped_is_refused() {
    let message = |domains, width, groups| Declustered::new(domains, width, groups).unwrap_err().to_string();
    assert!(message(Domains::each_its_own(2), 3, None).starts_with("redundancy.replicas = 3: a group of 3 needs"));
    assert!(message(Domains::each_its_own(9), 3, Some(0)).starts_with("placement.parity_groups = 0: there are from 1"));
    assert!(message(Domains::new(vec![0, 0, 1, 2]), 2, None).contains("domains of equally many devices"));
    assert!(Declustered::new(Domains::new(Vec::new()), 1, None).is_err());
}

#[test]
fn a_layout_of_any_size_is_bounded() {
    // Four racks of 32,768: 2^30 lines would be 12 GB. Four triples of racks, times the lines that fit into 2^26 places.
    let racks = Domains::new((0..131_072).map(|device| device / 32_768).collect());
    let layout = Declustered::new(racks, 3, None).unwrap();
    assert_eq!(layout.group_count() as u64, (1 << 26) / 3 / 4 * 4);
    // A million servers: two rounds of translates.
    let layout = Declustered::new(Domains::each_its_own(1_000_000), 3, None).unwrap();
    assert_eq!(layout.group_count(), 2_000_000);
}
