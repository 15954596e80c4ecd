//! Bursts: volumes that are moved all at once, beside streams or by jobs.

use std::ops::Range;

use resilver_fabric::Fabric;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::Workload;
use super::measures::JobBurst;
use super::operations::tokens::WorkloadEvent;
use crate::plant::Site;
use crate::scenario::{Job, StreamTraffic};

/// A burst under way, or over.
#[derive(Clone, Copy, Debug)]
struct Burst {
    began_at: SimTime,
    ended_at: Option<SimTime>,
    /// Operations that are not completed, and the data of those that are.
    left: u64,
    moved: Bytes,
}

/// Bursts that follow one another.
#[derive(Clone, Debug)]
pub(super) struct Series {
    sources: Range<u32>,
    first: SimDuration,
    every: SimDuration,
    /// The job whose they are, by its number, and how long each takes where nothing is in its way.
    job: Option<(u32, SimDuration)>,
    bursts: Vec<Burst>,
}

impl Series {
    /// When the burst of a number comes where none before it was late.
    fn planned(&self, number: u32) -> SimTime {
        let after = u128::from(self.every.picoseconds()) * u128::from(number);
        let after = after + u128::from(self.first.picoseconds());
        SimTime::from_picoseconds(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// When a job's next burst comes, once one is done that began then: it computes for what its period has left beside a burst.
    fn after(&self, began: SimTime, now: SimTime) -> Option<SimTime> {
        let (_, length) = self.job?;
        let computes = self.every.picoseconds().saturating_sub(length.picoseconds());
        let next = now.picoseconds().saturating_add(computes);
        // Its last operation comes due a little before the end of its time.
        Some(SimTime::from_picoseconds(next.max(began.picoseconds().saturating_add(self.every.picoseconds()))))
    }
}

/// All bursts of a traffic, whose sources are these, one range after another.
pub(super) fn series_of(traffic: &StreamTraffic, sources: Vec<Range<u32>>) -> Vec<Series> {
    let of_streams = traffic.bursts.iter().map(|bursts| (bursts.first, bursts.every, None));
    let of_job = |(number, job): (u32, &Job)| (job.first, job.period, Some((number, job.length)));
    let of_jobs = (0u32..).zip(&traffic.jobs).map(of_job);
    let all = of_streams.chain(of_jobs).zip(sources).map(|((first, every, job), sources)| Series {
        sources,
        first,
        every,
        job,
        bursts: Vec::new(),
    });
    all.collect()
}

impl Workload {
    /// Schedules the first burst of each series.
    pub(super) fn start_bursts<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        for (number, series) in (0u32..).zip(&self.series) {
            self.schedule(SimTime::ZERO + series.first, WorkloadEvent::Burst(number), site);
        }
    }

    /// A burst begins; of streams, the next one is on its way.
    pub(super) fn burst<F: Fabric>(&mut self, number: u32, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let Series { sources, job, bursts, every, .. } = &mut self.series[number as usize];
        let (sources, job, every) = (sources.clone(), *job, *every);
        let left = sources.clone().map(|source| self.sources[source as usize].of_burst).sum();
        if let Some(drain) = self.drain.as_mut().filter(|_| !bursts.is_empty()) {
            drain.next_begins(&sources);
        }
        bursts.push(Burst { began_at: now, ended_at: None, left, moved: Bytes::ZERO });
        // An application goes on when its burst is done.
        if job.is_none() || left == 0 {
            self.schedule_burst(number, now + every, site);
        }
        for source in sources {
            let begun = &mut self.sources[source as usize];
            let Some((_, length)) = job else {
                begun.owed += begun.of_burst;
                self.fill(source, site);
                continue;
            };
            // Its operations come due evenly over the time that it takes alone.
            if let Some(between) = length.picoseconds().checked_div(begun.of_burst) {
                begun.interval = SimDuration::from_picoseconds(between.max(1));
                (begun.first_due, begun.paced) = (now, 0);
                self.pace(source, site);
            }
        }
    }

    fn schedule_burst<F: Fabric>(&mut self, number: u32, at: SimTime, site: &mut Site<'_, F>) {
        if at < SimTime::MAX {
            self.schedule(at, WorkloadEvent::Burst(number), site);
        }
    }

    /// An operation of a burst, of so much data, is completed.
    pub(super) fn count_burst<F: Fabric>(&mut self, source: u32, data: Bytes, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let number = self.series.partition_point(|series| series.sources.end <= source);
        let (series, source) = (&mut self.series[number], &self.sources[source as usize]);
        // Operations of a source are alike, so those completed first are of the first bursts.
        let burst = &mut series.bursts[((source.completed - 1) / source.of_burst) as usize];
        burst.left -= 1;
        burst.moved += data;
        if burst.left > 0 {
            return;
        }
        burst.ended_at = Some(now);
        let began = burst.began_at;
        let next = series.after(began, now);
        self.measures.burst_ended(now.since(began));
        if let Some(next) = next {
            self.schedule_burst(number as u32, next, site);
        }
    }

    /// What bursts of jobs came to, job by job.
    pub(super) fn job_bursts(&self) -> Vec<JobBurst> {
        let mut rows = Vec::new();
        for series in &self.series {
            let Some((job, length)) = series.job else { continue };
            let row = |(burst, of): (u32, &Burst)| JobBurst {
                job,
                burst,
                asked: series.planned(burst),
                began: of.began_at,
                ended: of.ended_at,
                length,
                bytes: of.moved,
                layer: None,
            };
            rows.extend((0..).zip(&series.bursts).map(row));
        }
        rows
    }
}
