//! Servers on the loopback that do to answers what servers and networks do: files by HTTP, a registry, and a proxy before any other.
//!
//! ```text
//! who asks ─▶ Server ─▶ what `answer` says: a directory, a registry in memory, or what a server of others answers
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

/// What happens to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed instead.
    Cut,
    /// Half of the body comes, and the connection is closed.
    Half,
    /// A bit in the middle is another.
    Wrong,
    /// Nothing comes, and the connection stays.
    Silent,
    /// A byte comes, and another, for ever.
    Slow,
    /// It never ends.
    Endless,
    /// Another status.
    Status(u16),
    /// Another status, and a body that never ends.
    EndlessStatus(u16),
    /// There is nothing.
    Missing,
    /// Zeros of the right length.
    Zeros,
    /// Headers name another digest.
    Digest,
}

type Faults = Arc<Mutex<Vec<(String, Fault, usize)>>>;

/// A server; it listens as long as the process runs.
#[derive(Debug)]
pub struct Server {
    /// Where it is: `http://127.0.0.1:port`.
    pub url: String,
    faults: Faults,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// `GET` and its like.
    pub method: String,
    /// The path, and the query.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What an answer is: status, headers, body.
pub type Answer = (u16, Vec<(String, String)>, Vec<u8>);

impl Server {
    /// Serves a directory.
    pub fn files(root: PathBuf) -> Self {
        Self::new(move |request| match fs_err::read(root.join(request.path.trim_start_matches('/'))) {
            Ok(bytes) => (200, Vec::new(), bytes),
            Err(_) => (404, Vec::new(), b"not found".to_vec()),
        })
    }

    /// Stands before the server at `address`, which is asked everything, under the name that it was asked by here.
    pub fn before(address: &str) -> Self {
        Self::before_at("127.0.0.1:0", address)
    }

    /// As [`Server::before`], where `here` says.
    pub fn before_at(here: &str, address: &str) -> Self {
        let address = address.to_owned();
        Self::at(here, move |request| message::handed(&address, request))
    }

    /// As [`Server::before`], for requests to which `refuses` gives no answer.
    pub fn guarding(
        address: &str,
        refuses: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let address = address.to_owned();
        Self::new(move |request| refuses(request).unwrap_or_else(|| message::handed(&address, request)))
    }

    /// Serves what `answer` says.
    pub fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer)
    }

    /// Serves what `answer` says, where `here` says.
    ///
    /// # Panics
    /// Nothing can listen there.
    pub fn at(here: &str, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(here).expect("something can listen there");
        let url = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        let (faults, asked) = (Faults::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answer, shared) = (Arc::new(answer), (Arc::clone(&faults), Arc::clone(&asked)));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, (faults, asked)) = (Arc::clone(&answer), shared.clone());
                // A client that is gone is no failure of the server.
                thread::spawn(move || serve(&stream, &*answer, &faults, &asked));
            }
        });
        Self { url, faults, asked }
    }

    /// Its address, without a scheme.
    #[must_use]
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Does this to the next so many answers whose path has `part` in it.
    pub fn fault(&self, part: &str, fault: Fault, count: usize) {
        lock(&self.faults).push((part.to_owned(), fault, count));
    }

    /// Answers everything as it is again.
    pub fn heal(&self) {
        lock(&self.faults).clear();
    }

    /// What was asked since the last time: method and path.
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

/// Answers; tells whether the connection stays.
fn write(
    mut stream: &TcpStream,
    request: &Request,
    (mut status, mut headers, mut body): Answer,
    fault: Option<Fault>,
) -> std::io::Result<bool> {
    const ENDLESS: usize = 1 << 40;
    // What a `HEAD` is answered has the length of what is not sent.
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
