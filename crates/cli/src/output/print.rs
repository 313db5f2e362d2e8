//! Formats values as text: arrays, tables, sizes, times.

use std::fmt::Write as _;

use precast_graph::{Array, with_array};
pub(crate) use precast_picture::quantity::{count, duration, short_time, size};
use serde_json::{Value, json};

use crate::term::HEADING;

/// The largest number of elements that are shown in full.
const WHOLE: usize = 64;

/// The number of elements shown at either end of a long array.
const ENDS: usize = 3;

/// Renders an output: its name, dtype and shape, then all elements, or both ends and a summary.
pub(crate) fn array(name: &str, array: &Array) -> String {
    let (dtype, shape) = (array.dtype(), array.shape());
    let mut text = format!("{name}: {dtype}{shape:?}");
    let elements = elements(array);
    if elements.len() <= WHOLE {
        if shape.is_empty() {
            let _ = write!(text, " = {}", elements.concat());
        } else {
            let _ = write!(text, "\n{}", nested(shape, &elements, 0));
        }
        text.push('\n');
        return text;
    }
    let (first, last) = (&elements[..ENDS], &elements[elements.len() - ENDS..]);
    let _ = writeln!(text, "\n  {} elements: {}, …, {}", elements.len(), first.join(", "), last.join(", "));
    let _ = writeln!(text, "  {}", summary(array));
    text
}

fn elements(array: &Array) -> Vec<String> {
    // Debug prints the shortest text that parses back, with a point or an exponent in every float.
    match array {
        Array::C64(a) => a.iter().map(|x| complex(x.re, x.im)).collect(),
        Array::C128(a) => a.iter().map(|x| complex(x.re, x.im)).collect(),
        other => with_array!(other, a => a.iter().map(|x| format!("{x:?}")).collect()),
    }
}

fn complex<T: std::fmt::Debug>(re: T, im: T) -> String {
    let im = format!("{im:?}");
    // NaN is printed without a sign, even on request.
    let plus = if im.starts_with('-') { "" } else { "+" };
    format!("{re:?}{plus}{im}j")
}

fn nested(shape: &[usize], elements: &[String], depth: usize) -> String {
    let Some((_, inner)) = shape.split_first() else { return elements.concat() };
    let step = inner.iter().product::<usize>().max(1);
    let items: Vec<String> = elements.chunks(step).map(|chunk| nested(inner, chunk, depth + 1)).collect();
    let between = if inner.is_empty() { ", ".to_owned() } else { format!(",\n{}", " ".repeat(depth + 1)) };
    format!("[{}]", items.join(&between))
}

fn summary(array: &Array) -> String {
    fn integers<T: Copy + Ord + Default + std::fmt::Display>(values: &ndarray::ArrayD<T>) -> String {
        let (low, high) = (values.iter().min(), values.iter().max());
        format!("min {}, max {}", low.copied().unwrap_or_default(), high.copied().unwrap_or_default())
    }
    fn floats(values: &mut dyn Iterator<Item = f64>) -> String {
        let (mut low, mut high, mut sum, mut count, mut nans) =
            (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u64, 0_u64);
        for value in values {
            count += 1;
            nans += u64::from(value.is_nan());
            if !value.is_nan() {
                (low, high, sum) = (low.min(value), high.max(value), sum + value);
            }
        }
        let mean = sum / (count - nans) as f64;
        let nans = if nans == 0 { String::new() } else { format!(", {nans} NaN") };
        format!("min {low:?}, max {high:?}, mean {mean:?}{nans}")
    }
    match array {
        Array::Bool(a) => {
            format!("{} true, {} false", a.iter().filter(|x| **x).count(), a.iter().filter(|x| !**x).count())
        }
        Array::I8(a) => integers(a),
        Array::I16(a) => integers(a),
        Array::I32(a) => integers(a),
        Array::I64(a) => integers(a),
        Array::U8(a) => integers(a),
        Array::U16(a) => integers(a),
        Array::U32(a) => integers(a),
        Array::U64(a) => integers(a),
        Array::F16(a) => floats(&mut a.iter().map(|x| f64::from(*x))),
        Array::Bf16(a) => floats(&mut a.iter().map(|x| f64::from(*x))),
        Array::F32(a) => floats(&mut a.iter().map(|x| f64::from(*x))),
        Array::F64(a) => floats(&mut a.iter().copied()),
        // Complex numbers have no order.
        _ => format!("{} elements", with_array!(array, a => a.len())),
    }
}

