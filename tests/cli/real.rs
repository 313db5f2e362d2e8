//! The same deployment from servers that others have written; `cargo xtask remotes` starts them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::elsewhere::{deploys, released};
use crate::sandbox::Ended;

/// What `cargo xtask remotes` says of a server; what is skipped is skipped aloud.
#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]
fn told(variable: &str, what: &str) -> Option<String> {
    let told = std::env::var(variable).ok();
    if told.is_none() {
        eprintln!("skipped: {what}: `cargo xtask remotes` starts one");
    }
    told
}

#[test]
fn a_bundle_in_a_registry_is_deployed() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let (place, expected) = released();
    let url = format!("oci://{address}/me/score:{}", std::process::id());
    let sbom = place.run_bare(&["sbom", "score.precast"]).ok().out;
    place.write("score.json", sbom);
    let pushed =
        place.run_bare(&["push", &url, "score.precast", "--sbom", "score.json", "--json"]).ok().json();
    deploys(&place, &url, expected);
    let digest = pushed["digest"].as_str().unwrap();
    let by_digest = format!("oci://{address}/me/score@{digest}");
    place.run_bare(&["pull", &by_digest, "--out", "pulled.precast", "--keyring", "precast.keyring"]).ok();
    assert_eq!(
        fs_err::read(place.path("pulled.precast")).unwrap(),
        fs_err::read(place.path("score.precast")).unwrap()
    );
    place.run_bare(&["verify", "--bundle", "pulled.precast", "--keyring", "precast.keyring"]).ok();
    // Not signed: refused, before anything is written.
    fs_err::remove_file(place.path("score.precast.minisig")).unwrap();
    place.run(&["build", "--bundle", "other.precast"]).ok();
    let bare = format!("oci://{address}/me/bare:{}", std::process::id());
    place.run_bare(&["export", "--out", "all.export"]).ok();
    place.run_bare(&["push", &bare, "all.export"]).ok();
    let pull = ["pull", &bare, "--out", "bare.export", "--keyring", "precast.keyring"];
    place.run_bare(&pull).fails(7, &["is not signed"]);
    assert!(!place.path("bare.export").exists());
}

#[test]
fn a_store_in_a_bucket_is_deployed() {
    let Some(address) = told("PRECAST_TEST_S3", "a bucket") else { return };
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = format!(
        "PUT /deployed HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
    let (place, expected) = released();
    let url = format!("s3://deployed/{}", std::process::id());
    let mut push = place.command(["push", &url, "--store", "artifacts"]);
    push.envs(std::env::vars().filter(|(name, _)| name.starts_with("AWS_")));
    Ended::of(push.output().unwrap()).ok();
    deploys(&place, &url, expected);
}

#[test]
fn a_store_on_a_web_server_is_deployed() {
    let Some(python) = told("PRECAST_TEST_PYTHON", "a web server") else { return };
    let (place, expected) = released();
    place.run_bare(&["index"]).ok();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new(python);
    server.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
    let mut server = server.current_dir(place.path("artifacts")).stderr(Stdio::null()).spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    deploys(&place, &format!("http://127.0.0.1:{port}"), expected);
    server.kill().unwrap();
    server.wait().unwrap();
}
