//! What an object of a work asks of which stations, and in which order.

use super::stations::{Kind, Stations};
use crate::plane::law::{self, Asked, Rounds};
use crate::plane::{Work, WorkKind};

/// What an object asks of one station.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Visit {
    pub station: u32,
    /// The first visit of its chain to the same station, by number.
    pub first: u32,
    /// How often an object of each work of its chain comes to this station, in all.
    pub own_times: f64,
    /// How often, an object.
    pub times: f64,
    /// Seconds of a server each time; of a class, the cost.
    pub seconds: f64,
    /// Whether it holds a thread while the visit before it lasts, a device's.
    pub holds: bool,
    /// Whether one server alone serves it there, a shard's only thread.
    pub serial: bool,
    /// Whether the object passes its service (else another visit's time covers it, or it is a limit).
    pub passes: bool,
    /// Whether the item that starts an object waits here: until it does not, its work queues no other.
    pub item: bool,
    /// Whether it goes before all classes.
    pub immediate: bool,
    /// Whether there is a bound to what is asked there: anywhere but where time passes.
    pub bounded: bool,
    /// Whether the next visit holds a thread while this one lasts.
    pub held: bool,
    /// Whether its chain comes to this station with other visits as well, and their waits are for others alone.
    pub shared: bool,
    /// Stages follow one another; branches of a stage go at the same time, and the longest counts.
    pub stage: u8,
    pub branch: u8,
    /// What it waits there, as of the last solution.
    pub wait: f64,
    /// What it adds to the load of the station, as of the last solution.
    pub put: Put,
}

/// A visit's part in the sums of a station.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Put {
    /// Visits a second.
    pub rate: f64,
    /// Servers busy.
    pub load: f64,
    /// Seconds of service that wait, on average.
    pub waiting: f64,
    /// Seconds of service left of what is served, on average.
    pub residual: f64,
    /// How fast the load falls with a longer wait, a second.
    pub slope: f64,
}

/// Makes the path of a work.
pub(super) struct PathMaker<'a> {
    stations: &'a mut Stations,
    work: &'a Work,
    rounds: Rounds,
    path: Vec<Visit>,
    stage: u8,
    branch: u8,
    immediate: bool,
}

/// The path of an object of a work (of a transaction, of a deletion).
pub(super) fn path(stations: &mut Stations, work: &Work) -> Vec<Visit> {
    let rounds = Rounds::of(work, &stations.osd(work.primary).settings);
    let mut maker = PathMaker { stations, work, rounds, path: Vec::new(), stage: 0, branch: 0, immediate: false };
    if work.kind == WorkKind::Delete {
        maker.delete();
    } else {
        maker.item();
        match work.kind {
            WorkKind::Pull => maker.pull(),
            WorkKind::Decode | WorkKind::Forward => maker.gather(),
            WorkKind::Push | WorkKind::Delete => {
                maker.read(work.primary, true);
                maker.of_item();
            }
        }
        maker.spread();
    }
    maker.path
}

