//! The walk: threads that read folders, and what they find.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, fstatfs, openat, statat};
use rustix::io::Errno;

use crate::entries::{Names, open_folder, read_names};
use crate::layout::{attribute, stripes};
use crate::queue::Queue;
use crate::rows::{Kind, Rows, allocated, joined};

/// Rows that are handed over at once.
const BATCH_ROWS: usize = 1 << 15;
/// A batch also ends here, however few rows it has: their paths may be long.
const BATCH_TEXT_BYTES: usize = 1 << 26;
/// Batches that wait to be taken; threads wait behind them, so that memory stays bounded.
const BATCHES_WAITING: usize = 4;
/// Entries of a large folder that a thread looks at in one go, so that others share it.
const ENTRIES_A_TASK: usize = 4096;
/// Tasks above which a large folder is looked at by its reader alone.
const TASKS_MAX: usize = 256;
/// Lustre's number among file systems (`LL_SUPER_MAGIC`).
const LUSTRE: u64 = 0x0BD0_0BD0;
/// How Lustre's clients call the attribute that describes a layout, and how its metadata targets do.
const LAYOUT: [&str; 2] = ["lustre.lov", "trusted.lov"];
/// Files that are asked for the latter before it is taken that the file system is no metadata target.
const PROBED: u32 = 64;
const EXAMPLES: usize = 5;

/// How a tree is walked.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that read folders.
    pub workers: usize,
    /// Stay out of folders on which another file system is mounted.
    pub one_file_system: bool,
    /// Count a file of several names by each of them; otherwise by the first that is met.
    pub every_name: bool,
    /// Hand over rows; otherwise only totals are kept.
    pub with_rows: bool,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Entries of each [`Kind`], by its number.
    pub count: [u64; 4],
    /// Apparent bytes of the same.
    pub size: [u64; 4],
    /// Bytes that the same occupy.
    pub allocated: [u64; 4],
}

/// What was met and not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Further names of files that have several.
    pub further_names: u64,
    /// Folders on which another file system is mounted.
    pub other_file_systems: u64,
    /// Folders and files that could not be read.
    pub unreadable: u64,
    /// Folders and files that were gone when their turn came.
    pub vanished: u64,
    /// Some of what could not be read: the path below the folder walked, and the system's number of the error.
    pub examples: Vec<(Vec<u8>, i32)>,
}

/// How far a walk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entries that are no folders.
    pub files: u64,
    /// Folders that were read.
    pub folders: u64,
    /// Folders, and parts of large ones, that are known and not yet read.
    pub pending: u64,
    /// Apparent bytes of the files.
    pub bytes: u64,
}

enum Task {
    Folder(Vec<u8>),
    Entries(Arc<Open>, Names),
}

struct Open {
    folder: OwnedFd,
    path: Vec<u8>,
}

struct Shared {
    root: OwnedFd,
    options: Options,
    /// Of the folder that is walked.
    top: Stat,
    is_lustre: bool,
    /// How many more files are asked whether they have a layout, where this is no Lustre.
    probes_left: AtomicU32,
    queue: Queue<Task>,
    counted: Mutex<Counted>,
    /// The names of a file that are still to come, by its device and inode.
    names_left: Mutex<HashMap<(u64, u64), u64>>,
}

#[derive(Default)]
struct Counted {
    totals: Totals,
    left_out: LeftOut,
    folders_read: u64,
}

/// A walk under way. It ends when it is dropped; a thread that waits for a file system that does not answer is not waited for.
pub struct Walk {
    shared: Arc<Shared>,
    batches: Receiver<Rows>,
}

