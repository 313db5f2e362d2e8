//! Tests of the checks before a measurement.

use super::inputs::{Kind, probe};
use super::process::Prepared;
use super::{Input, inputs, same};

fn theirs(shape: &[usize], probe: &[f64]) -> Prepared {
    Prepared { id: 0, shape: shape.to_vec(), probe: probe.to_vec() }
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
fn results_differ_by_value_or_shape() {
    let x = &inputs(&[Input(Kind::F64, vec![40])])[0];
    let elements = probe(x);
    assert_eq!(elements.len(), 16);
    assert!(same(x, &theirs(&[40], &elements)).is_ok());
    assert!(same(x, &theirs(&[8, 5], &elements)).is_err());
    let mut other = elements;
    other[15] += 1e-6;
    assert!(same(x, &theirs(&[40], &other)).is_err());
}

#[test]
fn nan_is_not_the_same() {
    let x = &inputs(&[Input(Kind::F64, vec![1])])[0];
    assert!(same(x, &theirs(&[1], &[f64::NAN])).is_err());
}

#[test]
fn every_case_exists_in_python() {
    let defined = include_str!("../../python/expressions.py");
    for case in crate::cases::asked() {
        assert!(defined.contains(&format!("    \"{case}\": ")), "`{case}` has no expressions");
    }
    let known = include_str!("../../python/peers.py");
    for (_, peer) in super::PEERS {
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
