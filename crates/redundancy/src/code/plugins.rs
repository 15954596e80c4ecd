//! Codes of Ceph's plugins lrc, clay and shec: which shards each plugin reads, and which losses it decodes.
//!
//! **lrc** codes in layers, each an MDS code over shards that are data or that earlier layers made. It decodes from the last layer to
//! the first, once, and a layer with more holes than parities is passed over: what the first layer restores does not come back to a
//! local one. Ceph holds a PG to be recoverable where all its shards can be decoded (`ECRecPred`), so that is what is survived here.
//!
//! **clay** survives what an MDS code does, and a lone shard is made of one part of q = d - k + 1 of each of d others.
//!
//! **shec** zeroes cells of a Reed-Solomon matrix, so that each parity is of a shingle of data alone. Parities that are read bring all
//! data of their shingles.
//!
//! Source: `minimum_to_decode` of `ErasureCodeLrc`, `ErasureCodeClay` and `ErasureCodeShec` of Ceph; M. Vajha et al., "Clay codes:
//! moulding MDS codes to yield an MSR code", FAST 2018; T. Miyamae et al., "Erasure code with shingled local parity groups", 2014.

use super::Kind;
use super::lrc::ENUMERATION_LIMIT;
use crate::error::{check_pieces, check_sizes};
use crate::field;
use crate::matrix::{Matrix, Span};
use crate::pieces::combination_count;
use crate::{Code, CodeError, LinearCode, Pieces, reed_solomon};

/// How a plugin decodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plugin {
    /// By layers: (the pieces of each, how many of them are its parity).
    Layered(Vec<(Pieces, u32)>),
    /// By so many helpers.
    Clay(u32),
    /// By parities that bring the data of their shingles.
    Shingled,
}

fn refused(name: &str, rule: String, remedy: &str) -> CodeError {
    CodeError::Plugin { name: name.to_owned(), rule, remedy: remedy.to_owned() }
}

impl Code {
    /// The code of Ceph's plugin lrc by its k, m and l: `local` of the k + m shards are a group, with a parity of its own.
    pub fn ceph_lrc(data: u32, parity: u32, local: u32) -> Result<Self, CodeError> {
        let name = format!("ceph lrc {data}+{parity} local {local}");
        check_sizes(&name, data, parity)?;
        let all = data + parity;
        if local == 0 || !all.is_multiple_of(local) {
            let rule = format!("l = {local} does not divide k + m = {all}");
            return Err(refused(&name, rule, "use a divisor as l"));
        }
        let groups = all / local;
        if !data.is_multiple_of(groups) || !parity.is_multiple_of(groups) {
            let rule = format!(
                "(k + m) / l = {groups} local groups divide neither or only one of k = {data} and m = {parity}"
            );
            return Err(refused(&name, rule, "use an l whose groups divide both"));
        }
        check_pieces(&name, u64::from(all + groups))?;
        let repeat = |letter: &str, times: u32| letter.repeat(times as usize);
        let block = repeat("D", data / groups) + &repeat("c", parity / groups) + "_";
        let local_of = |group| {
            let own = repeat("D", local) + "c";
            repeat("_", (local + 1) * group) + &own + &repeat("_", (local + 1) * (groups - 1 - group))
        };
        let layers: Vec<String> = std::iter::once(repeat(&block, groups)).chain((0..groups).map(local_of)).collect();
        Self::layered(name, &layers)
    }

    /// The same by its layers, each as `DDc_DDc_`: D is a shard that the layer codes, c one that it makes.
    pub fn ceph_layers(layers: &[String]) -> Result<Self, CodeError> {
        Self::layered(format!("ceph lrc {}", layers.join(" ")), layers)
    }

    fn layered(name: String, layers: &[String]) -> Result<Self, CodeError> {
        let length = layers.first().map_or(0, String::len);
        check_pieces(&name, length as u64)?;
        let is_coded = |place: usize| layers.iter().any(|layer| layer.as_bytes()[place] == b'c');
        check_layers(&name, layers, length)?;
        let (data, coded): (Vec<usize>, Vec<usize>) = (0..length).partition(|&place| !is_coded(place));
        check_sizes(&name, data.len() as u32, coded.len() as u32)?;
        let places: Vec<usize> = data.iter().chain(&coded).copied().collect();
        let number = |place: usize| places.iter().position(|&other| other == place).expect("every place has a piece");
        let mut rows: Vec<Vec<u8>> = vec![vec![0; data.len()]; length];
        (0..data.len()).for_each(|piece| rows[piece][piece] = 1);
        let mut decoded = Vec::new();
        for layer in layers {
            let of = |letter| (0..length).filter(move |&place| layer.as_bytes()[place] == letter).map(number);
            let (known, parities): (Vec<usize>, Vec<usize>) = (of(b'D').collect(), of(b'c').collect());
            let checks = reed_solomon::parity_check((known.len() + parities.len()) as u32, parities.len() as u32);
            let sources = Matrix::from_cells(known.len(), data.len(), |row, column| rows[known[row]][column]);
            let stripe = LinearCode::from_checks(&checks).generator().multiplied(&sources);
            for (row, &piece) in parities.iter().enumerate() {
                rows[piece] = stripe.row(known.len() + row).to_vec();
            }
            let pieces = Pieces::of(known.iter().chain(&parities).map(|&piece| piece as u32));
            decoded.push((pieces, parities.len() as u32));
        }
        let linear =
            LinearCode::from_generator(Matrix::from_cells(length, data.len(), |row, column| rows[row][column]));
        let places = places.into_iter().map(|place| place as u32).collect();
        Self::of_plugin(name, linear, Plugin::Layered(decoded), places)
    }

