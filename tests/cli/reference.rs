//! References of a manifest's ops: C functions of the author, and other ops; and names with two meanings.

use crate::sandbox::{Sandbox, args};
use serde_json::Value;

const MANIFEST: &str = r#"
[[external]]
name = "within"
files = ["within.c"]
dtypes = { T = ["f32", "f64"] }
inputs = ["{T}[?]"]
outputs = ["{T}[?]"]
params = { low = -1.5, high = 1.0 }
reference = { file = "plain.c", func = "within" }
"#;

const WITHIN: &str = "#section code\n\
    pc_xdecref((pc_object *)OUTPUT_0);\n\
    OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, INPUT_0->shape);\n\
    if (OUTPUT_0 == NULL) { FAIL }\n\
    for (int64_t i = 0; i < INPUT_0->shape[0]; i++) {\n\
      double x = *(const DTYPE_INPUT_0 *)(INPUT_0->data + i * INPUT_0->strides[0]);\n\
      double y = x < PARAMS->low ? PARAMS->low : x > PARAMS->high ? PARAMS->high : x;\n\
      *(DTYPE_OUTPUT_0 *)(OUTPUT_0->data + i * OUTPUT_0->strides[0]) = (DTYPE_OUTPUT_0)y;\n\
    }\n";

/// A function as printed in a book, with an include file next to it.
const PLAIN: &str = "#include <math.h>\n#include \"plain.h\"\n\
    double within(double x, double low, const double high) { return least(fmax(x, low), high); }\n";
const HEADER: &str = "static double least(double a, double b) { return b < a ? b : a; }\n";

const CHECK: &[&str] = &["check-op", "within", "--manifest", "precast.toml"];

/// Returns the signature of each checked Apply, the number of accepted inputs, and whether it has a reference.
pub(crate) fn applies(checked: &Value) -> Vec<(String, u64, bool)> {
    let apply = |apply: &Value| {
        let signature = apply["signature"].as_str().unwrap().to_owned();
        (signature, apply["accepted"].as_u64().unwrap(), apply["reference"].as_bool().unwrap())
    };
    checked["applies"].as_array().unwrap().iter().map(apply).collect()
}

/// Checks the op, which must violate its contract. Returns the kind of the first violation, and its details.
fn violation(place: &Sandbox) -> (String, String) {
    let broken = place.run(&args(&[CHECK, &["--json"]])).fails(5, &[]).json();
    let of = |apply: &Value| apply["violations"].as_array().unwrap().first().cloned();
    let first = broken["applies"].as_array().unwrap().iter().find_map(of).unwrap();
    let text = |key: &str| first[key].as_str().unwrap().to_owned();
    (text("kind"), text("detail"))
}

fn place() -> Sandbox {
    let place = Sandbox::new();
    place.write("precast.toml", MANIFEST);
    place.write("within.c", WITHIN);
    place.write("plain.c", PLAIN.replace("fmax(x, low)", "(x < low ? low : x)"));
    place.write("plain.h", HEADER);
    place
}

#[test]
fn a_function_in_c_finds_wrong_numbers() {
    let place = place();
    for _ in 0..2 {
        let checked = applies(&place.run(&args(&[CHECK, &["--json"]])).ok().json());
        let expected = |dtype| (format!("within({dtype}[?]) -> {dtype}[?]"), 11, true);
        assert_eq!(checked, ["f32", "f64"].map(expected));
        // The same function with an output pointer, and equal to C's own functions except for NaN.
        let pointer = "#include \"plain.h\"\nvoid within(double x, double low, double high, double *y) {\n\
                       *y = x < low ? low : least(x, high);\n}\n";
        place.write("plain.c", pointer);
    }
    place.write("within.c", WITHIN.replace("x > PARAMS->high ? PARAMS->high", "x > PARAMS->high ? 1.5"));
    let differs = "element [0] of output 0 is 1.5, perform returns 1.0";
    assert_eq!(violation(&place), ("DiffersFromPerform".to_owned(), differs.to_owned()));
    place.write("plain.c", PLAIN);
    place.write("within.c", WITHIN);
    // `fmax` drops a NaN, which the op keeps; so the C library was linked and called.
    assert!(violation(&place).1.ends_with("is NaN, perform returns -1.5"));
}

