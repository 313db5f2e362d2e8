//! Pinned archives: which archives a build accepts, and what it leaves behind when it is refused.

use std::path::PathBuf;

use crate::release::{DOUBLE, SUM, built, files, tamper};
use crate::sandbox::{Ended, ISA};

#[test]
fn build_uses_only_pinned_archives() {
    let place = built(&[SUM]);
    place.run(&["build", "--pin"]).ok();
    let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    assert!(text.contains("pin = ["), "{text}");
    place.run(&["build", "--locked"]).ok();
    // A pin of another compiler, with another action; then the same action with another result.
    let at = text.find("action = \"").unwrap() + 10;
    let mut other = text.clone();
    other.replace_range(at..at + 4, "0000");
    place.write("precast.lock", &other);
    place
        .run(&["build", "--locked"])
        .fails(1, &["do not match the pins in `precast.lock`", "its action changed"]);
    let at = text.find("digest = \"").unwrap() + 10;
    let mut other = text.clone();
    other.replace_range(at..at + 4, "0000");
    place.write("precast.lock", &other);
    place.run(&["build", "--locked"]).fails(1, &["pinned archive `0000"]);
    // Without `--locked` pins are not enforced.
    place.run(&["build"]).ok();
    // Pins of another target stay when this one is pinned again, in whatever order. Pins of this target are replaced.
    let pin = text.lines().find(|line| line.contains("action = \"")).unwrap();
    let strange = edited(&edited(pin, "target", "aarch64-unknown-linux-musl"), "action", &"0".repeat(64));
    let stale = edited(pin, "digest", &"1".repeat(64));
    place.write("precast.lock", text.replace(pin, &format!("{stale}\n{strange}")));
    place.run(&["build", "--pin"]).ok();
    let pinned = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let lines = |text: &str, part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(
        (lines(&pinned, "aarch64-unknown-linux-musl"), lines(&pinned, "action = \"")),
        (1, 2),
        "{pinned}"
    );
    assert!(pinned.contains(pin), "{pinned}");
    place.run(&["build", "--locked"]).ok();
    // A collector keeps the contents and pins of a lock file.
    place.write("precast.lock", &text);
    place.run_bare(&["gc", "--grace", "0", "precast.lock"]).ok();
    place.run(&["build", "--frozen"]).ok();
    // Of two results of the pinned action, the build uses the pinned one.
    tamper(&place, "artifacts", "artifacts");
    place.run(&["build", "--locked"]).ok();
    place.run(&["build", "--frozen"]).ok();
    fs_err::remove_dir_all(place.path("artifacts/objects")).unwrap();
    place.run(&["build", "--frozen"]).fails(1, &["compiling is not allowed"]);
}

/// Returns the lock file with another value in the first pin.
fn edited(text: &str, field: &str, to: &str) -> String {
    let at = text.find(&format!("{field} = \"")).unwrap() + field.len() + 4;
    let end = at + text[at..].find('"').unwrap();
    let mut other = text.to_owned();
    other.replace_range(at..end, to);
    other
}

#[test]
fn rejected_lock_file_publishes_nothing() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--pin"]).ok();
    let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let mut digest = text.clone();
    let at = text.rfind("digest = \"").unwrap() + 10;
    digest.replace_range(at..at + 4, "0000");
    let action = edited(&text, "action", &"0".repeat(64));
    for (what, lock) in [("digest", &digest), ("action", &action)] {
        place.write("precast.lock", lock);
        place.run(&["build", "--locked", "--store", what]).fails(1, &["do not match the pins"]);
        let left: Vec<PathBuf> = if place.path(what).exists() { files(&place, what) } else { Vec::new() };
        assert!(left.iter().all(|path| path.ends_with("STORE")), "{left:?}");
    }
    assert!(!place.path("action").exists(), "what an action says is refused before anything is made");
    // A store that has some of the archives gets no further ones.
    place.write("one.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    place.run(&["build", "one.toml", "--store", "digest"]).ok();
    let before = files(&place, "digest");
    place.write("precast.lock", &digest);
    place.run(&["build", "--locked", "--store", "digest"]).fails(1, &["do not match the pins"]);
    assert_eq!(files(&place, "digest"), before);
    place.write("precast.lock", &text);
    place.run(&["build", "--locked", "--store", "digest"]).ok();
}

