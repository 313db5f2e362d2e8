//! The package of `examples/normal.toml`, against derivatives by hand.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "equal bits are meant")]

use ndarray::{ArrayD, array, aview0};
use precast_build::Build;
use precast_core::{Array, CallError};
use precast_density::{Density, DensityError, OpenDensityError, names};
use std::path::Path;
use std::sync::LazyLock;

const Y: [f64; 5] = [1.5, 2.5, 1.0, 3.0, 2.0];
const Q: [f64; 2] = [0.7, -0.3];

/// Builds the package of the manifest with replaced parts, and opens it.
fn opened(replaced: &[(&str, &str)]) -> Result<Density, OpenDensityError> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let text = fs_err::read_to_string(package.join("examples/normal.toml")).unwrap();
    let text = replaced.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let manifest = folder.path().join("precast.toml");
    fs_err::write(&manifest, format!("isa = [\"x86-64-v2\"]\n{text}")).unwrap();
    let built = Build::new().manifest(manifest).try_run_in(package, folder.path()).unwrap();
    Density::open(built.bundle)
}

/// Returns the model of the package, which is compiled once.
fn density() -> Density {
    static DENSITY: LazyLock<Density> = LazyLock::new(|| opened(&[]).unwrap());
    DENSITY.clone()
}

/// The density, its gradient and its Hessian by hand.
fn by_hand(q: &[f64], y: &[f64]) -> (f64, [f64; 2], [f64; 4]) {
    let (mu, scale, n) = (q[0], q[1].exp(), y.len() as f64);
    let first: f64 = y.iter().map(|y| (y - mu) / (scale * scale)).sum();
    let square: f64 = y.iter().map(|y| ((y - mu) / scale).powi(2)).sum();
    let value = -mu * mu / 50.0 - scale * scale / 2.0 + q[1] - square / 2.0 - n * q[1];
    let gradient = [-mu / 25.0 + first, -scale * scale + 1.0 + square - n];
    let hessian =
        [-1.0 / 25.0 - n / (scale * scale), -2.0 * first, -2.0 * first, -2.0 * scale * scale - 2.0 * square];
    (value, gradient, hessian)
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_near),
        "{found:?}, expected {expected:?}"
    );
}

fn floats(array: &Array) -> Vec<f64> {
    ArrayD::<f64>::try_from(array.clone()).unwrap().into_iter().collect()
}

#[test]
fn derivatives_equal_those_by_hand() {
    let density = density();
    let (mut gradient, mut hessian, mut product) = ([0.0; 2], [0.0; 4], [0.0; 2]);
    let (value, by, second) = by_hand(&Q, &Y);
    assert_near(&[density.logp(&Q).unwrap()], &[value]);
    assert_near(&[density.hessian(&Q, &mut gradient, &mut hessian).unwrap()], &[value]);
    assert_near(&gradient, &by);
    assert_near(&hessian, &second);
    density.hessian_product(&Q, &[2.0, -1.0], &mut product).unwrap();
    assert_near(&product, &[2.0 * second[0] - second[1], 2.0 * second[2] - second[3]]);
    let plain = density.without_jacobian();
    assert_near(&[plain.logp_and_grad(&Q, &mut gradient).unwrap()], &[value - Q[1]]);
    assert_near(&gradient, &[by[0], by[1] - 1.0]);
    assert!(
        matches!(plain.hessian_product(&Q, &Q, &mut product), Err(DensityError::Entry { entry, .. }) if entry.ends_with("no_jacobian"))
    );
}

#[test]
fn transforms_invert_each_other() {
    let density = density();
    let values = density.constrain(&Q).unwrap();
    assert_eq!((floats(&values[0]), floats(&values[2]).len()), (vec![0.7], 5));
    let (mu, tau) = (aview0(&0.7), Q[1].exp());
    let moved = density.unconstrain(&[mu.into(), aview0(&tau).into()]).unwrap();
    assert_near(&moved, &Q);
    let names = names::elements(density.description().constrained());
    assert_eq!(names[..3], ["mu", "tau", "z[0]"]);
    assert!(matches!(density.unconstrain(&[mu.into()]), Err(DensityError::Length { expected: 2, .. })));
}

