//! Codes as their users see them: what they survive, what repairs gather, and that the bytes come back.

use proptest::prelude::*;
use resilver_redundancy::{Code, CodeError, Matrix, Pieces};

fn parsed(text: &str) -> Code {
    Code::parse(text).unwrap()
}

/// Every set of pieces of a code.
fn all_sets(code: &Code) -> impl Iterator<Item = Pieces> {
    let pieces = code.pieces();
    (0..1u64 << pieces).map(move |bits| Pieces::of((0..pieces).filter(|piece| bits >> piece & 1 == 1)))
}

/// Every set of so many of the first pieces.
fn sets_of(pieces: u32, losses: u32) -> Vec<Pieces> {
    let longer = |sets: Vec<Vec<u32>>| -> Vec<Vec<u32>> {
        let with = |set: Vec<u32>| {
            let first = set.last().map_or(0, |last| last + 1);
            (first..pieces).map(move |piece| [&set[..], &[piece]].concat())
        };
        sets.into_iter().flat_map(with).collect()
    };
    let sets = (0..losses).fold(vec![Vec::new()], |sets, _| longer(sets));
    sets.into_iter().map(Pieces::of).collect()
}

/// The survivors of a loss, and what a repair or a read of one gathers.
fn survivors(code: &Code, lost: Pieces) -> Vec<u32> {
    Pieces::first(code.pieces()).without(lost).iter().collect()
}

fn repaired(code: &Code, lost: &[u32], piece: u32, prefer: &[u32]) -> Option<Vec<u32>> {
    let mut gathered = vec![99];
    code.repair(Pieces::of(lost.iter().copied()), piece, prefer, &mut gathered).then_some(gathered)
}

fn read(code: &Code, lost: &[u32], prefer: &[u32]) -> Option<Vec<u32>> {
    let mut gathered = vec![99];
    code.read(Pieces::of(lost.iter().copied()), prefer, &mut gathered).then_some(gathered)
}

#[test]
fn names_are_read_and_written_alike() {
    let plain = ["copies 1", "copies 3", "rs 8+3", "lrc 8+5 local 4", "lrc 12+4 local 6", "rs 60+4", "lrc 4+4 local 1"];
    for name in plain.into_iter().chain([
        "lrc 12+2+2",
        "lrc 48+4+0",
        "product rs 4+2 x rs 3+1",
        "product lrc 4+2 local 2 x copies 2",
    ]) {
        assert_eq!(parsed(name).name(), name);
    }
    assert_eq!(parsed(" Product RS 4 + 2  x rs 3+ 1").name(), "product rs 4+2 x rs 3+1");
    let code = parsed("  lrc  8+5   local 4 ");
    assert_eq!((code.data(), code.parity(), code.pieces(), code.fault_tolerance(), code.locality()), (8, 5, 13, 3, 4));
}

