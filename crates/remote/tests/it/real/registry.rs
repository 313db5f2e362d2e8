//! Tests with Debian's registry, skopeo, and the Python client of oras.

use std::path::Path;
use std::process::Command;

use precast_remote::Patience;
use precast_remote::oci::{Attached, Kind, Registry};
use precast_testkit::servers::Server;

use super::told;
use crate::between;
use crate::oci::bundle;
use crate::signer::Signer;

/// Returns a bundle, and a file that is longer than a layer.
fn files() -> [(&'static str, Vec<u8>); 2] {
    let mut state = 3_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    [("small", bundle()), ("large", (0..1 << 20).map(|_| noise()).collect())]
}

fn open(address: &str, name: &str) -> Registry {
    Registry::open(&format!("oci://{address}/{name}").parse().unwrap(), Patience::default()).unwrap()
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

#[test]
fn registry_and_skopeo_have_the_pushed_bytes() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let signer = Signer::new("alice");
    for (tag, bytes) in files() {
        let attached = vec![Attached::Signatures(signer.sign(&bytes)), Attached::Sbom("{}".to_owned())];
        let pushed = open(&address, &format!("me/model:{tag}"));
        let pushed = pushed.push(Kind::Bundle, "model.precast", bytes.clone(), attached).unwrap();
        let pulled = open(&address, &format!("me/model@{}", pushed.digest)).pull().unwrap();
        assert_eq!((pulled.bytes == bytes, pulled.digest), (true, pushed.digest.clone()));
        assert!(signer.keyring().check(&bytes, &pulled.signatures).is_ok(), "{}", pulled.signatures);
        // Another client copies the release to a directory, and back under another name.
        let directory = tempfile::tempdir().unwrap();
        let copied = directory.path().join("copied");
        let (from, here) =
            (format!("docker://{address}/me/model@{}", pushed.digest), format!("dir:{}", copied.display()));
        run(Command::new("skopeo").args(["copy", "--src-tls-verify=false", &from, &here]));
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs_err::read(copied.join("manifest.json")).unwrap()).unwrap();
        let layers = manifest["layers"].as_array().unwrap();
        let blob = |layer: &serde_json::Value| {
            let digest = layer["digest"].as_str().unwrap();
            fs_err::read(copied.join(digest.strip_prefix("sha256:").unwrap())).unwrap()
        };
        assert_eq!(layers.iter().flat_map(blob).collect::<Vec<u8>>(), bytes);
        assert_eq!(layers.len() > 1, tag == "large");
        let back = format!("docker://{address}/me/other:{tag}");
        run(Command::new("skopeo").args(["copy", "--dest-tls-verify=false", &here, &back]));
        let pulled = open(&address, &format!("me/other:{tag}")).pull().unwrap();
        assert_eq!((pulled.bytes == bytes, pulled.digest), (true, pushed.digest));
    }
}

/// Pulls to a directory, or pushes a file that was joined from pulled layers.
const ORAS: &str = "\
import sys, oras.client
what, target, *files = sys.argv[1:]
client = oras.client.OrasClient(insecure=True)
if what == 'pull':
    client.pull(target=target, outdir=files[0])
else:
    kind = 'application/vnd.precast.bundle'
    client.push(target=target, files=[f'{files[0]}:{kind}'], manifest_config=f'{files[1]}:{kind}', disable_path_validation=True)
";

/// Returns the concatenated files of a directory.
fn joined(directory: &Path) -> Vec<u8> {
    let mut files: Vec<_> = fs_err::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| fs_err::read(file).unwrap()).collect()
}

#[test]
fn oras_has_the_pushed_bytes_and_pushes_releases() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let Some(python) = told("PRECAST_TEST_ORAS", "oras") else { return };
    for (tag, bytes) in files() {
        let pushed = open(&address, &format!("me/oras:{tag}"));
        let pushed = pushed.push(Kind::Bundle, "model.precast", bytes.clone(), Vec::new()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        fs_err::create_dir(&out).unwrap();
        let oras = |words: &[&str]| {
            run(Command::new(&python).args(["-c", ORAS]).args(words).current_dir(directory.path()));
        };
        oras(&["pull", &format!("{address}/me/oras@{}", pushed.digest), out.to_str().unwrap()]);
        assert!(joined(&out) == bytes, "{tag}");
        fs_err::write(directory.path().join("model.precast"), joined(&out)).unwrap();
        fs_err::write(directory.path().join("config.json"), "{}").unwrap();
        oras(&["push", &format!("{address}/me/back:{tag}"), "model.precast", "config.json"]);
        let pulled = open(&address, &format!("me/back:{tag}")).pull().unwrap();
        assert_eq!((pulled.kind, pulled.name.as_str()), (Kind::Bundle, "model.precast"));
        assert!(pulled.bytes == bytes, "{tag}");
    }
}

#[test]
fn failing_real_registry_returns_no_release() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let proxy = Server::before(&address);
    between::a_registry_fails(&proxy, &proxy.url.replace("http://", "oci://"), &between::FAULTS);
}
