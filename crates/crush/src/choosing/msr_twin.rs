//! The slow twin of multi-step-retry rules: the same words of Ceph's developer page with sets and lists in place of ranges.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::choosing::choose::Placement;
use crate::{CrushMap, NONE, Rule, Scratch, Step};

/// A stride, by the numbers of the strides that lead to it: `[2, 0]` is the first part of the third part of a block.
type Path = Vec<usize>;

/// A block as lists: what each stride of each step uses, and the device of each stride of the last step.
struct Twin<'m, 's, 'p> {
    placement: &'p mut Placement<'m, 's>,
    counts: Vec<(usize, i32)>,
    copies: usize,
    collision_tries: u32,
    descent: u32,
    room: usize,
    used: BTreeMap<Path, Vec<i32>>,
    devices: BTreeMap<Path, i32>,
    in_order: Vec<i32>,
}

impl Twin<'_, '_, '_> {
    /// The position of the first device of a stride, counted from the block's first.
    fn position(&self, path: &Path) -> usize {
        (0..path.len()).map(|level| path[level] * self.width(level + 1)).sum()
    }

    /// How many devices lie below one item of the step before `level`.
    fn width(&self, level: usize) -> usize {
        self.counts[level..].iter().map(|&(count, _)| count).product()
    }

    /// The devices below a stride that the block has room for, and whether all are found.
    fn is_complete(&self, path: &Path) -> bool {
        let wanted = self.width(path.len()).min(self.room - self.position(path));
        self.devices.keys().filter(|device| device.starts_with(path)).count() == wanted
    }

    /// Descends once below `bucket`, whose stride is `path`; returns how many devices that found.
    fn descend(&mut self, bucket: i32, path: &Path) -> usize {
        let level = path.len();
        let (count, type_id) = self.counts[level];
        let (mut found, mut vain) = (0, Vec::new());
        for index in 0..count {
            let stride: Path = path.iter().copied().chain([index]).collect();
            if self.position(&stride) >= self.room || self.is_complete(&stride) {
                continue;
            }
            let siblings: Vec<i32> = (0..count)
                .filter(|&other| other != index)
                .flat_map(|other| {
                    let key: Path = path.iter().copied().chain([other]).collect();
                    self.used.get(&key).cloned().unwrap_or_default()
                })
                .collect();
            let candidate = (0..self.collision_tries)
                .filter_map(|local| self.draw(bucket, type_id, index, local))
                .find(|item| !siblings.contains(item));
            let Some(item) = candidate else { continue };
            let is_last = level + 1 == self.counts.len();
            match (type_id == 0, is_last) {
                (true, true) if !self.placement.is_out(item) => {
                    self.used.entry(stride.clone()).or_default().push(item);
                    self.devices.insert(stride, item);
                    self.in_order.push(item);
                    found += 1;
                }
                (false, false) if item < 0 => {
                    let below = self.descend(item, &stride);
                    let used = self.used.entry(stride.clone()).or_default();
                    if !used.contains(&item) {
                        used.push(item);
                        if below == 0 {
                            vain.push((stride, item));
                        }
                    }
                    found += below;
                }
                _ => {}
            }
        }
        for (stride, item) in vain {
            self.used.entry(stride).or_default().retain(|&used| used != item);
        }
        found
    }

    /// Follows draws from a bucket down to an item of the type or a device.
    fn draw(&mut self, bucket: i32, type_id: i32, index: usize, local: u32) -> Option<i32> {
        let attempt = (((self.descent as usize * self.copies + index) as u32) << 16) + local;
        let bucket = self.placement.map.bucket(bucket)?;
        if bucket.items.is_empty() {
            return None;
        }
        let item = self.placement.draw(bucket, attempt, index);
        let ends = self.placement.map.bucket(item).is_none_or(|child| child.type_id == type_id);
        if ends { Some(item) } else { self.draw(item, type_id, index, local) }
    }
}

