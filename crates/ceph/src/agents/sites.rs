//! The monitors' part in stretch mode: whether both sites are needed, or one serves alone.
//!
//! Source: `Monitor::maybe_go_degraded_stretch_mode`, `OSDMonitor::update_from_paxos` and `try_end_recovery_stretch_mode` of Ceph 19.
//! The monitors of a site are taken to be down while all of its OSDs are.

use resilver_units::SimTime;

use super::{Agent, Health, length};
use crate::map::{MapChange, OsdMap, StretchChange};

/// Who watches the sites.
///
/// One site serves alone as soon as all OSDs of the other are down. When more OSDs are up than before, no site is down and enough OSDs
/// are up (`mon_stretch_cluster_recovery_ratio`), the sites recover; both are needed again once nothing is degraded or inactive, but not
/// before `mon_stretch_recovery_min_wait`.
#[derive(Debug, Default)]
pub struct SiteWatch {
    /// Share of OSDs that were up when it last saw the map.
    up: Option<f64>,
    /// Since when the sites recover.
    since: Option<SimTime>,
    due: Option<(SimTime, StretchChange)>,
}

impl Agent for SiteWatch {
    fn saw(&mut self, now: SimTime, map: &OsdMap) {
        let (Some(mode), Some((live, dead))) = (map.stretch_mode, map.sites()) else { return };
        let up = map.up_share();
        let rises = self.up.replace(up).is_some_and(|before| up > before);
        let was_back = matches!(self.due, Some((_, StretchChange::Recovering)));
        let is_back = dead.is_empty() && up > map.settings.mon_stretch_cluster_recovery_ratio;
        self.since = mode.is_recovering.then(|| self.since.unwrap_or(now));
        self.due = match (live.first(), self.since) {
            (Some(&survivor), _) if live.len() == 1 && dead.len() == 1 => {
                (!mode.is_degraded || mode.is_recovering).then_some((now, StretchChange::Degraded(survivor)))
            }
            (_, Some(since)) => {
                let ends = since + length(map.settings.mon_stretch_recovery_min_wait);
                Some((ends.max(now), StretchChange::Healthy))
            }
            _ => (mode.is_degraded && is_back && (rises || was_back)).then_some((now, StretchChange::Recovering)),
        };
    }

    fn next(&self) -> Option<SimTime> {
        self.due.map(|(at, _)| at)
    }

    fn waits(&self, health: &Health) -> bool {
        matches!(self.due, Some((_, StretchChange::Healthy))) && health.is_hurt()
    }

    fn act(&mut self, _now: SimTime, _map: &OsdMap, _health: &Health) -> Vec<MapChange> {
        self.due.take().map(|(_, change)| MapChange::Stretch(change)).into_iter().collect()
    }
}
