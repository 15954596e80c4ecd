//! Product codes: how the table is filled, where a repair stays within a line, and where lines stop before the rank does.

use resilver_redundancy::{Code, Matrix, Pieces};

fn parsed(text: &str) -> Code {
    Code::parse(text).unwrap()
}

fn repaired(code: &Code, lost: &[u32], piece: u32, prefer: &[u32]) -> Option<Vec<u32>> {
    let mut gathered = Vec::new();
    code.repair(Pieces::of(lost.iter().copied()), piece, prefer, &mut gathered).then_some(gathered)
}

/// The numbers of `product rs 4+2 x rs 3+1` by row and column: the 12 data pieces row by row, then the others row by row.
const TABLE: [[u32; 4]; 6] =
    [[0, 1, 2, 12], [3, 4, 5, 13], [6, 7, 8, 14], [9, 10, 11, 15], [16, 17, 18, 19], [20, 21, 22, 23]];

#[test]
fn each_row_and_each_column_is_a_stripe_of_its_code() {
    let (code, column, row) = (parsed("product rs 4+2 x rs 3+1"), parsed("rs 4+2"), parsed("rs 3+1"));
    assert_eq!((code.data(), code.parity(), code.fault_tolerance(), code.locality()), (12, 12, 5, 3));
    let data = Matrix::from_cells(12, 1, |row, _| 7 * row as u8 + 1);
    let stored = code.generator().multiplied(&data);
    let encoded = |code: &Code, line: &[u32]| {
        let cells = Matrix::from_cells(code.data() as usize, 1, |place, _| stored.row(line[place] as usize)[0]);
        code.generator().multiplied(&cells)
    };
    let held = |line: &[u32]| Matrix::from_cells(line.len(), 1, |place, _| stored.row(line[place] as usize)[0]);
    for line in TABLE {
        assert_eq!(encoded(&row, &line), held(&line));
    }
    for at in 0..4 {
        let line = TABLE.map(|line| line[at]);
        assert_eq!(encoded(&column, &line), held(&line));
    }
}

#[test]
fn a_repair_takes_the_shorter_line_that_can_and_else_any_pieces_that_do() {
    let code = parsed("product rs 4+2 x rs 3+1");
    // A row needs three others, a column four; a second loss in a row of one parity leaves the column.
    assert_eq!(repaired(&code, &[0], 0, &[]), Some(vec![1, 2, 12]));
    assert_eq!(repaired(&code, &[0, 1], 0, &[20, 16]), Some(vec![20, 16, 3, 6]));
    // Of equals the first by preference: both lines of this code take two.
    let square = parsed("product rs 2+1 x rs 2+1");
    assert_eq!(repaired(&square, &[0], 0, &[2]), Some(vec![2, 6]));
    assert_eq!(repaired(&square, &[0], 0, &[4]), Some(vec![4, 1]));
    // 0, 1, 3, 4 and 6 lost: column 0 lacks three of two and row 0 two of one. Made whole first, column 1 would do; at once it
    // takes pieces of several lines, none of which can be spared.
    let gathered = repaired(&code, &[0, 1, 3, 4, 6], 0, &[]).unwrap();
    assert!(code.decoding(&gathered, &[0]).unwrap().row(0).iter().all(|&factor| factor != 0), "{gathered:?}");
}

#[test]
fn lines_survive_no_more_than_the_rank_and_sometimes_less() {
    let code = parsed("product rs 2+2 x rs 2+2");
    let sets = (0..1u64 << 16).map(|bits| Pieces::of((0..16).filter(|piece| bits >> piece & 1 == 1)));
    let differing: Vec<Pieces> =
        sets.filter(|&lost| code.is_survivable(lost) != code.is_survivable_by_lines(lost)).collect();
    // With one survivor in each row and column every line lacks three of two that it could lose, so lines do nothing. The
    // four survivors are four equations for the four data pieces, and of the 4! such sets they are independent in twenty
    // (tests/oracle/test_codes.py finds the same in plain Python).
    assert_eq!(differing.len(), 20);
    assert!(differing.iter().all(|&lost| code.is_survivable(lost) && lost.len() == 12));
    assert!(differing.contains(&Pieces::of([0, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14])));
    // 16 choose 12 = 1,820 sets of twelve, of which 20 more are survived by rank than by lines.
    let counts = (code.survivable(12).unwrap(), code.survivable_by_lines(12).unwrap());
    assert_eq!((counts.0.0 - counts.1.0, counts.0.1, counts.1.1), (20, 1820, 1820));
    // A code of one line is its own line.
    assert!(parsed("rs 4+2").is_survivable_by_lines(Pieces::of([0, 5, 9])));
    assert!(!parsed("rs 4+2").is_survivable_by_lines(Pieces::of([0, 1, 5])));
}
