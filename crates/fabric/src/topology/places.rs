//! Which places are routers where a topology leaves it to chance.

use resilver_kernel::{Purpose, Stream};

use super::TopologyError;

const ROUTERS: Purpose = Purpose::named("routers");

/// Draws `routers` of the places 0 to `places` - 1, each set of them as likely, and gives them in ascending order.
///
/// The i-th draw of the stream (`seed`, entity 0, purpose `routers`) chooses among the places that are left, as in the first
/// steps of a Fisher-Yates shuffle; the set is then sorted, so that `router.0` is the one with the lowest place.
///
/// ```
/// use resilver_fabric::topology::draw_routers;
///
/// let routers = draw_routers(4096, 128, 1)?;
/// assert_eq!(routers.len(), 128);
/// assert!(routers.is_sorted());
/// # Ok::<(), resilver_fabric::topology::TopologyError>(())
/// ```
///
/// # Errors
/// When no place would be left for a device.
pub fn draw_routers(places: u32, routers: u32, seed: u64) -> Result<Vec<u32>, TopologyError> {
    if routers >= places && routers > 0 {
        return Err(TopologyError::TooManyRouters { routers, places });
    }
    let mut stream = Stream::new(seed, 0, ROUTERS);
    let mut order: Vec<u32> = (0..places).collect();
    for taken in 0..routers {
        let chosen = taken + stream.below(u64::from(places - taken)) as u32;
        order.swap(taken as usize, chosen as usize);
    }
    order.truncate(routers as usize);
    order.sort_unstable();
    Ok(order)
}

/// The places that are not among `routers`, in ascending order; errors when none is left or a router has none.
pub(super) fn hosts_beside(places: u32, routers: &[u32]) -> Result<Vec<u32>, TopologyError> {
    let mut is_router = vec![false; places as usize];
    for &router in routers {
        match is_router.get_mut(router as usize) {
            Some(taken) if !*taken => *taken = true,
            _ => {
                return super::error::refuse(
                    "routers",
                    router,
                    format!("a router takes one of {places} places, each at most once"),
                    format!("name different places from 0 to {}", places.saturating_sub(1)),
                );
            }
        }
    }
    if routers.len() as u32 >= places {
        return Err(TopologyError::TooManyRouters { routers: routers.len() as u32, places });
    }
    Ok((0..places).filter(|&place| !is_router[place as usize]).collect())
}
