//! Bursts: volumes that are moved all at once, beside streams or by jobs.

use std::collections::VecDeque;
use std::ops::Range;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::{Job, StreamTraffic, Workload};
use crate::measures::JobBurst;
use crate::operations::tokens::WorkloadEvent;
use crate::storage::Site;

/// A burst under way, or over.
#[derive(Clone, Copy, Debug)]
struct Burst {
    asked_at: SimTime,
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
    asked: u64,
    bursts: Vec<Burst>,
    /// When those were asked for that wait for the one before them.
    waiting: VecDeque<SimTime>,
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
        asked: 0,
        bursts: Vec::new(),
        waiting: VecDeque::new(),
    });
    all.collect()
}

impl Workload {
    /// Schedules the first burst of each series.
    pub(super) fn start_bursts<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        for (number, series) in (0u32..).zip(&self.series) {
            self.schedule(SimTime::ZERO + series.first, WorkloadEvent::Burst(number), site);
        }
    }

    /// A burst is asked for, and the next one is on its way.
    pub(super) fn burst<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u32, site: &mut Site<'_, F, D, K>) {
        let now = site.schedule.now();
        let series = &mut self.series[number as usize];
        series.asked += 1;
        let is_busy = series.bursts.last().is_some_and(|last| last.left > 0);
        let waits = series.job.is_some() && is_busy;
        if waits {
            // An application goes on when its last burst is done.
            series.waiting.push_back(now);
        }
        let next = now + series.every;
        if next < SimTime::MAX {
            self.schedule(next, WorkloadEvent::Burst(number), site);
        }
        if !waits {
            self.begin_burst(number, now, site);
        }
    }

    /// A burst that was asked for begins.
    fn begin_burst<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        number: u32,
        asked_at: SimTime,
        site: &mut Site<'_, F, D, K>,
    ) {
        let now = site.schedule.now();
        let Series { sources, job, bursts, .. } = &mut self.series[number as usize];
        let (sources, job) = (sources.clone(), *job);
        let left = sources.clone().map(|source| self.sources[source as usize].of_burst).sum();
        bursts.push(Burst { asked_at, began_at: now, ended_at: None, left, moved: Bytes::ZERO });
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

    /// An operation of a burst, of so much data, is completed.
    pub(super) fn count_burst<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        source: u32,
        data: Bytes,
        site: &mut Site<'_, F, D, K>,
    ) {
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
        self.measures.burst_ended(now.since(burst.began_at));
        if let Some(asked_at) = series.waiting.pop_front() {
            self.begin_burst(number as u32, asked_at, site);
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
                asked: of.asked_at,
                began: Some(of.began_at),
                ended: of.ended_at,
                length,
                bytes: of.moved,
                layer: None,
            };
            let begun = series.bursts.len() as u32;
            rows.extend((0..).zip(&series.bursts).map(row));
            rows.extend((begun..).zip(&series.waiting).map(|(burst, &asked)| JobBurst {
                job,
                burst,
                asked,
                began: None,
                ended: None,
                length,
                bytes: Bytes::ZERO,
                layer: None,
            }));
        }
        rows
    }
}
