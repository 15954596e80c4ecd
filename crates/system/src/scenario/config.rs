//! What a simulation is made of.

use std::sync::Arc;

use resilver_crush::pool::Pool;
use resilver_crush::{CrushMap, FlatScreen, NONE, Rule, Scratch};
use resilver_fabric::topology::Topology;
use resilver_fabric::{LogGpTable, SwitchedParameters};
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::object_position;
use resilver_placement::layouts::{Layout, ObjectLayout};
use resilver_placement::ring::HashRing;
use resilver_population::{Bin, Decomposition, Extent, FILE_INDEX_LIMIT, Histogram, file_of};
use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, GroupId, ObjectId};
use serde::Deserialize;

use super::detecting::Detected;
use super::faults::Fault;
use super::{
    Corruption, Devices, LanesConfig, ObjectOrder, PoolCode, PoolCodes, RecoveryPolicy, RetryPolicy, SourceChoice,
    StreamTraffic, Traffic,
};
use crate::SystemError;

/// The reweight of a device that is in, 16.16.
pub(crate) const REWEIGHT_FULL: u32 = 0x10000;

/// One storage system and what fails in it.
#[derive(Clone, Debug)]
pub struct SystemConfig {
    /// Key of every random draw.
    pub seed: u64,
    /// The endpoint of each device.
    pub endpoint_of: Vec<EndpointId>,
    /// All endpoints of each device, as many of one as of another; empty where each has one.
    pub ports_of: Vec<Vec<EndpointId>>,
    /// How fast each device serves its requests, and in which order.
    pub devices: Devices,
    /// The network.
    pub fabric: FabricConfig,
    /// How recovery goes about its work.
    pub policy: RecoveryPolicy,
    /// How destinations go about messages that the network loses.
    pub retry: RetryPolicy,
    /// Where new homes pull from.
    pub source: SourceChoice,
    /// In which order they pull.
    pub order: ObjectOrder,
    /// What is stored, where, and how; one at least, which may be empty.
    pub pools: Vec<StoredPool>,
    /// The clients beside the rebuild, where there are any: the last as long, and their messages are as small, as the first's.
    pub traffic: Vec<Traffic>,
    /// Clients that stream whole stripes instead, where there are any.
    pub streams: Option<StreamTraffic>,
    /// Groups that rebuild in place.
    pub corruptions: Vec<Corruption>,
    /// What breaks.
    pub faults: Vec<Fault>,
    /// How what breaks became known, where devices found that out themselves.
    pub detected: Vec<Detected>,
    /// The lanes of classes of traffic, where all do not share one queue.
    pub lanes: Option<LanesConfig>,
    /// The most frames of the film of who reads and writes for recovery; 0 for no film.
    pub frames: u32,
}

/// One population under one placement and one redundancy.
#[derive(Clone, Debug)]
pub struct StoredPool {
    /// Where each piece goes.
    pub placement: Placement,
    /// The code that objects are stored under; `None` where they are stored in copies.
    pub code: Option<CodeConfig>,
    /// What is stored.
    pub contents: Contents,
}

/// How objects are coded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeConfig {
    /// The code.
    pub code: Arc<Code>,
    /// One device's part of a stripe, where clients stream whole stripes.
    pub strip: Option<Bytes>,
    /// How fast one server encodes or decodes, in user data; `None` where that takes no time.
    pub coding: Option<BytesPerSecond>,
}

/// The network that joins servers.
#[derive(Clone, Debug)]
pub enum FabricConfig {
    /// LogGP interfaces around a switch that never fills.
    LogGp {
        /// The interfaces' parameters.
        table: Arc<LogGpTable>,
    },
    /// Packets on links and switches.
    Switched {
        /// The nodes and links; its hosts are the servers' endpoints, and its routers those of clients.
        topology: Arc<Topology>,
        /// What links, switches and packets are like.
        parameters: SwitchedParameters,
    },
}

