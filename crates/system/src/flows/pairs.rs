//! Which requests are tried, and for which clients each of these trials stands.

use std::collections::{BTreeMap, BTreeSet};

use resilver_units::{DeviceId, EndpointId};

use super::sharing::Parts;
use super::trial::{Kind, Trial};
use crate::clients::{ClientFlow, Clients};
use crate::scenario::{FabricConfig, SystemConfig};

/// A requester, and the one of its servers that is tried where it has servers of its own.
pub(super) type Pair = (u32, Option<DeviceId>);

/// Servers that are tried in one run of a system, so that it is not built anew for each.
const TOGETHER: usize = 64;

/// What is tried of a system.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Each trial.
    pub tried: Vec<Pair>,
    /// By flow, the trials that its requests are like.
    of: Vec<Vec<u32>>,
}

/// What a requester's trial is known by: its traffic, where it enters unless that makes no difference, and the server.
type Key = (usize, Option<EndpointId>, Option<DeviceId>);

impl Pairs {
    /// All servers of a flow in one trial; where each requester has servers of its own, and where a flow goes to one, each of them in one for all
    /// that it is the same for.
    pub fn of(config: &SystemConfig, clients: &Clients, flows: &[ClientFlow]) -> Self {
        let is_alike = is_like_others(config);
        let (mut tried, mut known, mut of) = (Vec::new(), BTreeMap::<Key, u32>::new(), Vec::new());
        // Where it makes no difference who is tried, it is the first one of a traffic, so that many are tried together.
        let mut firsts = BTreeMap::new();
        for &ClientFlow { requester, server, demand } in flows {
            let law = clients.like(demand.law);
            let (entry, asks_all) = (clients.entry_of(requester), clients.objects_of(law).is_some());
            let mut trial_of = |server: Option<DeviceId>| {
                // All objects are tried, from wherever; of servers that are drawn, each client draws its own.
                let place = (server.is_none() && !asks_all || !is_alike(entry)).then_some(entry);
                *known.entry((law, place, server)).or_insert_with(|| {
                    let who = if place.is_some() { requester } else { *firsts.entry(law).or_insert(requester) };
                    tried.push((who, server));
                    tried.len() as u32 - 1
                })
            };
            of.push(match (server, clients.own_servers(requester)) {
                (Some(server), _) => vec![trial_of(Some(server))],
                (None, None) => vec![trial_of(None)],
                (None, Some(servers)) => servers.into_iter().map(|server| trial_of(Some(server))).collect(),
            });
        }
        Pairs { tried, of }
    }

    /// Up to where those from one on are tried in one run of the system: different servers of one requester, so many of them.
    pub fn together(&self, from: usize) -> usize {
        let (requester, server) = self.tried[from];
        let is_like = |&&(other, of_other): &&Pair| other == requester && of_other.is_some() && server.is_some();
        from + 1 + self.tried[from + 1..].iter().take(TOGETHER - 1).take_while(is_like).count()
    }

    /// Whether each flow has one trial, which is its own and no other's.
    fn are_own(&self, flows: &[ClientFlow]) -> bool {
        let are_single = (0..).zip(&self.of).all(|(number, of)| of[..] == [number]);
        are_single && self.tried.iter().map(|&(who, _)| who).eq(flows.iter().map(|flow| flow.requester))
    }

    /// What requests of each flow come to, of what was tried.
    pub fn trials(&self, clients: &Clients, flows: &[ClientFlow], parts: &Parts, tried: Vec<Trial>) -> Vec<Trial> {
        let is_split = flows.iter().any(|flow| flow.server.is_some());
        if !is_split && self.are_own(flows) {
            return tried;
        }
        let combine = |(&ClientFlow { requester, demand, .. }, of): (&ClientFlow, &Vec<u32>)| {
            let own: Vec<&Trial> = of.iter().map(|&one| &tried[one as usize]).collect();
            // Who was tried entered at its own place.
            let renamed = |number: usize, part: u32| {
                let from = self.tried[of[number] as usize].0;
                parts.of_entry(part, clients.entry_of(from), clients.entry_of(requester))
            };
            let share = 1.0 / own.len().max(1) as f64;
            let reads: Vec<(&Kind, f64)> = own.iter().map(|trial| (&trial.reads, share)).collect();
            let writes: Vec<(&Kind, f64)> = own.iter().map(|trial| (&trial.writes, share)).collect();
            let mut classes = own[0].classes.clone();
            for (number, of_class) in classes.iter_mut().enumerate() {
                for (kind, mean) in of_class.iter_mut().enumerate() {
                    let each = || own.iter().map(|trial| trial.classes[number][kind]);
                    mean.size = each().map(|one| share * one.size).sum();
                    mean.delay = each().map(|one| share * one.delay).sum();
                }
            }
            Trial { of: demand, reads: Kind::mean(&reads, renamed), writes: Kind::mean(&writes, renamed), classes }
        };
        flows.iter().zip(&self.of).map(combine).collect()
    }
}

/// At which places it makes no difference where a request enters, but to the interface there: at all that have no device, around a switch
/// that never fills, unless one of them may be slow.
fn is_like_others(config: &SystemConfig) -> impl Fn(EndpointId) -> bool {
    let is_star = matches!(config.fabric, FabricConfig::LogGp { .. });
    let is_whole = config.faults.iter().all(|fault| fault.nodes.is_empty() && fault.links.is_empty());
    let ports = config.ports_of.iter().flatten().chain(&config.endpoint_of);
    let devices: BTreeSet<EndpointId> = ports.copied().collect();
    move |entry| is_star && is_whole && !devices.contains(&entry)
}
