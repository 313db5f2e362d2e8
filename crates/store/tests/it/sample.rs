//! Small, valid inputs for all tests: a unit of three modules, its archive and its record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use precast_core::metadata::{Callee, Described, Initial, Plan, PlanPort, PlanStep, State};
use precast_core::program::{Computes, Constant, Port, Register, Step, Temp};
use precast_core::{Array, Metadata, Program, Type};
use precast_store::key::{
    ActionInputs, ActionKind, BuildInputs, Canonical, HostAbi, Language, Profile, context,
};
use precast_store::{Archive, Entry, Event, Fingerprint, Member, Record, Requires, Store};

pub(crate) fn inputs(text: &str) -> BuildInputs {
    BuildInputs {
        host_abi: HostAbi::Native,
        profile: Profile::Release,
        language: Language::C,
        text: text.to_owned(),
        sources: BTreeMap::from([("precast/tensor.h".to_owned(), Arc::from("struct pc_tensor;\n"))]),
        flags: vec!["-ffp-contract=off".to_owned()],
        libraries: vec!["m".to_owned()],
    }
}

pub(crate) fn member(slot: u32, text: &str, signature: &str) -> Member {
    let inputs = inputs(text);
    let fingerprint = Canonical::new(context::FINGERPRINT).str(text).finish();
    Member {
        key: inputs.key(),
        slot,
        fingerprints: vec![Fingerprint::from_bytes(fingerprint)],
        signature: signature.to_owned(),
        document: Some(inputs.document(vec![signature.to_owned()])),
    }
}

pub(crate) fn requires() -> Requires {
    Requires {
        arch: "x86_64".into(),
        os: "linux".into(),
        libc: Some("gnu".into()),
        libc_version: Some("2.29".into()),
        cpu: vec!["avx2".into(), "fma".into()],
        needed: vec!["libm.so.6".into()],
        undefined: vec!["expf".into()],
        abi: (1, 1),
    }
}

/// Returns what any archive requires that this host can run.
pub(crate) fn host_requires() -> Requires {
    let host = precast_core::cpu::host();
    Requires {
        arch: host.arch.clone(),
        os: host.os.clone(),
        libc: None,
        libc_version: None,
        cpu: Vec::new(),
        needed: Vec::new(),
        undefined: Vec::new(),
        abi: host.abi,
    }
}

/// Returns an archive and its record; `seed` makes both unique.
pub(crate) fn unit(seed: &str, isa: &str) -> (Archive, Record) {
    let mut archive = Archive::default();
    for (name, content) in [
        ("include/precast/tensor.h", "struct pc_tensor;\n".to_owned()),
        ("manifest.json", format!("{{\"seed\":\"{seed}\"}}")),
        ("unit.c", format!("/* {seed} {isa} */\n")),
        ("unit.so", format!("\u{7f}ELF {seed} {isa}")),
    ] {
        archive.members.insert(name.to_owned(), content.into_bytes());
    }
    let members: Vec<Member> = ["add", "mul", "exp"]
        .iter()
        .enumerate()
        .map(|(slot, op)| {
            member(slot as u32, &format!("{seed} {op} @M@"), &format!("{op}(f32[..], f32[..]) -> f32[..]"))
        })
        .collect();
    let action = ActionInputs {
        kind: ActionKind::Compile,
        inputs: members.iter().map(|member| *member.key.as_bytes()).collect(),
        target: "x86_64-unknown-linux-gnu".into(),
        isa: isa.into(),
        flags: vec!["-O3".into()],
        toolchain: None,
        linked: Vec::new(),
    };
    let record = Record {
        kind: action.kind,
        action: action.key(),
        toolchain: action.toolchain,
        target: action.target.clone(),
        isa: isa.into(),
        profile: Profile::Release,
        host_abi: HostAbi::Native,
        language: Language::C,
        members,
        digest: archive.digest().unwrap(),
        size: archive.size(),
        requires: requires(),
        outside: Vec::new(),
        generation: None,
    };
    (archive, record)
}

/// Returns a record as lookups do: without documents.
pub(crate) fn bare(record: &Record) -> Record {
    let mut record = record.clone();
    record.members.iter_mut().for_each(|member| member.document = None);
    record
}

pub(crate) fn entry(name: &str) -> Entry {
    let (_, record) = unit("entry", "x86-64-v3");
    Entry {
        name: name.to_owned(),
        program: program(&record),
        declared: "{\"text\":\"out = x + y\"}".to_owned(),
        recipe: "precast golden".to_owned(),
        metadata: Metadata::default(),
    }
}

