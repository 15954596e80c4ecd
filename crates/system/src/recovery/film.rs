//! The film of a rebuild: what each device has read and written for recovery, at some moments.

use resilver_kernel::film::{Cell, Film as Frames, Frame};
use resilver_units::{Bytes, SimDuration, SimTime};

/// Between two frames at first: a millisecond.
const FIRST_INTERVAL: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

/// The frames so far, and what devices have read and written until now.
#[derive(Clone, Debug)]
pub(super) struct Film {
    frames: Frames<()>,
    cells: Vec<Cell<()>>,
    /// Whether anything was read or written since the last frame.
    moved: bool,
}

impl Film {
    /// A film of so many devices of at most so many frames; none where that is 0.
    pub fn of(most: u32, devices: usize) -> Option<Self> {
        let frames = Frames::of(most, FIRST_INTERVAL)?;
        Some(Film { frames, cells: vec![Cell::default(); devices], moved: false })
    }

    /// A device has read so much.
    pub fn read(&mut self, device: u32, bytes: Bytes, now: SimTime) {
        self.go_to(now);
        self.cells[device as usize].read += bytes.get();
        self.moved = true;
    }

    /// A device has written so much.
    pub fn written(&mut self, device: u32, bytes: Bytes, now: SimTime) {
        self.go_to(now);
        self.cells[device as usize].written += bytes.get();
        self.moved = true;
    }

    /// The film, up to the end of the run.
    pub fn finish(mut self, ended_at: SimTime) -> Frames<()> {
        self.go_to(ended_at);
        if self.moved {
            self.take(ended_at);
        }
        self.frames
    }

    /// Goes on to a time before which nothing happened since the last.
    fn go_to(&mut self, now: SimTime) {
        let Some(due) = self.frames.due() else { return self.take(now) };
        if now < due {
            return;
        }
        self.take(due);
        // However long the silence since was, it is one step, which ends where what is told of now may have begun.
        let begin = now.picoseconds().saturating_sub(self.frames.interval().picoseconds());
        if begin > due.picoseconds() {
            self.take(SimTime::from_picoseconds(begin));
        }
    }

    fn take(&mut self, at: SimTime) {
        self.frames.add(Frame { at, cells: self.cells.clone(), is_quiet: !self.moved });
        self.moved = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> SimTime {
        SimTime::try_from(seconds).unwrap()
    }

    /// Bytes that the rows of a film say were read and written.
    fn sums(film: &Frames<()>) -> (f64, f64) {
        let of = |rate: fn(f64, f64) -> f64| {
            film.rows().iter().map(|row| rate(row.read, row.written) * (row.seconds - row.since)).sum::<f64>()
        };
        (of(|read, _| read), of(|_, written| written))
    }

    // Rule: whatever is read and written is in the rows, and there are no more frames than asked for.
    #[test]
    fn rows_add_up() {
        let mut film = Film::of(16, 3).unwrap();
        for step in 0..5000_u32 {
            let now = at(f64::from(step) * f64::from(step % 97) * 1e-3);
            let now = now.max(film.frames.last().map_or(SimTime::ZERO, |last| last.at));
            film.read(step % 3, Bytes::new(7), now);
            film.written((step + 1) % 3, Bytes::new(5), now);
        }
        let frames = film.finish(at(1000.0));
        let (read, written) = sums(&frames);
        assert!((read - 35_000.0).abs() < 1e-6 && (written - 25_000.0).abs() < 1e-6, "{read} {written}");
        let mut times: Vec<f64> = frames.rows().iter().map(|row| row.seconds).collect();
        times.dedup();
        assert!(times.len() <= 16);
    }

    // By hand: 10 bytes at 1 s, an hour of silence, 10 bytes: two rows of work, and between them one of rest.
    #[test]
    fn a_silence_is_a_silence() {
        let mut film = Film::of(16, 1).unwrap();
        film.written(0, Bytes::new(10), at(1.0));
        film.written(0, Bytes::new(10), at(3601.0));
        let rows = film.finish(at(3601.0)).rows();
        let told: Vec<(f64, bool)> = rows.iter().map(|row| (row.seconds, row.written > 0.0)).collect();
        assert_eq!(told, [(1.001, true), (3600.999, false), (3601.0, true)]);
    }
}
