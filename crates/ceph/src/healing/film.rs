//! A film: what each OSD has read and written for healing, and what its groups wait for, at some moments.
//!
//! A frame reads and changes nothing, so that a run is the same with a film and without. When healing ends is not known before: frames
//! are taken at an interval, and once there are too many the interval doubles, and frames go where two steps fit into one.

use resilver_units::{SimDuration, SimTime};

use super::Healing;
use super::job::{Cause, Owner};

/// Between two frames at first.
const FIRST_INTERVAL: SimDuration = SimDuration::from_picoseconds(500_000_000_000);
/// In place of an OSD's number.
const NOBODY: u32 = u32::MAX;

/// An OSD in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Bytes read of it and written to it for healing, since the start.
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// Groups whose primary it is that wait for a reservation or for space.
    pub(crate) waiting: u32,
    waits_for: u32,
}

impl Cell {
    const NONE: Cell = Cell { read: 0, written: 0, waiting: 0, waits_for: NOBODY };

    /// The OSD that most of its waiting groups wait for, the lowest of several.
    pub(crate) fn waits_for(&self) -> Option<u32> {
        (self.waits_for != NOBODY).then_some(self.waits_for)
    }
}

/// All OSDs at a moment.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) at: SimTime,
    /// By number.
    pub(crate) cells: Vec<Cell>,
    /// Whether no group moves or waits.
    is_quiet: bool,
}

impl Frame {
    fn has_same_bytes(&self, other: &Frame) -> bool {
        let bytes = |frame: &Frame| frame.cells.iter().map(|cell| cell.read + cell.written).sum::<u64>();
        bytes(self) == bytes(other)
    }
}

/// The frames so far.
#[derive(Debug)]
pub(crate) struct Film {
    most: usize,
    interval: SimDuration,
    pub(crate) frames: Vec<Frame>,
}

impl Film {
    /// A film of at most so many frames; none where that is 0.
    pub(super) fn of(most: u32) -> Option<Self> {
        (most > 0).then(|| Film { most: most as usize, interval: FIRST_INTERVAL, frames: Vec::new() })
    }

    /// Adds a frame; one of the same time as the last replaces it, and of a time in which nothing happens two are kept.
    fn add(&mut self, mut frame: Frame) {
        if let Some(last) = self.frames.last() {
            // Planes round what is under way down, each time anew.
            for (cell, before) in frame.cells.iter_mut().zip(&last.cells) {
                (cell.read, cell.written) = (cell.read.max(before.read), cell.written.max(before.written));
            }
            let is_still = matches!(&self.frames[..], [.., before, last]
                if [before, last, &frame].iter().all(|one| one.is_quiet) && before.has_same_bytes(&frame));
            if last.at == frame.at || is_still {
                self.frames.pop();
            }
        }
        self.frames.push(frame);
        while self.frames.len() > self.most {
            self.interval = self.interval + self.interval;
            self.thin();
        }
    }

    /// Drops every frame between whose neighbours there is no more than the interval.
    fn thin(&mut self) {
        let times: Vec<SimTime> = self.frames.iter().map(|frame| frame.at).collect();
        let (mut at, mut kept) = (0, times[0]);
        let interval = self.interval;
        self.frames.retain(|frame| {
            at += 1;
            let goes = at > 1 && times.get(at).is_some_and(|next| next.since(kept) <= interval);
            if !goes {
                kept = frame.at;
            }
            !goes
        });
    }
}

impl Healing {
    /// Takes the frames that are due up to a time before which nothing happens but what moves now.
    pub(super) fn film_until(&mut self, next: SimTime) {
        let Some(film) = &self.film else { return };
        let is_quiet = self.is_quiet();
        // What has just come to rest would else seem to go on until something happens.
        let ends = film.frames.last().is_none_or(|last| is_quiet && !last.is_quiet);
        if ends {
            self.take_frame(self.now);
        }
        while let Some(film) = &self.film {
            let due = film.frames.last().map_or(self.now, |last| last.at + film.interval);
            if due > next {
                return;
            }
            self.take_frame(if is_quiet { next } else { due });
        }
    }

    /// Adds a frame of a time until which all goes on as it does now.
    pub(super) fn take_frame(&mut self, at: SimTime) {
        if self.film.is_none() {
            return;
        }
        let frame = Frame { at, cells: self.cells(at), is_quiet: self.is_quiet() };
        if let Some(film) = &mut self.film {
            film.add(frame);
        }
    }

    /// Whether no group moves or waits for something.
    fn is_quiet(&self) -> bool {
        let totals = &self.counts.totals;
        // A flag may hold groups that have their reservations.
        let moves = totals.backfilling + totals.recovering > 0 && self.under_way > 0;
        !moves && totals.waiting + totals.toofull == 0
    }

