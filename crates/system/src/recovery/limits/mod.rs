//! What limited a rebuild: what the device that made the last lost piece waited for, and how busy that was.
//!
//! Of this device's buffers it is known what each spent on its stages (`recovery::waits`), and of each part of the system how
//! long it was busy from the failure to the last piece. A stage's time is charged to the part that it was spent at: of several
//! in a row, such as the links of a way, to the busiest. What took much of the time and was busy, or was queued at for several
//! times what it takes to be served there, is the limit. Where nothing is, buffers take their round trip whatever the load, and
//! more of them at a time would be faster.

mod case;

use std::collections::BTreeMap;

use resilver_fabric::Fabric;
use resilver_units::{DeviceId, SimDuration, SimTime};

use crate::plant::{Plant, Site};
use crate::recovery::Recovery;
use crate::recovery::snapshot::Snapshot;
use crate::recovery::spent::Spent;
use crate::recovery::waits::NOBODY;

use case::Case;

/// From which share of the time on a part counts as busy all the time.
const SATURATED: f64 = 0.9;
/// From which multiple of the time of being served on a part counts as queued at.
const QUEUED: f64 = 4.0;
/// Which share of the time something must have taken to be the limit.
const NOTABLE: f64 = 0.2;
/// Which share must be one part's for that to be named, rather than all of its kind.
const MOST: f64 = 0.5;
/// Most parts of which there are rows.
const ROWS_MAX: usize = 16;

/// What a destination may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKind {
    /// A source's device, which reads.
    Reading,
    /// Its own device, which writes.
    Writing,
    /// An interface that sends.
    Sending,
    /// An interface that receives.
    Receiving,
    /// A channel of a link.
    Link,
    /// Its computation of pieces from others.
    Coding,
    /// A source's memory for what it reads and sends.
    SendMemory,
    /// Messages that were lost, until they are asked for again.
    Loss,
    /// Its recovery bandwidth.
    Bandwidth,
    /// What software allows: pieces at a time, and time for each.
    Software,
    /// Its memory for what it has asked for: nothing is busy all the time.
    ReceiveMemory,
    /// One buffer at a time: nothing is busy all the time.
    Pipelining,
    /// There was little to ask for: nothing is busy all the time.
    RoundTrip,
}

impl LimitKind {
    /// Whether these are interfaces or links.
    fn is_network(self) -> bool {
        matches!(self, LimitKind::Sending | LimitKind::Receiving | LimitKind::Link)
    }

    /// Whether both are waited for alike, where no one part is.
    fn is_like(self, other: LimitKind) -> bool {
        self == other || self.is_network() && other.is_network()
    }
}

/// Something that the last destination waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What it is.
    pub kind: LimitKind,
    /// The device, the endpoint or the channel; `None` where it is several, or none of these.
    pub number: Option<u32>,
    /// The level and the name of a part between devices and ports, where it is one.
    pub part: Option<(String, String)>,
    /// How many parts it is.
    pub parts: u64,
    /// Which share of the time it was busy; of several, on average over what was waited for them.
    pub busy_fraction: Option<f64>,
    /// Which share of the time that buffers were under way was spent on it; of what keeps the destination from asking, which
    /// share of the time it did.
    pub waited_fraction: f64,
    /// How long a buffer spent on it, on average: in its queue, and being served. Of what keeps it from asking, how long a
    /// buffer is under way.
    pub buffer_seconds: Option<f64>,
    /// How many of the destination's buffers were there at a time, on average.
    pub buffers: f64,
    /// How many destinations waited most for it.
    pub destinations: Option<u64>,
    /// Which share of what it passed was recovery's, in bytes, where that is known.
    pub rebuild_fraction: Option<f64>,
    /// Whether it is the limit.
    pub is_limit: bool,
}

/// What limited a rebuild.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Which device drove the last lost piece: it comes to that one, unless others drive.
    pub destination: Option<DeviceId>,
    /// From the beginning of the work to the last lost piece.
    pub window: SimDuration,
    /// What it waited for; the limit comes first, and what took most before what took less.
    pub rows: Vec<Limit>,
}

/// What is known of a rebuild that is over.
pub(crate) struct Evidence<'a> {
    pub begin: &'a Snapshot,
    pub end: &'a Snapshot,
    pub spent: Vec<Spent>,
    /// How many buffers each of which it is known stands for.
    pub stride: u64,
    pub last: u32,
    /// How long the last destination asked for nothing lest it pass its bandwidth, and because it had as much as it may.
    pub paced: SimDuration,
    /// How long it waited until software let it begin a piece.
    pub queued: SimDuration,
    pub full: SimDuration,
    /// How long it decoded.
    pub decoding: SimDuration,
    pub is_pipelined: bool,
    /// Whether a device has a bandwidth; where it has none, what paces it is software's.
    pub has_bandwidth: bool,
    /// Whether each buffer comes from one source.
    pub is_copied: bool,
}