#[test]
fn unusable_reference_is_rejected_at_its_place() {
    let place = place();
    for (c, told) in [
        (
            "double within(double x, double low, double high) { return y; }",
            "within_reference/plain.c:1:59: 'y' undeclared",
        ),
        (
            "double withn(double x, double low, double high);",
            "plain.c:1: function `within` is not defined in it; nearest `withn`",
        ),
        (
            "\ndouble within(double x, double y, double low) { return x; }",
            "plain.c:2: `within` takes 2 number(s), expected one for each of 1 input(s), in addition to params named `high`, `low`",
        ),
        (
            "double within(const char *x) { return 0; }",
            "`within` takes for `x` `const char *`, which is not a C number type",
        ),
        (
            "struct p within(double x) { return p; }",
            "`within` returns `struct p`, which is not a C number type",
        ),
        ("double within(double x, double *y) { return 0; }", "returns a number and takes output pointers"),
        ("void within(double x, double *y, double *z) { }", "`within` returns 2 number(s) for 1 output(s)"),
        ("void within(double x) { }", "`within` returns 0 number(s) for 1 output(s)"),
    ] {
        place.write("plain.c", c);
        let ended = place.run(CHECK);
        // The column and the message are the compiler's.
        let told = told.split(":1:59").next().unwrap();
        assert!(ended.code == 1 && ended.err.contains(told), "{c}\n{}", ended.err);
    }
    place.write("precast.toml", MANIFEST.replace("plain.c", "nosuch.c"));
    place.run(CHECK).fails(1, &["precast.toml:9", "key `reference`", "nosuch.c"]);
    place.write("precast.toml", MANIFEST.replace("plain.c", "../plain.c"));
    place.run(CHECK).fails(1, &["it is outside the manifest's directory"]);
    place.write("precast.toml", MANIFEST.replace("func =", "function ="));
    place.run(CHECK).fails(1, &["expected an expression, a list of them, or `{ file = "]);
}

#[test]
fn reference_broadcasts_inputs_and_types_results() {
    let place = Sandbox::new();
    let manifest = "[[external]]\nname = \"both\"\nfiles = [\"both.c\"]\ninputs = [\"f64\", \"i64\"]\n\
                    outputs = [\"f64\", \"i64\"]\nreference = { file = \"plain.c\", func = \"both\" }\n\
                    [[external]]\nname = \"shift\"\nfiles = [\"shift.c\"]\ninputs = [\"f64[?]\", \"i32[]\"]\n\
                    outputs = [\"f64[?]\"]\nreference = { file = \"plain.c\", func = \"shift\" }\n";
    place.write("precast.toml", manifest);
    place.write(
        "both.c",
        "#section code\nOUTPUT_0 = INPUT_0 + (double)INPUT_1;\nOUTPUT_1 = (INPUT_0 > 0) - INPUT_1;\n",
    );
    let shift = WITHIN.split("double y").next().unwrap().to_owned()
        + "*(double *)(OUTPUT_0->data + i * OUTPUT_0->strides[0]) = x - *(const int32_t *)INPUT_1->data;\n    }\n";
    place.write("shift.c", shift);
    let plain = "#include <stdint.h>\nstatic inline void both(double x, int64_t n, double *sum, long long *less) {\n\
                 *sum = x + (double)n; *less = (x > 0) - n; }\n\
                 double shift(double x, int n) { return x - n; }\n";
    place.write("plain.c", plain);
    let check = ["check-op", "--json", "--manifest", "precast.toml"];
    let checked = applies(&place.run(&check).ok().json());
    let expected = [("both(f64, i64) -> f64, i64", 9), ("shift(f64[?], i32[]) -> f64[?]", 11)];
    assert_eq!(checked, expected.map(|(signature, accepted)| (signature.to_owned(), accepted, true)));
    place.write("plain.c", plain.replace("(x > 0)", "(x <= 0)").replace("x - n;", "x + n;"));
    let broken = place.run(&check).fails(5, &[]).json();
    assert_eq!((&broken["checked"], &broken["violations"]), (&2.into(), &2.into()), "{broken:#}");
}

#[test]
fn reference_does_not_change_the_modules() {
    let place = place();
    let keys = || {
        let built = place.run(&["build", "--store", "store", "--json"]).ok().json();
        let listed = place.run(&["ls", "--store", "store", "--json"]).ok();
        (built["compiled"].clone(), listed.out)
    };
    let (_, before) = keys();
    place.write("plain.c", "double within(double x) { return 2 * x; }\n");
    assert_eq!(keys().1, before, "another function in C");
    place.write(
        "precast.toml",
        MANIFEST.replace("{ file = \"plain.c\", func = \"within\" }", "\"clip(x0, low, high)\""),
    );
    assert_eq!(keys().1, before, "an expression");
    assert!(!before.contains("within_reference"));
}

#[test]
fn debug_mode_compares_calls_with_the_reference() {
    let place = place();
    place.write("within.c", WITHIN.replace("PARAMS->high : x", "2 : x"));
    place.npy("x.npy", &[2], vec![0.5, 3.0]);
    let run =
        ["run", "--expr", "within(x)", "--manifest", "precast.toml", "-i", "x=x.npy", "--policy", "jit"];
    place.run(&run).ok();
    let mut command = place.command(run);
    let ended = crate::sandbox::Ended::of(command.env("PRECAST_DEBUG", "1").output().unwrap());
    ended.fails(5, &["within", "element [1] of output 0 is 2.0, perform returns 1.0"]);
}

