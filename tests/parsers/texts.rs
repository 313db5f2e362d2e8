//! Text formats written by people and programs. Bytes that are not UTF-8 are replaced, as when read from a file.

use std::path::Path;
use std::sync::LazyLock;

use minisign::KeyPair;
use precast_abi::nativecall::Signature;
use precast_build::{Declared, Lock, Manifest};
use precast_graph::{FunctionGraph, Type, json, text};
use precast_ops::Ops;
use precast_store::Keyring;
use precast_store::keyring::{Date, Key};

use crate::seeds::{BUILT, MANIFEST, bytes};
use crate::target;

/// The default number of cases of each target.
const SHARE: usize = 2000;

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Signed content with its keyring and signatures.
struct Signed {
    content: &'static [u8],
    keyring: Keyring,
    text: String,
    signatures: String,
}

static SIGNED: LazyLock<Signed> = LazyLock::new(|| {
    let content = b"what was signed".as_slice();
    let pairs: Vec<KeyPair> = (0..3).map(|_| KeyPair::generate_unencrypted_keypair().unwrap()).collect();
    let sign = |pair: &KeyPair| {
        minisign::sign(None, &pair.sk, content, Some("of a test"), None).unwrap().into_string()
    };
    let keys: Vec<String> = pairs.iter().map(|pair| pair.pk.to_base64()).collect();
    let text = format!(
        "# of a test\nformat=1\nversion=3\nexpires=2999-01-01\nthreshold=2\nkey={} alice\nkey={} bob\nrevoked={} mallory\n",
        keys[0], keys[1], keys[2]
    );
    let signatures = pairs.iter().map(sign).collect();
    Signed { content, keyring: Keyring::parse(&text).unwrap(), text, signatures }
});

target!(keyrings, SHARE, bytes(&[&SIGNED.text]), 256, |bytes: &[u8]| {
    let Ok(keyring) = Keyring::parse(&shown(bytes)) else { return };
    assert!(keyring.threshold >= 1 && keyring.threshold <= keyring.keys.len());
    let _ = keyring.check(SIGNED.content, &SIGNED.signatures);
});

target!(keys, SHARE, bytes(&[&SIGNED.keyring.keys[0].text, &SIGNED.text]), 256, |bytes: &[u8]| {
    if let Ok(key) = Key::parse("alice", &shown(bytes)) {
        assert_eq!(Key::parse("alice", &key.text).unwrap(), key);
    }
});

target!(signatures, SHARE, bytes(&[&SIGNED.signatures]), 256, |bytes: &[u8]| {
    let signatures = shown(bytes);
    // No edited signature is valid for other content.
    assert!(SIGNED.keyring.check(b"what was not signed", &signatures).is_err());
    let _ = SIGNED.keyring.check(SIGNED.content, &signatures);
});

target!(dates, SHARE, bytes(&["2027-11-22", "1970-01-01"]), 256, |bytes: &[u8]| {
    let text = shown(bytes);
    if let Ok(date) = text.parse::<Date>() {
        assert_eq!(date.to_string(), text);
    }
});

#[test]
fn locks() {
    let (directory, seeds) = (tempfile::tempdir().unwrap(), bytes(&[&BUILT.lock]));
    let [file, again] = ["precast.lock", "again.lock"].map(|name| directory.path().join(name));
    bolero::check!().with_iterations(SHARE / 4).with_type::<crate::edit::Case>().for_each(|case| {
        let bytes = case.edit(&seeds);
        fs_err::write(&file, &bytes).unwrap();
        crate::bounded(bytes.len(), 256, || {
            let Ok(Some(lock)) = Lock::read(&file) else { return };
            lock.write(&again).unwrap();
            assert_eq!(Lock::read(&again).unwrap(), Some(lock));
        });
    });
}

const EXTERNAL: &str = r#"
isa = ["x86-64-v2", "x86-64-v3"]
target = "x86_64-unknown-linux-gnu"
[[external]]
name = "op"
files = ["op.c"]
inputs = ["{T}[..]"]
outputs = ["{T}[..]"]
dtypes = { T = ["f32", "f64"] }
ndim = [1, 2]
"#;

target!(manifests, SHARE / 4, bytes(&[MANIFEST, EXTERNAL]), 4096, |bytes: &[u8]| {
    let Ok(manifest) = Manifest::parse(Path::new("/nonexistent/precast.toml"), shown(bytes)) else { return };
    let _ = (manifest.isa(), manifest.ops(Ops::standard()));
    let _ = manifest.declare(&mut Declared::new(Ops::standard()));
});

/// Checks that the JSON form of a graph parses to the same form.
fn check_form(graph: &FunctionGraph) {
    let form = json::render(graph);
    assert_eq!(json::render(&json::parse(&form, &Ops::standard()).unwrap()), form);
}

const EXPRESSIONS: &[&str] = &[
    "out = sum(exp(-x*x)*y + 2.5)",
    "a = x[1:, ::-1]; where(a < 0.5, a, -a) ** 2",
    "mean(dot(y, x), axis=-1) / 3 // 2 % 7",
    "concatenate((x, x), axis=0).shape",
    "(x + 1e308) @ y if x else 0x1f & ~3",
];

target!(expressions, SHARE / 2, bytes(EXPRESSIONS), 1 << 14, |bytes: &[u8]| {
    let inputs = ["x=f64[?]", "y=f64[?, 3]"].map(|input| text::parse_input(input).unwrap());
    if let Ok(graph) = text::parse(&[&shown(bytes)], &inputs, &Ops::standard()) {
        check_form(&graph);
    }
});

target!(
    graphs,
    SHARE / 2,
    BUILT.opened().entries().iter().map(|entry| entry.declared.clone().into_bytes()).collect(),
    1 << 12,
    |bytes: &[u8]| {
        if let Ok(graph) = json::parse(&shown(bytes), &Ops::standard()) {
            check_form(&graph);
        }
    }
);

target!(
    types,
    SHARE,
    bytes(&["f64[?, 3, 1]", "double<f64[]>", "i64[..]", "x: f32[2]"]),
    256,
    |bytes: &[u8]| {
        let text = shown(bytes);
        if let Ok(ty) = text.parse::<Type>() {
            assert_eq!(ty.to_string().parse::<Type>().unwrap(), ty);
        }
        let _ = text::parse_input(&text);
    }
);

const SIGNATURES: &[&str] = &["dd)d", "T{df}#2Zd&i)dd!s~", "l&f#?d)v", ") ", "<d T{ii}:x: ) d"];

target!(nativecall, SHARE, bytes(SIGNATURES), 1024, |bytes: &[u8]| {
    let text = shown(bytes);
    if let Ok(signature) = Signature::parse(&text) {
        assert_eq!(signature.as_str(), text);
        let _ = signature.prototype();
    }
    if let Ok(signature) = Signature::normalize(&text) {
        assert_eq!(Signature::parse(signature.as_str()), Ok(signature));
    }
});
