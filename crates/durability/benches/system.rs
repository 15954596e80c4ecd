//! Disk-years a second of plain simulation: 10,000 disks under rs 8+3, declustered, as two cores make them.
//!
//! 91,000 groups are drawn evenly, so that each disk has about 100 and shares them with about 1,000 others. Disks fail at an AFR of 1.36 %
//! (Backblaze, Drive Stats for 2025) and are whole after 10 hours, group after group: a failure stands for the repairs of about 100 pieces.

use std::time::Instant;

use rayon::prelude::*;
use resilver_durability::input::{
    DurabilityInput, EffectInput, FailureInput, LawInput, LevelInput, PoolInput, RepairInput, Returns, SpeedInput,
    TimeInput,
};
use resilver_durability::system::StorageSystem;
use resilver_durability::{Hazard, Model};
use resilver_kernel::{Purpose, Stream};

const DISKS: u32 = 10_000;
const GROUPS: u32 = 91_000;
const PIECES: usize = 11;
const HOUR: f64 = 3600.0;
const YEAR: f64 = 8766.0 * HOUR;
const MISSIONS: u64 = 4_000;
const GOAL: f64 = 1e7;
const CORES: f64 = 2.0;

/// The system; each disk fails by the law.
fn system(law: LawInput, speed: SpeedInput) -> DurabilityInput {
    let mut draws = Stream::new(1, 0, Purpose::named("sets"));
    let mut sets: Vec<u32> = Vec::new();
    for group in 0..GROUPS as usize {
        while sets.len() < (group + 1) * PIECES {
            let disk = draws.below(u64::from(DISKS)) as u32;
            if !sets[group * PIECES..].contains(&disk) {
                sets.push(disk);
            }
        }
    }
    // 20 disks in each of 500 hosts.
    let hosts = LevelInput { name: "host".into(), parents: vec![0; DISKS as usize / 20] };
    let disks = LevelInput { name: "osd".into(), parents: (0..DISKS).map(|disk| disk / 20).collect() };
    DurabilityInput {
        mission_seconds: YEAR,
        levels: vec![hosts, disks],
        pools: vec![PoolInput { name: "pool".into(), code: "rs 8+3".into(), sets, piece_bytes: vec![100 << 30] }],
        failures: vec![FailureInput {
            name: "disk".into(),
            level: 1,
            parts: Vec::new(),
            law,
            effect: EffectInput::Lost,
            burst: None,
        }],
        repair: RepairInput {
            detection: TimeInput::Fixed { seconds: 0.0 },
            replacement: TimeInput::Fixed { seconds: 0.0 },
            speed,
            returns: Returns::Groups,
            most_lost_first: true,
        },
        latent: None,
    }
}

/// A mission as it comes; how many disks failed.
fn mission(model: &mut StorageSystem, trajectory: u64) -> u64 {
    let mut draws = Stream::new(1, trajectory, Purpose::named("bench"));
    model.reset(&mut draws);
    let mut hazards = vec![Hazard::default(); model.kinds()];
    let mut failures = 0;
    loop {
        model.hazards(&mut hazards);
        let total: f64 = hazards.iter().map(|hazard| hazard.rate).sum();
        let at = model.now() + draws.exponential(1.0 / total);
        let limit = model.next_change().min(model.bounded_until()).min(YEAR);
        if at < limit {
            model.advance(at);
            let mut left = draws.uniform() * total;
            let kind = hazards.iter().position(|hazard| {
                left -= hazard.rate;
                left < 0.0
            });
            failures += u64::from(model.fail(kind.unwrap_or(0), &mut draws));
        } else {
            model.advance(limit);
            if limit >= YEAR {
                return failures;
            }
            if limit >= model.next_change() {
                model.change(&mut draws);
            }
        }
    }
}

/// The seconds that all threads of the process have computed so far, where the system tells, so that what else runs on a machine does not
/// count; it tells them in hundredths.
fn computed(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").ok();
    let ticks = told.and_then(|told| {
        let after_name = told.rsplit(')').next()?.to_owned();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    });
    ticks.map_or_else(|| start.elapsed().as_secs_f64() * CORES, |ticks| ticks / 100.0)
}

fn time(name: &str, law: LawInput, speed: SpeedInput, other: Option<FailureInput>) {
    let mut input = system(law, speed);
    input.failures.extend(other);
    let start = Instant::now();
    let model = StorageSystem::new(&input).expect("the input holds");
    let built = start.elapsed().as_secs_f64();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(CORES as usize).build().expect("there are threads");
    // What is found when first asked for is found.
    mission(&mut model.clone(), MISSIONS);
    let before = computed(start);
    let failures: u64 = threads.install(|| (0..MISSIONS).into_par_iter().map_init(|| model.clone(), mission).sum());
    let seconds = (computed(start) - before) / CORES;
    let rate = f64::from(DISKS) * MISSIONS as f64 / seconds;
    println!(
        "{name:<34} {GOAL:>9.0e} {rate:>12.3e} {:>12.0} {:>9.2} {built:>8.2}",
        failures as f64 / seconds,
        failures as f64 / MISSIONS as f64,
    );
}

fn main() {
    println!("disk-years a second on two cores, 10,000 disks, rs 8+3 over 91,000 declustered groups");
    println!("{:<34} {:>9} {:>12} {:>12} {:>9} {:>8}", "case", "goal", "rate", "failures/s", "a year", "built s");
    let rate_per_second = -(1.0_f64 - 0.0136).ln() / YEAR;
    let constant = || LawInput::Exponential { rate_per_second };
    let ten_hours = || TimeInput::Fixed { seconds: 10.0 * HOUR };
    time("constant rate, 10 h each", constant(), SpeedInput::Parallel { takes: ten_hours() }, None);
    let by_lost = vec![ten_hours(), TimeInput::Fixed { seconds: 11.0 * HOUR }];
    time("constant rate, by how many are lost", constant(), SpeedInput::ByLost { takes: by_lost }, None);
    let shared = SpeedInput::Shared { device_bytes_per_second: 300e6, limits: Vec::new(), onto_replacement: true };
    time("constant rate, shared bandwidth", constant(), shared, None);
    // Hosts are away 3 times a year, for 15 minutes (as many as the 4.3 months between a node's failures of Ford et al., OSDI 2010, say).
    let lasts = TimeInput::Fixed { seconds: HOUR / 4.0 };
    let away = FailureInput {
        name: "host".into(),
        level: 0,
        parts: Vec::new(),
        law: LawInput::Exponential { rate_per_second: 12.0 / 4.3 / YEAR },
        effect: EffectInput::Away { lasts, lost_share: 0.0 },
        burst: None,
    };
    time("the same, hosts away at times", constant(), SpeedInput::Parallel { takes: ten_hours() }, Some(away));
    let weibull = LawInput::Weibull { shape: 1.12, scale_seconds: 1.0 / rate_per_second, age_seconds: Vec::new() };
    time("Weibull of shape 1.12, 10 h each", weibull, SpeedInput::Parallel { takes: ten_hours() }, None);
}
