//! What is counted of clients as a run goes.

use resilver_device::DeviceUse;
use resilver_kernel::stats::{LogHistogram, Timeline};
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use super::outcome::{ClientOutcome, Counts, Delays, PieceCounts, ServerOutcome, TrafficInterval};
use super::periods::{Period, PeriodOutcome, Periods, together};
use crate::checker::{ConservationError, hold};

/// Picoseconds in a nanosecond: sums of delays over an interval are kept in these, which fit for longer.
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// Acknowledged writes that are not on disk yet.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog {
    requests: u64,
    bytes: u64,
}

/// How traffic went over the time of the run, from its start.
#[derive(Clone, Debug, Default)]
struct Series {
    /// Amount: delays in nanoseconds; count: requests completed.
    delays: Timeline,
    /// Count: requests lost.
    lost: Timeline,
    read_bytes: Timeline,
    write_bytes: Timeline,
    /// Amount: packets dropped.
    dropped: Timeline,
    /// Level: acknowledged writes that are not on disk yet.
    backlog: Timeline,
}

/// What is counted of clients.
#[derive(Clone, Debug)]
pub(crate) struct Measures {
    /// Since statistics began, of each class of requests, those of one law behind another's.
    periods: Vec<Periods>,
    /// How many classes each law has.
    classes: Vec<usize>,
    /// Since time zero.
    total: Counts,
    /// What was asked of stored pieces since statistics began; of none where nothing is stored.
    pub pieces: Option<PieceCounts>,
    pub servers: Vec<ServerOutcome>,
    /// What each disk had done when statistics began.
    pub disks_before: Vec<DeviceUse>,
    /// When statistics began.
    pub since: SimTime,
    backlogs: Vec<Backlog>,
    backlog: Backlog,
    backlog_max: u64,
    /// Data that disks were asked to read and to write, since time zero.
    pub asked: (Bytes, Bytes),
    /// Writes acknowledged since time zero; those that came to be on disk, and those lost with their server.
    pub acknowledged: u64,
    pub written: u64,
    pub lost_with_server: u64,
    series: Series,
    dropped_so_far: u64,
}

impl Measures {
    pub fn new(devices: usize, classes: &[usize]) -> Self {
        Measures {
            periods: vec![Periods::default(); classes.iter().sum()],
            classes: classes.to_vec(),
            total: Counts::default(),
            pieces: None,
            servers: vec![ServerOutcome::default(); devices],
            disks_before: vec![DeviceUse::default(); devices],
            since: SimTime::ZERO,
            backlogs: vec![Backlog::default(); devices],
            backlog: Backlog::default(),
            backlog_max: 0,
            asked: (Bytes::ZERO, Bytes::ZERO),
            acknowledged: 0,
            written: 0,
            lost_with_server: 0,
            series: Series::default(),
            dropped_so_far: 0,
        }
    }

    /// Leaves out what was before `now`: only levels go on.
    pub fn begin(&mut self, now: SimTime, disks: Vec<DeviceUse>) {
        self.periods.iter_mut().for_each(|periods| periods.begin(now));
        self.pieces = self.pieces.map(|_| PieceCounts::default());
        self.servers.fill(ServerOutcome::default());
        self.disks_before = disks;
        self.since = now;
        self.backlog_max = self.backlog.requests;
    }

    /// The present period.
    #[inline]
    pub fn period(&self) -> Period {
        self.periods[0].current()
    }

    /// Another period begins.
    pub fn enter(&mut self, now: SimTime, period: Period) {
        self.periods.iter_mut().for_each(|periods| periods.enter(now, period));
    }

    /// What is counted now of the requests of a class.
    #[inline]
    fn counted(&mut self, class: u16) -> &mut PeriodOutcome {
        self.periods[usize::from(class)].counted()
    }

    #[inline]
    pub fn issued(&mut self, class: u16) {
        self.counted(class).counts.issued += 1;
        self.total.issued += 1;
    }

    pub fn lost(&mut self, now: SimTime, class: u16, device: u32) {
        self.counted(class).counts.lost += 1;
        self.total.lost += 1;
        self.servers[device as usize].lost += 1;
        self.series.lost.record(now, 1);
    }

    pub fn late(&mut self, class: u16) {
        self.counted(class).counts.late += 1;
        self.total.late += 1;
    }

    /// A request is asked again elsewhere, because its server became known to have failed.
    pub fn retried(&mut self, class: u16) {
        self.counted(class).counts.retried += 1;
        self.total.retried += 1;
    }

