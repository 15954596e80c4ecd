//! Small clusters for tests of the data planes.

use resilver_units::SimTime;

use super::{ClientLoad, DataPlane, OpClass, Work, WorkId, WorkKind};
use crate::input::{DeviceLaw, NetworkInput, OsdInput};
use crate::settings::{CostModel, Mclock, OpQueue, OsdSettings, Share, Shares};

pub const MIB: f64 = 1024.0 * 1024.0;

/// A disk of 8 ms and 200 MB/s.
pub const HDD: DeviceLaw = DeviceLaw {
    read_seconds: 0.008,
    read_bytes_per_second: 2e8,
    write_seconds: 0.008,
    write_bytes_per_second: 2e8,
    channels: 1,
};

/// A flash device of 80 us and 60 us, 200 MB/s on each of eight channels.
pub const SSD: DeviceLaw = DeviceLaw {
    read_seconds: 80e-6,
    read_bytes_per_second: 3e8,
    write_seconds: 60e-6,
    write_bytes_per_second: 2e8,
    channels: 8,
};

/// A network of 10 Gbit/s.
pub const NETWORK: NetworkInput = NetworkInput { host_bytes_per_second: 1.25e9, latency_seconds: 1e-4 };

pub fn share(reservation: f64, weight: f64, limit: Option<f64>) -> Share {
    Share { reservation, weight, limit }
}

/// The profiles since Reef.
pub fn profile(name: &str) -> Shares {
    let (client, recovery, best_effort) = match name {
        "balanced" => (share(0.5, 1.0, None), share(0.5, 1.0, None), share(0.0, 1.0, Some(0.9))),
        "high_client_ops" => (share(0.6, 2.0, None), share(0.4, 1.0, None), share(0.0, 1.0, Some(0.7))),
        _ => (share(0.3, 1.0, None), share(0.7, 2.0, None), share(0.0, 1.0, None)),
    };
    Shares { client, recovery, best_effort }
}

/// Settings of a disk (else of flash) under a queue.
pub fn settings(rotational: bool, queue: OpQueue) -> OsdSettings {
    let wpq = matches!(queue, OpQueue::Wpq { .. });
    OsdSettings {
        osd_max_backfills: 1,
        osd_recovery_max_active: if rotational { 3 } else { 10 },
        osd_recovery_max_single_start: 1,
        osd_recovery_max_chunk: 8 << 20,
        osd_min_recovery_priority: 0,
        osd_backfill_retry_interval: 30.0,
        osd_recovery_retry_interval: 30.0,
        osd_allow_recovery_below_min_size: true,
        mon_max_pg_per_osd: 250,
        osd_max_pg_per_osd_hard_ratio: 3.0,
        osd_max_pg_log_entries: 10_000,
        osd_target_pg_log_entries_per_osd: 300_000,
        osd_min_pg_log_entries: 250,
        osd_recovery_sleep: if wpq && rotational { 0.1 } else { 0.0 },
        osd_delete_sleep: if wpq && rotational { 5.0 } else { 0.0 },
        osd_target_transaction_size: 30,
        queue,
        osd_op_num_shards: if rotational { 1 } else { 8 },
        osd_op_num_threads_per_shard: if rotational { 5 } else { 2 },
    }
}

/// Settings of a disk (else of flash) where recovery takes what it can.
pub fn free(rotational: bool) -> OsdSettings {
    settings(rotational, mclock(rotational, profile("high_recovery_ops")))
}

/// mClock's queue of a disk (else of flash), with the values that Ceph has by default.
pub fn mclock(rotational: bool, shares: Shares) -> OpQueue {
    OpQueue::Mclock(Mclock {
        max_sequential_bandwidth: if rotational { 150.0 * MIB } else { 1200.0 * MIB },
        max_capacity_iops: if rotational { 315.0 } else { 21_500.0 },
        cost: CostModel::Bandwidth,
        shares,
        sub_reads_in_class: false,
    })
}