    /// The code of Ceph's plugin clay: `data` shards and `parity` more, a lone lost one made of parts of `helpers` others.
    pub fn clay(data: u32, parity: u32, helpers: u32) -> Result<Self, CodeError> {
        let name = format!("clay {data}+{parity} d {helpers}");
        check_sizes(&name, data, parity)?;
        let most = data + parity - 1;
        if helpers < data || helpers > most {
            let rule = format!("d = {helpers} is not within k = {data} and k + m - 1 = {most}");
            return Err(refused(&name, rule, "use k + m - 1, which reads least"));
        }
        let linear = LinearCode::from_checks(&reed_solomon::parity_check(data + parity, parity));
        Self::of_plugin(name, linear, Plugin::Clay(helpers), (0..data + parity).collect())
    }

    /// The code of Ceph's plugin shec: each data shard is in `covers` of the `parity` shingles, all of one width where it `is_single`.
    pub fn shec(data: u32, parity: u32, covers: u32, is_single: bool) -> Result<Self, CodeError> {
        let name = format!("shec {data}+{parity} c {covers}{}", if is_single { " single" } else { "" });
        check_sizes(&name, data, parity)?;
        if covers == 0 || covers > parity {
            let rule = format!("c = {covers} is not within 1 and m = {parity}");
            return Err(refused(&name, rule, "use a c of at most m"));
        }
        if parity > data || data > 12 || data + parity > 20 {
            let rule = "Ceph's shec has m of at most k, k of at most 12 and k + m of at most 20".to_owned();
            return Err(refused(&name, rule, "use fewer shards"));
        }
        let matrix = shingles(data as usize, parity as usize, covers as usize, is_single);
        let rows = (data + parity) as usize;
        let generator = Matrix::from_cells(rows, data as usize, |row, column| match row.checked_sub(data as usize) {
            None => u8::from(row == column),
            Some(row) => matrix.row(row)[column],
        });
        let linear = LinearCode::from_generator(generator);
        Self::of_plugin(name, linear, Plugin::Shingled, (0..data + parity).collect())
    }

    /// What is read to make all of `wanted` anew without those that are lost, and how many equal parts each of it is cut into, of which one
    /// is read.
    ///
    /// A code of Ceph's plugins reads what the plugin does, another one what the repair of each takes. [`None`] where they cannot be made.
    pub fn gathers(&self, lost: Pieces, wanted: Pieces) -> Option<(Pieces, u32)> {
        if let Kind::Plugin { plugin, .. } = &self.kind {
            return plugin.gathers(&self.linear, lost, wanted);
        }
        let (mut all, mut gathered) = (wanted.without(lost), Vec::new());
        for piece in wanted.and(lost).iter() {
            if !self.repair(lost, piece, &[], &mut gathered) {
                return None;
            }
            all = all.or(Pieces::of(gathered.iter().copied()));
        }
        Some((all, 1))
    }

    /// Parts that each piece is cut into, of which the repair of a lone lost piece reads one.
    pub fn repair_parts(&self) -> u32 {
        let lone = Pieces::of([0]);
        self.gathers(lone, lone).map_or(1, |(_, parts)| parts)
    }

    fn of_plugin(name: String, linear: LinearCode, plugin: Plugin, places: Vec<u32>) -> Result<Self, CodeError> {
        let survives = |lost: Pieces| plugin.decodes(&linear, lost);
        let mut tolerance = if matches!(plugin, Plugin::Clay(_)) { linear.parity() } else { 0 };
        while tolerance < linear.parity() {
            if combination_count(linear.pieces(), tolerance + 1) > ENUMERATION_LIMIT {
                let rule = format!("its sets of {} lost shards are too many to look at", tolerance + 1);
                return Err(refused(&name, rule, "use fewer shards"));
            }
            if !Pieces::combinations(linear.pieces(), tolerance + 1).all(survives) {
                break;
            }
            tolerance += 1;
        }
        Ok(Self::positional(Kind::Plugin { name, plugin, places }, linear, tolerance, None))
    }
}