/// What a well-formed rule of blocks, given as root and (count, type) pairs, maps an input to.
fn twin(
    map: &CrushMap,
    blocks: &[(i32, Vec<(i32, i32)>)],
    firstn: bool,
    x: u32,
    copies: usize,
    out: &[u32],
) -> Vec<i32> {
    let mut scratch = Scratch::new();
    let (mut in_order, mut holes) = (Vec::new(), vec![NONE; copies]);
    let mut first = 0;
    scratch.with_placement(map, x, out, |placement| {
        for (root, chooses) in blocks {
            let counts: Vec<(usize, i32)> = chooses
                .iter()
                .map(|&(count, type_id)| (if count == 0 { copies } else { count as usize }, type_id))
                .collect();
            let total: usize = counts.iter().map(|&(count, _)| count).product();
            let room = total.min(copies - first);
            let (descents, collision_tries) = (map.tunables().msr_descents, map.tunables().msr_collision_tries);
            let (used, devices, in_order_here) = Default::default();
            let mut block = Twin {
                placement,
                counts,
                copies,
                collision_tries,
                descent: 0,
                room,
                used,
                devices,
                in_order: in_order_here,
            };
            while block.descent < descents && block.in_order.len() < room {
                block.descend(*root, &Vec::new());
                block.descent += 1;
            }
            for (path, &device) in &block.devices {
                holes[first + block.position(path)] = device;
            }
            in_order.append(&mut block.in_order);
            first += room;
        }
    });
    if firstn { in_order } else { holes }
}

/// A map of racks, hosts and devices of these numbers, all straw2.
fn racks(racks: i32, hosts: i32, devices: i32, tries: (u32, u32)) -> CrushMap {
    let mut text = format!("tunable msr_descents {}\ntunable msr_collision_tries {}\n", tries.0, tries.1);
    text += "type 0 osd\ntype 1 host\ntype 2 rack\ntype 3 root\n";
    let mut buckets = String::new();
    let mut root = String::from("root default { id -1 alg straw2\n");
    for rack in 0..racks {
        let mut lines = format!("rack rack{rack} {{ id {} alg straw2\n", -2 - rack);
        for host in rack * hosts..(rack + 1) * hosts {
            buckets += &format!("host host{host} {{ id {} alg straw2\n", -100 - host);
            for device in host * devices..(host + 1) * devices {
                text += &format!("device {device} osd.{device}\n");
                buckets += &format!("item osd.{device} weight {}.5\n", 1 + device % 3);
            }
            buckets += "}\n";
            lines += &format!("item host{host} weight {}\n", 1 + host % 2);
        }
        buckets += &format!("{lines}}}\n");
        root += &format!("item rack{rack} weight 1.0\n");
    }
    CrushMap::from_text(&format!("{text}{buckets}{root}}}\n")).unwrap()
}

/// Steps of one block: types fall, and the last is a device or, malformed, is not.
fn chooses() -> impl Strategy<Value = Vec<(i32, i32)>> {
    let count = || 0i32..5;
    prop_oneof![
        (count(), count()).prop_map(|(a, b)| vec![(a, 1), (b, 0)]),
        (count(), count(), count()).prop_map(|(a, b, c)| vec![(a, 2), (b, 1), (c, 0)]),
        count().prop_map(|a| vec![(a, 0)]),
        (count(), count()).prop_map(|(a, b)| vec![(a, 2), (b, 0)]),
        (count(), count()).prop_map(|(a, b)| vec![(a, 0), (b, 0)]),
        count().prop_map(|a| vec![(a, 1)]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    // Rule: the ranges of the fast road answer as the twin's sets do, for every shape of rule, number of copies, devices out and
    // number of tries, scarce ones included.
    #[test]
    fn ranges_and_sets_agree(
        shape in (1i32..4, 1i32..5, 1i32..4), tries in (1u32..8, 1u32..8), blocks in prop::collection::vec(chooses(), 1..3),
        firstn: bool, copies in 1usize..13, out in prop::collection::vec(prop::sample::select(vec![0u32, 0x1_0000, 0x8000]), 0..40),
        first_input: u32,
    ) {
        let map = racks(shape.0, shape.1, shape.2, tries);
        let blocks: Vec<(i32, Vec<(i32, i32)>)> = blocks.into_iter().map(|chooses| (-1, chooses)).collect();
        let mut steps = Vec::new();
        for (root, chooses) in &blocks {
            steps.push(Step::Take(*root));
            steps.extend(chooses.iter().map(|&(count, type_id)| Step::ChooseMsr { count, type_id }));
            steps.push(Step::Emit);
        }
        let pool_kind = if firstn { 4 } else { 5 };
        let rule = Rule { id: 0, name: "data".into(), ruleset: 0, pool_kind, min_size: 1, max_size: 9, steps };
        let (mut scratch, mut devices) = (Scratch::new(), Vec::new());
        for x in (0..20).map(|n| first_input.wrapping_add(n)) {
            map.place(&rule, x, copies, &out, &mut scratch, &mut devices);
            prop_assert_eq!(&devices, &twin(&map, &blocks, firstn, x, copies, &out), "x {}, {:?}", x, rule.steps);
        }
    }
}
