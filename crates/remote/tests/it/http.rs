//! A store directory on a web server, as a layer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use precast_remote::{Options, Patience};
use precast_store::{Archive, Event, Layer, Record, Store};
use precast_testkit::servers::{Fault, Server};

use crate::between;
use crate::sample::{self, entry, store};
use crate::signer::Signer;

pub(crate) const ISA: &str = "x86-64-v3";

/// Returns a unit that this host can run.
pub(crate) fn unit(seed: &str, isa: &str) -> (Archive, Record) {
    let (archive, mut record) = sample::unit(seed, isa);
    record.requires = sample::host_requires();
    (archive, record)
}

/// A signed store with an entry and its unit, on a web server.
pub(crate) struct CodeOrigin {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) server: Server,
    pub(crate) signer: Signer,
}

pub(crate) fn served() -> CodeOrigin {
    let (directory, store, _) = store();
    let (archive, record) = unit("entry", ISA);
    store.publish(&archive, &record).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let signer = Signer::new("alice");
    signer.sign_all(&store);
    store.write_index().unwrap();
    let server = Server::files(store.path().to_owned());
    CodeOrigin { directory, store, server, signer }
}

/// Returns short time limits.
pub(crate) fn impatient() -> Patience {
    let ms = Duration::from_millis;
    Patience { connection: ms(500), silence: ms(250), answer: ms(500), tries: 3, pause: ms(5) }
}

pub(crate) type EventLog = Arc<Mutex<Vec<Event>>>;

impl CodeOrigin {
    /// Returns a layer with its cache in a subdirectory.
    pub(crate) fn layer(&self, cache: &str) -> (Layer, EventLog) {
        self.layer_at(&self.server.url, cache)
    }

    /// Does the same as [`Self::layer`] for a copy of the store at another URL.
    pub(crate) fn layer_at(&self, url: &str, cache: &str) -> (Layer, EventLog) {
        let options = Options {
            cache: Some(self.directory.path().join(cache)),
            patience: impatient(),
            ..Options::default()
        };
        hearing(precast_remote::open(url, self.signer.keyring(), &options).unwrap())
    }
}

/// Returns a layer that records its events.
pub(crate) fn hearing(layer: Layer) -> (Layer, EventLog) {
    let heard = EventLog::default();
    let sink = Arc::clone(&heard);
    (layer.on_event(move |event| sink.lock().unwrap().push(event.clone())), heard)
}

pub(crate) fn told(heard: &EventLog) -> String {
    heard.lock().unwrap().iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn copied_store_is_a_layer() {
    let served = served();
    let (archive, record) = unit("entry", ISA);
    let (layer, heard) = served.layer("cache");
    assert_eq!(layer.find_entry("score").unwrap(), Some(entry("score")));
    assert_eq!(layer.entries().unwrap(), [entry("score")]);
    assert_eq!(
        layer.find_fingerprint(&record.members[0].fingerprints[0]).unwrap(),
        Some(record.members[0].key)
    );
    let found = layer.find(&record.members[1].key).unwrap();
    assert_eq!((found.len(), found[0].digest), (1, record.digest));
    assert!(layer.holds(&found[0]).unwrap());
    assert_eq!(layer.load(&found[0]).unwrap().unwrap(), archive.get("unit.so").unwrap());
    let told = told(&heard);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("from `http://127.0.0.1:"), "{told}");
    // The second process only requests the meaning of the name.
    served.server.asked();
    let (again, heard) = served.layer("cache");
    assert!(
        again.find_entry("score").unwrap().is_some()
            && !again.find(&record.members[0].key).unwrap().is_empty()
    );
    let asked = served.server.asked();
    assert!(asked.iter().all(|path| !path.contains("/objects/") && !path.contains("/index/")), "{asked:?}");
    assert_eq!(self::told(&heard), "");
    assert!(again.store().unwrap().verify().unwrap().is_intact());
}

