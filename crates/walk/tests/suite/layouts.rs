//! Layouts as Lustre's header describes them, built field by field.

use proptest::prelude::*;
use resilver_walk::{Layout, layout};

const V1: u32 = 0x0BD1_0BD0;
const V3: u32 = 0x0BD3_0BD0;
const INITIALISED: u32 = 0x10;

/// A plain layout: magic, pattern, object's identity (16 bytes), stripe size, stripe count, and the first target's number.
fn plain(magic: u32, pattern: u32, stripes: u16) -> Vec<u8> {
    let mut bytes = magic.to_le_bytes().to_vec();
    bytes.extend(pattern.to_le_bytes());
    bytes.extend([7; 16]);
    bytes.extend(1_048_576_u32.to_le_bytes());
    bytes.extend(stripes.to_le_bytes());
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend(vec![9; 24 * usize::from(stripes)]);
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
    assert_eq!(layout(&plain(V1, 1, 4)), Some(Layout { stripes: 4 }));
    assert_eq!(layout(&plain(V3, 1, 1008)), Some(Layout { stripes: 1008 }));
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
    assert_eq!(layout(&composite(&parts)), Some(Layout { stripes: 6 }));
}

#[test]
fn a_file_in_an_archive_alone_has_no_objects() {
    assert_eq!(layout(&plain(V1, 0x8000_0001, 4)), Some(Layout { stripes: 0 }));
}

#[test]
fn another_attribute_is_no_layout() {
    assert_eq!(layout(b"system_u:object_r:user_home_t"), None);
    assert_eq!(layout(&[]), None);
}

proptest! {
    /// Whatever the bytes are, and wherever they are cut off, nothing breaks.
    #[test]
    fn any_bytes_are_read_or_not(cut in 0_usize..600, at in 0_usize..400, byte: u8) {
        let mut bytes = composite(&[(INITIALISED, plain(V3, 1, 2)), (INITIALISED, plain(V1, 1, 3))]);
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(cut);
        let _ = layout(&bytes);
    }
}
