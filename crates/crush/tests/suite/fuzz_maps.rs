//! Maps damaged at random, in every form: each is read or refused with a message, never more memory than its size allows.
//!
//! `RESILVER_FUZZ` sets the number of cases of each form; 100,000 take seconds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[allow(dead_code)]
use crate::common;

use common::{Random, random_map};
use resilver_crush::{CrushMap, MapError};
use serde_json::{Value, json};

thread_local! {
    /// Bytes this thread holds, and the most it ever held.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HELD.try_with(|held| {
            let now = held.get().0 + layout.size();
            held.set((now, held.get().1.max(now)));
        });
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set((held.get().0.saturating_sub(layout.size()), held.get().1)));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` held at once.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(|held| {
        held.set((held.get().0, held.get().0));
        held.get().0
    });
    let result = work();
    (result, HELD.with(|held| held.get().1) - before)
}

fn cases() -> u64 {
    std::env::var("RESILVER_FUZZ").ok().and_then(|number| number.parse().ok()).unwrap_or(2_000)
}

/// Numbers that formats trip over.
const NUMBERS: [&str; 12] = [
    "-1",
    "0",
    "4294967295",
    "4294967296",
    "-2147483648",
    "2147483647",
    "99999999999999999999",
    "1e308",
    "NaN",
    "-0.5",
    "65535.99999",
    "16777216",
];

/// Damages bytes: cuts, flips, splices and, in text, other numbers.
fn damaged(source: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = source.to_vec();
    for _ in 0..1 + random.below(3) {
        if data.is_empty() {
            return data;
        }
        let at = random.below(data.len() as u64) as usize;
        match random.below(6) {
            0 => data.truncate(at),
            1 => data[at] ^= 1 << random.below(8),
            2 => data[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'{', b'}', b'[', b'"', b'-']),
            3 => {
                let from = random.below(other.len() as u64) as usize;
                let size = (random.below(40) as usize).min(other.len() - from);
                data.splice(at..at, other[from..from + size].iter().copied());
            }
            4 => {
                let digit = data[at..].iter().position(u8::is_ascii_digit).map_or(at, |next| at + next);
                let end =
                    data[digit..].iter().position(|byte| !byte.is_ascii_digit()).map_or(data.len(), |n| digit + n);
                data.splice(digit..end, random.pick(&NUMBERS).bytes());
            }
            _ => {
                let end = (at + 4).min(data.len());
                data[at..end].fill(*random.pick(&[0, 0xff, 0x7f]));
            }
        }
    }
    data
}

/// Reads every damaged map of one form.
fn fuzz(form: &str, write: impl Fn(&CrushMap) -> Vec<u8>, read: impl Fn(&[u8]) -> Result<CrushMap, MapError>) {
    let sources: Vec<Vec<u8>> =
        (0..40).map(|seed| write(&CrushMap::from_text(&random_map(seed).text).unwrap())).collect();
    let mut random = Random::new(form.len() as u64);
    let (mut refused, mut read_again) = (0, 0);
    for case in 0..cases() {
        let (source, other) = (random.pick(&sources).clone(), random.pick(&sources).clone());
        let data = damaged(&source, &other, &mut random);
        let (result, held) = peak(|| read(&data));
        // 4 MiB cover a table of all bucket ids; beyond it a map takes some multiple of its text.
        let limit = 64 * data.len() + (8 << 20);
        assert!(held <= limit, "{form} case {case}: {held} bytes held for {} of input", data.len());
        match result {
            Err(error) => {
                assert!(!error.to_string().is_empty(), "{form} case {case}");
                refused += 1;
            }
            Ok(map) => {
                // What was read can be written, and reads as the same map in binary, which carries everything.
                if let Ok(bytes) = map.to_bytes() {
                    let again =
                        CrushMap::from_bytes(&bytes).unwrap_or_else(|error| panic!("{form} case {case}: {error}"));
                    assert!(again.to_bytes().unwrap() == bytes, "{form} case {case}");
                }
                let _ = map.to_text();
                read_again += 1;
            }
        }
    }
    println!("{form}: {} cases, {refused} refused, {read_again} read", cases());
    assert!(refused * 4 > cases(), "{form}: the damage is too mild");
}

// Rule: damaged text is read or refused, within memory bounded by its size.
#[test]
fn text() {
    fuzz("text", |map| map.to_text().into_bytes(), |data| CrushMap::from_text(&String::from_utf8_lossy(data)));
}

// Rule: the same for JSON.
#[test]
fn json() {
    fuzz("JSON", |map| map.to_json().into_bytes(), |data| CrushMap::from_json(&String::from_utf8_lossy(data)));
}

/// A map in python-crush's form, in which every hierarchy is a tree: what has no bucket above it is a root.
fn trees(map: &CrushMap) -> Vec<u8> {
    fn node(map: &CrushMap, id: i32, weight: u32) -> Value {
        let Some(bucket) = map.bucket(id) else {
            return json!({"id": id, "name": map.item_name(id), "weight": weight});
        };
        let items = bucket.items().iter().zip(bucket.weights());
        let children: Vec<Value> = items.map(|(&item, &weight)| node(map, item, weight)).collect();
        json!({"id": id, "name": bucket.name(), "type": map.type_name(bucket.type_id()), "weight": weight,
               "algorithm": bucket.kind().name(), "children": children})
    }
    let roots = map.buckets().iter().filter(|bucket| map.parent_of(bucket.id()).is_none());
    let trees: Vec<Value> = roots.map(|bucket| node(map, bucket.id(), bucket.weight())).collect();
    let types: Vec<Value> = map.types().iter().map(|(id, name)| json!({"type_id": id, "name": name})).collect();
    let steps = json!([["take", trees[0]["name"]], ["chooseleaf", "firstn", 0, "type", "host"], ["emit"]]);
    json!({"trees": trees, "types": types, "rules": {"data": steps}, "tunables": {"choose_total_tries": 50}})
        .to_string()
        .into_bytes()
}

// Rule: the same for the JSON of python-crush.
#[test]
fn written_out_trees() {
    fuzz("trees", trees, |data| CrushMap::from_json(&String::from_utf8_lossy(data)));
}

// Rule: the same for binary.
#[test]
fn binary() {
    fuzz("binary", |map| map.to_bytes().unwrap(), CrushMap::from_bytes);
}

// Rule: a binary map cut anywhere within its first parts is refused; after the names, each part may be the last.
#[test]
fn every_cut_of_a_binary_map() {
    let bytes = CrushMap::from_text(&random_map(5).text).unwrap().to_bytes().unwrap();
    let read = (0..bytes.len()).filter(|&end| CrushMap::from_bytes(&bytes[..end]).is_ok()).count();
    // After the names, and after each of the eight optional parts but the last, which is the whole map.
    assert_eq!(read, 8);
}

// Rule: counts and ids are believed only as far as the input could hold them. 40 bytes claim 2^32 - 1 buckets; an id of
// -1,048,576 with stand-ins under many keys takes memory by the number of stand-ins, not by the id.
#[test]
fn huge_claims() {
    let mut claims = vec![0, 0, 1, 0];
    claims.extend([0xff; 36]);
    let (result, held) = peak(|| CrushMap::from_bytes(&claims));
    assert!(result.is_err() && held < 1 << 12, "{held}");
    let mut text = "type 1 root\nroot r { id -1048576 alg straw2 }\n".to_owned();
    for key in 0..2_000 {
        text.push_str(&format!("choose_args {key} {{ {{ bucket_id -1048576 weight_set [ [ ] ] }} }}\n"));
    }
    let (result, held) = peak(|| CrushMap::from_text(&text));
    assert!(result.is_ok() && held < 32 << 20, "{held}");
}

// Rule: depth costs no call stack: 100,000 buckets in each other, and JSON nested as deep, on a stack of 256 KiB.
#[test]
fn depth() {
    let work = || {
        let mut text = "device 0 osd.0 class ssd\ntype 0 osd\ntype 1 box\n".to_owned();
        text.push_str("box b0 { id -1 alg straw2 item osd.0 weight 1 }\n");
        for level in 1..100_000 {
            text.push_str(&format!("box b{level} {{ id -{} alg straw2 item b{} }}\n", level + 1, level - 1));
        }
        text.push_str("rule r { id 0 type replicated step take b99999 class ssd step emit }\n");
        let map = CrushMap::from_text(&text).unwrap();
        assert_eq!(map.buckets().len(), 200_000);
        let bytes = map.to_bytes().unwrap();
        assert!(CrushMap::from_bytes(&bytes).unwrap().to_text() == map.to_text());
        let deep = "[".repeat(100_000);
        for nested in [format!("{{\"types\": {deep}"), format!("{{\"tunables\": {{\"x\": {deep}"), deep.clone()] {
            assert!(CrushMap::from_json(&nested).is_err());
        }
        assert!(CrushMap::from_text(&"{".repeat(100_000)).is_err());
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}
