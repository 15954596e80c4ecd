//! Steiner triple systems: blocks of three in which every pair of points occurs once.

/// The number of Bose's triples, where there are as many points as they need: three more than a multiple of six.
pub(super) fn bose_count(points: u32, width: usize) -> Option<u64> {
    let points = u64::from(points);
    (width == 3 && points % 6 == 3).then(|| points * (points - 1) / 6)
}

/// Bose's triples (1939) over the integers modulo m = 2 t + 1 and three levels.
///
/// Point (x, level) is number x + m level. The triples are (x, 0), (x, 1), (x, 2) for every x, and for x < y and
/// every level (x, level), (y, level) and ((x + y) / 2, level + 1), where 1/2 is t + 1 modulo m.
pub(super) fn bose(points: u32) -> Vec<u32> {
    let modulus = u64::from(points / 3);
    let half = modulus.div_ceil(2);
    let point = |x: u64, level: u64| (x + modulus * (level % 3)) as u32;
    let mut blocks = Vec::with_capacity(points as usize * (points as usize - 1) / 2);
    for x in 0..modulus {
        blocks.extend((0..3).map(|level| point(x, level)));
        for y in x + 1..modulus {
            for level in 0..3 {
                blocks.extend([point(x, level), point(y, level), point((x + y) * half % modulus, level + 1)]);
            }
        }
    }
    blocks
}
