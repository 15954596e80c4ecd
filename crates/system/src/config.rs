//! What a simulation is made of.

use std::sync::Arc;

use resilver_fabric::topology::Topology;
use resilver_fabric::{LogGpTable, SwitchedParameters};
use resilver_placement::crush::{CrushMap, FlatScreen, Rule, Scratch};
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::object_position;
use resilver_placement::layouts::{Layout, ObjectLayout};
use resilver_placement::pool::{Osds, Pool};
use resilver_placement::ring::HashRing;
use resilver_population::{Decomposition, Extent, Histogram};
use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, GroupId, ObjectId};

use crate::SystemError;
use crate::actors::{Corruption, StreamTraffic, Traffic};
use crate::choice::{ObjectOrder, SourceChoice};
use crate::devices::Devices;
use crate::faults::Fault;
use crate::group_contents::GroupContents;
use crate::lanes::LanesConfig;
use crate::recovery::{PoolCode, PoolCodes, RecoveryPolicy, RetryPolicy};

/// The reweight of a device that is in, 16.16.
const REWEIGHT_FULL: u32 = 0x10000;

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
    /// Where each piece goes.
    pub placement: Placement,
    /// The code that objects are stored under; `None` where they are stored in copies.
    pub code: Option<CodeConfig>,
    /// What is stored.
    pub contents: Contents,
    /// The clients beside the rebuild, where there are any.
    pub traffic: Option<Traffic>,
    /// Clients that stream whole stripes instead, where there are any.
    pub streams: Option<StreamTraffic>,
    /// Groups that rebuild in place.
    pub corruptions: Vec<Corruption>,
    /// What breaks.
    pub faults: Vec<Fault>,
    /// The lanes of classes of traffic, where all do not share one queue.
    pub lanes: Option<LanesConfig>,
}

/// How objects are coded.
#[derive(Clone, Debug)]
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
        let of_pools = match &self.placement.algorithm {
            Algorithm::Crush(crush) => crush.pools.iter().any(|placed| placed.code.is_some()),
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => false,
        };
        of_pools || self.code.is_some()
    }

    /// How the objects of each pool are kept: by the pool's own code, else by the system's, else in copies.
    ///
    /// # Errors
    /// When a code has another number of pieces than the placement finds devices for; not where nothing `is_stored`.
    pub(crate) fn pool_codes(&self, is_stored: bool) -> Result<PoolCodes, SystemError> {
        let coding = self.code.as_ref().and_then(|coded| coded.coding);
        let pool_code = |own: Option<&Arc<Code>>, keeps_positions: bool, placed: usize| {
            let code = match own.or(self.code.as_ref().map(|coded| &coded.code)) {
                Some(code) => code.clone(),
                None => Arc::new(Code::replication(placed.max(1) as u32)?),
            };
            let pieces = u64::from(code.pieces());
            if is_stored && pieces != placed as u64 {
                return Err(SystemError::PiecesNotPlaced { pieces, placed: placed as u64 });
            }
            Ok(PoolCode { code, coding, keeps_positions })
        };
        match &self.placement.algorithm {
            Algorithm::Ring { copies, .. } | Algorithm::Layout { copies, .. } => {
                PoolCodes::of([pool_code(None, false, *copies)])
            }
            Algorithm::Crush(crush) => {
                let of = |placed: &PlacedPool| {
                    pool_code(placed.code.as_ref(), placed.keeps_positions(), placed.pool.size as usize)
                };
                PoolCodes::of(crush.pools.iter().map(of))
            }
        }
    }
}

/// What is stored.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Files drawn from a histogram.
    Files {
        /// Sizes of files.
        histogram: Histogram,
        /// How files divide into objects.
        decomposition: Decomposition,
        /// How much is stored.
        extent: Extent,
    },
    /// Placement groups of which count and volume are known; one entry a group.
    Groups(Vec<GroupContents>),
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
    Crush(CrushPlacement),
}

