//! How fast lost devices are made whole.
//!
//! Where bandwidth is shared, the repair of a device is a flow of the bytes that it held. It is read of what its groups have left, evenly over the members
//! that a repair may read, and decoded where it comes to lie: on a replacement at the device's own place, or spread evenly over all. Rates
//! are max-min fair over the bandwidth that all devices have together, that of all parts of each limited level together, and the links of the
//! parts that replacements are in; each repair's own cap is that of its target and of the device and the parts that it reads most of.

use resilver_flow::{Flow, Flows, fair_rates};

use super::StorageSystem;
use super::lost::Lost;
use super::plan::Plan;
use super::times::at;
use crate::input::{LimitInput, NO_DEVICE, SpeedInput};

/// What the repair of a device takes of what is shared, for each byte made anew.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// Bytes read.
    reads: f64,
    /// Bytes that cross each limited level.
    crossing: Vec<f64>,
    /// Bytes a second that it gets at the most.
    cap: f64,
}

/// A repair by the slot of its device: its cap, and what is shared on its way, with what a byte takes of each.
struct Repair {
    slot: u32,
    cap: f64,
    way: Vec<(u32, f64)>,
}

/// What is shared.
struct Bandwidth<'input> {
    device: f64,
    limits: &'input [LimitInput],
    onto_replacement: bool,
}

impl Plan {
    /// What the repair of a device takes, found when first asked for.
    fn shares(&self, device: u32, bandwidth: &Bandwidth) -> &Shares {
        self.shares[device as usize].get_or_init(|| self.find_shares(device, bandwidth))
    }

    fn find_shares(&self, device: u32, bandwidth: &Bandwidth) -> Shares {
        let bytes = self.holdings[device as usize].bytes;
        // What is read of each other device, for each byte of this one.
        let mut read: Vec<(u32, f64)> = Vec::new();
        for &(group, place) in self.places(device) {
            let pool = self.pool(group);
            let members = pool.judge.read_with(place).map(|other| pool.members(group)[other as usize]);
            let others: Vec<u32> = members.filter(|&member| member != NO_DEVICE && member != device).collect();
            let each = pool.piece_bytes(group) * pool.judge.reads / others.len() as f64 / bytes;
            read.extend(others.into_iter().map(|other| (other, each)));
        }
        read.sort_unstable_by_key(|&(other, _)| other);
        let sums: Vec<(u32, f64)> = read
            .chunk_by(|left, right| left.0 == right.0)
            .map(|equal| (equal[0].0, equal.iter().map(|&(_, share)| share).sum()))
            .collect();
        let most = |shares: &mut dyn Iterator<Item = f64>| shares.fold(0.0, f64::max);
        let over = |rate: f64, share: f64| if share > 0.0 { rate / share } else { f64::INFINITY };
        let mut cap = over(bandwidth.device, most(&mut sums.iter().map(|&(_, share)| share)));
        if bandwidth.onto_replacement {
            cap = cap.min(bandwidth.device);
        }
        let mut crossing = Vec::new();
        for limit in bandwidth.limits {
            let part_of = |device: u32| self.tree.ancestors(device)[limit.level];
            let stays = |other: u32| bandwidth.onto_replacement && part_of(other) == part_of(device);
            let mut of_part: Vec<(u32, f64)> = sums
                .iter()
                .filter(|&&(other, _)| !stays(other))
                .map(|&(other, share)| (part_of(other), share))
                .collect();
            of_part.sort_by_key(|&(part, _)| part);
            let parts = of_part.chunk_by(|left, right| left.0 == right.0);
            let busiest = most(&mut parts.map(|equal| equal.iter().map(|&(_, share)| share).sum()));
            let all: f64 = of_part.iter().map(|&(_, share)| share).sum();
            cap = cap.min(over(limit.bytes_per_second, busiest));
            if bandwidth.onto_replacement {
                cap = cap.min(over(limit.bytes_per_second, all));
            }
            crossing.push(all);
        }
        Shares { reads: sums.iter().map(|&(_, share)| share).sum(), crossing, cap }
    }
}

impl StorageSystem {
    /// How long the repair of each device that holds something takes while nothing else is lost, in seconds.
    pub fn repair_seconds(&self) -> Vec<f64> {
        let mut system = Self::of(self.plan.clone());
        let alone = |device: u32| {
            system.slots = vec![Lost::new(device, 0, 0, (0, 0.5), 0.0)];
            (system.active, system.repairing) = (vec![0], vec![0]);
            system.retime();
            system.slots[0].takes
        };
        (0..self.devices() as u32)
            .filter(|&device| self.plan.holdings[device as usize].bytes > 0.0)
            .map(alone)
            .collect()
    }

    /// Says anew how long each repair takes, after something began, ended, went away or came back; all are settled.
    pub(super) fn retime(&mut self) {
        let plan = self.plan.clone();
        match &plan.repair.speed {
            SpeedInput::Parallel { takes } => {
                for &slot in &self.repairing {
                    let lost = &mut self.slots[slot as usize];
                    lost.takes = at(takes, lost.drawn);
                }
            }
            SpeedInput::Serial { takes, crews } => {
                let device_of = |slot: u32| self.slots[slot as usize].device;
                let waits = |place: usize| match crews {
                    Some(crews) => place >= *crews,
                    None => {
                        let neighbors = plan.neighbors(device_of(self.repairing[place]));
                        let mut before = self.repairing[..place].iter().map(|&slot| device_of(slot));
                        before.any(|device| neighbors.binary_search(&device).is_ok())
                    }
                };
                let first: Vec<u32> = (0..self.repairing.len())
                    .filter(|&place| !waits(place))
                    .map(|place| self.repairing[place])
                    .collect();
                for slot in first {
                    let lost = &mut self.slots[slot as usize];
                    lost.takes = at(takes, lost.drawn);
                }
            }
            SpeedInput::ByLost { takes } => {
                let takes = &takes[self.repairing.len().clamp(1, takes.len()) - 1];
                for &slot in &self.repairing {
                    let lost = &mut self.slots[slot as usize];
                    lost.takes = at(takes, lost.drawn);
                }
            }
            SpeedInput::Shared { device_bytes_per_second, limits, onto_replacement } => {
                let onto_replacement = *onto_replacement;
                self.share(&plan, &Bandwidth { device: *device_bytes_per_second, limits, onto_replacement });
            }
        }
        self.is_retimed = true;
    }

