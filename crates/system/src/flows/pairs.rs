//! Which requests are tried, and for which clients each of these trials stands.

use std::collections::{BTreeMap, BTreeSet};

use resilver_units::{DeviceId, EndpointId};

use super::sharing::Parts;
use super::trial::{Kind, Trial};
use crate::actors::Clients;
use crate::config::{FabricConfig, SystemConfig};

/// A requester, and the one of its servers that is tried where it has servers of its own.
pub(super) type Pair = (u32, Option<DeviceId>);

/// Servers that are tried in one run of a system, so that it is not built anew for each.
const TOGETHER: usize = 64;

/// What is tried of a system.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Each trial.
    pub tried: Vec<Pair>,
    /// By requester, the trials that its requests are like.
    of: Vec<Vec<u32>>,
}

/// What a requester's trial is known by: its traffic, where it enters unless that makes no difference, and the server.
type Key = (usize, Option<EndpointId>, Option<DeviceId>);

impl Pairs {
    /// All servers of a requester in one trial; where requesters have servers of their own, each of them in one for all that it is the
    /// same for.
    pub fn of(config: &SystemConfig, clients: &Clients, requesters: &[u32]) -> Self {
        let loops = clients.loops();
        let is_alike = is_like_others(config);
        let (mut tried, mut known, mut of) = (Vec::new(), BTreeMap::<Key, u32>::new(), Vec::new());
        // Where it makes no difference who is tried, it is the first one of a traffic, so that many are tried together.
        let mut firsts = BTreeMap::new();
        for &requester in requesters {
            let law = loops[requester as usize].map_or(0, |of| of.law);
            let entry = clients.entry_of(requester);
            let mut trial_of = |server: Option<DeviceId>| {
                let place = (server.is_none() || !is_alike(entry)).then_some(entry);
                *known.entry((law, place, server)).or_insert_with(|| {
                    let who = if place.is_some() { requester } else { *firsts.entry(law).or_insert(requester) };
                    tried.push((who, server));
                    tried.len() as u32 - 1
                })
            };
            of.push(match clients.own_servers(requester) {
                None => vec![trial_of(None)],
                Some(servers) => servers.into_iter().map(|server| trial_of(Some(server))).collect(),
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

    /// Whether each requester has one trial, which is its own and no other's.
    fn are_own(&self, requesters: &[u32]) -> bool {
        let are_single = (0..).zip(&self.of).all(|(number, of)| of[..] == [number]);
        are_single && self.tried.iter().map(|&(who, _)| who).eq(requesters.iter().copied())
    }

    /// What requests of each requester come to, of what was tried.
    pub fn trials(&self, clients: &Clients, requesters: &[u32], parts: &Parts, tried: Vec<Trial>) -> Vec<Trial> {
        if self.are_own(requesters) {
            return tried;
        }
        let loops = clients.loops();
        let combine = |(&requester, of): (&u32, &Vec<u32>)| {
            let own: Vec<&Trial> = of.iter().map(|&one| &tried[one as usize]).collect();
            // Who was tried entered at its own place.
            let renamed = |number: usize, part: u32| {
                let from = self.tried[of[number] as usize].0;
                parts.of_entry(part, clients.entry_of(from), clients.entry_of(requester))
            };
            let share = 1.0 / own.len() as f64;
            let reads: Vec<(&Kind, f64)> = own.iter().map(|trial| (&trial.reads, share)).collect();
            let writes: Vec<(&Kind, f64)> = own.iter().map(|trial| (&trial.writes, share)).collect();
            let mut alone = vec![[0.0; 2]; own[0].alone.len()];
            for of_class in own.iter().flat_map(|trial| trial.alone.iter().enumerate()) {
                let (class, delays) = of_class;
                alone[class].iter_mut().zip(delays).for_each(|(sum, delay)| *sum += share * delay);
            }
            Trial {
                of: loops[requester as usize].unwrap_or(own[0].of),
                reads: Kind::mean(&reads, renamed),
                writes: Kind::mean(&writes, renamed),
                alone,
            }
        };
        requesters.iter().zip(&self.of).map(combine).collect()
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
