//! Systems as JSON says them, and runs as tables tell them.

use crate::common;

use std::sync::Arc;

use common::{LOGGP, SEEKS, files_on_ring, finish};
use resilver_crush::{BucketKind, CrushMap, Tunables};
use resilver_system::{
    Column, Fault, Metric, Phase, Simulation, SystemConfig, SystemError, metrics, system_of, tables,
};
use resilver_units::{DeviceId, SimTime};
use serde_json::{Value, json};

const SERVERS: u32 = 16;

/// The rows of the network's table.
fn loggp() -> Vec<Value> {
    let seconds = |picoseconds: f64| picoseconds * 1e-12;
    LOGGP
        .iter()
        .map(|&(size, gap, each)| {
            let (gap, each) = (seconds(gap as f64), seconds(each as f64));
            json!({"size": size, "latency": seconds(6_782_182.0), "gap": gap, "gap_per_byte": each})
        })
        .collect()
}

/// [`files_on_ring`] with a device that fails, in words.
fn described() -> Value {
    let megabytes = |rate: f64| rate * 1_048_576.0;
    let row = |(index, &(read, write)): (usize, &(f64, f64))| json!([4096 << index, read * 1e-6, write * 1e-6]);
    let rows: Vec<Value> = SEEKS.iter().enumerate().map(row).collect();
    let servers: Vec<u32> = (0..SERVERS).collect();
    json!({
        "seed": 5,
        "endpoint_of": servers,
        "ports_of": [],
        "devices": {
            "kinds": [{
                "service": {"table": {
                    "read": {"rate": megabytes(1542.1), "overhead": 23.67e-6},
                    "write": {"rate": megabytes(1511.7), "overhead": 29.67e-6},
                    "sequential_gap": 512,
                    "rows": rows,
                }},
                "discipline": "fifo",
                "spread": 0.0,
            }],
            "kind_of": [],
            "replaced": {},
            "passing": null,
        },
        "fabric": {"loggp": loggp()},
        "policy": {
            "pipeline_buffer": 16 << 20, "pipelining": true, "receive_memory": 1 << 30, "send_memory": 1 << 30,
            "control_message": 64, "bandwidth": null,
        },
        "retry": {"after": 1.0, "attempts": 3},
        "source": "least_loaded",
        "order": "population",
        "pools": [{
            "groups": null,
            "domains": 16,
            "placement": {"ring": {"points": 128, "copies": 3, "walk": "rehash"}},
            "population": {
                "histogram": [[0, 256 << 20, 1]], "decomposition": "whole", "extent": {"files": 300},
            },
            "redundancy": null,
        }],
        "traffic": [],
        "streams": null,
        "redundancy": null,
        "faults": {
            "faults": [{"key": "failed", "at": 0.0, "part": {"device": [3]}, "health": 0.0, "told": true}],
            "levels": [],
            "node_names": [],
            "devices": [16, "servers"],
        },
        "lanes": null,
    })
}

fn error_of(system: &Value) -> String {
    system_of(&system.to_string(), &[]).unwrap_err().to_string()
}

