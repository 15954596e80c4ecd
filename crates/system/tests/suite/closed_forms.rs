//! The rebuild against the closed forms of its parts.

use crate::common;

use common::{Task, gibibytes_per_second, jbod, policy, restore};
use resilver_system::{RecoveryPolicy, SourceChoice};
use resilver_units::{Bytes, BytesPerSecond};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// One object from device 0 to device 1.
fn pair(bytes: u64, policy: RecoveryPolicy) -> f64 {
    let tasks = [Task { bytes, holders: vec![0], home: 1 }];
    let (outcome, _) = restore(3, &tasks, policy, SourceChoice::Primary, jbod(1.0), u64::MAX);
    gibibytes_per_second(&outcome)
}

/// Eight devices; each restores `objects` objects of 16 MiB that its neighbour holds.
fn neighbours(objects: u32, seek_factor: f64) -> f64 {
    let tasks: Vec<Task> =
        (0..8 * objects).map(|task| Task { bytes: 16 * MIB, holders: vec![(task + 1) % 8], home: task % 8 }).collect();
    let (outcome, _) = restore(9, &tasks, policy(), SourceChoice::Primary, jbod(seek_factor), u64::MAX);
    gibibytes_per_second(&outcome) / 8.0
}

#[test]
fn a_long_pipelined_transfer_runs_at_the_rate_of_the_slowest_part() {
    // Reading takes 10.399 ms a buffer, sending 8.657 ms, writing 29.67 us + 16 / 1511.7 s = 10.614 ms: the writer binds.
    let expected = 16.0 / 1024.0 / (29.67e-6 + 16.0 / 1511.7);
    let rate = pair(256 * GIB, policy());
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate} GiB/s against {expected}");
}

#[test]
fn one_tebibyte_between_two_servers_moves_at_one_and_a_half_gibibytes_a_second() {
    // docs/models/device.md: 1.44 to 1.53 GiB/s.
    let rate = pair(1024 * GIB, policy());
    assert!((1.44..1.53).contains(&rate), "{rate}");
}

#[test]
fn without_pipelining_the_parts_add_up() {
    // Request: L + 63 x 0.852 ns. Read 10.399 ms, L + (2^24 - 1) x 0.516 ns, write 10.614 ms, one after another.
    let latency = 6.782182e-6;
    let read = 23.67e-6 + 16.0 / 1542.1;
    let send = latency + f64::from((1 << 24) - 1) * 0.516e-9;
    let write = 29.67e-6 + 16.0 / 1511.7;
    let expected = 16.0 / 1024.0 / (latency + 63.0 * 0.852e-9 + read + send + write);
    let rate = pair(64 * GIB, RecoveryPolicy { pipelining: false, ..policy() });
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate} GiB/s against {expected}");
}

#[test]
fn a_capped_pair_takes_its_size_over_the_cap() {
    // 512 requests of 16 MiB, 0.16 s apart at 100 MiB/s, and the last buffer's way: request, read, send and write as above.
    let latency = 6.782182e-6;
    let parts =
        63.0 * 0.852e-9 + 23.67e-6 + 16.0 / 1542.1 + f64::from((1 << 24) - 1) * 0.516e-9 + 29.67e-6 + 16.0 / 1511.7;
    let expected = 511.0 * 0.16 + 2.0 * latency + parts;
    let bandwidth = BytesPerSecond::new(100.0 * MIB as f64);
    let seconds = 8.0 / pair(8 * GIB, RecoveryPolicy { bandwidth, ..policy() });
    // The network's table is rounded to the picosecond a byte.
    assert!((seconds - expected).abs() < 2e-5, "{seconds} s against {expected}");
    // A cap above what the pair reaches changes nothing.
    let ample = RecoveryPolicy { bandwidth: BytesPerSecond::new(1e15), ..policy() };
    assert_eq!(pair(8 * GIB, ample), pair(8 * GIB, policy()));
}

#[test]
fn a_single_buffer_of_all_the_memory_is_not_pipelined_either() {
    let whole = RecoveryPolicy { pipeline_buffer: Bytes::gibibytes(1), ..policy() };
    let alone = RecoveryPolicy { pipelining: false, ..whole };
    assert_eq!(pair(16 * GIB, whole), pair(16 * GIB, alone));
}

#[test]
fn where_every_buffer_seeks_a_survivor_restores_what_the_closed_form_says() {
    // docs/models/device.md: 16 MiB / ((10.399 + 11.700) + (10.614 + 6.109) ms) = 0.4025 GiB/s.
    let rate = neighbours(4000, 1.0);
    assert!((rate / 0.4025 - 1.0).abs() < 0.005, "{rate}");
}

#[test]
fn without_seeks_a_survivor_restores_what_the_closed_form_says() {
    // 16 MiB / (10.399 + 10.614 ms) = 0.7436 GiB/s.
    let rate = neighbours(4000, 0.0);
    assert!((rate / 0.7436 - 1.0).abs() < 0.005, "{rate}");
}
