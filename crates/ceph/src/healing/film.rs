//! The film of healing: what each OSD has read and written, and what its groups wait for, at some moments.

use resilver_kernel::film;
use resilver_units::{SimDuration, SimTime};

use super::Healing;
use super::job::{Cause, Owner};

/// Between two frames at first.
const FIRST_INTERVAL: SimDuration = SimDuration::from_picoseconds(500_000_000_000);

/// What the groups wait for whose primary an OSD is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Groups that wait for a reservation or for space.
    pub(crate) groups: u32,
    /// The OSD that most of them wait for, the lowest of several.
    pub(crate) on: Option<u32>,
}

pub(crate) type Film = film::Film<Waits>;
type Cell = film::Cell<Waits>;

/// A film of at most so many frames; none where that is 0.
pub(super) fn film_of(most: u32) -> Option<Film> {
    Film::of(most, FIRST_INTERVAL)
}

impl Healing {
    /// Takes the frames that are due up to a time before which nothing happens but what moves now.
    pub(super) fn film_until(&mut self, next: SimTime) {
        let Some(film) = &self.film else { return };
        let is_quiet = self.is_quiet();
        // What has just come to rest would else seem to go on until something happens.
        let ends = film.last().is_none_or(|last| is_quiet && !last.is_quiet);
        if ends {
            self.take_frame(self.now);
        }
        while let Some(film) = &self.film {
            let due = film.due().unwrap_or(self.now);
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
        let frame = film::Frame { at, cells: self.cells(at), is_quiet: self.is_quiet() };
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
        let mut cells = vec![Cell::default(); self.works_on.len()];
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
        let mut waits: Vec<(u32, Option<u32>)> = Vec::new();
        for (group, job) in self.groups.iter().zip(&self.jobs) {
            let whom = match job.waits {
                Some((Cause::Local(osd) | Cause::Remote(osd) | Cause::Space(osd), _)) => Some(osd),
                Some((Cause::Retry, _)) => None,
                Some((Cause::Paused, _)) | None => continue,
            };
            if let Some(cell) = u32::try_from(group.primary).ok().and_then(|osd| cells.get_mut(osd as usize)) {
                cell.note.groups += 1;
                waits.push((group.primary as u32, whom));
            }
        }
        waits.sort_unstable();
        let mut most = vec![0; cells.len()];
        for run in waits.chunk_by(|one, other| one == other) {
            let (primary, whom) = (run[0].0 as usize, run[0].1);
            if whom.is_some() && run.len() > most[primary] {
                (most[primary], cells[primary].note.on) = (run.len(), whom);
            }
        }
    }
}
