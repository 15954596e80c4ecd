use super::*;

/// The least and greatest number of blocks that a pair of points shares, and that a point is in.
fn occurrences(design: &Design, points: u32) -> ((u32, u32), (u32, u32)) {
    let points = points as usize;
    let (mut pairs, mut loads) = (vec![0u32; points * points], vec![0u32; points]);
    for block in design.blocks() {
        let mut sorted = block.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), block.len(), "{block:?} has a point twice");
        for &x in block {
            loads[x as usize] += 1;
            for &y in block.iter().filter(|&&y| y != x) {
                pairs[x as usize * points + y as usize] += 1;
            }
        }
    }
    let off_diagonal = || (0..points * points).filter(|place| place % (points + 1) != 0).map(|place| pairs[place]);
    let ends = |of: &mut dyn Iterator<Item = u32>| of.fold((u32::MAX, 0), |(low, high), x| (low.min(x), high.max(x)));
    (ends(&mut off_diagonal()), ends(&mut loads.iter().copied()))
}

#[test]
fn known_designs_are_exactly_balanced() {
    // Points, width, blocks and lambda, by lambda = b g (g - 1) / (n (n - 1)).
    let cases = [
        (7, 3, 7, 1, Construction::FieldTranslates),
        (13, 4, 13, 1, Construction::ProjectivePlane),
        (9, 3, 12, 1, Construction::AffineLines),
        (16, 4, 20, 1, Construction::AffineLines),
        (64, 4, 336, 1, Construction::AffineLines),
        (25, 5, 30, 1, Construction::AffineLines),
        (15, 3, 35, 1, Construction::BoseTriples),
        (21, 3, 70, 1, Construction::BoseTriples),
        (13, 3, 26, 1, Construction::FieldTranslates),
        // 21 cosets of the subgroup of order 3 among 63 units: 21 x 64 blocks; lambda = 1344 x 6 / (64 x 63) = 2.
        (64, 3, 1344, 2, Construction::FieldTranslates),
        (256, 3, 21_760, 2, Construction::FieldTranslates),
        // Neither 3 nor 2 divides 127: all affine images, lambda = 3 x 2.
        (128, 3, 16_256, 6, Construction::FieldTranslates),
        // Zero and the subgroup of order 4 among 16 units, which has -1 in it: all four multiples, lambda = 68 x 20 / (17 x 16).
        (17, 5, 68, 5, Construction::FieldTranslates),
        (31, 6, 31, 1, Construction::ProjectivePlane),
        // Six of three points are not enough for a smaller design: all 20 triples, lambda = 4.
        (6, 3, 20, 4, Construction::Complete),
        (10, 4, 210, 28, Construction::Complete),
    ];
    for (points, width, blocks, lambda, construction) in cases {
        let design = Design::balanced(points, width);
        let found = (design.block_count(), design.construction());
        assert_eq!(found, (blocks, construction), "{points} points, blocks of {width}");
        let load = (blocks * width / points as usize) as u32;
        assert_eq!(occurrences(&design, points), ((lambda, lambda), (load, load)), "{points}, {width}");
    }
}

#[test]
fn every_small_design_is_exactly_balanced() {
    // Up to 24 points and blocks of up to 6, the complete design has at most 134,596 blocks, so one that is exact always fits.
    for points in 2..=24u32 {
        for width in 2..=points.min(6) as usize {
            let design = Design::balanced(points, width);
            let ((least, most), (load_least, load_most)) = occurrences(&design, points);
            assert_eq!((least, load_least), (most, load_most), "{points} points, blocks of {width}");
            assert_eq!(u64::from(least) * u64::from(points - 1), u64::from(load_least) * (width as u64 - 1));
        }
    }
}

#[test]
fn a_cyclic_design_is_even_by_point_and_nearly_by_pair() {
    // Every point is in width x bases blocks by symmetry. Pairs: on average at least CYCLIC_PAIRS; measured, and kept, to differ
    // by at most two from one another.
    for (points, width) in [(100, 4), (100, 8), (300, 6), (500, 3), (333, 5), (1000, 10)] {
        let pairs = (width * (width - 1)) as u64;
        let bases = (CYCLIC_PAIRS * u64::from(points - 1u32)).div_ceil(pairs) as usize;
        let design = Design::cyclic(points, width, bases);
        let ((least, most), load) = occurrences(&design, points);
        assert_eq!(load, ((width * bases) as u32, (width * bases) as u32));
        println!("{points} points, blocks of {width}: {} blocks, pairs {least} to {most}", design.block_count());
        assert!(most - least <= 2, "{points} points, blocks of {width}: pairs {least} to {most}");
    }
}

#[test]
fn blocks_of_one_and_of_all_points() {
    assert_eq!(Design::balanced(5, 1).block_count(), 5);
    assert_eq!(Design::balanced(5, 5).block_count(), 1);
    assert_eq!(Design::balanced(1, 1).block_count(), 1);
}

#[test]
fn a_large_system_gets_a_design_of_bounded_size() {
    let design = Design::balanced(6000, 5);
    assert_eq!(design.construction(), Construction::Cyclic);
    assert!(design.block_count() as u64 <= BLOCKS_MAX);
}
