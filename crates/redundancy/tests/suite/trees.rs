//! Codes of several levels: what they cost and survive, and plans of repair that bring the bytes back.

use proptest::prelude::*;
use resilver_redundancy::{Code, CodeTree, Matrix, Pieces, RepairStep};

fn parsed(text: &str) -> CodeTree {
    CodeTree::parse(text).unwrap()
}

#[test]
fn levels_are_read_and_written_alike() {
    for name in
        ["rs 17+3 over rs 8+2", "copies 2 over lrc 8+5 local 4", "rs 2+1 over product rs 2+1 x rs 2+1", "rs 8+3"]
    {
        assert_eq!(parsed(name).name(), name);
    }
    let tree = parsed("rs 17+3 OVER rs 8 + 2");
    // 20 x 10 pieces, 17 x 8 of them data; 4 groups of 3 are the fewest whose loss loses data.
    assert_eq!((tree.pieces(), tree.data(), tree.fault_tolerance()), (200, 136, 11));
    let deep = parsed("rs 2+1 over rs 3+1 over rs 4+2");
    // 3 x 4 x 6 pieces, 2 x 3 x 4 of data, and 2 x 2 x 3 - 1 losses.
    assert_eq!((deep.levels().len(), deep.pieces(), deep.data(), deep.fault_tolerance()), (3, 72, 24, 11));
}

#[test]
fn what_is_no_tree_is_refused_with_the_remedy() {
    let refused = |text: &str| CodeTree::parse(text).unwrap_err().to_string();
    assert!(refused("rs 17+3 over raid 6").contains("'rs 17+3 over raid 6': a code is written"));
    assert!(refused("rs 17+3 over rs 8+0").contains("'rs 8+0': a code has at least one piece of parity"));
    // 64^3 = 262,144.
    let large = "copies 64 over copies 64 over copies 64";
    assert!(
        refused(large)
            .contains("all levels together have at most 4096 pieces, and these would have 262144; take fewer")
    );
    let saturated = ["copies 64"; 12].join(" over ");
    assert!(refused(&saturated).contains("would have 18446744073709551615"));
}

#[test]
fn groups_die_of_their_own_losses_and_data_of_dead_groups() {
    let tree = parsed("rs 2+1 over rs 6+1");
    // Groups of seven survive one loss each, and the upper code one of three groups.
    assert_eq!(tree.dead_groups(&[0, 7, 14]), [vec![]]);
    assert_eq!(tree.dead_groups(&[0, 6, 7, 14]), [vec![0]]);
    assert!(tree.is_survivable(&[0, 6, 7, 14]) && tree.is_survivable(&(7..14).collect::<Vec<_>>()));
    assert_eq!(tree.dead_groups(&[0, 6, 7, 9, 99]), [vec![0, 1]]);
    assert!(!tree.is_survivable(&[0, 6, 7, 9]) && tree.repairs(&[0, 6, 7, 9]).is_none());
    let deep = parsed("copies 2 over rs 1+1 over rs 1+1");
    assert_eq!(deep.dead_groups(&[0, 1, 2, 3, 6, 7]), [vec![0], vec![0, 1, 3]]);
}

#[test]
fn a_living_group_repairs_itself_and_a_dead_one_asks_for_what_revives_it() {
    let step = |level, piece, gathered: &[u32]| RepairStep { level, piece, gathered: gathered.to_vec() };
    let tree = parsed("rs 2+1 over rs 2+1");
    assert_eq!(tree.repairs(&[4]), Some(vec![step(1, 4, &[3, 5])]));
    // Group 0 lost two of three: the first of them comes from groups 1 and 2, and the group makes the other. Group 2 makes its
    // own loss before anything is asked of it.
    let expected = vec![step(1, 8, &[6, 7]), step(0, 1, &[4, 7]), step(1, 2, &[0, 1])];
    assert_eq!(tree.repairs(&[1, 2, 8]), Some(expected));
    assert_eq!(tree.repairs(&[]), Some(vec![]));
}

#[test]
fn of_dead_groups_within_a_dead_one_those_that_need_fewest_are_revived_from_above() {
    // Half of twelve: groups 0 and 1 of three pieces, of which two are dead; group 0 lost three and group 1 two. One piece of
    // group 1 from the other half revives it, and then the half, whose code makes two pieces of group 0; the third is its own.
    let tree = parsed("copies 2 over rs 1+1 over rs 2+1");
    let steps = tree.repairs(&[0, 1, 2, 3, 4]).unwrap();
    let made: Vec<(u32, u32)> = steps.iter().map(|step| (step.level, step.piece)).collect();
    assert_eq!(made, [(0, 3), (2, 4), (1, 0), (1, 1), (2, 2)]);
}