#[test]
fn words_say_what_types_do() {
    let (said, _) = system_of(&described().to_string(), &[]).unwrap();
    let faults = vec![Fault::told(SimTime::ZERO, vec![DeviceId::new(3)])];
    let made = SystemConfig { faults, policy: said.policy, ..files_on_ring(SERVERS, 300, 256 << 20) };
    assert_eq!(finish(&said), finish(&made));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let with = |path: &str, value: Value| {
        let mut system = described();
        *system.pointer_mut(path).unwrap() = value;
        error_of(&system)
    };
    assert_eq!(
        with("/retry/after", json!(-1.0)),
        "retry.after: -1 s is not a time: it must be a finite number of seconds, zero or more"
    );
    assert_eq!(
        with("/devices/kinds/0/service/table/read/rate", json!(0.0)),
        "devices.kinds[0].service.table.read.rate: 0 B/s is not a rate: it must be finite and above zero"
    );
    assert!(
        with("/source", json!("nearest")).starts_with("source: unknown variant `nearest`, expected one of `primary`")
    );
    assert!(with("/pools/0/population/histogram", json!([[5, 5, 1]])).contains("histogram"));
    assert!(with("/pools/0/redundancy", json!({"code": "rs 0+2", "strip": null, "coding": null})).contains("code"));
    assert!(with("/devices/kinds/0/spread", json!(3.0)).starts_with("cluster.parts.spread = 3: it is from 0 to"));
    assert!(
        with("/lanes", json!({"lanes": {"shares": [1.0], "order": "turns"}, "devices": true})).contains("3 classes")
    );
    assert!(with("/faults/faults/0/part", json!({"device": [99]})).contains("numbered from 0"));
    assert!(with("/faults/faults/0/health", json!(0.5)).contains("told = true"));
    assert!(with("/faults/faults/0/part", json!({"link": 1})).contains("faults.0.told"));
    // Exponential times need a mean.
    let none = json!({"exponential": {"read": 0.0, "write": 1.0}});
    assert!(with("/devices/kinds/0/service", none).contains("mean above 0 s"));
    // What is not said, or is not known, is told as well.
    let mut system = described();
    system.as_object_mut().unwrap().remove("seed");
    assert_eq!(error_of(&system), "missing field `seed`");
    system = described();
    system["policy"]["hurry"] = json!(true);
    assert_eq!(error_of(&system).split(", ").next(), Some("policy.hurry: unknown field `hurry`"));
    assert!(system_of("{", &[]).unwrap_err().to_string().starts_with("EOF"));
}

#[test]
fn a_pool_by_crush_takes_its_map_and_its_rule() {
    let mut system = described();
    let pool =
        json!({"id": 1, "pg_num": 64, "pgp_num": 64, "size": 3, "rule": 0, "hashpspool": true, "kind": "replicated"});
    system["pools"][0]["groups"] = json!(64);
    system["pools"][0]["placement"] = json!({"crush": {"map": 0, "pool": pool, "by_group": false}});
    assert_eq!(error_of(&system), "crush.map = 0: there is no such map");
    let map = [Arc::new(CrushMap::flat(SERVERS, BucketKind::Straw2, Tunables::profile("jewel").unwrap()))];
    let (config, named) = system_of(&system.to_string(), &map).unwrap();
    assert_eq!(named.len(), 1);
    assert!(finish(&config).outcome.rebuilt_pieces > 0);
    system["pools"][0]["placement"]["crush"]["pool"]["rule"] = json!(7);
    let error = system_of(&system.to_string(), &map).unwrap_err();
    assert!(matches!(&error, SystemError::Placement(why) if why.contains("pool 1: rule = 7")), "{error}");
}

#[test]
fn tables_have_columns_of_one_length_and_say_what_metrics_say() {
    let (config, named) = system_of(&described().to_string(), &[]).unwrap();
    let mut simulation = Simulation::new(config).unwrap();
    assert!(tables(&simulation).is_empty(), "a run that is not done has nothing to tell");
    while simulation.phase() != Phase::Done {
        simulation.advance().unwrap();
    }
    let metrics = metrics(simulation.report().unwrap(), &named);
    let metric = |wanted: &str| metrics.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.clone());
    let tables = tables(&simulation);
    for table in &tables {
        let lengths: Vec<usize> = table.columns.iter().map(|(_, column)| column.rows()).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{}: {lengths:?}", table.name);
    }
    let counts = |table: &str, wanted: &str| -> u64 {
        let table = tables.iter().find(|one| one.name == table).unwrap();
        match &table.columns.iter().find(|(name, _)| name == wanted).unwrap().1 {
            Column::Counts(counts) => counts.iter().map(|&count| count as u64).sum(),
            other => panic!("{other:?} are no counts"),
        }
    };
    let Some(Metric::Count(rebuilt)) = metric("rebuilt_bytes") else { panic!("no rebuilt bytes") };
    assert!(rebuilt > 0);
    assert_eq!(counts("transfers", "bytes"), rebuilt);
    assert_eq!(counts("servers", "rebuilt_bytes"), rebuilt);
    assert_eq!(counts("timeline", "rebuilt_bytes"), rebuilt);
    assert_eq!(metric("requests_completed"), None, "there are no clients");
    let mut names: Vec<&String> = metrics.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), metrics.len(), "each metric is told once");
}
