//! A server on the loopback interface that runs until it is dropped.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// The time that a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, stopped on drop.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns an unused address.
pub(crate) fn free() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Returns the port of an address.
pub(super) fn port(address: &str) -> &str {
    address.rsplit(':').next().unwrap_or_default()
}

/// Starts a server and waits until it listens.
pub(crate) fn start(mut command: Command, address: String, log: &Path) -> Result<Server> {
    let output = fs_err::File::create(log)?;
    let (output, _) = output.into_parts();
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut server = Server { child, address };
    let begin = Instant::now();
    while TcpStream::connect(&server.address).is_err() {
        if server.child.try_wait()?.is_some() || begin.elapsed() > PATIENCE {
            bail!("{command:?} does not listen; it said what is in `{}`", log.display());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("started: {command:?} on {}", server.address);
    Ok(server)
}

/// Sends a PUT request with an empty body to a path.
pub(super) fn put(address: &str, path: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let head =
        format!("PUT {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "`PUT {path}` is answered: {answer}");
    Ok(())
}