#[test]
fn weakened_pins_are_rejected_or_reported() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--pin"]).ok();
    let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let pins: Vec<&str> = text.lines().filter(|line| line.contains("action = ")).collect();
    assert_eq!(pins.len(), 2);
    let refused = |lock: &str, said: &str| {
        place.write("precast.lock", lock);
        for how in ["--locked", "--frozen"] {
            place.run(&["build", how]).fails(1, &[said]);
        }
    };
    place.write("precast.lock", text.replace(&format!("{}\n", pins[0]), ""));
    place.run(&["build", "--locked"]).fails(1, &["or its pin was removed"]);
    place.run(&["build", "--frozen"]).fails(1, &["not pinned"]);
    refused(&edited(&text, "isa", "x86-64-v4"), "its pin is for");
    refused(&edited(&text, "target", "other-unknown-linux-gnu"), "its pin is for");
    // The toolchain and unit of a pin must be correct, or the pin is invalid, even without a compiler.
    for (field, said) in
        [("toolchain", "its pin has another compiler"), ("unit", "its pin has other modules")]
    {
        let other = edited(&text, field, &"0".repeat(64));
        refused(&other, said);
        place.run_bare(&["build", "--frozen"]).fails(1, &[said]);
        place.run_bare(&["verify", "precast.lock", "--store", "artifacts"]).fails(4, &[]);
        place.write("precast.lock", text.replace(&format!(", {field} = \""), ", gone = \""));
        place.run_bare(&["build", "--frozen"]).fails(1, &["cannot read `precast.lock`"]);
    }
    refused(&text.replace(pins[0], &format!("{0}\n{0}", pins[0])), "duplicate pin");
    let at = pins[0].find("digest = \"").unwrap() + 10;
    let other = pins[0].replace(&pins[0][at..at + 64], &"0".repeat(64));
    refused(&text.replace(pins[0], &format!("{}\n{other}", pins[0])), "duplicate pin");
    let module = text.lines().find(|line| line.contains("signature = ")).unwrap();
    refused(&text.replace(module, &format!("{module}\n{module}")), "duplicate module");
    // An ISA level that the release does not have.
    place.write("precast.lock", &text);
    if cfg!(target_arch = "x86_64") {
        place
            .run(&["build", "--locked", "--isa", "x86-64-v3"])
            .fails(1, &["nothing is pinned for this ISA level"]);
    }
    // Another compiler, for a target that no longer has pins: this cannot be rejected, only reported.
    let mut strangers = text.clone();
    for at in text.match_indices("action = \"").map(|(at, found)| at + found.len()) {
        strangers.replace_range(at..at + 4, "0000");
    }
    let other = strangers.replace(&precast_compile::host_target(), "other-unknown-linux-gnu");
    place.write("precast.lock", other);
    let told = place.run(&["build", "--locked"]).ok();
    assert!(told.err.contains("other-unknown-linux-gnu"), "{}", told.err);
}

#[test]
fn pins_of_unchanged_modules_stay() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--pin"]).ok();
    let read = || fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let pins = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("action = ")).map(str::to_owned).collect()
    };
    let before = pins(&read());
    // Pins of another target stay too, if their modules stay.
    let strange =
        |pin: &String| edited(&edited(pin, "target", "other-unknown-linux-gnu"), "action", &"0".repeat(64));
    let both = read().replace(&before[0], &format!("{}\n{}", before[0], strange(&before[0])));
    place.write("precast.lock", both);
    place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{}{DOUBLE}", SUM.replace("x + y", "x - y")));
    let updated = place.run_bare(&["update", "--dry-run", "--json"]).ok().json();
    let dropped = updated["pins_dropped"].as_u64().unwrap();
    assert!((1..=2).contains(&dropped), "{updated}");
    assert_eq!(updated["pins"], 3 - dropped);
    place.run_bare(&["update"]).ok();
    let after = pins(&read());
    assert_eq!(after.len() as u64, 3 - dropped);
    assert!(after.iter().any(|pin| before.contains(pin)), "{after:?}");
    // A new module has no pin yet, so a locked release rejects it.
    place.run(&["build", "--locked"]).fails(1, &["do not match the pins"]);
    place.run(&["build", "--pin"]).ok();
    let now = pins(&read());
    assert!(after.iter().all(|pin| now.contains(pin)), "{after:?}, now {now:?}");
    place.run(&["build", "--locked"]).ok();
}

