//! Deploys quickstart's graphs from remotes to an otherwise empty machine: strict policy, no compiler. The results
//! are compared with values computed by NumPy (`crates/quickstart/model/expected.toml`).

use std::process::Command;

use precast_testkit::farm;
use precast_testkit::servers::{Registry, Server};
use toml::{Table, Value};

use crate::sandbox::{Ended, ISA, Sandbox, args, assert_close};

const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../quickstart");

/// A machine that built and signed quickstart's graphs: the store `artifacts` and the bundle `quickstart.precast`.
pub(crate) struct Quickstart {
    pub(crate) place: Sandbox,
    expected: Table,
}

fn table(path: &str) -> Table {
    fs_err::read_to_string(format!("{QUICKSTART}/{path}")).unwrap().parse().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|number| number as f64));
    value.as_array().map_or_else(
        || number(value).into_iter().collect(),
        |all| all.iter().map(|value| number(value).unwrap()).collect(),
    )
}

impl Quickstart {
    pub(crate) fn released() -> Self {
        let place = Sandbox::new();
        let manifest = format!("{QUICKSTART}/precast.toml");
        place.run(&["build", &manifest, "--isa", ISA, "--bundle", "quickstart.precast"]).ok();
        Self::in_a(place).signed()
    }

    /// Signs the store and the bundle.
    fn signed(self) -> Self {
        let place = &self.place;
        place.run_bare(&["keygen", "alice.key", "--no-password"]).ok();
        place.run_bare(&["trust", "new", "--threshold", "1", "--expires", "2999-01-01", "alice.pub"]).ok();
        place.run_bare(&["sign", "--key", "alice.key", "--store", "artifacts", "quickstart.precast"]).ok();
        place.run_bare(&["index"]).ok();
        self
    }

