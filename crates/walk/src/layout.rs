//! The layout of a Lustre file, from the extended attribute that describes it (`lustre.lov`; on a metadata target `trusted.lov`).
//!
//! Source of the format: `lustre_user.h` of Lustre 2.15 (`lov_user_md_v1`, `lov_comp_md_v1`), whose fields are little-endian.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::lgetxattr;

/// The most bytes of an attribute (`XATTR_SIZE_MAX`).
const ATTRIBUTE_BYTES: usize = 1 << 16;

const V1: u32 = 0x0BD1_0BD0;
const V3: u32 = 0x0BD3_0BD0;
const SPECIFIC: u32 = 0x0BD5_0BD0;
const COMPOSITE: u32 = 0x0BD6_0BD0;

const PATTERN_AT: usize = 4;
const STRIPES_AT: usize = 28;
const ENTRIES_AT: usize = 14;
const HEADER_BYTES: usize = 32;
const ENTRY_BYTES: usize = 48;
const ENTRY_FLAGS_AT: usize = 4;
const ENTRY_OFFSET_AT: usize = 24;

const INITIALISED: u32 = 0x10;
const ON_MDT: u32 = 0x100;
const RELEASED: u32 = 0x8000_0000;

/// An attribute of what is in an open folder; none where it has none of that name, or may not be asked. It is read into the buffer.
pub fn attribute<'a>(folder: BorrowedFd<'_>, name: &CStr, which: &str, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    buffer.resize(ATTRIBUTE_BYTES, 0);
    // By way of the open folder, since nothing asks below a folder for attributes, and opening the file would ask a server twice.
    let mut path = format!("/proc/self/fd/{}/", folder.as_raw_fd()).into_bytes();
    path.extend_from_slice(name.to_bytes());
    let length = lgetxattr(&path[..], which, &mut buffer[..]).ok()?;
    Some(&buffer[..length])
}

/// The objects that a file has on object targets, of all its components that exist; none where the attribute is no layout, or is cut off.
pub fn stripes(attribute: &[u8]) -> Option<u32> {
    match word(attribute, 0)? {
        V1 | V3 | SPECIFIC => of_component(attribute),
        COMPOSITE => {
            let mut all = 0;
            for entry in 0..usize::from(half(attribute, ENTRIES_AT)?) {
                let at = HEADER_BYTES + entry * ENTRY_BYTES;
                // A component that nothing was written to has no objects yet.
                if word(attribute, at + ENTRY_FLAGS_AT)? & INITIALISED != 0 {
                    let offset = word(attribute, at + ENTRY_OFFSET_AT)? as usize;
                    all += of_component(attribute.get(offset..)?)?;
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// The objects of one component: none where its data is on the metadata target, or in an archive alone.
fn of_component(component: &[u8]) -> Option<u32> {
    let pattern = word(component, PATTERN_AT)?;
    let count = half(component, STRIPES_AT)?;
    Some(if pattern & (ON_MDT | RELEASED) != 0 { 0 } else { u32::from(count) })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}