impl PathMaker<'_> {
    fn visit(&mut self, station: u32, times: f64, seconds: f64, passes: bool) {
        let (stage, branch, immediate) = (self.stage, self.branch, self.immediate);
        let put = Put::default();
        let bounded = self.stations.all[station as usize].kind != Kind::Delay;
        self.path.push(Visit {
            station,
            first: 0,
            own_times: times,
            bounded,
            held: false,
            shared: false,
            times,
            seconds,
            holds: false,
            serial: false,
            passes,
            item: false,
            immediate,
            stage,
            branch,
            wait: 0.0,
            put,
        });
    }

    fn next_stage(&mut self) {
        self.stage += 1;
        self.branch = 0;
    }

    /// A request waits for what its class may spend.
    fn pay(&mut self, osd: u32, asked: Asked, times: f64) {
        let settings = &self.stations.osd(osd).settings;
        let cost = law::cost(settings, asked, self.work, self.rounds.bytes);
        let shard = law::shard(settings, self.work.group);
        let cost = law::line_cost(settings, cost);
        let station = self.stations.of(Kind::Class { osd, shard, class: self.work.class });
        self.visit(station, times, cost, false);
    }

    /// The device serves a request, which holds a thread where it came through the queue.
    fn device(&mut self, osd: u32, seconds: f64, threaded: bool) {
        let times = f64::from(self.rounds.count);
        let device = self.stations.of(Kind::Device { osd });
        self.visit(device, times, seconds, true);
        if threaded {
            let shard = law::shard(&self.stations.osd(osd).settings, self.work.group);
            let threads = self.stations.of(Kind::Threads { osd, shard });
            self.path.last_mut().expect("a visit was just added").held = true;
            self.visit(threads, times, seconds, false);
            let serial = self.stations.all[threads as usize].servers < 2.0;
            let visit = self.path.last_mut().expect("a visit was just added");
            (visit.holds, visit.serial) = (true, serial);
        }
    }

    /// The visit just added is one that an item waits at.
    fn of_item(&mut self) {
        self.path.last_mut().expect("a visit was just added").item = true;
    }

    fn read(&mut self, osd: u32, threaded: bool) {
        let seconds = self.stations.osd(osd).device.read(self.rounds.bytes);
        self.device(osd, seconds, threaded);
    }

    fn write(&mut self, osd: u32, threaded: bool) {
        let seconds = self.stations.osd(osd).device.write(self.rounds.bytes);
        self.device(osd, seconds, threaded);
    }

    /// Bytes go from one OSD to another, and a word goes back or came before.
    fn wire(&mut self, from: u32, to: u32) {
        let Some((out, into)) = self.stations.ports(from, to) else {
            return;
        };
        let times = f64::from(self.rounds.count);
        let seconds = self.rounds.bytes / self.stations.network.host_bytes_per_second;
        self.visit(out, times, seconds, true);
        // The receiver's port takes the message while the sender's sends it.
        self.visit(into, times, seconds, false);
        let delay = self.stations.of(Kind::Delay);
        self.visit(delay, 2.0 * times, self.stations.network.latency_seconds, true);
    }

    /// The item that starts an object.
    fn item(&mut self) {
        let primary = self.work.primary;
        self.pay(primary, Asked::Item, 1.0);
        self.of_item();
        let settings = &self.stations.osd(primary).settings;
        let (sleep, starts) = (settings.osd_recovery_sleep, f64::from(settings.osd_recovery_max_single_start.max(1)));
        if sleep > 0.0 {
            let station = self.stations.of(Kind::Sleep { osd: primary });
            self.visit(station, 1.0 / starts, sleep, true);
            self.of_item();
        }
        self.next_stage();
    }

    /// The primary pulls from the first source and writes.
    fn pull(&mut self) {
        let times = f64::from(self.rounds.count);
        let (primary, source) = (self.work.primary, self.work.sources[0]);
        self.pay(source, Asked::Pull, times);
        self.read(source, true);
        self.wire(source, primary);
        self.next_stage();
        self.pay(primary, Asked::Push, times);
        self.write(primary, true);
        self.next_stage();
        if self.work.targets.len() > 1 {
            self.read(primary, true);
        }
    }

    /// The primary reads all sources at a time.
    fn gather(&mut self) {
        let times = f64::from(self.rounds.count);
        let primary = self.work.primary;
        let (of_piece, bytes) = (self.rounds.bytes, self.rounds.source_bytes(self.work));
        self.rounds.bytes = bytes;
        for &source in &self.work.sources {
            if source != primary {
                self.wire(source, primary);
                if law::sub_reads_in_class(&self.stations.osd(source).settings) {
                    self.pay(source, Asked::Pull, times);
                } else {
                    self.immediate = true;
                }
            }
            self.read(source, true);
            self.immediate = false;
            if source == primary {
                self.of_item();
            }
            self.branch += 1;
        }
        self.rounds.bytes = of_piece;
    }

    /// Each target writes its piece and says so.
    fn spread(&mut self) {
        self.next_stage();
        let times = f64::from(self.rounds.count);
        let (work, primary) = (self.work, self.work.primary);
        for &target in &work.targets[usize::from(work.kind == WorkKind::Pull)..] {
            if target == primary {
                self.immediate = true;
                self.write(target, false);
                self.immediate = false;
            } else {
                self.wire(primary, target);
                self.pay(target, Asked::Push, times);
                self.write(target, true);
                self.pay(primary, Asked::Reply, times);
            }
            self.branch += 1;
        }
    }

    /// A transaction of a deletion sleeps, and writes nothing but the OSD's own accounts.
    fn delete(&mut self) {
        let primary = self.work.primary;
        self.pay(primary, Asked::Delete, 1.0);
        let settings = &self.stations.osd(primary).settings;
        let (sleep, device) = (settings.osd_delete_sleep, self.stations.osd(primary).device);
        if sleep > 0.0 {
            let station = self.stations.of(Kind::Delay);
            self.visit(station, 1.0, sleep, true);
        }
        self.rounds = Rounds { count: 1, bytes: 0.0 };
        self.device(primary, device.write(0.0), true);
    }
}

/// Objects of a unit of a work: a transaction of a deletion, else one.
pub(super) fn objects_a_unit(work: &Work, stations: &Stations) -> u64 {
    match work.kind {
        WorkKind::Delete => law::objects_an_item(work, &stations.osd(work.primary).settings),
        _ => 1,
    }
}

/// What a unit of a work takes of a device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Use {
    pub osd: u32,
    pub read_bytes: f64,
    pub written_bytes: f64,
    /// Seconds of all its channels.
    pub seconds: f64,
}

impl Use {
    /// Adds so many times another.
    pub fn add(&mut self, other: &Use, times: f64) {
        self.read_bytes += times * other.read_bytes;
        self.written_bytes += times * other.written_bytes;
        self.seconds += times * other.seconds;
    }
}

/// What a unit of a work takes of which devices.
pub(super) fn uses(stations: &Stations, work: &Work) -> Vec<Use> {
    let rounds = Rounds::of(work, &stations.osd(work.primary).settings);
    let (times, bytes) = (f64::from(rounds.count), rounds.bytes);
    let read = |osd: u32| {
        let (device, bytes) = (&stations.osd(osd).device, rounds.source_bytes(work));
        let seconds = times * device.read(bytes) / f64::from(device.channels.max(1));
        Use { osd, read_bytes: times * bytes, written_bytes: 0.0, seconds }
    };
    let write = |osd: u32, bytes: f64, times: f64| {
        let device = &stations.osd(osd).device;
        let seconds = times * device.write(bytes) / f64::from(device.channels.max(1));
        Use { osd, read_bytes: 0.0, written_bytes: times * bytes, seconds }
    };
    let mut all: Vec<Use> = work.targets.iter().map(|target| write(*target, bytes, times)).collect();
    match work.kind {
        WorkKind::Push => all.push(read(work.primary)),
        WorkKind::Pull => {
            all.push(read(work.sources[0]));
            if work.targets.len() > 1 {
                all.push(read(work.primary));
            }
        }
        WorkKind::Decode | WorkKind::Forward => all.extend(work.sources.iter().map(|source| read(*source))),
        WorkKind::Delete => all.push(write(work.primary, 0.0, 1.0)),
    }
    all
}
