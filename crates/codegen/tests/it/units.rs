//! Tests that the grouping of modules into units depends only on the declared set.

use crate::toy;
use precast_codegen::{Module, Unit, link};
use precast_graph::{DType, FunctionGraph, Type};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

/// The maximum number of different modules.
const TAGS: i64 = 60;

/// The module of each tag, linked once.
static MODULES: LazyLock<Vec<Arc<Module>>> = LazyLock::new(|| (0..TAGS).map(module).collect());

fn module(tag: i64) -> Arc<Module> {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    let y = graph.apply(Arc::new(toy::TensorAdd { tag, cxx: tag % 5 == 0 }), &[x, x]).unwrap()[0];
    graph.output(y, None).unwrap();
    Arc::new(link(&graph, &toy::library()).unwrap())
}

fn keys(units: &[Unit]) -> Vec<Vec<String>> {
    units.iter().map(|u| u.members().iter().map(|(key, _)| key.to_string()).collect()).collect()
}

proptest! {
    #[test]
    fn batches_do_not_depend_on_order_or_repetition(tags in prop::collection::vec(0..TAGS, 1..80), seed: u64) {
        let modules: Vec<_> = tags.iter().map(|tag| Arc::clone(&MODULES[*tag as usize])).collect();
        let mut shuffled = modules.clone();
        let len = shuffled.len();
        for i in 0..len {
            shuffled.swap(i, (seed as usize).wrapping_mul(i + 7) % len);
        }
        shuffled.push(Arc::clone(&modules[0]));
        let (a, b) = (Unit::batches(modules), Unit::batches(shuffled));
        prop_assert_eq!(keys(&a), keys(&b));
        let distinct: std::collections::BTreeSet<_> = tags.iter().collect();
        prop_assert_eq!(a.iter().map(|u| u.members().len()).sum::<usize>(), distinct.len());
        for unit in &a {
            let languages = unit.members().iter().all(|(_, m)| m.language == unit.language());
            let sorted = unit.members().is_sorted_by_key(|(key, _)| *key);
            prop_assert!(languages && sorted);
        }
    }
}

#[test]
fn unit_names_modules_by_key() {
    let unit = &Unit::batches((1..4).map(module).collect())[0];
    let text = unit.text();
    assert!(!text.contains("@M@") && !text.contains("@KEY@"));
    for (key, _) in unit.members() {
        assert!(text.contains(&format!("&{},", Unit::entry_symbol(key))));
    }
    assert_eq!(text.matches("#include <precast/module.h>").count(), 1);
}
