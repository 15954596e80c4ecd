//! A walk finds what the standard library finds one entry at a time, whatever the tree and the number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use resilver_walk::{Kind, LeftOut, Options, Totals, Walk};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A folder of its own, which goes when this does.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("resilver-walk-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const OPTIONS: Options = Options { workers: 3, one_file_system: true, every_name: false, with_rows: true };

/// What a row says: kind, size, allocated bytes, owner, links.
type Said = (i8, i64, i64, i64, i64);

fn walked(root: &Path, options: Options) -> (BTreeMap<Vec<u8>, Said>, Totals, LeftOut) {
    let walk = Walk::new(root, options).unwrap();
    let mut found = BTreeMap::new();
    while let Ok(batch) = walk.next(Duration::from_secs(60)) {
        let rows = batch.expect("a minute is enough");
        let raw: BTreeMap<usize, &Vec<u8>> = rows.raw.iter().map(|(row, path)| (*row, path)).collect();
        for row in 0..rows.len() {
            let folder = rows.folders.get(rows.folder[row] as usize);
            let name = rows.names.get(row);
            let text = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let path = raw.get(&row).map_or(text.into_bytes(), |&path| path.clone());
            let said = (rows.kind[row], rows.size[row], rows.allocated[row], rows.owner[row], rows.links[row]);
            assert!(found.insert(path, said).is_none(), "a path stands twice");
        }
    }
    let totals = walk.totals();
    assert_eq!(totals.count.iter().sum::<u64>(), if options.with_rows { found.len() as u64 } else { 0 });
    (found, totals, walk.left_out())
}

/// The same by the standard library: every name.
fn listed(root: &Path, below: &Path, found: &mut BTreeMap<Vec<u8>, (Said, u64)>) {
    let status = fs::symlink_metadata(below).unwrap();
    let kind = if status.is_file() {
        Kind::File
    } else if status.is_dir() {
        Kind::Folder
    } else if status.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    };
    let (size, allocated) = (status.size() as i64, 512 * status.blocks() as i64);
    let said = (kind as i8, size, allocated, i64::from(status.uid()), status.nlink() as i64);
    let path = below.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
    found.insert(path, (said, status.ino()));
    if kind == Kind::Folder {
        for entry in fs::read_dir(below).unwrap() {
            listed(root, &entry.unwrap().path(), found);
        }
    }
}

/// What is put into a tree: by a number, and where.
fn put(root: &Path, steps: &[(u8, u8, Vec<u8>, u16)]) {
    let mut folders = vec![root.to_path_buf()];
    let mut files: Vec<PathBuf> = Vec::new();
    for (what, place, name, size) in steps {
        let path = folders[usize::from(*place) % folders.len()].join(OsStr::from_bytes(name));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match what % 5 {
            0 | 1 => {
                fs::write(&path, vec![b'x'; usize::from(*size)]).unwrap();
                files.push(path);
            }
            2 => {
                fs::create_dir(&path).unwrap();
                folders.push(path);
            }
            // Links to folders above make loops for whoever follows them.
            3 => symlink(&folders[usize::from(*size) % folders.len()], &path).unwrap(),
            _ if !files.is_empty() => fs::hard_link(&files[usize::from(*size) % files.len()], &path).unwrap(),
            _ => {}
        }
    }
}

/// Names of one to four bytes, of which many are no UTF-8; none that stands for a folder or parts paths.
fn names() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'a'), Just(b'\n'), Just(0xff), Just(0xc3), Just(b'\\'), any::<u8>()];
    let is_name = |name: &Vec<u8>| !name.contains(&0) && !name.contains(&b'/') && name != b"." && name != b"..";
    prop::collection::vec(byte, 1..5).prop_filter("a name", is_name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_walk_finds_what_is_there(
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), names(), any::<u16>()), 0..120),
        workers in 1_usize..9,
    ) {
        let place = Place::new();
        put(&place.0, &steps);
        let mut expected = BTreeMap::new();
        listed(&place.0, &place.0, &mut expected);

        let (every, _, left_out) = walked(&place.0, Options { workers, every_name: true, ..OPTIONS });
        let all: BTreeMap<_, _> = expected.iter().map(|(path, (said, _))| (path.clone(), *said)).collect();
        prop_assert_eq!(&every, &all);
        prop_assert_eq!(left_out, LeftOut::default());

        // Of the names of a file one stands for it; which one depends on who came first.
        let (once, totals, left_out) = walked(&place.0, Options { workers, ..OPTIONS });
        let inodes: BTreeSet<u64> = expected.values().map(|(_, inode)| *inode).collect();
        let met: BTreeSet<u64> = once.keys().map(|path| expected[path].1).collect();
        prop_assert_eq!(&met, &inodes);
        prop_assert_eq!(once.len(), inodes.len());
        prop_assert!(once.iter().all(|(path, said)| all[path] == *said));
        prop_assert_eq!(left_out.further_names, (expected.len() - inodes.len()) as u64);
        let bytes: i64 = once.values().filter(|said| said.0 == Kind::File as i8).map(|said| said.1).sum();
        prop_assert_eq!(totals.size[Kind::File as usize], bytes as u64);
    }
}

