//! Tests of the rows as data, the source of a list of all functions.

use precast_graph::{DType, OpLibrary as _};
use precast_ops::Ops;
use std::collections::BTreeSet;

#[test]
fn every_name_belongs_to_one_row() {
    let all: Vec<&str> = Ops::rows().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
    let once: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(once.len(), all.len(), "a name has two rows");
    let names = Ops::standard().names();
    let others = names.iter().filter(|name| !once.contains(name.as_str()) && name.parse::<DType>().is_err());
    // `external` is called by its props, which no row can list.
    assert_eq!(others.collect::<Vec<_>>(), ["external"]);
}

#[test]
fn every_row_has_one_line_of_help() {
    for row in Ops::rows() {
        assert!(row.help.ends_with('.') && !row.help.contains('\n'), "{}: {:?}", row.name, row.help);
        assert!(!row.arguments.is_empty(), "{}", row.name);
    }
}

#[test]
fn row_dtypes_match_accepted_dtypes() {
    let of = |name: &str| Ops::rows().find(|row| row.name == name).unwrap().dtypes();
    assert_eq!(of("exp"), DType::ALL, "others are cast");
    assert_eq!(
        of("invert"),
        DType::ALL.into_iter().filter(|d| *d == DType::Bool || d.is_integer()).collect::<Vec<_>>()
    );
    assert!(!of("floor").contains(&DType::C64) && !of("max").contains(&DType::C128));
    assert_eq!(of("split"), [], "dtype and rank do not say enough");
}