    /// Shares bandwidth among repairs.
    fn share(&mut self, plan: &Plan, bandwidth: &Bandwidth) {
        let away: usize = self.away.parts.iter().map(|&(level, part)| plan.tree.below(level, part).len()).sum();
        let there = plan.tree.devices().saturating_sub(away + self.active.len());
        let mut capacities = vec![there as f64 * bandwidth.device];
        capacities
            .extend(bandwidth.limits.iter().map(|limit| plan.tree.counts[limit.level] as f64 * limit.bytes_per_second));
        // The links into the parts that replacements are in: level and part of each.
        let mut links: Vec<(usize, u32)> = Vec::new();
        let mut repairs = Vec::new();
        for &slot in &self.repairing {
            let device = self.slots[slot as usize].device;
            self.slots[slot as usize].takes = f64::INFINITY;
            if plan.holdings[device as usize].bytes == 0.0 {
                self.slots[slot as usize].takes = 0.0;
                continue;
            }
            if bandwidth.onto_replacement && self.is_device_away(device) {
                continue;
            }
            let shares = plan.shares(device, bandwidth);
            let mut way = vec![(0, shares.reads + 1.0)];
            for (number, (limit, &crossing)) in bandwidth.limits.iter().zip(&shares.crossing).enumerate() {
                if crossing == 0.0 {
                    continue;
                }
                way.push((1 + number as u32, crossing));
                if bandwidth.onto_replacement {
                    let link = (number, plan.tree.ancestors(device)[limit.level]);
                    let place = links.iter().position(|&other| other == link).unwrap_or_else(|| {
                        links.push(link);
                        capacities.push(limit.bytes_per_second);
                        links.len() - 1
                    });
                    way.push(((1 + bandwidth.limits.len() + place) as u32, crossing));
                }
            }
            repairs.push(Repair { slot, cap: shares.cap, way });
        }
        for (slot, rate) in rates(capacities, &repairs) {
            let lost = &mut self.slots[slot as usize];
            let bytes = plan.holdings[lost.device as usize].bytes;
            lost.takes = if rate > 0.0 { bytes / rate } else { f64::INFINITY };
        }
    }

    /// How long the whole repair of a lost device would take about now.
    pub(super) fn takes_about(&self, slot: u32) -> f64 {
        let lost = &self.slots[slot as usize];
        if lost.takes.is_finite() {
            return lost.takes;
        }
        match &self.plan.repair.speed {
            SpeedInput::Parallel { takes } | SpeedInput::Serial { takes, .. } => at(takes, lost.drawn),
            SpeedInput::ByLost { takes } => at(&takes[0], lost.drawn),
            SpeedInput::Shared { device_bytes_per_second, limits, onto_replacement } => {
                let onto_replacement = *onto_replacement;
                let bandwidth = Bandwidth { device: *device_bytes_per_second, limits, onto_replacement };
                let bytes = self.plan.holdings[lost.device as usize].bytes;
                if bytes > 0.0 { bytes / self.plan.shares(lost.device, &bandwidth).cap } else { 0.0 }
            }
        }
    }
}

/// The rate of each repair by its slot: of one alone what is left to it by its cap and its way, of several by filling.
fn rates(capacities: Vec<f64>, repairs: &[Repair]) -> Vec<(u32, f64)> {
    if let [Repair { slot, cap, way }] = repairs {
        let of_way = way.iter().map(|&(resource, cost)| capacities[resource as usize] / cost);
        return vec![(*slot, of_way.fold(*cap, f64::min))];
    }
    let mut flows = Flows::new(capacities).expect("capacities are finite and from 0 on");
    let row = |Repair { slot, cap, way }: &Repair| {
        let flow = Flow { cap: *cap, ..Flow::default() };
        (*slot, flows.add(way, flow).expect("costs are above 0, and the first resource ends each rate"))
    };
    let rows: Vec<(u32, u32)> = repairs.iter().map(row).collect();
    let rates = fair_rates(&flows).expect("rates of checked bandwidths are finite");
    rows.into_iter().map(|(slot, row)| (slot, rates.rates[row as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repair_alone_is_as_fast_as_filling_says() {
        // A resource of 12 at cost 3 and one of 5 at cost 1 leave 4; a cap of 2 is less.
        for (cap, rate) in [(f64::INFINITY, 4.0), (2.0, 2.0)] {
            let repair = Repair { slot: 7, cap, way: vec![(0, 3.0), (1, 1.0)] };
            let mut flows = Flows::new(vec![12.0, 5.0]).unwrap();
            flows.add(&repair.way, Flow { cap, ..Flow::default() }).unwrap();
            assert_eq!(fair_rates(&flows).unwrap().rates, [rate]);
            assert_eq!(rates(vec![12.0, 5.0], &[repair]), [(7, rate)]);
        }
    }
}