impl SystemConfig {
    /// Whether a code is named for any of the objects, copies as a code included.
    pub(crate) fn has_code(&self) -> bool {
        self.pools.iter().any(|pool| pool.code.is_some())
    }

    /// How the objects of each pool are kept: by the pool's code, else in copies.
    ///
    /// # Errors
    /// When a code has another number of pieces than the placement finds devices for; not where nothing `is_stored`.
    pub(crate) fn pool_codes(&self, is_stored: bool) -> Result<PoolCodes, SystemError> {
        PoolCodes::of(self.pools.iter().map(|pool| {
            let (algorithm, coded) = (&pool.placement.algorithm, pool.code.as_ref());
            let placed = algorithm.pieces();
            let code = match coded {
                Some(coded) => coded.code.clone(),
                None => Arc::new(Code::replication(placed.max(1) as u32)?),
            };
            let pieces = u64::from(code.pieces());
            if is_stored && pieces != placed as u64 {
                return Err(SystemError::PiecesNotPlaced { pieces, placed: placed as u64 });
            }
            let coding = coded.and_then(|coded| coded.coding);
            Ok(PoolCode { code, coding, keeps_positions: algorithm.keeps_positions() })
        }))
    }

    /// The first file of each pool: an object's number says its file, and so its pool.
    pub(crate) fn numbering(&self) -> Numbering {
        Numbering { pools: self.pools.len() as u64 }
    }
}

/// How the objects of several pools are told apart: each pool's files are numbered on from its first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    pools: u64,
}

impl Numbering {
    /// How many files may be numbered in each pool.
    fn files_a_pool(self) -> u64 {
        FILE_INDEX_LIMIT / self.pools.max(1)
    }

    /// The number of a pool's first file.
    pub fn first_file(self, pool: usize) -> u64 {
        pool as u64 * self.files_a_pool()
    }

    /// The pool of an object.
    #[inline]
    pub fn pool_of(self, object: ObjectId) -> usize {
        // Where there is one pool, nothing has to be divided.
        if self.pools < 2 { 0 } else { (file_of(object) / self.files_a_pool()) as usize }
    }
}

/// What is stored: files drawn from a histogram.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Sizes of files.
    pub histogram: Histogram,
    /// How files divide into objects.
    pub decomposition: Decomposition,
    /// How much is stored.
    pub extent: Extent,
}

impl Contents {
    /// No files.
    pub fn nothing() -> Self {
        let histogram = Histogram::new(&[Bin { min: 0, max: 1, count: 1 }]).expect("it has a size");
        Contents { histogram, decomposition: Decomposition::Whole, extent: Extent::Files(0) }
    }
}

/// Where each piece goes: the unit that is placed, and the algorithm that places it.
#[derive(Clone, Debug)]
pub struct Placement {
    /// How many placement groups objects share, or `None` where each object is placed on its own.
    pub groups: Option<u32>,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The failure domain of each device, where copies must lie in different ones.
    pub domain_of: Option<Vec<u32>>,
}

/// An algorithm that places groups or objects.
#[derive(Clone, Debug)]
pub enum Algorithm {
    /// A hash ring.
    Ring {
        /// The ring.
        ring: Arc<HashRing>,
        /// Copies of each object.
        copies: usize,
        /// Whether each device is out, and left out of every set.
        is_out: Vec<bool>,
    },
    /// One of the layouts beside CRUSH and the ring.
    Layout {
        /// The layout.
        layout: Arc<Layout>,
        /// Copies of each object.
        copies: usize,
        /// Whether each device is out, and left out of every set.
        is_out: Vec<bool>,
    },
    /// CRUSH.
    Crush(Box<CrushPlacement>),
}

/// CRUSH over a pool of a cluster.
#[derive(Clone, Debug)]
pub struct CrushPlacement {
    /// The map.
    pub map: Arc<CrushMap>,
    /// The pool.
    pub pool: Pool,
    /// Its rule.
    pub rule: Rule,
    /// Which of the devices that the rule finds each piece is at, where they are not in the order of the pieces; else empty.
    pub order: Vec<u32>,
    /// The reweight of each device, 16.16: full, and none of a device that is out.
    pub reweight: Vec<u32>,
}

