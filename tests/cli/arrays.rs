//! Invalid arrays: each error names the file, and nothing is written.

use ndarray::{Array2, ShapeBuilder as _};
use ndarray_npy::WriteNpyExt as _;
use std::io::Write as _;

use crate::sandbox::{Sandbox, args};

/// Doubles `x`. The command always requests an output file, so that every test can check that none appears.
const DOUBLE: &[&str] = &["run", "--expr", "x + x", "--policy", "interpret", "-o", "out=out.npy"];

fn refused(place: &Sandbox, arguments: &[&str], code: i32, named: &[&str]) {
    let before = place.names();
    place.run_bare(&args(&[DOUBLE, arguments])).fails(code, named);
    assert_eq!(place.names(), before);
}

fn npy(descriptor: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &len, header.as_bytes(), data].concat()
}

#[test]
fn mismatched_arrays_are_rejected() {
    let place = Sandbox::new();
    place.npy("f32.npy", &[3], vec![1.0_f32; 3]);
    place.npy("flat.npy", &[3], vec![1.0; 3]);
    refused(
        &place,
        &["--type", "x=f64[?]", "-i", "x=f32.npy"],
        1,
        &["`f32.npy`", "`f32[3]`", "`f64[?]`", "astype"],
    );
    refused(
        &place,
        &["--type", "x=f64[?,?]", "-i", "x=flat.npy"],
        1,
        &["`flat.npy`", "`f64[3]`", "`f64[?,?]`"],
    );
    refused(&place, &["--type", "x=f64[4]", "-i", "x=flat.npy"], 1, &["`flat.npy`", "`f64[3]`", "`f64[4]`"]);
}

#[test]
fn incompatible_extents_are_an_op_error() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![1.0; 3]);
    place.npy("y.npy", &[4], vec![1.0; 4]);
    for policy in ["interpret", "jit"] {
        let run = [
            "run",
            "--expr",
            "x + y",
            "-i",
            "x=x.npy",
            "-i",
            "y=y.npy",
            "-o",
            "out=out.npy",
            "--policy",
            policy,
        ];
        place.run(&run).fails(1, &["add"]);
        assert!(!place.path("out.npy").exists());
    }
}

#[test]
fn incomplete_array_files_are_rejected() {
    let place = Sandbox::new();
    let whole = npy("'<f8'", "(2,)", &[0; 16]);
    place.write("short.npy", &whole[..whole.len() - 3]);
    place.write("long.npy", [whole.as_slice(), b"more"].concat());
    place.write("text.npy", "1, 2, 3\n");
    place.write("empty.npy", "");
    place.write("header.npy", &whole[..40]);
    for (file, named) in [
        ("short.npy", "truncated: found 13 bytes"),
        ("long.npy", "4 extra bytes after its array"),
        ("text.npy", "not an npy file"),
        ("empty.npy", "not an npy file"),
        ("header.npy", "header"),
        ("missing.npy", "cannot read `missing.npy`"),
        (".", "cannot read `.`"),
    ] {
        refused(&place, &["-i", &format!("x={file}")], 1, &[&format!("`{file}`"), named]);
    }
}

#[test]
fn foreign_dtypes_are_rejected_by_name() {
    let place = Sandbox::new();
    for (number, descriptor) in
        ["'>f8'", "'|O'", "'<f16'", "'<U3'", "'<M8[ns]'", "[('a', '<f8')]"].iter().enumerate()
    {
        let file = format!("{number}.npy");
        place.write(&file, npy(descriptor, "(1,)", &[0; 16]));
        let shown = descriptor.trim_matches('\'');
        refused(
            &place,
            &["-i", &format!("x={file}")],
            1,
            &[&format!("`{file}`"), shown.get(..3).unwrap_or(shown), "`<f8` (f64)", "hint: "],
        );
    }
}