/// Returns an array as nested JSON lists. NaN and infinities, which JSON lacks, are `"NaN"`, `"inf"`, `"-inf"`; a
/// complex number is the list of its parts.
pub(crate) fn json_array(array: &Array) -> Value {
    let float = |x: f64| if x.is_finite() { json!(x) } else { json!(x.to_string()) };
    let short = |x: f32| if x.is_finite() { json!(x) } else { float(x.into()) };
    let elements: Vec<Value> = match array {
        Array::Bool(a) => a.iter().map(|x| json!(x)).collect(),
        Array::I8(a) => a.iter().map(|x| json!(x)).collect(),
        Array::I16(a) => a.iter().map(|x| json!(x)).collect(),
        Array::I32(a) => a.iter().map(|x| json!(x)).collect(),
        Array::I64(a) => a.iter().map(|x| json!(x)).collect(),
        Array::U8(a) => a.iter().map(|x| json!(x)).collect(),
        Array::U16(a) => a.iter().map(|x| json!(x)).collect(),
        Array::U32(a) => a.iter().map(|x| json!(x)).collect(),
        Array::U64(a) => a.iter().map(|x| json!(x)).collect(),
        Array::F16(a) => a.iter().map(|x| float((*x).into())).collect(),
        Array::Bf16(a) => a.iter().map(|x| float((*x).into())).collect(),
        Array::F32(a) => a.iter().map(|x| short(*x)).collect(),
        Array::F64(a) => a.iter().map(|x| float(*x)).collect(),
        Array::C64(a) => a.iter().map(|x| json!([short(x.re), short(x.im)])).collect(),
        Array::C128(a) => a.iter().map(|x| json!([float(x.re), float(x.im)])).collect(),
        _ => Vec::new(),
    };
    fn nest(shape: &[usize], elements: &mut std::vec::IntoIter<Value>) -> Value {
        let Some((n, inner)) = shape.split_first() else { return elements.next().unwrap_or(Value::Null) };
        Value::Array((0..*n).map(|_| nest(inner, elements)).collect())
    }
    if elements.is_empty() {
        Value::Array(Vec::new())
    } else {
        nest(array.shape(), &mut elements.into_iter())
    }
}

/// The widest column that cells are padded to, in characters.
const COLUMN: usize = 100;

/// Renders rows in columns under headings. A cell that is wider than its column moves the rest of its row to the
/// right.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].len()]).filter(|width| *width <= COLUMN).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<&str>, style: bool| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let line = line.trim_end();
        if style { format!("{HEADING}{line}{HEADING:#}\n") } else { format!("{line}\n") }
    };
    let mut text = line(headings.to_vec(), true);
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect(), false));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{ArrayD, IxDyn, array};

    #[test]
    fn complex_numbers_have_a_sign_between_parts() {
        let number = |re: f64, im: f64| array("z", &precast_graph::Complex::new(re, im).into());
        assert_eq!(number(1.0, -0.0), "z: c128[] = 1.0-0.0j\n");
        assert_eq!(number(1.0, f64::INFINITY), "z: c128[] = 1.0+infj\n");
        assert_eq!(number(f64::NAN, f64::NAN), "z: c128[] = NaN+NaNj\n");
    }

    #[test]
    fn small_arrays_are_shown_whole() {
        assert_eq!(array("out", &Array::from(0.1_f64)), "out: f64[] = 0.1\n");
        let matrix = Array::from(array![[1.0_f32, 2.5], [f32::NAN, -0.0]].into_dyn());
        assert_eq!(array("m", &matrix), "m: f32[2, 2]\n[[1.0, 2.5],\n [NaN, -0.0]]\n");
        assert_eq!(array("e", &Array::zeros(precast_graph::DType::I64, &[0, 2])), "e: i64[0, 2]\n[]\n");
    }

    #[test]
    fn long_arrays_are_summarised() {
        let long = Array::from(ArrayD::from_shape_fn(IxDyn(&[100]), |i| i[0] as f64));
        assert_eq!(
            array("x", &long),
            "x: f64[100]\n  100 elements: 0.0, 1.0, 2.0, …, 97.0, 98.0, 99.0\n  min 0.0, max 99.0, mean 49.5\n"
        );
    }

    #[test]
    fn json_encodes_shape_and_special_numbers() {
        let matrix = Array::from(array![[1.0, f64::NAN], [f64::INFINITY, -2.0]].into_dyn());
        assert_eq!(json_array(&matrix).to_string(), r#"[[1.0,"NaN"],["inf",-2.0]]"#);
        assert_eq!(json_array(&Array::from(7_i64)).to_string(), "7");
        assert_eq!(json_array(&Array::zeros(precast_graph::DType::F64, &[2, 0])).to_string(), "[]");
    }

    #[test]
    fn table_shows_cells_of_any_length() {
        let long = "x".repeat(70_000);
        let rows = [vec![long.clone(), "a".to_owned()], vec!["short".to_owned(), "b".to_owned()]];
        let text = table(&["NAME", "OTHER"], &rows);
        assert!(text.contains(&format!("\n{long}  a\nshort  b\n")), "{}", text.len());
    }
}