pub fn wpq() -> OpQueue {
    OpQueue::Wpq { osd_client_op_priority: 63, osd_recovery_op_priority: 3, osd_recovery_cost: 20 << 20 }
}

/// An OSD of a host.
pub fn osd(id: u32, host: i32, device: DeviceLaw) -> OsdInput {
    OsdInput {
        id,
        up: true,
        reweight: 0x10000,
        affinity: 0x10000,
        capacity_bytes: 1 << 43,
        used_bytes: None,
        min_alloc_bytes: 4096,
        device,
        rotational: device.channels == 1,
        settings: 0,
        host,
    }
}

/// A work of copies pushed from one OSD to another.
pub fn push(primary: u32, target: u32, objects: u64, bytes: u64) -> Work {
    Work {
        kind: WorkKind::Push,
        class: OpClass::Recovery,
        group: u64::from(primary),
        primary,
        objects,
        piece_bytes: bytes,
        data_pieces: 1,
        sources: vec![],
        source_parts: 1,
        targets: vec![target],
        by_log: false,
    }
}

/// A cluster and what it does: all that a plane is told.
pub struct Case {
    pub name: String,
    pub osds: Vec<OsdInput>,
    pub settings: Vec<OsdSettings>,
    pub network: NetworkInput,
    pub clients: Vec<ClientLoad>,
    pub works: Vec<Work>,
    /// (seconds, OSD, share): when a device begins to work at which share of its rates, by rising time.
    pub slowed: Vec<(f64, u32, f64)>,
}

impl Case {
    /// OSDs of one kind, each on a host of its own.
    pub fn of(count: u32, device: DeviceLaw, settings: &OsdSettings, works: Vec<Work>) -> Self {
        Case {
            name: String::new(),
            osds: (0..count).map(|id| osd(id, id as i32, device)).collect(),
            settings: vec![settings.clone(); count as usize],
            network: NETWORK,
            clients: vec![ClientLoad::default(); count as usize],
            works,
            slowed: vec![],
        }
    }

    /// Tells a plane all but the works.
    pub fn set_up(&self, plane: &mut dyn DataPlane) {
        for (osd, settings) in self.osds.iter().zip(&self.settings) {
            plane.set_osd(SimTime::ZERO, osd, settings);
        }
        for (osd, load) in self.osds.iter().zip(&self.clients) {
            if *load != ClientLoad::default() {
                plane.set_clients(SimTime::ZERO, osd.id, *load);
            }
        }
    }

    /// Seconds until each work ends, all begun at once.
    pub fn ends(&self, plane: &mut dyn DataPlane) -> Vec<f64> {
        self.set_up(plane);
        for (id, work) in self.works.iter().enumerate() {
            plane.start(SimTime::ZERO, id as WorkId, work.clone());
        }
        let (mut ends, mut left) = (vec![f64::NAN; self.works.len()], self.works.len());
        let (mut ended, mut slowed) = (Vec::new(), self.slowed.iter().peekable());
        while left > 0 {
            let Some(mut next) = plane.next() else {
                break;
            };
            let at = |seconds: f64| SimTime::try_from(seconds).unwrap();
            let slows = slowed.next_if(|&&(seconds, ..)| at(seconds) <= next);
            next = slows.map_or(next, |&(seconds, ..)| at(seconds));
            plane.advance(next, &mut ended);
            if let Some(&(_, osd, share)) = slows {
                let osd = &self.osds[osd as usize];
                let slow = OsdInput { device: osd.device.slowed(share), ..osd.clone() };
                plane.set_osd(next, &slow, &self.settings[osd.id as usize]);
            }
            for id in ended.drain(..) {
                ends[id as usize] = next.seconds();
                left -= 1;
            }
        }
        ends
    }
}

/// A figure lies within a share of the one expected.
pub fn near(got: f64, expected: f64, within: f64) {
    assert!((got / expected - 1.0).abs() <= within, "{got} is not {expected} within {within}");
}
