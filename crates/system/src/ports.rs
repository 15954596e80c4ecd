//! The network ports of servers: which endpoints a server has, which of them work, and between which two a message goes.

use resilver_units::{DeviceId, EndpointId};

/// The ports of every server, by side: side j is the j-th port of each.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// The endpoints of each device, `sides` of them, device by device.
    endpoints: Vec<EndpointId>,
    sides: u32,
    /// Whether each of these endpoints works.
    works: Vec<bool>,
    /// How many do not.
    broken: u32,
}

impl Ports {
    /// The ports of devices that have these endpoints each; of `endpoint_of` where `ports_of` is empty, one a device.
    ///
    /// Every device has as many ports as the first; lists of several lengths are cut to the shortest.
    pub fn new(endpoint_of: &[EndpointId], ports_of: &[Vec<EndpointId>]) -> Self {
        let sides = ports_of.iter().map(Vec::len).min().unwrap_or(1).max(1);
        let endpoints: Vec<EndpointId> = if ports_of.is_empty() {
            endpoint_of.to_vec()
        } else {
            ports_of.iter().flat_map(|ports| ports.iter().copied().take(sides)).collect()
        };
        Ports { works: vec![true; endpoints.len()], endpoints, sides: sides as u32, broken: 0 }
    }

    /// How many ports each device has.
    pub fn sides(&self) -> u32 {
        self.sides
    }

    /// The endpoints of a device, by side.
    pub fn of(&self, device: DeviceId) -> &[EndpointId] {
        &self.endpoints[self.row(device)..self.row(device) + self.sides as usize]
    }

    /// The endpoint of a device at a side.
    #[inline]
    pub fn endpoint(&self, device: DeviceId, side: u32) -> EndpointId {
        self.endpoints[self.row(device) + side as usize]
    }

    /// The endpoint of a device at the asked side where that works, else the first that works, else the asked one.
    #[inline]
    pub fn working(&self, device: DeviceId, side: u32) -> EndpointId {
        if self.broken == 0 {
            return self.endpoint(device, side);
        }
        let row = self.row(device);
        let works = |side: &u32| self.works[row + *side as usize];
        let chosen = if works(&side) { side } else { (0..self.sides).find(works).unwrap_or(side) };
        self.endpoint(device, chosen)
    }

    /// The ends of a message between two devices: on the asked side where both ports work, else on the first side where both
    /// do, else by the ports that work on different sides.
    #[inline]
    pub fn ends(&self, from: DeviceId, to: DeviceId, side: u32) -> (EndpointId, EndpointId) {
        if self.broken == 0 {
            (self.endpoint(from, side), self.endpoint(to, side))
        } else {
            self.way_round(from, to, side)
        }
    }

    #[cold]
    fn way_round(&self, from: DeviceId, to: DeviceId, side: u32) -> (EndpointId, EndpointId) {
        let (row, other) = (self.row(from), self.row(to));
        let works = |side: &u32| self.works[row + *side as usize] && self.works[other + *side as usize];
        if works(&side) {
            return (self.endpoint(from, side), self.endpoint(to, side));
        }
        match (0..self.sides).find(works) {
            Some(chosen) => (self.endpoint(from, chosen), self.endpoint(to, chosen)),
            None => (self.working(from, side), self.working(to, side)),
        }
    }

    /// How many ports of a device work.
    pub fn working_count(&self, device: DeviceId) -> u32 {
        let row = self.row(device);
        self.works[row..row + self.sides as usize].iter().filter(|&&works| works).count() as u32
    }

    /// Learns anew which endpoints work.
    pub fn learn(&mut self, works: impl Fn(EndpointId) -> bool) {
        for (endpoint, is_working) in self.endpoints.iter().zip(&mut self.works) {
            *is_working = works(*endpoint);
        }
        self.broken = self.works.iter().filter(|&&works| !works).count() as u32;
    }

    #[inline]
    fn row(&self, device: DeviceId) -> usize {
        device.index() * self.sides as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_goes_by_a_side_where_both_ports_work() {
        let endpoint = EndpointId::new;
        let ports_of = [vec![endpoint(0), endpoint(2)], vec![endpoint(1), endpoint(3)]];
        let mut ports = Ports::new(&[endpoint(0), endpoint(1)], &ports_of);
        let (a, b) = (DeviceId::new(0), DeviceId::new(1));
        assert_eq!(ports.ends(a, b, 1), (endpoint(2), endpoint(3)));
        // Side 1 of the second server is gone: both take side 0, and the entry's traffic as well.
        ports.learn(|of| of != endpoint(3));
        assert_eq!(ports.ends(a, b, 1), (endpoint(0), endpoint(1)));
        assert_eq!((ports.working(a, 1), ports.working(b, 1)), (endpoint(2), endpoint(1)));
        assert_eq!((ports.working_count(a), ports.working_count(b)), (2, 1));
        // No side has both: each sends by what it has left.
        ports.learn(|of| of != endpoint(3) && of != endpoint(0));
        assert_eq!(ports.ends(a, b, 0), (endpoint(2), endpoint(1)));
        // All work again.
        ports.learn(|_| true);
        assert_eq!(ports.ends(b, a, 1), (endpoint(3), endpoint(2)));
    }
}