    /// Writes the inputs of the graphs to a directory.
    fn in_a(place: Sandbox) -> Self {
        // As the program reads them: the first of every `held_out_every` rows was held out.
        let model = table("model/model.toml");
        let text = fs_err::read_to_string(format!("{QUICKSTART}/model/winequality-red.csv")).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with(['#', '"']));
        let every = model["held_out_every"].as_integer().unwrap() as usize;
        let rows: Vec<Vec<f64>> = rows
            .step_by(every)
            .map(|row| row.split(',').map(|number| number.parse().unwrap()).collect())
            .collect();
        let (count, columns) = (rows.len(), rows[0].len() - 1);
        let good = model["good_from_grade"].as_integer().unwrap() as f64;
        let truth: Vec<f64> = rows.iter().map(|row| f64::from(u8::from(row[columns] >= good))).collect();
        place.npy("x.npy", &[count, columns], rows.iter().flat_map(|row| row[..columns].to_vec()).collect());
        for name in ["mean", "scale", "weights"] {
            place.npy(format!("{name}.npy"), &[columns], numbers(&model[name]));
        }
        place.npy("bias.npy", &[], numbers(&model["bias"]));
        place.npy("y.npy", &[count], truth.clone());
        place.npy("column.npy", &[count, 1], truth.clone());
        place.npy("row.npy", &[1, count], truth);
        Self { place, expected: table("model/expected.toml") }
    }

    /// Runs an entry from the given layers, on an otherwise empty machine with this cache directory.
    fn run(&self, layers: &[&str], cache: &str, entry: &str, inputs: &[&str]) -> serde_json::Value {
        let run = ["run", "--entry", entry, "--policy", "strict", "--json"];
        let mut command: Command = self.place.command(args(&[&run, layers, inputs]));
        command.env("PATH", "").env("PRECAST_CACHE", self.place.path(cache));
        // The address and credentials of a bucket.
        command.envs(std::env::vars().filter(|(name, _)| name.starts_with("AWS_")));
        if let Ok(address) = std::env::var("PRECAST_TEST_S3") {
            command.env("AWS_ENDPOINT_URL", format!("http://{address}"));
        }
        Ended::of(command.output().unwrap()).ok().json()
    }

    /// Deploys from layers that must be signed.
    pub(crate) fn deploys(&self, layers: &[&str], from: &str) {
        self.serves(&args(&[layers, &["--keyring", "precast.keyring"]]), from);
    }

    /// Builds as a release does, with a cache, then deploys from the cache and the committed files to an otherwise
    /// empty machine.
    pub(crate) fn deploys_from_a_cache(cache: &str, environment: &[(&str, String)]) -> Sandbox {
        let here = Self::in_a(Sandbox::new());
        let place = &here.place;
        fs_err::copy(format!("{QUICKSTART}/precast.toml"), place.path("precast.toml")).unwrap();
        let build = |arguments: &[&str]| {
            let mut command = place.command(args(&[&["build", "--json", "--isa", ISA], arguments]));
            command.envs(environment.iter().map(|(name, value)| (name, value)));
            command
        };
        let ended = |mut command: Command| Ended::of(command.output().unwrap());
        let built = ended(build(&["--pin", "--remote-cache", cache])).ok().json();
        let bare = |arguments: &[&str]| {
            let mut command = build(&args(&[&["--frozen"], arguments]));
            command.env("PATH", "").env("PRECAST_CACHE", place.path("nothing"));
            ended(command)
        };
        // Without the cache there are no artifacts, and no store is created.
        bare(&["--store", "filled"]).fails(1, &["compiling is not allowed", "hint: "]);
        assert!(!place.path("filled").exists());
        let filled = bare(&["--store", "filled", "--remote-cache", cache]).ok().json();
        assert_eq!((&filled["fetched"], &filled["compiled"]), (&built["artifacts"], &0.into()));
        assert_eq!((&filled["artifacts"], &filled["entries"]), (&built["artifacts"], &built["entries"]));
        place.run_bare(&["verify", "--store", "filled", "--lock", "precast.lock"]).ok();
        let again = bare(&["--store", "filled"]).ok().json();
        assert_eq!((&again["hits"], &again["fetched"]), (&built["artifacts"], &0.into()));
        here.serves(&["--store", "filled"], "filled");
        here.place
    }

    /// Runs all graphs from the given layers; every module must come from `from`.
    fn serves(&self, layers: &[&str], from: &str) {
        let cache = format!("the cache of {}", from.replace('/', "-"));
        let number = |name: &str| numbers(&self.expected[name])[0];
        let figures = |entry: &str, inputs: &[&str]| -> Vec<Vec<f64>> {
            let json = self.run(layers, &cache, entry, inputs);
            for served in json["provenance"].as_array().unwrap() {
                assert_eq!(served["served"], "artifact");
                assert!(served["layer"].as_str().unwrap().contains(from), "{served}");
            }
            let outputs = json["outputs"].as_array().unwrap().iter();
            let data = |output: &serde_json::Value| match output["data"].as_array() {
                Some(all) => all.iter().map(|number| number.as_f64().unwrap()).collect(),
                None => vec![output["data"].as_f64().unwrap()],
            };
            outputs.map(data).collect()
        };
        let score = ["x", "mean", "scale", "weights", "bias"].map(|name| format!("{name}={name}.npy"));
        let score: Vec<&str> = score.iter().flat_map(|input| ["-i", input.as_str()]).collect();
        let scores = figures("score", &score).remove(0);
        assert_eq!(scores.len(), number("held_out") as usize);
        for (found, expected) in scores.iter().zip(numbers(&self.expected["first_scores"])) {
            assert_close(*found, expected);
        }
        let count = scores.len();
        self.place.npy("p.npy", &[count], scores.clone());
        self.place.npy("p-column.npy", &[count, 1], scores.clone());
        self.place.npy("p-row.npy", &[1, count], scores);
        let both = ["-i", "p=p.npy", "-i", "y=y.npy"];
        assert_close(figures("loss", &both)[0][0], number("log_loss"));
        let auc = ["-i", "p=p-column.npy", "-i", "y=column.npy", "-i", "q=p-row.npy", "-i", "z=row.npy"];
        assert_close(figures("auc", &auc)[0][0], number("auc"));
        let found = figures("metrics", &both);
        for (found, name) in found.iter().zip([
            "true_positives",
            "false_positives",
            "false_negatives",
            "true_negatives",
            "accuracy",
            "precision",
            "recall",
        ]) {
            assert_close(found[0], number(name));
        }
        assert_eq!(found.len(), 7);
    }
}

#[test]
fn quickstart_is_deployed_from_pins() {
    let server = farm::Server::start();
    let place = Quickstart::deploys_from_a_cache(&server.url, &[]);
    // A cache with wrong contents fills no store.
    server.faults(farm::Faults { lie: 1000, ..farm::Faults::default() });
    let build = ["build", "--frozen", "--isa", ISA, "--store", "lied", "--remote-cache", &server.url];
    let lied = place.run_bare(&build).fails(1, &["compiling is not allowed", "invalid data from cache"]);
    assert!(lied.hints() > 0, "{}", lied.err);
    assert!(
        fs_err::read_dir(place.path("lied/objects")).map_or(true, |mut objects| objects.next().is_none())
    );
}

#[test]
fn quickstart_is_deployed_from_server_and_registry() {
    let quickstart = Quickstart::released();
    let server = Server::files(quickstart.place.path("artifacts"));
    quickstart.deploys(&["--remote", &server.url], &server.url);
    let registry = Registry::new(false);
    let url = registry.url("me/quickstart:1");
    quickstart.place.run_bare(&["push", &url, "quickstart.precast"]).ok();
    quickstart.deploys(&["--remote", &url], &url);
    // The modules of an entry are requested at once, and each is fetched once.
    let objects = server.asked().iter().filter(|asked| asked.contains("/objects/")).count();
    let folders = fs_err::read_dir(quickstart.place.path("artifacts/objects")).unwrap();
    let kept = folders.flat_map(|folder| fs_err::read_dir(folder.unwrap().path()).unwrap());
    assert_eq!(objects, kept.count());
}