#[test]
fn what_is_no_code_is_refused_with_the_remedy() {
    for text in [
        "",
        "rs",
        "rs 8",
        "rs 8+",
        "rs -8+3",
        "rs +8+3",
        "raid 6",
        "lrc 8+5",
        "lrc 8+5 local",
        "lrc 8+2+",
        "lrc 8+2+2+2",
        "copies three",
        "rs 8+3 x",
        "product",
        "product rs 4+2",
        "product rs 4+2 x",
        "product rs 4+2 x rs 3+1 x rs 2+1",
        "product product rs 1+1 x rs 1+1 x rs 1+1",
        "rs 4+2 x rs 3+1",
        "over",
        "rs 4+2 over",
        "rs 4+2 over over rs 3+1",
    ] {
        assert_eq!(Code::parse(text), Err(CodeError::Unreadable(text.to_owned())));
    }
    let refused = |text: &str| Code::parse(text).unwrap_err().to_string();
    assert!(refused("copies 0").contains("at least one copy"));
    assert!(refused("rs 0+3").contains("'rs 0+3': a code has at least one data piece"));
    assert!(refused("rs 8+0").contains("write 'copies 1' for none"));
    assert!(refused("rs 62+3").contains("at most 64 pieces, and this one would have 65"));
    assert!(refused("rs 4294967295+4294967295").contains("would have 8589934590"));
    assert!(refused("copies 65").contains("would have 65"));
    assert!(
        refused("product rs 6+3 x rs 6+2")
            .contains("x rs 6+2': an object has at most 64 pieces, and this one would have 72")
    );
    assert!(refused("rs 17+3 over rs 8+2").contains("would have 200; take fewer, or judge levels of more"));
    assert!(refused("lrc 8+5 local 3").contains("3 does not divide the 8 data pieces"));
    assert!(refused("lrc 8+5 local 0").contains("0 does not divide"));
    assert!(refused("lrc 8+3 local 2").contains("each of its 4 local groups has a parity of its own, and there are 3"));
    assert!(refused("lrc 8+3+2").contains("3 local groups do not divide the 8 data pieces"));
    assert!(refused("lrc 8+0+2").contains("0 local groups do not divide"));
    assert!(refused("lrc 8+2+3").contains("known for up to 2 global parities, and there are 3"));
    assert!(refused("lrc 60+3+2").contains("would have 65"));
    // Groups of 4 with 16 global parities: 17 lost of 48 are 48 choose 17 = 4.2e12 sets.
    assert!(refused("lrc 32+24 local 4").contains("local groups of more than 16 data pieces"));
}

#[test]
fn copies_survive_while_one_is_left() {
    let code = parsed("copies 3");
    assert_eq!((code.data(), code.parity(), code.fault_tolerance(), code.locality()), (1, 2, 2, 1));
    assert!(code.is_survivable(Pieces::of([0, 2])) && !code.is_survivable(Pieces::of([0, 1, 2])));
    assert_eq!(repaired(&code, &[0], 0, &[2, 1]), Some(vec![2]));
    assert_eq!(read(&code, &[], &[1]), Some(vec![1]));
    assert_eq!(read(&code, &[0, 1, 2], &[]), None);
    let lone = parsed("copies 1");
    assert!(lone.is_survivable(Pieces::new()) && !lone.is_survivable(Pieces::of([0])));
    assert_eq!(repaired(&lone, &[0], 0, &[]), None);
}

#[test]
fn the_study_s_reed_solomon_code_survives_three_losses_and_no_four() {
    let code = parsed("rs 8+3");
    // 11 choose 3 = 165 and 11 choose 4 = 330.
    assert_eq!(code.survivable(3), Some((165, 165)));
    assert_eq!(code.survivable(4), Some((0, 330)));
    assert_eq!(repaired(&code, &[4], 4, &[]), Some(vec![0, 1, 2, 3, 5, 6, 7, 8]));
    assert_eq!(repaired(&code, &[4, 9], 4, &[10, 9, 8, 7]), Some(vec![10, 8, 7, 0, 1, 2, 3, 5]));
    assert_eq!(repaired(&code, &[0, 1, 2, 3], 0, &[]), None);
}

#[test]
fn the_study_s_locally_repairable_code_makes_each_lost_piece_of_four() {
    let code = parsed("lrc 8+5 local 4");
    for piece in 0..13 {
        let gathered = repaired(&code, &[piece], piece, &[]).unwrap();
        assert_eq!(gathered.len(), 4, "piece {piece} of {gathered:?}");
        // Data pieces come from their own group: 0 to 3 with parity 8, 4 to 7 with parity 9; global ones from the other parities.
        let group = match piece {
            0..=3 => vec![0, 1, 2, 3, 8],
            4..=7 => vec![4, 5, 6, 7, 9],
            8 | 9 => continue,
            _ => vec![8, 9, 10, 11, 12],
        };
        assert_eq!(gathered, group.into_iter().filter(|&member| member != piece).collect::<Vec<_>>());
    }
    // A local parity has two such sets: its data, and the other parities. Preference decides.
    assert_eq!(repaired(&code, &[8], 8, &[]), Some(vec![0, 1, 2, 3]));
    assert_eq!(repaired(&code, &[8], 8, &[12, 9]), Some(vec![12, 9, 10, 11]));
}

