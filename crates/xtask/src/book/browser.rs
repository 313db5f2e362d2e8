//! Opens the built site in Chromium, as a reader with a phone does.
//!
//! `browser.html` loads each page in a frame of 400 pixels, once per colour scheme, and posts a line for each problem:
//! a dead link, a page that scrolls sideways, text with little contrast, a search without the right result.

use super::server;
use crate::tools::answers;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use walkdir::WalkDir;

/// The page that opens all others.
const PAGE: &str = include_str!("browser.html");

/// The names of the program.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The colour schemes, as Blink numbers them.
const SCHEMES: [(&str, &str); 2] = [("dark", "0"), ("light", "1")];

/// The longest time for all pages.
const LIMIT: Duration = Duration::from_secs(600);

/// Tests the site in a folder; returns `true` if it has no problem, or if there is no browser.
pub(super) fn test(site: &Path) -> Result<bool> {
    let Some(chromium) = NAMES.into_iter().find(|name| answers(Command::new(name).arg("--version"))) else {
        println!("skipped: the site in a browser: no `chromium`");
        println!("hint: on Debian, as root: `apt-get install chromium`");
        return Ok(true);
    };
    let pages = pages(site)?;
    if pages.len() < 80 {
        bail!("only {} pages in `{}`", pages.len(), site.display());
    }
    let mut fine = true;
    for (scheme, number) in SCHEMES {
        let problems = problems(chromium, site, &pages, scheme, number)?;
        println!("{scheme}: {} pages, {} problems", pages.len(), problems.len());
        for problem in &problems {
            println!("error: {scheme}: {problem}");
        }
        fine &= problems.is_empty();
    }
    Ok(fine)
}

/// Returns the paths of all pages, except those of the API and of mdBook's own use.
fn pages(site: &Path) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for entry in WalkDir::new(site).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path().strip_prefix(site)?.to_string_lossy().into_owned();
        let is_apart =
            path.starts_with("api/") || ["404.html", "print.html", "toc.html"].contains(&path.as_str());
        if path.ends_with(".html") && !is_apart {
            pages.push(path);
        }
    }
    Ok(pages)
}

/// Opens all pages under one colour scheme; returns the problems.
fn problems(
    chromium: &str,
    site: &Path,
    pages: &[String],
    scheme: &str,
    number: &str,
) -> Result<Vec<String>> {
    let list = format!("const SCHEME = \"{scheme}\", PAGES = {pages:?};");
    let own = vec![("test.html", PAGE.to_owned()), ("test.js", list)];
    let (port, results) = server::start(site.to_path_buf(), own)?;
    let profile = site.with_file_name(format!("chromium-{scheme}"));
    let mut command = Command::new(chromium);
    // The sandbox of the browser needs a user other than root; all pages are our own.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1000,900"]);
    command.arg(format!("--blink-settings=preferredColorScheme={number}"));
    command.arg("--remote-debugging-port=0").arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("http://127.0.0.1:{port}/test.html"));
    let mut browser = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let result = results.recv_timeout(LIMIT);
    browser.kill()?;
    browser.wait()?;
    match result {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(_) => bail!("the browser did not finish within {} s", LIMIT.as_secs()),
    }
}
