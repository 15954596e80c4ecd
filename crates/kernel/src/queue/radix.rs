//! The fast queue: a monotone radix queue with a small sorted front.
//!
//! Monotone radix queues are due to Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path
//! problem" (J. ACM 37, 1990). This one has digits of several bits, buckets made of chunks, and a sorted front.
//!
//! **Layout.** A *pivot* time divides the entries. Those due at or before it stand in the *front*, sorted. Every later
//! one stands in the bucket (level, digit), where the level is that of the highest base-64 digit in which its time
//! differs from the pivot, and the digit is its own there. As such a time is above the pivot, so is its digit; hence
//! all of a lower level is due before all of a higher one, and within a level buckets are ordered by digit.
//!
//! **Steps.** While the front lasts, it is popped. Then the first bucket that holds anything is opened:
//! - If it fits into one chunk it is sorted into the front, and the pivot moves to the last time that could be filed in
//!   it. The digits above the bucket's level stay as they were and the ones below find no entries, so all other entries
//!   are where the new pivot wants them.
//! - If not, the pivot moves to its earliest time, and its entries are filed anew: those of just that time into the
//!   front, the others into levels below, which were empty.
//!
//! A time at or before the pivot is pushed into the front by insertion, from behind unless it is due before all.
//! Should the front grow past [`FRONT_MAX`] by it, the pivot is drawn back to the time popped last, and what is due
//! later is filed anew. That happens at most once between two openings (from then on only that very time belongs to
//! the front, at its end), and that time was filed in the bucket opened last, so the levels below were empty once
//! more. Every move to a bucket is to a lower level, so an entry is moved at most [`LEVELS`] times.
//!
//! **Order of equal times.** No sequence number is stored, and none is needed. (1) Where an entry belongs is decided by
//! its time and the pivot alone, so entries of equal time are always together: all in the front, or all in one bucket.
//! (2) A push puts its entry behind those of equal time, since buckets are appended to and insertion into the front
//! passes only later times. (3) A move takes *all* entries of a time from one source, in the order in which they stand
//! there, to a place that held none of that time, and puts them there in that order: appending, or by the same
//! insertion. So entries of equal time stand in the order of their pushes at all times, and are popped in it.
//!
//! **Memory.** Chunks are drawn from one arena and go back to its free list as soon as they are read, last in first
//! out, which also keeps them in cache. Each bucket has at most one chunk partly filled, so the arena never exceeds the
//! largest number of entries queued at once by more than [`CHUNK`] for each bucket in use. The front gives the room of
//! a burst back when it is used up.

use super::{Distance, EventQueue};

/// Bits of a digit; 2^6 digits fit the bits of one word.
const DIGIT_BITS: u32 = 6;
/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Digits of a time.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;
/// Entries in a chunk; a bucket of one chunk is sorted rather than divided further. Of digits of 3 to 6 bits and chunks
/// of 8 to 64 entries, 6 bits and 32 entries or more were the fastest in the hold model; 64 add only memory.
const CHUNK: usize = 32;
/// The length up to which the front takes entries by insertion.
const FRONT_MAX: usize = 64;
/// The size up to which a bucket's entries are announced as those that come next: what 256 events need fits into a cache.
const ANNOUNCED_MAX: usize = 256;
/// The room of the front that is kept once a burst of equal times has passed.
const FRONT_KEPT: usize = 16 * FRONT_MAX;
/// Ends a list of chunks.
const NO_CHUNK: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry<E> {
    time: u64,
    event: E,
}

/// A list of chunks, all full but the last.
#[derive(Clone, Copy)]
struct Bucket {
    /// The first chunk.
    first: u32,
    /// The last chunk.
    last: u32,
    /// Entries in the last chunk.
    fill: u32,
}

/// A bucket that holds nothing: its last chunk counts as full, so that the next push draws one.
const EMPTY: Bucket = Bucket { first: NO_CHUNK, last: NO_CHUNK, fill: CHUNK as u32 };

/// A monotone radix queue; see the head of this file for how it works.
pub struct RadixQueue<E> {
    /// Entries due at or before the pivot, sorted; those before `taken` have been popped.
    front: Vec<Entry<E>>,
    taken: usize,
    pivot: u64,
    /// The time popped last.
    last: u64,
    len: usize,
    /// Bit l is set when level l holds an entry.
    levels: u32,
    /// Bit d of word l is set when bucket (l, d) holds an entry.
    digits: [u64; LEVELS],
    buckets: Box<[[Bucket; DIGITS]; LEVELS]>,
    chunks: Vec<[Entry<E>; CHUNK]>,
    /// The chunk after each chunk, in the free list or in a bucket, where that of the last chunk means nothing.
    next: Vec<u32>,
    free: u32,
}