/// Whether layers code each shard once, from what is data or was made before.
fn check_layers(name: &str, layers: &[String], length: usize) -> Result<(), CodeError> {
    let mut is_made = vec![false; length];
    for (layer, text) in layers.iter().enumerate() {
        if text.len() != length {
            let rule = format!("layer {layer} has {} shards and layer 0 has {length}", text.len());
            return Err(refused(name, rule, "write a letter of D, c and _ for each shard"));
        }
        if !text.contains('D') || !text.contains('c') {
            return Err(refused(name, format!("layer {layer} lacks a D or a c"), "write both, or leave it out"));
        }
        for (place, letter) in text.bytes().enumerate() {
            let is_later = layers[layer..].iter().any(|other| other.as_bytes().get(place) == Some(&b'c'));
            if letter == b'c' && is_made[place] || letter == b'D' && is_later && !is_made[place] {
                let rule = format!("layer {layer} uses shard {place} before it is made, or makes it again");
                return Err(refused(name, rule, "let one layer make each shard, before others use it"));
            }
            is_made[place] |= letter == b'c';
        }
    }
    let unused = |place: &usize| layers.iter().all(|layer| layer.as_bytes()[*place] == b'_');
    match (0..length).find(unused) {
        Some(place) => Err(refused(name, format!("no layer has shard {place}"), "write D or c for it in a layer")),
        None => Ok(()),
    }
}

/// Which data a parity of a shingle is of: those of `row` of `rows`, `covers` of which have each of `data`.
fn shingle(data: usize, rows: usize, covers: usize, row: usize) -> impl Iterator<Item = usize> {
    (row * data / rows..(row + covers) * data / rows).map(move |column| column % data)
}

/// The factors of the parities, a row each.
///
/// Of all ways to part the shingles over two kinds, Ceph takes that by which a lone lost shard reads the fewest in the mean.
fn shingles(data: usize, parity: usize, covers: usize, is_single: bool) -> Matrix {
    let cost = |kinds: &[(usize, usize)]| {
        let all = || kinds.iter().flat_map(|&(rows, covers)| (0..rows).map(move |row| (rows, covers, row)));
        let width = |(rows, covers, row): (usize, usize, usize)| (row + covers) * data / rows - row * data / rows;
        let least = |column| {
            let having =
                all().filter(|&(rows, covers, row)| shingle(data, rows, covers, row).any(|other| other == column));
            having.map(width).min().unwrap_or(0)
        };
        all().map(width).sum::<usize>() + (0..data).map(least).sum::<usize>()
    };
    let parted = |first: usize, rows: usize| [(rows, first), (parity - rows, covers - first)];
    let is_whole =
        |kinds: &[(usize, usize)]| kinds.iter().all(|&(rows, covers)| rows >= covers && (rows == 0) == (covers == 0));
    let least = (0..=covers / 2)
        .flat_map(|first| (0..=parity).map(move |rows| parted(first, rows)))
        .filter(|kinds| is_whole(kinds))
        .min_by_key(|kinds| cost(kinds));
    let kinds = if is_single { parted(0, 0) } else { least.expect("shingles of one kind are always a way") };
    let full = vandermonde(data, parity);
    let rows: Vec<Vec<usize>> = kinds
        .iter()
        .flat_map(|&(rows, covers)| (0..rows).map(move |row| shingle(data, rows, covers, row).collect()))
        .collect();
    Matrix::from_cells(parity, data, |row, column| if rows[row].contains(&column) { full.row(row)[column] } else { 0 })
}

/// The parities of jerasure's `reed_sol_van`: a Vandermonde matrix brought to unit rows above, its first parity and first column ones.
fn vandermonde(data: usize, parity: usize) -> Matrix {
    let of = |first: usize, rows: usize| {
        Matrix::from_cells(rows, data, |row, column| match first + row {
            last if last == data + parity - 1 => u8::from(column == data - 1),
            row => (0..column).fold(1, |power, _| field::multiply(power, row as u8)),
        })
    };
    // P times the upper part is the lower one; transposed, it is what the upper one solves.
    let solved =
        of(0, data).transposed().solved(&of(data, parity).transposed()).expect("points of a Vandermonde matrix differ");
    let rows = solved.transposed();
    let of_column =
        |row: usize, column: usize| field::multiply(rows.row(row)[column], field::invert(rows.row(0)[column]));
    Matrix::from_cells(parity, data, |row, column| {
        field::multiply(of_column(row, column), field::invert(of_column(row, 0)))
    })
}

impl Plugin {
    /// Whether all lost pieces can be decoded.
    pub(super) fn decodes(&self, code: &LinearCode, lost: Pieces) -> bool {
        match self {
            Self::Layered(layers) => by_layers(layers, code.pieces(), lost, Pieces::first(code.pieces())).is_some(),
            Self::Clay(_) => lost.len() <= code.parity(),
            Self::Shingled => code.determines(lost),
        }
    }

