//! A web server on the loopback for the test of the site: its files, and one result that the browser posts.

use anyhow::{Context as _, Result};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Serves the files of `site`, and `pages` beside them; returns the port and the results that are posted.
pub(super) fn start(site: PathBuf, pages: Vec<(&'static str, String)>) -> Result<(u16, Receiver<String>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let (sender, results) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (site, pages, sender) = (site.clone(), pages.clone(), sender.clone());
            // A browser may close a connection at any time.
            std::thread::spawn(move || answer(stream, &site, &pages, &sender));
        }
    });
    Ok((port, results))
}

/// Answers one request.
fn answer(
    mut stream: TcpStream,
    site: &Path,
    pages: &[(&str, String)],
    results: &Sender<String>,
) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut lines = Vec::new();
    for line in reader.by_ref().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let request = lines.first().context("an empty request")?;
    let path = request.split(' ').nth(1).context("a request without a path")?;
    let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
    if request.starts_with("POST ") {
        let length = |line: &String| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
        let mut body = vec![0; lines.iter().find_map(length).context("a body without a length")?];
        reader.read_exact(&mut body)?;
        results.send(String::from_utf8(body)?)?;
        return respond(&mut stream, "200 OK", "text/plain", b"");
    }
    if let Some((_, text)) = pages.iter().find(|(name, _)| *name == path) {
        return respond(&mut stream, "200 OK", kind(path), text.as_bytes());
    }
    let file = site.join(if path.is_empty() { "index.html" } else { path });
    match fs_err::read(&file) {
        Ok(bytes) => respond(&mut stream, "200 OK", kind(path), &bytes),
        Err(_) => respond(&mut stream, "404 Not Found", "text/plain", b""),
    }
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n")?;
    // All pages share styles and scripts.
    write!(stream, "Cache-Control: max-age=3600\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)?;
    Ok(())
}

/// Returns the media type of a file.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "text/html; charset=utf-8",
    }
}