#[test]
fn unlisted_is_a_miss_and_invented_is_rejected() {
    let served = served();
    let (_, wanted) = unit("entry", ISA);
    let (archive, other) = unit("other", ISA);
    // Published after the index was written.
    served.store.publish(&archive, &other).unwrap();
    let (layer, heard) = served.layer("cache");
    assert!(layer.find(&other.members[0].key).unwrap().is_empty());
    assert_eq!(told(&heard), "");
    // An index with a record of one key listed under another key.
    let (key, name) = (wanted.members[0].key.to_string(), format!("{}-{}", other.action, other.id()));
    served.signer.sign_all(&served.store);
    let path = served.store.path().join("index/keys").join(&key[..2]);
    sample::overwrite(&path, format!("{key}/{name}\n{key}/nonsense\n../../etc/passwd\n").as_bytes());
    let (layer, heard) = served.layer("lied to");
    assert!(layer.find(&wanted.members[0].key).unwrap().is_empty());
    assert!(told(&heard).contains("does not match the name that refers to it"), "{}", told(&heard));
}

#[test]
fn long_list_is_paged() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let (archive, other) = unit("other", ISA);
    served.store.publish(&archive, &other).unwrap();
    served.signer.sign_all(&served.store);
    between::fill(&served.store, &record, 1000);
    served.store.write_index().unwrap();
    served.server.asked();
    let (layer, heard) = served.layer("cache");
    assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1);
    assert!(!told(&heard).contains("damaged"), "{}", told(&heard));
    let (asked, key) = (served.server.asked(), record.members[0].key.to_string());
    let lists: Vec<&str> = asked.iter().filter_map(|asked| asked.strip_prefix("GET /index/")).collect();
    assert_eq!(lists, [format!("keys/{}", &key[..2]), format!("pages/keys/{}/{}", &key[..2], &key[2..3])]);
    // A missing page is reported, and the other requested keys still arrive.
    let page = served.store.path().join("index/pages/keys").join(&key[..2]).join(&key[2..3]);
    fs_err::rename(&page, served.directory.path().join("page")).unwrap();
    let (lost, heard) = served.layer("lost");
    lost.prefetch(&[record.members[0].key, other.members[0].key]).unwrap();
    assert!(lost.find(&record.members[0].key).unwrap().is_empty());
    assert_eq!(lost.find(&other.members[0].key).unwrap().len(), 1);
    assert!(told(&heard).contains("the list names a missing page"), "{}", told(&heard));
    fs_err::rename(served.directory.path().join("page"), &page).unwrap();
    // A list that is short again becomes a single file; its pages are removed with the next index after some minutes.
    for entry in fs_err::read_dir(served.store.path().join("keys").join(&key[..2])).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with(&key) {
            fs_err::remove_dir_all(path).unwrap();
        }
    }
    served.store.write_index().unwrap();
    let pages = served.store.path().join("index/pages");
    let is_file = |found: &walkdir::DirEntry| found.file_type().is_file();
    let count = || walkdir::WalkDir::new(&pages).into_iter().flatten().filter(is_file).count();
    assert!(page.exists());
    for shard in fs_err::read_dir(served.store.path().join("index/keys")).unwrap() {
        let list = fs_err::File::open(shard.unwrap().path()).unwrap();
        list.file().set_modified(std::time::SystemTime::now() - Duration::from_secs(600)).unwrap();
    }
    served.store.write_index().unwrap();
    assert_eq!(count(), 0);
    let (layer, _) = served.layer("another");
    assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1);
}

#[test]
fn concurrent_requests_fetch_each_archive_once() {
    let served = served();
    let mut keys = Vec::new();
    for seed in 0..40 {
        let (archive, record) = unit(&seed.to_string(), ISA);
        served.store.publish(&archive, &record).unwrap();
        keys.extend(record.members.iter().map(|member| member.key));
    }
    served.signer.sign_all(&served.store);
    served.store.write_index().unwrap();
    served.server.asked();
    let (layer, heard) = served.layer("cache");
    layer.prefetch(&keys).unwrap();
    let asked = served.server.asked();
    assert_eq!(asked.iter().filter(|path| path.contains("/objects/")).count(), 40);
    assert_eq!(told(&heard).matches("fetched ").count(), 40);
    for key in &keys {
        assert_eq!(layer.find(key).unwrap().len(), 1);
    }
    assert_eq!(served.server.asked(), Vec::<String>::new());
    // A corrupt object is reported, and the rest arrives.
    let (_, first) = unit("0", ISA);
    let object = format!("/objects/{}", &first.digest.to_string()[..2]);
    served.server.fault(&format!("{object}/{}", first.digest), Fault::Wrong, usize::MAX);
    let (layer, heard) = served.layer("another");
    layer.prefetch(&keys).unwrap();
    assert_eq!(told(&heard).matches("fetched ").count(), 39, "{}", told(&heard));
    assert!(told(&heard).contains("is damaged and was skipped"));
    assert!(layer.find(&first.members[0].key).unwrap().is_empty());
}

