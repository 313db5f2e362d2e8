//! Bills of materials, statements and envelopes, read by the libraries of the projects that define them. `validators.txt`
//! lists the packages. The tests use the interpreter in `target/validators`, or else `python3`, and skip missing packages.

use std::path::PathBuf;
use std::process::Command;

use precast_testkit::package::root;

use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{Ended, Sandbox};

const BUILDER: &str = "https://ci.example.org/release";

fn python() -> PathBuf {
    let own = root().join("target/validators/bin/python");
    if own.exists() { own } else { "python3".into() }
}

/// Runs a script with these packages, or prints which are missing.
#[track_caller]
#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]
fn validate(place: &Sandbox, packages: &str, script: &str) {
    let run = |script: &str| Command::new(python()).args(["-c", script]).current_dir(place.path("")).output();
    if !run(&format!("import {packages}")).is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped in part: Python has not all of {packages}: tests/cli/validators.txt");
    }
    Ended::of(run(script).unwrap()).ok();
}

/// Creates a bundle of several modules, its statement, and an envelope that two keys signed.
fn stated() -> Sandbox {
    let place = built(&[SUM, DOUBLE]);
    place.write("include.h", "");
    let options = ["--source", "git+https://git.example.org/model@refs/tags/v1", "--source-commit", "c0ffee"];
    let build = ["build", "--builder", BUILDER, "--store", "stated", "--bundle", "b.precast", "--pin"];
    place.run(&[&build[..], &options, &["--invocation", "https://ci.example.org/jobs/7"]].concat()).ok();
    for name in ["alice", "bob"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
        let key = format!("{name}.key");
        place.run_bare(&["sign", "--dsse", "b.precast.provenance.json", "--key", &key]).ok();
    }
    place
}

#[test]
fn bill_of_materials_fits_cyclonedx() {
    let place = stated();
    for options in [
        &[][..],
        &["--supplier", "Example Inc.", "--author", "A", "--license", "MIT OR Apache-2.0"],
        &["--name", "model", "--version", "1.4", "--provenance", "b.precast.provenance.json"],
    ] {
        let bill = place.run_bare(&[&["sbom", "b.precast"], options].concat()).ok();
        place.write("bill.json", bill.out);
        validate(
            &place,
            "cyclonedx.validation.json, jsonschema",
            "import sys\n\
             from cyclonedx.schema import SchemaVersion\n\
             from cyclonedx.validation.json import JsonStrictValidator\n\
             bill = open('bill.json').read()\n\
             sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) or '') or 0)",
        );
    }
}

#[test]
fn statements_fit_in_toto_and_slsa() {
    let place = stated();
    let store = precast_store::Store::open(place.path("stated")).unwrap();
    let record = store.records().next().unwrap().unwrap();
    place.write("record.json", store.find_provenance(&record).unwrap().unwrap());
    validate(
        &place,
        "in_toto_attestation.v1.statement, in_toto_attestation.predicates.provenance.v1.provenance_pb2",
        "import json\n\
         from google.protobuf.json_format import Parse\n\
         from in_toto_attestation.v1 import statement_pb2\n\
         from in_toto_attestation.v1.statement import Statement\n\
         from in_toto_attestation.predicates.provenance.v1 import provenance_pb2\n\
         for name in ['b.precast.provenance.json', 'record.json']:\n\
         \x20   text = open(name).read()\n\
         \x20   Statement.copy_from_pb(Parse(text, statement_pb2.Statement())).validate()\n\
         \x20   stated = Parse(json.dumps(json.loads(text)['predicate']), provenance_pb2.Provenance())\n\
         \x20   assert stated.build_definition.build_type and stated.run_details.builder.id\n\
         \x20   assert stated.run_details.metadata.started_on.seconds > 0\n",
    );
}

/// The start of both scripts: the keys of `alice` and `bob`, with their ids.
const KEYS: &str = "import base64, json\n\
     keys = {}\n\
     for name in ['alice', 'bob']:\n\
     \x20   raw = base64.b64decode(open(name + '.pub').read().split('\\n')[1])\n\
     \x20   keys[raw[2:10][::-1].hex().upper()] = raw[10:]\n\
     text = open('b.precast.intoto.jsonl').read()\n";

#[test]
fn envelopes_are_read_by_others() {
    let place = stated();
    let script = "from securesystemslib.dsse import Envelope\n\
         from securesystemslib.signer import SSlibKey\n\
         envelope = Envelope.from_dict(json.loads(text))\n\
         known = [SSlibKey(id, 'ed25519', 'ed25519', {'public': raw.hex()}) for id, raw in keys.items()]\n\
         assert len(envelope.verify(known, 2)) == 2\n";
    validate(&place, "securesystemslib.dsse, cryptography", &format!("{KEYS}{script}"));
    // Sigstore's own keys are not Ed25519: its library reads the envelope and the statement, and gives the signed bytes. It
    // reads envelopes with one signature.
    let script = "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey\n\
         from sigstore import dsse\n\
         inner = json.loads(text)\n\
         body = base64.b64decode(inner['payload'])\n\
         dsse.Statement(body)\n\
         for one in inner['signatures']:\n\
         \x20   envelope = dsse.Envelope._from_json(json.dumps({**inner, 'signatures': [one]}).encode())\n\
         \x20   key = Ed25519PublicKey.from_public_bytes(keys[one['keyid']])\n\
         \x20   key.verify(envelope.signature, dsse._pae(dsse.Envelope._TYPE, body))\n";
    validate(&place, "sigstore.dsse, cryptography", &format!("{KEYS}{script}"));
}