/// Returns an entry with metadata.
pub(crate) fn described(name: &str) -> Entry {
    let x =
        Described { name: "x".to_owned(), dims: vec!["day".to_owned()], documentation: "samples".to_owned() };
    let initial = Initial::Array(Array::from(ndarray::arr1(&[0.5_f64, -0.0])));
    let metadata = Metadata {
        documentation: "Scores days".to_owned(),
        inputs: vec![x],
        state: vec![State { input: "x".to_owned(), update: Some("out".to_owned()), initial }],
        unknown: BTreeMap::from([(4000, b"of a later version".to_vec())]),
        ..Metadata::default()
    };
    Entry { metadata, ..entry(name) }
}

/// Returns an entry with metadata, whose input and output have an extent of one name.
pub(crate) fn named(name: &str) -> Entry {
    let mut entry = described(name);
    for port in [&mut entry.program.inputs[0], &mut entry.program.outputs[0]] {
        port.ty = "f64[n]".parse().unwrap();
    }
    entry
}

/// Returns the metadata of a bundle and of a function that calls an entry.
pub(crate) fn functions(entry: &str) -> BTreeMap<String, Metadata> {
    let ports = |name: &str| vec![PlanPort { name: name.to_owned(), ty: "f64[?]".to_owned() }];
    let step = PlanStep {
        callee: Callee::Entry(entry.to_owned()),
        takes: vec![Some("x".to_owned())],
        gives: vec!["value.0".to_owned()],
        settings: String::new(),
    };
    let plan = Plan {
        inputs: ports("x"),
        outputs: ports("y"),
        steps: vec![step],
        results: vec![Some("value.0".to_owned())],
        ..Plan::default()
    };
    let json = BTreeMap::from([("pymc.coords".to_owned(), "{\"day\":[1,2]}".to_owned())]);
    BTreeMap::from([
        (String::new(), Metadata { json, ..Metadata::default() }),
        ("function".to_owned(), Metadata { plan: Some(plan), ..Metadata::default() }),
    ])
}

/// Returns `out = second(first(x, 1.5))`, computed by the two modules of a record.
fn program(record: &Record) -> Program {
    let ty = |text: &str| text.parse::<Type>().unwrap();
    let step = |position: usize, args: Vec<Register>| Step {
        key: record.members[position].key,
        signatures: vec![record.members[position].signature.clone()],
        n_inputs: args.len() - 1,
        args,
        slots: vec![Array::from(ndarray::arr1(&[1_i64, -2]))],
        group: position as u32,
        computes: if position == 0 { Computes::Elementwise } else { Computes::Anything },
        views: Vec::new(),
    };
    Program {
        inputs: vec![Port { name: "x".to_owned(), ty: ty("f64[?]").into() }],
        outputs: vec![Port { name: "out".to_owned(), ty: ty("f64[?]").into() }],
        constants: vec![Constant { ty: ty("f64[]"), value: Array::from(1.5) }],
        temps: vec![Temp { ty: ty("f64[?]"), view: false }],
        steps: vec![
            step(0, vec![Register::Input(0), Register::Constant(0), Register::Temp(0)]),
            step(1, vec![Register::Temp(0), Register::Output(0)]),
        ],
    }
}

/// Creates a store in a temporary directory, with a list of its events.
pub(crate) fn store() -> (tempfile::TempDir, Store, Arc<Mutex<Vec<Event>>>) {
    let directory = tempfile::tempdir().unwrap();
    let (store, events) = listening(Store::create(directory.path().join("artifacts")).unwrap());
    (directory, store, events)
}

pub(crate) fn listening(store: Store) -> (Store, Arc<Mutex<Vec<Event>>>) {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let sink = Arc::clone(&events);
    (store.on_event(move |event| sink.lock().unwrap().push(event.clone())), events)
}

/// Returns the only file below `directory` whose name ends with `suffix`.
pub(crate) fn file(store: &Store, directory: &str, suffix: &str) -> std::path::PathBuf {
    let files = walkdir::WalkDir::new(store.path().join(directory)).into_iter().map(Result::unwrap);
    let mut files =
        files.filter(|entry| entry.file_type().is_file() && entry.path().to_str().unwrap().ends_with(suffix));
    let file = files.next().unwrap().into_path();
    assert!(files.next().is_none(), "more than one file ends so");
    file
}

/// Replaces a read-only file.
pub(crate) fn overwrite(path: &std::path::Path, bytes: &[u8]) {
    fs_err::remove_file(path).unwrap();
    fs_err::write(path, bytes).unwrap();
}
