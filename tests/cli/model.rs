//! A model of some sixty Applies from a manifest: the log density of a hierarchical regression and its gradient. It
//! is served as a whole, by groups, op by op and by a mixture, without a compiler.

use crate::sandbox::{ISA, Sandbox, args};

/// The inputs of the model.
const INPUTS: [&str; 8] = [
    "x: f64[?,?]",
    "y: f64[?]",
    "group: i64[?]",
    "beta: f64[?]",
    "alpha: f64[?]",
    "mu: f64[]",
    "log_tau: f64[]",
    "log_sigma: f64[]",
];

/// The outputs: the density, then its gradient by each parameter.
const OUTPUTS: [&str; 6] = [
    "tau = exp(log_tau); sigma = exp(log_sigma); n = f64(shape_i(y, i=0)); j = f64(shape_i(alpha, i=0)); \
     r = (y - (x @ beta + alpha[group]))/sigma; z = (alpha - mu)/tau; rr = sum(r*r); zz = sum(z*z); \
     logp = -0.5*rr - n*log_sigma - 0.5*zz - j*log_tau - 0.5*sum(beta*beta)/6.25 - 0.005*mu*mu \
     - 0.5*tau*tau + log_tau - 0.5*sigma*sigma + log_sigma",
    "d_beta = transpose(x) @ (r/sigma) - beta/6.25",
    "d_alpha = inc_subtensor((0*alpha)[group], r/sigma) - z/tau",
    "d_mu = sum(z)/tau - 0.01*mu",
    "d_log_tau = zz - j - tau*tau + 1",
    "d_log_sigma = rr - n - sigma*sigma + 1",
];

const NAMES: [&str; 6] = ["logp", "d_beta", "d_alpha", "d_mu", "d_log_tau", "d_log_sigma"];

/// The numbers of observations, predictors and groups.
const SIZES: [usize; 3] = [203, 5, 7];

/// The same density in plain Rust.
struct Model {
    x: Vec<f64>,
    y: Vec<f64>,
    group: Vec<i64>,
}

impl Model {
    fn new() -> Self {
        let [n, p, j] = SIZES;
        // Numbers without a pattern that could cancel in sums.
        let wave = |i: usize| (i as f64 * 0.7).sin() + 0.1 * (i % 11) as f64;
        let group = (0..n).map(|i| ((i * i) % j) as i64).collect();
        Self { x: (0..n * p).map(wave).collect(), y: (0..n).map(|i| 2.0 * wave(3 * i + 1)).collect(), group }
    }

    /// Returns beta, alpha, mu, log_tau and log_sigma in a row.
    fn parameters() -> Vec<f64> {
        let [_, p, j] = SIZES;
        let slopes = (0..p + j).map(|i| 0.3 * (i as f64 * 1.3).cos());
        slopes.chain([0.2, -0.4, 0.3]).collect()
    }

    fn logp(&self, parameters: &[f64]) -> f64 {
        let [n, p, j] = SIZES;
        let (beta, rest) = parameters.split_at(p);
        let (alpha, rest) = rest.split_at(j);
        let [mu, log_tau, log_sigma] = rest else { panic!() };
        let (tau, sigma) = (log_tau.exp(), log_sigma.exp());
        let mean = |i: usize| {
            let row = &self.x[i * p..(i + 1) * p];
            row.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>() + alpha[self.group[i] as usize]
        };
        let residuals: f64 = (0..n).map(|i| ((self.y[i] - mean(i)) / sigma).powi(2)).sum();
        let groups: f64 = alpha.iter().map(|a| ((a - mu) / tau).powi(2)).sum();
        let slopes: f64 = beta.iter().map(|b| b * b).sum();
        -0.5 * (residuals + groups + slopes / 6.25 + 0.01 * mu * mu + tau * tau + sigma * sigma)
            - n as f64 * log_sigma
            - j as f64 * log_tau
            + log_tau
            + log_sigma
    }

    /// Computes the gradient by central differences.
    fn gradient(&self, parameters: &[f64]) -> Vec<f64> {
        let moved = |at: usize, by: f64| {
            let mut moved = parameters.to_vec();
            moved[at] += by;
            self.logp(&moved)
        };
        (0..parameters.len()).map(|at| (moved(at, 1e-5) - moved(at, -1e-5)) / 2e-5).collect()
    }

