//! What a finished run has to tell.

use resilver_device::DeviceUse;
use resilver_kernel::film::Film;
use resilver_kernel::stats::{Interval, Timeline};
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use super::{Losses, SourcesAwaited};

/// What one device did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOutcome {
    /// Whether it failed, at whatever time.
    pub is_failed: bool,
    /// Pieces it received in place of lost ones.
    pub rebuilt_pieces: u64,
    /// Data of those pieces.
    pub rebuilt_bytes: Bytes,
    /// Pieces it received that moved though they were not lost.
    pub moved_pieces: u64,
    /// Data of those pieces.
    pub remapped_bytes: Bytes,
    /// Data it received, whatever for.
    pub received_bytes: Bytes,
    /// Pieces it was a source of.
    pub sent_pieces: u64,
    /// Data it read and sent.
    pub sent_bytes: Bytes,
    /// When the last byte of what came to it was written; `None` where nothing came.
    pub finished_at: Option<SimTime>,
    /// The most that it was sent without asking, and had not written yet; `None` where it asks for all.
    pub most_unwritten: Option<Bytes>,
    /// What its disk did; what was in its queue when it failed is not part of it, but for the number of requests.
    pub disk: DeviceUse,
    /// Requests to its disk until it failed; zero where it did not, or is back.
    pub requests_before_failure: u64,
}

/// Data that was moved in vain, because a device failed or was not wanted any more while it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wasted {
    /// Read, and not sent.
    pub read: Bytes,
    /// Sent, and not received.
    pub sent: Bytes,
    /// Received, and not written.
    pub received: Bytes,
    /// Written, and of no piece that was completed.
    pub written: Bytes,
}

/// How the run stood, on average over an interval of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Where the interval begins.
    pub start: SimTime,
    /// How long it is.
    pub duration: SimDuration,
    /// Data asked for and not written yet.
    pub in_flight_bytes: f64,
    /// Data written in it in place of lost pieces.
    pub rebuilt_bytes: u64,
    /// Objects that lack a piece and can be restored.
    pub degraded_objects: f64,
    /// Those of them that may not survive another loss.
    pub at_risk_objects: f64,
}

impl Level {
    /// The intervals from time zero to `end`.
    pub(crate) fn intervals(flight: &Timeline, degraded: &Timeline, at_risk: &Timeline, end: SimTime) -> Vec<Level> {
        // Timelines of one length have the same intervals.
        let (degraded, at_risk) = (degraded.intervals(end), at_risk.intervals(end));
        let level = |intervals: &[Interval], index: usize| intervals.get(index).map_or(0.0, |i| i.mean_level);
        let flight = flight.intervals(end).into_iter().enumerate();
        flight
            .map(|(index, interval)| Level {
                start: interval.start,
                duration: interval.duration,
                in_flight_bytes: interval.mean_level,
                rebuilt_bytes: interval.amount,
                degraded_objects: level(&degraded, index),
                at_risk_objects: level(&at_risk, index),
            })
            .collect()
    }
}

/// Data that went from one device to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Who sent.
    pub source: DeviceId,
    /// Who received.
    pub destination: DeviceId,
    /// How many pieces.
    pub pieces: u64,
    /// How much data.
    pub bytes: Bytes,
}

/// What it took to make pieces of a code anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coded {
    /// Data that new homes received and made pieces of, or kept as pieces.
    pub gathered_bytes: Bytes,
    /// Data of pieces that were decoded.
    pub decoded_bytes: Bytes,
}

/// What became of the objects of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOutcome {
    /// What the failures asked for.
    pub losses: Losses,
    /// Objects of which a lost piece was made anew.
    pub rebuilt_objects: u64,
    /// Pieces that were.
    pub rebuilt_pieces: u64,
    /// Their data.
    pub rebuilt_bytes: Bytes,
    /// When the last lost piece was there again; when the first device failed, where none was.
    pub rebuilt_at: SimTime,
}

/// What a finished run has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the failure asked for.
    pub losses: Losses,
    /// What became of each pool's objects, in the order of the pools.
    pub pools: Vec<PoolOutcome>,
    /// Objects of which lost pieces were made anew, and none of these was out of reach.
    pub rebuilt_objects: u64,
    /// Objects of which pieces moved though they were not lost.
    pub moved_objects: u64,
    /// Objects of which lost pieces could not be made anew, as no way led to what it takes.
    pub unreachable_objects: u64,
    /// Pieces that replaced lost ones.
    pub rebuilt_pieces: u64,
    /// Data of those pieces.
    pub rebuilt_bytes: Bytes,
    /// Pieces that moved though they were not lost.
    pub moved_pieces: u64,
    /// Data of those pieces.
    pub remapped_bytes: Bytes,
    /// Data of all pieces that had to come, and that no later failure took back.
    pub moved_bytes: Bytes,
    /// What was moved in vain.
    pub wasted: Wasted,
    /// Lost pieces that came back with their devices before they were made anew.
    pub returned_pieces: u64,
    /// The objects of these pieces.
    pub returned_objects: u64,
    /// Pieces that came back with their devices and had been made anew elsewhere, where they stay.
    pub surplus_pieces: u64,
    /// Pieces in place of lost ones that were given up because their sources or their destinations could not be reached.
    pub unreachable_pieces: u64,
    /// Pieces that were to move though they were not lost, given up likewise.
    pub unreachable_moves: u64,
    /// When the first devices failed.
    pub begins_at: SimTime,
    /// When the last lost piece was there again, made anew or back with its device; when the first devices failed, where none was.
    pub rebuilt_at: SimTime,
    /// When half of the data in place of lost pieces was written; `None` where none was.
    pub half_rebuilt_at: Option<SimTime>,
    /// When 99 % of it was.
    pub nearly_rebuilt_at: Option<SimTime>,
    /// What coded pieces took, where redundancy is a code.
    pub coded: Option<Coded>,
    /// When the first object that lacked a piece had all of them again; `None` where none had.
    pub first_redundant_at: Option<SimTime>,
    /// When the last object that has all its pieces again had them; `None` where none has.
    pub last_redundant_at: Option<SimTime>,
    /// When the last event happened.
    pub ended_at: SimTime,
    /// One entry a device.
    pub devices: Vec<DeviceOutcome>,
    /// By source, then destination; pairs without traffic left out.
    pub transfers: Vec<Transfer>,
    /// How the run went over its time.
    pub timeline: Vec<Level>,
    /// Who read and wrote for recovery at moments of the run, where that was asked for.
    pub film: Option<Film<SourcesAwaited>>,
    /// Data still in the memory pools when the last event was over; zero.
    pub memory_held_at_end: Bytes,
}

/// What was rebuilt of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rebuilt {
    pub pieces: u64,
    pub bytes: Bytes,
    /// When the last piece was there again, made anew or back with its device.
    pub last_at: SimTime,
}

impl Rebuilt {
    /// Nothing, since the first loss.
    pub fn since(begins_at: SimTime) -> Self {
        Rebuilt { pieces: 0, bytes: Bytes::ZERO, last_at: begins_at }
    }

    /// A piece of this size is rebuilt.
    #[inline]
    pub fn add(&mut self, size: Bytes, now: SimTime) {
        self.pieces += 1;
        self.bytes += size;
        self.last_at = now;
    }
}
