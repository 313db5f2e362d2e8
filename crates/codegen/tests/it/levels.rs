//! Tests support code at every level: shared code appears once, and per-Apply code uses its own name.

use crate::toy;
use precast_codegen::link;
use precast_store::key::Language;

#[test]
fn shared_code_appears_once_and_own_code_always() {
    let module = link(&toy::chain(3, false), &toy::library()).unwrap();
    assert_eq!(module.body.matches("static int tadd_same_shape").count(), 1);
    assert_eq!(module.body.matches("_scale(double x)").count(), 3);
    assert_eq!(module.body.matches("if (ctx == NULL) return 1;").count(), 1);
    assert_eq!(module.language, Language::C);
}

#[test]
fn one_cxx_fragment_changes_language_and_key() {
    let (c, cxx) = (toy::chain(1, false), toy::chain(1, true));
    let [c, cxx] = [c, cxx].map(|graph| link(&graph, &toy::library()).unwrap());
    assert_eq!(cxx.language, Language::Cxx);
    assert_ne!(c.key(), cxx.key());
}