    fn cells(&self, at: SimTime) -> Vec<Cell> {
        let mut cells = vec![Cell::NONE; self.works_on.len()];
        for (osd, space) in self.fill.iter() {
            let cell = &mut cells[osd as usize];
            (cell.read, cell.written) = (space.sent, space.received);
        }
        for (id, running) in self.works.iter().enumerate() {
            let Some(running) = running.as_ref().filter(|one| !one.is_over && matches!(one.owner, Owner::Group(_)))
            else {
                continue;
            };
            let done = self.plane.done_at(id as u32, at).objects.min(running.objects);
            let bytes = done.saturating_sub(running.seen) * running.piece_bytes;
            running.targets.iter().for_each(|&(osd, _)| cells[osd as usize].written += bytes);
            running.read.iter().for_each(|&osd| cells[osd as usize].read += bytes);
        }
        self.count_waiting(&mut cells);
        cells
    }

    /// Counts who waits for whom.
    fn count_waiting(&self, cells: &mut [Cell]) {
        if self.counts.totals.waiting + self.counts.totals.toofull == 0 {
            return;
        }
        // (primary, the OSD that a group of it waits for)
        let mut waits: Vec<(u32, u32)> = Vec::new();
        for (group, job) in self.groups.iter().zip(&self.jobs) {
            let whom = match job.waits {
                Some((Cause::Local(osd) | Cause::Remote(osd) | Cause::Space(osd), _)) => osd,
                Some((Cause::Retry, _)) => NOBODY,
                Some((Cause::Paused, _)) | None => continue,
            };
            if let Some(cell) = u32::try_from(group.primary).ok().and_then(|osd| cells.get_mut(osd as usize)) {
                cell.waiting += 1;
                waits.push((group.primary as u32, whom));
            }
        }
        waits.sort_unstable();
        let mut most = vec![0; cells.len()];
        for run in waits.chunk_by(|one, other| one == other) {
            let (primary, whom) = (run[0].0 as usize, run[0].1);
            if whom != NOBODY && run.len() > most[primary] {
                (most[primary], cells[primary].waits_for) = (run.len(), whom);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> SimTime {
        SimTime::try_from(seconds).unwrap()
    }

    /// A frame of one OSD that has written so many bytes.
    fn frame(at: f64, written: u64, is_quiet: bool) -> Frame {
        Frame { at: seconds(at), cells: vec![Cell { written, ..Cell::NONE }], is_quiet }
    }

    fn times(film: &Film) -> Vec<f64> {
        film.frames.iter().map(|frame| frame.at.seconds()).collect()
    }

    // By hand: the fifth frame is one too many of four, so that steps become 1 s: 0, 1, 2. The next two make it five again: 2 s.
    #[test]
    fn a_full_film_doubles_its_steps() {
        let mut film = Film::of(4).unwrap();
        for at in 0..5 {
            film.add(frame(f64::from(at) * 0.5, at as u64, false));
        }
        assert_eq!((times(&film), film.interval.seconds()), (vec![0.0, 1.0, 2.0], 1.0));
        film.add(frame(3.0, 9, false));
        film.add(frame(4.0, 12, false));
        assert_eq!((times(&film), film.interval.seconds()), (vec![0.0, 2.0, 4.0], 2.0));
    }

    // Rule: an hour of silence takes two frames, its begin and its end, and thinning keeps both.
    #[test]
    fn silence_takes_two_frames() {
        let mut film = Film::of(4).unwrap();
        film.add(frame(0.0, 0, false));
        film.add(frame(0.5, 7, true));
        for minute in 1..=60 {
            film.add(frame(f64::from(minute) * 60.0, 7, true));
        }
        assert_eq!(times(&film), [0.0, 0.5, 3600.0]);
        film.add(frame(3600.5, 8, false));
        film.add(frame(3601.0, 9, false));
        assert_eq!(times(&film), [0.0, 0.5, 3600.0, 3601.0]);
    }

    // Rule: bytes never go back, and the later frame of one time counts.
    #[test]
    fn a_frame_has_no_fewer_bytes_than_the_one_before() {
        let mut film = Film::of(4).unwrap();
        film.add(frame(0.0, 5, false));
        film.add(frame(0.5, 4, false));
        film.add(frame(0.5, 6, true));
        assert_eq!(times(&film), [0.0, 0.5]);
        assert_eq!(film.frames[1].cells[0].written, 6);
        film.add(frame(1.0, 3, true));
        assert_eq!(film.frames[2].cells[0].written, 6);
    }
}
