//! Servers on the loopback interface that simulate faults of servers and networks: files over HTTP, a registry, and a
//! proxy for any other server.
//!
//! ```text
//! client ─▶ Server ─▶ response of `answer`: a directory, a registry in memory, or another server's response
//!        ◀─ fault ◀─┘   cut, halved, changed, silent, slow, endless, another status …
//! ```

mod message;
mod registry;

pub use registry::{Contents, Registry, sha256};

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The fault of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Closes the connection without a response.
    Cut,
    /// Sends half of the body and closes the connection.
    Half,
    /// Changes a bit in the middle.
    Wrong,
    /// Sends nothing and keeps the connection open for 20 s.
    Silent,
    /// Sends a byte every 100 ms.
    Slow,
    /// Never ends the body.
    Endless,
    /// Sends a different status.
    Status(u16),
    /// Sends a different status, and a body that never ends.
    EndlessStatus(u16),
    /// Responds with 404.
    Missing,
    /// Sends zeros of the right length.
    Zeros,
    /// Sends a different digest in the headers.
    Digest,
}

type Faults = Arc<Mutex<Vec<(String, Fault, usize)>>>;

/// A server; it listens until the process exits.
#[derive(Debug)]
pub struct Server {
    /// The address: `http://127.0.0.1:port`.
    pub url: String,
    faults: Faults,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A request as the server received it.
#[derive(Debug)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path and the query.
    pub path: String,
    /// The names in lower case, and the values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response: status, headers and body.
pub type Answer = (u16, Vec<(String, String)>, Vec<u8>);

impl Server {
    /// Serves a directory.
    pub fn files(root: PathBuf) -> Self {
        Self::new(move |request| match fs_err::read(root.join(request.path.trim_start_matches('/'))) {
            Ok(bytes) => (200, Vec::new(), bytes),
            Err(_) => (404, Vec::new(), b"not found".to_vec()),
        })
    }

    /// Starts a proxy for the server at `address`. It forwards every request, with the client's `Host` header.
    pub fn before(address: &str) -> Self {
        Self::before_at("127.0.0.1:0", address)
    }

    /// Does the same as [`Server::before`], listening on `here`.
    pub fn before_at(here: &str, address: &str) -> Self {
        let address = address.to_owned();
        Self::at(here, move |request| message::handed(&address, request))
    }

    /// Does the same as [`Server::before`], except for requests that `refuses` responds to.
    pub fn guarding(
        address: &str,
        refuses: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let address = address.to_owned();
        Self::new(move |request| refuses(request).unwrap_or_else(|| message::handed(&address, request)))
    }

    /// Serves the responses of `answer`.
    pub fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer)
    }

    /// Serves the responses of `answer`, listening on `here`.
    ///
    /// # Panics
    /// If the address cannot be bound.
    pub fn at(here: &str, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(here).expect("something can listen there");
        let url = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        let (faults, asked) = (Faults::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answer, shared) = (Arc::new(answer), (Arc::clone(&faults), Arc::clone(&asked)));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, (faults, asked)) = (Arc::clone(&answer), shared.clone());
                // A disconnected client is not a failure of the server.
                thread::spawn(move || serve(&stream, &*answer, &faults, &asked));
            }
        });
        Self { url, faults, asked }
    }

    /// Returns the address without a scheme.
    #[must_use]
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Injects a fault into the next `count` responses whose path contains `part`.
    pub fn fault(&self, part: &str, fault: Fault, count: usize) {
        lock(&self.faults).push((part.to_owned(), fault, count));
    }

    /// Removes all faults.
    pub fn heal(&self) {
        lock(&self.faults).clear();
    }

    /// Returns the requests since the last call: method and path.
    #[allow(clippy::must_use_candidate, reason = "it is called to forget as well")]
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.asked))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(
    stream: &TcpStream,
    answer: &(dyn Fn(&Request) -> Answer + Send + Sync),
    faults: &Faults,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = message::read(&mut reader)? {
        lock(asked).push(format!("{} {}", request.method, request.path));
        let fault = lock(faults).iter_mut().find_map(|(part, fault, count)| {
            let is_it = *count > 0 && request.path.contains(part.as_str());
            *count -= usize::from(is_it);
            is_it.then_some(*fault)
        });
        let answered = answer(&request);
        if !write(stream, &request, answered, fault)? {
            break;
        }
    }
    Ok(())
}

/// Writes a response; returns whether the connection stays open.
fn write(
    mut stream: &TcpStream,
    request: &Request,
    (mut status, mut headers, mut body): Answer,
    fault: Option<Fault>,
) -> std::io::Result<bool> {
    const ENDLESS: usize = 1 << 40;
    // A response to `HEAD` states the length of the omitted body.
    let said =
        headers.iter().position(|(name, _)| name == "content-length").map(|at| headers.swap_remove(at).1);
    let is_head = request.method == "HEAD";
    let said = said.and_then(|length| length.parse().ok()).filter(|_| is_head);
    let mut length = said.unwrap_or(body.len());
    match fault {
        Some(Fault::Cut) => return Ok(false),
        Some(Fault::Silent) => {
            thread::sleep(Duration::from_secs(20));
            return Ok(false);
        }
        Some(Fault::Wrong) => {
            let middle = body.len() / 2;
            body.get_mut(middle).into_iter().for_each(|byte| *byte ^= 1);
        }
        Some(Fault::Zeros) => body.fill(0),
        Some(Fault::Half) => body.truncate(length / 2),
        Some(Fault::Endless) => length = ENDLESS,
        Some(Fault::EndlessStatus(other)) => (status, length) = (other, ENDLESS),
        Some(Fault::Status(other)) => (status, body, length) = (other, b"no".to_vec(), 2),
        Some(Fault::Missing) => (status, body, length) = (404, b"no".to_vec(), 2),
        Some(Fault::Digest) => {
            let digest = format!("sha256:{}", "0".repeat(64));
            headers
                .iter_mut()
                .filter(|(_, value)| value.starts_with("sha256:"))
                .for_each(|(_, value)| *value = digest.clone());
        }
        Some(Fault::Slow) | None => {}
    }
    let mut head = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {length}\r\n");
    headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    head += "\r\n";
    match fault {
        _ if is_head => stream.write_all(head.as_bytes())?,
        Some(Fault::Slow) => {
            stream.write_all(head.as_bytes())?;
            for byte in body {
                thread::sleep(Duration::from_millis(100));
                stream.write_all(&[byte])?;
            }
        }
        Some(Fault::Endless | Fault::EndlessStatus(_)) => {
            stream.write_all(head.as_bytes())?;
            loop {
                stream.write_all(&[0; 1 << 16])?;
            }
        }
        _ => stream.write_all(&[head.as_bytes(), &body].concat())?,
    }
    stream.flush()?;
    Ok(!matches!(fault, Some(Fault::Half)))
}
