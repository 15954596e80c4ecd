//! Placements a second, with the goal beside the rate.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use resilver_placement::crush::{BucketKind, CrushMap, Lanes, Level, Scratch, Tunables};

/// Placements an iteration: enough that the input changes and the clock does not matter.
const PLACEMENTS: u32 = 1_000;

/// One case: what is placed, and the placements a second to reach on one core.
struct Case {
    name: &'static str,
    map: CrushMap,
    goal: Option<u32>,
}

/// 1,024 servers of weights from 1 to 1.99: as their text, with one line an item changed.
fn unequal(kind: BucketKind) -> CrushMap {
    let text = CrushMap::flat(1024, kind, Tunables::JEWEL).to_text();
    let heavier = |(index, line): (usize, &str)| line.replace("weight 1", &format!("weight 1.{:02}", index * 37 % 100));
    CrushMap::from_text(&text.lines().enumerate().map(heavier).collect::<Vec<_>>().join("\n")).unwrap()
}

fn cases() -> Vec<Case> {
    let racks = |kind| CrushMap::hierarchical(1024, 64, Some(8), kind, Tunables::JEWEL, Level::Rack).unwrap();
    vec![
        // Ceph's own library places 18,900 a second here, on one core of the same machine.
        Case {
            name: "flat straw, 1024 servers, 3 copies",
            map: CrushMap::flat(1024, BucketKind::Straw, Tunables::HAMMER),
            goal: Some(150_000),
        },
        Case {
            name: "flat straw2, 1024 servers, 3 copies",
            map: CrushMap::flat(1024, BucketKind::Straw2, Tunables::JEWEL),
            goal: None,
        },
        Case { name: "flat straw, unequal weights", map: unequal(BucketKind::Straw), goal: None },
        Case { name: "flat straw2, unequal weights", map: unequal(BucketKind::Straw2), goal: None },
        Case { name: "straw2 rows and racks, 1024 servers, 3 copies", map: racks(BucketKind::Straw2), goal: None },
    ]
}

fn placements(criterion: &mut Criterion) {
    for case in cases() {
        let goal = case.goal.map_or("none".to_owned(), |goal| format!("{goal} placements/s"));
        println!("{}: goal {goal}", case.name);
        let rule = case.map.rule_by_id(0).unwrap();
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Elements(u64::from(PLACEMENTS)));
        for lanes in Lanes::available() {
            let mut scratch = Scratch::with_lanes(lanes);
            let mut devices = Vec::new();
            group.bench_function(format!("{lanes:?}"), |bencher| {
                bencher.iter(|| {
                    for x in 0..PLACEMENTS {
                        case.map.place(rule, black_box(x), 3, &[], &mut scratch, &mut devices);
                        black_box(&devices);
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(3));
    targets = placements
}
criterion_main!(benches);