#[test]
fn input_and_output_names_must_exist() {
    let place = Sandbox::new();
    place.npy("x.npy", &[1], vec![1.0]);
    let typed = ["--type", "x=f64[?]"];
    refused(&place, &typed, 2, &["missing input `x`", "-i x=FILE"]);
    refused(&place, &args(&[&typed, &["-i", "x=x.npy", "-i", "0=x.npy"]]), 2, &["duplicate input `x`"]);
    refused(&place, &args(&[&typed, &["-i", "1=x.npy"]]), 2, &["unknown input `1`"]);
    refused(&place, &["-i", "x=x.npy", "-o", "other=o.npy"], 2, &["unknown output `other`", "`out`"]);
    refused(&place, &["-i", "x.npy"], 2, &["NAME=FILE"]);
}

#[test]
fn npz_has_all_inputs_and_outputs() {
    let place = Sandbox::new();
    place.npy("x.npy", &[2], vec![1.0, 2.0]);
    place.npy("y.npy", &[2], vec![10.0, 20.0]);
    let run = |words: &str| place.run_bare(&words.split(' ').collect::<Vec<_>>()).ok();
    run("run --policy interpret --expr x=a+0 --expr y=b+0 -i a=x.npy -i b=y.npy -o in.npz");
    run("run --policy interpret --expr s=x+y --expr d=x-y -i in.npz -o out.npz -o 0=s.npy");
    assert_eq!(place.read_npy::<f64>("s.npy"), ndarray::arr1(&[11.0, 22.0]).into_dyn());
    run("run --policy interpret --expr z=d*1.0 -i d=out.npz -o z=z.npy");
    assert_eq!(place.read_npy::<f64>("z.npy"), ndarray::arr1(&[-9.0, -18.0]).into_dyn());
    refused(&place, &["-i", "q=out.npz"], 1, &["no array `q`", "`s`", "`d`"]);
    refused(&place, &["-i", "in.npz", "-i", "x=x.npy"], 2, &["duplicate input `x`"]);
    // At least one array of a file given without a name must be an input. If an input is missing, the error lists the
    // file's arrays.
    for more in [&["--type", "x=f64[?]"][..], &["-i", "x=x.npy"]] {
        refused(
            &place,
            &args(&[more, &["-i", "out.npz"]]),
            2,
            &["no array of `out.npz`", "`s`, `d`", "hint: "],
        );
    }
    let typed = ["--expr", "x + q", "--type", "x=f64[?]", "--type", "q=f64[?]", "-i", "in.npz"];
    place
        .run_bare(&args(&[&["run", "--policy", "interpret"], &typed]))
        .fails(2, &["missing input `q`; `in.npz` has `x`, `y`", "hint: "]);
    place.write("text.npz", "no archive");
    refused(&place, &["-i", "text.npz"], 1, &["`text.npz` is not an npz file"]);
}

#[test]
fn unreadable_npz_members_fail_on_use() {
    let place = Sandbox::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let numbers = npy("'<f8'", "(2,)", &[0; 16]);
    let members = [
        ("x", numbers.clone()),
        ("labels", npy("'<U3'", "(1,)", &[0; 12])),
        ("objects", npy("'|O'", "(1,)", b"pickle")),
        ("notes", b"a text".to_vec()),
        ("unused", numbers.clone()),
        ("no-name", numbers),
    ];
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.start_file("README", options).unwrap();
    place.write("all.npz", zip.finish().unwrap().into_inner());
    let run = ["run", "--policy", "interpret", "-i", "all.npz", "-o", "out=out.npy"];
    for wanted in [&["--expr", "x + 1"][..], &["--type", "x=f64[?]", "--expr", "x + 1"]] {
        place.run_bare(&args(&[&run, wanted])).ok();
        assert_eq!(place.read_npy::<f64>("out.npy"), ndarray::arr1(&[1.0, 1.0]).into_dyn());
    }
    for (name, problem) in [("labels", "<U3"), ("objects", "|O"), ("notes", "not an npy file")] {
        let text = format!("{name} + x");
        let ty = format!("{name}=f64[?]");
        for wanted in [&["--expr", text.as_str()][..], &["--type", &ty, "--expr", &text]] {
            place.run_bare(&args(&[&run, wanted])).fails(1, &["`all.npz`", &format!("`{name}`"), problem]);
        }
        place
            .run_bare(&args(&[DOUBLE, &["-i", &format!("{name}=all.npz")]]))
            .fails(1, &[&format!("{name}.npy"), problem]);
    }
    place.run_bare(&args(&[&run, &["--expr", "y + 1"]])).fails(1, &["`y`"]);
}

