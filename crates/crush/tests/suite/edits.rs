//! Edits and built maps against `crushtool`'s: the same edit of the same map gives the same map.
//!
//! The tests skip with a reason where `crushtool` is not installed. `RESILVER_ORACLE_MAPS` sets how many maps are edited.

#[allow(dead_code)]
use crate::common;
use crate::crushtool;

use common::{Random, random_map};
use crushtool::{Folder, crushtool_is_missing, try_run};
use resilver_crush::{BucketKind, CrushMap, MapError};

/// Edits of each map, one after the other.
const EDITS: usize = 5;

fn maps() -> u64 {
    std::env::var("RESILVER_ORACLE_MAPS").ok().and_then(|number| number.parse().ok()).unwrap_or(40)
}

/// One edit, as an operator would type it.
enum Edit {
    Add { update: bool, id: i32, weight: String, name: String, location: Vec<(&'static str, String)> },
    Remove(String),
    Move { name: String, location: Vec<(&'static str, String)> },
    Reweight(String, String),
    Recompute,
}

impl Edit {
    fn random(map: &CrushMap, random: &mut Random) -> Self {
        let devices = map.devices();
        let hosts: Vec<String> = buckets_of(map, "host");
        let mut any_device = || map.device_name(if devices.is_empty() { 0 } else { *random.pick(&devices) });
        let (one, name) = (any_device(), any_device());
        let weight = random.pick(&["1", "0", "2.5", "0.1", "7.77", "100"]).to_string();
        let location = location(map, random, &hosts);
        match random.below(10) {
            0..=2 => {
                let id = map.max_device() + random.below(3) as i32;
                Self::Add { update: random.once_in(3), id, weight, name: format!("osd.{id}"), location }
            }
            3 => {
                let id = if devices.is_empty() { 0 } else { *random.pick(&devices) };
                Self::Add { update: random.below(4) > 0, id, weight, name: map.device_name(id), location }
            }
            4 | 5 => Self::Remove(if random.once_in(4) && !hosts.is_empty() { hosts[0].clone() } else { one }),
            6 => Self::Move { name, location },
            7 if !hosts.is_empty() => {
                Self::Move { name: random.pick(&hosts).clone(), location: location_above(map, random) }
            }
            8 => Self::Recompute,
            _ => Self::Reweight(if random.once_in(4) && !hosts.is_empty() { hosts[0].clone() } else { name }, weight),
        }
    }

    fn arguments(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let place = |words: &mut Vec<String>, location: &[(&str, String)]| {
            for (type_name, bucket) in location {
                words.extend(["--loc".to_owned(), (*type_name).to_owned(), bucket.clone()]);
            }
        };
        match self {
            Self::Add { update, id, weight, name, location } => {
                let option = if *update { "--update-item" } else { "--add-item" };
                words.extend([option.to_owned(), id.to_string(), weight.clone(), name.clone()]);
                place(&mut words, location);
            }
            Self::Remove(name) => words.extend(["--remove-item".to_owned(), name.clone()]),
            Self::Move { name, location } => {
                words.extend(["--move".to_owned(), name.clone()]);
                place(&mut words, location);
            }
            Self::Reweight(name, weight) => words.extend(["--reweight-item".to_owned(), name.clone(), weight.clone()]),
            Self::Recompute => words.push("--reweight".to_owned()),
        }
        words
    }

    fn apply(&self, map: &CrushMap) -> Result<CrushMap, MapError> {
        fn borrowed<'e>(location: &'e [(&'static str, String)]) -> Vec<(&'e str, &'e str)> {
            location.iter().map(|(type_name, bucket)| (*type_name, bucket.as_str())).collect()
        }
        match self {
            Self::Add { update, id, weight, name, location } => {
                let location = borrowed(location);
                let weight = weight.parse().unwrap();
                if *update {
                    map.with_item_updated(*id, weight, name, &location)
                } else {
                    map.with_item(*id, weight, name, &location)
                }
            }
            Self::Remove(name) => map.without_item(name),
            Self::Move { name, location } => map.moved(name, &borrowed(location)),
            Self::Reweight(name, weight) => map.reweighted(name, weight.parse().unwrap()),
            Self::Recompute => map.recomputed(),
        }
    }
}

fn buckets_of(map: &CrushMap, type_name: &str) -> Vec<String> {
    let wanted = map.type_id(type_name);
    let named = |name: &str| !name.contains('~');
    let buckets = map.buckets().iter().filter(|bucket| Some(bucket.type_id()) == wanted && named(bucket.name()));
    buckets.map(|bucket| bucket.name().to_owned()).collect()
}

/// A host of the map, or one to be made, with or without what is above.
fn location(map: &CrushMap, random: &mut Random, hosts: &[String]) -> Vec<(&'static str, String)> {
    let mut location = Vec::new();
    if !hosts.is_empty() && random.below(3) > 0 {
        location.push(("host", random.pick(hosts).clone()));
    } else if random.below(4) > 0 {
        location.push(("host", format!("new-host{}", random.below(3))));
    }
    if location.is_empty() || random.below(3) > 0 {
        location.extend(location_above(map, random));
    }
    location
}

fn location_above(map: &CrushMap, random: &mut Random) -> Vec<(&'static str, String)> {
    let racks = buckets_of(map, "rack");
    let mut location = Vec::new();
    match random.below(3) {
        0 => location.push(("rack", format!("new-rack{}", random.below(3)))),
        1 if !racks.is_empty() => location.push(("rack", random.pick(&racks).clone())),
        _ => {}
    }
    location.push(("root", "root0".to_owned()));
    location
}

/// The map with this many weight sets in each of its stand-ins, as a cluster has them: as many in one as in the other.
fn with_weight_sets(text: &str, count: usize) -> String {
    let mut out = String::new();
    let mut rows: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with("      [") {
            rows.push(line);
            continue;
        }
        for row in rows.iter().cycle().take(if rows.is_empty() { 0 } else { count }) {
            out.push_str(row);
            out.push('\n');
        }
        rows.clear();
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Where two texts first differ.
fn difference(ours: &str, theirs: &str) -> String {
    let pair = ours.lines().zip(theirs.lines()).find(|pair| pair.0 != pair.1);
    format!("{pair:?} of {} and {} lines", ours.lines().count(), theirs.lines().count())
}

// Rule: every edit gives the map that `crushtool` gives, weight for weight, shadow for shadow, stand-in for stand-in, and is
// refused where `crushtool` refuses. Where `crushtool` itself crashes (it does when an item goes into a uniform bucket, and
// when a bucket is made in a map of several weight sets), there is nothing to compare; the maps have one weight set.
#[test]
fn edits_are_crushtools() {
    if crushtool_is_missing() {
        return;
    }
    let folder = Folder::new("edits");
    let (mut compared, mut refused, mut crashed) = (0, 0, 0);
    for seed in 0..maps() {
        let text = with_weight_sets(&random_map(seed).text, 1);
        folder.write("map.txt", text.as_bytes());
        if try_run(&["-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables"], &folder).is_err() {
            continue;
        }
        let mut random = Random::new(seed ^ 0x5eed);
        for step in 0..EDITS {
            let map = CrushMap::from_bytes(&folder.read("map.bin")).unwrap();
            let edit = Edit::random(&map, &mut random);
            // Ceph 16 forgets the id of an item that it adds to a tree.
            let has_tree = map.buckets().iter().any(|bucket| bucket.kind() == BucketKind::Tree);
            if has_tree && matches!(edit, Edit::Add { .. } | Edit::Move { .. }) {
                continue;
            }
            let words = edit.arguments();
            let mut arguments = vec!["-i", "map.bin", "-o", "next.bin"];
            arguments.extend(words.iter().map(String::as_str));
            let _ = std::fs::remove_file(folder.0.join("next.bin"));
            let theirs = try_run(&arguments, &folder);
            let ours = edit.apply(&map);
            let what = format!("map {seed}, edit {step}: {}", words.join(" "));
            match theirs {
                Err(error) if error.contains("Caught signal") || error.contains("Aborted") => crashed += 1,
                Err(error) if error.contains("already at") => {
                    assert!(ours.is_ok_and(|ours| ours.to_text() == map.to_text()), "{what}");
                }
                Err(error) => {
                    assert!(ours.is_err(), "{what}: crushtool refuses: {error}");
                    refused += 1;
                }
                Ok(_) => {
                    let ours = ours.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let binary = folder.read("next.bin");
                    let theirs = CrushMap::from_bytes(&binary).unwrap_or_else(|error| panic!("{what}: {error}"));
                    let (our_text, their_text) = (ours.to_text(), theirs.to_text());
                    assert!(our_text == their_text, "{what}: {}", difference(&our_text, &their_text));
                    // Trees grow nodes of chance in Ceph, and stand-ins of other kinds than straw2 are forgotten on reading.
                    if !has_tree && !our_text.contains("choose_args") {
                        assert!(ours.to_bytes().unwrap() == binary, "{what}: binary");
                    }
                    std::fs::rename(folder.0.join("next.bin"), folder.0.join("map.bin")).unwrap();
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} edits compared, {refused} refused by both, {crashed} crashed crushtool");
    assert!(compared as u64 > maps(), "only {compared} edits compared");
}

// Rule: a device that gets a class stands in the shadows that `crushtool` makes of a map whose text gives it that class, and they
// have the ids that it gives them.
#[test]
fn classes_are_crushtools() {
    if crushtool_is_missing() {
        return;
    }
    let folder = Folder::new("classes");
    let mut compared = 0;
    for seed in 0..maps() {
        folder.write("map.txt", random_map(seed).text.as_bytes());
        if try_run(&["-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables"], &folder).is_err() {
            continue;
        }
        let map = CrushMap::from_bytes(&folder.read("map.bin")).unwrap();
        // Stand-ins of new shadows are a matter of the edit alone; a text gives them or has none.
        if map.devices().is_empty() || map.to_text().contains("choose_args") {
            continue;
        }
        let mut random = Random::new(seed ^ 0xc1a55);
        let device = *random.pick(&map.devices());
        let class = *random.pick(&["hdd", "ssd", "new"]);
        let Ok(ours) = map.with_device_class(&map.device_name(device), class) else {
            // A shadow may have to hold items of several weights, which a uniform bucket cannot.
            assert!(map.buckets().iter().any(|bucket| bucket.kind() == BucketKind::Uniform), "map {seed}");
            continue;
        };
        let (head, old) = (format!("device {device} {}", map.device_name(device)), map.device_class(device));
        let line = old.map_or(head.clone(), |old| format!("{head} class {old}"));
        let text = map.to_text().replacen(&format!("{line}\n"), &format!("{head} class {class}\n"), 1);
        folder.write("class.txt", text.as_bytes());
        try_run(&["-c", "class.txt", "-o", "class.bin", "--enable-unsafe-tunables"], &folder).unwrap();
        let theirs = CrushMap::from_bytes(&folder.read("class.bin")).unwrap();
        let shadows = |map: &CrushMap| -> Vec<(i32, String, Vec<i32>, Vec<u32>)> {
            let shadows = map.buckets().iter().filter(|bucket| bucket.name().contains('~'));
            let part = |bucket: &resilver_crush::Bucket| {
                (bucket.id(), bucket.name().to_owned(), bucket.items().to_vec(), bucket.weights().to_vec())
            };
            shadows.map(part).collect()
        };
        assert_eq!(ours.device_class(device), Some(class));
        assert_eq!(shadows(&ours), shadows(&theirs), "map {seed}: device {device} class {class}, before {old:?}");
        compared += 1;
    }
    println!("{compared} classes compared");
    assert!(compared as u64 > maps() / 4, "only {compared} classes compared");
}

// Rule: all devices below a bucket get one weight, and what is above weighs their sum: hosts of 2 x 1.5 and 2 x 1 below a root of 5.
#[test]
fn a_subtree_is_reweighted() {
    let map = small().with_device_class("osd.1", "ssd").unwrap();
    let heavier = map.subtree_reweighted("host0", 1.5).unwrap();
    let weight =
        |name: &str| heavier.buckets().iter().find(|bucket| bucket.name() == name).map(|bucket| bucket.weight());
    assert_eq!([weight("host0"), weight("host1"), weight("root")], [Some(3 << 16), Some(2 << 16), Some(5 << 16)]);
    assert_eq!([weight("host0~ssd"), weight("root~ssd")], [Some(3 << 15), Some(3 << 15)]);
    assert!(map.subtree_reweighted("osd.1", 1.0).unwrap_err().to_string().contains("name a bucket"));
}

// Rule: a built map is the one that `crushtool --build` makes, byte for byte.
#[test]
fn built_maps_are_crushtools() {
    if crushtool_is_missing() {
        return;
    }
    let folder = Folder::new("built");
    let cases: [(u32, &str); 6] = [
        (1024, "host straw2 16 rack straw2 8 row straw2 0"),
        (10, "host straw 3 root straw 0"),
        (13, "host uniform 4 root straw2 0"),
        (17, "box list 5 root list 2 top list 0"),
        (5, "root straw2 0"),
        (9, "host straw2 2"),
    ];
    for (devices, layers) in cases {
        let count = devices.to_string();
        let words: Vec<&str> = layers.split(' ').collect();
        let mut arguments = vec!["--build", "--num_osds", &count];
        arguments.extend(&words);
        arguments.extend(["-o", "built.bin"]);
        try_run(&arguments, &folder).unwrap();
        let kind = |name| BucketKind::from_name(name).unwrap();
        let layers: Vec<_> =
            words.chunks(3).map(|layer| (layer[0], kind(layer[1]), layer[2].parse().unwrap())).collect();
        let map = CrushMap::build(devices, &layers).unwrap();
        assert!(map.to_bytes().unwrap() == folder.read("built.bin"), "{devices} {words:?}");
    }
}

fn small() -> CrushMap {
    CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap()
}

// Rule: an edit that cannot be is refused with what to do, and the map it was asked of stays as it was.
#[test]
fn edits_that_cannot_be() {
    let map = small();
    let before = map.to_text();
    let refused = |result: Result<CrushMap, MapError>, part: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    };
    refused(map.with_item(0, 1.0, "osd.0", &[("host", "host0")]), "in it already");
    refused(map.with_item(9, 1.0, "osd.0", &[("host", "host0")]), "belongs to item 0");
    refused(map.with_item(9, 1.0, "osd 9", &[("host", "host0")]), "letters, digits");
    refused(map.with_item(9, 1.0, "osd.9", &[("host", "root")]), "another type");
    refused(map.with_item(9, 1.0, "osd.9", &[("host", "osd.0")]), "it is a device");
    refused(map.with_item(9, 1.0, "osd.9", &[("shelf", "s")]), "types of the map");
    refused(map.with_item(9, 1.0, "osd.9", &[]), "such as host=node1");
    refused(map.with_item(9, f64::NAN, "osd.9", &[("host", "host0")]), "from 0 to below 32768");
    refused(map.with_item(-9, 1.0, "osd.9", &[("host", "host0")]), "zero or above");
    refused(map.with_item(i32::MAX, 1.0, "osd.9", &[("host", "host0")]), "device ids stay below");
    refused(map.without_item("host0"), "2 items");
    refused(map.without_item("nothing"), "of a device or bucket that the map has");
    refused(map.moved("root", &[("host", "host0")]), "contain itself");
    refused(map.reweighted("osd.0", -1.0), "from 0 to below 32768");
    refused(map.with_device_class("host0", "ssd"), "name a device");
    refused(map.with_device_class("osd.0", "s d"), "letters, digits");
    refused(map.reweighted("root", 1.0), "stands in some bucket");
    assert_eq!(map.to_text(), before);
}

// Rule: adding an item and removing it again gives back the map. Host 0 weighs 2; with 1.5 more it weighs 3.5.
#[test]
fn an_item_comes_and_goes() {
    let map = small();
    let more = map.with_item(4, 1.5, "osd.4", &[("host", "host0")]).unwrap();
    assert_eq!(more.bucket(-1).unwrap().weight(), 7 << 15);
    assert_eq!(more.bucket(-3).unwrap().weights(), [7 << 15, 2 << 16]);
    assert_eq!(more.without_item("osd.4").unwrap().to_text(), map.to_text());
}

// Rule: a tree keeps its other items' places when one leaves from the middle, and gives up places at its end.
#[test]
fn trees_keep_places() {
    let map = CrushMap::build(3, &[("root", BucketKind::Tree, 0)]).unwrap();
    let without = map.without_item("osd.1").unwrap();
    // Device 0 of weight zero stands in, as in Ceph.
    assert_eq!(without.bucket(-1).unwrap().items(), [0, 0, 2]);
    assert_eq!(without.devices(), [0, 2]);
    assert_eq!(without.bucket(-1).unwrap().weights(), [1 << 16, 0, 1 << 16]);
    let shorter = without.without_item("osd.2").unwrap();
    assert_eq!(shorter.bucket(-1).unwrap().items(), [0]);
    assert_eq!(CrushMap::from_bytes(&shorter.to_bytes().unwrap()).unwrap().to_text(), shorter.to_text());
}
