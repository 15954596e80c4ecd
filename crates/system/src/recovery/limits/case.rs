//! Where time was spent, and how busy that was: the evidence of one rebuild.

use resilver_fabric::Fabric;
use resilver_units::DeviceId;

use super::{Charges, Evidence, Limit, LimitKind, MOST, NOTABLE, Place, QUEUED, SATURATED, Sum};
use crate::plant::Plant;
use crate::recovery::spent::{STAGES, Spent, Stage};
use crate::recovery::waits::NOBODY;

/// A rebuild that is over.
pub(super) struct Case<'a, F> {
    pub evidence: &'a Evidence<'a>,
    pub plant: &'a Plant<F>,
    /// Seconds.
    pub window: f64,
}

impl<F: Fabric> Case<'_, F> {
    /// Which share of the window a part was busy.
    fn busy(&self, kind: LimitKind, place: Place) -> Option<f64> {
        let Evidence { begin, end, decoding, .. } = self.evidence;
        let busy = match place {
            Place::Disk(number) => end.disks[number as usize] - begin.disks[number as usize],
            Place::Station(number) => end.stations[number as usize].busy - begin.stations[number as usize].busy,
            Place::Port(number) => end.ports[number as usize].busy - begin.ports[number as usize].busy,
            Place::At(_) if kind == LimitKind::Coding => *decoding,
            Place::At(_) | Place::Several => return None,
        };
        Some((busy.seconds() / self.window).min(1.0))
    }

    /// What a part passed in the window, in bytes.
    fn passed(&self, place: Place) -> Option<u64> {
        let Evidence { begin, end, .. } = self.evidence;
        let (after, before) = match place {
            Place::Disk(number) => (end.disk_bytes[number as usize], begin.disk_bytes[number as usize]),
            Place::Port(number) => (end.ports[number as usize].bytes, begin.ports[number as usize].bytes),
            Place::Station(number) => (end.stations[number as usize].bytes, begin.stations[number as usize].bytes),
            Place::At(_) | Place::Several => return None,
        };
        Some(after.get().saturating_sub(before.get()))
    }

    /// Which share of what a part passed was recovery's.
    fn of_rebuild(&self, kind: LimitKind, place: Place) -> Option<f64> {
        let Evidence { begin, end, spent, stride, is_copied, .. } = self.evidence;
        let sent = |device: u32| {
            let [after, before] = [end, begin].map(|snapshot| snapshot.sent_bytes[device as usize].get());
            after.saturating_sub(before)
        };
        let devices = |endpoint: u32| {
            let has =
                move |device: &u32| self.plant.ports.of(DeviceId::new(*device)).iter().any(|one| one.get() == endpoint);
            (0..self.plant.disks.len() as u32).filter(has)
        };
        let came = |device: u32| {
            spent.iter().filter(|spent| spent.driver() == device).map(|spent| spent.bytes * stride).sum::<u64>()
        };
        // What drivers read themselves, and what comes to others from them, is not counted device by device.
        let is_pulled = !spent.iter().any(|spent| spent.is_handed_over);
        let own: u64 = match (kind, place) {
            (LimitKind::Reading | LimitKind::Writing, Place::Disk(number)) if is_pulled => sent(number) + came(number),
            (LimitKind::Sending, Place::Port(number)) => devices(number / 2).map(sent).sum(),
            (LimitKind::Receiving, Place::Port(number)) if *is_copied && is_pulled => {
                devices(number / 2).map(came).sum()
            }
            _ => return None,
        };
        let all = self.passed(place).filter(|&all| all > 0)?;
        Some((own as f64 / all as f64).min(1.0))
    }

    /// The busiest of some places.
    fn busiest(&self, kind: LimitKind, places: impl Iterator<Item = Place>) -> Option<Place> {
        places.max_by(|&a, &b| self.busy(kind, a).unwrap_or(0.0).total_cmp(&self.busy(kind, b).unwrap_or(0.0)))
    }

    /// The disk of a device and the parts that its requests pass.
    fn of_device(&self, device: u32) -> impl Iterator<Item = Place> + '_ {
        let stations = self.plant.ways.as_ref().map_or(&[][..], |ways| ways.of_device(device));
        // Of those that are as busy, the disk is the last.
        stations.iter().map(|&station| Place::Station(station)).chain([Place::Disk(device)])
    }

    /// The ports that messages from one device to another pass: those by which they leave, and the others.
    fn ports(&self, from: u32, to: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut leaving, mut others) = (Vec::new(), Vec::new());
        for side in 0..self.plant.ports.sides() {
            let [from, to] = [from, to].map(|device| self.plant.ports.endpoint(DeviceId::new(device), side));
            let (ports, first) = self.plant.fabric.ways(from, to);
            leaving.extend(&ports[..first]);
            others.extend(&ports[first..]);
        }
        (leaving, others)
    }

    /// The kind of a port.
    fn kind_of(&self, port: u32) -> LimitKind {
        match (self.plant.fabric.has_links(), port % 2) {
            (true, _) => LimitKind::Link,
            (false, 0) => LimitKind::Sending,
            (false, _) => LimitKind::Receiving,
        }
    }

    /// Charges what was spent to where it was spent.
    pub fn charge(&self, spent: &Spent, charges: &mut Charges) {
        let (source, own) = (spent.other(), spent.driver());
        let at = |stage: Stage| spent.stages[stage as usize];
        let mut met: Vec<(LimitKind, Place)> = Vec::new();
        let mut add = |kind, place, time| {
            let sum = charges.entry((kind, place)).or_default();
            sum.time += time;
            if !met.contains(&(kind, place)) {
                // Several stages of a buffer may be spent at one place.
                met.push((kind, place));
                sum.buffers += spent.buffers;
                sum.bytes += spent.bytes;
            }
        };
        if spent.is_handed_over {
            return self.charge_hand_over(spent, add);
        }
        if let Some(disk) = self.busiest(LimitKind::Writing, self.of_device(own)) {
            add(LimitKind::Writing, disk, at(Stage::Write));
        }
        if at(Stage::Decode) > 0 {
            add(LimitKind::Coding, Place::At(own), at(Stage::Decode));
        }
        if at(Stage::Software) > 0 {
            add(LimitKind::Software, Place::At(own), at(Stage::Software));
        }
        if at(Stage::Retry) > 0 {
            add(LimitKind::Loss, Place::Several, at(Stage::Retry));
        }
        if source == NOBODY {
            let of_others =
                spent.picoseconds() - at(Stage::Write) - at(Stage::Decode) - at(Stage::Software) - at(Stage::Retry);
            return add(LimitKind::Reading, Place::Several, of_others);
        }
        let (leaving, others) = self.ports(source, own);
        let mut of_ports = |ports: &[u32], time: u64| {
            let busiest = self.busiest(LimitKind::Link, ports.iter().map(|&port| Place::Port(port)));
            if let Some(place @ Place::Port(port)) = busiest {
                add(self.kind_of(port), place, time);
            }
        };
        of_ports(&leaving, at(Stage::Send));
        of_ports(if others.is_empty() { &leaving } else { &others }, at(Stage::Transit));
        let (asking, asked) = self.ports(own, source);
        of_ports(&[asking, asked].concat(), at(Stage::Request));
        let disk = self.busiest(LimitKind::Reading, self.of_device(source));
        if let Some(disk) = disk {
            add(LimitKind::Reading, disk, at(Stage::Read));
        }
        // Memory is held by what is read and sent: where either is busy all the time, that is what is waited for.
        let port = self.busiest(LimitKind::Link, leaving.iter().map(|&port| Place::Port(port)));
        let holder = self.busiest(LimitKind::Reading, disk.into_iter().chain(port));
        if at(Stage::SendMemory) > 0 {
            match holder.filter(|&place| self.busy(LimitKind::Reading, place) >= Some(SATURATED)) {
                Some(place @ Place::Port(port)) => add(self.kind_of(port), place, at(Stage::SendMemory)),
                Some(place) => add(LimitKind::Reading, place, at(Stage::SendMemory)),
                None => add(LimitKind::SendMemory, Place::At(source), at(Stage::SendMemory)),
            }
        }
    }

    /// Charges what buffers spent on their way to where they are to be, and there.
    fn charge_hand_over(&self, spent: &Spent, mut add: impl FnMut(LimitKind, Place, u64)) {
        let at = |stage: Stage| spent.stages[stage as usize];
        if spent.other() == NOBODY {
            add(LimitKind::Sending, Place::Several, at(Stage::HandOver));
            return add(LimitKind::Writing, Place::Several, at(Stage::Write));
        }
        let (leaving, others) = self.ports(spent.driver(), spent.other());
        let ports = leaving.iter().chain(&others).map(|&port| Place::Port(port));
        if let Some(place @ Place::Port(port)) = self.busiest(LimitKind::Link, ports) {
            add(self.kind_of(port), place, at(Stage::HandOver));
        }
        if let Some(disk) = self.busiest(LimitKind::Writing, self.of_device(spent.other())) {
            add(LimitKind::Writing, disk, at(Stage::Write));
        }
    }

    /// Whether a part was busy all the time, or was queued at.
    fn is_contended(&self, kind: LimitKind, place: Place, sum: Sum) -> bool {
        if matches!(kind, LimitKind::SendMemory | LimitKind::Loss | LimitKind::Software) {
            return true;
        }
        let Some(busy) = self.busy(kind, place) else { return false };
        let passed = self.passed(place).filter(|&passed| passed > 0);
        let served = passed.map(|passed| busy * self.window * 1e12 / passed as f64 * sum.bytes as f64);
        busy >= SATURATED || served.is_some_and(|served| sum.time as f64 >= QUEUED * served)
    }

    /// The limit among what was waited for: a place of a kind, or all of a kind where no place is most of it.
    pub fn choose(&self, charges: &Charges) -> Option<(LimitKind, Option<Place>)> {
        if self.paced() >= MOST {
            return None;
        }
        let all: u64 = charges.values().map(|sum| sum.time).sum();
        let mut kinds: Vec<(u64, LimitKind)> = Vec::new();
        for (&(kind, _), sum) in charges {
            match kinds.iter_mut().find(|(_, other)| other.is_like(kind)) {
                Some((time, _)) => *time += sum.time,
                None => kinds.push((sum.time, kind)),
            }
        }
        kinds.sort_unstable_by(|a, b| b.cmp(a));
        let (time, kind) = kinds.into_iter().find(|&(time, kind)| {
            let contended = charges
                .iter()
                .filter(|&(&(other, place), &sum)| other.is_like(kind) && self.is_contended(other, place, sum));
            let contended: u64 = contended.map(|(_, sum)| sum.time).sum();
            time as f64 >= NOTABLE * all as f64 && contended as f64 >= MOST * time as f64
        })?;
        let of_kind = charges.iter().filter(|((other, _), _)| other.is_like(kind));
        let (&(kind, place), most) = of_kind.max_by_key(|(_, sum)| sum.time)?;
        Some((kind, (most.time as f64 >= MOST * time as f64).then_some(place)))
    }

    /// Of what a destination's buffers spent at some places.
    fn row_of(&self, kind: LimitKind, sum: Sum, charges: &Charges) -> Limit {
        let all: u64 = charges.values().map(|sum| sum.time).sum();
        let seconds = sum.time as f64 * 1e-12;
        Limit {
            kind,
            number: None,
            part: None,
            parts: 1,
            busy_fraction: None,
            waited_fraction: sum.time as f64 / all.max(1) as f64,
            buffer_seconds: (sum.buffers > 0).then(|| seconds / sum.buffers as f64),
            buffers: seconds * self.evidence.stride as f64 / self.window,
            destinations: None,
            rebuild_fraction: None,
            is_limit: false,
        }
    }

    pub fn row(&self, kind: LimitKind, place: Place, charges: &Charges) -> Limit {
        let sum = charges.get(&(kind, place)).copied().unwrap_or_default();
        let part = match (place, &self.plant.ways) {
            (Place::Station(number), Some(ways)) => Some(ways.named(number)),
            _ => None,
        };
        let number = match place {
            Place::Disk(number) | Place::At(number) => Some(number),
            Place::Port(port) if kind == LimitKind::Link => Some(port),
            Place::Port(port) => Some(port / 2),
            Place::Station(_) | Place::Several => None,
        };
        Limit {
            number,
            part,
            busy_fraction: self.busy(kind, place),
            rebuild_fraction: self.of_rebuild(kind, place),
            ..self.row_of(kind, sum, charges)
        }
    }

    /// Of all places of a kind together.
    pub fn row_of_many(&self, kind: LimitKind, charges: &Charges) -> Limit {
        let (mut all, mut parts, mut busy) = (Sum::default(), 0, 0.0);
        for (&(other, place), sum) in charges.iter().filter(|((other, _), _)| other.is_like(kind)) {
            all.time += sum.time;
            all.buffers += sum.buffers;
            parts += 1;
            busy += self.busy(other, place).unwrap_or(0.0) * sum.time as f64;
        }
        let is_served = !matches!(kind, LimitKind::SendMemory | LimitKind::Loss | LimitKind::Software);
        let busy_fraction = (is_served && all.time > 0).then(|| busy / all.time as f64);
        Limit { parts, busy_fraction, ..self.row_of(kind, all, charges) }
    }

    /// Which share of the window the destination asked for nothing lest it pass its bandwidth.
    pub fn paced(&self) -> f64 {
        self.evidence.paced.seconds() / self.window
    }

    /// What keeps a destination from asking when it would else.
    pub fn pacing_kind(&self) -> LimitKind {
        if self.evidence.has_bandwidth { LimitKind::Bandwidth } else { LimitKind::Software }
    }

    /// What keeps a destination from being faster where nothing is busy.
    pub fn idle_kind(&self) -> LimitKind {
        if self.evidence.queued.seconds() / self.window >= MOST {
            LimitKind::Software
        } else if self.evidence.full.seconds() / self.window < MOST {
            LimitKind::RoundTrip
        } else if self.evidence.is_pipelined {
            LimitKind::ReceiveMemory
        } else {
            LimitKind::Pipelining
        }
    }

    /// What kept the destination from asking.
    pub fn admission(&self, own: &[&Spent]) -> Vec<Limit> {
        let mut under_way = Sum::default();
        for spent in own {
            under_way.time += spent.picoseconds();
            under_way.buffers += if spent.is_handed_over { 0 } else { spent.buffers };
        }
        let row = |kind, seconds: f64| Limit {
            waited_fraction: (seconds / self.window).min(1.0),
            ..self.row_of(kind, under_way, &Charges::new())
        };
        let paced = self.evidence.paced.seconds();
        let pace = (paced > 0.0).then(|| row(self.pacing_kind(), paced));
        let kind = self.idle_kind();
        let full = self.evidence.full.seconds();
        let seconds = match kind {
            LimitKind::Software => self.evidence.queued.seconds(),
            LimitKind::RoundTrip => self.window - full - paced,
            _ => full,
        };
        pace.into_iter().chain([row(kind, seconds.max(0.0))]).collect()
    }

    /// How many destinations waited most for the limit.
    pub fn destinations(&self, limit: &Limit, chosen: Option<(LimitKind, Option<Place>)>) -> Option<u64> {
        let (kind, place) = chosen?;
        let mut count = 0;
        for own in self.evidence.spent.chunk_by(|a, b| a.driver() == b.driver()) {
            let mut all = [0; STAGES];
            own.iter().for_each(|spent| all.iter_mut().zip(spent.stages).for_each(|(sum, more)| *sum += more));
            let most_of = |stages: &[Stage]| stages.iter().map(|&stage| all[stage as usize]).sum::<u64>();
            let (read, network) = (
                most_of(&[Stage::SendMemory, Stage::Read]),
                most_of(&[Stage::Request, Stage::Send, Stage::Transit, Stage::HandOver]),
            );
            let of_kind = match limit.kind {
                LimitKind::Reading | LimitKind::SendMemory => read,
                LimitKind::Writing => most_of(&[Stage::Write]),
                LimitKind::Coding => most_of(&[Stage::Decode]),
                LimitKind::Loss => most_of(&[Stage::Retry]),
                LimitKind::Software => most_of(&[Stage::Software]),
                // The memory of a source is full of what does not leave it.
                _ => network + all[Stage::SendMemory as usize],
            };
            let singles = [Stage::Write, Stage::Decode, Stage::Software, Stage::Retry];
            let others = [read, network].into_iter().chain(singles.map(|stage| most_of(&[stage])));
            let is_most = others.into_iter().all(|time| time <= of_kind);
            let (handed, gathered): (Vec<&Spent>, Vec<&Spent>) = own.iter().partition(|spent| spent.is_handed_over);
            let mains = [handed, gathered].map(|all| all.into_iter().max_by_key(|spent| spent.picoseconds()));
            let does_pass = |main: &Spent| place.is_none_or(|place| self.passes(kind, place, main));
            let passes = mains.into_iter().flatten().any(does_pass);
            count += u64::from(is_most && passes || own[0].driver() == self.evidence.last);
        }
        Some(count)
    }

    /// Whether what a destination had from a source passed a place.
    fn passes(&self, kind: LimitKind, place: Place, spent: &Spent) -> bool {
        let (source, own) = (spent.other(), spent.driver());
        let (from, to) = if spent.is_handed_over { (own, source) } else { (source, own) };
        match place {
            Place::Port(port) if source != NOBODY => {
                let (leaving, others) = self.ports(from, to);
                leaving.contains(&port) || others.contains(&port)
            }
            Place::Disk(_) | Place::Station(_) if kind == LimitKind::Writing => {
                self.of_device(to).any(|other| other == place)
            }
            Place::Disk(_) | Place::Station(_) if source != NOBODY => self.of_device(from).any(|other| other == place),
            Place::At(device) => device == if kind == LimitKind::Coding { own } else { source },
            _ => true,
        }
    }
}
