//! Encodes metadata, and reads it back with unknown kinds, damage and other orders.

use super::{Callee, Described, Initial, Metadata, MetadataError, Plan, PlanPort, PlanStep, State};
use crate::key::BuildKey;
use crate::value::Array;
use std::collections::BTreeMap;

fn whole() -> Metadata {
    let x = Described {
        name: "x".to_owned(),
        dims: vec!["day".to_owned(), String::new()],
        ..Described::default()
    };
    let port = |name: &str, ty: &str| PlanPort { name: name.to_owned(), ty: ty.to_owned() };
    let step = |callee| PlanStep {
        callee,
        takes: vec![Some("x".to_owned()), None],
        gives: vec!["value.0".to_owned()],
        settings: "{\"of\":\"svd\"}".to_owned(),
    };
    let key = BuildKey::from_bytes([7; 32]);
    Metadata {
        documentation: "Scores *days*, µ".to_owned(),
        inputs: vec![x.clone()],
        outputs: vec![Described {
            name: "out".to_owned(),
            documentation: "the score".to_owned(),
            dims: Vec::new(),
        }],
        state: vec![
            State {
                input: "total".to_owned(),
                update: Some("total".to_owned()),
                initial: Initial::Array(Array::from(ndarray::arr2(&[[1.5_f32, f32::NAN]]))),
            },
            State { input: "rng".to_owned(), update: None, initial: Initial::Json("{}".to_owned()) },
        ],
        plan: Some(Plan {
            inputs: vec![port("x", "f64[?]"), port("rng", "generator")],
            outputs: vec![port("y", "f64[?]")],
            known: BTreeMap::from([("g".to_owned(), "{}".to_owned())]),
            steps: vec![
                step(Callee::Entry("f.0".to_owned())),
                step(Callee::Module { key, host: "cpython 3.11".to_owned() }),
                step(Callee::Host("svd".to_owned())),
            ],
            results: vec![Some("value.0".to_owned())],
        }),
        json: BTreeMap::from([("pymc.coords".to_owned(), "{\"day\":[1,2]}".to_owned())]),
        unknown: BTreeMap::from([(0, vec![1]), (4000, Vec::new())]),
    }
}

#[test]
fn metadata_survives_a_round_trip() {
    let bytes = whole().to_bytes();
    assert_eq!(Metadata::parse(&bytes).unwrap(), whole());
    assert!(Metadata::default().to_bytes().is_empty() && Metadata::parse(&[]).unwrap().is_empty());
}

#[test]
fn arrays_of_every_dtype_are_stored_without_padding() {
    for dtype in ["bool", "i8", "i16", "u32", "f16", "bf16", "f32", "f64", "c64", "c128"] {
        let dtype: crate::DType = dtype.parse().unwrap();
        for shape in [&[][..], &[3], &[2, 0]] {
            let bits: Vec<u64> =
                (0..shape.iter().product::<usize>() * dtype.words()).map(|at| at as u64 % 2).collect();
            let array = Array::from_bits(dtype, shape, &bits).unwrap();
            let state = |initial| State { input: "s".to_owned(), update: None, initial };
            let metadata =
                Metadata { state: vec![state(Initial::Array(array.clone()))], ..Metadata::default() };
            assert_eq!(Metadata::parse(&metadata.to_bytes()).unwrap(), metadata, "{dtype:?}");
            let empty = Metadata {
                state: vec![state(Initial::Array(Array::zeros(dtype, &[0])))],
                ..Metadata::default()
            };
            let more = metadata.to_bytes().len() + 8 - 8 * shape.len() - empty.to_bytes().len();
            assert_eq!(more, shape.iter().product::<usize>() * dtype.itemsize_bytes(), "{dtype:?} {shape:?}");
        }
    }
}

#[test]
fn cut_and_changed_bytes_are_malformed_or_canonical() {
    let bytes = whole().to_bytes();
    for at in 1..bytes.len() {
        assert!(Metadata::parse(&bytes[..at]).is_err(), "cut at {at}");
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            if let Ok(read) = Metadata::parse(&changed) {
                assert_eq!(read.to_bytes(), changed, "byte {at}");
            }
        }
    }
    assert!(Metadata::parse(&[0; 4]).is_err(), "an empty list has another form");
}

#[test]
fn invalid_names_and_keys_are_rejected() {
    let described = |name: &str| vec![Described { name: name.to_owned(), ..Described::default() }];
    let twice = Metadata { inputs: [described("x"), described("x")].concat(), ..Metadata::default() };
    assert!(matches!(twice.check(), Err(MetadataError::Twice { .. })));
    let hidden = Metadata { outputs: described("\u{202e}x"), ..Metadata::default() };
    assert!(matches!(hidden.check(), Err(MetadataError::Name(_))));
    let json = BTreeMap::from([("coords".to_owned(), "{}".to_owned())]);
    let global = Metadata { json, ..Metadata::default() };
    assert!(matches!(global.check(), Err(MetadataError::Namespace { .. })));
    for invalid in [twice, hidden, global] {
        assert!(Metadata::parse(&invalid.to_bytes()).is_err());
    }
    assert_eq!(whole().check(), Ok(()));
}
