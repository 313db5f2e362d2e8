//! Tests of damaged JSON documents and texts.

use super::config;
use super::json::{composite, document};
use precast_graph::json::{parse, render, to_json};
use precast_testkit::Choices;
use precast_testkit::graphs::draw;
use precast_testkit::toy::ToyLibrary;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Changes one thing in a document: removes, repeats, swaps or replaces a value.
fn mutate(value: &mut Value, choices: &mut Choices) {
    let junk = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!("x"),
        json!("v1"),
        json!([]),
        json!({}),
        json!("c0"),
        json!(true),
    ];
    match value {
        Value::Array(items) if !items.is_empty() && !choices.one_in(8) => {
            let (i, j) = (choices.below(items.len()), choices.below(items.len()));
            match choices.below(6) {
                0 => drop(items.remove(i)),
                1 => items.push(items[i].clone()),
                2 => items.swap(i, j),
                _ => mutate(&mut items[i], choices),
            }
        }
        Value::Object(fields) if !fields.is_empty() && !choices.one_in(8) => {
            let key = fields.keys().nth(choices.below(fields.len())).unwrap().clone();
            match choices.below(8) {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert(format!("{key}_"), json!(1))),
                _ => mutate(&mut fields[&key], choices),
            }
        }
        other => *other = choices.pick(&junk).unwrap().clone(),
    }
}

#[test]
fn mutated_documents_never_crash() {
    let (mut refused, mut read) = (0, 0);
    for seed in 0..3000 {
        let mut choices = Choices::seeded(seed);
        let mut document = match seed % 3 {
            0 => document(),
            1 => to_json(&composite()),
            _ => to_json(&draw(&mut choices, &config(), &ToyLibrary).graph),
        };
        for _ in 0..=choices.below(3) {
            mutate(&mut document, &mut choices);
        }
        match parse(&document.to_string(), &ToyLibrary) {
            Ok(graph) => {
                read += 1;
                assert_eq!(render(&parse(&render(&graph), &ToyLibrary).unwrap()), render(&graph));
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(refused > 500 && read > 100, "{refused} refused, {read} read");
}

proptest! {
    #[test]
    fn damaged_text_never_crashes(at in 0_usize..700, byte: u8, cut in 0_usize..900) {
        let mut bytes = render(&composite()).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut.max(1));
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok(graph) = parse(&text, &ToyLibrary)
        {
            prop_assert!(graph.validate().is_ok());
        }
    }
}
