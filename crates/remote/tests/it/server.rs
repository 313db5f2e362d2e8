//! A server of files by HTTP, which does to some of them what servers and networks do to answers.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What happens to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
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
    /// There is nothing.
    Missing,
    /// Zeros of the right length.
    Zeros,
}

type Faults = Arc<Mutex<Vec<(String, Fault, usize)>>>;

pub(crate) struct Server {
    pub(crate) url: String,
    faults: Faults,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A request: its method, path, headers in lower case, body.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What an answer is: status, headers, body.
pub(crate) type Answer = (u16, Vec<(&'static str, String)>, Vec<u8>);

impl Server {
    /// Serves a directory.
    pub(crate) fn files(root: PathBuf) -> Self {
        Self::new(move |request| match fs_err::read(root.join(request.path.trim_start_matches('/'))) {
            Ok(bytes) => (200, Vec::new(), bytes),
            Err(_) => (404, Vec::new(), b"not found".to_vec()),
        })
    }

    /// Serves what `answer` says.
    pub(crate) fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (faults, asked) = (Faults::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answer, shared) = (Arc::new(answer), (Arc::clone(&faults), Arc::clone(&asked)));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, (faults, asked)) = (Arc::clone(&answer), shared.clone());
                // A client that is gone is no failure of the server.
                thread::spawn(move || serve(stream, &*answer, &faults, &asked));
            }
        });
        Self { url, faults, asked }
    }

    /// Does this to the next so many answers whose path has `part` in it.
    pub(crate) fn fault(&self, part: &str, fault: Fault, count: usize) {
        self.faults.lock().unwrap().push((part.to_owned(), fault, count));
    }

    pub(crate) fn heal(&self) {
        self.faults.lock().unwrap().clear();
    }

    /// What was asked since the last time: method and path.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn serve(
    stream: TcpStream,
    answer: &(dyn Fn(&Request) -> Answer + Send + Sync),
    faults: &Faults,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        asked.lock().unwrap().push(format!("{} {}", request.method, request.path));
        let fault = faults.lock().unwrap().iter_mut().find_map(|(part, fault, count)| {
            let is_it = *count > 0 && request.path.contains(part.as_str());
            *count -= usize::from(is_it);
            is_it.then_some(*fault)
        });
        let answered = answer(&request);
        if !write(&stream, &request, answered, fault)? {
            break;
        }
    }
    Ok(())
}

fn read(reader: &mut impl std::io::BufRead) -> std::io::Result<Option<Request>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut first = lines[0].split(' ').map(str::to_owned);
    let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let header = |line: &String| {
        line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<(String, String)> = lines[1..].iter().filter_map(header).collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, headers, body }))
}

/// Answers; tells whether the connection stays.
fn write(
    mut stream: &TcpStream,
    request: &Request,
    (status, headers, mut body): Answer,
    fault: Option<Fault>,
) -> std::io::Result<bool> {
    let (mut status, mut length) = (status, body.len());
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
        Some(Fault::Endless) => length = 1 << 40,
        Some(Fault::Status(other)) => (status, body, length) = (other, b"no".to_vec(), 2),
        Some(Fault::Missing) => (status, body, length) = (404, b"no".to_vec(), 2),
        Some(Fault::Slow) | None => {}
    }
    let mut head = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {length}\r\n");
    headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    if request.method == "HEAD" {
        return Ok(true);
    }
    match fault {
        Some(Fault::Slow) => {
            for byte in body {
                thread::sleep(Duration::from_millis(100));
                stream.write_all(&[byte])?;
            }
        }
        Some(Fault::Endless) => loop {
            stream.write_all(&[0; 1 << 16])?;
        },
        _ => stream.write_all(&body)?,
    }
    stream.flush()?;
    Ok(!matches!(fault, Some(Fault::Half)))
}
