//! Which components fail, where a fault names only how many.

use resilver_kernel::{Purpose, Stream};

const FAILURE_CHOICE: Purpose = Purpose::named("failure");

/// Chooses `count` of `among` components at random, each set as likely as any other; in rising order.
///
/// `fault` numbers the fault within the study, so that several faults draw independently. All are chosen when `count` is
/// at least `among`.
pub fn choose_failed(seed: u64, fault: u64, among: u32, count: u32) -> Vec<u32> {
    let mut stream = Stream::new(seed, fault, FAILURE_CHOICE);
    let mut components: Vec<u32> = (0..among).collect();
    let count = count.min(among) as usize;
    // The first steps of a Fisher-Yates shuffle.
    for chosen in 0..count {
        let other = chosen + stream.below(u64::from(among) - chosen as u64) as usize;
        components.swap(chosen, other);
    }
    components.truncate(count);
    components.sort_unstable();
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_is_as_likely_as_the_others() {
        // 8,000 choices of one of eight: 1,000 each, standard deviation 29.6; six of them is a false alarm in 10^8.
        let mut counts = [0i32; 8];
        for seed in 0..8000 {
            counts[choose_failed(seed, 0, 8, 1)[0] as usize] += 1;
        }
        assert!(counts.iter().all(|count| (count - 1000).abs() < 178), "{counts:?}");
    }

    #[test]
    fn components_fail_once() {
        let mut failed = choose_failed(3, 1, 10, 7);
        failed.dedup();
        assert_eq!(failed.len(), 7);
        assert_eq!(choose_failed(3, 1, 4, 9), [0, 1, 2, 3]);
        assert!(choose_failed(3, 1, 4, 0).is_empty());
    }
}
