//! `precast release`: records releases of a store, and serves one of them.

use precast_store::{DeployError, Deployed, Release, Store};
use serde_json::json;

use crate::args::{LayerArgs, ReleaseAction, ReleaseArgs};
use crate::error::{Exit, Failure};
use crate::{events, layers, secrets, term};

/// Runs the command.
pub(super) fn run(args: ReleaseArgs) -> Result<Exit, Failure> {
    let path = layers::to_build(args.store);
    let keyring = layers::open_keyring(&LayerArgs { keyring: args.keyring, ..LayerArgs::default() })?;
    let store = Store::open(&path)?.on_event(events::hear);
    let store = match keyring {
        Some(keyring) => store.trusting(keyring),
        None => store,
    };
    match args.action {
        ReleaseAction::Create { name: (name, number), entry, switch } => {
            secrets::check("name of the release", &name)?;
            let release = match switch {
                true => store.serve_release(&name, number, &entry),
                false => store.record_release(&name, number, &entry),
            }
            .map_err(refused)?;
            told(args.json, if switch { "serving" } else { "recorded" }, &release)
        }
        ReleaseAction::Switch { release } => {
            store.switch(&release).map_err(refused)?;
            warn_expired(&store, &release)?;
            told(args.json, "serving", &release)
        }
        ReleaseAction::Rollback { name } => {
            let release = store.rollback(&name).map_err(refused)?;
            warn_expired(&store, &release)?;
            told(args.json, "serving", &release)
        }
        ReleaseAction::List => list(&store, args.json),
    }
}

/// Returns the failure for a release that cannot be recorded or served.
pub(super) fn refused(error: DeployError) -> Failure {
    let exit = match &error {
        DeployError::Incomplete { .. } => Exit::Damaged,
        DeployError::Unsigned { .. } | DeployError::UnsignedEntry { .. } => Exit::Unsigned,
        _ => return error.into(),
    };
    Failure::from(error).exiting(exit)
}

/// Warns if programs with a keyring will not use a release, because its signatures have expired. With a keyring, such a
/// release is not served.
fn warn_expired(store: &Store, release: &Release) -> Result<(), Failure> {
    if let Some((name, day)) = store.expired(release).map_err(refused)? {
        term::warning(&format!(
            "the signatures of {name} in release `{release}` expired on {day}: programs with a keyring will not use it"
        ));
    }
    Ok(())
}

fn told(is_json: bool, what: &str, release: &Release) -> Result<Exit, Failure> {
    match is_json {
        true => term::print_json(&json!({"name": release.name, "number": release.number, "state": what}))?,
        false => term::print(&format!("{what} `{release}`\n"))?,
    }
    Ok(Exit::Ok)
}

fn list(store: &Store, is_json: bool) -> Result<Exit, Failure> {
    let all = store.deployed()?;
    if is_json {
        let releases = all.iter().map(|deployed| {
            let Deployed { name, numbers, current, before } = deployed;
            let rollback = deployed.rollback();
            json!({"name": name, "numbers": numbers, "current": current, "before": before, "rollback": rollback})
        });
        term::print_json(
            &json!({"store": store.path().to_string_lossy(), "releases": releases.collect::<Vec<_>>()}),
        )?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for deployed in all {
        let (current, before) = (deployed.current, deployed.rollback());
        let Deployed { name, numbers, .. } = deployed;
        let lost = current.filter(|current| !numbers.contains(current));
        for number in numbers {
            let served = match Some(number) {
                number if number == current => "  served",
                number if number == before => "  next rollback",
                _ => "",
            };
            text.push_str(&format!("{name}={number}{served}\n"));
        }
        if let Some(lost) = lost {
            text.push_str(&format!("{name}={lost}  served, missing\n"));
        }
    }
    term::print(if text.is_empty() { "no releases\n" } else { &text })?;
    Ok(Exit::Ok)
}
