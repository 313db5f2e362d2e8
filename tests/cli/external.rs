//! Ops that need no Rust: a manifest and C files in an empty directory, built and run by the command alone.

use crate::place::Place;

const MANIFEST: &str = r#"
[[external]]
name = "vector_times_vector"
files = ["vector_times_vector.c"]
func = "APPLY_SPECIFIC(vector_times_vector)"
dtypes = { T = ["f32", "f64"], U = ["f64"] }
inputs = ["{T}[?]", "{U}[?]"]
outputs = ["upcast(T, U)[?]"]

[[external]]
name = "affine"
files = ["src/affine.c"]
inputs = ["f64"]
outputs = ["f64"]
params = { alpha = 2.5, shift = 1 }
"#;
const AFFINE: &str = "#section support_code\n#include \"../include/shift.h\"\n#section code\n\
                      OUTPUT_0 = SHIFT(INPUT_0 * PARAMS->alpha, PARAMS->shift);\n";

fn place() -> Place {
    let place = Place::new();
    for directory in ["src", "include"] {
        fs_err::create_dir(place.path(directory)).unwrap();
    }
    place.write("precast.toml", MANIFEST);
    place.write("vector_times_vector.c", include_str!("../it/external/c/vectorTimesVector.c"));
    place.write("src/affine.c", AFFINE);
    place.write("include/shift.h", "#define SHIFT(x, n) ((x) + (double)(n))\n");
    place
}

#[test]
fn two_c_files_and_a_manifest_are_built_and_run_by_name() {
    let place = place();
    place.run(&["build", "--store", "cache"]).ok();
    place.npy("x.npy", &[3], vec![1_f32, 2.0, 3.0]);
    place.npy("y.npy", &[3], vec![4.0, 5.0, 6.5]);
    let run = |name: &str, inputs: &[&str]| {
        let mut arguments = vec!["run", "--store", "cache", "--policy", "strict", "--entry", name];
        inputs.iter().for_each(|input| arguments.extend(["-i", input]));
        place.run(&[&arguments[..], &["-o", "0=z.npy"]].concat())
    };
    // The dtypes of the inputs choose among the combinations.
    run("vector_times_vector", &["0=x.npy", "1=y.npy"]).ok();
    let z = || place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0;
    assert_eq!(z(), [4.0, 10.0, 19.5]);
    run("vector_times_vector", &["1=x.npy", "0=y.npy"]).fails(
        1,
        &["no combination of entry `vector_times_vector` takes `(f64[?], f32[?])`", "(f32[?], f64[?])"],
    );
    run("vector_times_vector", &["0=y.npy", "1=y.npy"]).ok();
    place.npy("short.npy", &[1], vec![4.0]);
    run("vector_times_vector", &["0=x.npy", "1=short.npy"]).fails(1, &["Shape mismatch", "y.shape[0] == 1"]);
    place.npy("n.npy", &[], vec![2.0]);
    run("affine", &["0=n.npy"]).ok();
    assert_eq!(z(), [6.0]);
}

