//! The process that runs the peers, and its protocol: one line of JSON per request and per response.

use super::{Environment, Input};
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A case that a peer is ready to run.
#[derive(Debug, Deserialize)]
pub(super) struct Prepared {
    pub(super) id: usize,
    /// The shape of the result.
    pub(super) shape: Vec<usize>,
    /// Some elements of the result.
    #[serde(deserialize_with = "numbers")]
    pub(super) probe: Vec<f64>,
    /// The largest error of the function in ulp, if it is known.
    #[serde(default)]
    pub(super) ulp: Option<f64>,
    /// The bytes of the compiled code, if they are known.
    #[serde(default)]
    pub(super) code_bytes: Option<u64>,
}

/// Reads numbers that are written as text, because JSON has neither NaN nor infinities.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

/// The peer process; it exits when its standard input closes.
pub(super) struct Process {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    pub(super) fn start(environment: &Environment, threads: usize) -> Result<Self> {
        let mut command = environment.script_on("peers.py", threads);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("a child without an output")?);
        Ok(Self { child, requests, answers })
    }

    /// Returns the versions of all packages, by name.
    pub(super) fn versions(&mut self) -> Result<BTreeMap<String, String>> {
        Ok(serde_json::from_value(self.ask(&json!({"versions": 1}))?)?)
    }

    /// Prepares a peer for a case: compiles it and calls it once. The inner error is the reason why the peer cannot
    /// run it.
    pub(super) fn prepare(
        &mut self,
        peer: &str,
        case: &str,
        inputs: &[Input],
    ) -> Result<Result<Prepared, String>> {
        let answer = self.ask(&json!({"prepare": peer, "case": case, "inputs": inputs}))?;
        if let Some(why) = answer.get("skip") {
            return Ok(Err(why.as_str().unwrap_or("no reason given").to_owned()));
        }
        Ok(Ok(serde_json::from_value(answer)?))
    }

    /// Returns the nanoseconds of one call.
    pub(super) fn time(&mut self, id: usize) -> Result<f64> {
        let answer = self.ask(&json!({"time": id}))?;
        answer.get("ns").and_then(Value::as_f64).with_context(|| format!("no time but {answer}"))
    }

    /// Drops a prepared case and its arrays.
    pub(super) fn forget(&mut self, id: usize) -> Result<()> {
        self.ask(&json!({"forget": id})).map(drop)
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        let requests = self.requests.as_mut().context("a child without an input")?;
        writeln!(requests, "{request}").context("the peers' process does not read")?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            bail!("the peers' process has ended: {}", self.child.wait()?);
        }
        serde_json::from_str(&answer).with_context(|| format!("the peers' process says {answer:?}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.requests.take());
        // The process exits by itself. An error of the wait cannot be handled here.
        let _ = self.child.wait();
    }
}
