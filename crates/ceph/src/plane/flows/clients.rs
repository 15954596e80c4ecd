//! Clients beside flows: they come at random and take first what their class has, and see what recovery has under way.

use resilver_units::elementary::{ln, pow};

use super::stations::{Kind, Station, Stations};
use crate::plane::{ClientLoad, ClientState, MOST_UNDER_WAY, OpClass, law};
use crate::settings::OpQueue;

/// What clients ask of an OSD, in seconds of its device and in its queue's cost, a second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Open {
    /// The load that this is of.
    pub asked: ClientLoad,
    /// Requests a second.
    pub requests: f64,
    /// Servers that they would keep busy.
    pub load: f64,
    /// Seconds of service that a request at a random time finds left of them.
    residual: f64,
    /// Cost a second.
    cost: f64,
    /// Seconds of its longest request.
    longest: f64,
}

impl Stations {
    /// What a load comes to at an OSD.
    pub fn open(&self, osd: u32, load: &ClientLoad) -> Open {
        let of = self.osd(osd);
        let kinds = [
            (load.reads_per_second, load.read_bytes, of.device.read(load.read_bytes)),
            (load.writes_per_second, load.write_bytes, of.device.write(load.write_bytes)),
        ];
        let mut open = Open { asked: *load, ..Open::default() };
        for (rate, bytes, seconds) in kinds {
            open.requests += rate;
            open.longest = open.longest.max(if rate > 0.0 { seconds } else { 0.0 });
            open.load += rate * seconds;
            open.residual += rate * seconds * seconds / 2.0;
            open.cost += rate * law::line_cost(&of.settings, law::client_cost(&of.settings, bytes));
        }
        open
    }

    /// The servers that clients have for certain, where both they and recovery wait.
    fn kept(&self, osd: u32, open: &Open, device: &Station) -> f64 {
        let settings = &self.osd(osd).settings;
        let classes: Vec<&Station> = self
            .of_osd(osd)
            .map(|station| &self.all[station as usize])
            .filter(|station| matches!(station.kind, Kind::Class { .. }) && station.sums.load > 0.0)
            .collect();
        let cost: f64 = classes.iter().map(|class| class.sums.load).sum();
        if cost <= 0.0 || device.sums.load <= 0.0 || open.cost <= 0.0 {
            return device.servers;
        }
        let class = if classes.iter().any(|class| matches!(class.kind, Kind::Class { class: OpClass::Recovery, .. })) {
            OpClass::Recovery
        } else {
            OpClass::BestEffort
        };
        let shards = f64::from(settings.osd_op_num_shards.max(1));
        // Only in the shards that its groups fall to is recovery beside clients.
        let mut used: Vec<u32> =
            classes.iter().map(|class| if let Kind::Class { shard, .. } = class.kind { shard } else { 0 }).collect();
        used.dedup();
        let parts = (used.len() as f64 / shards).min(1.0);
        let speeds = [open.cost / open.load, cost / device.sums.load];
        let share = repairs_share(settings, class, speeds, device.servers / shards);
        // What clients ask within their reservation is due when it comes, as is recovery within its own: then the first to come goes first,
        // and recovery has no more under way than its window.
        let reserved = law::rates(settings, OpClass::Client).map_or(0.0, |rates| rates.reservation * shards);
        if open.cost <= reserved {
            return device.servers;
        }
        (device.servers * (1.0 - parts * share)).max(open.load * reserved / open.cost)
    }

    /// Clients' part of an OSD's device, beside what recovery asks now.
    pub fn admit(&mut self, osd: u32, open: &Open) {
        let index = self.of(Kind::Device { osd });
        let device = &self.all[index as usize];
        let kept = self.kept(osd, open, device);
        let servers = device.servers;
        // What recovery must leave to them, and what they have beside what it takes.
        let held = open.load.min(kept).min(servers * 0.99);
        let taken = open.load.min((servers - device.sums.load - device.first.load).max(held));
        let share = if open.load > 0.0 { taken / open.load } else { 0.0 };
        let wait = self.clients_wait(index, open, 1.0);
        let device = &mut self.all[index as usize];
        device.open.load = held;
        device.open.waiting = open.load * share * wait;
        device.open.residual = open.residual * share;
        // They hold the threads of all shards alike.
        let shards = f64::from(self.osd(osd).settings.osd_op_num_shards.max(1));
        let threads: Vec<u32> = self.of_osd(osd).filter(|station| self.is_threads(*station)).collect();
        for station in threads {
            let threads = &mut self.all[station as usize];
            threads.open.load = (held / shards).min(0.9 * threads.servers);
            threads.open.residual = open.residual * share / shards;
        }
    }

    /// Whether recovery in a shard is due by a reservation.
    fn is_reserved(&self, osd: u32, shard: u32) -> bool {
        let class = OpClass::Recovery;
        let kept = law::rates(&self.osd(osd).settings, class).map_or(0.0, |rates| rates.reservation);
        let station = self.known(Kind::Class { osd, shard, class });
        // What goes beyond its reservation goes by weight.
        station.is_some_and(|station| (f64::MIN_POSITIVE..kept).contains(&self.all[station as usize].sums.load))
    }

