//! The simulation: clients arrive and wait for the responses of their steps; the server has a number of workers and
//! one network line.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Way, World};

/// The results for the clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) requests_a_second: f64,
    pub(crate) bytes_a_second: f64,
    /// The loads of workers and line, as fractions of their capacity. Above 1 the queue of clients grows without
    /// bound.
    pub(crate) workers_load: f64,
    pub(crate) line_load: f64,
    /// The seconds until a client that lacks modules has them: the median and the 99th percentile.
    pub(crate) cold_median: f64,
    pub(crate) cold_slow: f64,
    pub(crate) warm_median: f64,
}

/// A client in progress.
struct Client {
    arrived: f64,
    is_warm: bool,
    steps: VecDeque<VecDeque<u64>>,
    /// The number of open requests.
    open: u64,
    /// The time until which its own line is busy.
    line: f64,
    ended: f64,
}

/// The arrival time of a request at the server in nanoseconds, its client, and the length of its response.
type Event = Reverse<(u64, usize, u64)>;

const SECOND: f64 = 1e9;

/// Simulates one way.
pub(crate) fn run(world: &World, way: Way) -> Outcome {
    let mut numbers = fastrand::Rng::with_seed(world.seed);
    let (count, seconds) = (world.clients_a_minute * world.minutes, 60.0 * world.minutes as f64);
    let mut clients: Vec<Client> = (0..count)
        .map(|_| {
            let arrived = numbers.u64(..(seconds * SECOND) as u64) as f64 / SECOND;
            let is_warm = numbers.u64(..100) < world.warm_percent;
            let steps = world.steps(way, is_warm).into_iter().map(VecDeque::from).collect();
            Client { arrived, is_warm, steps, open: 0, line: arrived, ended: arrived }
        })
        .collect();
    let mut events: BinaryHeap<Event> = BinaryHeap::new();
    for (at, client) in clients.iter_mut().enumerate() {
        ask(world, way, client, at, client.arrived, &mut events);
    }
    let mut workers = vec![0.0_f64; world.workers];
    let (mut line, mut requests, mut bytes) = (0.0_f64, 0_u64, 0_u64);
    while let Some(Reverse((now, at, length))) = events.pop() {
        let now = now as f64 / SECOND;
        workers.sort_by(f64::total_cmp);
        let made = workers[0].max(now) + world.service;
        workers[0] = made;
        line = line.max(made) + length as f64 / world.server_rate;
        (requests, bytes) = (requests + 1, bytes + length);
        let client = &mut clients[at];
        client.line = client.line.max(line + world.round_trip / 2.0) + length as f64 / world.client_rate;
        let came = client.line;
        client.open -= 1;
        client.ended = client.ended.max(came);
        ask(world, way, client, at, came, &mut events);
    }
    let ended = |is_warm: bool, part: usize| {
        let of = clients.iter().filter(|client| client.is_warm == is_warm);
        let mut all: Vec<f64> = of.map(|client| client.ended - client.arrived).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() * part / 100).copied().unwrap_or_default()
    };
    Outcome {
        requests_a_second: requests as f64 / seconds,
        bytes_a_second: bytes as f64 / seconds,
        workers_load: requests as f64 * world.service / (seconds * world.workers as f64),
        line_load: bytes as f64 / (seconds * world.server_rate),
        cold_median: ended(false, 50),
        cold_slow: ended(false, 99),
        warm_median: ended(true, 50),
    }
}

/// Sends the requests that may be sent: from the first unfinished step, up to the limit of open requests. The small
/// parts of one record always go together.
fn ask(world: &World, way: Way, client: &mut Client, at: usize, now: f64, events: &mut BinaryHeap<Event>) {
    while client.open == 0 && client.steps.front().is_some_and(VecDeque::is_empty) {
        client.steps.pop_front();
    }
    let at_once = way.at_once.max(3);
    let Some(step) = client.steps.front_mut() else { return };
    while client.open < at_once
        && let Some(length) = step.pop_front()
    {
        client.open += 1;
        events.push(Reverse((((now + world.round_trip / 2.0) * SECOND) as u64, at, length)));
    }
}
