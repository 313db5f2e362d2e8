//! Keys: every input against every key, the golden vectors, and the injectivity of the encoder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use precast_store::key::{
    ActionInputs, ActionKind, BuildInputs, Canonical, Diff, HostAbi, KeyDocument, Language, Profile,
    Signature, nearest,
};
use precast_store::{BuildKey, ToolchainId};
use proptest::prelude::*;

use crate::sample::inputs;

#[test]
fn build_key_changes_with_every_field() {
    let base = inputs("int x; @M@");
    // Destructured without `..`: a new field fails to compile here until it has a row below.
    let BuildInputs { host_abi, profile, language, text, sources, flags, libraries } = base.clone();
    assert_eq!(host_abi, HostAbi::Native);
    assert_eq!((profile, language), (Profile::Release, Language::C));
    let with_source = |name: &str, content: &str| {
        let mut sources = sources.clone();
        sources.insert(name.to_owned(), Arc::from(content));
        BuildInputs { sources, ..base.clone() }
    };
    let variants = [
        base.clone(),
        BuildInputs { host_abi: HostAbi::Cpython, ..base.clone() },
        BuildInputs { profile: Profile::Debug, ..base.clone() },
        BuildInputs { profile: Profile::Asan, ..base.clone() },
        BuildInputs { language: Language::Cxx, ..base.clone() },
        BuildInputs { text: format!("{text} "), ..base.clone() },
        BuildInputs { text: String::new(), ..base.clone() },
        BuildInputs { sources: BTreeMap::new(), ..base.clone() },
        with_source("precast/tensor.h", "struct pc_tensor; "),
        with_source("precast/other.h", ""),
        BuildInputs { flags: Vec::new(), ..base.clone() },
        BuildInputs { flags: [flags.clone(), vec!["-DA".into()]].concat(), ..base.clone() },
        BuildInputs { flags: [vec!["-DA".into()], flags].concat(), ..base.clone() },
        BuildInputs { libraries: Vec::new(), ..base.clone() },
        BuildInputs { libraries: [libraries, vec!["blas".into()]].concat(), ..base.clone() },
    ];
    let keys: BTreeSet<BuildKey> = variants.iter().map(BuildInputs::key).collect();
    assert_eq!(keys.len(), variants.len());
}

#[test]
fn build_key_ignores_only_signatures() {
    let document = inputs("int x; @M@").document(vec!["add(f32[..]) -> f32[..]".into()]);
    let KeyDocument {
        epoch,
        host_abi: _,
        profile: _,
        language: _,
        ops: _,
        text: _,
        sources: _,
        flags: _,
        libraries: _,
        versions: _,
    } = document.clone();
    assert_eq!(document.key(), inputs("int x; @M@").key());
    assert_eq!(KeyDocument { ops: Vec::new(), ..document.clone() }.key(), document.key());
    assert_ne!(KeyDocument { epoch: epoch + 1, ..document.clone() }.key(), document.key());
}

fn action() -> ActionInputs {
    ActionInputs {
        kind: ActionKind::Compile,
        inputs: vec![[1; 32], [2; 32]],
        target: "x86_64-unknown-linux-gnu".into(),
        isa: "x86-64-v3".into(),
        flags: vec!["-O3".into(), "-fPIC".into()],
        toolchain: Some(ToolchainId::from_bytes([3; 32])),
        linked: vec![("m".into(), [4; 32])],
    }
}

#[test]
fn action_key_changes_with_every_field() {
    let base = action();
    let ActionInputs { kind: _, inputs, target: _, isa: _, flags, toolchain: _, linked } = base.clone();
    let reversed = |mut flags: Vec<String>| {
        flags.reverse();
        flags
    };
    let variants = [
        base.clone(),
        ActionInputs { kind: ActionKind::Link, ..base.clone() },
        ActionInputs { kind: ActionKind::Entry, ..base.clone() },
        ActionInputs { inputs: inputs[..1].to_vec(), ..base.clone() },
        ActionInputs { inputs: vec![inputs[1], inputs[0]], ..base.clone() },
        ActionInputs { target: "aarch64-unknown-linux-gnu".into(), ..base.clone() },
        ActionInputs { isa: "x86-64-v4".into(), ..base.clone() },
        ActionInputs { flags: reversed(flags), ..base.clone() },
        ActionInputs { flags: vec!["-O3-fPIC".into()], ..base.clone() },
        ActionInputs { toolchain: None, ..base.clone() },
        ActionInputs { toolchain: Some(ToolchainId::from_bytes([5; 32])), ..base.clone() },
        ActionInputs { linked: Vec::new(), ..base.clone() },
        ActionInputs { linked: vec![("m".into(), [5; 32])], ..base.clone() },
        ActionInputs { linked: [linked, vec![("n".into(), [4; 32])]].concat(), ..base.clone() },
    ];
    let keys: BTreeSet<_> = variants.iter().map(ActionInputs::key).collect();
    assert_eq!(keys.len(), variants.len());
}

