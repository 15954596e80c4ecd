//! Maps that no cluster made: each is refused with a message that names the field, the value, the rule and the remedy.

use resilver_crush::pool::{Exceptions, Pool, PoolKind};
use resilver_crush::{BucketKind, CrushMap, Level, Scratch, Tunables};

/// A JSON map with these buckets and rule steps.
fn json(buckets: &str, steps: &str) -> String {
    format!(
        r#"{{"types": [{{"type_id": 0, "name": "osd"}}, {{"type_id": 1, "name": "host"}}], "buckets": [{buckets}],
            "rules": [{{"rule_id": 0, "rule_name": "data", "type": 1, "steps": [{steps}]}}]}}"#
    )
}

fn bucket(id: i64, items: &str) -> String {
    format!(r#"{{"id": {id}, "name": "host{id}", "type_id": 1, "alg": "straw2", "items": [{items}]}}"#)
}

fn refusal(text: &str) -> String {
    CrushMap::from_json(text).expect_err(text).to_string()
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let message = refusal(text);
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

// Rule: buckets that contain themselves, directly or through others, are refused.
#[test]
fn cycles() {
    refused(&json(&bucket(-1, r#"{"id": -1, "weight": 1}"#), ""), &["host-1", "contain itself"]);
    let pair = [bucket(-1, r#"{"id": -2, "weight": 1}"#), bucket(-2, r#"{"id": -1, "weight": 1}"#)].join(",");
    refused(&json(&pair, ""), &["contain itself", "remove the item"]);
}

// Rule: what a map refers to exists in it.
#[test]
fn missing_parts() {
    refused(&json(&bucket(-1, r#"{"id": -9, "weight": 1}"#), ""), &["bucket host-1: item = -9", "add the bucket"]);
    refused(&json("", r#"{"op": "take", "item": -3}"#), &["rule data: step 1: take = -3"]);
    refused(&json("", r#"{"op": "choose_firstn", "num": 0, "type": "rack"}"#), &["rack", "declare the type"]);
    refused(&json("", r#"{"op": "leap"}"#), &["`leap` needs `num`"]);
    refused(&json("", r#"{"opcode": 99}"#), &["opcode 99"]);
}

// Rule: ids, weights and retries stay within what memory and time allow. Items of 65535 and 1 sum to 65536, one too many.
#[test]
fn limits() {
    refused(&json(&bucket(5, ""), ""), &["host5", "id = 5"]);
    refused(&json(&bucket(-2_000_000_000, ""), ""), &["-2000000000", "renumber"]);
    refused(&json(&bucket(-1, r#"{"id": 2147483646, "weight": 1}"#), ""), &["2147483646", "device ids"]);
    let heavy = r#"{"id": 0, "weight": 4294901760}, {"id": 1, "weight": 65536}"#;
    refused(&json(&bucket(-1, heavy), ""), &["bucket host-1: weight = 65536.000"]);
    refused(
        &json(&bucket(-1, r#"{"id": 0, "weight": -1}"#), ""),
        &["buckets[0].items[0]", "weight = -1", "from 0 to below 2^32"],
    );
    refused(&json("", r#"{"op": "set_choose_tries", "num": 2000000000}"#), &["2000000000", "at most 10000"]);
    let twice = [bucket(-1, ""), bucket(-1, "")].join(",");
    refused(&json(&twice, ""), &["id = -1", "unique"]);
}

// Rule: multi-step-retry rules have no counts or tries below zero, and no more steps than a map has levels.
#[test]
fn multi_step_retries() {
    let step = |text: &str| json("", &text.replace('(', "{").replace(')', "}"));
    refused(&step(r#"("op": "set_msr_descents", "num": -1)"#), &["step 1: set_msr_descents = -1", "zero or above"]);
    refused(&step(r#"("op": "set_msr_collision_tries", "num": -9)"#), &["set_msr_collision_tries = -9"]);
    refused(&step(r#"("op": "set_msr_descents", "num": 20000)"#), &["20000", "at most 10000"]);
    let choose = |count: i32| format!(r#"("op": "choosemsr", "num": {count}, "type": "osd")"#);
    refused(&step(&choose(-2)), &["step 1: count = -2", "zero or above"]);
    refused(&step(&vec![choose(1); 65].join(",")), &["step 65: count = 65", "at most 64"]);
}

// Rule: text errors give line and column of the word at fault.
#[test]
fn text_errors_have_a_place() {
    let message = |text: &str| CrushMap::from_text(text).unwrap_err().to_string();
    assert_eq!(
        message("type 1 root\nroot default {\n\talg straw3\n}"),
        "line 3, column 6: found 'straw3', expected uniform, list, tree, straw, straw2 or vring"
    );
    assert!(message("type 1 root\nroot r { alg straw2 item osd.7 }").starts_with("line 2, column 26: found 'osd.7'"));
    assert!(message("type 1 root\nroot r { alg straw2").contains("found the end of the text"));
    assert!(message("device 0 a\ntype 1 root\nroot r { alg straw item a weight nan }").contains("'nan'"));
    assert!(message("device 0 a\u{7}").contains("column 11"));
}

// Rule: a rule of zero copies, an empty bucket or devices that are all out give a short result, not an endless search.
#[test]
fn nothing_to_find() {
    let map = CrushMap::flat(0, BucketKind::Straw2, Tunables::ARGONAUT);
    let (mut scratch, mut devices) = (Scratch::new(), vec![1]);
    map.place(&map.rules()[0], 1, 3, &[], &mut scratch, &mut devices);
    assert_eq!(devices, Vec::<i32>::new());
    let map = CrushMap::flat(5, BucketKind::Tree, Tunables::ARGONAUT);
    map.place(&map.rules()[0], 1, 3, &[0; 5], &mut scratch, &mut devices);
    assert_eq!(devices, Vec::<i32>::new());
    map.place(&map.rules()[0], 1, 0, &[], &mut scratch, &mut devices);
    assert_eq!(devices, Vec::<i32>::new());
}

// Rule: clusters that do not divide evenly are refused with the multiple to choose.
#[test]
fn uneven_clusters() {
    let build = |servers, racks, rows, domain| {
        CrushMap::hierarchical(servers, racks, rows, BucketKind::Straw2, Tunables::JEWEL, domain)
    };
    let message = build(10, 4, None, Level::Rack).unwrap_err().to_string();
    assert_eq!(
        message,
        "servers = 10: racks = 4 must hold equally many servers, at least one each; make servers a multiple of 4"
    );
    assert!(build(8, 0, None, Level::Rack).is_err());
    assert!(build(8, 4, Some(3), Level::Row).is_err());
    assert!(build(8, 4, None, Level::Row).unwrap_err().to_string().contains("rows"));
}

// Rule: a pool whose rule the map lacks is refused when a group is placed.
#[test]
fn a_pool_without_its_rule() {
    let map = CrushMap::flat(3, BucketKind::Straw2, Tunables::JEWEL);
    let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
    let pool = Pool { id: 1, pg_num: 8, pgp_num: 8, size: 3, rule: 7, hashpspool: true, kind, exceptions };
    let error = pool.rule_of(&map).unwrap_err();
    assert!(error.to_string().contains("pool 1: rule = 7"), "{error}");
}