    fn write(&self, place: &Sandbox) {
        let [n, p, j] = SIZES;
        let parameters = Self::parameters();
        place.npy("x.npy", &[n, p], self.x.clone());
        place.npy("y.npy", &[n], self.y.clone());
        place.npy("group.npy", &[n], self.group.clone());
        place.npy("beta.npy", &[p], parameters[..p].to_vec());
        place.npy("alpha.npy", &[j], parameters[p..p + j].to_vec());
        for (name, value) in ["mu", "log_tau", "log_sigma"].iter().zip(&parameters[p + j..]) {
            place.npy(format!("{name}.npy"), &[], vec![*value]);
        }
    }
}

/// Returns a manifest that has the model served in some way, and possibly another graph.
fn manifest(serve: &str, besides: &str) -> String {
    let list = |items: &[&str]| items.iter().map(|item| format!("  {item:?},\n")).collect::<String>();
    let (inputs, outputs) = (list(&INPUTS), list(&OUTPUTS));
    format!(
        "isa = [{ISA:?}]\n[[graph]]\nname = \"posterior\"\ninputs = [\n{inputs}]\noutputs = [\n{outputs}]\nserve = [{serve:?}]\n{besides}"
    )
}

/// A graph that shares one group with the model: `(alpha - mu)/tau`.
const SHARED: &str = "[[graph]]\nname = \"standard\"\ninputs = [\"a: f64[?]\", \"m: f64[]\", \"t: f64[]\"]\noutputs = [\"(a - m)/exp(t)\"]\nserve = [\"groups\"]\n";

/// Runs the model with some arguments and returns all outputs, as the bytes of a file.
fn run(place: &Sandbox, arguments: &[&str]) -> Vec<u8> {
    run_into(place, &args(&[arguments, &["-o", "out.npz"]]));
    fs_err::read(place.path("out.npz")).unwrap()
}

fn run_into(place: &Sandbox, arguments: &[&str]) {
    let inputs: Vec<String> = INPUTS
        .iter()
        .flat_map(|input| {
            let name = input.split(':').next().unwrap();
            ["-i".to_owned(), format!("{name}={name}.npy")]
        })
        .collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let ended = place.run_bare(&args(&[&["run"], &inputs, arguments])).ok();
    assert_eq!(ended.err, "", "{arguments:?}");
}

#[test]
fn model_serves_every_granularity_with_equal_bits() {
    let (place, model) = (Sandbox::new(), Model::new());
    model.write(&place);
    let ways =
        [("whole", "whole", ""), ("groups", "groups", ""), ("op by op", "ops", ""), ("mixed", "ops", SHARED)];
    // The results of `perform`, which uses no artifact.
    let mut interpreted = vec!["--policy", "interpret"];
    interpreted.extend(OUTPUTS.iter().flat_map(|output| ["--expr", output]));
    let types: Vec<String> = INPUTS.iter().map(|input| input.replace(": ", "=")).collect();
    interpreted.extend(types.iter().flat_map(|ty| ["--type", ty]));
    let expected = run(&place, &interpreted);
    for (word, serve, besides) in ways {
        place.write("precast.toml", manifest(serve, besides));
        let store = &word.replace(' ', "-");
        place.run(&["build", "--store", store]).ok();
        let asked = ["--entry", "posterior", "--store", store];
        let explained = place.run_bare(&args(&[&["explain", "--json"], &asked])).ok().json();
        assert_eq!(explained["served"], word, "{explained}");
        let found = run(&place, &args(&[&asked, &["--policy", "strict"]]));
        assert_eq!(found, expected, "{word}");
    }
    let applies =
        place.run_bare(&["show", "posterior", "--store", "whole", "--passes", "--json"]).ok().json();
    assert!(applies["applies"].as_u64() >= Some(60), "{}", applies["applies"]);
    // The numbers must also match the model in Rust.
    let mut named = vec!["--entry", "posterior", "--store", "mixed", "--policy", "strict"];
    let files: Vec<String> = NAMES.iter().map(|name| format!("{name}={name}.npy")).collect();
    named.extend(files.iter().flat_map(|file| ["-o", file.as_str()]));
    run_into(&place, &named);
    let parameters = Model::parameters();
    let mut found = Vec::new();
    NAMES.iter().for_each(|name| found.extend(place.read_npy::<f64>(&format!("{name}.npy"))));
    let mut want = vec![model.logp(&parameters)];
    want.extend(model.gradient(&parameters));
    assert_eq!(found.len(), want.len());
    for (position, (found, want)) in found.iter().zip(&want).enumerate() {
        // Central differences of a number of this size lose half of the digits.
        let close = if position == 0 { 1e-12 } else { 1e-6 };
        assert!((found - want).abs() <= close * want.abs().max(1.0), "{position}: {found}, expected {want}");
    }
}
