//! The examples of the language reference page, and inputs for them.
//!
//! A line of a block is an example; a line with open brackets continues on the next line.

use crate::{Choices, arrays};
use precast_graph::{Array, DType, Number};

/// Returns the examples in the code blocks of a page that are marked with `language`.
#[must_use]
pub fn examples(page: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let Some(lines) = block.strip_prefix(language).and_then(|rest| rest.strip_prefix('\n')) else {
            continue;
        };
        let mut example = String::new();
        for line in lines.lines() {
            example = if example.is_empty() { line.to_owned() } else { format!("{example}\n{line}") };
            if depth(&example) == 0 {
                found.push(std::mem::take(&mut example));
            }
        }
        assert!(example.is_empty(), "an example ends before its brackets do: {example}");
    }
    found
}

/// Returns the number of open brackets at the end of a text.
fn depth(text: &str) -> i32 {
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let each = |c: char| i32::from("([".contains(c)) - i32::from(")]".contains(c));
    code.flat_map(str::chars).map(each).sum()
}

/// Draws the inputs that the page describes and `text` names, with random dtypes and extents.
///
/// # Panics
/// Never; shapes and numbers of elements agree.
#[must_use]
pub fn inputs(choices: &mut Choices, dtypes: &[DType], text: &str) -> Vec<(String, Array)> {
    let mut extent = || *choices.pick(&[0, 1, 2, 3, 5, 5]).unwrap_or(&3);
    let (rows, columns, depth) = (extent(), extent(), extent());
    let first = *choices.pick(dtypes).unwrap_or(&DType::F64);
    let mut input = |name: &str| {
        let other = if choices.one_in(3) { *choices.pick(dtypes).unwrap_or(&first) } else { first };
        match name {
            "x" => arrays::draw_plain(choices, first, &[rows, columns]),
            "y" => arrays::draw_plain(choices, other, &[rows, columns]),
            "u" => arrays::draw_plain(choices, other, &[columns]),
            "t" => arrays::draw_plain(choices, first, &[depth, rows, columns]),
            "m" => truths(choices, &[rows, columns]),
            "r" => truths(choices, &[rows]),
            "v" => positions(choices, columns),
            "n" => Array::of(Number::Int(choices.below(rows) as i128), DType::I64),
            _ => arrays::draw_plain(choices, other, &[]),
        }
    };
    let words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let used = ["x", "y", "u", "t", "m", "r", "v", "n", "s"].into_iter().filter(|name| words.contains(name));
    used.map(|name| (name.to_owned(), input(name))).collect()
}

fn truths(choices: &mut Choices, shape: &[usize]) -> Array {
    arrays::draw_plain(choices, DType::Bool, shape)
}

/// Draws positions below `count`, some of them counted from the end; empty if `count` is 0.
fn positions(choices: &mut Choices, count: usize) -> Array {
    let len = if count == 0 { 0 } else { choices.below(4) };
    let at = |choices: &mut Choices| choices.below(2 * count) as i64 - count as i64;
    let positions: Vec<u64> = (0..len).map(|_| at(choices).cast_unsigned()).collect();
    Array::from_bits(DType::I64, &[len], &positions).expect("as many bits as the extent says")
}
