//! Maps in text, JSON and binary, against `crushtool`, which clusters' own code is compiled into.
//!
//! Tests that need `crushtool` skip with a reason where it is not installed.

#[allow(dead_code)]
use crate::common;
use crate::crushtool;

use common::random_map;
use crushtool::{Folder, crushtool_is_missing, try_run};
use resilver_crush::{BucketKind, CrushMap, Scratch, Tunables};
use serde_json::Value;

/// Random maps compared; `RESILVER_ORACLE_MAPS` sets another number.
fn maps() -> u64 {
    std::env::var("RESILVER_ORACLE_MAPS").ok().and_then(|number| number.parse().ok()).unwrap_or(60)
}

/// A line with the weights that we write in full rounded as `crushtool` writes all of them.
fn rounded(line: &str) -> String {
    let words = line.split(' ').map(|word| match word.parse::<f64>() {
        Ok(weight) if word.contains('.') => {
            // By way of single precision, as `crushtool` prints them.
            format!("{:.3}", f64::from(weight as f32))
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

// Rule: what `crushtool` writes, in any of its three forms, reads as one map, and that map is written as `crushtool` writes
// it: binary byte for byte, text line for line but for weights of more than three digits, JSON value for value.
#[test]
fn crushtools_own_forms() {
    if crushtool_is_missing() {
        return;
    }
    let folder = Folder::new("formats");
    let mut compared = 0;
    for seed in 0..maps() {
        folder.write("map.txt", random_map(seed).text.as_bytes());
        if try_run(&["-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables"], &folder).is_err() {
            continue;
        }
        let binary = folder.read("map.bin");
        let map = CrushMap::from_bytes(&binary).unwrap_or_else(|error| panic!("map {seed}: {error}"));
        assert!(map.to_bytes().unwrap() == binary, "map {seed}: binary");

        let theirs = try_run(&["-d", "map.bin"], &folder).unwrap();
        let ours = map.to_text();
        assert_eq!(ours.lines().count(), theirs.lines().count(), "map {seed}: text");
        for (our, their) in ours.lines().zip(theirs.lines()) {
            assert!(our == their || rounded(our) == their, "map {seed}: {our:?} is not {their:?}");
        }
        let theirs: Value = serde_json::from_str(&try_run(&["-i", "map.bin", "--dump"], &folder).unwrap()).unwrap();
        let ours: Value = serde_json::from_str(&map.to_json()).unwrap();
        for (part, value) in theirs.as_object().unwrap() {
            assert_eq!(&ours[part], value, "map {seed}: {part}");
        }
        compared += 1;
    }
    assert!(compared * 10 >= maps() * 9, "only {compared} of the maps compiled");
}

// Rule: a map written in any form and read again is the same map: it is written the same in every form, and places alike.
// Text and JSON have no words for stored numbers, so the maps here are those that text can say.
#[test]
fn round_trips() {
    for seed in 0..200 {
        let random = random_map(seed);
        let map = CrushMap::from_text(&random.text).unwrap_or_else(|error| panic!("map {seed}: {error}"));
        let from_text = CrushMap::from_text(&map.to_text()).unwrap();
        let from_json = CrushMap::from_json(&map.to_json()).unwrap_or_else(|error| panic!("map {seed}: {error}"));
        let from_bytes = CrushMap::from_bytes(&map.to_bytes().unwrap()).unwrap();
        for (form, twin) in [("text", &from_text), ("JSON", &from_json), ("binary", &from_bytes)] {
            assert!(twin.to_text() == map.to_text(), "map {seed}: text by way of {form}");
            assert!(twin.to_json() == map.to_json(), "map {seed}: JSON by way of {form}");
            assert!(twin.to_bytes() == map.to_bytes(), "map {seed}: binary by way of {form}");
        }
        let (mut scratch, mut left, mut right) = (Scratch::new(), Vec::new(), Vec::new());
        for rule in map.rules() {
            for x in 0..20 {
                map.place_with(rule, x, 3, &[], map.weight_sets_for(0), &mut scratch, &mut left);
                let sets = from_json.weight_sets_for(0);
                from_json.place_with(rule, x, 3, &[], sets, &mut scratch, &mut right);
                assert_eq!(left, right, "map {seed}: rule {} input {x}", rule.id);
            }
        }
    }
}

// Rule: what a cluster stored stays as it is. The binary map of a straw bucket of two items ends its bucket with pairs of
// weight and straw; straws of 5 and 7 are none that any calculation gives, and the bucket weighs 9, not 2.
#[test]
fn stored_numbers_stay() {
    let map = CrushMap::flat(2, BucketKind::Straw, Tunables::HAMMER);
    let mut bytes = map.to_bytes().unwrap();
    // Magic, three counts and the slot's alg; then id (4), type (2), alg, hash, weight, size, two items, the pairs.
    let weight = 20 + 8;
    let pairs = weight + 4 + 4 + 8;
    assert_eq!(bytes[pairs..pairs + 8], [0, 0, 1, 0, 0, 0, 1, 0]);
    bytes[weight] = 9;
    bytes[pairs + 4..pairs + 8].copy_from_slice(&5u32.to_le_bytes());
    bytes[pairs + 12..pairs + 16].copy_from_slice(&7u32.to_le_bytes());
    let stored = CrushMap::from_bytes(&bytes).unwrap();
    assert_eq!(stored.bucket(-1).unwrap().weight(), (2 << 16) + 9);
    assert_eq!(stored.to_bytes().unwrap(), bytes);
}

// Rule: a map of an older release ends sooner, and what is absent is as it was before it existed. The parts after the names
// take 12, 4, 1, 1, 4, 1 bytes, then 12 for three empty tables of classes and 4 for no choose_args.
#[test]
fn older_maps_end_sooner() {
    let text = "device 0 osd.0\ntype 0 osd\ntype 1 root\nroot r { id -1 alg straw hash 0 item osd.0 weight 1 }\n";
    let bytes = CrushMap::from_text(text).unwrap().to_bytes().unwrap();
    let mut end = bytes.len();
    for size in [4, 12, 1, 4, 1, 1, 4, 12] {
        end -= size;
        let old = CrushMap::from_bytes(&bytes[..end]).unwrap();
        assert_eq!(*old.tunables(), Tunables::ARGONAUT);
        assert_eq!(old.to_bytes().unwrap(), &bytes[..end]);
    }
    assert!(CrushMap::from_bytes(&bytes[..end - 1]).is_err());
}

// Rule: maps of Ceph 19 carry two more tunables at the end, and rules with multi-step retries; they are kept in every form,
// and written in binary only where they were or where the map needs them.
#[test]
fn multi_step_retries() {
    let text = "tunable msr_descents 7\ndevice 0 osd.0\ntype 0 osd\ntype 1 root\n\
        root r { id -1 alg straw2 hash 0 item osd.0 weight 1 }\n\
        rule m { id 0 type msr_indep step set_msr_descents 3 step set_msr_collision_tries 4 step take r \
        step choosemsr 2 type root step choosemsr 0 type osd step emit }\n";
    let map = CrushMap::from_text(text).unwrap();
    assert_eq!((map.tunables().msr_descents, map.tunables().msr_collision_tries), (7, 100));
    let bytes = map.to_bytes().unwrap();
    assert_eq!(bytes[bytes.len() - 8..], [7, 0, 0, 0, 100, 0, 0, 0]);
    for twin in [
        CrushMap::from_bytes(&bytes).unwrap(),
        CrushMap::from_json(&map.to_json()).unwrap(),
        CrushMap::from_text(&map.to_text()).unwrap(),
    ] {
        assert_eq!(twin.rules(), map.rules());
        assert_eq!(twin.to_bytes().unwrap(), bytes);
    }
    let mut longer = CrushMap::flat(1, BucketKind::Straw2, Tunables::JEWEL).to_bytes().unwrap();
    longer.extend_from_slice(&[100, 0, 0, 0, 100, 0, 0, 0, 1, 2, 3]);
    assert_eq!(CrushMap::from_bytes(&longer).unwrap().to_bytes().unwrap(), longer);
}

// Rule: an error names the place: line and column in text, the way down in JSON, the byte in binary, also where it is found
// only after all is read.
#[test]
fn errors_name_the_place() {
    let text = |text: &str| CrushMap::from_text(text).unwrap_err().to_string();
    let head = "device 0 a\ntype 1 root\n";
    let twice = format!("{head}  device 0 b\n");
    assert!(text(&twice).starts_with("line 3, column 10: device b: id = 0: it must be unique"), "{}", text(&twice));
    let heavy = format!("{head}root r {{ id -1 alg straw2\nitem a weight 65535\nitem a weight 3 }}");
    assert!(text(&heavy).starts_with("line 3, column 6: bucket r: weight"), "{}", text(&heavy));
    let steps =
        format!("{head}root r {{ alg list }} rule x {{ id 1 step take r\nstep choose firstn 90000 type root }}");
    assert!(text(&steps).starts_with("line 4, column 6: rule x: step 2: count = 90000"), "{}", text(&steps));
    let sets = format!("{head}root r {{ id -1 alg straw2 }}\nchoose_args 0 {{ {{ bucket_id -4 }} }}");
    assert!(text(&sets).starts_with("line 4, column 29: choose_args 0"), "{}", text(&sets));
    assert!(text("tunable choose_total_tries 99999").starts_with("line 1, column 9: tunable choose_total_tries"));

    let json = |buckets: &str| {
        let types = r#"[{"type_id": 1, "name": "host"}]"#;
        let text = format!("{{\"types\": {types}, \"rules\": [],\n\"buckets\": [{buckets}]}}");
        CrushMap::from_json(&text).unwrap_err().to_string()
    };
    let bucket = |id: i32, items: &str| {
        format!(r#"{{"id": {id}, "name": "h{id}", "type_id": 1, "alg": "straw2", "items": [{items}]}}"#)
    };
    let missing = json(&bucket(-1, r#"{"id": 0, "weight": 1}, {"id": -7, "weight": 1}"#));
    assert!(missing.starts_with("buckets[0].items[1]: bucket h-1: item = -7"), "{missing}");
    let kind = json(&[bucket(-1, ""), bucket(-2, "").replace("straw2", "straw9")].join(","));
    assert!(kind.starts_with("buckets[1]: bucket h-2: alg = straw9"), "{kind}");
    let wrong = json(&bucket(-1, r#"{"id": 0, "weight": "heavy"}"#));
    assert!(wrong.contains("buckets[0].items[0].weight: ") && wrong.contains("line 2 column"), "{wrong}");

    let mut bytes = CrushMap::flat(1, BucketKind::Straw2, Tunables::JEWEL).to_bytes().unwrap();
    bytes[26] = 9;
    let alg = CrushMap::from_bytes(&bytes).unwrap_err().to_string();
    assert!(alg.starts_with("byte 16: bucket -1 has alg 9, which is not"), "{alg}");
    // The first step's argument follows its number: the step after the counts of the rule (4), the mask (4) and the slot (4).
    bytes[26] = 5;
    let take = bytes.windows(4).position(|window| window == [0, 1, 1, 100]).unwrap() + 4;
    bytes[take + 4..take + 8].copy_from_slice(&(-6i32).to_le_bytes());
    let take_error = CrushMap::from_bytes(&bytes).unwrap_err().to_string();
    assert!(take_error.starts_with(&format!("byte {take}: rule replicated: step 1: take = -6")), "{take_error}");
}

// Rule: a map of 10,000 devices in hosts, racks and classes is read and written in time that grows with its size; the times
// are printed, with the goal of 0.3 s a form.
#[test]
fn a_large_map() {
    let layers = [("host", BucketKind::Straw2, 20), ("rack", BucketKind::Straw2, 25), ("root", BucketKind::Straw2, 0)];
    let plain = CrushMap::build(10_000, &layers).unwrap().to_text();
    let classes = ["hdd", "ssd", "nvme"];
    let classed = |line: &str| match line.strip_prefix("device ") {
        Some(rest) => format!("{line} class {}\n", classes[rest.len() % 3]),
        None => format!("{line}\n"),
    };
    let text: String = plain.lines().map(classed).collect();
    let timed = |what: &str, work: &mut dyn FnMut() -> CrushMap| {
        let start = std::time::Instant::now();
        let map = work();
        println!("{what}: {:.0} ms (goal 300 ms)", start.elapsed().as_secs_f64() * 1e3);
        map
    };
    let map = timed("text", &mut || CrushMap::from_text(&text).unwrap());
    let (json, bytes) = (map.to_json(), map.to_bytes().unwrap());
    let from_json = timed("JSON", &mut || CrushMap::from_json(&json).unwrap());
    let from_bytes = timed("binary", &mut || CrushMap::from_bytes(&bytes).unwrap());
    timed("add an item", &mut || map.with_item(10_000, 1.0, "osd.10000", &[("host", "host7")]).unwrap());
    assert!(from_json.to_text() == map.to_text() && from_bytes.to_text() == map.to_text());
    assert_eq!(map.buckets().len(), 4 * 521);
}
