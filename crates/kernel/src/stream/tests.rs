//! Streams are held against NumPy's generator, samplers against their distributions.

use proptest::prelude::*;

use super::{Purpose, Stream};

#[test]
fn streams_equal_the_philox_of_numpy() {
    // Made with NumPy 2.4.6, which counts up before its first block, hence the `- 1`:
    //     from numpy.random import Philox
    //     for seed, purpose, entity, block in [(1, 0x6661756C7473, 3, 0), (15, 2**63 + 5, 2**40 + 7, 12345),
    //                                          (2**64 - 1, 7, 0, 2**33)]:
    //         counter = (block + (entity << 64) - 1) % 2**256
    //         print(Philox(key=seed + (purpose << 64), counter=counter).random_raw(6))
    let cases = [
        (
            Stream::new(1, 3, Purpose::named("faults")),
            0,
            [
                0xbc2094191aba62cc,
                0xefd2875dbe30bac4,
                0xcd9b820013c7cc5f,
                0x86958d5c0a70f3a4,
                0x4b8f2216a67f5227,
                0x2d2474d85e66bdf2,
            ],
        ),
        (
            Stream::new(15, (1 << 40) + 7, Purpose::new((1 << 63) + 5)),
            12345,
            [
                0x24c005e9eef09e4a,
                0x8940896361509b61,
                0xf4dfcdc6ca5000ef,
                0x2f7dd733d989703e,
                0xbb75160ebf6162b2,
                0xc79b09d38e933179,
            ],
        ),
        (
            Stream::new(u64::MAX, 0, Purpose::new(7)),
            1 << 33,
            [
                0xdc20f097e84b46d7,
                0xe73e11d3e9f0547e,
                0x3c9292da6318c661,
                0x0e5218e122c1ec83,
                0x5a81362f173cea2d,
                0x97c280ce24771a07,
            ],
        ),
    ];
    for (mut stream, block, wanted) in cases {
        stream.seek(4 * block);
        assert_eq!([(); 6].map(|()| stream.next_u64()), wanted);
    }
}

#[test]
fn a_purpose_is_its_name_in_bytes() {
    assert_eq!(Purpose::named("faults").number(), 0x6661_756c_7473);
    assert_ne!(Purpose::named("a"), Purpose::named("aa"));
}

#[test]
fn no_uniform_number_reaches_an_end() {
    // The words of all zeros and all ones, the extremes of what a draw can be.
    let of_word = |word: u64| {
        let mut stream = Stream::new(0, 0, Purpose::new(0));
        stream.draw = 1;
        stream.words = [word; 4];
        (stream.clone().uniform(), stream.uniform_open())
    };
    assert_eq!(of_word(0), (0.0, f64::exp2(-53.0)));
    assert_eq!(of_word(u64::MAX), (1.0 - f64::exp2(-53.0), 1.0 - f64::exp2(-53.0)));
}

proptest! {
    #[test]
    fn a_stream_that_seeks_gives_what_one_that_walks_gives(seed: u64, entity: u64, purpose: u64, draw in 0..100_u64) {
        let mut walking = Stream::new(seed, entity, Purpose::new(purpose));
        let mut seeking = walking.clone();
        (0..draw).for_each(|_| { walking.next_u64(); });
        seeking.seek(draw);
        for _ in 0..9 {
            prop_assert_eq!(walking.next_u64(), seeking.next_u64());
        }
    }

    #[test]
    fn a_stream_that_fills_gives_what_one_that_walks_gives(seed: u64, first in 0..100_u64, count in 0..200_usize) {
        let mut walking = Stream::new(seed, 7, Purpose::named("test"));
        walking.seek(first);
        let mut words = vec![0; count];
        walking.fill(first, &mut words);
        prop_assert!(words.into_iter().all(|word| word == walking.next_u64()));
    }

    #[test]
    fn a_number_below_n_is_below_n(seed: u64, n in 1..=u64::MAX) {
        let mut stream = Stream::new(seed, 0, Purpose::named("test"));
        prop_assert!((0..20).all(|_| stream.below(n) < n));
        prop_assert_eq!(stream.below(1), 0);
    }
}

const SAMPLES: usize = 100_000;

/// Whether the sample's distribution function stays within the Kolmogorov-Smirnov bound of `cumulative`.
///
/// By the Dvoretzky-Kiefer-Wolfowitz inequality a true sample of n leaves the bound d with a chance of at most
/// 2 exp(-2 n d^2): 1e-6 for d = sqrt(ln(2e6) / 2n).
fn follows(mut draw: impl FnMut(&mut Stream) -> f64, cumulative: impl Fn(f64) -> f64) -> bool {
    let mut stream = Stream::new(20_260_101, 0, Purpose::named("test"));
    let mut sample: Vec<f64> = (0..SAMPLES).map(|_| draw(&mut stream)).collect();
    sample.sort_by(f64::total_cmp);
    let n = SAMPLES as f64;
    let distance = sample.iter().enumerate().fold(0.0, |most: f64, (index, &value)| {
        let share = cumulative(value);
        most.max(share - index as f64 / n).max((index + 1) as f64 / n - share)
    });
    distance < (2e6_f64.ln() / (2.0 * n)).sqrt()
}