#[test]
fn mistakes_are_told_with_the_places_in_manifest_and_c() {
    let refused = |from: &str, to: &str, file: &str, named: &[&str]| {
        let place = place();
        let text = fs_err::read_to_string(place.path(file)).unwrap();
        assert!(text.contains(from), "{from}");
        place.write(file, text.replacen(from, to, 1));
        place.run(&["build", "--store", "cache"]).fails(1, named);
    };
    let (manifest, c, affine) = ("precast.toml", "vector_times_vector.c", "src/affine.c");
    refused(
        "files = [\"vec",
        "file = [\"vec",
        manifest,
        &["precast.toml:4", "unknown field `file`", "nearest `files`"],
    );
    refused("vector_times_vector.c\"", "none.c\"", manifest, &["precast.toml:4", "key `files`", "none.c"]);
    refused(
        "src/affine.c",
        "../affine.c",
        manifest,
        &["precast.toml:12", "`../affine.c` cannot name a file"],
    );
    refused("T = [\"f32\"", "T = [\"f33\"", manifest, &["precast.toml:6", "`f33`"]);
    refused(", U = [\"f64\"]", "", manifest, &["key `dtypes`", "`U` of the types has no dtypes"]);
    refused(
        "upcast(T, U)",
        "upcast(T, V)",
        manifest,
        &["precast.toml:8", "key `outputs`", "no input has `{V}`"],
    );
    refused(
        "(vector_times_vector)",
        "(vector_time_vector)",
        manifest,
        &["key `func`", "nearest `vector_times_vector`"],
    );
    refused(
        "\"{U}[?]\"]",
        "\"{U}[?]\", \"f64\"]",
        manifest,
        &["key `func`", "vector_times_vector/vector_times_vector.c:24"],
    );
    refused(
        "#section support_code\n",
        "#section support\n",
        c,
        &["vector_times_vector/vector_times_vector.c:1: unknown section"],
    );
    refused(
        "return (PyArray",
        "FAIL return (PyArray",
        c,
        &["vector_times_vector.c:6: `FAIL` is not defined in section `support_code`"],
    );
    refused(
        "z_ptr[i * z_str] =",
        "z_ptr[i * z_str] + =",
        c,
        &["vector_times_vector/vector_times_vector.c:19:"],
    );
    refused(
        "../include/shift.h",
        "../../etc/shift.h",
        affine,
        &["affine/src/affine.c:2: `#include` of `../../etc/shift.h` leads out"],
    );
    refused("../include/shift.h", "gone.h", affine, &["affine/src/affine.c:2: cannot find header `gone.h`"]);
    let place = place();
    place.write("src/affine.c", b"#section code\n\xff\n");
    place.run(&["build", "--store", "cache"]).fails(1, &["precast.toml:12", "UTF-8"]);
}

#[test]
fn a_version_that_was_not_raised_is_told_by_every_command() {
    let place = place();
    let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    place.write("precast.toml", manifest.replace("params =", "version = [1]\nparams ="));
    let build = || place.run(&["build", "--store", "cache"]).ok();
    assert!(!build().err.contains("warning"));
    place.write("include/shift.h", "#define SHIFT(x, n) ((x) - (double)(n))\n");
    let told = "the C of `affine(f64) -> f64` changed under version `1`: `affine/include/shift.h` was `";
    let ended = build();
    assert!(ended.err.contains("warning:") && ended.err.contains(told), "{}", ended.err);
    assert!(ended.err.contains("hint: raise the version"), "{}", ended.err);
    assert!(!build().err.contains("warning"), "it is news once");
    let doctor = place.run(&["doctor", "--store", "cache"]).ok();
    assert!(
        doctor.out.contains("version `1` of `affine(f64) -> f64` stands for more than one source"),
        "{}",
        doctor.out
    );
    place.npy("n.npy", &[], vec![2.0]);
    let run = [
        "run", "--store", "cache", "--policy", "strict", "--entry", "affine", "-i", "0=n.npy", "-o",
        "0=z.npy",
    ];
    place.run(&run).ok();
    assert_eq!(place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0, [4.0]);
}

#[test]
fn a_changed_header_of_the_system_is_compiled_and_served() {
    let place = Place::new();
    fs_err::create_dir(place.path("system")).unwrap();
    let function = "int f(double x, double *z) { *z = Q * x; return 0; }";
    place.write("t.c", format!("#section support_code\n#include <outside.h>\n{function}\n"));
    let manifest = "[[external]]\nname = \"tk\"\nfiles = [\"t.c\"]\nfunc = \"f\"\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";
    let directory = place.path("system");
    place.write("precast.toml", format!("{manifest}header_dirs = [\"{}\"]\n", directory.display()));
    place.npy("one.npy", &[], vec![1.0]);
    // Back to a value that was compiled before: it is found, and served again.
    for q in [5, 7, 9, 5] {
        place.write("system/outside.h", format!("#define Q {q}\n"));
        place.run(&["build", "--store", "s"]).ok();
        let run = [
            "run",
            "--entry",
            "tk",
            "-i",
            "0=one.npy",
            "-o",
            "0=z.npy",
            "--store",
            "s",
            "--policy",
            "strict",
        ];
        place.run(&run).ok();
        assert_eq!(place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0, [f64::from(q)]);
    }
}