#[test]
fn reference_calls_other_manifest_ops() {
    let place = place();
    let twice = "\n[[external]]\nname = \"twice_within\"\nfiles = [\"twice.c\"]\ninputs = [\"f64[?]\"]\n\
                 outputs = [\"f64[?]\"]\nreference = \"2 * within(x0, high=3.0)\"\n";
    let c = WITHIN
        .replace("PARAMS->low", "-1.5")
        .replace("PARAMS->high", "3")
        .replace("(DTYPE_OUTPUT_0)y", "2 * y");
    place.write("twice.c", &c);
    let check = |manifest: String, code: i32| {
        place.write("precast.toml", manifest);
        let ended = place.run(&["check-op", "twice_within", "--json", "--manifest", "precast.toml"]);
        assert_eq!(ended.code, code, "{}{}", ended.out, ended.err);
        ended.out + &ended.err
    };
    let by_c = MANIFEST.replace("{ file = \"plain.c\", func = \"within\" }", "\"clip(x0, low, high)\"");
    let alone = MANIFEST.replace("reference", "# reference");
    // Declared before or after its reference; with a reference in C, with an expression, with its own C alone.
    for manifest in
        [format!("{MANIFEST}{twice}"), format!("{twice}{MANIFEST}"), by_c + twice, format!("{alone}{twice}")]
    {
        let checked: Value = serde_json::from_str(&check(manifest, 0)).unwrap();
        assert!(applies(&checked)[0].2, "{checked:#}");
    }
    place.write("twice.c", c.replace("2 * y", "3 * y"));
    assert!(check(format!("{MANIFEST}{twice}"), 5).contains("DiffersFromPerform"));
    for (from, to, told) in [
        (
            "within(x0, high=3.0)",
            "twice_within(x0)",
            "key `reference`: calls itself: `twice_within` calls `twice_within`",
        ),
        ("high=3.0", "hihg=3.0", "prop `hihg` is unknown; nearest `high`"),
    ] {
        let told_now = check(format!("{alone}{}", twice.replace(from, to)), 1);
        assert!(told_now.contains(told), "{told_now}");
    }
    // Without a compiler the built module is still available.
    place.write("twice.c", &c);
    place.write("precast.toml", format!("{alone}{twice}"));
    place.npy("x.npy", &[2], vec![0.5, 4.0]);
    let run = [
        "run",
        "--expr",
        "twice_within(x)",
        "--manifest",
        "precast.toml",
        "-i",
        "x=x.npy",
        "--policy",
        "interpret",
    ];
    place.run(&run).fails(1, &["`within` has no reference"]);
    place.run(&["build", "--store", "store"]).ok();
    fs_err::remove_dir_all(place.path("precast-repro")).unwrap();
}

#[test]
fn manifest_op_overrides_the_library() {
    let place = place();
    let manifest =
        MANIFEST.replace("{ file = \"plain.c\", func = \"within\" }", "\"np.clip(x0, low, high)\"");
    let manifest = manifest.replace("\"within\"", "\"clip\"").replace("[\"f32\", \"f64\"]", "[\"f64\"]")
        + "[[graph]]\nname = \"g\"\ninputs = [\"x: f64[?]\"]\n\
           outputs = [\"clip(x, high=2.0)\", \"np.clip(x, 0, 1)\", \"x.clip(0, 5)\"]\n\
           [[op]]\nname = \"clip\"\ndtypes = [\"f64\"]\nndim = [1]\n";
    place.write("precast.toml", manifest);
    place.npy("x.npy", &[3], vec![-2.0, 0.5, 9.0]);
    let built = place.run(&["build", "--store", "store"]).ok();
    let note = "precast.toml:3: [[external]] 1 (`clip`): op `clip` shadows the library function";
    assert_eq!(built.err.matches(note).count(), 1, "{}", built.err);
    assert!(built.err.contains("hint: use `np.clip(…)` for the library function"), "{}", built.err);
    let ran = place.run(&["run", "--entry", "g", "--store", "store", "-i", "x=x.npy"]).ok().out;
    for expected in ["[-1.5, 0.5, 2.0]", "[0.0, 0.5, 1.0]", "[0.0, 0.5, 5.0]"] {
        assert!(ran.contains(expected), "{ran}");
    }
    let expression = |more: &[&str]| {
        let run = ["run", "--expr", "clip(x, 0, 5)", "-i", "x=x.npy"];
        place.run(&args(&[&run, more]))
    };
    expression(&["--manifest", "precast.toml"])
        .fails(1, &["`clip` takes 1 input(s), found 3", "signature: `clip(x0, *, high=1.0, low=-1.5)`"]);
    // Without the manifest the name means the library's function, whatever a store holds.
    assert!(expression(&["--store", "store"]).ok().out.contains("[0.0, 0.5, 5.0]"));
    place.run(&["check-op", "clip", "--manifest", "precast.toml"]).ok();
}