    /// What is read to make all of `wanted` without those that are lost, and how many parts each is cut into, of which one is read.
    pub(super) fn gathers(&self, code: &LinearCode, lost: Pieces, wanted: Pieces) -> Option<(Pieces, u32)> {
        if wanted.and(lost).is_empty() {
            return Some((wanted, 1));
        }
        match self {
            Self::Layered(layers) => by_layers(layers, code.pieces(), lost, wanted).map(|pieces| (pieces, 1)),
            Self::Clay(helpers) => by_helpers(code, *helpers, lost, wanted),
            Self::Shingled => by_shingles(code, lost, wanted).map(|pieces| (pieces, 1)),
        }
    }
}

fn by_layers(layers: &[(Pieces, u32)], pieces: u32, lost: Pieces, wanted: Pieces) -> Option<Pieces> {
    let (mut missing, mut gathered) = (lost, wanted);
    for &(layer, parity) in layers.iter().rev() {
        let holes = layer.and(missing);
        if !holes.and(wanted).is_empty() && holes.len() <= parity {
            gathered = gathered.or(layer);
            missing = missing.without(holes);
        }
    }
    if missing.and(wanted).is_empty() {
        return Some(gathered.without(lost));
    }
    // Layers without anything that is wanted may still help those before them; then all is read.
    missing = lost;
    for &(layer, parity) in layers.iter().rev() {
        let holes = layer.and(missing);
        if holes.len() <= parity {
            missing = missing.without(holes);
        }
    }
    missing.is_empty().then(|| Pieces::first(pieces).without(lost))
}

fn by_helpers(code: &LinearCode, helpers: u32, lost: Pieces, wanted: Pieces) -> Option<(Pieces, u32)> {
    let (data, parts) = (code.data(), helpers - code.data() + 1);
    let left = Pieces::first(code.pieces()).without(lost);
    let first = |from: Pieces, count: u32| {
        let others = left.without(from).iter().take(count.saturating_sub(from.len()) as usize);
        from.or(Pieces::of(others))
    };
    if wanted.len() == 1 && left.len() >= helpers {
        // Shards stand in a grid of q columns, with nodes of zeros between data and parity that fill its last row.
        let virtual_nodes = code.pieces().next_multiple_of(parts) - code.pieces();
        let piece = wanted.iter().next()?;
        let node = if piece < data { piece } else { piece + virtual_nodes };
        let row = node / parts * parts..(node / parts + 1) * parts;
        let shard = |node: u32| if node < data { Some(node) } else { node.checked_sub(virtual_nodes) };
        let is_there = |shard: u32| shard == piece || left.contains(shard);
        if row.clone().all(|node| shard(node).is_some_and(is_there)) {
            let real = row.filter(|&node| node < data || node >= data + virtual_nodes).filter_map(shard);
            return Some((first(Pieces::of(real.filter(|&shard| shard != piece)), helpers), parts));
        }
    }
    (left.len() >= data).then(|| (first(Pieces::new(), data), 1))
}

fn by_shingles(code: &LinearCode, lost: Pieces, wanted: Pieces) -> Option<Pieces> {
    let data = Pieces::first(code.data());
    let shingle = |parity: u32| {
        let row = code.generator().row(parity as usize);
        Pieces::of((0..code.data()).filter(|&column| row[column as usize] != 0))
    };
    let coded_anew = wanted.and(lost).without(data).iter();
    // A lost parity is coded anew from all its data.
    let wanted = coded_anew.fold(wanted, |wanted, parity| wanted.or(shingle(parity)));
    let (mut best, mut fewest): (Option<Pieces>, u32) = (None, u32::MAX);
    for chosen in 0..1u64 << code.parity() {
        let parities = Pieces::of((0..code.parity()).filter(|bit| chosen >> bit & 1 == 1).map(|bit| code.data() + bit));
        let covered = parities.iter().fold(Pieces::new(), |covered, parity| covered.or(shingle(parity)));
        let missing = covered.or(wanted.and(data)).and(lost);
        if !parities.and(lost).is_empty() || parities.len() > fewest || parities.len() != missing.len() {
            continue;
        }
        let gathered = parities.or(covered.without(lost));
        let mut span = Span::<{ Pieces::LIMIT as usize }>::new();
        let cells = |parity: u32| -> Vec<u8> {
            missing.iter().map(|column| code.generator().row(parity as usize)[column as usize]).collect()
        };
        if best.is_none_or(|best| gathered.len() < best.len()) && parities.iter().all(|parity| span.add(&cells(parity)))
        {
            (best, fewest) = (Some(gathered), parities.len());
        }
    }
    best.map(|best| best.or(wanted.without(lost)))
}