#[test]
fn the_study_s_locally_repairable_code_survives_every_three_losses_and_all_fours_but_two() {
    let code = parsed("lrc 8+5 local 4");
    // 13 choose 3 = 286, and 13 choose 4 = 715. The four data pieces of a group are in its local check and in three global
    // ones, of which the row of ones says the same as the local one: three equations for four pieces. 713 of 715 is 99.7 %.
    assert_eq!(code.survivable(3), Some((286, 286)));
    assert_eq!(code.survivable(4), Some((713, 715)));
    assert!(!code.is_survivable(Pieces::of(0..4)) && !code.is_survivable(Pieces::of(4..8)));
    // Eight pieces are needed of thirteen: of 13 choose 6 = 1716 sets of six lost pieces none is survived.
    assert_eq!(code.survivable(6), Some((0, 1716)));
}

#[test]
fn fault_tolerance_is_the_most_losses_of_which_every_set_is_survived() {
    let names = [
        "rs 4+2",
        "rs 3+4",
        "copies 4",
        "lrc 8+5 local 4",
        "lrc 12+4 local 6",
        "lrc 10+6 local 5",
        "lrc 6+6 local 2",
        "lrc 4+2 local 2",
        "lrc 4+6 local 1",
        "lrc 4+7 local 2",
        "lrc 6+3 local 3",
        "lrc 3+2 local 3",
        "product rs 2+1 x rs 2+2",
        "product lrc 2+2 local 1 x rs 1+2",
        "product copies 2 x lrc 4+2 local 2",
    ];
    for code in names.map(parsed) {
        let tolerated = code.fault_tolerance();
        let every = |losses| all_sets(&code).filter(|lost| lost.len() == losses).all(|lost| spans(&code, lost));
        assert!(every(tolerated) && !every(tolerated + 1), "{} and {tolerated}", code.name());
    }
}

/// Whether the data follow from the survivors, by the generator alone.
fn spans(code: &Code, lost: Pieces) -> bool {
    code.decoding(&survivors(code, lost), &(0..code.data()).collect::<Vec<_>>()).is_some()
}

/// Whether any code with these local groups and global parities could survive a loss: each group makes one of its own lost
/// pieces, and each global parity one more (Gopalan et al., "On the locality of codeword symbols", 2012).
fn could_survive(lost: Pieces, (data, groups, globals): (u32, u32, u32)) -> bool {
    let local = data / groups;
    let in_group = |piece: u32, group| if piece < data { piece / local == group } else { piece == data + group };
    let beyond = |group| (lost.iter().filter(|&piece| in_group(piece, group)).count() as u32).saturating_sub(1);
    let lost_globals = lost.iter().filter(|&piece| piece >= data + groups).count() as u32;
    (0..groups).map(beyond).sum::<u32>() + lost_globals <= globals
}

#[test]
fn a_maximally_recoverable_code_survives_all_that_its_groups_allow() {
    for sizes in [(12, 2, 2), (6, 2, 2), (8, 1, 2), (6, 3, 2), (5, 5, 2), (12, 3, 1), (6, 2, 0), (16, 1, 0)] {
        let (data, groups, globals) = sizes;
        let code = parsed(&format!("lrc {data}+{groups}+{globals}"));
        assert_eq!((code.parity(), code.fault_tolerance()), (groups + globals, globals + 1));
        for lost in all_sets(&code) {
            let expected = could_survive(lost, sizes);
            assert_eq!(spans(&code, lost), expected, "{} without {lost:?}", code.name());
            assert_eq!(code.is_survivable(lost), expected);
        }
    }
    // Pairs of all cosets that 64 pieces can ask for; beyond 16 pieces it takes lost pieces of two groups to tell.
    for sizes in [(61, 1, 2), (60, 2, 2), (57, 3, 2), (52, 4, 2), (55, 5, 2), (48, 12, 2), (40, 20, 2), (31, 31, 2)] {
        let (data, groups, globals) = sizes;
        let code = parsed(&format!("lrc {data}+{groups}+{globals}"));
        for losses in 1..=4 {
            for lost in sets_of(code.pieces(), losses) {
                assert_eq!(code.is_survivable(lost), could_survive(lost, sizes), "{} without {lost:?}", code.name());
            }
        }
    }
    // 16 choose 4 less 4 of 7 in a group (2 x 35), 3 of 7 and a global (2 x 35 x 2), 2 of 7 and both (2 x 21): 1,568 of 1,820.
    assert_eq!(parsed("lrc 12+2+2").survivable(4), Some((1820 - 70 - 140 - 42, 1820)));
}

