//! Layouts as Lustre's header describes them, built field by field.

use std::os::fd::AsFd;

use proptest::prelude::*;
use resilver_walk::{attribute, stripes};
use rustix::fs::{XattrFlags, setxattr};

const V1: u32 = 0x0BD1_0BD0;
const V3: u32 = 0x0BD3_0BD0;
const INITIALISED: u32 = 0x10;

/// A plain layout: magic, pattern, object's identity (16 bytes), stripe size, stripe count, and the first target's number.
fn plain(magic: u32, pattern: u32, count: u16) -> Vec<u8> {
    let mut bytes = magic.to_le_bytes().to_vec();
    bytes.extend(pattern.to_le_bytes());
    bytes.extend([7; 16]);
    bytes.extend(1_048_576_u32.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend(vec![9; 24 * usize::from(count)]);
    bytes
}

/// A composite layout of components, each with its flags: a head of 32 bytes, 48 bytes an entry, then the components.
fn composite(components: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = 0x0BD6_0BD0_u32.to_le_bytes().to_vec();
    bytes.extend([0; 10]);
    bytes.extend((components.len() as u16).to_le_bytes());
    bytes.resize(32, 0);
    let mut offset = 32 + 48 * components.len();
    for (flags, component) in components {
        let mut entry = 1_u32.to_le_bytes().to_vec();
        entry.extend(flags.to_le_bytes());
        entry.resize(24, 0);
        entry.extend((offset as u32).to_le_bytes());
        entry.resize(48, 0);
        bytes.extend(entry);
        offset += component.len();
    }
    components.iter().for_each(|(_, component)| bytes.extend(component));
    bytes
}

#[test]
fn a_plain_layout_has_its_stripes() {
    assert_eq!(stripes(&plain(V1, 1, 4)), Some(4));
    assert_eq!(stripes(&plain(V3, 1, 1008)), Some(1008));
}

#[test]
fn a_composite_layout_has_the_stripes_of_its_components_that_exist() {
    // Data on the metadata target has no object there; the third component was not written to yet.
    let parts = [
        (INITIALISED, plain(V1, 0x100, 1)),
        (INITIALISED, plain(V3, 1, 2)),
        (0, plain(V3, 1, 16)),
        (INITIALISED, plain(V3, 1, 4)),
    ];
    assert_eq!(stripes(&composite(&parts)), Some(6));
}

#[test]
fn a_file_in_an_archive_alone_has_no_objects() {
    assert_eq!(stripes(&plain(V1, 0x8000_0001, 4)), Some(0));
}

#[test]
fn another_attribute_is_no_layout() {
    assert_eq!(stripes(b"system_u:object_r:user_home_t"), None);
    assert_eq!(stripes(&[]), None);
}

#[test]
fn an_attribute_is_asked_for_below_an_open_folder() {
    // Attributes of users stand in for Lustre's, which only Lustre and root may set.
    let path = std::env::temp_dir().join(format!("resilver-layout-{}", std::process::id()));
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("file"), b"x").unwrap();
    let layout = plain(V3, 1, 6);
    let is_set = setxattr(path.join("file"), "user.lov", &layout, XattrFlags::empty()).is_ok();
    let folder = std::fs::File::open(&path).unwrap();
    let mut buffer = Vec::new();
    let found = attribute(folder.as_fd(), c"file", "user.lov", &mut buffer).and_then(stripes);
    let none = attribute(folder.as_fd(), c"none", "user.lov", &mut Vec::new()).is_none();
    std::fs::remove_dir_all(&path).unwrap();
    assert!(none);
    // Some file systems have no attributes of users: then there is none to be found.
    assert_eq!(found, is_set.then_some(6));
}

proptest! {
    /// Whatever the bytes are, and wherever they are cut off, nothing breaks.
    #[test]
    fn any_bytes_are_read_or_not(cut in 0_usize..600, at in 0_usize..400, byte: u8) {
        let mut bytes = composite(&[(INITIALISED, plain(V3, 1, 2)), (INITIALISED, plain(V1, 1, 3))]);
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(cut);
        let _ = stripes(&bytes);
    }
}
