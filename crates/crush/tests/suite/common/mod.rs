//! Random CRUSH maps as text, for comparison with Ceph's own compiler and tester.

use std::fmt::Write;

/// A small generator (splitmix64), so that a map is a function of its number alone.
pub struct Random(u64);

impl Random {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of a list.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// A map and what to ask of it.
pub struct RandomMap {
    /// The map in the text form of `crushtool --decompile`.
    pub text: String,
    /// Number of rules, numbered from 0.
    pub rules: u32,
    /// Copies to ask for.
    pub copies: usize,
    /// Reweights other than one: device and value.
    pub reweights: Vec<(i32, f32)>,
}

const TYPES: [&str; 4] = ["osd", "host", "rack", "root"];

/// Tunables as the text form has them: five profiles, then arbitrary mixtures.
fn tunables(random: &mut Random) -> [u64; 7] {
    let profiles = [
        [2, 5, 19, 0, 0, 0, 0],
        [0, 0, 50, 1, 0, 0, 0],
        [0, 0, 50, 1, 1, 0, 0],
        [0, 0, 50, 1, 1, 0, 1],
        [0, 0, 50, 1, 1, 1, 1],
    ];
    if random.once_in(3) {
        let (flag, tries) = (2, 1 + random.below(30));
        let local = random.below(4);
        let fallback = random.below(6);
        let vary_r = random.below(5);
        return [local, fallback, tries, random.below(flag), vary_r, random.below(flag), random.below(flag)];
    }
    *random.pick(&profiles)
}

/// A weight in text: usually ordinary, sometimes zero, tiny or as large as the compiler allows a device.
fn weight(random: &mut Random) -> String {
    match random.below(12) {
        0 => "0".to_owned(),
        1 => format!("0.000{}", 10 + random.below(89)),
        2 => format!("{}.5", 60 + random.below(39)),
        3..=6 => "1.000".to_owned(),
        _ => format!("{}.{:05}", random.below(9), random.below(100_000)),
    }
}

/// The map of this number.
pub fn random_map(seed: u64) -> RandomMap {
    let mut random = Random::new(seed);
    let mut text = String::new();
    let names = [
        "choose_local_tries",
        "choose_local_fallback_tries",
        "choose_total_tries",
        "chooseleaf_descend_once",
        "chooseleaf_vary_r",
        "chooseleaf_stable",
        "straw_calc_version",
    ];
    for (name, value) in names.iter().zip(tunables(&mut random)) {
        writeln!(text, "tunable {name} {value}").unwrap();
    }
    writeln!(text, "tunable allowed_bucket_algs 62").unwrap();
    let classes = random.once_in(3);
    // Hosts of one to six devices, with gaps in the numbering.
    let hosts = 1 + random.below(14);
    let mut devices: Vec<Vec<i32>> = Vec::new();
    let mut next = 0;
    for host in 0..hosts {
        next += random.below(3) as i32;
        // The tester says nothing about a map without devices, so the first host has at least one.
        let count = (random.below(7) as i32).max(i32::from(host == 0));
        devices.push((next..next + count).collect());
        next += count;
    }
    for &device in devices.iter().flatten() {
        let class = if classes { format!(" class {}", random.pick(&["hdd", "ssd"])) } else { String::new() };
        writeln!(text, "device {device} osd.{device}{class}").unwrap();
    }
    for (id, name) in TYPES.iter().enumerate() {
        writeln!(text, "type {id} {name}").unwrap();
    }
    // The compiler does not build shadows of other kinds than these.
    let straws = classes || random.once_in(2);
    let algs: &[&str] = if straws { &["straw", "straw2"] } else { &["straw", "straw2", "list", "tree", "uniform"] };
    let mut writer = Writer { text, random, algs, next_id: 0, sizes: Vec::new() };
    let hosts: Vec<String> = devices
        .iter()
        .enumerate()
        .map(|(index, devices)| {
            writer.bucket("host", index, devices.iter().map(|device| format!("osd.{device}")).collect(), false)
        })
        .collect();
    let racks: Vec<String> = if writer.random.once_in(3) {
        hosts
    } else {
        let share = 1 + writer.random.below(4) as usize;
        let groups: Vec<Vec<String>> = hosts.chunks(share).map(<[String]>::to_vec).collect();
        groups.into_iter().enumerate().map(|(index, hosts)| writer.bucket("rack", index, hosts, true)).collect()
    };
    let has_racks = racks.iter().any(|name| name.starts_with("rack"));
    writer.bucket("root", 0, racks, true);
    let rules = writer.rules(classes && devices.iter().flatten().next().is_some(), has_racks);
    writer.choose_args();
    let Writer { text, mut random, .. } = writer;
    let reweights = random_reweights(&devices, &mut random);
    RandomMap { text, rules, copies: 1 + random.below(7) as usize, reweights }
}

/// Some devices out and some in part, but never all of them out, since the tester says nothing about such a map.
fn random_reweights(devices: &[Vec<i32>], random: &mut Random) -> Vec<(i32, f32)> {
    let mut reweights = Vec::new();
    for &device in devices.iter().flatten() {
        match random.below(8) {
            0 => reweights.push((device, 0.0)),
            1 => reweights.push((device, random.below(64) as f32 / 64.0)),
            _ => {}
        }
    }
    if reweights.iter().filter(|entry| entry.1 == 0.0).count() == devices.iter().flatten().count() {
        reweights.clear();
    }
    reweights
}

struct Writer {
    text: String,
    random: Random,
    algs: &'static [&'static str],
    next_id: i32,
    /// Id and number of items of each straw2 bucket.
    sizes: Vec<(i32, usize)>,
}