impl<E: Copy> RadixQueue<E> {
    /// Entries that the memory held has room for.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.front.capacity() + self.chunks.capacity() * CHUNK
    }

    /// Files an entry that is due after the pivot.
    #[inline]
    fn file(&mut self, entry: Entry<E>) {
        let level = ((63 - (entry.time ^ self.pivot).leading_zeros()) / DIGIT_BITS) as usize;
        let digit = (entry.time >> (level as u32 * DIGIT_BITS)) as usize % DIGITS;
        let mut bucket = self.buckets[level][digit];
        if bucket.fill as usize == CHUNK {
            bucket = self.lengthen(bucket, entry);
            self.levels |= 1 << level;
            self.digits[level] |= 1 << digit;
        } else {
            self.chunks[bucket.last as usize][bucket.fill as usize] = entry;
            bucket.fill += 1;
        }
        self.buckets[level][digit] = bucket;
    }

    /// Appends a chunk to `bucket` with `entry` as its first.
    #[inline]
    fn lengthen(&mut self, mut bucket: Bucket, entry: Entry<E>) -> Bucket {
        let mut chunk = self.free;
        if chunk == NO_CHUNK {
            chunk = self.grow(entry);
        } else {
            self.free = self.next[chunk as usize];
            self.chunks[chunk as usize][0] = entry;
        }
        if bucket.last == NO_CHUNK {
            bucket.first = chunk;
        } else {
            self.next[bucket.last as usize] = chunk;
        }
        Bucket { first: bucket.first, last: chunk, fill: 1 }
    }

    /// Adds a chunk to the arena with `entry` as its first.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, entry: Entry<E>) -> u32 {
        let chunk = u32::try_from(self.chunks.len()).expect("2^32 chunks of events exceed any memory");
        // The rest of a chunk is never read before it is written; copies of the entry serve as its first content.
        self.chunks.push([entry; CHUNK]);
        self.next.push(NO_CHUNK);
        chunk
    }

    /// Puts an entry into the front behind all that are due no later.
    #[inline]
    fn insert(&mut self, entry: Entry<E>) {
        // What follows soonest is often due before all else: then it takes the place of what was popped.
        if self.taken > 0 && self.front.get(self.taken).is_some_and(|next| entry.time < next.time) {
            self.taken -= 1;
            self.front[self.taken] = entry;
            return;
        }
        let mut at = self.front.len();
        self.front.push(entry);
        while at > self.taken && self.front[at - 1].time > entry.time {
            self.front[at] = self.front[at - 1];
            at -= 1;
        }
        self.front[at] = entry;
    }

    /// Pushes an entry due at or before the pivot.
    #[inline]
    fn push_front(&mut self, entry: Entry<E>) {
        if self.front.len() >= FRONT_MAX {
            self.relieve();
            if entry.time > self.pivot {
                return self.file(entry);
            }
        }
        self.insert(entry);
    }

    /// Makes room in a long front: forgets what was popped, and draws the pivot back if that is not enough.
    #[cold]
    #[inline(never)]
    fn relieve(&mut self) {
        // Dropping the popped part only when it is at least half keeps the cost of each push constant.
        if self.taken * 2 >= self.front.len() {
            self.front.drain(..self.taken);
            self.taken = 0;
        }
        if self.front.len() - self.taken < FRONT_MAX || self.pivot == self.last {
            return;
        }
        self.pivot = self.last;
        let present = self.front[self.taken..].partition_point(|entry| entry.time <= self.last);
        for index in self.taken + present..self.front.len() {
            self.file(self.front[index]);
        }
        self.front.truncate(self.taken + present);
    }

    /// Opens the first bucket, with the front used up, if it holds an entry due at or before `until`.
    ///
    /// What is opened is popped from at once. Hence the time popped last is never before the times that the pivot was
    /// moved for, and the pivot may be drawn back to it.
    fn open(&mut self, until: u64, announce: impl FnMut(E, Distance)) -> Option<()> {
        self.front.clear();
        self.taken = 0;
        if self.front.capacity() > FRONT_KEPT {
            self.front.shrink_to(FRONT_KEPT);
        }
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let digit = self.digits[level].trailing_zeros() as usize;
        let bucket = self.buckets[level][digit];
        if bucket.first == bucket.last {
            self.open_small(level, digit, bucket, until, announce)
        } else {
            self.open_large(level, digit, bucket, until, announce)
        }
    }

    /// Sorts a bucket of one chunk into the front.
    #[inline]
    fn open_small(
        &mut self,
        level: usize,
        digit: usize,
        bucket: Bucket,
        until: u64,
        mut announce: impl FnMut(E, Distance),
    ) -> Option<()> {
        let fill = bucket.fill as usize;
        let chunk = bucket.first as usize;
        if until < u64::MAX && self.chunks[chunk][..fill].iter().all(|entry| entry.time > until) {
            return None;
        }
        self.forget(level, digit);
        self.pivot = self.chunks[chunk][0].time | ((1 << (level as u32 * DIGIT_BITS)) - 1);
        for index in 0..fill {
            let entry = self.chunks[chunk][index];
            announce(entry.event, Distance::Near);
            self.insert(entry);
        }
        self.release(chunk);
        Some(())
    }

    /// Divides a bucket of several chunks over the front and the levels below.
    fn open_large(
        &mut self,
        level: usize,
        digit: usize,
        bucket: Bucket,
        until: u64,
        mut announce: impl FnMut(E, Distance),
    ) -> Option<()> {
        let mut earliest = u64::MAX;
        let mut chunk = bucket.first;
        let mut full_chunks = 0;
        while chunk != bucket.last {
            full_chunks += 1;
            earliest = self.chunks[chunk as usize].iter().fold(earliest, |least, entry| least.min(entry.time));
            chunk = self.next[chunk as usize];
        }
        let rest = &self.chunks[chunk as usize][..bucket.fill as usize];
        earliest = rest.iter().fold(earliest, |least, entry| least.min(entry.time));
        if earliest > until {
            return None;
        }
        self.forget(level, digit);
        self.pivot = earliest;
        let mut chunk = bucket.first;
        loop {
            let fill = if chunk == bucket.last { bucket.fill as usize } else { CHUNK };
            for index in 0..fill {
                let entry = self.chunks[chunk as usize][index];
                if full_chunks * CHUNK < ANNOUNCED_MAX {
                    announce(entry.event, Distance::Far);
                }
                if entry.time == earliest {
                    self.front.push(entry);
                } else {
                    self.file(entry);
                }
            }
            let after = self.next[chunk as usize];
            self.release(chunk as usize);
            if chunk == bucket.last {
                return Some(());
            }
            chunk = after;
        }
    }

    /// Marks a bucket as empty; its chunks are the caller's.
    #[inline]
    fn forget(&mut self, level: usize, digit: usize) {
        self.buckets[level][digit] = EMPTY;
        self.digits[level] &= !(1 << digit);
        if self.digits[level] == 0 {
            self.levels &= !(1 << level);
        }
    }

    /// Gives a chunk back to the arena.
    #[inline]
    fn release(&mut self, chunk: usize) {
        self.next[chunk] = self.free;
        self.free = chunk as u32;
    }
}

