//! Compares the page with the simulation, and the simulation with sums where they give the same answer.

use super::{Lists, WAYS, Way, World, page, run};

const PAGE: &str = include_str!("../../REGISTRY.md");

#[test]
fn page_matches_the_simulation() {
    let page = page();
    if std::env::var_os("PRECAST_WRITE_PAGE").is_some() {
        fs_err::write(concat!(env!("CARGO_MANIFEST_DIR"), "/REGISTRY.md"), page).unwrap();
        return;
    }
    let differs = PAGE.lines().zip(page.lines()).find(|(page, now)| page != now);
    assert!(
        PAGE == page,
        "REGISTRY.md is of another simulation: run this with PRECAST_WRITE_PAGE=1; {differs:?}"
    );
}

/// Returns a world in which no client waits for another.
fn lonely() -> World {
    World { clients_a_minute: 60, ..World::default() }
}

#[test]
fn single_client_waits_for_latency_and_bytes() {
    let world = lonely();
    for way in WAYS {
        let steps = world.steps(way, false);
        let asked: u64 = steps.iter().flatten().sum();
        // A step with more requests than the limit takes overlapping rounds, so it costs between one trip and one
        // trip per round.
        let rounds: u64 = steps.iter().map(|step| (step.len() as u64).div_ceil(way.at_once.max(3))).sum();
        let bytes = asked as f64 * (1.0 / world.client_rate + 1.0 / world.server_rate);
        let least = steps.len() as f64 * world.round_trip + asked as f64 / world.client_rate;
        let most =
            rounds as f64 * world.round_trip + bytes + steps.iter().flatten().count() as f64 * world.service;
        let outcome = run(&world, way);
        assert!((least..=most + 1e-6).contains(&outcome.cold_median), "{way:?}: {least} {outcome:?} {most}");
    }
}

#[test]
fn requests_follow_the_steps() {
    let world = World { warm_percent: 100, ..World::default() };
    for way in WAYS {
        let each: u64 = world.steps(way, true).iter().map(|step| step.len() as u64).sum();
        let outcome = run(&world, way);
        let expected = (each * world.clients_a_minute) as f64 / 60.0;
        assert!((outcome.requests_a_second - expected).abs() < 1e-6, "{way:?}: {outcome:?}");
        assert!(outcome.workers_load < 1.0);
    }
}

#[test]
fn too_many_requests_are_queued() {
    let way = Way { name: "", lists: Lists::Shards, at_once: 16, knows: false };
    let slow = World { server_rate: 1e6, ..lonely() };
    assert!(run(&slow, way).line_load > 1.0);
    assert!(run(&slow, way).cold_slow > 10.0 * run(&lonely(), way).cold_slow);
}
