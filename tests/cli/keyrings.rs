//! Creating keyrings: only from public keys, at least as many as must sign; no part of a secret is shown.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use crate::sandbox::{Ended, Sandbox, args};

#[test]
fn keyring_has_keys_and_a_threshold() {
    let place = Sandbox::new();
    let new = |rest: &[&str]| place.run_bare(&args(&[&["trust", "new", "--expires", "2999-01-01"], rest]));
    place.run_bare(&["keygen", "release.key", "--no-password"]).ok();
    place.write("password", "a word\n");
    place
        .run_bare(&["keygen", "sealed.key", "--password-file", "password"])
        .fails(1, &["is readable by other users"]);
    fs_err::set_permissions(place.path("password"), Permissions::from_mode(0o600)).unwrap();
    place.run_bare(&["keygen", "sealed.key", "--password-file", "password"]).ok();
    // No part of a secret is shown, whatever file it is mistaken for and however it is truncated.
    let quiet = |ended: Ended, secret: &str| {
        let all = format!("{}{}", ended.out, ended.err);
        for line in secret.lines() {
            let pieces = (0..line.len().saturating_sub(8)).step_by(8).map(|at| &line[at..at + 8]);
            pieces
                .filter(|piece| !piece.contains(' '))
                .for_each(|piece| assert!(!all.contains(piece), "{all}"));
        }
    };
    for name in ["release", "sealed"] {
        let text = fs_err::read_to_string(place.path(format!("{name}.key"))).unwrap();
        let named = [format!("`{name}.key` is a secret key"), format!("use the public key `{name}.pub`")];
        let refused = new(&[&format!("{name}.key")]).fails(1, &[&named[0], &named[1]]);
        quiet(refused, &text);
        let line = text.lines().nth(1).unwrap();
        for (cut, said) in [(line, "is a secret key"), (&line[..100], "found 100"), (&line[4..], "found 208")]
        {
            place.write("cut.key", cut);
            quiet(new(&["cut.key"]).fails(1, &[said]), line);
            // The secret as a keyring, or as a line of a keyring.
            for wrong in [format!("{cut}=\n"), format!("key={cut} name\n")] {
                place.write("wrong.keyring", wrong);
                quiet(
                    place.run_bare(&["trust", "show", "--keyring", "wrong.keyring"]).fails(1, &["line 1"]),
                    line,
                );
            }
        }
    }
    fs_err::rename(place.path("release.pub"), place.path("away.pub")).unwrap();
    new(&["release.key"]).fails(1, &["hint: name the public key: the other file"]);
    let refused = new(&["--threshold", "2", "away.pub"]).fails(
        1,
        &[
            "error: invalid threshold 2 for 1 usable key: no content could ever have",
            "hint: add keys, or lower the threshold",
        ],
    );
    assert_eq!(refused.hints(), 1, "{}", refused.err);
    new(&["--threshold", "0", "away.pub"]).fails(1, &["invalid threshold 0 for 1 usable key"]);
    assert!(!place.path("precast.keyring").exists());
    new(&["--threshold", "2", "away.pub", "sealed.pub"]).ok();
}

#[test]
fn repeated_signature_keeps_its_place() {
    let place = Sandbox::new();
    place.write("message", "bytes");
    for name in ["alice", "bob", "mallory"] {
        place.run_bare(&["keygen", &format!("{name}.key"), "--no-password"]).ok();
    }
    let sign = |name: &str| {
        place.run_bare(&["sign", "message", "--key", &format!("{name}.key")]).ok();
        let text = fs_err::read_to_string(place.path("message.minisig")).unwrap();
        let by = text.lines().filter_map(|line| line.strip_prefix("untrusted comment: signature by "));
        (by.map(str::to_owned).collect::<Vec<_>>(), text)
    };
    sign("alice");
    sign("bob");
    // The program `minisign` reads the first signature only, which stays that of the first signer.
    assert_eq!(sign("alice").0, ["alice", "bob"]);
    assert_eq!(sign("bob").0, ["alice", "bob"]);
    // Signatures of other keys cannot push out a new one.
    fs_err::remove_file(place.path("message.minisig")).unwrap();
    let junk = sign("mallory").1.repeat(64);
    place.write("message.minisig", junk);
    let (by, _) = sign("alice");
    assert!(by.len() <= 64 && by.last().is_some_and(|name| name == "alice"), "{by:?}");
}