/// Whether a tree of Reed-Solomon codes survives, counting losses by hand from the lowest level up.
fn survives_by_count(tree: &CodeTree, lost: &[u32]) -> bool {
    let mut dead: Vec<u32> = lost.to_vec();
    for code in tree.levels().iter().rev() {
        let mut groups: Vec<u32> = dead.iter().map(|piece| piece / code.pieces()).collect();
        groups.sort_unstable();
        dead = groups
            .chunk_by(|left, right| left == right)
            .filter(|group| group.len() as u32 > code.parity())
            .map(|group| group[0])
            .collect();
    }
    dead.is_empty()
}

/// The number in a product code of the piece at a place of a group: data row by row, then the others row by row.
fn number_in_product(upper: &Code, lower: &Code, group: u32, place: u32) -> u32 {
    let is_data = |group: u32, place: u32| group < upper.data() && place < lower.data();
    let cells = (0..upper.pieces()).flat_map(|group| (0..lower.pieces()).map(move |place| (group, place)));
    let (data, others): (Vec<_>, Vec<_>) = cells.partition(|&(group, place)| is_data(group, place));
    data.into_iter().chain(others).position(|cell| cell == (group, place)).unwrap() as u32
}

/// The byte of every piece when the data are coded level by level: a group's pieces are those of the groups below it.
fn encoded(levels: &[Code], data: &[u8]) -> Vec<u8> {
    let [code, below @ ..] = levels else { return data.to_vec() };
    let parts: Vec<&[u8]> = data.chunks(data.len() / code.data() as usize).collect();
    let piece = |number: usize| {
        let factors = Matrix::from_cells(1, parts.len(), |_, part| code.generator().row(number)[part]);
        let made = factors.multiplied(&Matrix::from_cells(parts.len(), parts[0].len(), |part, byte| parts[part][byte]));
        encoded(below, made.row(0))
    };
    (0..code.pieces() as usize).flat_map(piece).collect()
}

/// Trees of two and three levels, and losses that a few groups have most of.
fn tree_and_losses() -> impl Strategy<Value = (CodeTree, Vec<u32>)> {
    let code = || {
        prop_oneof![
            (1u32..5, 1u32..3).prop_map(|(data, parity)| format!("rs {data}+{parity}")),
            Just("lrc 4+3 local 2".to_owned()),
            Just("copies 2".to_owned()),
        ]
    };
    proptest::collection::vec(code(), 2..4).prop_flat_map(|names| {
        let tree = parsed(&names.join(" over "));
        let pieces = tree.pieces();
        let near = (0..pieces, 0..8u32).prop_map(move |(piece, beside)| (piece / 8 * 8 + beside).min(pieces - 1));
        let losses = proptest::collection::vec(prop_oneof![0..pieces, near], 0..(pieces / 2).max(2) as usize);
        (Just(tree), losses)
    })
}

proptest! {
    #[test]
    fn what_survives_is_what_a_count_by_level_says(data in 1u32..4, parity in 1u32..3, lost in proptest::collection::vec(0u32..60, 0..12)) {
        let tree = parsed(&format!("rs 2+1 over rs {data}+{parity} over rs 3+1"));
        let mut lost: Vec<u32> = lost.into_iter().filter(|&piece| piece < tree.pieces()).collect();
        lost.sort_unstable();
        lost.dedup();
        prop_assert_eq!(tree.is_survivable(&lost), survives_by_count(&tree, &lost));
        prop_assert!(lost.len() as u32 > tree.fault_tolerance() || tree.is_survivable(&lost));
    }

    /// Every lost piece is made once, of what is there by then, and its step's code gives the byte that was lost. Within a living
    /// group nothing is asked of the level above.
    #[test]
    fn plans_bring_the_bytes_back((tree, lost) in tree_and_losses(), seed in any::<u8>()) {
        let data: Vec<u8> = (0..tree.data()).map(|index| (index as u8).wrapping_mul(31).wrapping_add(seed)).collect();
        let stored = encoded(tree.levels(), &data);
        let Some(steps) = tree.repairs(&lost) else {
            prop_assert!(!tree.is_survivable(&lost));
            return Ok(());
        };
        let mut held: Vec<Option<u8>> = stored.iter().copied().map(Some).collect();
        lost.iter().for_each(|&piece| held[piece as usize] = None);
        let lowest = tree.levels().last().unwrap().pieces();
        let dead = tree.dead_groups(&lost);
        for step in &steps {
            let code = &tree.levels()[step.level as usize];
            let size: u32 = tree.levels()[step.level as usize + 1..].iter().map(Code::pieces).product();
            let within = |piece: u32| piece / size % code.pieces();
            let gathered: Vec<u32> = step.gathered.iter().map(|&piece| within(piece)).collect();
            let bytes: Option<Vec<u8>> = step.gathered.iter().map(|&piece| held[piece as usize]).collect();
            prop_assert!(bytes.is_some(), "{step:?} gathers what is not there");
            let factors = code.decoding(&gathered, &[within(step.piece)]).unwrap();
            let column = Matrix::from_cells(gathered.len(), 1, |row, _| bytes.as_ref().unwrap()[row]);
            prop_assert_eq!(held[step.piece as usize], None, "made twice");
            held[step.piece as usize] = Some(factors.multiplied(&column).row(0)[0]);
            let is_local = step.level as usize + 1 == tree.levels().len();
            prop_assert!(is_local || dead.last().unwrap().contains(&(step.piece / lowest)));
        }
        prop_assert_eq!(held, stored.into_iter().map(Some).collect::<Vec<_>>());
    }

    /// Of the same two codes a tree survives what a product does by lines, or less, and that is less than the rank allows or equal.
    #[test]
    fn a_tree_survives_no_more_than_the_product_of_its_codes(lost in proptest::collection::vec(0u32..24, 0..14)) {
        let tree = parsed("rs 2+2 over rs 4+2");
        let product = Code::parse("product rs 2+2 x rs 4+2").unwrap();
        let (upper, lower) = (&tree.levels()[0], &tree.levels()[1]);
        let in_product = Pieces::of(lost.iter().map(|&piece| number_in_product(upper, lower, piece / 6, piece % 6)));
        prop_assert!(!tree.is_survivable(&lost) || product.is_survivable_by_lines(in_product));
        prop_assert!(!product.is_survivable_by_lines(in_product) || product.is_survivable(in_product));
    }
}

