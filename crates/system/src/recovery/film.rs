//! The film of a rebuild: what each device has read and written for recovery, and whom it waits for, at some moments.

use resilver_kernel::film::{Cell, Film as Frames, Frame};
use resilver_units::{Bytes, SimDuration, SimTime};

use super::Sender;
use super::gathers::{Gathers, pieces_of};

/// Between two frames at first: a millisecond.
const FIRST_INTERVAL: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

/// What a new home waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcesAwaited {
    /// Buffers of which not all parts have come.
    pub buffers: u32,
    /// Of their sources that have yet to send, the one of which most is asked by all; the lowest of several.
    pub on: Option<u32>,
}

/// What recovery is waiting for: its buffers under way, and what is asked of each source.
#[derive(Clone, Copy)]
pub(super) struct UnderWay<'a> {
    pub gathers: &'a Gathers,
    pub senders: &'a [Sender],
}

impl UnderWay<'_> {
    /// Notes what each new home waits for; says whether any does.
    fn note(self, cells: &mut [Cell<SourcesAwaited>]) -> bool {
        let asked = |device: u32| (self.senders[device as usize].bytes_asked, std::cmp::Reverse(device));
        let mut is_any = false;
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            if !gather.is_gathering() {
                continue;
            }
            let missing = pieces_of(gather.wanted & !gather.arrived).iter();
            let whom = missing.map(|piece| self.gathers.device(slot, piece)).max_by_key(|&device| asked(device));
            let note = &mut cells[gather.driver as usize].note;
            note.buffers += 1;
            note.on = note.on.into_iter().chain(whom).max_by_key(|&device| asked(device));
            is_any = true;
        }
        is_any
    }
}

/// The frames so far, and what devices have read and written until now.
#[derive(Clone, Debug)]
pub(super) struct Film {
    frames: Frames<SourcesAwaited>,
    /// Without what devices wait for, which is seen when a frame is taken.
    cells: Vec<Cell<SourcesAwaited>>,
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
    pub fn read(&mut self, device: u32, bytes: Bytes, now: SimTime, under_way: UnderWay<'_>) {
        self.go_to(now, under_way);
        self.cells[device as usize].read += bytes.get();
        self.moved = true;
    }

    /// A device has written so much.
    pub fn written(&mut self, device: u32, bytes: Bytes, now: SimTime, under_way: UnderWay<'_>) {
        self.go_to(now, under_way);
        self.cells[device as usize].written += bytes.get();
        self.moved = true;
    }

    /// The film, up to the end of the run.
    pub fn finish(mut self, ended_at: SimTime, under_way: UnderWay<'_>) -> Frames<SourcesAwaited> {
        self.go_to(ended_at, under_way);
        if self.moved {
            self.take(ended_at, under_way);
        }
        self.frames
    }

    /// Goes on to a time before which nothing was read or written since the last; who waited at its end is taken to have done so all along.
    fn go_to(&mut self, now: SimTime, under_way: UnderWay<'_>) {
        let Some(due) = self.frames.due() else { return self.take(now, under_way) };
        if now < due {
            return;
        }
        self.take(due, under_way);
        // However long the silence since was, it is one step, which ends where what is told of now may have begun.
        let begin = now.picoseconds().saturating_sub(self.frames.interval().picoseconds());
        if begin > due.picoseconds() {
            self.take(SimTime::from_picoseconds(begin), under_way);
        }
    }

    fn take(&mut self, at: SimTime, under_way: UnderWay<'_>) {
        let mut cells = self.cells.clone();
        let waits = under_way.note(&mut cells);
        self.frames.add(Frame { at, cells, is_quiet: !self.moved && !waits });
        self.moved = false;
    }
}

#[cfg(test)]
mod tests {
    use resilver_units::ObjectId;

    use super::*;
    use crate::recovery::gathers::{Gather, Phase};

    fn at(seconds: f64) -> SimTime {
        SimTime::try_from(seconds).unwrap()
    }

    /// Nobody waits for anything.
    fn idle() -> (Gathers, Vec<Sender>) {
        (Gathers::new(3, true), vec![Sender::default(); 4])
    }