impl Writer {
    fn bucket(&mut self, kind: &str, index: usize, items: Vec<String>, inner: bool) -> String {
        // A tree without any weight reads beyond its items in Ceph, so only straw kinds hold what may all be zero.
        let alg = *self.random.pick(self.algs);
        self.next_id -= 1 + self.random.below(2) as i32;
        let name = format!("{kind}{index}");
        writeln!(self.text, "{kind} {name} {{\n\tid {}\n\talg {alg}\n\thash 0", self.next_id).unwrap();
        if alg == "straw2" {
            self.sizes.push((self.next_id, items.len()));
        }
        let level = weight(&mut self.random).replace("0.0", "0.1").replace('0', "1");
        for (index, item) in items.into_iter().enumerate() {
            let own = match alg {
                "uniform" => Some("1.000".to_owned()),
                "tree" if index == 0 => Some(level.clone()),
                _ if inner && self.random.below(4) > 0 => None,
                _ => Some(weight(&mut self.random)),
            };
            match own {
                Some(weight) => writeln!(self.text, "\titem {item} weight {weight}").unwrap(),
                None => writeln!(self.text, "\titem {item}").unwrap(),
            }
        }
        writeln!(self.text, "}}").unwrap();
        name
    }

    fn rules(&mut self, classes: bool, has_racks: bool) -> u32 {
        let count = 6;
        for id in 0..count {
            let kind = if self.random.once_in(2) { "erasure" } else { "replicated" };
            writeln!(self.text, "rule rule{id} {{\n\tid {id}\n\ttype {kind}\n\tmin_size 1\n\tmax_size 10").unwrap();
            let settings = [
                "set_choose_tries",
                "set_chooseleaf_tries",
                "set_choose_local_tries",
                "set_choose_local_fallback_tries",
                "set_chooseleaf_vary_r",
                "set_chooseleaf_stable",
            ];
            for setting in settings {
                if self.random.once_in(5) {
                    writeln!(self.text, "\tstep {setting} {}", self.random.below(5)).unwrap();
                }
            }
            let class = if classes && self.random.once_in(2) {
                format!(" class {}", self.random.pick(&["hdd", "ssd"]))
            } else {
                String::new()
            };
            // A class that no device has cannot be taken; text that names it would not compile.
            let present = class.is_empty() || self.text.contains(&format!("{class}\n"));
            writeln!(self.text, "\tstep take root0{}", if present { &class } else { "" }).unwrap();
            let mode = *self.random.pick(&["firstn", "firstn", "indep"]);
            let domain = if has_racks && self.random.once_in(2) { "rack" } else { "host" };
            match self.random.below(5) {
                0 => writeln!(self.text, "\tstep choose {mode} 0 type osd").unwrap(),
                1 => writeln!(self.text, "\tstep chooseleaf {mode} 0 type osd").unwrap(),
                2 => {
                    let (outer, inner) = (1 + self.random.below(3), 1 + self.random.below(3));
                    writeln!(self.text, "\tstep choose {mode} {outer} type {domain}").unwrap();
                    let leaf = if domain == "rack" { "chooseleaf" } else { "choose" };
                    let below = if domain == "rack" { "host" } else { "osd" };
                    writeln!(self.text, "\tstep {leaf} {mode} {inner} type {below}").unwrap();
                }
                3 => {
                    writeln!(self.text, "\tstep chooseleaf {mode} 1 type {domain}\n\tstep emit").unwrap();
                    writeln!(self.text, "\tstep take root0\n\tstep chooseleaf {mode} -1 type {domain}").unwrap();
                }
                _ => writeln!(self.text, "\tstep chooseleaf {mode} 0 type {domain}").unwrap(),
            }
            writeln!(self.text, "\tstep emit\n}}").unwrap();
        }
        count
    }

    /// Stand-in weights and ids for some straw2 buckets. The tester uses set 0.
    fn choose_args(&mut self) {
        if !self.random.once_in(4) {
            return;
        }
        writeln!(self.text, "choose_args 0 {{").unwrap();
        for (id, size) in self.sizes.clone() {
            if size == 0 || self.random.once_in(3) {
                continue;
            }
            writeln!(self.text, "  {{\n    bucket_id {id}\n    weight_set [").unwrap();
            for _ in 0..1 + self.random.below(3) {
                let set: Vec<String> = (0..size).map(|_| weight(&mut self.random)).collect();
                writeln!(self.text, "      [ {} ]", set.join(" ")).unwrap();
            }
            writeln!(self.text, "    ]").unwrap();
            if self.random.once_in(2) {
                let ids: Vec<String> = (0..size).map(|_| format!("-{}", 1 + self.random.below(500))).collect();
                writeln!(self.text, "    ids [ {} ]", ids.join(" ")).unwrap();
            }
            writeln!(self.text, "  }}").unwrap();
        }
        writeln!(self.text, "}}").unwrap();
    }
}
