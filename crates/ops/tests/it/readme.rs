//! Compares the README's table of ops and dtypes with the library.

use precast_graph::DType;
use precast_ops::scalar::{self, ScalarOp};
use std::collections::BTreeSet;

const README: &str = include_str!("../../README.md");

/// Returns the dtypes of a column of the table.
fn column(position: usize) -> Vec<DType> {
    let within = |dtype: &DType| match position {
        0 => *dtype == DType::Bool,
        1 => dtype.is_integer(),
        2 => dtype.is_float(),
        _ => dtype.is_complex(),
    };
    DType::ALL.into_iter().filter(within).collect()
}

/// Returns whether the op supports operands of this dtype, after a condition of bool if it has one.
fn exists(op: &dyn ScalarOp, dtype: DType) -> bool {
    let mut inputs = vec![dtype; op.arity()];
    if op.name() == "switch" {
        inputs[0] = DType::Bool;
    }
    op.output(&inputs).is_some()
}

/// Returns the dtypes of a cell: – means no dtype, dtype names mean those, anything else means all.
fn stated(cell: &str, column: &[DType]) -> Vec<DType> {
    let named: Vec<DType> = cell.split(", ").filter_map(|word| word.parse().ok()).collect();
    match (cell, named.is_empty()) {
        ("–", _) => Vec::new(),
        (_, true) => column.to_vec(),
        (_, false) => named,
    }
}

#[test]
fn table_of_ops_and_dtypes_matches_the_library() {
    let table = README.split("| op | bool | integers | floats | complex | notes |").nth(1).unwrap();
    let mut rows: BTreeSet<String> = BTreeSet::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        for name in cells[0].split('`').filter(|name| !name.trim().is_empty()) {
            assert!(rows.insert(name.to_owned()), "`{name}` has two rows");
            let op = match name {
                "cast" => std::sync::Arc::new(scalar::Cast { to: DType::F64 }),
                _ => scalar::find(name).unwrap_or_else(|| panic!("the library has no `{name}`")),
            };
            for (position, cell) in cells[1..5].iter().enumerate() {
                let column = column(position);
                let found: Vec<DType> = column.iter().copied().filter(|dtype| exists(&*op, *dtype)).collect();
                assert_eq!(stated(cell, &column), found, "`{name}`, column {position}: {cell}");
            }
        }
    }
    let missing: Vec<&str> = scalar::names().into_iter().filter(|name| !rows.contains(*name)).collect();
    assert!(missing.is_empty(), "the table has no row for {missing:?}");
}
