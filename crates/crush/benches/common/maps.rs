//! The maps that the benches place on.

use std::fmt::Write;

use resilver_crush::{BucketKind, CrushMap, Tunables};

/// 1,024 servers of weights from 1 to 1.99: as their text, with one line an item changed.
pub fn unequal(kind: BucketKind) -> CrushMap {
    let text = CrushMap::flat(1024, kind, Tunables::JEWEL).to_text();
    let heavier = |(index, line): (usize, &str)| match line.split_once(" weight ") {
        Some((item, _)) => format!("{item} weight 1.{:02}", index * 37 % 100),
        None => line.to_owned(),
    };
    CrushMap::from_text(&text.lines().enumerate().map(heavier).collect::<Vec<_>>().join("\n")).unwrap()
}

/// 1,024 devices in four levels of straw2 buckets: a root of 8 rows of 8 racks of 4 hosts of 4 devices, and a rule that
/// spreads copies over a `domain`. Devices weigh one each, or from 1 to 1.96.
pub fn four_levels(domain: &str, is_unequal: bool) -> CrushMap {
    let mut text = String::new();
    for (id, name) in ["osd", "host", "rack", "row", "root"].into_iter().enumerate() {
        writeln!(text, "type {id} {name}").unwrap();
    }
    text = format!("tunable choose_local_tries 0\ntunable choose_local_fallback_tries 0\n{text}");
    text = format!("tunable choose_total_tries 50\ntunable chooseleaf_descend_once 1\n{text}");
    text = format!("tunable chooseleaf_vary_r 1\ntunable chooseleaf_stable 1\ntunable straw_calc_version 1\n{text}");
    let mut id = 0;
    let mut below: Vec<(String, f64)> = (0..1024)
        .map(|device| {
            writeln!(text, "device {device} osd.{device}").unwrap();
            (format!("osd.{device}"), if is_unequal { 1.0 + (device * 37 % 25) as f64 / 25.0 } else { 1.0 })
        })
        .collect();
    for (level, size) in [("host", 4), ("rack", 4), ("row", 8), ("root", 8)] {
        let above = below.chunks(size).enumerate().map(|(number, items)| {
            id -= 1;
            writeln!(text, "{level} {level}{number} {{ id {id} alg straw2 hash 0").unwrap();
            for (item, weight) in items {
                writeln!(text, "item {item} weight {weight:.3}").unwrap();
            }
            writeln!(text, "}}").unwrap();
            (format!("{level}{number}"), items.iter().map(|(_, weight)| weight).sum())
        });
        below = above.collect();
    }
    writeln!(text, "rule copies {{ id 0 type replicated min_size 1 max_size 10").unwrap();
    writeln!(text, "step take root0 step chooseleaf firstn 0 type {domain} step emit }}").unwrap();
    CrushMap::from_text(&text).unwrap()
}
