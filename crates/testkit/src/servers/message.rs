//! Reads messages of HTTP/1.1, and forwards requests to another server.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;

use super::{Answer, Request};

/// The headers of a single connection, which a proxy must not forward.
const BETWEEN: [&str; 4] = ["connection", "content-length", "transfer-encoding", "expect"];

type Headers = Vec<(String, String)>;

/// Reads a request; returns `None` if the connection has ended.
pub(super) fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let Some((first, headers)) = head(reader)? else { return Ok(None) };
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let body = body(reader, &headers, false)?;
    Ok(Some(Request { method, path, headers, body }))
}

/// Returns another server's response to the same request.
pub(super) fn handed(address: &str, request: &Request) -> Answer {
    ask(address, request).unwrap_or_else(|error| (502, Vec::new(), error.to_string().into_bytes()))
}

fn ask(address: &str, request: &Request) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    let mut text = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", request.method, request.path);
    for (name, value) in request.headers.iter().filter(|(name, _)| !BETWEEN.contains(&name.as_str())) {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n", request.body.len());
    stream.write_all(&[text.as_bytes(), &request.body].concat())?;
    let mut reader = BufReader::new(stream);
    let cut = || std::io::Error::other("the other server ends the connection");
    let (first, mut headers) = head(&mut reader)?.ok_or_else(cut)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    let is_empty = request.method == "HEAD" || status == 204 || status == 304;
    let body = if is_empty { Vec::new() } else { body(&mut reader, &headers, true)? };
    headers.retain(|(name, _)| name == "content-length" || !BETWEEN.contains(&name.as_str()));
    Ok((status, headers, body))
}

/// Reads the first line of a message, and its headers.
fn head(reader: &mut impl BufRead) -> std::io::Result<Option<(String, Headers)>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" if lines.is_empty() => {}
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |line: &String| {
        line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
    };
    let headers = lines[1..].iter().filter_map(header).collect();
    Ok(Some((lines.swap_remove(0), headers)))
}

/// Reads the body of a message: by its length, in chunks, or for a response until the end.
fn body(reader: &mut impl BufRead, headers: &Headers, is_answer: bool) -> std::io::Result<Vec<u8>> {
    let find =
        |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let mut bytes = Vec::new();
    if find("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim().split(';').next().unwrap_or_default(), 16);
            let length = length.map_err(std::io::Error::other)?;
            let begin = bytes.len();
            bytes.resize(begin + length, 0);
            reader.read_exact(&mut bytes[begin..])?;
            reader.read_line(&mut String::new())?;
            if length == 0 {
                return Ok(bytes);
            }
        }
    }
    match find("content-length").and_then(|length| length.parse().ok()) {
        Some(length) => {
            bytes.resize(length, 0);
            reader.read_exact(&mut bytes)?;
        }
        None if is_answer => drop(reader.read_to_end(&mut bytes)?),
        None => {}
    }
    Ok(bytes)
}