/// Working memory of one thread that places.
#[derive(Default)]
pub struct PlaceScratch {
    pub(crate) crush: Scratch,
    pub(crate) items: Vec<i32>,
    pub(crate) set: Vec<DeviceId>,
    /// The devices of an object were none out.
    pub(crate) undisturbed: Vec<DeviceId>,
}

impl Algorithm {
    /// Appends the devices of a group.
    pub fn place_group(&self, group: GroupId, scratch: &mut PlaceScratch, set: &mut Vec<DeviceId>) {
        match self {
            Algorithm::Ring { ring, copies, is_out } => {
                let object = ObjectId::new(u64::from(group.get()));
                ring.place(object, *copies, |device| is_out[device.index()], set);
            }
            Algorithm::Layout { layout, copies, is_out } => {
                let object = ObjectId::new(u64::from(group.get()));
                layout.place(object, *copies, |device| is_out[device.index()], set);
            }
            Algorithm::Crush(crush) => crush.place(crush.pool.placement_seed(group.get()), scratch, set),
        }
    }

    /// Appends the devices of an object that is placed on its own.
    pub fn place_object(&self, object: ObjectId, scratch: &mut PlaceScratch, set: &mut Vec<DeviceId>) {
        match self {
            Algorithm::Ring { ring, copies, is_out } => {
                ring.place(object, *copies, |device| is_out[device.index()], set);
            }
            Algorithm::Layout { layout, copies, is_out } => {
                layout.place(object, *copies, |device| is_out[device.index()], set);
            }
            Algorithm::Crush(crush) => crush.place(object_position(object), scratch, set),
        }
    }

    /// A cheap test of which objects cannot be on a failed device, where the algorithm has one.
    pub(crate) fn flat_screen(&self, failed: &FailedSet) -> Option<FlatScreen> {
        match self {
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => None,
            Algorithm::Crush(crush) => {
                // Where a device turns inputs away that it wins, others take more attempts.
                let is_all_in = crush.reweight.iter().all(|&reweight| reweight == REWEIGHT_FULL);
                let targets = failed.devices().map(|device| device.get() as i32).collect();
                FlatScreen::new(&crush.map, &crush.rule, crush.pool.size as usize, targets).filter(|_| is_all_in)
            }
        }
    }

    /// The same algorithm after a failure: failed devices are marked out.
    ///
    /// A ring and the other layouts pass over devices that are out; CRUSH turns away from devices whose reweight is zero.
    pub fn without(&self, failed: &FailedSet) -> Algorithm {
        let mut after = self.clone();
        for device in failed.devices() {
            match &mut after {
                Algorithm::Ring { is_out, .. } | Algorithm::Layout { is_out, .. } => is_out[device.index()] = true,
                Algorithm::Crush(crush) => crush.reweight[device.index()] = 0,
            }
        }
        after
    }
}

impl CrushPlacement {
    fn place(&self, input: u32, scratch: &mut PlaceScratch, set: &mut Vec<DeviceId>) {
        self.place_items(input, scratch);
        set.extend(devices_of(&scratch.items));
    }

    /// What the rule finds for an input, with holes where it finds no device.
    pub(crate) fn place_items(&self, input: u32, scratch: &mut PlaceScratch) {
        let (copies, weight_sets) = (self.pool.size as usize, self.map.weight_sets_for(self.pool.id));
        let PlaceScratch { crush, items, .. } = scratch;
        self.map.place_with(&self.rule, input, copies, &self.reweight, weight_sets, crush, items);
    }
}

/// The devices that CRUSH placed, without holes.
pub(crate) fn devices_of(items: &[i32]) -> impl Iterator<Item = DeviceId> {
    items.iter().filter(|&&item| item != NONE).map(|&item| DeviceId::new(item as u32))
}
