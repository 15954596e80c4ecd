//! Our placement groups against those of Ceph's `osdmaptool`: object names to groups, and groups to up sets.
//!
//! Skips with a reason where `osdmaptool` or `crushtool` is not installed.

use crate::pools;

use std::path::{Path, PathBuf};
use std::process::Command;

use pools::pools_of;
use resilver_crush::pool::{ObjectHash, Osds, Pool};
use resilver_crush::{CrushMap, Scratch};

fn run(tool: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(tool).args(arguments).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A cluster of `osds` OSDs with one pool, as `osdmaptool` makes it.
fn cluster(folder: &Path, osds: &str, pg_bits: &str, pgp_bits: &str) -> Option<(CrushMap, Pool)> {
    let create = ["--createsimple", osds, "map", "--with-default-pool", "--clobber", "--pg-bits", pg_bits];
    run("osdmaptool", &[&create[..], &["--pgp-bits", pgp_bits]].concat(), folder)?;
    run("osdmaptool", &["map", "--export-crush", "crush"], folder)?;
    let map = CrushMap::from_text(&run("crushtool", &["-d", "crush"], folder)?).unwrap();
    let dump = run("osdmaptool", &["map", "--dump", "json"], folder)?;
    let dump = &dump[dump.find('{').unwrap()..=dump.rfind('}').unwrap()];
    let pool = pools_of(dump, &map).remove(0);
    Some((map, pool))
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

// Rule: names of every length around the hash's blocks of 12 bytes go to the group that osdmaptool says. Six OSDs of 64
// groups make 384 groups, no power of two.
#[test]
fn objects_to_groups() {
    let folder = folder("objects-to-groups");
    let Some((_, pool)) = cluster(&folder, "6", "6", "6") else {
        println!("skipped: osdmaptool is not installed (Debian: ceph-base)");
        return;
    };
    assert_eq!(pool.pg_num, 384);
    let source = "rbd_data.10226b8b4567.0000000000000a7f";
    for length in 1..=source.len() {
        let name = &source[..length];
        let output = run("osdmaptool", &["map", "--test-map-object", name, "--pool", "1"], &folder).unwrap();
        let group = format!("-> 1.{:x} ->", pool.group_of_locator(ObjectHash::Rjenkins, b"", name.as_bytes()));
        assert!(output.contains(&group), "{name}: {group} is not in {output}");
    }
}

// Rule: every group's up set is osdmaptool's, also while a pool is being split (384 groups on 192 seeds).
#[test]
fn groups_to_up_sets() {
    let folder = folder("groups-to-up-sets");
    for (osds, pg_bits, pgp_bits) in [("6", "6", "6"), ("6", "6", "5"), ("11", "4", "4")] {
        let Some((map, pool)) = cluster(&folder, osds, pg_bits, pgp_bits) else {
            println!("skipped: osdmaptool is not installed (Debian: ceph-base)");
            return;
        };
        let dump = ["map", "--mark-up-in", "--test-map-pgs-dump", "--pool", "1"];
        let output = run("osdmaptool", &dump, &folder).unwrap();
        let (mut scratch, mut up) = (Scratch::new(), Vec::new());
        let mut groups = 0;
        for line in output.lines().filter(|line| line.starts_with("1.")) {
            let (pgid, rest) = line.split_once('\t').unwrap();
            let ps = u32::from_str_radix(&pgid[2..], 16).unwrap();
            let osds = Osds { reweight: &[], is_up: &[true; 11], affinity: &[] };
            pool.up_set(&map, pool.rule_of(&map).unwrap(), ps, osds, &mut scratch, &mut up);
            let list: Vec<String> = up.iter().map(i32::to_string).collect();
            assert!(rest.starts_with(&format!("[{}]", list.join(","))), "{line}: {up:?}");
            groups += 1;
        }
        assert_eq!(groups, pool.pg_num);
    }
}
