//! Opening folders and reading their entries.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;

/// Paths are opened in pieces of at most so many bytes: the system takes none of 4,096 or more (`PATH_MAX`).
const PIECE_BYTES: usize = 4000;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Open a folder below another; no part of its last piece's end is followed where it is a symbolic link.
pub fn open_folder(root: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    if path.is_empty() {
        return openat(root, ".", FOLDER, Mode::empty());
    }
    let mut rest = path;
    let mut at: Option<OwnedFd> = None;
    loop {
        let (piece, left) = split(rest);
        let from = at.as_ref().map_or(root, AsFd::as_fd);
        let found = openat(from, piece, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        if left.is_empty() {
            return Ok(found);
        }
        rest = left;
        at = Some(found);
    }
}

/// The first piece of a path, and what is left behind it.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    if path.len() <= PIECE_BYTES {
        return (path, &[]);
    }
    let end = path[..PIECE_BYTES].iter().rposition(|&byte| byte == b'/').unwrap_or(PIECE_BYTES);
    (&path[..end], &path[end + 1..])
}

/// Names of entries, each ended by a zero byte, and where each begins.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

impl Names {
    fn push(&mut self, name: &CStr) {
        self.starts.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Each in turn.
    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        self.starts.iter().filter_map(|&start| CStr::from_bytes_until_nul(&self.bytes[start as usize..]).ok())
    }
}

/// Read a folder, and hand over its names so many at a time; an error that stops it in the middle comes behind those before it.
pub fn read_names(folder: OwnedFd, at_a_time: usize, mut hand_over: impl FnMut(Names) -> bool) -> Result<(), Errno> {
    let mut names = Names::default();
    let mut ended = Ok(());
    for entry in Dir::new(folder)? {
        match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            Ok(entry) => names.push(entry.file_name()),
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
        if names.len() == at_a_time && !hand_over(std::mem::take(&mut names)) {
            return Ok(());
        }
    }
    if names.len() > 0 {
        hand_over(names);
    }
    ended
}
