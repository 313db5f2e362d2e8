//! The Rust port of the vector functions gives the bits of the C, at every ISA level.

use crate::compiler;
use precast_ops::math;
use std::path::Path;
use std::process::Command;

/// Values of each function: half of them any bits at all, half where the function moves.
const VALUES: usize = 1 << 20;

/// Name, Rust function, and the range where it moves.
type Case<T> = (&'static str, fn(T) -> T, f64, f64);

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn values(low: f64, high: f64) -> Vec<f64> {
    let mut random = Random(88_172_645_463_325_252);
    let edges = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        5e-324,
        -5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        709.782_712_893_384,
        709.782_712_893_384_1,
        -745.133_219_101_941_2,
        -745.133_219_101_941_1,
        -708.396_418_532_264_1,
        22.0,
        19.061_54,
        std::f64::consts::FRAC_1_SQRT_2,
        std::f64::consts::SQRT_2,
        1.0,
        -1.0,
    ];
    let mut all = edges.to_vec();
    while all.len() < VALUES {
        let any = f64::from_bits(random.next());
        all.push(any);
        all.push(random.between(low, high));
    }
    all
}

fn run(program: &Path, folder: &Path, name: &str, bytes: &[u8]) -> Vec<u8> {
    let (input, output) = (folder.join("in"), folder.join("out"));
    fs_err::write(&input, bytes).unwrap();
    let status = Command::new(program).arg(name).arg(&input).arg(&output).status().unwrap();
    assert!(status.success(), "{name}: {status}");
    fs_err::read(output).unwrap()
}

#[test]
fn rust_and_c_give_the_same_bits_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/math.c");
    let f64s: [Case<f64>; 4] = [
        ("exp_f64", math::exp_f64, -746.0, 710.0),
        ("log_f64", math::log_f64, 0.0, 4.0),
        ("tanh_f64", math::tanh_f64, -3.0, 3.0),
        ("sigmoid_f64", math::sigmoid_f64, -745.0, 40.0),
    ];
    let f32s: [Case<f32>; 4] = [
        ("exp_f32", math::exp_f32, -104.0, 89.0),
        ("log_f32", math::log_f32, 0.0, 4.0),
        ("tanh_f32", math::tanh_f32, -3.0, 3.0),
        ("sigmoid_f32", math::sigmoid_f32, -103.0, 20.0),
    ];
    for level in compiler::levels() {
        let program = compiler::program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        for (name, function, low, high) in f64s {
            let x = values(low, high);
            let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let y = run(&program, folder.path(), name, &bytes);
            for (x, y) in x.iter().zip(y.as_chunks::<8>().0) {
                let (c, rust) = (f64::from_ne_bytes(*y), function(*x));
                let same = c.to_bits() == rust.to_bits() || (c.is_nan() && rust.is_nan());
                assert!(same, "{} {name}({x:e}): C {c:e}, Rust {rust:e}", level.0);
            }
        }
        for (name, function, low, high) in f32s {
            let mut random = Random(1);
            let any = |x: f64, i: usize| {
                if i.is_multiple_of(2) { f32::from_bits((x.to_bits() >> 13) as u32) } else { x as f32 }
            };
            let x: Vec<f32> = values(low, high).into_iter().enumerate().map(|(i, x)| any(x, i)).collect();
            let x: Vec<f32> =
                x.into_iter().chain((0..1000).map(|_| f32::from_bits(random.next() as u32))).collect();
            let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let y = run(&program, folder.path(), name, &bytes);
            for (x, y) in x.iter().zip(y.as_chunks::<4>().0) {
                let (c, rust) = (f32::from_ne_bytes(*y), function(*x));
                let same = c.to_bits() == rust.to_bits() || (c.is_nan() && rust.is_nan());
                assert!(same, "{} {name}({x:e}): C {c:e}, Rust {rust:e}", level.0);
            }
        }
    }
}
