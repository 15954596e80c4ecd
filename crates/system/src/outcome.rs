//! What a finished run has to tell.

use resilver_device::DeviceUse;
use resilver_kernel::stats::Interval;
use resilver_units::{Bytes, DeviceId, SimTime};

use crate::work::Losses;

/// What one device did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOutcome {
    /// Whether it failed at the start.
    pub is_failed: bool,
    /// Copies it received in place of lost ones.
    pub rebuilt_replicas: u64,
    /// Data of those copies.
    pub rebuilt_bytes: Bytes,
    /// Copies it received that moved though they were not lost.
    pub remapped_replicas: u64,
    /// Data of those copies.
    pub remapped_bytes: Bytes,
    /// Data it received, whatever for.
    pub received_bytes: Bytes,
    /// Copies it was the source of.
    pub sent_replicas: u64,
    /// Data it read and sent.
    pub sent_bytes: Bytes,
    /// When the last byte it pulled was written; `None` when it pulled nothing.
    pub finished_at: Option<SimTime>,
    /// What its disk did.
    pub disk: DeviceUse,
}

/// Data that went from one device to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Who sent.
    pub source: DeviceId,
    /// Who received.
    pub destination: DeviceId,
    /// How many copies.
    pub replicas: u64,
    /// How much data.
    pub bytes: Bytes,
}

/// What a finished run has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the failure asked for.
    pub losses: Losses,
    /// Copies that replaced lost ones.
    pub rebuilt_replicas: u64,
    /// Data of those copies.
    pub rebuilt_bytes: Bytes,
    /// Copies that moved though they were not lost.
    pub remapped_replicas: u64,
    /// Data of those copies.
    pub remapped_bytes: Bytes,
    /// Data of all copies that had to move.
    pub moved_bytes: Bytes,
    /// When the last lost copy was complete.
    pub rebuilt_at: SimTime,
    /// When the last event happened.
    pub ended_at: SimTime,
    /// One entry a device.
    pub devices: Vec<DeviceOutcome>,
    /// By source, then destination; pairs without traffic left out.
    pub transfers: Vec<Transfer>,
    /// Level: data requested but not yet written. Amount: data written in place of lost copies.
    pub timeline: Vec<Interval>,
    /// Data still in the memory pools when the last event was over; zero.
    pub memory_held_at_end: Bytes,
}