#[test]
fn samples_follow_their_distributions() {
    // Nine tests of a false alarm rate of 1e-6 each, with a fixed seed.
    assert!(follows(Stream::uniform, |x| x));
    assert!(follows(Stream::uniform_open, |x| x));
    assert!(follows(|stream| stream.exponential(2.5), |x| 1.0 - (-x / 2.5).exp()));
    for shape in [0.7, 1.0, 3.0] {
        assert!(follows(|stream| stream.weibull(shape, 40.0), |x| 1.0 - (-(x / 40.0).powf(shape)).exp()));
    }
    for shape in [0.5, 1.5, 4.0] {
        assert!(follows(|stream| stream.pareto(shape, 3.0), |x| 1.0 - (3.0 / x).powf(shape)));
    }
}

#[test]
fn hills_estimate_of_gaps_is_the_shape_that_is_drawn() {
    // Hill (1975): the shape is n over the sum of ln(x / minimum), with a standard error of shape / sqrt(n). Of the 1,000 largest of 100,000
    // gaps that is 3.2 %, of all 0.3 %: within 5 % at all, and within five standard errors of the tail.
    for shape in [1.05, 1.5, 2.5] {
        let mut stream = Stream::new(20_260_102, 0, Purpose::named("test"));
        let mut gaps: Vec<f64> = (0..SAMPLES).map(|_| stream.pareto(shape, 2.0)).collect();
        gaps.sort_by(|left, right| right.total_cmp(left));
        let hill = |largest: usize, least: f64| {
            largest as f64 / gaps[..largest].iter().map(|gap| (gap / least).ln()).sum::<f64>()
        };
        assert!((hill(SAMPLES, 2.0) / shape - 1.0).abs() < 0.05);
        assert!((hill(1000, gaps[1000]) / shape - 1.0).abs() < 5.0 / 1000_f64.sqrt());
    }
}

#[test]
fn the_distribution_test_notices_a_wrong_sampler() {
    // A mean 3 % too large moves the distribution function by up to 0.03 / e = 0.011; the bound is 0.0085.
    assert!(!follows(|stream| stream.exponential(2.5 * 1.03), |x| 1.0 - (-x / 2.5).exp()));
}

/// The chi-squared statistic of `counts` against equal expectations.
fn chi_squared(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

#[test]
fn numbers_below_n_are_equally_likely() {
    // Three numbers, of n = 3 * 2^62: an unguarded product would give each number of 0..n one or two of the 2^64 draws,
    // and the thirds of the range 1/4 less or more. Chi-squared with 2 degrees of freedom exceeds 27.6 once in a
    // million (2 ln 1e6); a third that is off by a tenth of its share gives 100,000 x 0.1^2 / 3 = 333 or more.
    let mut stream = Stream::new(7, 0, Purpose::named("test"));
    let mut thirds = [0; 3];
    let mut small = [0; 3];
    for _ in 0..SAMPLES {
        thirds[(stream.below(3 << 62) >> 62) as usize] += 1;
        small[stream.below(3) as usize] += 1;
    }
    assert!(chi_squared(&thirds) < 27.6, "{thirds:?}");
    assert!(chi_squared(&small) < 27.6, "{small:?}");
}

#[test]
fn streams_of_neighbours_are_uncorrelated() {
    // The correlation of n independent pairs has sd 1/sqrt(n); five of them are left once in 1.7 million, for each of
    // four pairs: next seed, next entity, next purpose, next draw.
    let base = Stream::new(1, 1, Purpose::new(1));
    let mut later = base.clone();
    later.seek(1);
    let others = [
        Stream::new(2, 1, Purpose::new(1)),
        Stream::new(1, 2, Purpose::new(1)),
        Stream::new(1, 1, Purpose::new(2)),
        later,
    ];
    for mut other in others {
        let mut own = base.clone();
        let products: f64 = (0..SAMPLES).map(|_| (own.uniform() - 0.5) * (other.uniform() - 0.5) * 12.0).sum();
        assert!((products / SAMPLES as f64).abs() < 5.0 / (SAMPLES as f64).sqrt());
    }
}

#[test]
fn the_normal_sampler_has_the_shares_of_its_curve() {
    // Of 10^6 draws 0.682689 lie within one standard deviation and 0.954500 within two, half of them above zero. The counts'
    // standard deviations are 466, 208 and 500; five of any is a false alarm in 10^6.
    let mut stream = Stream::new(1, 0, Purpose::named("normal"));
    let drawn: Vec<f64> = (0..1_000_000).map(|_| stream.normal()).collect();
    let count = |holds: &dyn Fn(f64) -> bool| drawn.iter().filter(|&&x| holds(x)).count() as f64;
    assert!((count(&|x| x.abs() < 1.0) - 682_689.0).abs() < 2_330.0);
    assert!((count(&|x| x.abs() < 2.0) - 954_500.0).abs() < 1_040.0);
    assert!((count(&|x| x > 0.0) - 500_000.0).abs() < 2_500.0);
}
