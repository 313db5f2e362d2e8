//! The page: assumptions, results and conclusions.

use std::fmt::Write as _;

use super::{Lists, Outcome, WAYS, World, run};

const MIB: f64 = 1_048_576.0;

/// Returns the page for the default world.
pub(crate) fn page() -> String {
    let world = World::default();
    let outcomes: Vec<Outcome> = WAYS.iter().map(|way| run(&world, *way)).collect();
    format!(
        "{}\n{}\n{}\n{}",
        include_str!("head.md").trim_end(),
        assumed(&world),
        table(&world, &outcomes),
        include_str!("follows.md")
    )
}

fn assumed(world: &World) -> String {
    let World { artifacts, clients_a_minute, warm_percent, modules, entries, .. } = world;
    let mut text = String::from("\n| assumption | value |\n|---|---|\n");
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | {value} |");
    };
    row("artifacts", format!("{artifacts}"));
    row(
        "clients per minute",
        format!("{clients_a_minute}, of which {warm_percent} % have every module (hit rate of their caches)"),
    );
    row("a client", format!("requests {entries} entries; a client that lacks modules lacks {modules}"));
    row(
        "record, signatures, documents",
        format!("{}, {}, {} bytes (measured)", world.record, world.signatures, world.documents),
    );
    row(
        "archive in a store; its code in a bundle",
        format!("{}; {} bytes (measured)", world.object, world.code),
    );
    row(
        "entry; pointers to a record; line of a list; variants",
        format!(
            "{} bytes; {}; {} bytes (measured); {} levels of a module",
            world.entry, world.pointers, world.line, world.variants
        ),
    );
    row("round trip", format!("{} ms", world.round_trip * 1e3));
    row(
        "server",
        format!(
            "{} responses at once, {} µs each, a link of {} Gbit/s",
            world.workers,
            world.service * 1e6,
            world.server_rate * 8e-9
        ),
    );
    row("link of a client", format!("{} Gbit/s", world.client_rate * 8e-9));
    row("simulated", format!("{} minutes, seed {}", world.minutes, world.seed));
    text
}

fn table(world: &World, outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "| method | lists | longest | requests/s | MiB/s | workers | link | bottleneck, at | cold: median, p99 | warm |\n|---|--:|--:|--:|--:|--:|--:|---|--:|--:|\n",
    );
    for (way, outcome) in WAYS.iter().zip(outcomes) {
        let (what, load) = first(outcome);
        let longest = match world.list(way.lists) {
            0 => "–".to_owned(),
            list if list < 1 << 20 => format!("{:.1} KiB", list as f64 / 1024.0),
            list => format!("{:.1} MiB", list as f64 / MIB),
        };
        let lists =
            if way.lists == Lists::Release { "–".to_owned() } else { world.lists(way.lists).to_string() };
        let _ = writeln!(
            text,
            "| {} | {lists} | {longest} | {:.0} | {:.0} | {:.0} % | {:.0} % | {what}, {} | {:.2} s, {:.2} s | {:.2} s |",
            way.name,
            outcome.requests_a_second,
            outcome.bytes_a_second / MIB,
            outcome.workers_load * 100.0,
            outcome.line_load * 100.0,
            times(load),
            outcome.cold_median,
            outcome.cold_slow,
            outcome.warm_median
        );
    }
    text
}

/// Returns the most loaded resource and its load.
fn first(outcome: &Outcome) -> (&'static str, f64) {
    if outcome.line_load > outcome.workers_load {
        ("the server's link", outcome.line_load)
    } else {
        ("the server's workers", outcome.workers_load)
    }
}

/// Returns the factor of more clients at which a resource saturates.
fn times(load: f64) -> String {
    format!("{:.2} × as many clients", 1.0 / load)
}