impl<E: Copy> EventQueue<E> for RadixQueue<E> {
    fn with_capacity(pending: usize) -> Self {
        let chunks = pending.div_ceil(CHUNK);
        RadixQueue {
            front: Vec::with_capacity(FRONT_MAX),
            taken: 0,
            pivot: 0,
            last: 0,
            len: 0,
            levels: 0,
            digits: [0; LEVELS],
            buckets: Box::new([[EMPTY; DIGITS]; LEVELS]),
            chunks: Vec::with_capacity(chunks),
            next: Vec::with_capacity(chunks),
            free: NO_CHUNK,
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn earliest(&self) -> Option<u64> {
        if self.taken < self.front.len() {
            return Some(self.front[self.taken].time);
        }
        if self.levels == 0 {
            return None;
        }
        // The first bucket holds the earliest entry, at any place in it.
        let level = self.levels.trailing_zeros() as usize;
        let bucket = self.buckets[level][self.digits[level].trailing_zeros() as usize];
        let (mut chunk, mut earliest) = (bucket.first, u64::MAX);
        loop {
            let fill = if chunk == bucket.last { bucket.fill as usize } else { CHUNK };
            let entries = &self.chunks[chunk as usize][..fill];
            earliest = entries.iter().fold(earliest, |least, entry| least.min(entry.time));
            if chunk == bucket.last {
                return Some(earliest);
            }
            chunk = self.next[chunk as usize];
        }
    }

    #[inline]
    fn push(&mut self, time: u64, event: E) {
        debug_assert!(time >= self.last, "{time} is before the time popped last, {}", self.last);
        self.len += 1;
        let entry = Entry { time, event };
        if time > self.pivot {
            self.file(entry);
        } else {
            self.push_front(entry);
        }
    }

    #[inline]
    fn pop(&mut self, until: u64) -> Option<(u64, E)> {
        self.pop_announcing(until, |_, _| ())
    }

    #[inline]
    fn pop_announcing(&mut self, until: u64, announce: impl FnMut(E, Distance)) -> Option<(u64, E)> {
        if self.taken == self.front.len() {
            self.open(until, announce)?;
        }
        let entry = self.front[self.taken];
        if entry.time > until {
            return None;
        }
        self.taken += 1;
        self.len -= 1;
        self.last = entry.time;
        Some((entry.time, entry.event))
    }
}
