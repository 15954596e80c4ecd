//! Objects under way: what each asks of OSDs, round by round.

use resilver_kernel::Schedule;
use resilver_units::SimTime;

use super::{Happening, State, duration};
use crate::plane::law::{self, Asked, Rounds};
use crate::plane::{OpClass, Work, WorkId, WorkKind};

/// Whose a request is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// An object's.
    Object(u32),
    /// A client's, that came then.
    Client(SimTime),
}

/// What a request does at its OSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Starts an object at its primary.
    Item,
    /// The same, after its sleep.
    Awake,
    /// Reads a piece for the primary, at the primary or elsewhere.
    Fetch,
    /// A piece that was read elsewhere has come to the primary, which decodes.
    Fetched,
    /// Writes a piece.
    Store,
    /// Tells the primary that a piece is written.
    Reply,
    /// Serves a client.
    Client,
}

/// What a request asks of its device: so many reads or writes of so many bytes each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    pub write: bool,
    pub bytes: f64,
    pub times: u32,
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub source: Source,
    pub step: Step,
    pub osd: u32,
    pub shard: u32,
    /// None goes before all classes.
    pub class: Option<OpClass>,
    pub cost: f64,
    pub device: Device,
    /// Whether it holds a thread of its shard.
    pub threaded: bool,
    /// Bytes of the message that brings it.
    pub wire: f64,
}

/// An object under way; or as many as one item starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object {
    pub work: u32,
    pub times: u32,
    /// Rounds that are done.
    pub round: u32,
    /// Pieces of this round that have not come or are not written.
    pub awaited: u32,
    /// Whether the primary still pulls it.
    pub pulled: bool,
}

/// A work under way.
#[derive(Debug)]
pub(super) struct WorkRun {
    pub id: WorkId,
    pub work: Work,
    pub rounds: Rounds,
    pub unstarted: u64,
    pub done: u64,
    pub alive: bool,
}

impl State {
    pub fn add_request(&mut self, request: Request) -> u32 {
        if let Some(index) = self.free_requests.pop() {
            self.requests[index as usize] = request;
            return index;
        }
        self.requests.push(request);
        self.requests.len() as u32 - 1
    }

    fn add_object(&mut self, object: Object) -> u32 {
        if let Some(index) = self.free_objects.pop() {
            self.objects[index as usize] = object;
            return index;
        }
        self.objects.push(object);
        self.objects.len() as u32 - 1
    }

    /// A work begins.
    pub fn start(&mut self, schedule: &mut Schedule<Happening>, id: WorkId, index: u32, work: Work) {
        let primary = work.primary;
        let rounds = Rounds::of(&work, &self.osd(primary).settings);
        let (unstarted, deletes) = (work.objects, work.kind == WorkKind::Delete);
        self.works.push(WorkRun { id, work, rounds, unstarted, done: 0, alive: unstarted > 0 });
        if unstarted == 0 {
            self.ended.push(id);
        } else if deletes {
            self.next_item(schedule, index);
        } else {
            self.osd_mut(primary).turn.push_back(index);
            self.start_objects(schedule, primary);
        }
    }

    /// A work ends early; says how many objects are done.
    pub fn stop(&mut self, schedule: &mut Schedule<Happening>, index: u32) -> u64 {
        let run = &mut self.works[index as usize];
        let (done, primary) = (run.done, run.work.primary);
        run.alive = false;
        // Its objects under way give up their places; their requests are dropped where they turn up next.
        let held = run.work.objects - run.unstarted - done;
        let windowed = run.work.kind != WorkKind::Delete;
        let osd = self.osd_mut(primary);
        osd.turn.retain(|work| *work != index);
        if windowed {
            osd.active -= u32::try_from(held).unwrap_or(u32::MAX).min(osd.active);
            self.start_objects(schedule, primary);
        }
        done
    }

    /// Queues items of the works whose turn it is, while the primary has room for more objects.
    pub fn start_objects(&mut self, schedule: &mut Schedule<Happening>, primary: u32) {
        loop {
            let osd = self.osd_mut(primary);
            if osd.active >= osd.settings.osd_recovery_max_active.max(1) {
                return;
            }
            let Some(index) = osd.turn.pop_front() else {
                return;
            };
            self.next_item(schedule, index);
        }
    }