    /// A request is completed, issued `delay` before.
    #[inline]
    pub fn completed(
        &mut self,
        now: SimTime,
        (class, device): (u16, u32),
        is_read: bool,
        bytes: Bytes,
        delay: SimDuration,
    ) {
        self.total.completed += 1;
        self.servers[device as usize].completed += 1;
        let counted = self.periods[usize::from(class)].counted();
        counted.counts.completed += 1;
        let (delays, series) = if is_read {
            (&mut counted.reads, &mut self.series.read_bytes)
        } else {
            (&mut counted.writes, &mut self.series.write_bytes)
        };
        delays.record(bytes, delay);
        series.record(now, bytes.get());
        self.series.delays.record(now, delay.picoseconds() / PICOSECONDS_PER_NANOSECOND);
    }

    /// A disk is asked for a piece.
    #[inline]
    pub fn submitted(&mut self, bytes: Bytes, (is_read, is_of_clients): (bool, bool)) {
        let asked = if is_read { &mut self.asked.0 } else { &mut self.asked.1 };
        *asked += bytes;
        if let Some(pieces) = self.pieces.as_mut().filter(|_| is_of_clients) {
            *(if is_read { &mut pieces.read } else { &mut pieces.written }) += bytes;
        }
    }

    /// A read is completed that gathered other pieces than those with its data.
    pub fn degraded(&mut self, gathered: Bytes) {
        if let Some(pieces) = &mut self.pieces {
            pieces.degraded_reads += 1;
            pieces.degraded_bytes += gathered;
        }
    }

    /// A write is acknowledged, and at its disk.
    #[inline]
    pub fn acknowledged(&mut self, now: SimTime, device: u32, bytes: Bytes) {
        self.acknowledged += 1;
        for backlog in [&mut self.backlog, &mut self.backlogs[device as usize]] {
            backlog.requests += 1;
            backlog.bytes += bytes.get();
        }
        self.backlog_max = self.backlog_max.max(self.backlog.requests);
        self.series.backlog.add(now, 1);
    }

    /// A write is on disk.
    #[inline]
    pub fn written(&mut self, now: SimTime, device: u32, bytes: Bytes) {
        self.written += 1;
        self.servers[device as usize].written += 1;
        for backlog in [&mut self.backlog, &mut self.backlogs[device as usize]] {
            backlog.requests -= 1;
            backlog.bytes -= bytes.get();
        }
        self.series.backlog.add(now, -1);
    }

    /// A disk dies, and with it what waits to be written.
    pub fn lose_backlog(&mut self, now: SimTime, device: DeviceId) {
        let lost = std::mem::take(&mut self.backlogs[device.index()]);
        self.backlog.requests -= lost.requests;
        self.backlog.bytes -= lost.bytes;
        self.lost_with_server += lost.requests;
        self.series.backlog.add(now, -(lost.requests as i64));
    }

    /// The fabric has dropped this many packets so far.
    pub fn dropped(&mut self, now: SimTime, so_far: u64) {
        let dropped = so_far - self.dropped_so_far;
        if dropped > 0 {
            self.series.dropped.record(now, dropped);
            self.dropped_so_far = so_far;
        }
    }

    /// Acknowledged writes that are not on disk: how many, their data, and the most at a time.
    pub fn backlog(&self) -> (u64, Bytes, u64) {
        (self.backlog.requests, Bytes::new(self.backlog.bytes), self.backlog_max)
    }

    /// What each server did, with its backlog.
    pub fn servers(&self) -> Vec<ServerOutcome> {
        let with_backlog = |(server, backlog): (&ServerOutcome, &Backlog)| ServerOutcome {
            write_backlog: backlog.requests,
            ..*server
        };
        self.servers.iter().zip(&self.backlogs).map(with_backlog).collect()
    }

    /// The run in intervals of its time.
    pub fn intervals(&self, end: SimTime) -> Vec<TrafficInterval> {
        let series = &self.series;
        // Intervals of all have the same bounds: each width is the smallest that reaches the end.
        let of = |timeline: &Timeline| {
            let mut timeline = timeline.clone();
            timeline.add(end, 0);
            timeline.intervals(end)
        };
        let (delays, lost, dropped) = (of(&series.delays), of(&series.lost), of(&series.dropped));
        let (read, write, backlog) = (of(&series.read_bytes), of(&series.write_bytes), of(&series.backlog));
        (0..delays.len())
            .map(|index| TrafficInterval {
                start: delays[index].start,
                duration: delays[index].duration,
                completed: delays[index].count,
                lost: lost[index].count,
                read_bytes: read[index].amount,
                write_bytes: write[index].amount,
                mean_delay_seconds: (delays[index].count > 0)
                    .then(|| delays[index].amount as f64 / delays[index].count as f64 * 1e-9),
                packets_dropped: dropped[index].amount,
                write_backlog: backlog[index].mean_level,
            })
            .collect()
    }

