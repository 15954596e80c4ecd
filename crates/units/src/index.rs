//! Typed indexes: which device, endpoint, group or object is meant.

use serde::Deserialize;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            /// The identifier with this number.
            pub const fn new(number: $inner) -> Self {
                $name(number)
            }

            /// The number.
            pub const fn get(self) -> $inner {
                self.0
            }

            /// The number, to index a table with.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type! {
    /// A storage device: one server's volume, or one OSD of a Ceph cluster. Devices are numbered from 0.
    DeviceId(u32)
}
index_type! {
    /// A network endpoint: the interface of one server or host. Endpoints are numbered from 0.
    EndpointId(u32)
}
index_type! {
    /// A placement group. Groups of all pools are numbered from 0 in one sequence.
    GroupId(u32)
}
index_type! {
    /// An object: its 64 bits determine its group, its place on a ring and its CRUSH input.
    ObjectId(u64)
}
