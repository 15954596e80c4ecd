//! Butterflies: columns of switches in which each gap between two columns sets one digit of the word that names a switch.
//!
//! Column 0 holds the routers, columns 1 to `levels` the switches, and each switch of the last column has hosts. A word has
//! `levels` digits to the base `radix`; the gap between column c and c + 1 joins every word with the `radix` words that differ
//! from it in digit c alone, its own among them. Digit 0 is the highest.
//!
//! So a gap consists of blocks, in which `radix` nodes of one column are all joined to as many of the next. Spare links join
//! those of a block that are nearer to the hosts around a ring: where one link of the block has failed, the way leads over
//! another and a spare.

use serde::Deserialize;

use super::drawing::in_levels;
use super::error::{check_size, refuse};
use super::structure::Build;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// The columns of a butterfly, with its hosts behind them.
///
/// Nodes are numbered host by host, then column by column. Ports of a switch lead first to the column before, in the order
/// of the digit there, then to the next, in the order of the digit there or of its hosts, and last over spare links.
#[derive(Clone, Debug)]
pub struct Butterfly {
    radix: u32,
    levels: u32,
    hosts_per_switch: u32,
    /// Spare links of a switch.
    spares: u32,
    /// Words in a column.
    words: u32,
    hosts: u32,
    /// The digits of each word, `bits` a digit, digit 0 in the lowest. Words are below 2^24, and a digit takes less than
    /// twice the bits that it has a share of there, so 48 hold all.
    digits: Vec<u64>,
    bits: u32,
    /// The digit that each bit belongs to.
    digit_of: [u8; 64],
    /// The column and the word of each node; a host has those of its switch.
    place: Vec<(u8, u32)>,
}

impl Butterfly {
    /// Hops between a node of one column and a node of another, whose words differ in the digits that `differ` has not zero.
    ///
    /// Each of those digits is set in the gap behind its column, so a way runs over all columns from the first to the last such
    /// gap, and turns round at most twice.
    #[inline]
    fn hops(&self, from: u32, to: u32, differ: u64) -> u32 {
        let (mut low, mut high) = (from.min(to), from.max(to));
        if differ != 0 {
            low = low.min(u32::from(self.digit_of[differ.trailing_zeros() as usize]));
            high = high.max(u32::from(self.digit_of[63 - differ.leading_zeros() as usize]) + 1);
        }
        // The stretch once, and again what lies beyond either end.
        (high - low) + (from.min(to) - low) + (high - from.max(to))
    }

    /// Whether a spare link joins the switches of a block that have these digits.
    fn is_joined(&self, digit: u32, other: u32) -> bool {
        let along = digit.abs_diff(other);
        let apart = along.min(self.radix - along);
        apart > 0 && apart <= self.spares / 2 || self.spares % 2 == 1 && 2 * apart == self.radix
    }

    /// The port by which a switch sends straight on to another column, where all digits that differ are set on the way there;
    /// any other port leads away from it.
    #[inline]
    fn straight(&self, column: u32, end: u32, differ: u64, wanted: u64) -> Option<u32> {
        let (low, high) = (column.min(end), column.max(end));
        if column == end
            || differ >> (self.bits * low) << (self.bits * low) != differ
            || differ >> (self.bits * high) != 0
        {
            return None;
        }
        if end < column {
            return Some(self.own(wanted, column - 1));
        }
        Some(self.own(wanted, column) + if column > 0 { self.radix } else { 0 })
    }

    /// The bits of the digit that a gap sets.
    #[inline]
    fn digit(&self, gap: u32) -> u64 {
        ((1 << self.bits) - 1) << (self.bits * gap)
    }

    /// The value of that digit in packed digits.
    #[inline]
    fn own(&self, digits: u64, gap: u32) -> u32 {
        (digits >> (self.bits * gap)) as u32 & ((1 << self.bits) - 1)
    }

    #[inline]
    fn is_host(&self, node: u32) -> bool {
        node < self.hosts
    }

    #[inline]
    fn node(&self, column: u32, word: u32) -> u32 {
        self.hosts + column * self.words + word
    }

    /// The nodes of each level: hosts, then the columns from theirs back.
    pub(super) fn levels(&self) -> Vec<std::ops::Range<u32>> {
        let columns = (0..=self.levels).rev().map(|column| self.node(column, 0)..self.node(column + 1, 0));
        std::iter::once(0..self.hosts).chain(columns).collect()
    }
}

