//! Which server a request goes to.

use resilver_kernel::{Purpose, Stream};
use resilver_units::DeviceId;
use resilver_units::elementary::pow;

use crate::scenario::Targets;

const RANKS: Purpose = Purpose::named("ranks");
const DEALT: Purpose = Purpose::named("dealt");
/// What divides a whole so that its multiples, cut off, lie as evenly as any: the golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Draws servers.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    /// The servers, in the order of their ranks.
    servers: Vec<DeviceId>,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Uniform,
    /// The sums of the probabilities up to each rank.
    Cumulative(Vec<f64>),
    /// How many servers are hot, and the share of the requests that they get.
    Hot {
        hot: usize,
        share: f64,
    },
    /// The ranks of each client's own, so many a client.
    Dealt {
        each: usize,
        ranks: Vec<u32>,
    },
}

/// The steps of a round over `count` servers that visits each once, and any few in a row far apart: nearest to the golden section, so that
/// each stretch of neighbours in number (those of a part) has its share of any requests in a row, to one or two.
fn stride(count: usize) -> usize {
    let is_coprime = |step: &usize| {
        let (mut left, mut right) = (*step, count);
        while right > 0 {
            (left, right) = (right, left % right);
        }
        left == 1
    };
    let middle = (count as f64 * GOLDEN).round() as usize;
    let near = (0..=count).flat_map(|off| [middle.saturating_sub(off), middle + off]);
    near.filter(|&step| step > 0).find(is_coprime).unwrap_or(1)
}

/// The servers of each of `clients`, `each` of `count`: in turn, or drawn by the seed, none twice for one client.
fn deal(seed: u64, (first, clients): (u64, usize), (each, count): (usize, usize), is_drawn: bool) -> Vec<u32> {
    let step = stride(count);
    let in_turn = |turn: usize| (turn as u128 * step as u128 % count as u128) as u32;
    if !is_drawn {
        return (0..clients * each).map(in_turn).collect();
    }
    let mut ranks: Vec<u32> = (0..count as u32).collect();
    let mut dealt = Vec::with_capacity(clients * each);
    for client in first..first + clients as u64 {
        let mut stream = Stream::new(seed, client, DEALT);
        // The first steps of a Fisher-Yates shuffle; what order the one before left does not matter.
        for index in 0..each {
            ranks.swap(index, index + stream.below((count - index) as u64) as usize);
        }
        dealt.extend_from_slice(&ranks[..each]);
    }
    dealt
}

impl Chooser {
    /// A way to draw from `servers`, ranked by the seed where ranks differ, for so many `clients` from a first one on.
    pub fn new(seed: u64, servers: &[DeviceId], targets: Targets, clients: (u64, usize)) -> Self {
        let mut servers = servers.to_vec();
        if matches!(targets, Targets::Zipf { .. } | Targets::Hot { .. }) {
            shuffle(&mut servers, &mut Stream::new(seed, 0, RANKS));
        }
        let count = servers.len();
        let law = match targets {
            Targets::Uniform => Law::Uniform,
            Targets::Zipf { exponent } => {
                let weights: Vec<f64> = (1..=count).map(|rank| pow(rank as f64, -exponent)).collect();
                let total: f64 = weights.iter().sum();
                let mut sum = 0.0;
                Law::Cumulative(
                    weights
                        .iter()
                        .map(|weight| {
                            sum += weight / total;
                            sum
                        })
                        .collect(),
                )
            }
            Targets::Hot { servers, requests } => {
                Law::Hot { hot: ((servers * count as f64).round() as usize).clamp(1, count), share: requests }
            }
            Targets::Dealt { each, is_drawn } => {
                let each = (each as usize).min(count);
                Law::Dealt { each, ranks: deal(seed, clients, (each, count), is_drawn) }
            }
        };
        Chooser { servers, law }
    }

