//! Tests of the checks before a measurement.

use super::inputs::{Kind, Range, Spread, probe};
use super::process::Prepared;
use super::{Input, inputs, same};
use precast::DType;

fn theirs(shape: &[usize], probe: &[f64]) -> Prepared {
    Prepared { id: 0, shape: shape.to_vec(), probe: probe.to_vec(), ulp: None, code_bytes: None }
}

#[test]
fn inputs_match_the_python_side() {
    // By `python/inputs.py`: array("f64", (3,), 0), array("f64", (2,), 1), array("index", (3,), 1).
    let made = inputs(&[Input::f64(&[3]), Input::f64(&[2])]);
    let [x, y] = &made[..] else { panic!("two inputs") };
    assert_eq!(probe(x), [-2.0, 0.472_135_947_085_917, -1.055_728_105_828_166]);
    assert_eq!(probe(y), [-1.077_735_179_103_911, 1.394_400_767_982_006]);
    let indices = inputs(&[Input::f64(&[1]), Input(Kind::Index, vec![3])]);
    assert_eq!(probe(&indices[1]), [274_311.0, 4_710_072.0, 4_178_537.0]);
}

#[test]
fn ranges_and_dtypes_match_the_python_side() {
    // By `python/inputs.py`, like above.
    let even = Range { dtype: DType::F64, spread: Spread::Even, low: 1.0, high: 10.0 };
    let powers = Range { dtype: DType::F64, spread: Spread::Powers, low: -1000.0, high: -300.0 };
    let one = |kind, shape: &[usize]| probe(&inputs(&[Input(kind, shape.to_vec())])[0]);
    assert_eq!(one(Kind::In(even), &[3]), [1.0, 6.562_305_880_943_313, 3.124_611_761_886_626_5]);
    assert_eq!(
        one(Kind::In(powers), &[3]),
        [9.332_636_185_032_189e-302, 1.527_072_304_902_522_6e-171, 8.514_266_628_713_918e-252]
    );
    assert_eq!(
        one(Kind::Definite, &[2, 2]),
        [0.5, 0.118_033_986_771_479_25, -0.263_932_026_457_041_5, 1.354_101_960_314_437_7]
    );
    assert_eq!(one(Kind::Of(DType::Bool), &[3]), [0.0, 1.0, 0.0]);
    let bytes = inputs(&[Input::f64(&[1]), Input(Kind::Of(DType::I8), vec![3])]);
    assert_eq!(probe(&bytes[1]), [-69.0, 89.0, -9.0]);
}

#[test]
fn results_differ_by_value_or_shape() {
    let x = &inputs(&[Input(Kind::F64, vec![40])])[0];
    let elements = probe(x);
    assert_eq!(elements.len(), 16);
    assert!(same(x, &theirs(&[40], &elements), None).is_ok());
    assert!(same(x, &theirs(&[8, 5], &elements), None).is_err());
    let mut other = elements;
    other[15] += 1e-6;
    assert!(same(x, &theirs(&[40], &other), None).is_err());
}

#[test]
fn nan_is_not_the_same() {
    let x = &inputs(&[Input(Kind::F64, vec![1])])[0];
    assert!(same(x, &theirs(&[1], &[f64::NAN]), None).is_err());
}

#[test]
fn every_case_exists_in_python() {
    let defined = include_str!("../../python/expressions.py");
    for case in crate::cases::asked() {
        assert!(defined.contains(&format!("    \"{case}\": ")), "`{case}` has no expressions");
    }
    let known = include_str!("../../python/peers.py");
    for (_, peer) in super::PEERS.into_iter().chain(crate::cases::peers()) {
        assert!(known.contains(&format!("    \"{peer}\": ")), "`{peer}` is no peer");
    }
}

#[test]
fn lock_pins_requirements_and_files_by_hash() {
    let lock = include_str!("../../python/requirements.lock");
    let wanted = include_str!("../../python/requirements.in");
    for line in wanted.lines().filter(|line| !line.starts_with('#')) {
        // The lock file spells environment markers differently.
        let pin = line.split(';').next().unwrap_or_default();
        let at = lock.find(&format!("\n{pin} ")).unwrap_or_else(|| panic!("`{line}` is not locked"));
        let hash = lock[at..].lines().nth(2).unwrap_or_default();
        assert!(hash.starts_with("    --hash=sha256:"), "`{line}` is locked without a hash");
    }
}
