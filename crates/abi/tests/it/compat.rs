//! Compiles and runs programs with the compat headers, as C and as C++, under the sanitizers: the tutorial's three ops
//! unchanged, and our own programs. Also checks that the README lists every symbol.

use precast_abi::{COMPAT_HEADERS, HEADERS, HOST_HEADERS};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c");

fn text(name: &str) -> String {
    fs_err::read_to_string(Path::new(FOLDER).join(name)).unwrap()
}

/// Compiles a program in both languages and runs it. Without sanitizers it prints a notice and runs anyway.
#[expect(clippy::print_stderr, reason = "a skip says so aloud")]
fn run(program: &str) {
    let scratch = tempfile::tempdir().unwrap();
    for (name, header) in HEADERS.iter().chain(HOST_HEADERS).chain(COMPAT_HEADERS) {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, header).unwrap();
    }
    fs_err::write(scratch.path().join("program.c"), program).unwrap();
    for (compiler, language) in [("gcc", ["-x", "c", "-std=gnu11"]), ("g++", ["-x", "c++", "-std=gnu++17"])] {
        let build = |sanitize: &[&str]| {
            let mut command = Command::new(compiler);
            command.current_dir(scratch.path()).args(language).args(sanitize);
            command.args([
                "-Wall",
                "-Wextra",
                "-Werror",
                "-g",
                "-O1",
                "-I.",
                "-I",
                FOLDER,
                "program.c",
                "-o",
                "program",
                "-lm",
            ]);
            command.output().unwrap()
        };
        let sanitized = build(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        let built = if String::from_utf8_lossy(&sanitized.stderr).contains("cannot find") {
            eprintln!("skipped: the sanitizers of {compiler} are not installed");
            build(&[])
        } else {
            sanitized
        };
        assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
        let ran = Command::new(scratch.path().join("program")).output().unwrap();
        let words = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && ran.stdout == b"done\n", "{compiler}: {words}");
    }
}

#[test]
fn objects_arrays_and_iterators_survive_every_failure() {
    run(&text("compat_core.c"));
}

#[test]
fn array_functions_match_numpy() {
    run(&text("compat_numpy.c"));
}

/// The name, type number and size in bytes of each tested dtype.
const DTYPES: [(&str, i32, usize); 6] = [
    ("int8", 1, 1),
    ("int32", 5, 4),
    ("uint32", 6, 4),
    ("int64", 7, 8),
    ("float32", 11, 4),
    ("float64", 12, 8),
];

/// Returns NumPy's promotion of two dtypes; arguments and result are positions in `DTYPES`.
fn upcast(x: usize, y: usize) -> usize {
    match (x.min(y), x.max(y)) {
        (1, 2) => 3,
        (1..=3, 4) => 5,
        (0, 2) => 3,
        (_, larger) => larger,
    }
}

#[test]
fn promotion_matches_numpy() {
    let mut program = text("compat_host.h") + "int main(void) {\n(void)host;\n";
    for (x, y) in pairs() {
        let (a, b, c) = (DTYPES[x].1, DTYPES[y].1, DTYPES[upcast(x, y)].1);
        writeln!(program, "CHECK(pc_compat_promote({a}, {b}) == {c});").unwrap();
    }
    run(&(program + "puts(\"done\");\nreturn 0;\n}\n"));
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..DTYPES.len()).flat_map(|x| (0..DTYPES.len()).map(move |y| (x, y)))
}

/// Fills in the placeholders that the tutorial's Python code fills in.
fn fill(template: &str, name: &str, x: usize, y: usize, z: usize) -> String {
    let mut code = template.to_owned();
    for (variable, at) in [("x", x), ("y", y), ("z", z)] {
        let (dtype, number, bytes) = DTYPES[at];
        code = code.replace(&format!("%(dtype_{variable})s"), dtype);
        code = code.replace(&format!("%(itemsize_{variable})s"), &bytes.to_string());
        code = code.replace(&format!("%(typenum_{variable})s"), &number.to_string());
        code = code.replace(&format!("%({variable})s"), variable);
    }
    code.replace("%(name)s", name).replace("%(fail)s", "{ *out = z; return 1; }").replace("%%", "%")
}

