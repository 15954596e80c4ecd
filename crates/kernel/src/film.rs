//! A film: what each unit has read and written at some moments of a run.
//!
//! A frame reads and changes nothing, so that a run is the same with a film and without. When a run ends is not known before: frames
//! are taken at an interval, and once there are too many the interval doubles, and frames go where two steps fit into one.

use resilver_units::{SimDuration, SimTime};

/// A unit in a frame; `N` is what else a film tells of units, and its default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell<N> {
    /// Bytes read of it since the start.
    pub read: u64,
    /// Bytes written to it since the start.
    pub written: u64,
    /// What else there is to tell.
    pub note: N,
}

/// All units at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<N> {
    /// The moment.
    pub at: SimTime,
    /// By number.
    pub cells: Vec<Cell<N>>,
    /// Whether nothing goes on.
    pub is_quiet: bool,
}

impl<N> Frame<N> {
    fn has_same_bytes(&self, other: &Frame<N>) -> bool {
        let bytes = |frame: &Frame<N>| frame.cells.iter().map(|cell| cell.read + cell.written).sum::<u64>();
        bytes(self) == bytes(other)
    }
}

/// A unit between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<N> {
    /// The time of the frame, in seconds.
    pub seconds: f64,
    /// That of the frame before.
    pub since: f64,
    /// The unit's number.
    pub unit: u64,
    /// Bytes a second that were read of it between them.
    pub read: f64,
    /// Bytes a second that were written to it.
    pub written: f64,
    /// What else the frame tells of it.
    pub note: N,
}

/// The frames so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Film<N> {
    most: usize,
    interval: SimDuration,
    frames: Vec<Frame<N>>,
}

impl<N: Copy + Default + PartialEq> Film<N> {
    /// A film of at most so many frames, at first so far from each other; none where it is to have none.
    #[must_use]
    pub fn of(most: u32, interval: SimDuration) -> Option<Self> {
        // The first and the last always stay.
        (most > 0).then(|| Film { most: most.max(2) as usize, interval, frames: Vec::new() })
    }

    /// The last frame.
    #[must_use]
    pub fn last(&self) -> Option<&Frame<N>> {
        self.frames.last()
    }

    /// When the next frame is due; `None` before the first.
    #[must_use]
    pub fn due(&self) -> Option<SimTime> {
        self.frames.last().map(|last| last.at + self.interval)
    }

    /// How far frames are from each other now.
    #[must_use]
    pub fn interval(&self) -> SimDuration {
        self.interval
    }

    /// Adds a frame; one of the same time as the last replaces it, and of a time in which nothing happens two are kept.
    pub fn add(&mut self, mut frame: Frame<N>) {
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

    /// A row a frame and a unit that reads, writes or has a note, or did in the frame before: what has ended is told once.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<N>> {
        let (mut rows, mut told) = (Vec::new(), Vec::new());
        for (at, frame) in self.frames.iter().enumerate() {
            let before = at.checked_sub(1).map_or(frame, |before| &self.frames[before]);
            let (seconds, since) = (frame.at.seconds(), before.at.seconds());
            told.resize(frame.cells.len(), false);
            for (unit, cell) in frame.cells.iter().enumerate() {
                let was = before.cells.get(unit).map_or((0, 0), |cell| (cell.read, cell.written));
                let bytes = (cell.read - was.0, cell.written - was.1);
                let tells = bytes != (0, 0) || cell.note != N::default();
                if tells || told[unit] {
                    let rate = |bytes: u64| if bytes > 0 { bytes as f64 / (seconds - since) } else { 0.0 };
                    let (read, written) = (rate(bytes.0), rate(bytes.1));
                    rows.push(Row { seconds, since, unit: unit as u64, read, written, note: cell.note });
                }
                told[unit] = tells;
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: SimDuration = SimDuration::from_picoseconds(500_000_000_000);

    fn seconds(seconds: f64) -> SimTime {
        SimTime::try_from(seconds).unwrap()
    }

    fn film() -> Film<()> {
        Film::of(4, HALF).unwrap()
    }

    /// A frame of one unit that has written so many bytes.
    fn frame(at: f64, written: u64, is_quiet: bool) -> Frame<()> {
        Frame { at: seconds(at), cells: vec![Cell { written, ..Cell::default() }], is_quiet }
    }

    fn times(film: &Film<()>) -> Vec<f64> {
        film.frames.iter().map(|frame| frame.at.seconds()).collect()
    }

    // By hand: the fifth frame is one too many of four, so that steps become 1 s: 0, 1, 2. The next two make it five again: 2 s.
    #[test]
    fn a_full_film_doubles_its_steps() {
        let mut film = film();
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
        let mut film = film();
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
        let mut film = film();
        film.add(frame(0.0, 5, false));
        film.add(frame(0.5, 4, false));
        film.add(frame(0.5, 6, true));
        assert_eq!(times(&film), [0.0, 0.5]);
        assert_eq!(film.frames[1].cells[0].written, 6);
        film.add(frame(1.0, 3, true));
        assert_eq!(film.frames[2].cells[0].written, 6);
    }

    // By hand: 6 bytes in half a second, then none, which is told once.
    #[test]
    fn rows_are_rates_between_frames() {
        let mut film = film();
        for (at, written) in [(0.0, 0), (0.5, 6), (1.0, 6), (1.5, 6)] {
            film.add(frame(at, written, false));
        }
        let told: Vec<(f64, f64, f64)> = film.rows().iter().map(|row| (row.since, row.seconds, row.written)).collect();
        assert_eq!(told, [(0.0, 0.5, 12.0), (0.5, 1.0, 0.0)]);
    }
}
