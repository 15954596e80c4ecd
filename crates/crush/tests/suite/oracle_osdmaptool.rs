//! Names of objects against the groups that Ceph's `osdmaptool` says.
//!
//! Where groups lie is asked of it by `tests/oracle/test_osdmaptool.py`. Skips with a reason where `osdmaptool` or
//! `crushtool` is not installed.

use crate::pools;

use std::path::{Path, PathBuf};
use std::process::Command;

use pools::pools_of;
use resilver_crush::CrushMap;
use resilver_crush::pool::{ObjectHash, Pool};

fn run(tool: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(tool).args(arguments).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The pool of a cluster of six OSDs, as `osdmaptool` makes it.
fn pool(folder: &Path) -> Option<Pool> {
    let create = ["--createsimple", "6", "map", "--with-default-pool", "--clobber", "--pg-bits", "6"];
    run("osdmaptool", &create, folder)?;
    run("osdmaptool", &["map", "--export-crush", "crush"], folder)?;
    let map = CrushMap::from_text(&run("crushtool", &["-d", "crush"], folder)?).unwrap();
    let dump = run("osdmaptool", &["map", "--dump", "json"], folder)?;
    Some(pools_of(&dump[dump.find('{').unwrap()..=dump.rfind('}').unwrap()], &map).remove(0))
}

// Rule: names of every length around the hash's blocks of 12 bytes go to the group that osdmaptool says. Six OSDs of 64
// groups make 384 groups, no power of two.
#[test]
fn objects_to_groups() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("objects-to-groups");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(pool) = pool(&folder) else {
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
