//! Whole runs, and the reservations that pace them.

mod counting;
mod film;
mod lacking;
mod random;
mod reservations;
mod runs;
mod slow;
mod space;
mod steady;

use resilver_ceph::agents::Agent;
use resilver_ceph::{Change, ClusterInput, Column, DataPlane, GroupColumns, HealError, Healing, Step, Table, tables};

/// Groups of the same contents, a pool's each.
pub fn filled(input: &mut ClusterInput, objects: u64, bytes: u64) {
    input.groups = input
        .pools
        .iter()
        .map(|pool| GroupColumns {
            bytes: vec![bytes; pool.pool.pg_num as usize],
            objects: vec![objects; pool.pool.pg_num as usize],
            ..GroupColumns::default()
        })
        .collect();
}

/// A change at a time.
pub fn at(seconds: f64, change: Change) -> Step {
    Step { at_seconds: seconds, change }
}

/// A run to its end with works of a constant rate, and nobody who changes the map by himself.
pub fn healed(input: &ClusterInput, bytes_per_second: f64) -> Result<Outcome, HealError> {
    outcome_of(input, Box::new(steady::SteadyPlane::new(bytes_per_second)), Vec::new())
}

type Plane = Box<dyn DataPlane + Send + Sync>;
type Agents = Vec<Box<dyn Agent + Send + Sync>>;

/// A run to its end.
pub fn outcome_of(input: &ClusterInput, plane: Plane, agents: Agents) -> Result<Outcome, HealError> {
    let mut healing = Healing::new(input, plane, agents)?;
    healing.run()?;
    let digest = healing.digest().value();
    Ok(Outcome { tables: tables(&mut healing), digest, seconds: healing.now().seconds() })
}

/// What a run came to.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub tables: Vec<Table>,
    pub digest: u64,
    pub seconds: f64,
}

impl Outcome {
    fn column(&self, table: &str, column: &str) -> &Column {
        let table = self.tables.iter().find(|own| own.name == table).unwrap();
        table.column(column).unwrap()
    }

    pub fn counts(&self, table: &str, column: &str) -> &[i64] {
        let Column::Counts(values) = self.column(table, column) else { panic!("{column} has counts") };
        values
    }

    pub fn reals(&self, table: &str, column: &str) -> &[Option<f64>] {
        let Column::Reals(values) = self.column(table, column) else { panic!("{column} has real numbers") };
        values
    }

    pub fn texts(&self, table: &str, column: &str) -> &[String] {
        let Column::Texts(values) = self.column(table, column) else { panic!("{column} has texts") };
        values
    }
}