    /// So many servers in a row, from any on; all where there are fewer.
    pub fn neighbours(&self, stream: &mut Stream, count: usize) -> impl Iterator<Item = u32> + use<'_> {
        let first = if count == 0 { 0 } else { stream.below(self.servers.len() as u64) as usize };
        let all = self.servers.iter().cycle().skip(first);
        all.take(count.min(self.servers.len())).map(|server| server.get())
    }

    /// How many servers one client's requests may go to.
    pub fn count(&self) -> usize {
        if let &Law::Dealt { each, .. } = &self.law { each } else { self.servers.len() }
    }

    /// The servers of a client's own, where it has some.
    pub fn own(&self, client: u32) -> Option<impl Iterator<Item = DeviceId> + '_> {
        let Law::Dealt { each, ranks } = &self.law else { return None };
        let own = &ranks[client as usize * each..][..*each];
        Some(own.iter().map(|&rank| self.servers[rank as usize]))
    }

    /// A server for a client by the law of the targets.
    #[inline]
    pub fn draw(&self, client: u32, stream: &mut Stream) -> DeviceId {
        let count = self.servers.len();
        let rank = match &self.law {
            Law::Uniform => stream.below(count as u64) as usize,
            Law::Cumulative(_) => return self.at(stream.uniform()),
            &Law::Hot { hot, share } => {
                // Where all are hot, the others' share is theirs too.
                if hot == count || stream.uniform() < share {
                    stream.below(hot as u64) as usize
                } else {
                    hot + stream.below((count - hot) as u64) as usize
                }
            }
            Law::Dealt { each, ranks } => ranks[client as usize * each + stream.below(*each as u64) as usize] as usize,
        };
        self.servers[rank]
    }

    /// The servers that requests of a client go to, each with its share of them.
    pub fn shares(&self, client: u32) -> Vec<(DeviceId, f64)> {
        let of_rank = |rank: usize| match &self.law {
            Law::Uniform | Law::Dealt { .. } => 1.0 / self.servers.len() as f64,
            Law::Cumulative(sums) => sums[rank] - if rank == 0 { 0.0 } else { sums[rank - 1] },
            &Law::Hot { hot, .. } if hot == self.servers.len() => 1.0 / hot as f64,
            &Law::Hot { hot, share } if rank < hot => share / hot as f64,
            &Law::Hot { hot, share } => (1.0 - share) / (self.servers.len() - hot) as f64,
        };
        if let Some(own) = self.own(client) {
            let each = 1.0 / self.count() as f64;
            return own.map(|server| (server, each)).collect();
        }
        let shares = (0..).zip(&self.servers).map(|(rank, &server)| (server, of_rank(rank)));
        shares.filter(|&(_, share)| share > 0.0).collect()
    }

    /// The server that a share of the requests, from 0 to below 1, comes to once all are in the order of their servers' ranks; where clients
    /// have servers of their own, of all of these alike.
    pub fn at(&self, share: f64) -> DeviceId {
        let count = self.servers.len();
        let within = |first: usize, end: usize, share: f64| first + ((end - first) as f64 * share) as usize;
        let rank = match &self.law {
            Law::Uniform | Law::Dealt { .. } => within(0, count, share),
            Law::Cumulative(sums) => sums.partition_point(|&sum| sum <= share),
            &Law::Hot { hot, .. } if hot == count => within(0, count, share),
            &Law::Hot { hot, share: of_hot } if share < of_hot => within(0, hot, share / of_hot),
            &Law::Hot { hot, share: of_hot } => within(hot, count, (share - of_hot) / (1.0 - of_hot)),
        };
        // Rounding may leave the last sum a little below one.
        self.servers[rank.min(count - 1)]
    }

    /// Any server but those of which `is_excluded` holds, each as likely; `None` where that leaves none.
    pub fn draw_other(&self, stream: &mut Stream, is_excluded: impl Fn(DeviceId) -> bool) -> Option<DeviceId> {
        let others = || self.servers.iter().copied().filter(|&server| !is_excluded(server));
        let count = others().count() as u64;
        (count > 0).then(|| others().nth(stream.below(count) as usize).expect("as many as were counted"))
    }
}