impl NextHops for Butterfly {
    /// Calls `visit` with the port of every shortest way, those to the destination's own digit first among equal ones.
    #[inline]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        if self.is_host(node) {
            return visit(0);
        }
        let ((column, word), (end, end_word)) = (self.place[node as usize], self.place[to as usize]);
        let (column, end) = (u32::from(column), u32::from(end));
        if column == end && word == end_word {
            // The destination is one of this switch's hosts.
            return visit(self.radix + to - word * self.hosts_per_switch);
        }
        let (digits, wanted) = (self.digits[word as usize], self.digits[end_word as usize]);
        let differ = digits ^ wanted;
        if let Some(port) = self.straight(column, end, differ, wanted) {
            return visit(port);
        }
        let nearer = self.hops(column, end, differ) - 1;
        let mut gap = |gap: u32, next: u32, first: u32| {
            let digit = self.digit(gap);
            let own = self.own(wanted, gap);
            // Any digit serves where a wrong one costs no more than the right one.
            if self.hops(next, end, differ | digit) == nearer {
                (0..self.radix).for_each(|port| visit(first + port));
            } else if self.hops(next, end, differ & !digit) == nearer {
                visit(first + own);
            }
        };
        if column > 0 {
            gap(column - 1, column - 1, 0);
        }
        if column < self.levels {
            gap(column, column + 1, if column > 0 { self.radix } else { 0 });
        }
    }

    /// The destination's own digit, and the column before rather than the next where both lead to it as soon.
    #[inline]
    fn deterministic(&self, _: &Wiring, node: u32, to: u32) -> u32 {
        if self.is_host(node) {
            return 0;
        }
        let ((column, word), (end, end_word)) = (self.place[node as usize], self.place[to as usize]);
        let (column, end) = (u32::from(column), u32::from(end));
        if column == end && word == end_word {
            return self.radix + to - word * self.hosts_per_switch;
        }
        let (digits, wanted) = (self.digits[word as usize], self.digits[end_word as usize]);
        let differ = digits ^ wanted;
        if let Some(port) = self.straight(column, end, differ, wanted) {
            return port;
        }
        if column > 0 {
            let set = differ & !self.digit(column - 1);
            if self.hops(column - 1, end, set) < self.hops(column, end, differ) {
                return self.own(wanted, column - 1);
            }
        }
        self.own(wanted, column) + if column > 0 { self.radix } else { 0 }
    }

    #[inline]
    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        let ((column, word), (end, end_word)) = (self.place[from as usize], self.place[to as usize]);
        let differ = self.digits[word as usize] ^ self.digits[end_word as usize];
        let leaves = u32::from(self.is_host(from)) + u32::from(self.is_host(to));
        self.hops(u32::from(column), u32::from(end), differ) + leaves
    }

    /// A spare saves the turn by which a way sets one digit before the columns that it leads over anyway: a hop for two.
    fn distance_with_spares(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        let ((column, word), (end, end_word)) = (self.place[from as usize], self.place[to as usize]);
        let (digits, wanted) = (self.digits[word as usize], self.digits[end_word as usize]);
        let first = digits ^ wanted;
        let saved = first != 0 && {
            let gap = u32::from(self.digit_of[first.trailing_zeros() as usize]);
            gap < u32::from(column.min(end)) && self.is_joined(self.own(digits, gap), self.own(wanted, gap))
        };
        self.distance(wiring, from, to) - u32::from(saved)
    }

    /// One node of each kind that looks at the network as all others of its kind do, with how many they are.
    ///
    /// Adding a word to all words, digit by digit, moves the butterfly onto itself, so the nodes of a column are alike.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        let columns = (0..=self.levels).map(|column| (self.node(column, 0), u64::from(self.words)));
        Some(std::iter::once((0, u64::from(self.hosts))).chain(columns).collect())
    }

    fn table_entries(&self) -> usize {
        self.digits.len() + self.place.len()
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        topology.halves_of_levels(&self.levels(), false)
    }

    /// Columns from the routers to the hosts.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        let [along, across] = in_levels(&self.levels(), node);
        [1.0 - across, 1.0 - along]
    }
}

/// A butterfly by its keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ButterflyKeys {
    radix: u32,
    levels: u32,
    hosts_per_switch: u32,
    #[serde(default)]
    spares_per_switch: u32,
}

impl Build for ButterflyKeys {
    fn build(&self, _seed: u64) -> Result<Topology, TopologyError> {
        butterfly_with_spares(self.radix, self.levels, self.hosts_per_switch, self.spares_per_switch)
    }
}

/// A butterfly of `levels` columns of `radix`^`levels` switches behind as many routers, with hosts on the last column.
///
/// # Errors
/// When a size is out of its range, or there are more nodes than numbers are kept for.
pub fn butterfly(radix: u32, levels: u32, hosts_per_switch: u32) -> Result<Topology, TopologyError> {
    butterfly_with_spares(radix, levels, hosts_per_switch, 0)
}