#[cfg(unix)]
#[test]
fn device_is_rejected_as_array() {
    refused(&Sandbox::new(), &["-i", "x=/dev/zero"], 1, &["`/dev/zero`", "regular file"]);
}

#[test]
fn failed_output_leaves_no_file() {
    let place = Sandbox::new();
    place.npy("x.npy", &[1], vec![1.0]);
    let run = ["run", "--expr", "a = x + x", "--expr", "b = x - x", "-i", "x=x.npy", "--policy", "interpret"];
    let before = place.names();
    place
        .run_bare(&args(&[&run, &["-o", "a=a.npy", "-o", "b=no/b.npy"]]))
        .fails(1, &["`no/b.npy`", "hint: "]);
    place.run_bare(&args(&[&run, &["-o", "a=a.npy", "-o", "b=."]])).fails(1, &["cannot write `.`"]);
    place.run_bare(&args(&[&run, &["-o", "a=a.npy", "-o", "b=a.npy"]])).fails(2, &["`a.npy`"]);
    assert_eq!(place.names(), before);
}

#[test]
fn every_layout_and_dtype_round_trips() {
    let place = Sandbox::new();
    let fortran = Array2::from_shape_vec((2, 3).f(), vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    fortran.write_npy(fs_err::File::create(place.path("fortran.npy")).unwrap()).unwrap();
    place.npy("scalar.npy", &[], vec![2.5]);
    place.npy("empty.npy", &[0, 3], Vec::<f64>::new());
    place.npy("ints.npy", &[2], vec![i64::MIN + 1, i64::MAX]);
    place.npy("bools.npy", &[2], vec![true, false]);
    let run = |expression: &str, file: &str| {
        let input = format!("x={file}");
        let run = ["run", "--expr", expression, "-i", &input, "-o", "out=out.npy", "--policy", "interpret"];
        place.run_bare(&run).ok();
    };
    run("x * 1.0", "fortran.npy");
    assert_eq!(place.read_npy::<f32>("out.npy"), fortran.into_dyn());
    run("x + x", "scalar.npy");
    assert_eq!(place.read_npy::<f64>("out.npy"), ndarray::arr0(5.0).into_dyn());
    run("x + x", "empty.npy");
    assert_eq!(place.read_npy::<f64>("out.npy").shape(), [0, 3]);
    run("-x", "ints.npy");
    assert_eq!(place.read_npy::<i64>("out.npy"), ndarray::arr1(&[i64::MAX, -i64::MAX]).into_dyn());
    run("x == x", "bools.npy");
    assert_eq!(place.read_npy::<bool>("out.npy"), ndarray::arr1(&[true, true]).into_dyn());
}

#[test]
fn mismatches_are_reported_before_compiling() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![1.0, 2.0, 3.0]);
    // No compiler is installed, so the command would fail for this reason if it reached compilation.
    let run = ["run", "--expr", "exp(x)", "--policy", "jit", "-i", "x=x.npy"];
    place
        .run_bare(&[&run[..], &["--type", "x=f32[?]"]].concat())
        .fails(1, &["input `x` in `x.npy` is `f64[3]`"]);
    place.run_bare(&[&run[..], &["--type", "x=f64[?,?]"]].concat()).fails(1, &["expected `f64[?,?]`"]);
    place.run_bare(&[&run[..], &["-o", "y=y.npy"]].concat()).fails(2, &["`y`"]);
    place.run_bare(&run).fails(1, &["compiler"]);
}