#[test]
fn entry_rollback_is_reported() {
    let served = served();
    let first = entry("score");
    let mut second = first.clone();
    second.recipe = "precast golden, later".to_owned();
    let means = |entry: &precast_store::Entry| {
        served.store.put_entry(entry).unwrap();
        served.signer.sign_all(&served.store);
        let (layer, heard) = served.layer("cache");
        assert_eq!(layer.find_entry("score").unwrap().as_ref(), Some(entry));
        told(&heard)
    };
    assert_eq!(means(&first), "");
    assert_eq!(means(&second), "");
    let told = means(&first);
    assert!(
        told.contains("entry `score`")
            && told.contains("went back to an earlier version")
            && told.contains("hint: "),
        "{told}"
    );
}

#[test]
fn unsigned_mappings_are_rejected_before_archives() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let stranger = CodeOrigin { signer: Signer::new("mallory"), ..self::served() };
    stranger.store.write_index().unwrap();
    let (layer, heard) = stranger.layer("cache");
    assert!(layer.find(&record.members[0].key).unwrap().is_empty());
    assert!(layer.find_entry("score").unwrap().is_none());
    assert!(
        heard.lock().unwrap().iter().all(|event| matches!(event, Event::Unsigned { .. })),
        "{}",
        told(&heard)
    );
    assert!(told(&heard).contains("one is by an unlisted key"), "{}", told(&heard));
    assert!(stranger.server.asked().iter().all(|path| !path.contains("/objects/")));
    assert_eq!(layer.store().unwrap().records().count(), 0);
    // The signatures of another record.
    let (archive, other) = unit("other", ISA);
    served.store.publish(&archive, &other).unwrap();
    served.signer.sign_all(&served.store);
    let path = |record: &Record| {
        let action = record.action.to_string();
        served
            .store
            .path()
            .join("records")
            .join(&action[..2])
            .join(format!("{action}-{}.minisig", record.id()))
    };
    let signatures = fs_err::read(path(&other)).unwrap();
    sample::overwrite(&path(&record), &signatures);
    let (layer, heard) = served.layer("cache");
    assert!(layer.find(&record.members[0].key).unwrap().is_empty());
    assert!(told(&heard).contains("the signature by `alice` is for other bytes"), "{}", told(&heard));
}

#[test]
fn blocking_calls_work_inside_another_runtime() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let (layer, _) = served.layer("cache");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(async { layer.find(&record.members[0].key).map(|found| found.len()) });
    assert_eq!(found.unwrap(), 1);
}

#[test]
fn lost_local_files_are_fetched_again() {
    let served = served();
    let (archive, record) = unit("entry", ISA);
    let (layer, _) = served.layer("cache");
    let found = layer.find(&record.members[0].key).unwrap();
    let object = sample::file(layer.store().unwrap(), "objects", ".tar.zst");
    sample::overwrite(&object, b"garbage");
    assert_eq!(layer.load(&found[0]).unwrap().unwrap(), archive.get("unit.so").unwrap());
    fs_err::remove_file(&object).unwrap();
    let (again, _) = served.layer("cache");
    assert_eq!(again.find(&record.members[0].key).unwrap().len(), 1);
    assert!(again.holds(&found[0]).unwrap());
}

#[test]
fn unsupported_variant_explains_the_miss() {
    let served = served();
    let (archive, mut record) = unit("far", ISA);
    record.requires.cpu = vec!["a-feature-of-2040".into()];
    served.store.publish(&archive, &record).unwrap();
    served.signer.sign_all(&served.store);
    served.store.write_index().unwrap();
    let (layer, _) = served.layer("cache");
    assert!(layer.find(&record.members[0].key).unwrap().is_empty());
    let unfit = layer.inadmissible(&record.members[0].key);
    assert_eq!((unfit.len(), unfit[0].0.as_str()), (1, ISA));
    assert!(served.server.asked().iter().all(|path| !path.contains("/objects/")));
}