impl Walk {
    /// Begin to walk a folder, which may be a symbolic link itself.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or no thread can be started.
    pub fn new(root: &Path, options: Options) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, root, flags, Mode::empty())?;
        let stat = fstat(&root)?;
        // What a file system calls itself decides only whether its layouts are asked for.
        let is_lustre = fstatfs(&root).is_ok_and(|found| found.f_type as u64 & 0xFFFF_FFFF == LUSTRE);
        let shared = Arc::new(Shared {
            root,
            options,
            top: stat,
            is_lustre,
            probes_left: AtomicU32::new(PROBED),
            queue: Queue::new(Task::Folder(Vec::new())),
            counted: Mutex::default(),
            names_left: Mutex::default(),
        });
        let (sender, batches) = sync_channel(BATCHES_WAITING);
        let mut next = Worker::new(Arc::clone(&shared), sender.clone());
        next.begin(&[]);
        next.count(&[], &[], &stat, None);
        for number in 0..options.workers.max(1) {
            // The first of them has counted the folder that is walked.
            let worker = std::mem::replace(&mut next, Worker::new(Arc::clone(&shared), sender.clone()));
            let named = thread::Builder::new().name(format!("walk-{number}"));
            if let Err(error) = named.spawn(move || worker.run()) {
                shared.queue.stop();
                return Err(error);
            }
        }
        Ok(Walk { shared, batches })
    }

    /// The next batch of rows; `Ok(None)` where none comes within this time, an error once all were taken and the walk has ended.
    ///
    /// # Errors
    ///
    /// The walk has ended.
    pub fn next(&self, within: Duration) -> Result<Option<Rows>, Ended> {
        match self.batches.recv_timeout(within) {
            Ok(rows) => Ok(Some(rows)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Ended),
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let pending = self.shared.queue.pending() as u64;
        let counted = self.shared.counted();
        let count = counted.totals.count;
        Progress {
            files: count.iter().sum::<u64>() - count[Kind::Folder as usize],
            folders: counted.folders_read,
            pending,
            bytes: counted.totals.size[Kind::File as usize],
        }
    }

    /// What was counted up to now.
    pub fn totals(&self) -> Totals {
        self.shared.counted().totals
    }

    /// What was left out up to now; of the examples the first by name.
    pub fn left_out(&self) -> LeftOut {
        let mut found = self.shared.counted().left_out.clone();
        found.examples.sort();
        found
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        self.shared.queue.stop();
    }
}

/// The walk has ended, and all its rows were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

impl Shared {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file of several names was met before, by another name.
    #[allow(clippy::unnecessary_cast, reason = "some systems count names in narrower numbers")]
    fn is_known(&self, stat: &Stat) -> bool {
        let mut names_left = self.names_left.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (stat.st_dev as u64, stat.st_ino);
        let left = names_left.remove(&key);
        let after = left.unwrap_or(stat.st_nlink as u64).saturating_sub(1);
        if after > 0 {
            names_left.insert(key, after);
        }
        left.is_some()
    }
}

/// A thread's part of a walk.
struct Worker {
    shared: Arc<Shared>,
    sender: SyncSender<Rows>,
    rows: Rows,
    /// What it counted since it last said so.
    counted: Counted,
    attribute: Vec<u8>,
}

