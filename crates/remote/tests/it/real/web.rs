//! Tests with Python's web server, which has no knowledge of stores.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use precast_remote::Options;
use precast_testkit::servers::Server;

use super::told;
use crate::between;
use crate::http::{ISA, served, unit};

/// A web server, stopped on drop.
struct Web(Child);

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves a directory; returns the server and its address.
fn web(python: &str, directory: &std::path::Path) -> (Web, String) {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut server = Command::new(python);
    server.args(["-m", "http.server", "--bind", "127.0.0.1", &address.port().to_string()]);
    let server = Web(server.current_dir(directory).stderr(Stdio::null()).spawn().unwrap());
    while TcpStream::connect(address).is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
    (server, address.to_string())
}

#[test]
fn a_plain_web_server_serves_a_store() {
    let Some(python) = told("PRECAST_TEST_PYTHON", "a web server") else { return };
    let served = served();
    let (server, address) = web(&python, served.store.path());
    let options = Options { cache: Some(served.directory.path().join("cache")), ..Options::default() };
    let url = format!("http://{address}");
    let layer = precast_remote::open(&url, served.signer.keyring(), &options).unwrap();
    let (archive, record) = unit("entry", ISA);
    let found = layer.find(&record.members[0].key).unwrap();
    let loaded = layer.load(&found[0]).unwrap().unwrap();
    drop(server);
    assert_eq!(loaded, archive.get("unit.so").unwrap());
}

#[test]
fn failing_web_server_is_a_miss_with_reason() {
    let Some(python) = told("PRECAST_TEST_PYTHON", "a web server") else { return };
    let served = served();
    let (_server, address) = web(&python, served.store.path());
    let proxy = Server::before(&address);
    between::a_store_fails(&served, &proxy, &proxy.url, "/index/keys", &between::FAULTS);
}
