//! Where in a JSON text something is, by the keys and indexes above it.

/// A step down to a place that is being read.
enum Step<'t> {
    Object,
    Key(&'t str),
    Index(usize),
}

/// The path to a line and a column of a JSON text, such as `pools[1].code: `; empty at its top.
///
/// A reader of JSON says where it stops: behind a value that does not fit, or behind an object that lacks a key. The column counts bytes.
///
/// ```
/// assert_eq!(resilver_units::json_path("{\"a\": [1,\n {\"b\": true}]}", 2, 11), "a[1].b: ");
/// ```
pub fn json_path(text: &str, line: usize, column: usize) -> String {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let bytes = &text.as_bytes()[..(before + column).min(text.len())];
    let (mut open, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, open.last_mut()) {
            (b'"', last) => {
                let begin = at + 1;
                at = begin;
                while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(last @ Step::Object) = last {
                    *last = Step::Key(text.get(begin..at).unwrap_or_default());
                }
            }
            (b'{', _) => open.push(Step::Object),
            (b'[', _) => open.push(Step::Index(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(Step::Index(index))) => *index += 1,
            (b',', Some(last)) => *last = Step::Object,
            _ => {}
        }
        at += 1;
    }
    let mut path = String::new();
    for step in open {
        match step {
            Step::Object => {}
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.extend([".", key]),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    if path.is_empty() { path } else { path + ": " }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_the_keys_and_indexes_above_it() {
        let text = "{\"a\": {\"b, \\\"\": [[1, 2], {\"c\": \"}\"}]},\n \"d\": null}";
        let of = |mark: &str| json_path(text, 1, text.find(mark).unwrap());
        assert_eq!(of("{\"a\""), "");
        assert_eq!(of("{\"b"), "a: ");
        assert_eq!(of(", 2"), "a.b, \\\"[0][0]: ");
        assert_eq!(of("], {"), "a.b, \\\"[0][1]: ");
        assert_eq!(of("\"}\""), "a.b, \\\"[1].c: ");
        // Behind what is closed stands its own key.
        assert_eq!(of(",\n"), "a: ");
        assert_eq!(json_path(text, 2, 8), "d: ");
        assert_eq!(json_path(text, 2, 100), "");
    }
}