/// Golden values, computed with another implementation of BLAKE3 from the documented layouts:
/// `tests/golden/vectors.py`.
#[test]
fn keys_match_the_golden_values() {
    assert_eq!(inputs("int x; @M@").key().to_string(), BUILD_KEY);
    assert_eq!(action().key().to_string(), ACTION_KEY);
    let primitive =
        Canonical::new("precast v1 test").str("é").bytes(&[0, 255]).u64(1 << 63).bool(true).list(2).finish();
    assert_eq!(BuildKey::from_bytes(primitive).to_string(), PRIMITIVES);
}
const BUILD_KEY: &str = "322bb6fa344fd97f318a3075157b0a3c6af07f769ed5259ff8181b6b2ffb3dc7";
const ACTION_KEY: &str = "ffdd35cc5256cba3f248666c7ff143b12e11d314ffadb097aca2b7783cf1d637";
const PRIMITIVES: &str = "12f5b4f433c188c548e2be58b62a636482d7d4c40ccdb2fc7de14c5a5b09026b";

#[test]
fn hashes_parse_in_one_spelling_only() {
    let key = inputs("x").key();
    assert_eq!(key.to_string().parse::<BuildKey>(), Ok(key));
    assert_eq!(key.short(), key.to_string()[..16]);
    let json = serde_json::to_string(&key).unwrap();
    assert_eq!(serde_json::from_str::<BuildKey>(&json).unwrap(), key);
    let refused = |text: &str| text.parse::<BuildKey>().unwrap_err().to_string();
    assert_eq!(refused("ab"), "found 2 characters, expected 64 hex digits");
    assert_eq!(refused(&"A".repeat(64)), "found `A` at 0, expected a lower-case hex digit");
    assert_eq!(refused(&"é".repeat(32)), "found `é` at 0, expected a lower-case hex digit");
}

#[test]
fn profile_names_round_trip_and_others_fail() {
    for profile in [Profile::Release, Profile::Debug, Profile::Asan] {
        assert_eq!(profile.to_string().parse(), Ok(profile));
        assert_eq!(serde_json::to_string(&profile).unwrap(), format!("\"{profile}\""));
    }
    let error = "fast".parse::<Profile>().unwrap_err();
    assert_eq!(error.to_string(), "unknown profile `fast`, expected one of `release`, `debug`, `asan`");
}

fn document(ops: &[&str]) -> KeyDocument {
    inputs(&ops.concat()).document(ops.iter().map(|&op| op.to_owned()).collect())
}

#[test]
fn a_miss_names_the_inputs_whose_dtypes_differ() {
    let wanted = document(&["add(f16[..], f16[..]) -> f16[..]"]);
    let far = document(&["mul(f16[..], f16[..]) -> f16[..]"]);
    let near = document(&["add(f32[..], f32[..]) -> f32[..]"]);
    let (name, diff) = nearest(&wanted, [("far", &far), ("near", &near)]).unwrap();
    assert_eq!(name, "near");
    assert_eq!(diff.to_string(), "`add(f32[..], f32[..]) -> f32[..]` differs in dtype of input 0, 1");
    assert!(nearest::<()>(&wanted, []).is_none());
    // A module that computes something else is not near, however small it is.
    assert!(nearest(&wanted, [("far", &far)]).is_none());
    let fused = |steps: &str| document(&[&format!("composite{{{steps}}}(f64[..], f64[..]) -> f64[..]")]);
    let wanted = fused("v2=add(v0,v1); v3=div(v2,v0); v3");
    assert!(nearest(&wanted, [("far", &fused("v2=mul(v0,v1); v3=exp(v2); v4=exp(v3); v4"))]).is_none());
    let (_, diff) = nearest(&wanted, [("near", &fused("v2=add(v0,v1); v3=mul(v2,v0); v3"))]).unwrap();
    assert!(diff.to_string().ends_with("differs in `v3=mul(v2,v0)`, wanted `v3=div(v2,v0)`"), "{diff}");
    let two = document(&["add(f16[..], f16[..]) -> f16[..]", "exp(f16[..]) -> f16[..]"]);
    assert!(nearest(&document(&["exp(f16[..]) -> f16[..]"]), [("far", &two)]).is_none());
}

