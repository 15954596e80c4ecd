//! What software limits, against closed forms.

use crate::common;

use common::{Task, jbod, policy, restore};
use resilver_system::{RecoveryPolicy, SoftwareLimits, SourceChoice};
use resilver_units::{Bytes, BytesPerSecond, SimDuration};

const MIB: u64 = 1 << 20;
/// How long a piece of 16 MiB is under way by itself: request, read, send and write, as `closed_forms` has them.
const ALONE: f64 = 2.0 * 6.782182e-6
    + 63.0 * 0.852e-9
    + (23.67e-6 + 16.0 / 1542.1)
    + 16_777_215.0 * 0.516e-9
    + (29.67e-6 + 16.0 / 1511.7);

/// Seconds to restore pieces of 16 MiB from and to these devices of nine.
fn seconds(ends: &[(u32, u32)], software: SoftwareLimits) -> f64 {
    let task = |&(from, to): &(u32, u32)| Task { bytes: 16 * MIB, holders: vec![from], home: to };
    let tasks: Vec<Task> = ends.iter().map(task).collect();
    let policy = RecoveryPolicy { software, ..policy() };
    let (outcome, _) = restore(9, &tasks, policy, SourceChoice::Primary, jbod(0.0), u64::MAX);
    outcome.rebuilt_at.seconds()
}

fn held_to(got: f64, expected: f64, tolerance: f64) {
    assert!((got / expected - 1.0).abs() < tolerance, "{got} s against {expected} s");
}

fn time(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap()
}

// Rule: n pieces, one at a time, take n times what one does by itself and software takes for it, whichever limit holds them.
#[test]
fn pieces_one_at_a_time_take_n_times_one() {
    let of_one = SoftwareLimits { time_per_piece: time(0.25), ..SoftwareLimits::default() };
    let expected = 12.0 * (ALONE + 0.25);
    for limits in [
        SoftwareLimits { per_driver: Some(1), ..of_one },
        SoftwareLimits { per_source: Some(1), ..of_one },
        SoftwareLimits { per_target: Some(1), ..of_one },
        SoftwareLimits { in_all: Some(1), ..of_one },
    ] {
        held_to(seconds(&[(0, 1); 12], limits), expected, 1e-5);
    }
}

// Rule: a limit holds what it is of, and nothing else. Four pairs of their own take no longer than one, but where it is of all; where
// four pull from one device, that one's limit makes them take turns, and their own do not.
#[test]
fn a_limit_holds_what_it_is_of() {
    let pairs: Vec<(u32, u32)> = (0..4).flat_map(|pair| [(pair, pair + 4); 3]).collect();
    let from_one: Vec<(u32, u32)> = (0..4).flat_map(|to| [(0, to + 4); 3]).collect();
    let long = SoftwareLimits { time_per_piece: time(1.0), ..SoftwareLimits::default() };
    let piece = ALONE + 1.0;
    held_to(seconds(&pairs, SoftwareLimits { per_driver: Some(1), ..long }), 3.0 * piece, 1e-5);
    held_to(seconds(&pairs, SoftwareLimits { per_source: Some(1), ..long }), 3.0 * piece, 1e-5);
    held_to(seconds(&pairs, SoftwareLimits { in_all: Some(1), ..long }), 12.0 * piece, 1e-5);
    held_to(seconds(&from_one, SoftwareLimits { per_source: Some(1), ..long }), 12.0 * piece, 1e-5);
    // Reading is the device's alone: of four at once the last begins to be sent 4 reads on, some 2 % of a piece.
    held_to(seconds(&from_one, SoftwareLimits { per_driver: Some(1), ..long }), 3.0 * piece, 0.03);
    held_to(seconds(&from_one, SoftwareLimits { per_source: Some(2), ..long }), 6.0 * piece, 0.03);
}

#[test]
fn drivers_pause_scan_and_check() {
    let one = SoftwareLimits { per_driver: Some(1), ..SoftwareLimits::default() };
    let paused = SoftwareLimits { pause: time(0.5), ..one };
    held_to(seconds(&[(0, 1); 7], paused), 7.0 * ALONE + 6.0 * 0.5, 1e-5);
    let scanned = SoftwareLimits { scan_per_piece: time(2.0), ..one };
    held_to(seconds(&[(0, 1); 7], scanned), 7.0 * (ALONE + 2.0), 1e-5);
    let checked = SoftwareLimits { check_rate: BytesPerSecond::new(16.0 * MIB as f64), ..one };
    held_to(seconds(&[(0, 1); 7], checked), 7.0 * (ALONE + 1.0), 1e-5);
    // Pieces of one buffer each take what a buffer does; of many buffers one at a time each of them does.
    let stepped = SoftwareLimits { time_per_buffer: time(0.5), ..one };
    held_to(seconds(&[(0, 1); 7], stepped), 7.0 * (ALONE + 0.5), 1e-5);
    let tasks = [Task { bytes: 64 * MIB, holders: vec![0], home: 1 }];
    let steps = RecoveryPolicy { pipelining: false, software: stepped, ..policy() };
    let (outcome, _) = restore(9, &tasks, steps, SourceChoice::Primary, jbod(0.0), u64::MAX);
    held_to(outcome.rebuilt_at.seconds(), 4.0 * (ALONE + 0.5), 1e-3);
    // Pipelined, the check alone is what takes time: the first buffer comes to it after its way, and the last is written behind it.
    let pipelined = SoftwareLimits { per_driver: None, ..checked };
    held_to(seconds(&[(0, 1); 7], pipelined), 7.0 + ALONE, 1e-5);
}

// Rule: n buffers at a rate in all begin one buffer's time apart; with a burst of b of them 1 + b begin at once.
#[test]
fn a_rate_in_all_is_shared_by_all_drivers() {
    let pairs: Vec<(u32, u32)> = (0..4).flat_map(|pair| [(pair, pair + 4); 3]).collect();
    let rate_in_all = BytesPerSecond::new(16.0 * MIB as f64);
    let limits = SoftwareLimits { rate_in_all, ..SoftwareLimits::default() };
    held_to(seconds(&pairs, limits), 11.0 + ALONE, 1e-5);
    let burst = SoftwareLimits { burst: Bytes::mebibytes(64), ..limits };
    held_to(seconds(&pairs, burst), 7.0 + ALONE, 1e-5);
    // Nothing is asked for before 3 s, while all scan for three pieces each: a burst does not grow by that.
    let scanned = SoftwareLimits { scan_per_piece: time(1.0), burst: Bytes::mebibytes(48), ..limits };
    held_to(seconds(&pairs, scanned), 3.0 + 8.0 + ALONE, 1e-5);
    // A bandwidth of each has a burst too: of three buffers two begin at once.
    let software = SoftwareLimits { burst: Bytes::mebibytes(16), ..SoftwareLimits::default() };
    let of_each = RecoveryPolicy { bandwidth: rate_in_all, software, ..policy() };
    let tasks = vec![Task { bytes: 16 * MIB, holders: vec![0], home: 1 }; 3];
    let (outcome, _) = restore(9, &tasks, of_each, SourceChoice::Primary, jbod(0.0), u64::MAX);
    held_to(outcome.rebuilt_at.seconds(), 1.0 + ALONE, 1e-5);
}
