//! What a finished run has to tell, as the tables of results have it: names, and numbers in SI units.
//!
//! A border hands these on as they are. What is added to them where the study is known (names of devices and nodes, ratios to
//! the time) is not the core's.

mod classes;
mod detection;
mod flows;
mod limits;
mod metrics;
mod rows;
mod trace;

use resilver_units::{Bytes, SimDuration, SimTime};

pub use metrics::metrics;
pub use rows::tables;
pub use trace::trace_tables;

/// The cells of a column, one a row. Of numbers, one that is not a number says that there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers of parts.
    Numbers(Vec<i32>),
    /// Counts.
    Counts(Vec<i64>),
    /// Measures.
    Reals(Vec<f64>),
    /// Answers.
    Flags(Vec<bool>),
    /// Words.
    Texts(Vec<String>),
    /// Few words, by their places among these.
    Words(Vec<i32>, &'static [&'static str]),
    /// Metrics, some of which there may not be.
    Metrics(Vec<Option<Metric>>),
}

impl Column {
    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Column::Numbers(cells) => cells.len(),
            Column::Counts(cells) => cells.len(),
            Column::Reals(cells) => cells.len(),
            Column::Flags(cells) => cells.len(),
            Column::Texts(cells) => cells.len(),
            Column::Words(cells, _) => cells.len(),
            Column::Metrics(cells) => cells.len(),
        }
    }
}

/// A number or a text that a run came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// A count.
    Count(u64),
    /// A measure.
    Real(f64),
    /// A text.
    Text(String),
}

/// What a run came to, by name; what it has no such part for is none.
pub type Metrics = Vec<(String, Option<Metric>)>;

/// One of the tables: columns of one length by their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<(String, Column)>,
}

impl Table {
    fn new(name: &'static str) -> Self {
        Table { name, columns: Vec::new() }
    }

    /// A table of rows that have the same names.
    fn of_rows(name: &'static str, rows: Vec<Metrics>) -> Self {
        let mut table = Table::new(name);
        for (index, (name, _)) in rows.first().into_iter().flatten().enumerate() {
            table.add(name, rows.iter().map(|row| row[index].1.clone()));
        }
        table
    }

    fn add<T: Cell>(&mut self, name: &str, cells: impl Iterator<Item = T>) {
        self.columns.push((name.to_owned(), T::column(cells)));
    }
}

/// What stands in a column.
trait Cell: Sized {
    fn column(cells: impl Iterator<Item = Self>) -> Column;
}

/// What is a metric, or may be.
trait Told {
    fn metric(self) -> Option<Metric>;
}

macro_rules! cell {
    ($type:ty, $column:ident, |$cell:ident| $value:expr) => {
        impl Cell for $type {
            fn column(cells: impl Iterator<Item = Self>) -> Column {
                Column::$column(cells.map(|$cell| $value).collect())
            }
        }
    };
    ($type:ty, $column:ident, |$cell:ident| $value:expr, $metric:ident, $of_metric:expr) => {
        cell!($type, $column, |$cell| $value);
        impl Told for $type {
            fn metric(self) -> Option<Metric> {
                let $cell = self;
                Some(Metric::$metric($of_metric))
            }
        }
    };
}

cell!(u32, Numbers, |number| number as i32);
cell!(bool, Flags, |flag| flag);
cell!(Option<f64>, Reals, |real| real.unwrap_or(f64::NAN));
cell!(f64, Reals, |real| real, Real, real);
cell!(u64, Counts, |count| count as i64, Count, count);
cell!(Bytes, Counts, |bytes| bytes.get() as i64, Count, bytes.get());
cell!(SimDuration, Reals, |time| time.seconds(), Real, time.seconds());
cell!(SimTime, Reals, |time| time.seconds(), Real, time.seconds());
cell!(String, Texts, |text| text, Text, text);
cell!(&str, Texts, |text| text.to_owned(), Text, text.to_owned());
cell!(Option<SimTime>, Reals, |time| time.map_or(f64::NAN, SimTime::seconds));
cell!(Option<Metric>, Metrics, |metric| metric);

impl<T: Told> Told for Option<T> {
    fn metric(self) -> Option<Metric> {
        self.and_then(Told::metric)
    }
}

/// Adds a metric.
fn tell(metrics: &mut Metrics, name: impl Into<String>, value: impl Told) {
    metrics.push((name.into(), value.metric()));
}