#[test]
fn diff_has_one_sentence_per_difference() {
    let base = inputs("a");
    let op = || vec!["sum{axes=[0]}(f64[?,1]) -> f64".to_owned()];
    let sentence = |found: KeyDocument| Diff::between(&base.document(op()), &found).to_string();
    assert_eq!(sentence(base.document(op())), "");
    let flags = BuildInputs { flags: vec!["-DA".into()], ..base.clone() };
    assert_eq!(sentence(flags.document(op())), "differs in flags: `-DA`, wanted `-ffp-contract=off`");
    let debug = BuildInputs { profile: Profile::Debug, ..base.clone() };
    assert_eq!(sentence(debug.document(op())), "differs in profile: `debug`, wanted `release`");
    let none = BuildInputs { sources: BTreeMap::new(), ..base.clone() };
    assert_eq!(sentence(none.document(op())), "differs in sources: missing `precast/tensor.h`");
    // A change of precast's own headers indicates another version; a change of an author's header does not.
    let with = |name: &str, content: &str| {
        let sources = [(name.to_owned(), content.into()), ("precast/new.h".to_owned(), "new".into())];
        BuildInputs { sources: BTreeMap::from(sources), ..base.clone() }.document(op())
    };
    let told = "was generated by another version of precast, in which `precast/tensor.h` differs";
    assert_eq!(sentence(with("precast/tensor.h", "other")), told);
    let version = |found: &KeyDocument| Diff::between(&base.document(op()), found).of_version();
    assert_eq!(version(&with("precast/tensor.h", "other")), Some(true));
    let own = Diff::between(&with("own.h", "a"), &with("own.h", "b"));
    assert_eq!((own.to_string().as_str(), own.of_version()), ("differs in sources: changed `own.h`", None));
    assert_eq!((version(&inputs("b").document(op())), version(&base.document(op()))), (Some(false), None));
    let text = inputs("b").document(op());
    assert!(sentence(text).starts_with("differs in the generated text under equal signatures"));
    let of = |op: &str| sentence(inputs("b").document(vec![op.to_owned()]));
    assert!(of("sum{axes=[1]}(f64[?,1]) -> f64").ends_with("differs in `axes=[1]`, wanted `axes=[0]`"));
    assert!(of("max{axes=[0]}(f64[?,1]) -> f64").ends_with("differs in the op"));
    assert!(of("sum{axes=[0]}(f64[?,?]) -> f64").ends_with("differs in shape of input 0"));
    assert!(of("sum{axes=[0]}(f64[?,1]) -> f32").ends_with("differs in dtype of output 0"));
    assert!(
        of("sum{axes=[0]}(f64[?,1], i64) -> f64").ends_with("differs in the number of inputs or outputs")
    );
}

#[test]
fn signatures_split_at_commas_between_types() {
    let signature = Signature::parse("pow{n=(1,2)}(f32[?,1], c64) -> (f32[..], bool)").unwrap();
    assert_eq!(signature.op, "pow{n=(1,2)}");
    assert_eq!(signature.inputs, [("f32".into(), "[?,1]".into()), ("c64".into(), String::new())]);
    assert_eq!(signature.outputs.len(), 2);
    for text in ["", "add", "(f32) -> f32", "add(f32", ") -> f32", "add)(f32 -> f32"] {
        assert_eq!(Signature::parse(text), None, "{text}");
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Str(String),
    Bytes(Vec<u8>),
    U64(u64),
    Bool(bool),
    List(usize),
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a\u{0}\u{5}]{0,3}".prop_map(Value::Str),
        proptest::collection::vec(0_u8..6, 0..12).prop_map(Value::Bytes),
        (0_u64..6).prop_map(Value::U64),
        any::<bool>().prop_map(Value::Bool),
        (0_usize..4).prop_map(Value::List),
    ]
}

fn encode(values: &[Value]) -> [u8; 32] {
    let encoder = Canonical::new("precast v1 test");
    let step = |encoder: Canonical, value: &Value| match value {
        Value::Str(text) => encoder.str(text),
        Value::Bytes(bytes) => encoder.bytes(bytes),
        Value::U64(number) => encoder.u64(*number),
        Value::Bool(truth) => encoder.bool(*truth),
        Value::List(len) => encoder.list(*len),
    };
    values.iter().fold(encoder, step).finish()
}

proptest! {
    #[test]
    fn equal_encodings_mean_equal_values(
        a in proptest::collection::vec(value(), 0..4),
        b in proptest::collection::vec(value(), 0..4),
    ) {
        prop_assert_eq!(a == b, encode(&a) == encode(&b));
    }

    #[test]
    fn signature_parsing_accepts_any_text(text in "\\PC{0,40}", tail in "[(){}, >-]{0,20}") {
        let _ = Signature::parse(&format!("{text}{tail}"));
    }
}
