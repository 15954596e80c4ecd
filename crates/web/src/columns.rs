//! Columns as bytes that become JavaScript's typed arrays.

use resilver_system::{Column, Metric};
use serde::Serialize;

/// Arrays begin at multiples of this many bytes, as typed arrays of the widest numbers must.
pub const ALIGNMENT: usize = 8;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers of 32 bits with a sign.
    Int32,
    /// Numbers of 64 bits with a sign.
    Int64,
    /// Numbers of 64 bits; one that is not a number says that there is none.
    Float64,
    /// 0 or 1 in a byte.
    Flag,
    /// Where each text begins, and behind all of them where the last one ends, as numbers of 32 bits; then all texts in UTF-8.
    Text,
    /// Nothing: there is no value in any row.
    Null,
}

/// A column as the header of an answer has it.
#[derive(Debug, Serialize)]
pub struct Entry {
    name: String,
    kind: Kind,
    /// Where its array begins, counted from the end of the header.
    offset: usize,
    /// Where a byte a row begins that says whether there is a value; `None` where there always is, or where the array itself says so.
    valid: Option<usize>,
}

/// Columns behind each other.
#[derive(Debug, Default)]
pub struct Columns {
    /// All arrays, each at a multiple of [`ALIGNMENT`].
    pub bytes: Vec<u8>,
}

impl Columns {
    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        offset
    }

    fn put_texts<'a>(&mut self, texts: impl Iterator<Item = &'a str> + Clone) -> usize {
        let mut end = 0;
        let ends = texts.clone().map(|text| {
            end += text.len() as u32;
            end
        });
        let starts: Vec<u8> = std::iter::once(0).chain(ends).flat_map(u32::to_le_bytes).collect();
        self.put(starts.into_iter().chain(texts.flat_map(str::bytes)))
    }

    /// Adds a column of a run of a system.
    pub fn add(&mut self, name: String, column: &Column) -> Entry {
        let (kind, offset) = match column {
            Column::Numbers(numbers) => (Kind::Int32, self.put(numbers.iter().flat_map(|number| number.to_le_bytes()))),
            Column::Counts(counts) => (Kind::Int64, self.put(counts.iter().flat_map(|count| count.to_le_bytes()))),
            Column::Reals(reals) => (Kind::Float64, self.put(reals.iter().flat_map(|real| real.to_le_bytes()))),
            Column::Flags(flags) => (Kind::Flag, self.put(flags.iter().map(|&flag| u8::from(flag)))),
            Column::Texts(texts) => (Kind::Text, self.put_texts(texts.iter().map(String::as_str))),
            Column::Words(places, words) => {
                (Kind::Text, self.put_texts(places.iter().map(|&place| words[place as usize])))
            }
            Column::Metrics(metrics) => return self.add_metrics(name, metrics),
        };
        Entry { name, kind, offset, valid: None }
    }

    /// Adds metrics of one kind, some of which there may not be.
    fn add_metrics(&mut self, name: String, metrics: &[Option<Metric>]) -> Entry {
        let (kind, offset) = match metrics.iter().flatten().next() {
            None => (Kind::Null, 0),
            Some(Metric::Count(_)) => {
                let counts =
                    metrics.iter().map(|metric| if let Some(Metric::Count(count)) = metric { *count } else { 0 });
                (Kind::Int64, self.put(counts.flat_map(u64::to_le_bytes)))
            }
            Some(Metric::Real(_)) => {
                let reals =
                    metrics.iter().map(|metric| if let Some(Metric::Real(real)) = metric { *real } else { f64::NAN });
                (Kind::Float64, self.put(reals.flat_map(f64::to_le_bytes)))
            }
            Some(Metric::Text(_)) => {
                let texts = metrics.iter().map(|metric| if let Some(Metric::Text(text)) = metric { text } else { "" });
                (Kind::Text, self.put_texts(texts))
            }
        };
        let says_itself = [Kind::Null, Kind::Float64].contains(&kind) || metrics.iter().all(Option::is_some);
        let valid = (!says_itself).then(|| self.put(metrics.iter().map(|metric| u8::from(metric.is_some()))));
        Entry { name, kind, offset, valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: three counts take 24 bytes, hence the flags begin at 24; three flags end at 27, and the next array begins at 32.
    #[test]
    fn arrays_begin_at_multiples_of_eight_bytes() {
        let mut columns = Columns::default();
        let counts = columns.add("count".into(), &Column::Counts(vec![1, -2, i64::MAX]));
        let flags = columns.add("flag".into(), &Column::Flags(vec![true, false, true]));
        let reals = columns.add("real".into(), &Column::Reals(vec![0.5]));
        assert_eq!([counts.offset, flags.offset, reals.offset], [0, 24, 32]);
        assert_eq!(columns.bytes[8..16], (-2_i64).to_le_bytes());
        assert_eq!(columns.bytes[24..27], [1, 0, 1]);
        assert_eq!(columns.bytes[32..40], 0.5_f64.to_le_bytes());
    }

    // By hand: "a" is 1 byte and "é" 2, so that the texts end at 1, 1 and 3, behind four numbers of 4 bytes.
    #[test]
    fn texts_follow_their_places() {
        let mut columns = Columns::default();
        columns.add("text".into(), &Column::Texts(vec!["a".into(), String::new(), "é".into()]));
        let places: Vec<u8> = [0_u32, 1, 1, 3].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(columns.bytes[..16], places);
        assert_eq!(&columns.bytes[16..], "aé".as_bytes());
    }

    #[test]
    fn a_missing_metric_is_told_from_every_value() {
        let mut columns = Columns::default();
        let count = |count| Some(Metric::Count(count));
        let counts = columns.add("count".into(), &Column::Metrics(vec![count(0), None, count(u64::MAX >> 1)]));
        assert_eq!((counts.kind, counts.valid), (Kind::Int64, Some(24)));
        assert_eq!(columns.bytes[24..27], [1, 0, 1]);
        let reals = columns.add("real".into(), &Column::Metrics(vec![None, Some(Metric::Real(2.5))]));
        assert_eq!((reals.kind, reals.valid, reals.offset), (Kind::Float64, None, 32));
        assert!(f64::from_le_bytes(columns.bytes[32..40].try_into().unwrap()).is_nan());
        let nothing = columns.add("nothing".into(), &Column::Metrics(vec![None, None]));
        assert_eq!((nothing.kind, nothing.valid), (Kind::Null, None));
        let whole = columns.add("whole".into(), &Column::Metrics(vec![Some(Metric::Text("ok".into()))]));
        assert_eq!((whole.kind, whole.valid), (Kind::Text, None));
    }
}
