//! Certificates and credentials.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use precast_remote::reapi::{Access, AccessError, Credentials, Farm, RemoteCache};
use precast_testkit::compiler::toolchain;
use precast_testkit::farm::{Authority, Certified, Faults, Server};

use super::{build, local, patience, small};

/// Writes a file and returns its path.
fn file(directory: &Path, name: &str, content: &str) -> PathBuf {
    let path = directory.join(name);
    fs_err::write(&path, content).unwrap();
    path
}

fn identity(directory: &Path, own: &Certified) -> Option<(PathBuf, PathBuf)> {
    Some((file(directory, "own.pem", &own.certificate), file(directory, "own.key", &own.key)))
}

/// Builds on a farm and with a cache; returns the errors of both.
fn said(server: &Server, access: &Access) -> Result<(), [String; 2]> {
    let plan = small();
    let farm = Farm::new(server.url.parse().unwrap(), access, patience(), Vec::new()).unwrap();
    let built = build(&plan, None, None, &toolchain().running_on(std::sync::Arc::new(farm)));
    let cache = RemoteCache::new(server.url.parse().unwrap(), access, patience(), None).unwrap();
    let with_cache = build(&plan, None, Some(&cache), &toolchain()).unwrap();
    assert_eq!(with_cache.artifacts, local(&plan).artifacts);
    match built {
        Ok(built) => {
            assert_eq!(built.artifacts, with_cache.artifacts);
            assert!(cache.report().warnings.is_empty(), "{:?}", cache.report());
            assert_eq!(cache.report().given, plan.units.len() as u64);
            Ok(())
        }
        Err(error) => {
            let warnings: Vec<String> = cache.report().warnings.into_keys().collect();
            Err([error.to_string(), warnings.join("\n")])
        }
    }
}

#[test]
fn encrypted_server_needs_a_valid_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (authority, other) = (Authority::new(), Authority::new());
    let server = Server::encrypted(&authority.certify("localhost"), None);
    let named = |name: &str, authority: &Authority| Access {
        authorities: Some(file(directory.path(), name, &authority.certificate)),
        ..Access::default()
    };
    let known = || named("ca.pem", &authority);
    assert_eq!(said(&server, &known()), Ok(()));
    let calls = server.state().calls.clone();
    let certified = |own| Server::encrypted(&own, None);
    let (renamed, expired) = (authority.certify("example.org"), authority.certify_in_the_past("localhost"));
    for (server, access, told) in [
        (&server, named("other.pem", &other), "unknown issuer"),
        // The system does not know a test's authority.
        (&server, Access::default(), "unknown issuer"),
        (&certified(renamed), known(), "does not match the host"),
        (&certified(expired), known(), "has expired"),
    ] {
        let start = Instant::now();
        for said in said(server, &access).unwrap_err() {
            assert!(
                said.contains("cannot establish an encrypted connection") && said.contains(told),
                "{told}: {said}"
            );
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    assert_eq!(server.state().calls, calls, "somebody was asked who is not believed");
}

#[test]
fn client_certificate_is_sent_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let server = Server::encrypted(&authority.certify("localhost"), Some(&authority));
    let authorities = Some(file(directory.path(), "ca.pem", &authority.certificate));
    let own = identity(directory.path(), &authority.certify("builder"));
    let access = Access { authorities: authorities.clone(), identity: own, credentials: None };
    assert_eq!(said(&server, &access), Ok(()));
    for said in said(&server, &Access { authorities, ..Access::default() }).unwrap_err() {
        // The server's refusal may arrive before the connection is closed, or not.
        assert!(
            said.contains("requires a client certificate")
                && said.contains("`--remote-certificate FILE --remote-key FILE`"),
            "{said}"
        );
    }
}

#[test]
fn tls_mismatch_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let (authority, mut plain) = (Authority::new(), Server::start());
    plain.url = plain.url.replace("grpc://", "grpcs://");
    let authorities = Some(file(directory.path(), "ca.pem", &authority.certificate));
    for said in said(&plain, &Access { authorities, ..Access::default() }).unwrap_err() {
        assert!(said.contains("does not support TLS\nhint: use `grpc://`"), "{said}");
    }
    let mut encrypted = Server::encrypted(&authority.certify("localhost"), None);
    encrypted.url = encrypted.url.replace("grpcs://", "grpc://");
    for said in said(&encrypted, &Access::default()).unwrap_err() {
        assert!(said.contains(&encrypted.url), "{said}");
    }
}

#[test]
fn token_authenticates_and_wrong_token_fails_early() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let server = Server::encrypted(&authority.certify("localhost"), None);
    server.faults(Faults { token: Some("right".to_owned()), ..Faults::default() });
    let with = |token: Option<&str>| Access {
        authorities: Some(file(directory.path(), "ca.pem", &authority.certificate)),
        credentials: token.map(|token| Credentials::Token(token.to_owned())),
        ..Access::default()
    };
    assert_eq!(said(&server, &with(Some("right"))), Ok(()));
    for token in [None, Some("wrong")] {
        let calls = server.state().calls.clone();
        for said in said(&server, &with(token)).unwrap_err() {
            assert!(said.contains("not authenticated (`nobody is known by that token`)"), "{said}");
            assert!(!said.contains("wrong"), "{said}");
        }
        assert_eq!(server.state().calls, calls);
    }
}