#[test]
fn tutorial_ops_run_unchanged() {
    let mut program = String::from("#include \"compat_host.h\"\n");
    program += "typedef int(op_function)(PyArrayObject *, PyArrayObject *, PyArrayObject **);\n";
    program += "typedef struct op_case { op_function *op; int x, y, z, scalar; const char *mismatch, *refusal; } op_case;\n";
    program += &text("vector_times_vector_support.c.in");
    let mut cases = String::from("static const op_case cases[] = {\n");
    for (x, y) in pairs() {
        let z = upcast(x, y);
        let numbers = |z: usize| format!("{}, {}, {}", DTYPES[x].1, DTYPES[y].1, DTYPES[z].1);
        for (op, z, scalar) in [("vector_times_scalar", x, 1), ("vector_times_vector", z, 0)] {
            let name = format!("{op}_{x}_{y}");
            if scalar == 0 {
                program += &fill(&text("vector_times_vector_apply.c.in"), &name, x, y, z);
            }
            let body = fill(&text(&format!("{op}.c.in")), &name, x, y, z);
            let head = format!("static int {name}(PyArrayObject *x, PyArrayObject *y, PyArrayObject **out)");
            writeln!(program, "{head} {{\nPyArrayObject *z = *out;\n{body}\n*out = z;\nreturn 0;\n}}")
                .unwrap();
            let mismatch = "Shape mismatch : x.shape[0] and y.shape[0] should match but x.shape[0] == 0 and y.shape[0] == 5";
            writeln!(cases, "{{{name}, {}, {scalar}, \"{mismatch}\", NULL}},", numbers(z)).unwrap();
        }
        program += &macros(x, y, z);
        program += &text("vectorTimesVector.c.in");
        program += "#undef APPLY_SPECIFIC\n";
        let mismatch = "Shape mismatch : input0.shape[0] and input1.shape[0] should match but x.shape[0] == 0 and y.shape[0] == 5";
        let refusal = "Could not allocate output storage";
        writeln!(
            cases,
            "{{vector_times_vector_ext_{x}_{y}, {}, 0, \"{mismatch}\", \"{refusal}\"}},",
            numbers(z)
        )
        .unwrap();
    }
    run(&(program + &cases + "};\n" + &text("compat_tutorial.c")));
}

/// Returns the macros for an op in its own file.
fn macros(x: usize, y: usize, z: usize) -> String {
    let mut text = format!("#define APPLY_SPECIFIC(name) name##_ext_{x}_{y}\n");
    for (variable, at) in [("INPUT_0", x), ("INPUT_1", y), ("OUTPUT_0", z)] {
        let (dtype, number, bytes) = DTYPES[at];
        for (what, value) in [
            ("DTYPE", format!("npy_{dtype}")),
            ("TYPENUM", number.to_string()),
            ("ITEMSIZE", bytes.to_string()),
        ] {
            writeln!(text, "#undef {what}_{variable}\n#define {what}_{variable} {value}").unwrap();
        }
    }
    text
}

/// Returns the defined words that look like names of CPython's or NumPy's C API.
fn defined() -> BTreeSet<String> {
    let is_name = |word: &&str| {
        let tail = word
            .strip_prefix("Py")
            .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'));
        tail || ["PY_", "NPY_", "npy_", "Npy", "import_", "_import_"]
            .iter()
            .any(|prefix| word.starts_with(prefix))
    };
    let mut names = BTreeSet::new();
    for (header, text) in COMPAT_HEADERS {
        let guard = |word: &str| matches!(word, "Py_PYTHON_H" | "NPY_ARRAYOBJECT_H");
        for line in text.lines() {
            // A definition starts its line, while enumerators and typedef lists are indented or follow `typedef`.
            let starts = ["#define ", "PC_COMPAT_", "typedef ", "} ", "  NPY_", "enum "];
            if !starts.iter().any(|start| line.starts_with(start)) {
                continue;
            }
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let all = line.starts_with("typedef ")
                || line.starts_with("enum ")
                || line.starts_with("  NPY_")
                || line.starts_with("} ");
            let words: Vec<&str> = words.filter(is_name).filter(|word| !guard(word)).collect();
            if all && !header.is_empty() {
                names.extend(words.into_iter().map(str::to_owned));
            } else if let Some(found) = own_name(line) {
                names.extend(Some(found).filter(is_name).filter(|word| !guard(word)).map(str::to_owned));
            }
        }
    }
    names
}

/// Returns the name that a `#define`, a function or a type object defines.
fn own_name(line: &str) -> Option<&str> {
    let end = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if let Some(rest) = line.strip_prefix("#define ") {
        return Some(&rest[..end(rest)]);
    }
    if let Some(rest) = line.strip_prefix("PC_COMPAT_TYPE_OBJECT(") {
        return Some(&rest[..end(rest)]);
    }
    let head = line.split('(').next()?;
    head.rsplit([' ', '*']).next()
}

#[test]
fn readme_lists_exactly_the_symbols() {
    let readme = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/compat/README.md")).unwrap();
    let listed: BTreeSet<String> =
        readme.split_once("## Symbols").unwrap().1.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let defined = defined();
    let missing: Vec<_> = defined.difference(&listed).map(|name| format!("`{name}`")).collect();
    let gone: Vec<_> = listed.difference(&defined).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not listed: {}\nnot defined: {gone:?}",
        missing.join(" ")
    );
    assert!(defined.len() >= 400, "{} symbols", defined.len());
}
