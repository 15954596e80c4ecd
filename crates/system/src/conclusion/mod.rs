//! What a finished run has to tell of everything in it.

mod flows;

use resilver_fabric::{InterfaceUse, NetworkUse};
use resilver_units::Bytes;

use crate::clients::measures::{ClientOutcome, StreamOutcome};
use crate::plant::{LaneReport, PartUse};
use crate::recovery::limits::Limits;
use crate::recovery::outcome::Outcome;
use crate::trace::TraceRows;

pub use flows::{FlowOutcome, FlowRow, FlowsOf, LayerRow};

/// What a finished run of a system has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// What recovery did.
    pub outcome: Outcome,
    /// What clients got, where there are any.
    pub clients: Option<ClientOutcome>,
    /// What streams did beside, where clients stream.
    pub streams: Option<StreamOutcome>,
    /// What each endpoint's interface did, where the fabric is one of interfaces.
    pub interfaces: Vec<InterfaceUse>,
    /// What links and packets did, where the fabric has them.
    pub network: Option<NetworkUse>,
    /// What each lane did, where there are several.
    pub lanes: LaneReport,
    /// What each part did that requests pass on their way, where there are such parts.
    pub parts: Vec<PartUse>,
    /// What limited the rebuild.
    pub limits: Limits,
    /// Data handed to the fabric by all parts of the system, control messages included.
    pub network_bytes: Bytes,
    /// What flows came to, where clients are flows.
    pub flows: Option<FlowOutcome>,
    /// What happened in a window of time, where the run is traced.
    pub trace: Option<Box<TraceRows>>,
}
