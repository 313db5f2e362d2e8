//! Exit codes: a table of commands and their exit codes, compared with the table of README.md.

use crate::release::{DOUBLE, SUM, built, files, tamper};
use crate::sandbox::{Ended, ISA, Sandbox, args};

/// Creates all files that the rows of the table use.
fn place() -> Sandbox {
    let place = built(&[SUM]);
    for name in ["k", "other"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
        let keyring = format!("{name}.keyring");
        place
            .run_bare(&[
                "trust",
                "new",
                "--keyring",
                &keyring,
                "--expires",
                "2999-01-01",
                &format!("{name}.pub"),
            ])
            .ok();
    }
    let keyring = fs_err::read_to_string(place.path("k.keyring")).unwrap();
    place.write("expired.keyring", keyring.replace("2999", "2020"));
    place.write("junk.keyring", keyring.replace("version=1", "version=one"));
    place.write("cut.keyring", keyring.trim_end());
    place.run_bare(&["export", "--out", "a.export", "--key", "k.key"]).ok();
    place.run_bare(&["sign", "--key", "k.key", "model.precast"]).ok();
    for name in ["long", "directory", "bytes", "unsigned", "cut"] {
        fs_err::copy(place.path("model.precast"), place.path(format!("{name}.precast"))).unwrap();
    }
    place.write("long.precast.minisig", "untrusted comment: \n".repeat(5000));
    fs_err::create_dir(place.path("directory.precast.minisig")).unwrap();
    place.write("bytes.precast.minisig", b"\xff\xfe");
    let bundle = fs_err::read(place.path("cut.precast")).unwrap();
    place.write("cut.precast", &bundle[..bundle.len() / 2]);
    place.write("extended.precast", [&bundle[..], b"\n"].concat());
    let export = fs_err::read(place.path("a.export")).unwrap();
    place.write("cut.export", &export[..export.len() / 2]);
    let flip = |bytes: &[u8]| {
        let mut bytes = bytes.to_owned();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    place.write("flipped.precast", flip(&bundle));
    place.write("flipped.export", flip(&export));
    fs_err::copy(place.path("model.precast"), place.path("open.precast")).unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs_err::set_permissions(place.path("open.precast"), everybody).unwrap();
    fs_err::copy(place.path("precast.toml"), place.path("locked.toml")).unwrap();
    for name in ["damaged", "damaged-too"] {
        place.run(&["build", "locked.toml", "--pin", "--store", name]).ok();
        for object in files(&place, &format!("{name}/objects")) {
            let bytes = flip(&fs_err::read(&object).unwrap());
            fs_err::remove_file(&object).unwrap();
            fs_err::write(&object, bytes).unwrap();
        }
    }
    tamper(&place, "artifacts", "forged");
    place.run(&["build", "--store", "lost"]).ok();
    files(&place, "lost/objects").iter().for_each(|object| fs_err::remove_file(object).unwrap());
    place.write("other.toml", format!("isa = [\"{ISA}\"]\n{DOUBLE}"));
    fs_err::create_dir(place.path("foreign")).unwrap();
    place.write("foreign/letter", "dear precast");
    place
}

const RUN: &[&str] = &["run", "--policy", "strict", "-i", "x=x.npy", "-i", "y=y.npy", "--entry"];

/// Returns the commands that find damage and exit with code 4.
fn finders_of_damage() -> Vec<Vec<&'static str>> {
    vec![
        vec!["verify", "--bundle", "cut.precast"],
        vec!["verify", "cut.export"],
        vec!["sbom", "flipped.precast"],
        vec!["sbom", "cut.precast"],
        vec!["sbom", "extended.precast"],
        vec!["challenge", "model.precast", "cut.precast"],
        vec!["challenge", "extended.precast", "model.precast"],
        #[cfg(feature = "remote")]
        vec!["push", "oci://127.0.0.1:1/x:1", "flipped.precast"],
        #[cfg(feature = "remote")]
        vec!["push", "oci://127.0.0.1:1/x:1", "flipped.export"],
        vec!["build", "locked.toml", "--locked", "--store", "damaged"],
        vec!["build", "locked.toml", "--frozen", "--store", "damaged-too"],
        vec!["verify", "--store", "lost"],
        vec!["doctor", "--verify", "--store", "lost"],
        vec!["challenge", "artifacts", "lost"],
        vec!["export", "--out", "lost.export", "--store", "lost"],
        vec!["sign", "--key", "k.key", "cut.precast"],
        vec!["sign", "--key", "k.key", "cut.export"],
    ]
}

