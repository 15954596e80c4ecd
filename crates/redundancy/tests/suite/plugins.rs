//! Codes of Ceph's plugins: what each reads, against the plugin's published examples, and what is refused.

use resilver_redundancy::{Code, Pieces};

fn parsed(text: &str) -> Code {
    Code::parse(text).unwrap()
}

/// The shards, by their places in a PG's set, that are read for those that are wanted; and the parts of each.
fn read(code: &Code, lost: &[u32], wanted: &[u32]) -> Option<(Vec<u32>, u32)> {
    let places = code.group_places();
    let pieces =
        |of: &[u32]| Pieces::of((0..).zip(&places).filter(|(_, place)| of.contains(place)).map(|(piece, _)| piece));
    let (gathered, parts) = code.gathers(pieces(lost), pieces(wanted))?;
    let mut read: Vec<u32> = gathered.iter().map(|piece| places[piece as usize]).collect();
    read.sort_unstable();
    Some((read, parts))
}

#[test]
fn clay_reads_what_its_paper_and_ceph_s_page_say() {
    // d / (d - k + 1) pieces in place of k: FAST 2018, Table 1, and doc/rados/operations/erasure-code-clay.rst.
    for (text, helpers, parts, reads) in [
        ("clay 4+2", 5, 2, 2.5),
        ("clay 8+4 d 11", 11, 4, 2.75),
        ("clay 10+4", 13, 4, 3.25),
        ("clay 16+4 d 19", 19, 4, 4.75),
        ("clay 9+3", 11, 3, 11.0 / 3.0),
        ("clay 4+2 d 4", 4, 1, 4.0),
    ] {
        let code = parsed(text);
        assert_eq!((code.locality(), code.repair_parts(), code.fault_tolerance()), (helpers, parts, code.parity()));
        assert_eq!(f64::from(code.locality()) / f64::from(code.repair_parts()), reads, "{text}");
    }
    // All of the lost shard's row help, and others up to d; where a shard of the row is lost too, or two are wanted, k are read whole.
    let code = parsed("clay 8+4 d 10");
    assert_eq!(read(&code, &[4], &[4]), Some((vec![0, 1, 2, 3, 5, 6, 7, 8, 9, 10], 3)));
    assert_eq!(read(&code, &[4, 9], &[4]), Some((vec![0, 1, 2, 3, 5, 6, 7, 8, 10, 11], 3)));
    assert_eq!(read(&code, &[3, 4], &[4]), Some((vec![0, 1, 2, 5, 6, 7, 8, 9], 1)));
    assert_eq!(read(&code, &[3, 9], &[3, 9]), Some((vec![0, 1, 2, 4, 5, 6, 7, 8], 1)));
    assert_eq!(read(&code, &[0, 1, 2, 3, 4], &[4]), None);
}

#[test]
fn lrc_decodes_from_the_last_layer_to_the_first() {
    // The layers of doc/rados/operations/erasure-code-lrc.rst.
    let code = parsed("ceph lrc _cDD_cDD cDDD____ ____cDDD");
    assert_eq!((code.data(), code.parity()), (4, 4));
    assert_eq!(read(&code, &[7], &[7]), Some((vec![4, 5, 6], 1)));
    assert_eq!(read(&code, &[2], &[2]), Some((vec![0, 1, 3], 1)));
    // 6 comes of the last layer, and then 2 and 3 of the first.
    assert_eq!(read(&code, &[2, 3, 6], &[2, 3, 6]), Some((vec![1, 4, 5, 7], 1)));
    // What the first layer restores does not come back to a local one: shard 0, the parity of 1, 2 and 3, stays lost.
    assert_eq!(read(&code, &[0, 2], &[0, 2]), None);
    // By k, m and l each group has its parity last: DDc_DDc_, DDDc____ and ____DDDc.
    let (code, same) = (parsed("ceph lrc 4+2 local 3"), parsed("CEPH LRC ddc_ddc_ dddc____ ____dddc"));
    assert_eq!((code.pieces(), code.locality(), code.name()), (8, 3, "ceph lrc 4+2 local 3".to_owned()));
    assert_eq!(same.name(), "ceph lrc DDc_DDc_ DDDc____ ____DDDc");
    for shard in 0..8 {
        let group: Vec<u32> = (shard / 4 * 4..shard / 4 * 4 + 4).filter(|&other| other != shard).collect();
        assert_eq!(read(&code, &[shard], &[shard]), Some((group, 1)), "a repair stays within its group");
        assert_eq!(read(&code, &[shard], &[shard]), read(&same, &[shard], &[shard]));
    }
}

#[test]
fn what_plugins_refuse_is_refused_with_a_remedy() {
    for (text, says) in [
        ("ceph lrc 4+2 local 4", "l = 4 does not divide k + m = 6; use a divisor as l"),
        ("ceph lrc 4+2 local 0", "l = 0 does not divide"),
        ("ceph lrc 4+2 local 2", "(k + m) / l = 3 local groups"),
        ("ceph lrc DDc DDDc", "layer 1 has 4 shards and layer 0 has 3"),
        ("ceph lrc DDc_ ____", "layer 1 lacks a D or a c"),
        ("ceph lrc DDcD DDDc", "layer 0 uses shard 3 before it is made"),
        ("ceph lrc DDc_", "no layer has shard 3"),
        ("clay 4+2 d 6", "d = 6 is not within k = 4 and k + m - 1 = 5"),
        ("clay 4+2 d 3", "d = 3 is not within"),
        ("shec 4+3 c 4", "c = 4 is not within 1 and m = 3"),
        ("shec 4+5 c 2", "m of at most k"),
        ("clay 4+2 over rs 2+1", "a code is written"),
        ("clay 0+2", "at least one data piece"),
    ] {
        let error = Code::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
