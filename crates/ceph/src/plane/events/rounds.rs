//! The rounds of objects under way: gather, spread, hear.

use resilver_kernel::Schedule;

use super::objects::{Object, Request, Source, Step};
use super::{Happening, State};
use crate::plane::law::{self, Asked};
use crate::plane::{Work, WorkKind};

impl State {
    /// A round begins: every source is read, the primary's own by the thread of the request that brought it here.
    pub fn begin_round(&mut self, schedule: &mut Schedule<Happening>, object: u32, by: u32) {
        let pulled = self.objects[object as usize].pulled;
        let work = self.work_of(object);
        let (primary, kind) = (work.primary, work.kind);
        let count = match kind {
            WorkKind::Pull if pulled => 1,
            WorkKind::Decode | WorkKind::Forward => work.sources.len(),
            _ => 0,
        };
        let remote: Vec<u32> = work.sources[..count].iter().copied().filter(|source| *source != primary).collect();
        let local = count - remote.len() + usize::from(count == 0);
        self.objects[object as usize].awaited = (remote.len() + local) as u32;
        for source in remote {
            let cost = self.cost_at(object, source, Asked::Pull);
            let mut request = self.request_of(object, Step::Fetch, source, cost);
            if kind != WorkKind::Pull && !law::sub_reads_in_class(&self.osd(source).settings) {
                request.class = None;
            }
            let request = self.add_request(request);
            self.send(schedule, primary, request, 0.0);
        }
        // A request that came through the queue reads in its thread; one that ends here has none to read with.
        let queued = self.requests[by as usize].step != Step::Store;
        let mut own = Some(by).filter(|_| queued);
        for _ in 0..local {
            let threaded = own.is_some();
            let read = self.request_of(object, Step::Fetch, primary, 0.0);
            let request = match own.take() {
                Some(request) => {
                    self.requests[request as usize] = read;
                    request
                }
                None => self.add_request(read),
            };
            self.submit(schedule, request, threaded);
        }
        if local == 0 || !queued {
            self.free_requests.push(by);
        }
    }

    /// A device has served a request.
    pub fn after_service(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let object = match asked.source {
            Source::Client(arrived) => {
                self.free_requests.push(request);
                return self.osd_mut(asked.osd).clients.served(arrived, schedule.now());
            }
            Source::Object(object) => object,
        };
        if !self.alive(object) {
            self.free_requests.push(request);
            return;
        }
        let Work { primary, kind, .. } = *self.work_of(object);
        match asked.step {
            Step::Item | Step::Awake => {
                self.free_requests.push(request);
                self.whole(schedule, object);
            }
            Step::Fetch if asked.osd == primary => {
                self.free_requests.push(request);
                self.gathered(schedule, object);
            }
            Step::Fetch => {
                // Pulled data waits in the primary's queue to be written; pieces to decode go by before all classes.
                let pulled = kind == WorkKind::Pull;
                let cost = self.cost_at(object, primary, Asked::Push);
                let bytes = asked.device.bytes * f64::from(asked.device.times);
                let step = if pulled { Step::Store } else { Step::Fetched };
                self.requests[request as usize] = self.request_of(object, step, primary, cost);
                self.send(schedule, asked.osd, request, bytes);
            }
            Step::Store if asked.osd == primary => self.written(schedule, object, request),
            Step::Store => {
                let cost = self.cost_at(object, primary, Asked::Reply);
                self.requests[request as usize] = self.request_of(object, Step::Reply, primary, cost);
                self.send(schedule, asked.osd, request, 0.0);
            }
            Step::Fetched | Step::Reply | Step::Client => unreachable!("none asks a device for an object"),
        }
    }

    /// A message is there.
    pub fn came(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let Request { source, step, .. } = self.requests[request as usize];
        match source {
            Source::Object(object) if !self.alive(object) => self.free_requests.push(request),
            Source::Object(object) if step == Step::Fetched => {
                self.free_requests.push(request);
                self.gathered(schedule, object);
            }
            _ => self.enqueue(schedule, request),
        }
    }

    /// A piece is at the primary; with the last of them, each target is sent its own.
    fn gathered(&mut self, schedule: &mut Schedule<Happening>, object: u32) {
        let state = &mut self.objects[object as usize];
        state.awaited -= 1;
        if state.awaited > 0 {
            return;
        }
        let times = state.times;
        let work = self.work_of(object);
        let primary = work.primary;
        // The primary of a pulled object has its own piece by now.
        let targets = work.targets[usize::from(work.kind == WorkKind::Pull)..].to_vec();
        self.objects[object as usize].awaited = targets.len() as u32;
        for target in targets {
            let cost = self.cost_at(object, target, Asked::Push);
            let request = self.request_of(object, Step::Store, target, cost);
            let bytes = request.device.bytes * f64::from(times);
            let request = self.add_request(request);
            if target == primary {
                self.submit(schedule, request, false);
            } else {
                self.send(schedule, primary, request, bytes);
            }
        }
    }

    /// The primary knows that a piece is written; after the last, the next round begins, or the object is whole.
    pub fn written(&mut self, schedule: &mut Schedule<Happening>, object: u32, by: u32) {
        let state = &mut self.objects[object as usize];
        state.awaited -= 1;
        if state.awaited > 0 {
            self.free_requests.push(by);
            return;
        }
        state.round += 1;
        let (round, pulled) = (state.round, state.pulled);
        let run = &self.works[state.work as usize];
        if round < run.rounds.count {
            return self.begin_round(schedule, object, by);
        }
        if pulled && run.work.targets.len() > 1 {
            let state = &mut self.objects[object as usize];
            (state.round, state.pulled) = (0, false);
            return self.begin_round(schedule, object, by);
        }
        self.free_requests.push(by);
        self.whole(schedule, object);
    }

    /// An object is whole, or a transaction is done.
    fn whole(&mut self, schedule: &mut Schedule<Happening>, object: u32) {
        let Object { work: index, times, .. } = self.objects[object as usize];
        self.free_objects.push(object);
        let run = &mut self.works[index as usize];
        run.done += u64::from(times);
        let (primary, deletes) = (run.work.primary, run.work.kind == WorkKind::Delete);
        if run.done == run.work.objects {
            run.alive = false;
            self.ended.push(run.id);
        } else if deletes {
            return self.next_item(schedule, index);
        }
        if !deletes {
            self.osd_mut(primary).active -= times;
            self.start_objects(schedule, primary);
        }
    }
}