/// Where time was spent: devices and endpoints are told by number, and parts between them by theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Disk(u32),
    Station(u32),
    Port(u32),
    /// A device, but not its disk.
    At(u32),
    /// Many that are not told apart.
    Several,
}

/// What was spent at a place: picoseconds, buffers, and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    time: u64,
    buffers: u64,
    bytes: u64,
}

type Charges = BTreeMap<(LimitKind, Place), Sum>;

/// What limited a rebuild, by what is known of it; no rows where nothing is.
pub(crate) fn limits<F: Fabric>(evidence: &Evidence<'_>, plant: &Plant<F>) -> Limits {
    let window = evidence.end.at.since(evidence.begin.at);
    let case = Case { evidence, plant, window: window.seconds() };
    let own: Vec<&Spent> = evidence.spent.iter().filter(|spent| spent.driver() == evidence.last).collect();
    if evidence.last == NOBODY || window == SimDuration::ZERO || own.is_empty() {
        return Limits::default();
    }
    let mut charges = Charges::new();
    own.iter().for_each(|spent| case.charge(spent, &mut charges));
    let (admission, chosen) = (case.admission(&own), case.choose(&charges));
    let limit = match chosen {
        Some((kind, None)) => case.row_of_many(kind, &charges),
        Some((kind, Some(place))) => case.row(kind, place, &charges),
        None => {
            let kind = if case.paced() >= MOST { case.pacing_kind() } else { case.idle_kind() };
            let row = admission.iter().find(|row| row.kind == kind).expect("each of these has a row");
            row.clone()
        }
    };
    let destinations = case.destinations(&limit, chosen);
    let mut most: Vec<(&(LimitKind, Place), &Sum)> = charges.iter().filter(|(_, sum)| sum.time > 0).collect();
    most.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.time));
    let others = most.into_iter().filter(|&(&(kind, place), _)| chosen != Some((kind, Some(place))));
    let shown = others.take(ROWS_MAX).map(|(&(kind, place), _)| case.row(kind, place, &charges));
    let mut rows: Vec<Limit> =
        admission.into_iter().filter(|row| chosen.is_some() || row.kind != limit.kind).chain(shown).collect();
    rows.sort_by(|a, b| b.waited_fraction.total_cmp(&a.waited_fraction));
    rows.insert(0, Limit { is_limit: true, destinations, ..limit });
    Limits { destination: Some(DeviceId::new(evidence.last)), window, rows }
}

impl Recovery {
    /// What is waited for is counted anew: nothing was left to be done, and there is now.
    pub(super) fn begin_waits<F: Fabric>(&mut self, site: &Site<'_, F>) {
        self.waits.start(site.schedule.now(), site.plant, &self.devices);
        for receiver in &mut self.receivers {
            (receiver.paced, receiver.queued) = (SimDuration::ZERO, SimDuration::ZERO);
            receiver.decoding = SimDuration::ZERO;
        }
    }

    /// What limited the rebuild, up to `now` where it did not come to its end.
    pub(crate) fn limits<F: Fabric>(&self, plant: &Plant<F>, now: SimTime) -> Limits {
        let Some(receiver) = self.receivers.get(self.waits.last as usize).filter(|_| self.waits.last != NOBODY) else {
            return Limits::default();
        };
        let unfinished;
        let end = match &self.waits.end {
            Some(end) => end,
            None => {
                unfinished = Snapshot::of(now, plant, &self.devices);
                &unfinished
            }
        };
        let begin = &self.waits.begin;
        let asking = receiver.asked_at.min(end.at).since(begin.at);
        let evidence = Evidence {
            begin,
            end,
            spent: self.waits.spent(),
            stride: self.waits.stride(),
            last: self.waits.last,
            paced: receiver.paced,
            queued: receiver.queued,
            full: if asking > receiver.paced { asking - receiver.paced } else { SimDuration::ZERO },
            decoding: receiver.decoding,
            is_pipelined: self.policy.pipelining,
            has_bandwidth: self.policy.bandwidth.is_some(),
            is_copied: !self.is_coded,
        };
        limits(&evidence, plant)
    }
}
