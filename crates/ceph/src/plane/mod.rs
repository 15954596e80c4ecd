//! What moves the data of groups that hold their reservations: object by object ([`EventPlane`]), or by rates that are constant between
//! two changes of what moves ([`FlowPlane`]).

mod events;
mod flows;
mod law;
pub mod queue;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod twins;

pub use events::EventPlane;
pub use flows::FlowPlane;

use resilver_units::SimTime;

use crate::input::OsdInput;
use crate::settings::OsdSettings;

/// Which of the classes of an OSD's queue an item is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpClass {
    /// Clients' requests.
    Client,
    /// Repair of degraded groups.
    Recovery,
    /// Movement of misplaced groups, and deletion.
    BestEffort,
}

/// Requests of clients that an OSD holds at a time: more are turned away, as clients have no more under way. 1,024 is what one client of
/// Ceph has (`objecter_inflight_ops`), spread over some OSDs.
const MOST_UNDER_WAY: u32 = 256;

/// A work's number, given by whoever starts it; none is used twice at a time.
pub type WorkId = u32;

/// What happens to each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// The primary reads it and pushes it to each target.
    Push,
    /// The primary pulls it from the first source, writes it, and pushes it to the other targets: the primary is the first target.
    Pull,
    /// The primary gathers pieces of the sources (itself among them, where it is one), decodes, and pushes a piece to each target
    /// (writing its own).
    Decode,
    /// The primary reads each target's piece from the source of the same position and pushes it: nothing is decoded.
    Forward,
    /// The primary deletes it from its own disk.
    Delete,
}

/// What one group moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// What happens to each object.
    pub kind: WorkKind,
    /// The class of its items.
    pub class: OpClass,
    /// Which group: a hash of it chooses the shard of each OSD's queue.
    pub group: u64,
    /// The OSD that drives it.
    pub primary: u32,
    /// Objects still to go.
    pub objects: u64,
    /// Mean bytes of a piece of an object, as one source reads it and one target writes it.
    pub piece_bytes: u64,
    /// Pieces that hold data: 1 of copies, k of a code. An object has so many times the bytes of a piece, and a chunk of it so many chunks of
    /// pieces.
    pub data_pieces: u32,
    /// OSDs that are read, an entry a piece; empty for `Push` and `Delete`, where it is the primary.
    pub sources: Vec<u32>,
    /// Parts that a piece is cut into, of which each source reads one: 1, but where Clay makes a lone shard.
    pub source_parts: u32,
    /// OSDs that get a piece of each object; empty for `Delete`.
    pub targets: Vec<u32>,
    /// Whether it is repair by log: the same, with other priorities.
    pub by_log: bool,
}

/// What was done of a work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Objects that are whole at all targets.
    pub objects: u64,
}

/// What clients ask of one OSD, all shares and copies counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClientLoad {
    /// Reads a second of its disk.
    pub reads_per_second: f64,
    /// Mean bytes of a read.
    pub read_bytes: f64,
    /// Writes a second of its disk, as primary and as replica.
    pub writes_per_second: f64,
    /// Mean bytes of a write.
    pub write_bytes: f64,
}

/// What clients get of one OSD.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClientState {
    /// The share of what they ask that is served.
    pub served: f64,
    /// Mean seconds of a request.
    pub mean_seconds: f64,
    /// Seconds that 99 % of requests stay below.
    pub p99_seconds: f64,
    /// The share of time the device is busy, with all.
    pub busy: f64,
}

/// What keeps a work from going faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The limit of its class in a shard of this OSD's queue.
    MclockLimit {
        /// Which OSD.
        osd: u32,
    },
    /// The sleep before the items of this OSD.
    Sleep {
        /// Which OSD.
        osd: u32,
    },
    /// The objects that its primary has under way: they wait for answers, and nothing is busy all the time.
    Window {
        /// The primary.
        osd: u32,
    },
    /// The device of this OSD, or what clients leave of it.
    Device {
        /// Which OSD.
        osd: u32,
    },
    /// The threads of a shard of this OSD.
    Threads {
        /// Which OSD.
        osd: u32,
    },
    /// The network of the host of this OSD.
    Network {
        /// Which OSD of the work: one of several of its host.
        osd: u32,
    },
}

/// What moves the data. Times never go backwards.
pub trait DataPlane {
    /// An OSD appears, or has other settings from now on.
    fn set_osd(&mut self, now: SimTime, osd: &OsdInput, settings: &OsdSettings);
    /// What clients ask of an OSD from now on.
    fn set_clients(&mut self, now: SimTime, osd: u32, load: ClientLoad);
    /// A work begins.
    fn start(&mut self, now: SimTime, id: WorkId, work: Work);
    /// A work ends early: what it had under way is dropped.
    fn stop(&mut self, now: SimTime, id: WorkId) -> Progress;
    /// What is done of a work.
    fn progress(&mut self, now: SimTime, id: WorkId) -> Progress;
    /// What will be done of a work at a time not beyond [`next`](Self::next), which was asked for last. It changes nothing: whoever looks
    /// leaves no trace in what follows.
    fn done_at(&self, id: WorkId, at: SimTime) -> Progress;
    /// When the next thing may happen: never later than the next end of a work.
    fn next(&mut self) -> Option<SimTime>;
    /// Goes on to a time, which is not beyond [`next`](Self::next); works that end then are given in order.
    fn advance(&mut self, to: SimTime, ended: &mut Vec<WorkId>);
    /// What clients get of an OSD now.
    fn clients(&mut self, now: SimTime, osd: u32) -> ClientState;
    /// Bytes read and written by an OSD's device, and seconds it was busy, since the start, clients apart.
    fn used(&mut self, now: SimTime, osd: u32) -> (u64, u64, f64);
    /// What keeps a work from going faster now; none where the plane cannot say, or the work is not under way.
    fn limit(&mut self, id: WorkId) -> Option<Limit> {
        let _ = id;
        None
    }
    /// What its answers took to compute, in steps of like cost: equal for equal runs. 0 of a plane that does not count them.
    fn effort(&self) -> u64 {
        0
    }
}