#[test]
fn a_maximally_recoverable_code_repairs_within_groups_and_global_parities_from_all_data() {
    // The longer one has too many checks to list its repairs.
    for (name, local, data) in [("lrc 12+2+2", 6, 12), ("lrc 48+4+2", 12, 48)] {
        let code = parsed(name);
        let gathered = |piece| repaired(&code, &[piece], piece, &[]).unwrap().len() as u32;
        assert!((0..code.pieces() - 2).all(|piece| gathered(piece) == local));
        assert!((code.pieces() - 2..code.pieces()).all(|piece| gathered(piece) == data));
        assert_eq!(code.locality(), data);
    }
}

#[test]
fn what_is_survived_is_what_the_generator_spans() {
    for code in ["rs 4+2", "lrc 8+5 local 4", "lrc 4+6 local 2", "product rs 2+1 x rs 2+2"].map(parsed) {
        for lost in all_sets(&code) {
            assert_eq!(code.is_survivable(lost), spans(&code, lost), "{} without {lost:?}", code.name());
        }
    }
}

#[test]
fn a_repair_gathers_the_fewest_that_make_the_piece() {
    let code = parsed("lrc 6+4 local 3");
    let sets: Vec<Pieces> = all_sets(&code).collect();
    for &lost in sets.iter().filter(|lost| !lost.is_empty() && lost.len() <= 5) {
        let piece = lost.iter().next().unwrap();
        let makes = |set: &&Pieces| {
            set.and(lost).is_empty() && code.decoding(&set.iter().collect::<Vec<_>>(), &[piece]).is_some()
        };
        let fewest = sets.iter().filter(makes).map(|set| set.len() as usize).min();
        let gathered = repaired(&code, &lost.iter().collect::<Vec<_>>(), piece, &[]);
        assert_eq!(gathered.map(|gathered| gathered.len()), fewest, "{piece} of {lost:?}");
    }
}

