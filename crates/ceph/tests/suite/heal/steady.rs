//! A plane of constant rates: every work goes at its own, whatever else moves.

use std::collections::BTreeMap;

use resilver_ceph::{ClientLoad, ClientState, DataPlane, OsdInput, OsdSettings, Progress, Work, WorkId, WorkKind};
use resilver_units::{SimDuration, SimTime};

/// Bytes a second of a work, of a piece of each object.
#[derive(Debug)]
pub struct SteadyPlane {
    bytes_per_second: f64,
    works: BTreeMap<WorkId, (SimTime, Work)>,
    used: BTreeMap<u32, (u64, u64, f64)>,
}

impl SteadyPlane {
    pub fn new(bytes_per_second: f64) -> Self {
        SteadyPlane { bytes_per_second, works: BTreeMap::new(), used: BTreeMap::new() }
    }

    fn seconds_an_object(&self, work: &Work) -> f64 {
        // What is deleted goes ten times as fast.
        let speed = if work.kind == WorkKind::Delete { 10.0 } else { 1.0 };
        work.piece_bytes.max(1) as f64 / (self.bytes_per_second * speed)
    }

    fn end(&self, start: SimTime, work: &Work) -> SimTime {
        start + SimDuration::from_seconds(work.objects as f64 * self.seconds_an_object(work)).unwrap()
    }

    fn done(&self, now: SimTime, start: SimTime, work: &Work) -> u64 {
        if now >= self.end(start, work) {
            return work.objects;
        }
        ((now.since(start).seconds() / self.seconds_an_object(work)) as u64).min(work.objects)
    }
}

impl DataPlane for SteadyPlane {
    fn set_osd(&mut self, _now: SimTime, osd: &OsdInput, _settings: &OsdSettings) {
        self.used.entry(osd.id).or_default();
    }

    fn set_clients(&mut self, _now: SimTime, _osd: u32, _load: ClientLoad) {}

    fn start(&mut self, now: SimTime, id: WorkId, work: Work) {
        assert!(work.objects > 0, "a work has objects");
        assert!(self.works.insert(id, (now, work)).is_none(), "a number is of one work at a time");
    }

    fn stop(&mut self, now: SimTime, id: WorkId) -> Progress {
        let (start, work) = self.works.remove(&id).unwrap();
        Progress { objects: self.done(now, start, &work) }
    }

    fn progress(&mut self, now: SimTime, id: WorkId) -> Progress {
        let (start, work) = &self.works[&id];
        Progress { objects: self.done(now, *start, work) }
    }

    fn done_at(&self, id: WorkId, at: SimTime) -> Progress {
        let (start, work) = &self.works[&id];
        Progress { objects: self.done(at, *start, work) }
    }

    fn next(&mut self) -> Option<SimTime> {
        self.works.values().map(|(start, work)| self.end(*start, work)).min()
    }

    fn advance(&mut self, to: SimTime, ended: &mut Vec<WorkId>) {
        let done = |(start, work): &(SimTime, Work)| self.end(*start, work) <= to;
        ended.extend(self.works.iter().filter(|(_, entry)| done(entry)).map(|(&id, _)| id));
        for id in ended.iter() {
            self.works.remove(id);
        }
    }

    fn clients(&mut self, _now: SimTime, _osd: u32) -> ClientState {
        ClientState { served: 1.0, mean_seconds: 0.01, p99_seconds: 0.05, busy: 0.5 }
    }

    fn used(&mut self, _now: SimTime, osd: u32) -> (u64, u64, f64) {
        self.used[&osd]
    }
}
