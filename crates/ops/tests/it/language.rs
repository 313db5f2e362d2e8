//! Compares the reference page of the language with the rows of the library.

use precast_graph::text::parse;
use precast_graph::{DType, Type, interpret};
use precast_ops::{Ops, Row};
use precast_testkit::{Choices, page};
use std::fmt::Write as _;

/// The reference page.
pub(crate) const PAGE: &str = include_str!("../../LANGUAGE.md");

/// Renders the page's table of functions from the rows.
fn table() -> String {
    let mut table = "| function | dtypes | |\n|---|---|---|\n".to_owned();
    for row in Ops::rows() {
        let others: Vec<String> = row.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" {}", others.join(" ")) };
        let help = row.help.replace('|', "\\|");
        writeln!(table, "| `{}`{others} | {} | {help} |", row.signature(), row.takes()).unwrap();
    }
    table
}

#[test]
fn function_table_matches_the_rows() {
    let start = PAGE.find("| function | dtypes | |").unwrap();
    let end = start + PAGE[start..].find("\n\n").unwrap() + 1;
    let table = table();
    if std::env::var_os("PRECAST_WRITE_PAGE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/LANGUAGE.md");
        fs_err::write(path, format!("{}{table}{}", &PAGE[..start], &PAGE[end..])).unwrap();
        return;
    }
    let differs = PAGE[start..end].lines().zip(table.lines()).find(|(page, rows)| page != rows);
    assert!(
        PAGE[start..end] == table,
        "LANGUAGE.md is not of these rows: run this test with PRECAST_WRITE_PAGE=1; first {differs:?}"
    );
}

#[test]
fn every_example_of_the_page_evaluates() {
    let examples: Vec<String> =
        ["python", "text"].iter().flat_map(|language| page::examples(PAGE, language)).collect();
    assert!(examples.len() > 100, "the page lost its examples");
    for text in examples.iter().filter(|text| !text.starts_with("text ")) {
        let value = (0..20).find_map(|seed| {
            let inputs = page::inputs(&mut Choices::seeded(seed), &[DType::F64], text);
            let types =
                inputs.iter().map(|(name, a)| (name.clone(), Type::tensor(a.dtype(), a.shape().len())));
            let graph = parse(&[text], &types.collect::<Vec<_>>(), &Ops::standard())
                .unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let values: Vec<_> = inputs.into_iter().map(|(_, array)| array).collect();
            interpret(&graph, &values).ok()
        });
        assert!(value.is_some(), "no value: {text}");
    }
}

/// Functions that texts call in another form: an operator or an index.
const ELSEWHERE: [&str; 4] = ["angle", "subtensor", "advanced_subtensor1", "advanced_inc_subtensor1"];

#[test]
fn every_function_has_an_example() {
    let examples = [page::examples(PAGE, "python"), page::examples(PAGE, "text")].concat().join("\n");
    // `random.normal(…)` calls `random_normal`.
    let examples = examples.replace("random.", "random_");
    let words: Vec<&str> = examples.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let without = |row: &&Row| {
        let scalar = precast_ops::scalar::find(row.name).is_some();
        !scalar
            && !ELSEWHERE.contains(&row.name)
            && !words.contains(&row.name)
            && !row.aliases.iter().any(|alias| words.contains(alias))
    };
    let without: Vec<&str> = Ops::rows().filter(without).map(|row| row.name).collect();
    assert_eq!(without, Vec::<&str>::new());
}