#[test]
fn pinned_artifacts_need_no_release_compiler() {
    let place = built(&[SUM, DOUBLE]);
    place.run_bare(&["update"]).ok();
    let frozen = ["build", "--frozen", "--json"];
    place.run_bare(&frozen).fails(1, &["compiler", "hint: pin the archives with `precast build --pin`"]);
    place.run(&["build", "--pin"]).ok();
    let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
    let taken = place.run_bare(&frozen).ok().json();
    assert_eq!((&taken["hits"], &taken["compiler"]), (&2.into(), &serde_json::Value::Null));
    let bundled = [&frozen[..], &["--bundle", "a.precast"]].concat();
    let told = ["cannot bundle 2 units", "compiler of the release", "hint: use the store as a layer"];
    place.run_bare(&bundled).fails(1, &told);
    assert!(!place.path("a.precast").exists());
    let pins: Vec<&str> = text.lines().filter(|line| line.contains("action = ")).collect();
    for (lock, said) in [
        (text.replace(&format!("{}\n", pins[0]), ""), "not pinned"),
        (edited(&text, "digest", &"0".repeat(64)), "`, the lock file pins `0000"),
        (edited(&text, "action", &"0".repeat(64)), "compiling is not allowed"),
        (edited(&text, "isa", "another"), "not pinned"),
    ] {
        place.write("precast.lock", lock);
        place.run_bare(&frozen).fails(1, &[said, "hint: "]);
    }
    place.write("precast.lock", edited(&text, "digest", &"0".repeat(64)));
    place.run(&frozen).fails(1, &["the store has `", "`, the lock file pins `0000"]);
    place.write("precast.lock", &text);
    let told = place.run_bare(&[&frozen[..], &["--builder", "https://builder.test"]].concat()).ok();
    assert_eq!(told.warnings(), 1, "{}", told.err);
    // Another compiler, or a missing one, makes no difference.
    let native = precast_compile::Toolchain::find(None).unwrap();
    place.write("other-cc", format!("#!/bin/sh\nexec {} \"$@\"\n", native.driver().display()));
    let script = place.path("other-cc");
    fs_err::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for compiler in [script, place.path("none")] {
        let with = |how: &[&str]| Ended::of(place.command(how).env("CC", &compiler).output().unwrap());
        let taken = with(&frozen).ok().json();
        assert_eq!((&taken["hits"], &taken["compiler"]), (&2.into(), &serde_json::Value::Null));
        with(&["build", "--locked"]).fails(1, &[]);
    }
    // The build compares the result of the compiler, not the pin's line about its toolchain.
    assert_ne!(place.run(&frozen).ok().json()["compiler"], serde_json::Value::Null);
    place.run(&["build", "--locked"]).ok();
    // The archive of one ISA level cannot replace that of another level.
    if cfg!(target_arch = "x86_64") {
        let (one, other) = ("x86-64-v2", "x86-64-v3");
        let levels = format!("{one},{other}");
        place.run(&["build", "--pin", "--isa", &levels]).ok();
        let frozen = ["build", "--frozen", "--isa", &levels];
        place.run_bare(&frozen).ok();
        let text = fs_err::read_to_string(place.path("precast.lock")).unwrap();
        let swapped = text.replace(one, "LEVEL").replace(other, one).replace("LEVEL", other);
        place.write("precast.lock", swapped);
        place.run_bare(&frozen).fails(1, &["compiling is not allowed"]);
    }
}

#[test]
fn bundle_without_packs_needs_no_compiler() {
    let place = built(&[SUM]);
    place.run(&["build", "--pin", "--bundle", "release.precast"]).ok();
    place.run_bare(&["build", "--frozen", "--bundle", "again.precast"]).ok();
    let [release, again] =
        ["release.precast", "again.precast"].map(|name| fs_err::read(place.path(name)).unwrap());
    assert_eq!(again, release);
}

#[test]
fn store_is_compared_with_a_release() {
    let place = built(&[SUM, DOUBLE]);
    place.run(&["build", "--pin"]).ok();
    let verify = |how: &[&str]| place.run_bare(&[&["verify"], how].concat());
    let lock = &["--lock", "precast.lock"][..];
    let same = verify(&[lock, &["--json"]].concat()).ok().json();
    assert_eq!(same["locked"]["same"], 6, "{same:#}");
    // A store with one of the two graphs: intact, but without all locked or declared modules.
    place.write("one.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    place.run(&["build", "one.toml", "--store", "one"]).ok();
    let one = |how: &[&str]| verify(&[how, &["--store", "one"]].concat());
    one(&[]).ok();
    let json = [lock, &["--json"]].concat();
    let told = one(&json).fails(4, &[]).json();
    let lacking = told["locked"]["lacking"].as_array().unwrap();
    let lacks = |part: &str| lacking.iter().any(|item| item.as_str().unwrap().contains(part));
    let expected = ["graph `double` of `precast.lock` is missing", "module `mul(", "archive `"];
    assert!(expected.into_iter().all(lacks), "{told:#}");
    // Another graph under the same name.
    place.write("one.toml", format!("isa = [\"{ISA}\"]\n{}", SUM.replace("x + y", "x - y")));
    place.run(&["build", "one.toml", "--store", "one"]).ok();
    let told = one(&json).fails(4, &[]).json();
    assert!(told["locked"].to_string().contains("graph `sum` differs from `precast.lock`"), "{told:#}");
    // Comparing nothing is not a success.
    place.write("empty.lock", "version = 1\n");
    verify(&["--lock", "empty.lock"]).fails(1, &["nothing was compared"]);
    let missing = verify(&["--lock", "nolock"]).fails(1, &["lock file `nolock` not found"]);
    assert_eq!(missing.hints(), 1, "{}", missing.err);
    // A lock file is also recognised without `--lock`.
    assert_eq!(verify(&["precast.lock"]).ok().out, verify(lock).out);
}
