//! Real clusters: the maps and reports that clusters dumped, and where those clusters put their data.
//!
//! The dumps are not part of the project. The tests look for them in the folder `RESILVER_SHARED_DATA`, else in
//! `shared/data` beside the checkout, and skip with a reason where they are absent.

use crate::pools;

use std::path::PathBuf;

use pools::pools_of;
use resilver_crush::pool::Osds;
use resilver_crush::{CrushMap, Scratch};
use serde_json::Value;

/// The text of a dump, or `None` with a reason printed.
fn dump(name: &str) -> Option<String> {
    bytes(name).map(|data| String::from_utf8(data).unwrap())
}

/// The bytes of a dump, or `None` with a reason printed.
fn bytes(name: &str) -> Option<Vec<u8>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = std::env::var_os("RESILVER_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let path = folder.join("ceph").join(name);
    match std::fs::read(&path) {
        Ok(data) => Some(data),
        Err(error) => {
            println!("skipped: {name} is not readable ({error}); set RESILVER_SHARED_DATA");
            None
        }
    }
}

/// 16.16 reweight of each device, from the OSD list of a report.
fn reweights(report: &Value) -> Vec<u32> {
    let osds = report["osdmap"]["osds"].as_array().unwrap();
    let largest = osds.iter().map(|osd| osd["osd"].as_u64().unwrap()).max().unwrap() as usize;
    let mut reweights = vec![0; largest + 1];
    for osd in osds {
        // Dumps print weights with six digits, and the fixed-point numbers lie 1.5e-5 apart.
        let weight = osd["weight"].as_f64().unwrap();
        reweights[osd["osd"].as_u64().unwrap() as usize] = (weight * 65536.0).round() as u32;
    }
    reweights
}

// Rule: every placement group of a cluster of 88 OSDs, reweights and all, is where the cluster says it is.
#[test]
fn every_group_of_a_real_cluster() {
    let Some(text) = dump("ceph-report-jewel-88osd.json") else { return };
    let report: Value = serde_json::from_str(&text).unwrap();
    let map = CrushMap::from_json(&text).unwrap();
    let pools = pools_of(&text, &map);
    let reweights = reweights(&report);
    let is_up = vec![true; reweights.len()];
    let (mut scratch, mut up) = (Scratch::new(), Vec::new());
    let groups = report["pgmap"]["pg_stats"].as_array().unwrap();
    for group in groups {
        let (pool, ps) = group["pgid"].as_str().unwrap().split_once('.').unwrap();
        let pool = pools.iter().find(|candidate| candidate.id.to_string() == pool).unwrap();
        let ps = u32::from_str_radix(ps, 16).unwrap();
        let osds = Osds { reweight: &reweights, is_up: &is_up, affinity: &[] };
        pool.up_set(&map, pool.rule_of(&map).unwrap(), ps, osds, &mut scratch, &mut up);
        let expected: Vec<i32> = serde_json::from_value(group["up"].clone()).unwrap();
        assert_eq!(up, expected, "group {}", group["pgid"]);
    }
    assert_eq!(groups.len(), 4096);
}

// Rule: all dumps load, also those with old field names, compatible weight sets or choose_args, and what is in them is
// where they say: devices under the root, hosts above devices, a host-target-weight copy never a device's parent.
#[test]
fn every_dump_loads() {
    let json = [
        "ceph-report-compat-two-pools.json",
        "ceph-report-compat.json",
        "ceph-report-small.json",
        "ceph-crushmap-rules-order.json",
        "sample-ceph-crushmap.json",
    ];
    for name in json {
        let Some(text) = dump(name) else { return };
        let map = CrushMap::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for device in map.devices() {
            let host = map.ancestor(device, "host").unwrap_or_else(|| panic!("{name}: {device} has no host"));
            assert!(!map.item_name(host).ends_with("-target-weight"), "{name}: {device}");
        }
    }
    for name in ["ceph-crushmap-rules-order.txt", "sample-ceph-crushmap-compat.txt", "sample-ceph-crushmap.txt"] {
        let Some(text) = dump(name) else { return };
        let map = CrushMap::from_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(map.devices().len() >= 3, "{name}");
    }
}

// Rule: a map in text and the same map in JSON place alike. The two forms of these dumps round weights differently only
// where no decimal of three places is exact, and both carry their choose_args.
#[test]
fn text_and_json_agree() {
    for name in ["sample-ceph-crushmap", "ceph-crushmap-rules-order"] {
        let (Some(text), Some(json)) = (dump(&format!("{name}.txt")), dump(&format!("{name}.json"))) else { return };
        let (text, json) = (CrushMap::from_text(&text).unwrap(), CrushMap::from_json(&json).unwrap());
        for bucket in json.buckets() {
            let twin = text.bucket(bucket.id()).unwrap();
            assert_eq!((twin.name(), twin.kind(), twin.items()), (bucket.name(), bucket.kind(), bucket.items()));
        }
        let (mut scratch, mut left, mut right) = (Scratch::new(), Vec::new(), Vec::new());
        let sets = [1, 2, 3, 4, 5, 6];
        for x in 0..200 {
            for pool in sets {
                text.place_with(&text.rules()[0], x, 3, &[], text.weight_sets_for(pool), &mut scratch, &mut left);
                let rule = json.rules().iter().find(|rule| rule.name == text.rules()[0].name).unwrap();
                json.place_with(rule, x, 3, &[], json.weight_sets_for(pool), &mut scratch, &mut right);
                assert_eq!(left, right, "{name}: x {x}, pool {pool}");
            }
        }
    }
}

