//! quickstart's deployment from real, third-party servers; `cargo xtask remotes` starts them.

use std::net::TcpStream;
use std::process::Stdio;

use crate::deployed::Quickstart;
use crate::elsewhere::released;
use crate::sandbox::Ended;

/// Returns the variable that `cargo xtask remotes` sets for a server; prints a message if the test is skipped.
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
    let quickstart = Quickstart::released();
    let place = &quickstart.place;
    let url = format!("oci://{address}/me/quickstart:1");
    let sbom = place.run_bare(&["sbom", "quickstart.precast"]).ok().out;
    place.write("sbom.json", sbom);
    let push = ["push", &url, "quickstart.precast", "--sbom", "sbom.json", "--json"];
    let pushed = place.run_bare(&push).ok().json();
    quickstart.deploys(&["--remote", &url], &url);
    let digest = pushed["digest"].as_str().unwrap();
    let by_digest = format!("oci://{address}/me/quickstart@{digest}");
    place.run_bare(&["pull", &by_digest, "--out", "pulled.precast", "--keyring", "precast.keyring"]).ok();
    assert_eq!(
        fs_err::read(place.path("pulled.precast")).unwrap(),
        fs_err::read(place.path("quickstart.precast")).unwrap()
    );
    place.run_bare(&["verify", "--bundle", "pulled.precast", "--keyring", "precast.keyring"]).ok();
    quickstart.deploys(&["--bundle", "pulled.precast"], "pulled.precast");
}

#[test]
fn unsigned_release_is_not_pulled() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let (place, _) = released();
    let bare = format!("oci://{address}/me/bare:1");
    place.run_bare(&["export", "--out", "all.export"]).ok();
    place.run_bare(&["push", &bare, "all.export"]).ok();
    let pull = ["pull", &bare, "--out", "bare.export", "--keyring", "precast.keyring"];
    place.run_bare(&pull).fails(7, &["is not signed"]);
    assert!(!place.path("bare.export").exists());
}

#[test]
fn a_store_in_a_bucket_is_deployed() {
    let Some(address) = told("PRECAST_TEST_S3", "a bucket") else { return };
    let Some(bucket) = told("PRECAST_TEST_BUCKET", "a bucket") else { return };
    let quickstart = Quickstart::released();
    let url = format!("s3://{bucket}/quickstart");
    let mut push = quickstart.place.command(["push", &url, "--store", "artifacts"]);
    push.envs(std::env::vars().filter(|(name, _)| name.starts_with("AWS_")));
    push.env("AWS_ENDPOINT_URL", format!("http://{address}"));
    Ended::of(push.output().unwrap()).ok();
    quickstart.deploys(&["--remote", &url], &url);
}

#[test]
fn a_store_on_a_web_server_is_deployed() {
    let Some(python) = told("PRECAST_TEST_PYTHON", "a web server") else { return };
    let quickstart = Quickstart::released();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = std::process::Command::new(python);
    server.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
    let served = quickstart.place.path("artifacts");
    let mut server = server.current_dir(served).stderr(Stdio::null()).spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let url = format!("http://127.0.0.1:{port}");
    quickstart.deploys(&["--remote", &url], &url);
    server.kill().unwrap();
    server.wait().unwrap();
}