#[test]
fn credentials_are_sent_but_never_shown() {
    let sink = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sink);
    let server = Server::new(move |request| {
        let header = request.headers.iter().find(|(name, _)| name == "authorization");
        seen.lock().unwrap().push(header.map(|(_, value)| value.clone()).unwrap_or_default());
        (401, Vec::new(), b"who are you?".to_vec())
    });
    let url = server.url.replace("http://", "http://user:secret@");
    let directory = tempfile::tempdir().unwrap();
    let options =
        Options { cache: Some(directory.path().to_owned()), patience: impatient(), ..Options::default() };
    let layer = precast_remote::open(&url, Signer::new("a").keyring(), &options).unwrap();
    let (layer, heard) = hearing(layer);
    assert!(layer.find_entry("score").unwrap().is_none());
    // base64 of `user:secret`
    assert_eq!(*sink.lock().unwrap(), ["Basic dXNlcjpzZWNyZXQ="]);
    let told = format!("{}{layer}", told(&heard));
    assert!(told.contains("was denied") && told.contains("hint: ") && !told.contains("secret"), "{told}");
}

#[test]
fn password_is_not_sent_in_plaintext() {
    let open = |url: &str| precast_remote::Files::open(&url.parse().unwrap(), impatient());
    for exposed in ["http://u:p@example.com/a", "http://u:p@localhost.example:80", "http://u:p@10.0.0.1"] {
        let refused = open(exposed);
        assert!(matches!(refused, Err(precast_remote::OpenRemoteError::Exposed { .. })), "{exposed}");
    }
    for fine in
        ["http://example.com/a", "https://u:p@example.com", "http://u:p@localhost:80", "http://u:p@[::1]:8/a"]
    {
        assert!(open(fine).is_ok(), "{fine}");
    }
}

#[test]
fn redirect_to_another_origin_drops_the_password() {
    use precast_store::remote::{Item, Source as _};
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let target = Server::new(move |request| {
        let names = request.headers.iter().map(|(name, _)| name.clone());
        sink.lock().unwrap().extend(names);
        (200, Vec::new(), b"x".to_vec())
    });
    let location = format!("{}/STORE", target.url);
    let (asked, first) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(location)));
    let (sink, answered) = (Arc::clone(&asked), Arc::clone(&first));
    let front = Server::new(move |request| {
        sink.lock().unwrap().extend(request.headers.iter().map(|(name, _)| name.clone()));
        (302, vec![("location".to_owned(), answered.lock().unwrap().clone())], Vec::new())
    });
    let url = front.url.replace("http://", "http://user:secret@");
    let files = precast_remote::Files::open(&url.parse().unwrap(), impatient()).unwrap();
    assert_eq!(files.get(&Item::Store, 9).unwrap().as_deref(), Some(&b"x"[..]));
    assert!(asked.lock().unwrap().contains(&"authorization".to_owned()));
    assert!(!seen.lock().unwrap().contains(&"authorization".to_owned()), "{seen:?}");
    // A redirect to itself ends.
    *first.lock().unwrap() = format!("{}/STORE", front.url);
    assert!(files.get(&Item::Store, 9).is_err());
}

/// A process in which no thread can be started: the stack that each would get is larger than the address space.
#[test]
fn unreachable_layer_is_reported_without_threads() {
    const CHILD: &str = "PRECAST_REMOTE_TEST_NO_THREAD";
    let Ok(url) = std::env::var(CHILD) else {
        let served = served();
        for url in [&served.server.url, "oci://127.0.0.1:1/release:v1"] {
            let name = "http::unreachable_layer_is_reported_without_threads";
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", name, "--test-threads=1"]).env(CHILD, url);
            // For the child alone: this process has its threads.
            child.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
            assert!(child.status().unwrap().success(), "{url}");
        }
        return;
    };
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());
    let directory = tempfile::tempdir().unwrap();
    let options =
        Options { cache: Some(directory.path().to_owned()), patience: impatient(), ..Options::default() };
    match precast_remote::open(&url, Signer::new("alice").keyring(), &options) {
        Err(error) => assert!(!url.starts_with("http:"), "{error}"),
        Ok(layer) => {
            let (layer, heard) = hearing(layer);
            assert!(layer.find_entry("score").is_ok_and(|found| found.is_none()));
            let told = heard.lock().unwrap();
            assert!(matches!(told[..], [Event::Unreachable { .. }]), "{told:?}");
        }
    }
}
