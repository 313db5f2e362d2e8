//! Operands: an op reads what its graph says, in whichever order the graph declares its inputs, and whatever else it declares.

use crate::compiled::Granularity;
use crate::fuzz::agreement::{Form, Subject, assert_agree, calls};
use crate::graphs::graph;
use precast_graph::{Array, DType};
use precast_store::key::Profile;
use precast_testkit::{Choices, arrays};

/// Each name's type, and the shape of its value.
const INPUTS: [(char, &str, DType, &[usize]); 8] = [
    ('x', "f64[?]", DType::F64, &[5]),
    ('y', "f64[?]", DType::F64, &[5]),
    ('w', "f64[?,?]", DType::F64, &[3, 5]),
    ('s', "f64[]", DType::F64, &[]),
    ('m', "bool[?]", DType::Bool, &[5]),
    ('i', "i64[?]", DType::I64, &[5]),
    ('j', "u8[?]", DType::U8, &[5]),
    // Nothing reads it, and its shape is no other's.
    ('u', "i32[?]", DType::I32, &[7]),
];

/// Texts with the names in them.
const TEXTS: [(&str, &str); 21] = [
    ("y - x", "xy"),
    ("y / x", "xy"),
    ("arctan2(y, x)", "xy"),
    ("y ** x", "xy"),
    ("y % x", "xy"),
    ("y < x", "xy"),
    ("x * x", "x"),
    ("x * x - y", "xy"),
    ("exp(y) - x", "xy"),
    ("w - x", "wx"),
    ("x - w", "wx"),
    ("s - x", "sx"),
    ("x - s", "sx"),
    ("i << j", "ij"),
    ("i // j", "ij"),
    ("where(m, x, y)", "mxy"),
    ("exp(where(m, x, y)) + x", "mxy"),
    ("clip(w, x, y)", "wxy"),
    ("where(y > x, y, x) / s", "xys"),
    ("sum(y - x)", "xy"),
    ("cumsum(y - x) * s", "xys"),
];

/// Every order of some names.
fn orders(names: &str) -> Vec<String> {
    if names.is_empty() {
        return vec![String::new()];
    }
    let firsts = names.chars().flat_map(|first| {
        let rest: String = names.chars().filter(|name| *name != first).collect();
        orders(&rest).into_iter().map(move |rest| format!("{first}{rest}"))
    });
    firsts.collect()
}

fn subject(text: &str, names: &str) -> Subject {
    let mut choices = Choices::seeded(11);
    let known = |name: char| INPUTS.iter().find(|known| known.0 == name).unwrap();
    let declared: Vec<String> = names.chars().map(|name| format!("{name}={}", known(name).1)).collect();
    let graph = graph(text, &declared.iter().map(String::as_str).collect::<Vec<_>>());
    let value = |name| {
        let (_, _, dtype, shape) = known(name);
        arrays::draw_plain(&mut choices, *dtype, shape)
    };
    let values: Vec<Array> = names.chars().map(value).collect();
    let calls = calls(&graph, &values, &mut Choices::seeded(13));
    assert!(!calls.is_empty(), "{text} of {names}");
    Subject { graph, calls }
}

#[test]
fn inputs_may_be_declared_in_any_order_and_need_not_be_read() {
    let names = TEXTS.iter().flat_map(|(text, names)| {
        let unread = orders(&format!("{names}u"));
        orders(names).into_iter().chain(unread).map(move |names| (*text, names))
    });
    let subjects: Vec<Subject> = names.map(|(text, names)| subject(text, &names)).collect();
    for granularity in [Granularity::Whole, Granularity::Groups, Granularity::OpByOp] {
        assert_agree(&subjects, Form { profile: Profile::Debug, ..Form::release(granularity) });
    }
}