/// CRUSH over the pools of a cluster.
#[derive(Clone, Debug)]
pub struct CrushPlacement {
    /// The map.
    pub map: Arc<CrushMap>,
    /// The pools, whose groups are numbered one pool behind another.
    pub pools: Vec<PlacedPool>,
    /// The reweight of each device, 16.16.
    pub reweight: Vec<u32>,
    /// Whether each device is up; sets leave out devices that are not.
    pub is_up: Vec<bool>,
    /// The primary affinity of each device, 16.16; full beyond the end.
    pub affinity: Vec<u32>,
}

/// A pool and the rule that places it.
#[derive(Clone, Debug)]
pub struct PlacedPool {
    /// The pool.
    pub pool: Pool,
    /// Its rule.
    pub rule: Rule,
    /// The code that its objects are stored under, where the system's own does not hold for it.
    pub code: Option<Arc<Code>>,
}

/// Working memory of one thread that places.
#[derive(Default)]
pub struct PlaceScratch {
    pub(crate) crush: Scratch,
    pub(crate) items: Vec<i32>,
    pub(crate) set: Vec<DeviceId>,
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
            Algorithm::Crush(crush) => {
                let mut placement_seed = group.get();
                for placed in &crush.pools {
                    if placement_seed < placed.pool.pg_num {
                        crush.place_group(placed, placement_seed, scratch, set);
                        return;
                    }
                    placement_seed -= placed.pool.pg_num;
                }
                unreachable!("group {} lies beyond the last pool", group.get());
            }
        }
    }

    /// The groups that exceptions may lead elsewhere than the algorithm, in rising order.
    pub fn excepted_groups(&self) -> Vec<GroupId> {
        let Algorithm::Crush(crush) = self else { return Vec::new() };
        let mut first = 0;
        let mut groups = Vec::new();
        for Pool { pg_num, exceptions, .. } in crush.pools.iter().map(|placed| &placed.pool) {
            // An entry may outlive its group.
            groups.extend(exceptions.upmapped().filter(|ps| ps < pg_num).map(|ps| GroupId::new(first + ps)));
            first += pg_num;
        }
        groups
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
            Algorithm::Crush(crush) => crush.place(&crush.pools[0], object_position(object), scratch, set),
        }
    }

    /// A cheap test of which objects cannot be on a failed device, where the algorithm has one.
    pub(crate) fn flat_screen(&self, failed: &FailedSet) -> Option<FlatScreen> {
        match self {
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => None,
            Algorithm::Crush(crush) => {
                // A device that is in by part may turn inputs away that it wins, and others then take more attempts.
                let is_all_in = crush.reweight.iter().all(|&reweight| reweight == REWEIGHT_FULL);
                let placed = &crush.pools[0];
                // A device that was down before the failure is in no set.
                let was_up = |device: &DeviceId| crush.is_up.get(device.index()) == Some(&true);
                let targets = failed.devices().filter(was_up).map(|device| device.get() as i32).collect();
                FlatScreen::new(&crush.map, &placed.rule, placed.pool.size as usize, targets).filter(|_| is_all_in)
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
    /// A group of a pool, with the pool's exceptions to CRUSH.
    pub(crate) fn place_group(
        &self,
        placed: &PlacedPool,
        ps: u32,
        scratch: &mut PlaceScratch,
        set: &mut Vec<DeviceId>,
    ) {
        let osds = Osds { reweight: &self.reweight, is_up: &self.is_up, affinity: &self.affinity };
        let PlaceScratch { crush, items, .. } = scratch;
        placed.pool.up_set(&self.map, &placed.rule, ps, osds, crush, items);
        let devices = scratch.items.iter().copied().filter(|&item| osds.is_up(item));
        set.extend(devices.map(|item| DeviceId::new(item as u32)));
    }

    fn place(&self, placed: &PlacedPool, input: u32, scratch: &mut PlaceScratch, set: &mut Vec<DeviceId>) {
        let copies = placed.pool.size as usize;
        let weight_sets = self.map.weight_sets_for(placed.pool.id);
        let PlaceScratch { crush, items, .. } = scratch;
        self.map.place_with(&placed.rule, input, copies, &self.reweight, weight_sets, crush, items);
        let is_up = |&item: &i32| usize::try_from(item).is_ok_and(|device| self.is_up.get(device) == Some(&true));
        set.extend(scratch.items.iter().copied().filter(is_up).map(|item| DeviceId::new(item as u32)));
    }
}