    /// Bytes that the rows of a film say were read and written.
    fn sums(film: &Frames<SourcesAwaited>) -> (f64, f64) {
        let of = |rate: fn(f64, f64) -> f64| {
            film.rows().iter().map(|row| rate(row.read, row.written) * (row.seconds - row.since)).sum::<f64>()
        };
        (of(|read, _| read), of(|_, written| written))
    }

    // Rule: whatever is read and written is in the rows, and there are no more frames than asked for.
    #[test]
    fn rows_add_up() {
        let (gathers, senders) = idle();
        let under_way = UnderWay { gathers: &gathers, senders: &senders };
        let mut film = Film::of(16, 3).unwrap();
        for step in 0..5000_u32 {
            let now = at(f64::from(step) * f64::from(step % 97) * 1e-3);
            let now = now.max(film.frames.last().map_or(SimTime::ZERO, |last| last.at));
            film.read(step % 3, Bytes::new(7), now, under_way);
            film.written((step + 1) % 3, Bytes::new(5), now, under_way);
        }
        let frames = film.finish(at(1000.0), under_way);
        let (read, written) = sums(&frames);
        assert!((read - 35_000.0).abs() < 1e-6 && (written - 25_000.0).abs() < 1e-6, "{read} {written}");
        let mut times: Vec<f64> = frames.rows().iter().map(|row| row.seconds).collect();
        times.dedup();
        assert!(times.len() <= 16);
    }

    // By hand: 10 bytes at 1 s, an hour of silence, 10 bytes: two rows of work, and between them one of rest.
    #[test]
    fn a_silence_is_a_silence() {
        let (gathers, senders) = idle();
        let under_way = UnderWay { gathers: &gathers, senders: &senders };
        let mut film = Film::of(16, 1).unwrap();
        film.written(0, Bytes::new(10), at(1.0), under_way);
        film.written(0, Bytes::new(10), at(3601.0), under_way);
        let rows = film.finish(at(3601.0), under_way).rows();
        let told: Vec<(f64, bool)> = rows.iter().map(|row| (row.seconds, row.written > 0.0)).collect();
        assert_eq!(told, [(1.001, true), (3600.999, false), (3601.0, true)]);
    }

    // By hand: device 3 makes two buffers. Of the first, devices 0 and 1 have yet to send, of the second only 2, of which most is asked;
    // once that has come, it waits for 1, of which 5 bytes are asked, and not for 0, of which there are 4.
    #[test]
    fn a_new_home_waits_for_the_source_of_which_most_is_asked() {
        let (mut gathers, mut senders) = idle();
        let first = gathers.open(Gather::new(ObjectId::new(1), Bytes::new(2), 0b011, (0, 0), 3));
        let second = gathers.open(Gather::new(ObjectId::new(2), Bytes::new(2), 0b111, (1, 0), 3));
        for slot in [first, second] {
            (0..3).for_each(|device| gathers.set_device(slot, device, device));
        }
        gathers.get_mut(second).arrived = 0b011;
        for (device, bytes) in [4, 5, 6].into_iter().enumerate() {
            senders[device].bytes_asked = Bytes::new(bytes);
        }
        let noted = |gathers: &Gathers, senders: &[Sender]| {
            let mut cells = vec![Cell::default(); 4];
            let is_any = UnderWay { gathers, senders }.note(&mut cells);
            assert!(cells[..3].iter().all(|cell| cell.note == SourcesAwaited::default()));
            (is_any, cells[3].note.buffers, cells[3].note.on)
        };
        assert_eq!(noted(&gathers, &senders), (true, 2, Some(2)));
        gathers.get_mut(second).set_phase(Phase::Writing);
        assert_eq!(noted(&gathers, &senders), (true, 1, Some(1)));
        senders[0].bytes_asked = Bytes::new(5);
        assert_eq!(noted(&gathers, &senders), (true, 1, Some(0)));
        gathers.get_mut(first).set_phase(Phase::Writing);
        assert_eq!(noted(&gathers, &senders), (false, 0, None));
    }
}
