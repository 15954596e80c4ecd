//! What a run came to, as tables.

mod film;
mod lacking;
mod osds;
mod pools;
mod sets;
mod stuck;
mod timeline;
mod tries;

use crate::healing::Healing;

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Counts(Vec<i64>),
    /// Real numbers; null where there is none.
    Reals(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<String>),
}

/// A table: its name, and its columns by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, all of one length.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    fn new(name: &'static str, columns: Vec<(&'static str, Column)>) -> Self {
        Table { name, columns }
    }

    /// A column by name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(own, _)| *own == name).map(|(_, column)| column)
    }
}

fn counts(values: impl Iterator<Item = u64>) -> Column {
    Column::Counts(values.map(|value| value as i64).collect())
}

fn reals(values: impl Iterator<Item = f64>) -> Column {
    Column::Reals(values.map(|value| (!value.is_nan()).then_some(value)).collect())
}

fn maybe(values: impl Iterator<Item = Option<f64>>) -> Column {
    Column::Reals(values.collect())
}

fn texts(values: impl Iterator<Item = String>) -> Column {
    Column::Texts(values.collect())
}

/// The tables of a run that is done: `timeline`, `fill`, `pools`, `room`, `safe_fill`, `osds`, `stuck`, `lacking`, `limits`, `clients`, `history`,
/// `upmaps`, `film` where frames were asked for, and `sets` where these were.
#[must_use]
pub fn tables(healing: &mut Healing) -> Vec<Table> {
    let room = healing.room();
    let tables = vec![
        timeline::timeline(healing),
        timeline::fill(healing),
        pools::pools(healing),
        pools::room(healing, &room),
        pools::safe_fill(healing, &room),
        osds::osds(healing),
        stuck::stuck(healing),
        lacking::lacking(healing),
        timeline::limits(healing),
        timeline::clients(healing),
        timeline::history(healing),
        pools::upmaps(healing),
    ];
    let sets = healing.lists_sets.then(|| sets::sets(healing));
    tables.into_iter().chain(healing.film.as_ref().map(film::film)).chain(sets).collect()
}