/// How many words and hosts a butterfly has.
///
/// # Errors
/// As [`butterfly_with_spares`].
fn sizes(radix: u32, levels: u32, hosts_per_switch: u32, spares: u32) -> Result<(u32, u32), TopologyError> {
    if radix < 2 {
        return refuse("radix", radix, "a digit has two values or more", "give at least 2");
    }
    if !(1..=24).contains(&levels) {
        return refuse("levels", levels, "a butterfly has 1 to 24 levels of switches", "choose a number in this range");
    }
    if hosts_per_switch == 0 {
        return refuse("hosts_per_switch", 0, "a switch of the last level has a host or more", "give at least 1");
    }
    if spares >= radix {
        let rule = format!("a switch has {} others beside it", radix - 1);
        return refuse("spares_per_switch", spares, rule, "give at most as many");
    }
    if spares % 2 == 1 && radix % 2 == 1 {
        let rule = format!("{radix} switches in a ring have an even number of spare links each");
        return refuse("spares_per_switch", spares, rule, "give an even number");
    }
    let words = u64::from(radix).checked_pow(levels);
    let hosts = words.and_then(|words| words.checked_mul(u64::from(hosts_per_switch)));
    let columns = words.and_then(|words| words.checked_mul(u64::from(levels) + 1));
    let nodes = hosts.zip(columns).and_then(|(hosts, columns)| hosts.checked_add(columns));
    let links = columns
        .zip(hosts)
        .and_then(|(columns, hosts)| columns.checked_mul(u64::from(radix) + u64::from(spares))?.checked_add(hosts));
    let sizes = format!("{radix} to the {levels} with {hosts_per_switch} hosts a switch");
    check_size("butterfly", sizes, nodes, links)?;
    Ok((words.unwrap_or_default() as u32, hosts.unwrap_or_default() as u32))
}

/// The same butterfly, each of its switches with spare links to `spares` others of its column: those with the nearest values,
/// around a ring, of the digit that the gap before them sets.
///
/// # Errors
/// As [`butterfly`], or when that ring has no such links.
pub fn butterfly_with_spares(
    radix: u32,
    levels: u32,
    hosts_per_switch: u32,
    spares: u32,
) -> Result<Topology, TopologyError> {
    let (words, hosts) = sizes(radix, levels, hosts_per_switch, spares)?;
    // The weight of each digit in a word.
    let weights: Vec<u32> = (0..levels).map(|digit| radix.pow(levels - 1 - digit)).collect();
    let bits = u32::BITS - (radix - 1).leading_zeros();
    let pack = |word: u32| {
        let digits = weights.iter().rev().map(|&weight| u64::from(word / weight % radix));
        digits.fold(0u64, |digits, digit| digits << bits | digit)
    };
    let mut shape = Butterfly {
        radix,
        levels,
        hosts_per_switch,
        spares,
        words,
        hosts,
        digits: (0..words).map(pack).collect(),
        bits,
        digit_of: std::array::from_fn(|bit| (bit as u32 / bits) as u8),
        place: (0..hosts).map(|host| (levels as u8, host / hosts_per_switch)).collect(),
    };
    let mut ports = PortLists::default();
    for host in 0..hosts {
        ports.add([shape.node(levels, host / hosts_per_switch)]);
    }
    for column in 0..=levels {
        for word in 0..words {
            shape.place.push((column as u8, word));
            let across = |gap: u32, next: u32| {
                let weight = weights[gap as usize];
                let others = word - word / weight % radix * weight;
                let shape = &shape;
                (0..radix).map(move |digit| shape.node(next, others + digit * weight)).collect::<Vec<u32>>()
            };
            let mut around = if column > 0 { across(column - 1, column - 1) } else { Vec::new() };
            if column < levels {
                around.extend(across(column, column + 1));
            } else {
                around.extend(word * hosts_per_switch..(word + 1) * hosts_per_switch);
            }
            if column > 0 {
                let beside = across(column - 1, column);
                let own = word / weights[column as usize - 1] % radix;
                around.extend((0..radix).filter(|&digit| shape.is_joined(own, digit)).map(|d| beside[d as usize]));
            }
            ports.add(around);
        }
    }
    let routers = (shape.node(0, 0)..shape.node(1, 0)).collect();
    let mut wiring = Wiring::new(ports);
    wiring.set_spares(|a, b| shape.place[a as usize].0 == shape.place[b as usize].0 && a.min(b) >= hosts);
    Ok(Topology::of_wiring(shape, wiring, (0..hosts).collect(), routers))
}