    /// Queues an item of a work at its primary.
    pub fn next_item(&mut self, schedule: &mut Schedule<Happening>, index: u32) {
        let WorkRun { work, unstarted, .. } = &self.works[index as usize];
        let (primary, deletes) = (work.primary, work.kind == WorkKind::Delete);
        let osd = self.osd(primary);
        let mut most = law::objects_an_item(work, &osd.settings).min(*unstarted);
        let asked = if deletes { Asked::Delete } else { Asked::Item };
        if !deletes {
            most = most.min(u64::from(osd.settings.osd_recovery_max_active.max(1) - osd.active));
        }
        let times = u32::try_from(most).unwrap_or(u32::MAX);
        let cost = law::cost(&osd.settings, asked, work, 0.0) * if deletes { 1.0 } else { f64::from(times) };
        let pulled = work.kind == WorkKind::Pull;
        self.works[index as usize].unstarted -= u64::from(times);
        if !deletes {
            self.osd_mut(primary).active += times;
        }
        let object = self.add_object(Object { work: index, times, round: 0, awaited: 0, pulled });
        let request = self.request_of(object, Step::Item, primary, cost);
        let request = self.add_request(request);
        self.enqueue(schedule, request);
    }

    /// A request of an object at an OSD, in the work's class.
    pub fn request_of(&self, object: u32, step: Step, osd: u32, cost: f64) -> Request {
        let Object { work, times, .. } = self.objects[object as usize];
        let run = &self.works[work as usize];
        let deletes = run.work.kind == WorkKind::Delete;
        let write = step == Step::Store || deletes;
        // What is deleted is one small write of the OSD's own accounts.
        let (bytes, times) = match step {
            _ if deletes => (0.0, 1),
            Step::Fetch => (run.rounds.source_bytes(&run.work), times),
            _ => (run.rounds.bytes, times),
        };
        Request {
            source: Source::Object(object),
            step,
            osd,
            shard: self.shard_of(osd, run.work.group),
            class: Some(run.work.class),
            cost,
            device: Device { write, bytes, times },
            threaded: false,
            wire: 0.0,
        }
    }

    /// What a request of an object's work costs at an OSD.
    pub fn cost_at(&self, object: u32, osd: u32, asked: Asked) -> f64 {
        let Object { work, times, .. } = self.objects[object as usize];
        let run = &self.works[work as usize];
        let bytes = if asked == Asked::Pull { run.rounds.source_bytes(&run.work) } else { run.rounds.bytes };
        law::cost(&self.osd(osd).settings, asked, &run.work, bytes * f64::from(times))
    }

    /// Whether the work that a request is of still goes on.
    pub fn alive(&self, object: u32) -> bool {
        self.works[self.objects[object as usize].work as usize].alive
    }

    pub fn work_of(&self, object: u32) -> &Work {
        &self.works[self.objects[object as usize].work as usize].work
    }

    /// A thread takes a request from the queue.
    pub fn execute_request(&mut self, schedule: &mut Schedule<Happening>, request: u32) {
        let asked = self.requests[request as usize];
        let Source::Object(object) = asked.source else {
            return self.submit(schedule, request, true);
        };
        if !self.alive(object) {
            self.free_requests.push(request);
            return;
        }
        match asked.step {
            Step::Item if self.sleeps(schedule, request, object) => {}
            Step::Item | Step::Awake => self.begin_item(schedule, request, object),
            Step::Fetch | Step::Store => self.submit(schedule, request, true),
            Step::Reply => self.written(schedule, object, request),
            Step::Fetched | Step::Client => unreachable!("neither is queued as an object's"),
        }
    }

    /// Whether an item must sleep before it starts: those of an OSD sleep one after the other, deletions each for itself.
    fn sleeps(&mut self, schedule: &mut Schedule<Happening>, request: u32, object: u32) -> bool {
        let deletes = self.work_of(object).kind == WorkKind::Delete;
        let osd = self.osd_mut(self.requests[request as usize].osd);
        let seconds = if deletes { osd.settings.osd_delete_sleep } else { osd.settings.osd_recovery_sleep };
        if seconds <= 0.0 {
            return false;
        }
        let now = schedule.now();
        let begins = if deletes { now } else { osd.sleeps_until.max(now) };
        let until = begins + duration(seconds);
        if !deletes {
            osd.sleeps_until = until;
        }
        self.requests[request as usize].step = Step::Awake;
        schedule.at(until, Happening::Slept(request));
        true
    }

    /// An item starts: its work takes its turn again, and its first round begins.
    fn begin_item(&mut self, schedule: &mut Schedule<Happening>, request: u32, object: u32) {
        let index = self.objects[object as usize].work;
        let run = &self.works[index as usize];
        if run.work.kind == WorkKind::Delete {
            return self.submit(schedule, request, true);
        }
        let (primary, more) = (run.work.primary, run.unstarted > 0);
        if more {
            self.osd_mut(primary).turn.push_back(index);
        }
        self.begin_round(schedule, object, request);
        if more {
            self.start_objects(schedule, primary);
        }
    }
}
