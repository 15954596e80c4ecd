//! What every layout is built of, and the one place that tells the layouts apart.

use resilver_units::DeviceId;

use super::Domains;
use resilver_crush::MapError;

/// What a layout is built over.
pub(super) struct Over<'a> {
    /// The devices in their failure domains.
    pub(super) domains: Domains,
    /// Pieces of an object.
    pub(super) pieces: usize,
    /// Decides what a layout draws at random.
    pub(super) seed: u64,
    /// The devices that fail, who fails earlier before the others.
    pub(super) failing: &'a [DeviceId],
}

/// A layout by its keys.
pub(super) trait Build {
    /// The layout.
    type Layout;

    /// Builds it.
    ///
    /// # Errors
    /// When it cannot be built over these devices.
    fn build(self, over: Over<'_>) -> Result<Self::Layout, MapError>;
}

/// Makes the types that are any one of these layouts, by its keys and built.
macro_rules! layout_of {
    ($($layout:ident: $keys:ident),+ $(,)?) => {
        /// One of the layouts, chosen once for a system.
        #[derive(Clone, Debug)]
        pub enum Layout {
            $(#[doc = concat!("[`", stringify!($layout), "`].")] $layout($layout)),+
        }

        impl ObjectLayout for Layout {
            fn devices(&self) -> usize {
                match self { $(Layout::$layout(layout) => layout.devices()),+ }
            }

            #[inline]
            fn place(
                &self,
                object: ObjectId,
                copies: usize,
                failed: impl Fn(DeviceId) -> bool,
                found: &mut Vec<DeviceId>,
            ) {
                match self { $(Layout::$layout(layout) => layout.place(object, copies, failed, found)),+ }
            }
        }

        /// A layout that is not built yet, by its name.
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum LayoutKind {
            $(#[doc = concat!("By [`", stringify!($keys), "`].")] $layout($keys)),+
        }

        impl LayoutKind {
            /// The layout of objects of so many pieces over devices in failure domains; `seed` decides what it draws at
            /// random, and `failing` who fails before whom.
            ///
            /// # Errors
            /// When it cannot be built over these devices.
            pub fn build(
                self,
                domains: Domains,
                pieces: usize,
                seed: u64,
                failing: &[DeviceId],
            ) -> Result<Layout, MapError> {
                let over = Over { domains, pieces, seed, failing };
                Ok(match self { $(LayoutKind::$layout(keys) => Layout::$layout(keys.build(over)?)),+ })
            }
        }
    };
}

pub(super) use layout_of;
