//! The model of a storage system, driven plainly.

mod ages;
mod bad_input;
mod chains;
mod laws;

use resilver_durability::input::{
    DurabilityInput, EffectInput, FailureInput, LawInput, LevelInput, PoolInput, RepairInput, Returns, SpeedInput,
    TimeInput,
};
use resilver_durability::system::StorageSystem;
use resilver_durability::{Draws, Hazard, Loss, Model};
use resilver_kernel::{Purpose, Stream};

/// Draws of one trajectory.
pub fn draws(seed: u64, trajectory: u64) -> Draws {
    Stream::new(seed, trajectory, Purpose::named("test"))
}

/// Drives a model through a mission as it comes; says what was lost, and when, until `on_loss` ends it.
pub fn drive(model: &mut StorageSystem, mission: f64, draws: &mut Draws, mut on_loss: impl FnMut(f64, Loss) -> bool) {
    model.reset(draws);
    let mut hazards = vec![Hazard::default(); model.kinds()];
    loop {
        model.hazards(&mut hazards);
        let total: f64 = hazards.iter().map(|hazard| hazard.rate).sum();
        let limit = model.next_change().min(model.bounded_until()).min(mission);
        let at = if total > 0.0 { model.now() + draws.exponential(1.0 / total) } else { f64::INFINITY };
        if at < limit {
            model.advance(at);
            let mut left = draws.uniform() * total;
            let kind = hazards.iter().position(|hazard| {
                left -= hazard.rate;
                left < 0.0
            });
            let last = hazards.iter().rposition(|hazard| hazard.rate > 0.0).expect("one has a rate");
            model.fail(kind.unwrap_or(last), draws);
        } else {
            model.advance(limit);
            if limit >= mission {
                return;
            }
            if limit >= model.next_change() {
                model.change(draws);
            }
        }
        if let Some(loss) = model.take_loss()
            && on_loss(model.now(), loss)
        {
            return;
        }
    }
}

/// The share of missions in which data is lost, and its standard error.
pub fn share_lost(input: &DurabilityInput, trajectories: u64, seed: u64) -> (f64, f64) {
    let mut model = StorageSystem::new(input).unwrap();
    let mut lost = 0;
    for trajectory in 0..trajectories {
        let mut is_lost = false;
        drive(&mut model, input.mission_seconds, &mut draws(seed, trajectory), |_, _| {
            is_lost = true;
            true
        });
        lost += u64::from(is_lost);
    }
    let share = lost as f64 / trajectories as f64;
    (share, (share * (1.0 - share) / trajectories as f64).sqrt())
}

/// Devices in one level, one group over the first of them, exponential failures, repair by `speed` at once.
pub fn one_group(code: &str, pieces: u32, rate: f64, mission: f64, speed: SpeedInput) -> DurabilityInput {
    DurabilityInput {
        mission_seconds: mission,
        levels: vec![LevelInput { name: "osd".into(), parents: vec![0; pieces as usize] }],
        pools: vec![PoolInput {
            name: "pool".into(),
            code: code.into(),
            sets: (0..pieces).collect(),
            piece_bytes: vec![1],
        }],
        failures: vec![failure(0, LawInput::Exponential { rate_per_second: rate }, EffectInput::Lost)],
        repair: RepairInput {
            detection: TimeInput::Fixed { seconds: 0.0 },
            replacement: TimeInput::Fixed { seconds: 0.0 },
            speed,
            returns: Returns::Devices,
            most_lost_first: false,
        },
        latent: None,
    }
}

/// All parts of a level fail so.
pub fn failure(level: usize, law: LawInput, effect: EffectInput) -> FailureInput {
    FailureInput { name: "failure".into(), level, parts: Vec::new(), law, effect, burst: None }
}
