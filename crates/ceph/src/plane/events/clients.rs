//! What clients ask of an OSD, as open arrivals, and what they get.

use resilver_kernel::stats::LogHistogram;
use resilver_kernel::{Purpose, Schedule, Stream};
use resilver_units::SimTime;

use super::objects::{Device, Request, Source, Step};
use super::osd::Osd;
use super::{Happening, State, duration};
use crate::plane::{ClientLoad, ClientState, MOST_UNDER_WAY, OpClass, law};

/// The clients of an OSD.
#[derive(Debug)]
pub(super) struct Clients {
    load: ClientLoad,
    /// How often the load has changed.
    changes: u32,
    draws: [Stream; 2],
    under_way: u32,
    asked: u64,
    served: u64,
    delay_seconds: f64,
    delays: LogHistogram,
    since: SimTime,
}

impl Clients {
    pub fn new(seed: u64, osd: u32) -> Self {
        let stream = |name| Stream::new(seed, u64::from(osd), name);
        Clients {
            load: ClientLoad::default(),
            changes: 0,
            draws: [stream(Purpose::named("reads")), stream(Purpose::named("writes"))],
            under_way: 0,
            asked: 0,
            served: 0,
            delay_seconds: 0.0,
            delays: LogHistogram::new(),
            since: SimTime::ZERO,
        }
    }

    fn rate(&self, write: bool) -> f64 {
        if write { self.load.writes_per_second } else { self.load.reads_per_second }
    }

    /// Takes in a request that was served.
    pub fn served(&mut self, arrived: SimTime, now: SimTime) {
        self.under_way -= 1;
        self.served += 1;
        let delay = now.since(arrived);
        self.delay_seconds += delay.seconds();
        self.delays.record(delay.picoseconds());
    }
}

impl Osd {
    /// What clients got since this was asked last.
    pub fn client_state(&mut self, now: SimTime) -> ClientState {
        let clients = &mut self.clients;
        let span = now.since(clients.since).seconds();
        let count = clients.served.max(1) as f64;
        let state = ClientState {
            served: if clients.asked == 0 { 1.0 } else { (clients.served as f64 / clients.asked as f64).min(1.0) },
            mean_seconds: clients.delay_seconds / count,
            p99_seconds: clients.delays.quantile(0.99).map_or(0.0, |delay| delay as f64 * 1e-12),
            busy: if span > 0.0 { (self.all_seconds / span).min(1.0) } else { 0.0 },
        };
        (clients.asked, clients.served, clients.delay_seconds, clients.since) = (0, 0, 0.0, now);
        clients.delays = LogHistogram::new();
        self.all_seconds = 0.0;
        state
    }
}

impl State {
    /// Clients ask this of an OSD from now on.
    pub fn set_clients(&mut self, schedule: &mut Schedule<Happening>, osd: u32, load: ClientLoad) {
        let clients = &mut self.osd_mut(osd).clients;
        clients.load = load;
        clients.changes += 1;
        for write in [false, true] {
            self.await_next(schedule, osd, write);
        }
    }

    /// Draws when clients ask next.
    fn await_next(&mut self, schedule: &mut Schedule<Happening>, osd: u32, write: bool) {
        let clients = &mut self.osd_mut(osd).clients;
        let rate = clients.rate(write);
        if rate > 0.0 {
            let wait = duration(clients.draws[usize::from(write)].exponential(1.0 / rate));
            schedule.after(wait, Happening::Asked { osd, write, load: clients.changes });
        }
    }

    /// Clients ask for a read or a write.
    pub fn asked(&mut self, schedule: &mut Schedule<Happening>, osd_id: u32, write: bool, load: u32) {
        let osd = self.osd_mut(osd_id);
        if osd.clients.changes != load {
            return;
        }
        osd.clients.asked += 1;
        if osd.clients.under_way < MOST_UNDER_WAY {
            osd.clients.under_way += 1;
            let bytes = if write { osd.clients.load.write_bytes } else { osd.clients.load.read_bytes };
            let shards = u64::from(osd.settings.osd_op_num_shards.max(1));
            let request = Request {
                source: Source::Client(schedule.now()),
                step: Step::Client,
                osd: osd_id,
                shard: osd.clients.draws[usize::from(write)].below(shards) as u32,
                class: Some(OpClass::Client),
                cost: law::client_cost(&osd.settings, bytes),
                device: Device { write, bytes, times: 1 },
                threaded: false,
                wire: 0.0,
            };
            let request = self.add_request(request);
            self.enqueue(schedule, request);
        }
        self.await_next(schedule, osd_id, write);
    }
}