/// A Fisher-Yates shuffle: each order is as likely as any other.
fn shuffle(servers: &mut [DeviceId], stream: &mut Stream) {
    for index in (1..servers.len()).rev() {
        servers.swap(index, stream.below(index as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 100_000;

    fn counts(targets: Targets, servers: u32) -> Vec<u64> {
        let chooser = Chooser::new(3, &(0..servers).map(DeviceId::new).collect::<Vec<_>>(), targets, (0, 1));
        let mut stream = Stream::new(3, 1, Purpose::named("target"));
        let mut counts = vec![0; servers as usize];
        (0..DRAWS).for_each(|_| counts[chooser.draw(0, &mut stream).index()] += 1);
        counts.sort_unstable_by(|left, right| right.cmp(left));
        counts
    }

    /// The sum of (observed - expected)^2 / expected.
    fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
        let term = |(&count, &share): (&u64, &f64)| {
            let expected = share * DRAWS as f64;
            (count as f64 - expected).powi(2) / expected
        };
        counts.iter().zip(shares).map(term).sum()
    }

    #[test]
    fn zipf_shares_fall_with_the_rank() {
        // Of 10 servers with exponent 1 the first gets 1 / 2.92897 of the requests. The ranks are far enough apart (the last
        // two: 3,793 and 3,414 of 100,000, six standard deviations) for the counts to come in their order. A chi-square of
        // 9 degrees of freedom is above 27.9 with a probability of 0.001.
        let harmonic: f64 = (1..=10).map(|rank| 1.0 / f64::from(rank)).sum();
        let shares: Vec<f64> = (1..=10).map(|rank| 1.0 / f64::from(rank) / harmonic).collect();
        let counts = counts(Targets::Zipf { exponent: 1.0 }, 10);
        assert!(chi_square(&counts, &shares) < 27.9, "{counts:?}");
    }

    #[test]
    fn hot_servers_get_their_share() {
        // 2 of 10 servers get 80 % of the requests: 40 % each; the other eight 2.5 % each. The two groups' own order does
        // not say which is which, so each group is summed: one degree of freedom, above 10.8 with a probability of 0.001.
        let counts = counts(Targets::Hot { servers: 0.2, requests: 0.8 }, 10);
        let sums = [counts[..2].iter().sum(), counts[2..].iter().sum()];
        assert!(chi_square(&sums, &[0.8, 0.2]) < 10.8, "{counts:?}");
        // Within a group of eight, each count is 2,500 with a standard deviation of 49.
        assert!(counts[2..].iter().all(|&count| count.abs_diff(2500) < 250), "{counts:?}");
    }

    #[test]
    fn where_all_servers_are_hot_all_requests_are_theirs() {
        let counts = counts(Targets::Hot { servers: 1.0, requests: 0.1 }, 4);
        assert_eq!(counts.iter().sum::<u64>(), DRAWS);
        assert!(counts.iter().all(|&count| count.abs_diff(DRAWS / 4) < 800), "{counts:?}");
    }

    #[test]
    fn dealt_in_turn_each_server_has_its_share_and_neighbours_too() {
        // 40 clients of 3 servers each over 12: ten rounds. Of any 12 in a row each server has one, and of any 6 each half of them three, to
        // one: multiples of a golden step leave gaps of at most two neighbours.
        let servers: Vec<DeviceId> = (0..12).map(DeviceId::new).collect();
        let chooser = Chooser::new(3, &servers, Targets::Dealt { each: 3, is_drawn: false }, (0, 40));
        let dealt: Vec<u32> = (0..40).flat_map(|client| chooser.own(client).unwrap()).map(DeviceId::get).collect();
        for round in dealt.chunks(12) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, (0..12).collect::<Vec<u32>>());
        }
        for some in dealt.windows(6) {
            let low = some.iter().filter(|&&server| server < 6).count();
            assert!((2..=4).contains(&low), "{some:?}");
        }
        assert_eq!(chooser.count(), 3);
    }

    #[test]
    fn drawn_servers_are_distinct_for_a_client_and_even_over_all() {
        // 30,000 clients draw 2 of 6: each server is a client's with a chance of 1/3, 10,000 times with a standard deviation of 82.
        let servers: Vec<DeviceId> = (0..6).map(DeviceId::new).collect();
        let chooser = Chooser::new(3, &servers, Targets::Dealt { each: 2, is_drawn: true }, (0, 30_000));
        let (mut counts, mut stream) = ([0u64; 6], Stream::new(3, 1, Purpose::named("target")));
        for client in 0..30_000 {
            let own: Vec<DeviceId> = chooser.own(client).unwrap().collect();
            assert_ne!(own[0], own[1]);
            assert!(own.contains(&chooser.draw(client, &mut stream)));
            own.iter().for_each(|server| counts[server.index()] += 1);
        }
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 400), "{counts:?}");
    }

    #[test]
    fn another_server_is_any_but_the_one_that_failed() {
        let servers: Vec<DeviceId> = [4, 7, 9].map(DeviceId::new).to_vec();
        let chooser = Chooser::new(3, &servers, Targets::Uniform, (0, 1));
        let mut stream = Stream::new(3, 1, Purpose::named("target"));
        let mut counts = [0u64; 10];
        (0..DRAWS)
            .for_each(|_| counts[chooser.draw_other(&mut stream, |server| server == servers[1]).unwrap().index()] += 1);
        // Fair draws between two: 50,000 each with a standard deviation of 158.
        assert_eq!(counts[7], 0);
        assert!(counts[4].abs_diff(DRAWS / 2) < 800 && counts[4] + counts[9] == DRAWS, "{counts:?}");
        let alone = Chooser::new(3, &servers[..1], Targets::Uniform, (0, 1));
        assert_eq!(alone.draw_other(&mut stream, |server| server == servers[0]), None);
    }
}
