//! A store directory on a web server, as a layer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use precast_core::cpu;
use precast_remote::{Options, Patience};
use precast_store::{Archive, Event, Layer, Record, Requires, Store};

use crate::sample::{self, entry, store};
use crate::server::Server;
use crate::signer::Signer;

pub(crate) const ISA: &str = "x86-64-v3";

/// A unit that this host can run.
pub(crate) fn unit(seed: &str, isa: &str) -> (Archive, Record) {
    let ((archive, mut record), host) = (sample::unit(seed, isa), cpu::host());
    record.requires = Requires {
        arch: host.arch.clone(),
        os: host.os.clone(),
        libc: None,
        libc_version: None,
        cpu: Vec::new(),
        needed: Vec::new(),
        undefined: Vec::new(),
        abi: host.abi,
    };
    (archive, record)
}

/// A signed store with an entry and its unit, on a web server.
pub(crate) struct Served {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) store: Store,
    pub(crate) server: Server,
    pub(crate) signer: Signer,
}

pub(crate) fn served() -> Served {
    let (directory, store, _) = store();
    let (archive, record) = unit("entry", ISA);
    store.publish(&archive, &record).unwrap();
    store.put_entry(&entry("score")).unwrap();
    let signer = Signer::new("alice");
    signer.sign_all(&store);
    store.write_index().unwrap();
    let server = Server::files(store.path().to_owned());
    Served { directory, store, server, signer }
}

/// Waits for nobody for long.
pub(crate) fn impatient() -> Patience {
    let ms = Duration::from_millis;
    Patience { connection: ms(500), silence: ms(250), answer: ms(500), tries: 3, pause: ms(5) }
}

pub(crate) type Heard = Arc<Mutex<Vec<Event>>>;

impl Served {
    /// A layer whose cache is this directory.
    pub(crate) fn layer(&self, cache: &str) -> (Layer, Heard) {
        let options = Options { cache: Some(self.directory.path().join(cache)), patience: impatient() };
        let layer = precast_remote::open(&self.server.url, self.signer.keyring(), &options).unwrap();
        let heard = Heard::default();
        let sink = Arc::clone(&heard);
        (layer.on_event(move |event| sink.lock().unwrap().push(event.clone())), heard)
    }
}

pub(crate) fn told(heard: &Heard) -> String {
    heard.lock().unwrap().iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn a_store_copied_to_a_web_root_is_a_layer() {
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
    assert!(told.contains("came from `http://127.0.0.1:"), "{told}");
    // The second process asks what the name means, and nothing else.
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
fn what_an_index_lacks_is_a_miss_and_what_it_makes_up_is_refused() {
    let served = served();
    let (_, wanted) = unit("entry", ISA);
    let (archive, other) = unit("other", ISA);
    // Published after the index was written.
    served.store.publish(&archive, &other).unwrap();
    let (layer, heard) = served.layer("cache");
    assert!(layer.find(&other.members[0].key).unwrap().is_empty());
    assert_eq!(told(&heard), "");
    // An index that says of one key what is true of another.
    let (key, name) = (wanted.members[0].key.to_string(), format!("{}-{}", other.action, other.id()));
    served.signer.sign_all(&served.store);
    let path = served.store.path().join("index/keys").join(&key[..2]);
    sample::overwrite(&path, format!("{key}/{name}\n{key}/nonsense\n../../etc/passwd\n").as_bytes());
    let (layer, heard) = served.layer("lied to");
    assert!(layer.find(&wanted.members[0].key).unwrap().is_empty());
    assert!(told(&heard).contains("it is not about what names it"), "{}", told(&heard));
}

#[test]
fn unsigned_and_wrongly_signed_mappings_are_refused_before_their_archives_come() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let stranger = Served { signer: Signer::new("mallory"), ..self::served() };
    stranger.store.write_index().unwrap();
    let (layer, heard) = stranger.layer("cache");
    assert!(layer.find(&record.members[0].key).unwrap().is_empty());
    assert!(layer.find_entry("score").unwrap().is_none());
    assert!(
        heard.lock().unwrap().iter().all(|event| matches!(event, Event::Unsigned { .. })),
        "{}",
        told(&heard)
    );
    assert!(told(&heard).contains("one is by a key that is not listed"), "{}", told(&heard));
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
    assert!(told(&heard).contains("that by `alice` is about other bytes"), "{}", told(&heard));
}

#[test]
fn a_task_of_another_runtime_may_ask() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let (layer, _) = served.layer("cache");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(async { layer.find(&record.members[0].key).map(|found| found.len()) });
    assert_eq!(found.unwrap(), 1);
}

#[test]
fn what_is_lost_or_damaged_here_comes_again() {
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
fn the_variant_that_this_host_cannot_run_explains_the_miss_and_does_not_come() {
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
fn credentials_are_sent_and_never_shown() {
    let sink = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sink);
    let server = Server::new(move |request| {
        let header = request.headers.iter().find(|(name, _)| name == "authorization");
        seen.lock().unwrap().push(header.map(|(_, value)| value.clone()).unwrap_or_default());
        (401, Vec::new(), b"who are you?".to_vec())
    });
    let url = server.url.replace("http://", "http://user:secret@");
    let directory = tempfile::tempdir().unwrap();
    let options = Options { cache: Some(directory.path().to_owned()), patience: impatient() };
    let layer = precast_remote::open(&url, Signer::new("a").keyring(), &options).unwrap();
    let heard = Heard::default();
    let events = Arc::clone(&heard);
    let layer = layer.on_event(move |event| events.lock().unwrap().push(event.clone()));
    assert!(layer.find_entry("score").unwrap().is_none());
    // base64 of `user:secret`
    assert_eq!(*sink.lock().unwrap(), ["Basic dXNlcjpzZWNyZXQ="]);
    let told = format!("{}{layer}", told(&heard));
    assert!(told.contains("denies access") && told.contains("hint: ") && !told.contains("secret"), "{told}");
}