#[test]
fn a_read_takes_the_surviving_data_first() {
    let code = parsed("lrc 8+5 local 4");
    assert_eq!(read(&code, &[], &[12, 7]), Some(vec![7, 0, 1, 2, 3, 4, 5, 6]));
    // Parity 9 adds nothing to the data of the other group, so it is passed over although it is preferred.
    assert_eq!(read(&code, &[1], &[9, 8]), Some(vec![0, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(read(&code, &[0, 1, 2, 3], &[]), None);
}

#[test]
fn a_code_too_long_for_lists_repairs_by_its_groups_and_by_algebra() {
    // 4 groups of 10 and 8 global parities: 52 pieces, and 52 choose 11 = 6.0e10 sums of checks. A global parity is made of 7
    // others and the 4 local ones: 11.
    let code = parsed("lrc 40+12 local 10");
    assert_eq!((code.fault_tolerance(), code.locality(), code.survivable(9)), (8, 11, None));
    assert_eq!(repaired(&code, &[7], 7, &[40]), Some(vec![40, 0, 1, 2, 3, 4, 5, 6, 8, 9]));
    assert_eq!(repaired(&code, &[7, 40], 40, &[]), Some((41..52).collect()));
    let gathered = repaired(&code, &[6, 7], 7, &[]).unwrap();
    assert!(gathered.len() <= 40 && code.decoding(&gathered, &[7]).is_some());
    for spared in 0..gathered.len() {
        let fewer: Vec<u32> = gathered.iter().copied().filter(|&piece| piece != gathered[spared]).collect();
        assert_eq!(code.decoding(&fewer, &[7]), None, "{} could be spared", gathered[spared]);
    }
}

/// Some codes, a preference and losses.
fn code_and_losses() -> impl Strategy<Value = (Code, Vec<u32>, Vec<u32>)> {
    let reed_solomon = (1u32..20, 1u32..8).prop_map(|(data, parity)| Code::reed_solomon(data, parity).unwrap());
    let locally_repairable = (1u32..5, 1u32..4, 0u32..4).prop_filter_map("a code", |(local, groups, globals)| {
        Code::locally_repairable(local * groups, groups + globals, local).ok()
    });
    let product = ((1u32..4, 1u32..3), (1u32..4, 1u32..3)).prop_map(|((down, below), (along, beside))| {
        let code = |data, parity| Code::reed_solomon(data, parity).unwrap();
        Code::product(code(down, below), code(along, beside)).unwrap()
    });
    prop_oneof![reed_solomon, locally_repairable, product].prop_flat_map(|code| {
        let order = Just((0..code.pieces()).collect::<Vec<u32>>()).prop_shuffle();
        let losses = 1..=(code.parity() as usize + 1).min(code.pieces() as usize - 1);
        (Just(code), order, losses).prop_map(|(code, order, losses)| {
            let (lost, prefer) = (order[..losses].to_vec(), order[losses..].to_vec());
            (code, lost, prefer)
        })
    })
}

proptest! {
    /// A Reed-Solomon code survives any m losses and no m + 1.
    #[test]
    fn reed_solomon_codes_survive_as_many_losses_as_they_have_parity(
        data in 1u32..32, parity in 1u32..10, order in Just((0u32..41).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let code = Code::reed_solomon(data, parity).unwrap();
        let order: Vec<u32> = order.into_iter().filter(|&piece| piece < code.pieces()).collect();
        let lost = Pieces::of(order[..parity as usize].iter().copied());
        prop_assert!(code.is_survivable(lost) && spans(&code, lost));
        let beyond = Pieces::of(order[..=parity as usize].iter().copied());
        prop_assert!(!code.is_survivable(beyond) && !spans(&code, beyond));
    }

    /// Bytes that were encoded and lost come back from what repairs and reads gather; what cannot come back is refused.
    #[test]
    fn lost_bytes_come_back((code, lost, prefer) in code_and_losses(), bytes in proptest::collection::vec(any::<u8>(), 64)) {
        let data = Matrix::from_cells(code.data() as usize, 1, |row, _| bytes[row]);
        let stored = code.generator().multiplied(&data);
        let decoded = |gathered: &[u32], piece: u32| {
            let held = Matrix::from_cells(gathered.len(), 1, |row, _| stored.row(gathered[row] as usize)[0]);
            code.decoding(gathered, &[piece]).map(|factors| factors.multiplied(&held).row(0)[0])
        };
        for &piece in &lost {
            match repaired(&code, &lost, piece, &prefer) {
                Some(gathered) => {
                    prop_assert!(gathered.iter().all(|survivor| prefer.contains(survivor)));
                    prop_assert_eq!(decoded(&gathered, piece), Some(stored.row(piece as usize)[0]));
                }
                None => prop_assert_eq!(code.decoding(&prefer, &[piece]), None),
            }
        }
        let is_survivable = code.is_survivable(Pieces::of(lost.iter().copied()));
        let gathered = read(&code, &lost, &prefer);
        prop_assert_eq!(gathered.is_some(), is_survivable);
        if let Some(gathered) = gathered {
            prop_assert_eq!(gathered.len(), code.data() as usize);
            prop_assert!((0..code.data()).all(|piece| decoded(&gathered, piece) == Some(bytes[piece as usize])));
        }
    }

    /// What a repair gathers depends on which pieces are preferred, not on how the list is longer than it needs to be.
    #[test]
    fn lost_pieces_in_a_preference_do_not_count((code, lost, prefer) in code_and_losses()) {
        let padded: Vec<u32> = lost.iter().chain(&prefer).chain(&prefer).copied().collect();
        prop_assert_eq!(repaired(&code, &lost, lost[0], &padded), repaired(&code, &lost, lost[0], &prefer));
    }
}