#[test]
fn totals_are_the_same_without_rows() {
    let place = Place::new();
    put(&place.0, &[(2, 0, b"a".to_vec(), 0), (0, 1, b"b".to_vec(), 700), (4, 0, b"c".to_vec(), 0)]);
    let totals = |with_rows| {
        let walk = Walk::new(&place.0, Options { with_rows, ..OPTIONS }).unwrap();
        while walk.next(Duration::from_secs(60)).is_ok() {}
        (walk.totals(), walk.progress().folders, walk.progress().pending)
    };
    assert_eq!(totals(false), totals(true));
    assert_eq!((totals(false).0.size[Kind::File as usize], totals(false).1, totals(false).2), (700, 2, 0));
}

#[test]
fn a_folder_of_many_is_shared_and_whole() {
    // More entries than are looked at in one go, and no multiple of them; and more rows than a batch has.
    let place = Place::new();
    let count = 40_001;
    for number in 0..count {
        fs::File::create(place.0.join(format!("{number}"))).unwrap();
    }
    let (found, totals, _) = walked(&place.0, Options { workers: 4, ..OPTIONS });
    assert_eq!(found.len(), count + 1);
    assert_eq!(totals.count[Kind::File as usize], count as u64);
}

#[test]
fn a_path_longer_than_the_system_takes_is_walked() {
    // 30 folders of 200 letters are 6,030 bytes of path, and PATH_MAX is 4,096; the tree is made, as it is found, from folder to folder.
    let place = Place::new();
    let made = std::process::Command::new("sh")
        .args(["-c", "n=$(printf 'd%.0s' $(seq 200)); for i in $(seq 30); do mkdir $n && cd -P $n || exit 1; done; echo 12345 > file"])
        .current_dir(&place.0)
        .status()
        .unwrap();
    assert!(made.success());
    let (found, totals, left_out) = walked(&place.0, OPTIONS);
    assert_eq!((found.len(), totals.size[Kind::File as usize]), (32, 6));
    assert_eq!(left_out, LeftOut::default());
    // The standard library cannot take it away by its path.
    assert!(std::process::Command::new("rm").arg("-r").arg(&place.0).status().unwrap().success());
}

#[test]
fn what_vanishes_while_it_is_walked_does_not_end_it() {
    // Folders and names are gone before they are looked at, whatever the timing: that is no want of rights, and ends nothing.
    let place = Place::new();
    for folder in 0..50 {
        fs::create_dir(place.0.join(format!("{folder}"))).unwrap();
        for file in 0..100 {
            fs::File::create(place.0.join(format!("{folder}/{file}"))).unwrap();
        }
    }
    let path = place.0.clone();
    let remover = std::thread::spawn(move || {
        for folder in (0..50).rev() {
            let _ = fs::remove_dir_all(path.join(format!("{folder}")));
        }
    });
    let (found, totals, left_out) = walked(&place.0, OPTIONS);
    remover.join().unwrap();
    assert_eq!(left_out.unreadable, 0, "{left_out:?}");
    assert!(found.contains_key(&b""[..]) && totals.count[Kind::File as usize] <= 5000);
}

#[test]
fn a_walk_that_is_dropped_ends_its_threads() {
    let place = Place::new();
    for number in 0..2000 {
        fs::create_dir(place.0.join(format!("{number}"))).unwrap();
    }
    let threads = || {
        fs::read_dir("/proc/self/task")
            .unwrap()
            .filter(|task| {
                fs::read_to_string(task.as_ref().unwrap().path().join("comm")).is_ok_and(|it| it.starts_with("walk-9"))
            })
            .count()
    };
    // Only this walk has so many threads that one is called so.
    drop(Walk::new(&place.0, Options { workers: 10, ..OPTIONS }).unwrap());
    for _ in 0..1000 {
        if threads() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("threads go on after their walk");
}

#[test]
fn what_is_no_folder_is_refused() {
    let place = Place::new();
    fs::write(place.0.join("file"), b"x").unwrap();
    assert!(Walk::new(&place.0.join("file"), OPTIONS).is_err());
    assert!(Walk::new(&place.0.join("none"), OPTIONS).is_err());
}