/// A text without what one form cannot say to another: devices such as `device 39 device39`, whose name is what Ceph's JSON
/// calls a device without any, and rulesets other than the rule's id, which text only warns of.
fn named(text: &str) -> Vec<&str> {
    let made_up = |line: &&str| {
        let mut words = line.split(' ');
        let (keyword, id, name) = (words.next(), words.next(), words.next());
        keyword == Some("device") && name.is_some_and(|name| name.strip_prefix("device") == id)
    };
    text.lines().filter(|line| !made_up(line) && !line.contains("# WARNING: ruleset")).collect()
}

// Rule: every map of the dumps, text, JSON or binary, comes back from each form as it was.
#[test]
fn every_dump_round_trips() {
    let names = [
        "ceph-report-compat-two-pools.json",
        "ceph-report-compat.json",
        "ceph-report-small.json",
        "ceph-report-jewel-88osd.json",
        "ceph-crushmap-rules-order.json",
        "ceph-crushmap-rules-order.txt",
        "sample-ceph-crushmap.json",
        "sample-ceph-crushmap.txt",
        "sample-ceph-crushmap-compat.txt",
        "crushmap-from-ceph-report.json",
    ];
    // A binary map of a version before Ceph 12, on which `crushtool` 16 crashes, says what its text says.
    let (Some(data), Some(text)) = (bytes("sample-ceph-crushmap.crush"), dump("sample-ceph-crushmap.txt")) else {
        return;
    };
    let map = CrushMap::from_bytes(&data).unwrap();
    assert!(map.to_bytes().unwrap() == data);
    let (ours, theirs): (Value, Value) =
        [map, CrushMap::from_text(&text).unwrap()].map(|map| serde_json::from_str(&map.to_json()).unwrap()).into();
    for part in ["devices", "types", "buckets", "choose_args"] {
        assert_eq!(ours[part], theirs[part]);
    }
    assert_eq!(ours["choose_args"].as_object().unwrap().len(), 6);
    for name in names {
        let Some(data) = bytes(name) else { return };
        let data = std::str::from_utf8(&data).unwrap();
        let read = if name.ends_with(".json") { CrushMap::from_json(data) } else { CrushMap::from_text(data) };
        let map = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (text, json, binary) = (map.to_text(), map.to_json(), map.to_bytes().unwrap());
        let from_json = CrushMap::from_json(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(from_json.to_json(), json, "{name}: JSON");
        assert_eq!(named(&from_json.to_text()), named(&text), "{name}: text by way of JSON");
        let from_text = CrushMap::from_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(named(&from_text.to_text()), named(&text), "{name}: text");
        let from_bytes = CrushMap::from_bytes(&binary).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(from_bytes.to_json(), json, "{name}: JSON by way of binary");
        assert!(from_bytes.to_bytes().unwrap() == binary, "{name}: binary");
    }
}

// Rule: python-crush's form of a cluster's map places as the cluster's own report does.
#[test]
fn written_out_trees_place_as_the_report() {
    let (Some(trees), Some(report)) = (dump("crushmap-from-ceph-report.json"), dump("ceph-report-jewel-88osd.json"))
    else {
        return;
    };
    let numbered = trees.replacen("\"private\"", "\"private \"", 1);
    assert!(CrushMap::from_json(&numbered).unwrap_err().to_string().contains("private "), "unknown keys are refused");
    let (trees, report) = (CrushMap::from_json(&trees).unwrap(), CrushMap::from_json(&report).unwrap());
    let (mut scratch, mut left, mut right) = (Scratch::new(), Vec::new(), Vec::new());
    assert_eq!(trees.rules().len(), report.rules().len());
    for (ours, theirs) in trees.rules().iter().zip(report.rules()) {
        assert_eq!((ours.id, &ours.name), (theirs.id, &theirs.name));
        for x in 0..1000 {
            trees.place(ours, x, 3, &[], &mut scratch, &mut left);
            report.place(theirs, x, 3, &[], &mut scratch, &mut right);
            assert_eq!(left, right, "x {x}");
        }
    }
}

// Rule: a report cut off anywhere is an error, never a panic.
#[test]
fn truncated_dumps_are_errors() {
    let Some(text) = dump("ceph-report-small.json") else { return };
    for end in (0..text.trim_end().len()).step_by(97) {
        if let Some(part) = text.get(..end) {
            assert!(CrushMap::from_json(part).is_err(), "cut at {end}");
        }
    }
    let Some(text) = dump("sample-ceph-crushmap.txt") else { return };
    for end in 0..text.len() {
        let _ = CrushMap::from_text(&text[..end]);
    }
}