/// Codes of several levels that fit into a set.
const SMALL: [&str; 7] = [
    "rs 2+1 over rs 2+1",
    "rs 2+1 over rs 4+2",
    "rs 3+1 over rs 6+2",
    "copies 2 over rs 3+2",
    "rs 2+1 over copies 3",
    "rs 2+1 over lrc 2+3 local 1",
    "copies 2 over rs 2+1 over rs 2+1",
];

proptest! {
    #[test]
    fn a_code_of_levels_survives_what_its_tree_does(code in 0..SMALL.len(), lost in 0u64..u64::MAX, piece in 0u32..64) {
        let (tree, code) = (parsed(SMALL[code]), Code::parse(SMALL[code]).unwrap());
        prop_assert_eq!((code.name(), code.pieces(), code.data()), (tree.name(), tree.pieces(), tree.data()));
        prop_assert_eq!(code.fault_tolerance(), tree.fault_tolerance());
        let (places, piece) = (code.group_places(), piece % code.pieces());
        // Some 3 in 8 of the pieces are lost.
        let lost = Pieces::of((0..code.pieces()).filter(|piece| lost >> piece & 1 == 1 && lost >> ((piece + 7) % 64) & 3 != 0));
        let in_tree: Vec<u32> = lost.iter().map(|piece| places[piece as usize]).collect();
        prop_assert_eq!(code.is_survivable(lost), tree.is_survivable(&in_tree));
        let mut gathered = Vec::new();
        let is_made = code.repair(lost, piece, &[], &mut gathered);
        let mut without = lost;
        without.insert(piece);
        prop_assert_eq!(is_made, code.is_survivable(without));
        if is_made {
            // What is gathered makes the piece, byte for byte, and comes from its own group where that lives.
            prop_assert!(code.decoding(&gathered, &[piece]).is_some());
            let lowest = *code.levels().last().unwrap();
            let group = |piece: u32| places[piece as usize] / lowest;
            let own = in_tree.iter().copied().chain([places[piece as usize]]).filter(|place| place / lowest == group(piece));
            let of_group = tree.levels().last().unwrap();
            let lives = of_group.is_survivable(Pieces::of(own.map(|place| place % lowest)));
            prop_assert!(!lives || gathered.iter().all(|&one| group(one) == group(piece)));
            prop_assert!(gathered.iter().all(|&one| !without.contains(one)));
        }
        let is_read = code.read(lost, &[], &mut gathered);
        prop_assert_eq!(is_read, code.is_survivable(lost));
        prop_assert!(!is_read || code.decoding(&gathered, &(0..code.data()).collect::<Vec<_>>()).is_some());
    }
}

#[test]
fn the_places_of_a_code_of_levels_are_group_by_group() {
    let code = Code::parse("rs 2+1 over rs 2+1").unwrap();
    // The data are the first two of the first two groups; then what is left, group by group.
    assert_eq!(code.group_places(), [0, 1, 3, 4, 2, 5, 6, 7, 8]);
    assert_eq!(code.levels(), [3, 3]);
    assert_eq!(Code::parse("copies 2 over rs 2+1 over rs 2+1").unwrap().levels(), [2, 3, 3]);
    assert_eq!((Code::parse("rs 4+2").unwrap().levels(), Code::parse("rs 4+2").unwrap().locality()), (vec![6], 4));
    // A piece that is lost alone is made within its group.
    assert_eq!(Code::parse("rs 3+1 over rs 6+2").unwrap().locality(), 6);
    assert!(Code::parse("rs 17+3 over rs 8+2").unwrap_err().to_string().contains("this one would have 200"));
}
