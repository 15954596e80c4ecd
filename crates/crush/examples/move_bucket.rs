//! What a move of one bucket moves: `cargo run --release -p resilver-crush --example move_bucket -- MAP ITEM TYPE BUCKET`.
//!
//! MAP is the text of `crushtool -d`, the JSON of `ceph osd crush dump` or the binary of `ceph osd getcrushmap`.

use std::error::Error;

use resilver_crush::{CrushMap, Scratch};

const INPUTS: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, item, kind, bucket] = words.as_slice() else {
        return Err("write MAP ITEM TYPE BUCKET, such as map.txt host3 rack rack1".into());
    };
    let data = std::fs::read(path)?;
    let before = match std::str::from_utf8(&data) {
        Ok(text) if text.trim_start().starts_with('{') => CrushMap::from_json(text)?,
        Ok(text) => CrushMap::from_text(text)?,
        Err(_) => CrushMap::from_bytes(&data)?,
    };
    let after = before.moved(item, &[(kind, bucket)])?;
    let reweight = vec![0x10000; usize::try_from(before.max_device())?];
    let mut scratch = Scratch::new();
    for rule in before.rules() {
        let mut sets = |map: &CrushMap| -> Vec<Vec<i32>> {
            let rule = map.rule_by_id(rule.id).expect("a move keeps the rules");
            let mut set = Vec::new();
            let of_input = |input| {
                map.place(rule, input, 3, &reweight, &mut scratch, &mut set);
                set.clone()
            };
            (0..INPUTS).map(of_input).collect()
        };
        let (old, new) = (sets(&before), sets(&after));
        let moved: usize =
            old.iter().zip(&new).map(|(old, new)| new.iter().filter(|&one| !old.contains(one)).count()).sum();
        println!("rule {}: {moved} of {} copies move", rule.id, old.iter().map(Vec::len).sum::<usize>());
    }
    Ok(())
}
