//! Ops without Rust: a manifest and C files in an empty directory, built and run with the command alone.

use crate::sandbox::{Sandbox, args};

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

fn place() -> Sandbox {
    let place = Sandbox::new();
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
fn two_c_files_are_built_and_run() {
    let place = place();
    place.run(&["build", "--store", "cache"]).ok();
    place.npy("x.npy", &[3], vec![1_f32, 2.0, 3.0]);
    place.npy("y.npy", &[3], vec![4.0, 5.0, 6.5]);
    let run = |name: &str, inputs: &[&str]| {
        let mut arguments = vec!["run", "--store", "cache", "--policy", "strict", "--entry", name];
        inputs.iter().for_each(|input| arguments.extend(["-i", input]));
        place.run(&[&arguments[..], &["-o", "0=z.npy"]].concat())
    };
    // The dtypes of the inputs select the combination.
    run("vector_times_vector", &["0=x.npy", "1=y.npy"]).ok();
    let z = || place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0;
    assert_eq!(z(), [4.0, 10.0, 19.5]);
    run("vector_times_vector", &["1=x.npy", "0=y.npy"]).fails(
        1,
        &[
            "no combination of entry `vector_times_vector` accepts `(f64[?], f32[?])`",
            "input 1 has dtype `f32`, expected `f64` with the other inputs",
        ],
    );
    run("vector_times_vector", &["0=y.npy", "1=y.npy"]).ok();
    place.npy("short.npy", &[1], vec![4.0]);
    run("vector_times_vector", &["0=x.npy", "1=short.npy"]).fails(1, &["Shape mismatch", "y.shape[0] == 1"]);
    place.npy("n.npy", &[], vec![2.0]);
    run("affine", &["0=n.npy"]).ok();
    assert_eq!(z(), [6.0]);
}

#[test]
fn mistakes_have_places_in_manifest_and_c() {
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
    refused("src/affine.c", "../affine.c", manifest, &["precast.toml:12", "invalid file name `../affine.c`"]);
    refused("T = [\"f32\"", "T = [\"f33\"", manifest, &["precast.toml:6", "`f33`"]);
    refused(", U = [\"f64\"]", "", manifest, &["key `dtypes`", "`U` has no dtypes"]);
    refused(
        "upcast(T, U)",
        "upcast(T, V)",
        manifest,
        &["precast.toml:8", "key `outputs`", "no input defines"],
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
        &["affine/src/affine.c:2: `#include` of `../../etc/shift.h` leaves"],
    );
    refused("../include/shift.h", "gone.h", affine, &["affine/src/affine.c:2: cannot find header `gone.h`"]);
    let place = place();
    place.write("src/affine.c", b"#section code\n\xff\n");
    place.run(&["build", "--store", "cache"]).fails(1, &["precast.toml:12", "UTF-8"]);
}

#[test]
fn every_command_reports_an_unraised_version() {
    let place = place();
    let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    place.write("precast.toml", manifest.replace("params =", "version = [1]\nparams ="));
    let build = || place.run(&["build", "--store", "cache"]).ok();
    assert_eq!(build().warnings(), 0);
    place.write("include/shift.h", "#define SHIFT(x, n) ((x) - (double)(n))\n");
    let ended = build();
    assert!(ended.err.contains("`affine/include/shift.h`"), "{}", ended.err);
    assert_eq!((ended.warnings(), ended.hints()), (1, 1), "{}", ended.err);
    assert_eq!(build().warnings(), 0, "it is news once");
    let doctor = place.run(&["doctor", "--store", "cache"]).ok();
    assert!(
        doctor.out.contains("version `1` of `affine(f64) -> f64` has more than one source"),
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
fn changed_system_header_is_compiled_and_served() {
    let place = Sandbox::new();
    fs_err::create_dir(place.path("system")).unwrap();
    let function = "int f(double x, double *z) { *z = Q * x; return 0; }";
    place.write("t.c", format!("#section support_code\n#include <outside.h>\n{function}\n"));
    let manifest = "[[external]]\nname = \"tk\"\nfiles = [\"t.c\"]\nfunc = \"f\"\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n";
    let directory = place.path("system");
    place.write("precast.toml", format!("{manifest}header_dirs = [\"{}\"]\n", directory.display()));
    place.npy("one.npy", &[], vec![1.0]);
    // Back to a value that was compiled before: the artifact is found and served again.
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

/// All features of part A in a manifest: calls by name in graphs with built-in ops, params, in-place ops, files in
/// `./`.
#[test]
fn graphs_call_manifest_ops_by_name() {
    let place = place();
    let mirror = include_str!("../it/writing_ops/c/negate.c");
    place.write("mirror.c", mirror);
    let more = r#"
[[external]]
name = "mirror"
files = ["./mirror.c"]
inputs = ["f64[?]"]
outputs = ["f64[?]"]
destroy_map = [[0, 0]]

[[graph]]
name = "model"
inputs = ["x: f64[?]", "n: f64"]
outputs = ["sum(mirror(x) * vector_times_vector(x, exp(x - x))) + affine(n, alpha=-1)"]

[[op]]
name = "mirror"
dtypes = ["f64"]
ndim = [1]
"#;
    let text = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    place.write("precast.toml", text.replace("src/affine.c", "./src/../src/affine.c") + more);
    place.run(&["build", "--store", "cache"]).ok();
    place.npy("x.npy", &[3], vec![1.0, 2.0, 3.0]);
    place.npy("n.npy", &[], vec![2.0]);
    let z = || place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0;
    let served = ["--store", "cache", "--policy", "strict", "-i", "x=x.npy", "-o", "0=z.npy"];
    place.run(&[&["run", "--entry", "model", "-i", "n=n.npy"], &served[..]].concat()).ok();
    assert_eq!(z(), [-14.0 - 2.0 + 1.0]);
    // An expression can call ops of entries in the store, or of the manifest that it names.
    place.run(&[&["run", "--expr", "mirror(x)"], &served[..]].concat()).ok();
    assert_eq!(z(), [-1.0, -2.0, -3.0]);
    let jit = ["--policy", "jit", "-i", "x=x.npy", "-i", "n=n.npy", "-o", "0=z.npy"];
    let expression = ["run", "--manifest", "precast.toml", "--expr", "-mirror(x) + affine(n, shift=0)"];
    place.run(&[&expression[..], &jit[..]].concat()).ok();
    assert_eq!(z(), [6.0, 7.0, 8.0]);
    let wrong = |expression: &str, named: &[&str]| {
        let arguments = ["run", "--manifest", "precast.toml", "--expr", expression];
        place.run(&[&arguments[..], &jit[..]].concat()).fails(1, named);
    };
    wrong("n * mirrot(x)", &["line 1, column 5", "unknown function `mirrot`; nearest `mirror`", "    ^"]);
    wrong("mirror(x, x)", &["line 1, column 1", "takes 1 input(s), found 2", "^"]);
    wrong("mirror(f32(x))", &["input 0 has type `f32[?]`, expected `f64[?]`"]);
    wrong("affine(n, alpa=1)", &["prop `alpa` is unknown; nearest `alpha`"]);
    wrong("affine(n, shift=(1, 2))", &["prop `shift` is invalid"]);
    place.run(&["check-op", "--manifest", "precast.toml", "--expr", "mirror(x)", "--type", "x=f64[?]"]).ok();
}

#[test]
fn op_mistakes_are_reported_together() {
    let place = place();
    let text = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    let text = text.replace("APPLY_SPECIFIC(vector_times_vector)", "APPLY_SPECIFIC(vectors)");
    let graph = "[[graph]]\nname = \"g\"\ninputs = [\"n: f64\"]\noutputs = [\"affine(n)\"]\n";
    let matrix = "[[op]]\nname = \"exq\"\ndtypes = [\"f64\"]\nndim = [1]\n";
    let taken = "[[external]]\nname = \"f32\"\nfiles = [\"src/affine.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n\
                 params = { alpha = 2.5, shift = 1 }\n";
    place.write(
        "precast.toml",
        text.replace("alpha = 2.5, shift = 1", "alpha = \"x\", shift = 1") + graph + matrix + taken,
    );
    let told = [
        "[[external]] 1 (`vector_times_vector`), key `func`: `vector_times_vector` calls `APPLY_SPECIFIC(vectors)`",
        "[[external]] 2 (`affine`)",
        "[[external]] 3 (`f32`), key `name`: `f32` is already an op of the library",
        "calls `affine`, whose `[[external]]` is invalid",
        "unknown op `exq`",
        "hint: rename the op",
    ];
    place.run(&["build", "--store", "cache"]).fails(1, &told);
    // The same holds for errors that only a compiler finds.
    let place = self::place();
    place.write("src/affine.c", "#section code\nOUTPUT_0 = nowhere;\n");
    let c = include_str!("../it/external/c/vectorTimesVector.c");
    place.write("vector_times_vector.c", c.replacen("return 0", "return elsewhere", 1));
    place.run(&["build", "--store", "cache"]).fails(1, &["nowhere", "elsewhere"]);
}

#[test]
fn op_with_empty_version_is_compiled_if_allowed() {
    let place = place();
    let text = fs_err::read_to_string(place.path("precast.toml")).unwrap();
    let graph =
        "[[graph]]\nname = \"g\"\ninputs = [\"n: f64\"]\noutputs = [\"exp(affine(n) - affine(n))\"]\n";
    place.write("precast.toml", text.replace("params =", "version = []\nparams =") + graph);
    let built = place.run(&["build", "--store", "cache"]).ok();
    assert_eq!(built.warnings(), 1, "{}", built.err);
    place.npy("n.npy", &[], vec![2.0]);
    for (entry, input, value) in [("affine", "0=n.npy", 6.0), ("g", "n=n.npy", 1.0)] {
        let run = ["run", "--entry", entry, "-i", input, "-o", "0=z.npy", "--store", "cache", "--policy"];
        place.run(&[&run[..], &["jit"]].concat()).ok();
        assert_eq!(place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0, [value]);
        place.run(&[&run[..], &["strict"]].concat()).fails(3, &["miss: `affine(f64) -> f64`"]);
    }
    let listed = place.run(&["ls", "--json", "--store", "cache", "--signature", "affine*"]).ok().json();
    assert_eq!(listed["modules"], serde_json::json!([]), "never published");
}

#[test]
fn reference_finds_errors_and_replaces_missing_compiler() {
    let place = place();
    let manifest = r#"
[[external]]
name = "within"
files = ["within.c"]
dtypes = { T = ["f32", "f64"] }
inputs = ["{T}[?]"]
outputs = ["{T}[?]", "i64[]"]
params = { low = -1.5, high = 1.0 }
reference = ["minimum(maximum(x0, low), high)", "sum((x0 < low) | (x0 > high))"]

[[graph]]
name = "g"
inputs = ["x: f32[?]"]
outputs = ["within(x, low=0.5) * 2", "within(x, output=1)"]
"#;
    let c = "#section code\n\
        pc_xdecref((pc_object *)OUTPUT_0);\n\
        OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, INPUT_0->shape);\n\
        if (OUTPUT_0 == NULL || pc_scalar_out(ctx, PC_I64, (pc_object **)&OUTPUT_1) == NULL) { FAIL }\n\
        int64_t outside = 0;\n\
        for (int64_t i = 0; i < INPUT_0->shape[0]; i++) {\n\
          double x = *(const DTYPE_INPUT_0 *)(INPUT_0->data + i * INPUT_0->strides[0]);\n\
          outside += x < PARAMS->low || x > PARAMS->high;\n\
          double y = x < PARAMS->low ? PARAMS->low : x > PARAMS->high ? PARAMS->high : x;\n\
          *(DTYPE_OUTPUT_0 *)(OUTPUT_0->data + i * OUTPUT_0->strides[0]) = (DTYPE_OUTPUT_0)y;\n\
        }\n\
        *(pc_i64 *)OUTPUT_1->data = outside;\n";
    place.write("within.c", c);
    place.write("precast.toml", manifest);
    let check = ["check-op", "within", "--manifest", "precast.toml"];
    let checked = place.run(&args(&[&check[..], &["--json"]])).ok().json();
    assert_eq!(
        crate::reference::applies(&checked)[0],
        ("within(f32[?]) -> f32[?], i64[]".to_owned(), 11, true)
    );
    place.write(
        "within.c",
        c.replace("x > PARAMS->high ? PARAMS->high", "x >= PARAMS->high ? 2 * PARAMS->high"),
    );
    place.run(&check).fails(5, &[]);
    // Nothing is compiled: the graph is interpreted, both from the store and from the manifest.
    place.write("within.c", c);
    place.run(&["build", "--store", "cache"]).ok();
    place.npy("x.npy", &[4], vec![-2_f32, 0.75, 1.0, 3.0]);
    for policy in ["strict", "interpret"] {
        let run = ["run", "--entry", "g", "-i", "x=x.npy", "--policy", policy, "--store"];
        let store = if policy == "strict" { "cache" } else { "entries" };
        if policy == "interpret" {
            fs_err::rename(place.path("cache"), place.path("entries")).unwrap();
            fs_err::remove_dir_all(place.path("entries/keys")).unwrap();
        }
        let out = place.run(&[&run[..], &[store]].concat()).ok().out;
        assert!(out.contains("[1.0, 1.5, 2.0, 2.0]") && out.contains("i64[] = 2"), "{policy}: {out}");
    }
    for (from, to, told) in [
        (
            "maximum(x0, low)",
            "maximum(x0, lov)",
            &["key `reference`", "unknown name `lov`; nearest `low`"][..],
        ),
        ("\"sum((x0", "\"((x0", &["expression 1 has type `bool[?]`, output 1 is declared as `i64[]`"]),
        (", \"sum((x0 < low) | (x0 > high))\"", "", &["has 1 expression(s) for 2 output(s)"]),
    ] {
        place.write("precast.toml", manifest.replace(from, to));
        place.run(&["build", "--store", "again"]).fails(1, told);
    }
}
