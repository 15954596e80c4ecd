//! What the benches share: how a rate is measured and written.

use std::time::Instant;

/// Seconds of processor time that this process has used, where the system tells (Linux), else since `origin`.
///
/// Processor time does not count what other programs take of a busy machine, so rates are those of one core.
fn processor_seconds(origin: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    nanoseconds.map_or_else(|| origin.elapsed().as_secs_f64(), |spent| spent as f64 / 1e9)
}

/// The median processor time of a run, in seconds, after one run that does not count.
pub fn median_seconds(runs: usize, mut run: impl FnMut()) -> f64 {
    run();
    let origin = Instant::now();
    let mut seconds: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = processor_seconds(origin);
            run();
            processor_seconds(origin) - begin
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[runs / 2]
}

/// A rate in thousands, with commas: `1,234,000`.
pub fn rounded(rate: f64) -> String {
    let thousands = (rate / 1000.0).round() as u64;
    if thousands >= 1000 {
        return format!("{},{:03},000", thousands / 1000, thousands % 1000);
    }
    format!("{thousands},000")
}
