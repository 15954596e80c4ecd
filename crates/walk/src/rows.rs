//! What a walk finds, as columns.

use std::fmt::Write;

use rustix::fs::{FileType, Stat};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which is not followed.
    Link,
    /// A socket, a pipe or a device.
    Special,
}

impl Kind {
    /// The words of all kinds, by their numbers.
    pub const WORDS: [&'static str; 4] = ["file", "folder", "link", "special"];

    pub(crate) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        }
    }
}

/// Texts one behind another, and where each ends.
#[derive(Clone, Debug)]
pub struct Texts {
    /// All of them, in UTF-8.
    pub text: String,
    /// Where each begins, and where the last ends: one more than there are texts.
    pub edges: Vec<i32>,
}

impl Default for Texts {
    fn default() -> Self {
        Texts { text: String::new(), edges: vec![0] }
    }
}

impl Texts {
    fn end(&mut self) {
        self.edges.push(self.text.len() as i32);
    }

    /// The text of this number.
    pub fn get(&self, at: usize) -> &str {
        &self.text[self.edges[at] as usize..self.edges[at + 1] as usize]
    }
}

/// Rows of a batch, column by column.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The folders that the rows are in, below the one walked: empty is that one itself.
    pub folders: Texts,
    /// The number of each row's folder among these.
    pub folder: Vec<i32>,
    /// Each row's name in its folder; empty for the folder that is walked. Bytes that are no UTF-8 stand as `\xff`.
    pub names: Texts,
    /// The whole path of the rows whose text does not say it, as bytes, behind the number of the row.
    pub raw: Vec<(usize, Vec<u8>)>,
    /// What each is, as the number of a [`Kind`].
    pub kind: Vec<i8>,
    /// Apparent sizes in bytes.
    pub size: Vec<i64>,
    /// Bytes that are occupied.
    pub allocated: Vec<i64>,
    /// When each was last read, in microseconds since 1970.
    pub accessed: Vec<i64>,
    /// When each was last written.
    pub modified: Vec<i64>,
    /// When each inode last changed.
    pub changed: Vec<i64>,
    /// The owners' numbers.
    pub owner: Vec<i64>,
    /// How many names each has.
    pub links: Vec<i64>,
    /// Objects on Lustre's object targets; none where that is not known.
    pub stripes: Vec<Option<i32>>,
    is_folder_raw: bool,
}

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Name the folder that the rows to come are in.
    pub(crate) fn begin_folder(&mut self, path: &[u8]) {
        self.is_folder_raw = push(&mut self.folders.text, path);
        self.folders.end();
    }

    /// Add a row, of what is in the folder named last.
    #[allow(clippy::unnecessary_cast, reason = "some systems have narrower numbers")]
    pub(crate) fn add(&mut self, folder: &[u8], name: &[u8], stat: &Stat, stripes: Option<i32>) {
        if push(&mut self.names.text, name) || self.is_folder_raw {
            self.raw.push((self.len(), joined(folder, name)));
        }
        self.names.end();
        self.folder.push(self.folders.edges.len() as i32 - 2);
        self.kind.push(Kind::of(stat) as i8);
        self.size.push(stat.st_size);
        self.allocated.push(allocated(stat));
        self.accessed.push(micros(stat.st_atime as i64, stat.st_atime_nsec as i64));
        self.modified.push(micros(stat.st_mtime as i64, stat.st_mtime_nsec as i64));
        self.changed.push(micros(stat.st_ctime as i64, stat.st_ctime_nsec as i64));
        self.owner.push(i64::from(stat.st_uid));
        self.links.push(stat.st_nlink as i64);
        self.stripes.push(stripes);
    }
}

/// Occupied bytes: blocks are of 512 bytes whatever the file system's own are (POSIX, `sys/stat.h`).
pub(crate) fn allocated(stat: &Stat) -> i64 {
    stat.st_blocks.saturating_mul(512)
}

/// A path of a folder's path and a name.
pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

fn micros(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000).saturating_add(nanos / 1000)
}

/// Append bytes as text; whether some are no UTF-8.
fn push(text: &mut String, mut bytes: &[u8]) -> bool {
    let mut is_raw = false;
    loop {
        match std::str::from_utf8(bytes) {
            Ok(rest) => {
                text.push_str(rest);
                return is_raw;
            }
            Err(error) => {
                is_raw = true;
                let (good, bad) = bytes.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(good).unwrap_or_default());
                let count = error.error_len().unwrap_or(bad.len());
                for byte in &bad[..count] {
                    // Writing to a String does not fail.
                    let _ = write!(text, "\\x{byte:02x}");
                }
                bytes = &bad[count..];
            }
        }
    }
}