#[test]
fn exit_codes_follow_one_table() {
    let place = place();
    let run =
        |entry: &'static str, layer: &'static str, name: &'static str| args(&[RUN, &[entry, layer, name]]);
    let trusting = |keyring: &'static str, layer: &'static str, name: &'static str| {
        args(&[RUN, &["sum", "--keyring", keyring, layer, name]])
    };
    let import = |file: &'static str, keyring: &'static str| {
        vec!["import", file, "--store", "offline", "--keyring", keyring]
    };
    let mut table: Vec<(i32, Vec<&str>)> = vec![
        (0, run("sum", "--bundle", "model.precast")),
        (0, run("sum", "--store", "artifacts")),
        (0, trusting("k.keyring", "--bundle", "model.precast")),
        (0, vec!["verify", "--bundle", "model.precast", "--keyring", "k.keyring"]),
        (0, import("a.export", "k.keyring")),
        (1, run("sum", "--bundle", "open.precast")),
        (1, vec!["verify", "--store", "nowhere"]),
        (1, vec!["build", "nowhere.toml"]),
        (1, vec!["build", "--locked"]),
        (1, vec!["build", "--frozen", "--store", "nowhere"]),
        (1, vec!["build", "--store", "foreign"]),
        (1, vec!["import", "a.export", "--unsigned", "--store", "foreign"]),
        (1, vec!["build", "--bundle", "k.key"]),
        (1, vec!["challenge", "artifacts", "offline-that-is-not"]),
        (1, vec!["gc", "--grace", "0", "other.toml"]),
        (1, vec!["sign", "--key", "k.key", "--store", "nowhere"]),
        (1, trusting("nowhere.keyring", "--bundle", "model.precast")),
        (1, trusting("junk.keyring", "--bundle", "model.precast")),
        (1, trusting("cut.keyring", "--bundle", "model.precast")),
        (1, vec!["verify", "--bundle", "model.precast", "--keyring", "junk.keyring"]),
        (1, vec!["trust", "show", "--keyring", "junk.keyring"]),
        (1, import("a.export", "junk.keyring")),
        (2, vec!["verify", "--unknown"]),
        (2, vec!["import", "a.export"]),
        (2, vec!["trust", "set", "--keyring", "k.keyring"]),
        (2, vec!["build", "--source", "https://example.org"]),
        (2, vec!["build", "--invocation", "1"]),
        (2, vec!["release", "create", "model=x"]),
        (2, vec!["release", "create", "a model"]),
        (2, vec!["release", "switch", "model"]),
        (2, vec!["release", "rollback", "model=1"]),
        (2, trusting("", "--bundle", "model.precast")),
        (3, run("nobody", "--bundle", "model.precast")),
        (3, vec!["check", "--entry", "nobody", "--store", "artifacts"]),
        (4, import("cut.export", "k.keyring")),
        (6, vec!["challenge", "artifacts", "forged"]),
        (6, vec!["verify", "--store", "forged", "--rebuild", "precast.toml"]),
        (7, trusting("other.keyring", "--bundle", "model.precast")),
        (7, trusting("expired.keyring", "--bundle", "model.precast")),
        (7, trusting("k.keyring", "--bundle", "unsigned.precast")),
        (7, trusting("k.keyring", "--bundle", "long.precast")),
        (7, trusting("k.keyring", "--bundle", "directory.precast")),
        (7, trusting("k.keyring", "--bundle", "bytes.precast")),
        (7, trusting("k.keyring", "--store", "artifacts")),
        (7, vec!["check", "--entry", "sum", "--store", "artifacts", "--keyring", "k.keyring"]),
        (7, vec!["verify", "--bundle", "long.precast", "--keyring", "k.keyring"]),
        (7, vec!["verify", "--bundle", "directory.precast", "--keyring", "k.keyring"]),
        (7, vec!["verify", "--store", "artifacts", "--keyring", "k.keyring"]),
        (7, vec!["verify", "--store", "artifacts", "--keyring", "expired.keyring"]),
        (7, vec!["trust", "show", "--keyring", "expired.keyring"]),
        (7, import("a.export", "other.keyring")),
    ];
    table.extend(finders_of_damage().into_iter().map(|command| (4, command)));
    let mut wrong = String::new();
    for (code, command) in &table {
        let ended = place.run(command);
        let says_why = ended.code == 0 || !ended.err.is_empty() || !ended.out.is_empty();
        if ended.code != *code || !says_why || ended.err.contains("panicked") {
            wrong += &format!("{command:?}: {}, expected {code}\n{}{}\n", ended.code, ended.out, ended.err);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // An empty variable does not disable signatures.
    let mut command = place.command(run("sum", "--bundle", "model.precast"));
    let ended = Ended::of(command.env("PRECAST_KEYRING", "").output().unwrap());
    ended.fails(1, &["the keyring name is empty", "hint: "]);
    let page = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for (code, _) in &table {
        assert!(page.contains(&format!("\n| {code} | ")), "README.md lists no exit code {code}");
    }
}
