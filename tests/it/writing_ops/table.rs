//! The table of the page: it includes all names of the older projects, and the files that it refers to exist.

use precast_testkit::package::root;
use std::collections::BTreeSet;

/// The names in documents and sources of Theano, Aesara and PyTensor for authors of ops, types and linkers.
const NAMES: &str = include_str!("method_names.txt");

/// Returns the rows of the last section's tables, each with the words in back-ticks of its cells.
fn rows() -> Vec<Vec<Vec<String>>> {
    let page = fs_err::read_to_string(root().join("crates/codegen/WRITING_OPS.md")).unwrap();
    let section = page.split("\n## 15.").nth(1).unwrap();
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let is_row = |line: &&str| line.starts_with("| `");
    section
        .lines()
        .filter(is_row)
        .map(|row| row.trim_matches('|').split(" | ").map(words).collect())
        .collect()
}

#[test]
fn table_lists_every_name() {
    let told: BTreeSet<String> = rows().into_iter().flat_map(|row| row[0].clone()).collect();
    let names = NAMES.lines().filter(|line| !line.starts_with('#'));
    let missing: Vec<&str> = names.clone().filter(|name| !told.contains(*name)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    assert!(names.count() > 200);
}

#[test]
fn every_row_leads_to_a_file() {
    for row in rows() {
        assert_eq!(row.len(), 3, "{row:?}");
        assert!(!row[2].is_empty(), "{row:?}");
        for path in &row[2] {
            assert!(root().join(path).is_file(), "`{path}` is not there: {:?}", row[0]);
        }
    }
}

/// A name that a row marks as unchanged must occur in the file that the row refers to.
#[test]
fn equal_methods_are_in_their_files() {
    let mut checked = 0;
    for row in rows() {
        let text = fs_err::read_to_string(root().join(&row[2][0])).unwrap();
        let is_method = |name: &&String| name.starts_with("c_") && !name.contains("contiguous");
        for name in row[0].iter().filter(is_method).filter(|name| *name != "c_thunks" && *name != "c_check") {
            assert!(text.contains(&format!("fn {name}(")), "`{name}` is no method in `{}`", row[2][0]);
            checked += 1;
        }
    }
    assert!(checked > 25, "{checked}");
}