impl Worker {
    fn new(shared: Arc<Shared>, sender: SyncSender<Rows>) -> Self {
        Worker { shared, sender, rows: Rows::default(), counted: Counted::default(), attribute: Vec::new() }
    }

    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while let Some((task, _busy)) = shared.queue.take() {
            match task {
                Task::Folder(path) => self.read(path),
                Task::Entries(open, names) => self.look_at(&open, &names),
            }
            self.tell();
        }
        // Also where this thread had no task: one of them has counted the folder that is walked.
        self.tell();
        self.hand_over();
    }

    fn read(&mut self, path: Vec<u8>) {
        let folder = match open_folder(self.shared.root.as_fd(), &path) {
            Ok(folder) => folder,
            Err(error) => return self.failed(path, error),
        };
        self.counted.folders_read += 1;
        // Both are one open folder: by the one its entries are read, by the other they are asked about, also after that.
        let both = folder.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let reading = match both {
            Ok(reading) => reading,
            Err(error) => return self.failed(path, error),
        };
        let open = Arc::new(Open { folder, path });
        let read = read_names(reading, ENTRIES_A_TASK, |names| {
            let is_large = names.len() == ENTRIES_A_TASK;
            if is_large && self.shared.queue.pending() < TASKS_MAX {
                self.shared.queue.extend([Task::Entries(Arc::clone(&open), names)]);
            } else {
                self.look_at(&open, &names);
            }
            !self.shared.queue.is_stopped()
        });
        if let Err(error) = read {
            self.failed(open.path.clone(), error);
        }
    }

    fn look_at(&mut self, open: &Open, names: &Names) {
        self.begin(&open.path);
        let mut folders = Vec::new();
        for name in names.iter() {
            match statat(&open.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.look(open, name, &stat, &mut folders),
                Err(error) => self.failed(joined(&open.path, name.to_bytes()), error),
            }
        }
        if !folders.is_empty() {
            self.shared.queue.extend(folders);
        }
    }

    fn look(&mut self, open: &Open, name: &CStr, stat: &Stat, folders: &mut Vec<Task>) {
        let kind = Kind::of(stat);
        if kind == Kind::Folder {
            if self.shared.options.one_file_system && stat.st_dev != self.shared.top.st_dev {
                self.counted.left_out.other_file_systems += 1;
                return;
            }
            folders.push(Task::Folder(joined(&open.path, name.to_bytes())));
        } else if stat.st_nlink > 1 && !self.shared.options.every_name && self.shared.is_known(stat) {
            self.counted.left_out.further_names += 1;
            return;
        }
        let stripes = match kind {
            Kind::File => self.stripes(open, name),
            _ => None,
        };
        self.count(&open.path, name.to_bytes(), stat, stripes);
    }

    /// The objects of a file of Lustre, as a client sees it or as it is mounted on its metadata target.
    fn stripes(&mut self, open: &Open, name: &CStr) -> Option<i32> {
        let probes = &self.shared.probes_left;
        if !self.shared.is_lustre && probes.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let which = LAYOUT[usize::from(!self.shared.is_lustre)];
        let Some(found) = attribute(open.folder.as_fd(), name, which, &mut self.attribute) else {
            // A file that has none, of an ordinary file system: the others are like it.
            let _ = probes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            return None;
        };
        probes.store(u32::MAX, Ordering::Relaxed);
        i32::try_from(stripes(found)?).ok()
    }

    fn begin(&mut self, folder: &[u8]) {
        if self.shared.options.with_rows {
            self.rows.begin_folder(folder);
        }
    }

    fn count(&mut self, folder: &[u8], name: &[u8], stat: &Stat, stripes: Option<i32>) {
        let totals = &mut self.counted.totals;
        let kind = Kind::of(stat) as usize;
        totals.count[kind] += 1;
        totals.size[kind] += stat.st_size as u64;
        totals.allocated[kind] += allocated(stat) as u64;
        if !self.shared.options.with_rows {
            return;
        }
        self.rows.add(folder, name, stat, stripes);
        let text = self.rows.names.text.len() + self.rows.folders.text.len();
        if self.rows.len() >= BATCH_ROWS || text >= BATCH_TEXT_BYTES {
            self.hand_over();
            self.begin(folder);
        }
    }

    fn failed(&mut self, path: Vec<u8>, error: Errno) {
        let left_out = &mut self.counted.left_out;
        if error == Errno::NOENT {
            left_out.vanished += 1;
            return;
        }
        left_out.unreadable += 1;
        if left_out.examples.len() < EXAMPLES {
            left_out.examples.push((path, error.raw_os_error()));
        }
    }

    /// Add what was counted to what all threads have.
    fn tell(&mut self) {
        let mine = std::mem::take(&mut self.counted);
        let mut all = self.shared.counted();
        for kind in 0..mine.totals.count.len() {
            all.totals.count[kind] += mine.totals.count[kind];
            all.totals.size[kind] += mine.totals.size[kind];
            all.totals.allocated[kind] += mine.totals.allocated[kind];
        }
        all.folders_read += mine.folders_read;
        all.left_out.further_names += mine.left_out.further_names;
        all.left_out.other_file_systems += mine.left_out.other_file_systems;
        all.left_out.unreadable += mine.left_out.unreadable;
        all.left_out.vanished += mine.left_out.vanished;
        let room = EXAMPLES.saturating_sub(all.left_out.examples.len());
        all.left_out.examples.extend(mine.left_out.examples.into_iter().take(room));
    }

    fn hand_over(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if !rows.is_empty() && self.sender.send(rows).is_err() {
            self.shared.queue.stop();
        }
    }
}