#[test]
fn data_may_have_other_extents_and_clones_keep_theirs() {
    let mut changed = density();
    let before = changed.clone();
    let y = [0.5, 4.0];
    changed.set_data("y", array![0.5, 4.0]).unwrap();
    assert_near(
        &[changed.logp(&Q).unwrap(), before.logp(&Q).unwrap()],
        &[by_hand(&Q, &y).0, by_hand(&Q, &Y).0],
    );
    assert_eq!(changed.log_likelihood(&Q).unwrap()[0].shape(), [2]);
    assert_eq!(changed.predict([0, 1], &Q).unwrap()[0].shape(), [2]);
    assert_eq!(changed.data("y"), Some(&array![0.5, 4.0].into()));
    assert!(matches!(changed.set_data("x", 1.0), Err(DensityError::Data { known, .. }) if known == "y"));
    changed.set_data("y", array![1_i64]).unwrap();
    assert!(matches!(changed.logp(&Q), Err(DensityError::Call(CallError::Input { .. }))));
}

#[test]
fn draws_are_functions_of_their_key() {
    let density = density();
    let draws = |key| floats(&density.predict(key, &Q).unwrap()[0]);
    assert_eq!(draws([1, 2]), draws([1, 2]));
    assert_ne!(draws([1, 2]), draws([1, 3]));
    assert_eq!(density.initial().unwrap(), [0.0, 0.0]);
    assert!(density.uniform([4, 4]).unwrap().iter().all(|x| (-1.0..1.0).contains(x)));
    assert!(matches!(density.prior([0, 0]), Err(DensityError::Entry { entry, .. }) if entry == "prior"));
}

#[test]
fn wrong_lengths_are_errors_of_no_value() {
    let density = density();
    let short = density.logp_and_grad(&Q, &mut [0.0]).unwrap_err();
    assert!(matches!(short, DensityError::Length { name: "gradient", found: 1, expected: 2 }), "{short}");
    let long = density.logp(&[0.0; 3]).unwrap_err();
    assert!(matches!(long, DensityError::Call(CallError::Input { .. })), "{long}");
    assert!(!short.is_of_values() && !long.is_of_values());
    assert!(matches!(
        density.hessian(&Q, &mut [0.0; 2], &mut [0.0; 3]),
        Err(DensityError::Length { expected: 4, .. })
    ));
}

#[test]
fn threads_share_a_density() {
    let density = density();
    let expected = density.logp(&Q).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut gradient = [0.0; 2];
                for _ in 0..1000 {
                    assert_eq!(density.logp_and_grad(&Q, &mut gradient).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn other_bundles_are_refused() {
    let refused = |replaced: &[(&str, &str)]| opened(replaced).unwrap_err();
    let named = |name: &str| format!("[json.\"{name}\"]");
    let none = refused(&[(&named("precast.model"), &named("mine.model"))]);
    assert!(matches!(none, OpenDensityError::NoModel { .. }), "{none}");
    let newer = refused(&[("schema = 1", "schema = 2")]);
    assert!(matches!(newer, OpenDensityError::Description { .. }), "{newer}");
    let malformed = refused(&[("unconstrained = 2", "unconstrained = \"two\"")]);
    assert!(matches!(malformed, OpenDensityError::Json { .. }), "{malformed}");
    let other = refused(&[("unconstrained = 2", "unconstrained = 3")]);
    assert!(matches!(other, OpenDensityError::Description { .. }), "{other}");
    let dims = refused(&[("dims = [\"day\"]", "dims = [\"day\", \"hour\"]")]);
    assert!(matches!(dims, OpenDensityError::Description { .. }), "{dims}");
    let unlike = refused(&[("name = \"log_density_gradient\"", "name = \"gradient\"")]);
    assert!(matches!(unlike, OpenDensityError::Entry(DensityError::Entry { .. })), "{unlike}");
    let lone = refused(&[("\"gradient = grad(value, q)\"]", "\"gradient = grad(value, q)\", \"more = q\"]")]);
    assert!(matches!(lone, OpenDensityError::Entry(DensityError::Interface { .. })), "{lone}");
}

#[test]
fn a_rejected_point_is_an_error_of_values() {
    let checked = "value = assert(0.0, q[0] < 9.0, message=\"mu is too large\") - mu * mu";
    let density = opened(&[("value = -mu * mu", checked)]).unwrap();
    assert!(density.logp(&Q).is_ok());
    assert!(density.logp(&[10.0, 0.0]).unwrap_err().is_of_values());
}
