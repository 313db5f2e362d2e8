//! Times in comparison with `curl`, which sends the same requests to the same server. `cargo xtask remotes
//! --figures` prints them; no time fails a test.

use std::process::{Command, Stdio};
use std::time::Instant;

use precast_remote::oci::{Kind, Registry};
use precast_remote::{Files, Options, Patience};
use precast_store::{Layer, Record};
use precast_testkit::servers::Server;

use crate::http::{CodeOrigin, ISA, served};
use crate::oci::bundle;
use crate::signer::Signer;

const ROUNDS: usize = 15;

/// The number of artifacts to push and fetch.
const MANY: usize = 1000;

/// Returns the seconds that `work` takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// Prints the medians of both sides, measured in turn.
fn compare(what: &str, mut ours: impl FnMut(usize), mut theirs: impl FnMut()) {
    let (mut mine, mut its) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (a, b) = (seconds(|| ours(round)), seconds(&mut theirs));
        if round > 0 {
            mine.push(a);
            its.push(b);
        }
    }
    let median = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2] * 1e3
    };
    let (mine, its) = (median(&mut mine), median(&mut its));
    eprintln!("figure: {what}: {mine:.2} ms, curl {its:.2} ms, {:.2} ×", mine / its);
}

/// Fetches all URLs with one `curl` process.
fn curl(urls: &[String]) {
    let mut command = Command::new("curl");
    command.args(["--silent", "--fail-early", "--parallel"]).args(urls).stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn is_wanted() -> bool {
    let is_wanted = std::env::var_os("PRECAST_TEST_FIGURES").is_some();
    if !is_wanted {
        eprintln!("skipped: figures: `cargo xtask remotes --figures` asks for them");
    }
    is_wanted
}

/// Returns a unit whose shared object has 200 KiB of nearly incompressible data.
fn large(seed: usize) -> (precast_store::Archive, Record) {
    let (mut archive, mut record) = crate::http::unit(&format!("large {seed}"), ISA);
    let mut state = seed as u64;
    let noise = (0..200 << 10).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    archive.members.insert("unit.so".to_owned(), noise.collect());
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    (archive, record)
}

/// Finds a record in a layer with an empty cache, and loads it.
fn hit(served: &CodeOrigin, url: &str, record: &Record, cache: usize) {
    let cache = served.directory.path().join(format!("figures {cache} {}", url.len()));
    let options = Options { cache: Some(cache.clone()), ..Options::default() };
    let layer = precast_remote::open(url, served.signer.keyring(), &options).unwrap();
    let found = layer.find(&record.members[0].key).unwrap();
    assert!(layer.load(&found[0]).unwrap().is_ok());
    fs_err::remove_dir_all(cache).unwrap();
}

#[test]
fn hit_is_measured_against_curl() {
    if !is_wanted() {
        return;
    }
    let served = served();
    let (archive, record) = large(1);
    served.store.publish(&archive, &record).unwrap();
    served.signer.sign_all(&served.store);
    served.store.write_index().unwrap();
    let server = Server::files(served.store.path().to_owned());
    hit(&served, &server.url, &record, 0);
    let asked: Vec<String> = server
        .asked()
        .iter()
        .filter_map(|asked| Some(format!("{}{}", server.url, asked.strip_prefix("GET ")?)))
        .collect();
    let object: Vec<String> = asked.iter().filter(|url| url.contains("/objects/")).cloned().collect();
    let ours = |round| hit(&served, &server.url, &record, round + 1);
    compare("a hit of 200 KiB on a web server, the same files", ours, || curl(&asked));
    compare("a hit of 200 KiB on a web server, its archive alone", ours, || curl(&object));
    if let (Ok(address), Ok(bucket)) =
        (std::env::var("PRECAST_TEST_S3"), std::env::var("PRECAST_TEST_BUCKET"))
    {
        let url = format!("s3://{bucket}/hit");
        let sink = Files::open(&url.parse().unwrap(), Patience::default()).unwrap();
        served.store.push(&sink, None).unwrap();
        // A bucket needs a separate request for a list.
        let key = record.members[0].key.to_string();
        let prefix = format!("hit/keys/{}/{key}/", &key[..2]);
        let mut same = vec![format!("http://{address}/{bucket}?list-type=2&prefix={prefix}")];
        let paths = asked
            .iter()
            .filter_map(|asked| asked.strip_prefix(&server.url))
            .filter(|path| !path.contains("/index/"));
        same.extend(paths.map(|path| format!("http://{address}/{bucket}/hit{path}")));
        compare(
            "a hit of 200 KiB in a bucket, the same requests",
            |round| hit(&served, &url, &record, round + 100),
            || curl(&same),
        );
    }
    if let Ok(address) = std::env::var("PRECAST_TEST_REGISTRY") {
        let (bytes, signer) = (bundle(), Signer::new("alice"));
        let url = format!("oci://{address}/me/figures:latest");
        let open = || Registry::open(&url.parse().unwrap(), Patience::default()).unwrap();
        let signatures = vec![precast_remote::oci::Attached::Signatures(signer.sign(&bytes))];
        open().push(Kind::Bundle, "model.precast", bytes, signatures).unwrap();
        let proxy = Server::before(&address);
        let place = proxy.url.replace("http://", "oci://");
        Registry::open(
            &url.replace(&format!("oci://{address}"), &place).parse().unwrap(),
            Patience::default(),
        )
        .unwrap()
        .pull()
        .unwrap();
        let asked: Vec<String> = proxy
            .asked()
            .iter()
            .filter_map(|asked| Some(format!("http://{address}{}", asked.strip_prefix("GET ")?)))
            .collect();
        compare(
            "a release from a registry, the same requests",
            |_| drop(open().pull().unwrap()),
            || curl(&asked),
        );
    }
}

#[test]
fn bucket_hit_compared_with_curl() {
    if !is_wanted() {
        return;
    }
    let served = served();
    let units: Vec<_> = (0..MANY).map(|seed| crate::http::unit(&format!("many {seed}"), ISA)).collect();
    let items: Vec<_> = units.iter().map(|(archive, record)| (archive, record)).collect();
    served.store.publish_all(&items).unwrap();
    served.signer.sign_all(&served.store);
    served.store.write_index().unwrap();
    let keys: Vec<_> = units.iter().map(|(_, record)| record.members[0].key).collect();
    let pull = |url: &str, cache: &str| {
        let options = Options { cache: Some(served.directory.path().join(cache)), ..Options::default() };
        let layer: Layer = precast_remote::open(url, served.signer.keyring(), &options).unwrap();
        let took = seconds(|| layer.prefetch(&keys).unwrap());
        assert!(keys.iter().all(|key| layer.find(key).unwrap().len() == 1));
        took
    };
    let server = Server::files(served.store.path().to_owned());
    eprintln!(
        "figure: {MANY} artifacts from a web server: {:.2} s",
        pull(&server.url, "all of a web server")
    );
    let asked = server.asked();
    let urls: Vec<String> = asked
        .iter()
        .filter_map(|asked| Some(format!("{}{}", server.url, asked.strip_prefix("GET ")?)))
        .collect();
    let took = seconds(|| curl(&urls));
    eprintln!("figure: the same {} files by one curl, 50 at once: {took:.2} s", urls.len());
    let Ok(bucket) = std::env::var("PRECAST_TEST_BUCKET") else { return };
    let url = format!("s3://{bucket}/figures");
    let files = || Files::open(&url.parse().unwrap(), Patience::default()).unwrap();
    let took = seconds(|| {
        served.store.push(&files(), None).unwrap();
    });
    eprintln!("figure: {MANY} artifacts into a bucket: {took:.2} s");
    eprintln!("figure: {MANY} artifacts from a bucket: {:.2} s", pull(&url, "all of a bucket"));
}