    /// A device has served a piece of an operation.
    #[inline]
    pub fn served(&mut self, device: u32, is_read: bool) {
        let server = &mut self.servers[device as usize];
        *(if is_read { &mut server.read } else { &mut server.written }) += 1;
    }

    /// What the run has to tell, held to the laws of conservation; `disks` is what each disk has done up to the end.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn outcome(
        &self,
        ended_at: SimTime,
        (outstanding, hanging): (u64, u64),
        disks: Vec<DeviceUse>,
    ) -> Result<ClientOutcome, ConservationError> {
        let since = |(now, before): (DeviceUse, &DeviceUse)| DeviceUse {
            busy: now.busy - before.busy,
            bytes_read: now.bytes_read - before.bytes_read,
            bytes_written: now.bytes_written - before.bytes_written,
            seeks: now.seeks - before.seeks,
            requests: now.requests - before.requests,
        };
        let (write_backlog, write_backlog_bytes, write_backlog_max) = self.backlog();
        let mut outcomes = self.periods.iter().map(|periods| periods.outcomes(ended_at));
        let classes: Vec<Vec<[PeriodOutcome; 3]>> =
            self.classes.iter().map(|&count| outcomes.by_ref().take(count).collect()).collect();
        let periods = together(classes.iter().flatten());
        let [mut reads, mut writes] = [Delays::default(), Delays::default()];
        for period in &periods {
            (reads, writes) = (reads.with(&period.reads), writes.with(&period.writes));
        }
        let outcome = ClientOutcome {
            window: ended_at.since(self.since),
            counts: periods.iter().fold(Counts::default(), |sum, period| sum.with(period.counts)),
            outstanding,
            hanging,
            all: reads.with(&writes),
            reads,
            writes,
            periods,
            classes,
            pieces: self.pieces,
            write_backlog,
            write_backlog_bytes,
            write_backlog_max,
            servers: self.servers(),
            disks: disks.into_iter().zip(&self.disks_before).map(since).collect(),
            intervals: self.intervals(ended_at),
        };
        self.check(&outcome)?;
        Ok(outcome)
    }

    /// Holds what is to be told to the laws of conservation.
    fn check(&self, outcome: &ClientOutcome) -> Result<(), ConservationError> {
        let (total, window) = (self.total, outcome.window.picoseconds());
        let of_servers = |count: fn(&ServerOutcome) -> u64| outcome.servers.iter().map(count).sum::<u64>();
        let busiest = outcome.disks.iter().map(|disk| disk.busy.picoseconds()).max().unwrap_or(0);
        hold([
            (
                "every request issued is completed, lost, asked again elsewhere or outstanding",
                total.issued,
                total.completed + total.lost + total.retried + outcome.outstanding,
            ),
            (
                "every write acknowledged is on disk, to be written, or lost with its server",
                self.acknowledged,
                self.written + outcome.write_backlog + self.lost_with_server,
            ),
            ("requests completed are reads and writes", outcome.counts.completed, outcome.all.completed),
            ("servers have completed what was completed", outcome.counts.completed, of_servers(|s| s.completed)),
            ("servers have lost what was lost", outcome.counts.lost, of_servers(|s| s.lost)),
            ("servers have the backlog that there is", outcome.write_backlog, of_servers(|s| s.write_backlog)),
            ("requests that hang are outstanding", outcome.hanging.max(outcome.outstanding), outcome.outstanding),
            (
                "periods are the time of statistics",
                outcome.periods.iter().map(|period| period.window.picoseconds()).sum(),
                window,
            ),
            ("no disk is busier than the time allows", busiest.max(window), window),
        ])
    }
}

impl Delays {
    #[inline]
    fn record(&mut self, bytes: Bytes, delay: SimDuration) {
        self.completed += 1;
        self.bytes += bytes;
        self.sum_picoseconds += u128::from(delay.picoseconds());
        self.histogram.record(delay.picoseconds());
    }

    /// Of both kinds.
    pub(super) fn with(&self, other: &Delays) -> Delays {
        let mut histogram: LogHistogram = self.histogram.clone();
        histogram.merge(&other.histogram);
        Delays {
            completed: self.completed + other.completed,
            bytes: self.bytes + other.bytes,
            sum_picoseconds: self.sum_picoseconds + other.sum_picoseconds,
            histogram,
        }
    }
}
