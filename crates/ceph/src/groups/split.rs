//! Groups that are split and merged in place.

use super::{Contents, Group};

/// Half of a count, rounded down, and what stays.
fn halves(count: u64) -> (u64, u64) {
    (count / 2, count - count / 2)
}

/// Splits a child off a group: half of the contents, on the same OSDs.
///
/// # Arguments
/// * `parent` - the group that is split; it keeps the other half.
/// * `number` - the child's number in the pool.
#[must_use]
pub fn split_from(parent: &mut Group, number: u32) -> Group {
    let Contents { objects, bytes, omap_bytes } = parent.contents;
    let (objects, kept_objects) = halves(objects);
    let (bytes, kept_bytes) = halves(bytes);
    let (omap_bytes, kept_omap) = halves(omap_bytes);
    let mut child =
        Group { number, contents: Contents { objects, bytes, omap_bytes }, forced: false, ..parent.clone() };
    parent.contents = Contents { objects: kept_objects, bytes: kept_bytes, omap_bytes: kept_omap };
    for (of_child, of_parent) in child.pieces.iter_mut().zip(&mut parent.pieces) {
        let in_full = of_parent.stored == objects + kept_objects;
        let (lacked, still_lacked) = halves(of_parent.lacking);
        for (piece, lacking, objects) in [(of_child, lacked, objects), (of_parent, still_lacked, kept_objects)] {
            piece.lacking = lacking.min(objects);
            piece.stored = if in_full { objects } else { objects - piece.lacking };
            // A piece that lacks nothing after its half went away is whole.
            piece.receive(0, objects);
        }
    }
    child
}

/// Merges a group into another that the same OSDs have.
pub fn merge_into(parent: &mut Group, child: &Group) {
    parent.contents.objects += child.contents.objects;
    parent.contents.bytes += child.contents.bytes;
    parent.contents.omap_bytes += child.contents.omap_bytes;
    for piece in &mut parent.pieces {
        if let Some(other) = child.piece(piece.osd, piece.position) {
            piece.stored += other.stored;
            piece.lacking += other.lacking;
        }
    }
}