    fn is_threads(&self, station: u32) -> bool {
        matches!(self.all[station as usize].kind, Kind::Threads { .. })
    }

    /// Seconds that a client's request waits at a station: a device, or the threads of one of so many shards.
    fn clients_wait(&self, station: u32, open: &Open, shards: f64) -> f64 {
        let station = &self.all[station as usize];
        let servers = station.servers;
        let (load, residual) = (open.load / shards, open.residual / shards);
        let repair = (station.sums.load + station.first.load).min(servers);
        let busy = ((repair + load) / servers).min(1.0);
        // What recovery has under way is all that a client finds of it, however much its objects wait for each other; threads let no more of it
        // through than there are.
        let repairs = station.sums.residual + station.first.residual;
        let usual = 2.0 * repairs / repair.max(1e-300);
        let mut waiting = (station.sums.waiting + station.first.waiting).min((station.held - 1.0).max(0.0) * usual);
        if let Kind::Threads { osd, shard } = station.kind
            && !self.is_reserved(osd, shard)
        {
            // Clients go before what has no reservation, and wait for no more than a thread.
            waiting = 0.0;
        }
        let all_busy = pow(busy, (2.0 * (servers + 1.0)).sqrt() - 2.0);
        let found = waiting / servers + (repairs + residual) / (servers * servers);
        let wait = all_busy * found / (1.0 - (load / servers).min(0.99));
        wait.min(f64::from(MOST_UNDER_WAY) / open.requests.max(1e-300))
    }

    /// What clients get of an OSD.
    pub fn clients(&self, osd: u32, device: u32, open: &Open) -> ClientState {
        let station = &self.all[device as usize];
        let servers = station.servers;
        let repair = (station.sums.load + station.first.load).min(servers);
        let busy = ((repair + open.load) / servers).min(1.0);
        let room = (servers - repair).max(self.kept(osd, open, station).min(servers));
        if open.requests <= 0.0 {
            return ClientState { served: 1.0, busy, ..ClientState::default() };
        }
        let served = (room / open.load).min(1.0);
        let service = open.load / open.requests;
        if served < 1.0 {
            let mean = f64::from(MOST_UNDER_WAY) / (open.requests * served);
            return ClientState { served, mean_seconds: mean, p99_seconds: mean, busy };
        }
        let wait = self.clients_wait(device, open, 1.0);
        // In some shards recovery holds threads for long; one request of so many falls to each.
        let shards = f64::from(self.osd(osd).settings.osd_op_num_shards.max(1));
        let threads = self.of_osd(osd).filter(|station| self.is_threads(*station));
        let waits: Vec<f64> = threads.map(|station| self.clients_wait(station, open, shards)).collect();
        let mean = wait + service + waits.iter().sum::<f64>() / shards;
        // What clients make each other wait falls off as in a queue of one server, so that one in a hundred waits long; what recovery has
        // under way is bounded, and one in a hundred finds about twice of it.
        let own = open.load / servers;
        let among = (open.residual / (servers * servers * (1.0 - own.min(0.99)))).min(wait);
        let tail = among / own.max(1e-9) * ln((own / 0.01).max(1.0)) + 2.0 * (wait - among);
        let p99 = open.longest + tail.max(2.0 * waits.into_iter().fold(0.0, f64::max));
        ClientState { served, mean_seconds: mean, p99_seconds: p99, busy }
    }
}

/// Which share of a shard's device time recovery gets where it and clients both wait. `speeds` are their costs a second of the device,
/// `servers` the shard's part of it.
fn repairs_share(settings: &crate::settings::OsdSettings, class: OpClass, speeds: [f64; 2], servers: f64) -> f64 {
    let by = |costs: [f64; 2]| {
        let seconds = [costs[0] / speeds[0], costs[1] / speeds[1]];
        seconds[1] / (seconds[0] + seconds[1])
    };
    if let OpQueue::Wpq { osd_client_op_priority, osd_recovery_op_priority, .. } = settings.queue {
        return by([f64::from(osd_client_op_priority), f64::from(osd_recovery_op_priority)]);
    }
    let (Some(client), Some(repair)) = (law::rates(settings, OpClass::Client), law::rates(settings, class)) else {
        return 0.0;
    };
    let kept = client.reservation / speeds[0] + repair.reservation / speeds[1];
    if kept >= servers {
        return by([client.reservation, repair.reservation]);
    }
    // By weight, but each at least its reservation and at most its limit; the other has what that leaves.
    let share = by([client.weight, repair.weight]);
    let least = repair.reservation / speeds[1] / servers;
    let most = (1.0 - client.reservation / speeds[0] / servers).min(repair.limit / speeds[1] / servers);
    share.clamp(least.min(most), most)
}