#[cfg(unix)]
#[test]
fn helper_runs_again_after_early_expiry() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let server = Server::encrypted(&authority.certify("localhost"), None);
    let token = file(directory.path(), "token", "");
    let script = "#!/bin/sh\necho '{\"headers\": {\"Authorization\": [\"Bearer '$(cat DIR/token)'\"]}}'\n";
    let script = script.replace("DIR", directory.path().to_str().unwrap());
    let helper = file(directory.path(), "helper", &script);
    fs_err::set_permissions(&helper, PermissionsExt::from_mode(0o700)).unwrap();
    let access = Access {
        authorities: Some(file(directory.path(), "ca.pem", &authority.certificate)),
        credentials: Some(Credentials::Helper(helper)),
        ..Access::default()
    };
    let plan = small();
    let place = || server.url.parse().unwrap();
    let farm = std::sync::Arc::new(Farm::new(place(), &access, patience(), Vec::new()).unwrap());
    let cache = RemoteCache::new(place(), &access, patience(), None).unwrap();
    for now in ["first", "second"] {
        fs_err::write(&token, now).unwrap();
        server.faults(Faults { token: Some(now.to_owned()), ..Faults::default() });
        let toolchain = toolchain().running_on(std::sync::Arc::<Farm>::clone(&farm));
        build(&plan, None, None, &toolchain).unwrap();
        build(&plan, None, Some(&cache), &toolchain).unwrap();
        assert!(cache.report().warnings.is_empty(), "{now}: {:?}", cache.report());
    }
    fs_err::write(&token, "nobody's").unwrap();
    server.faults(Faults { token: Some("third".to_owned()), ..Faults::default() });
    let error = build(&plan, None, None, &toolchain().running_on(farm)).unwrap_err().to_string();
    assert!(error.contains("not authenticated") && !error.contains("nobody's"), "{error}");
    assert!(error.contains("hint: set a token in `PRECAST_REMOTE_TOKEN`"), "{error}");
}

#[cfg(unix)]
#[test]
fn resumed_stream_authenticates_again() {
    use std::os::unix::fs::PermissionsExt;
    // Counts the calls of a helper whose responses expire at once, while `leave` streams end before their operations.
    let asked = |leave: u32| {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("count");
        let answer = r#"{"headers": {"Authorization": ["Bearer right"]}, "expires": "2001-01-01T00:00:00Z"}"#;
        let script = format!("#!/bin/sh\necho >> {}\necho '{answer}'\n", count.display());
        let helper = file(directory.path(), "helper", &script);
        fs_err::set_permissions(&helper, PermissionsExt::from_mode(0o700)).unwrap();
        let server = Server::start();
        server.faults(Faults { leave, token: Some("right".to_owned()), ..Faults::default() });
        let access = Access { credentials: Some(Credentials::Helper(helper)), ..Access::default() };
        let farm = Farm::new(server.url.parse().unwrap(), &access, patience(), Vec::new()).unwrap();
        build(&small(), None, None, &toolchain().running_on(std::sync::Arc::new(farm))).unwrap();
        let waits = server.state().calls.get("wait").copied().unwrap_or_default();
        assert_eq!(waits, leave);
        fs_err::read_to_string(count).unwrap().lines().count()
    };
    assert_eq!(asked(2), asked(0) + 2);
}

#[test]
fn invalid_certificate_files_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let (one, other) = (authority.certify("a"), authority.certify("b"));
    let ca = file(directory.path(), "ca.pem", &authority.certificate);
    let empty = file(directory.path(), "empty.pem", "no certificate");
    let (certificate, key) = identity(directory.path(), &one).unwrap();
    let foreign = file(directory.path(), "other.key", &other.key);
    let refused = |authorities: &Path, identity: Option<(&Path, &Path)>| {
        let access = Access {
            authorities: Some(authorities.to_owned()),
            identity: identity.map(|(certificate, key)| (certificate.to_owned(), key.to_owned())),
            credentials: None,
        };
        Farm::new("grpcs://localhost:1".parse().unwrap(), &access, patience(), Vec::new()).err().unwrap()
    };
    let missing = directory.path().join("missing");
    assert!(
        matches!(refused(&missing, None), AccessError::Read(error) if error.to_string().contains("missing"))
    );
    assert!(matches!(refused(&empty, None), AccessError::Pem { path, .. } if path == empty));
    assert!(matches!(refused(&ca, Some((&key, &key))), AccessError::Pem { path, .. } if path == key));
    assert!(matches!(refused(&ca, Some((&certificate, &ca))), AccessError::Pem { path, .. } if path == ca));
    let error = refused(&ca, Some((&certificate, &foreign))).to_string();
    assert!(error.contains("cannot prepare an encrypted connection to `grpcs://localhost:1`"), "{error}");
}
