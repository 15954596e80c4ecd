//! Classes of traffic: what waits in a lane of its own, at every port and device that has lanes.

/// A class of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficClass {
    /// What clients read and write.
    Clients,
    /// What restores redundancy.
    Rebuild,
    /// What clients write all at once, such as checkpoints.
    Bursts,
}

impl TrafficClass {
    /// All classes, in the order of their lanes.
    pub const ALL: [TrafficClass; 3] = [TrafficClass::Clients, TrafficClass::Rebuild, TrafficClass::Bursts];

    /// The lane of the class.
    pub const fn lane(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_the_lane_of_its_place_in_the_order() {
        for (lane, class) in (0..).zip(TrafficClass::ALL) {
            assert_eq!(class.lane(), lane);
        }
    }
}
