//! Tests that every mistake is reported with its file, line, table and key.

mod lines;

use super::Manifest;
use crate::declared::{Declared, Owner};
use crate::lock::Lock;
use crate::plan::plan;
use crate::problem::DeclareError;
use precast_compile::Isa;
use precast_core::Metadata;
use precast_graph::DType;
use precast_ops::Ops;
use std::path::Path;

const ADD: &str = "[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [1, 2]\n";
const SCORE: &str =
    "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"out = x + y\"]\n";

fn declare(text: &str) -> Result<Declared, DeclareError> {
    let mut declared = Declared::default();
    let manifest = Manifest::parse(Path::new("precast.toml"), text.to_owned())?;
    manifest.declare(&mut declared).map(|()| declared)
}

fn refusal(text: &str) -> String {
    declare(text).expect_err("a mistake").to_string()
}

#[test]
fn a_manifest_declares_matrices_and_graphs() {
    let declared = declare(&format!("isa = [\"x86-64-v3\"]\n{ADD}{SCORE}")).unwrap();
    let [matrix] = declared.matrices() else { panic!("one matrix") };
    assert_eq!(matrix.name, "add");
    assert!(matrix.dtypes.iter().eq(&[DType::F32, DType::F64]) && matrix.ndim.iter().eq(&[1, 2]));
    let graph = &declared.graphs()["score"].graph;
    assert_eq!((graph.inputs().len(), graph.output_name(0).as_str()), (2, "out"));
}

#[test]
fn gradients_add_a_graph_with_the_cost() {
    let cost = SCORE.replace("x + y", "sum(x * y * y)");
    let declared = declare(&format!("{cost}gradients = [\"y\", \"x\"]\ndoc = \"The cost.\"\n")).unwrap();
    let graph = &declared.graphs()["score.value_and_grad"].graph;
    let outputs: Vec<String> = (0..3).map(|position| graph.output_name(position)).collect();
    assert_eq!(outputs, ["out", "grad_y", "grad_x"]);
    for (text, expected) in [
        (format!("{cost}gradients = [\"z\"]\n"), "key `gradients`: `grad`: the graph has no input `z`"),
        (format!("{SCORE}gradients = [\"x\"]\n"), "the cost has type `f64[?]`, expected a number"),
        (
            format!("{}gradients = [\"x\"]\n", cost.replace("x: f64", "x: i64")),
            "does not support dtype `i64`",
        ),
    ] {
        let message = refusal(&text);
        assert!(message.contains(expected), "expected `{expected}` in:\n{message}");
    }
}

#[test]
fn graph_documentation_becomes_entry_metadata() {
    let declared = declare(&format!("{SCORE}doc = \"\"\"\nAdds.\n\"\"\"\n")).unwrap();
    assert_eq!(declared.metadata("score").documentation, "Adds.");
    let planned = plan(&declared).unwrap();
    assert_eq!(planned.entries[0].metadata, declared.metadata("score"));
    assert!(planned.functions.is_empty());
    let plain = plan(&declare(SCORE).unwrap()).unwrap();
    assert!(plain.entries[0].metadata.is_empty());
    assert_eq!(Lock::entry_key(&plain.entries[0]), Lock::entry_key(&planned.entries[0]));
}

#[test]
fn package_description_wins_in_any_order() {
    let about = |text: &str| Metadata { documentation: text.to_owned(), ..Metadata::default() };
    let described = |texts: &[(Owner, &str)]| {
        let mut declared = Declared::default();
        for (owner, text) in texts {
            declared.set_owner(*owner);
            declared.describe("score", about(text));
        }
        declared.metadata("score").documentation
    };
    let (package, dependency) = (Owner::Package, Owner::Dependency);
    assert_eq!(described(&[(dependency, "a"), (package, "b")]), "b");
    assert_eq!(described(&[(package, "b"), (dependency, "a"), (package, "")]), "b");
    assert_eq!(described(&[(package, "b"), (package, "a")]), described(&[(package, "a"), (package, "b")]));
}

#[test]
fn mistakes_are_reported_with_position() {
    let two_graphs = SCORE.replace("x + y", "x + z");
    let table: &[(String, &[&str])] = &[
        // invalid TOML
        ("[[op]\n".to_owned(), &["precast.toml:1"]),
        // violations of the schema
        (format!("{ADD}rank = 3\n"), &["precast.toml:5: [[op]] 1: unknown field `rank`"]),
        (format!("{SCORE}{ADD}ndims = 1\n"), &["precast.toml:9: [[op]] 1: unknown field `ndims`"]),
        ("[[op]]\nname = \"add\"\nndim = [1]\n".to_owned(), &["[[op]] 1", "missing field `dtypes`"]),
        (
            "[op]\nname = \"add\"\n".to_owned(),
            &["precast.toml:1", "expected a sequence", "hint: use a separate table", "`[[op]]`"],
        ),
        (ADD.replace("[1, 2]", "\"1\""), &["precast.toml:4: [[op]] 1: `ndim`: ", "expected a sequence"]),
        (
            SCORE.replace("[\"x: f64[?]\", \"y: f64[?]\"]", "{ x = \"f64[?]\" }"),
            &["`inputs`: ", "expected a sequence", "hint: use brackets for a list: `inputs = [\"…\"]`"],
        ),
        (ADD.replace("\"add\"", "3"), &["[[op]] 1: `name`: invalid type: integer `3`, expected a string"]),
        (
            ADD.replace("[1, 2]", "[-1]"),
            &["precast.toml:4: [[op]] 1", "integer `-1`, expected a non-negative whole number"],
        ),
        ("ops = 3\n".to_owned(), &["precast.toml:1: unknown field `ops`"]),
        // invalid values
        (
            ADD.replace("\"f32\"", "\n\"f31\""),
            &[
                "precast.toml:4: [[op]] 1 (`add`), key `dtypes`: unknown dtype `f31`, expected one of bool, i8",
            ],
        ),
        (ADD.replace("[1, 2]", "[]"), &["precast.toml:2: [[op]] 1 (`add`), key `ndim`: empty list"]),
        (ADD.replace("[1, 2]", "[1, 33]"), &["key `ndim`: found 33 dimensions, expected at most 32"]),
        (
            format!("{SCORE}{SCORE}"),
            &[
                "precast.toml:6: [[graph]] 2 (`score`): duplicate graph `score`",
                "precast.toml:2: [[graph]] 1",
            ],
        ),
        (SCORE.replace("score", "a/b"), &["precast.toml:2: [[graph]] 1 (`a/b`): invalid entry name `a/b`"]),
        (SCORE.replace("score", r"a\n\u001bb"), &[r"[[graph]] 1 (`a\n\u{1b}b`): invalid entry name"]),
        (
            SCORE.replace("x: f64", "x: f46"),
            &["precast.toml:3: [[graph]] 1 (`score`), key `inputs`", "unknown dtype `f46`"],
        ),
        (two_graphs, &["precast.toml:4: [[graph]] 1 (`score`), key `outputs`", "unknown name `z`", "^"]),
        (SCORE.replace("outputs", "file"), &["precast.toml:4: [[graph]] 1", "expected a string"]),
        (
            "[[graph]]\nname = \"g\"\nfile = \"missing.json\"\n".to_owned(),
            &[
                "precast.toml:3: [[graph]] 1 (`g`), key `file`: failed to open file `missing.json`: No such file",
            ],
        ),
        (
            format!("{SCORE}serve = [\"whole\", \"op\"]\n"),
            &[
                "precast.toml:5: [[graph]] 1 (`score`), key `serve`: found `op`, expected `whole`, `groups` or `ops`",
            ],
        ),
        (
            "[[graph]]\nname = \"g\"\ninputs = []\n".to_owned(),
            &[
                "precast.toml:2: [[graph]] 1 (`g`): invalid graph: expected either `file`, or",
                "found `inputs`",
            ],
        ),
    ];
    for (text, parts) in table {
        let message = refusal(text);
        for part in *parts {
            assert!(message.contains(part), "expected `{part}` in:\n{message}\nof:\n{text}");
        }
    }
}

#[test]
fn misspelled_tables_scalars_and_inputs_are_explained() {
    let table: &[(String, &[&str])] = &[
        (
            format!("{ADD}{}", ADD.replace("[[op]]", "[[ops]]")),
            &["precast.toml:5: unknown table `[[ops]]`", "nearest `[[op]]`"],
        ),
        (ADD.replace("[1, 2]", "2"), &["hint: use brackets for a list: `ndim = [2]`"]),
        (
            SCORE.replace("y: f64", "x: f64"),
            &["precast.toml:3: [[graph]] 1 (`score`), key `inputs`: ", "duplicate name `x`"],
        ),
        (
            SCORE.replace("x: f64", "x: f46").replace("y: f64", "y: g64"),
            &["unknown dtype `f46`", "unknown dtype `g64`"],
        ),
    ];
    for (text, parts) in table {
        let message = refusal(text);
        for part in *parts {
            assert!(message.contains(part), "expected `{part}` in:\n{message}\nof:\n{text}");
        }
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let message =
        refusal(&format!("{}{}", ADD.replace("f32", "f31").replace("f64", "f63"), SCORE.replace("x: ", "")));
    assert_eq!(message.lines().filter(|line| line.starts_with("precast.toml:")).count(), 3, "{message}");
    // An unknown key in any table does not hide other mistakes.
    let more = format!("isas = 1\n{}rank = 3\n{SCORE}serves = 1\n", ADD.replace("f32", "f31"));
    let message = refusal(&more);
    for line in [
        "1: unknown field `isas`",
        "4: [[op]] 1 (`add`)",
        "6: [[op]] 1: unknown field `rank`",
        "11: [[graph]] 1",
    ] {
        assert!(message.contains(&format!("precast.toml:{line}")), "{line}:\n{message}");
    }
    let message = refusal("[[op]]\nname = \"add\"\ndtype = [\"f32\"]\nndim = [1]\n");
    assert!(
        message.contains("unknown field `dtype`") && message.contains("missing field `dtypes`"),
        "{message}"
    );
    // Values of the wrong type and missing keys do not hide other mistakes either. Tables keep their numbers, and a
    // graph that calls an op with an unreadable table causes no second error.
    let external = "[[external]]\nname = \"own\"\nfiles = \"own.c\"\noutputs = [\"f64[?]\"]\n";
    let more = format!(
        "isa = 3\n{}[[op]]\nname = \"add\"\n{}{external}{}",
        ADD.replace("[1, 2]", "2"),
        ADD.replace("f32", "f31"),
        SCORE.replace("x + y", "own(x) + y").replace("y: f64", "y: f46"),
    );
    let message = refusal(&more);
    for line in [
        "1: `isa`: invalid type",
        "5: [[op]] 1: `ndim`: invalid type",
        "6: [[op]] 2: missing field `dtypes`",
        "10: [[op]] 3 (`add`), key `dtypes`: unknown dtype `f31`",
        "14: [[external]] 1: `files`: invalid type",
        "18: [[graph]] 1 (`score`), key `inputs`",
    ] {
        assert!(message.contains(&format!("precast.toml:{line}")), "{line}:\n{message}");
    }
    assert!(!message.contains("`own`"), "{message}");
    let many: String = (0..100).map(|key| format!("k{key} = 1\n")).collect();
    assert_eq!(refusal(&many).matches("unknown field").count(), 20);
}

#[test]
fn package_metadata_has_the_same_schema() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("Cargo.toml");
    let package = "[package]\nname = \"library\"\nversion = \"0.1.0\"\n\n";
    fs_err::write(&path, package).unwrap();
    assert!(Manifest::read_metadata(&path).unwrap().is_none());
    let tables = ADD.replace("[[op]]", "[[package.metadata.precast.op]]");
    fs_err::write(&path, format!("{package}{tables}")).unwrap();
    let manifest = Manifest::read_metadata(&path).unwrap().unwrap();
    assert_eq!(manifest.document().op.len(), 1);
    fs_err::write(&path, format!("{package}{tables}rank = 1\n")).unwrap();
    let read = Manifest::read_metadata(&path).unwrap().unwrap();
    let message = read.declare(&mut Declared::default()).unwrap_err().to_string();
    assert!(message.contains("Cargo.toml:9: [[op]] 1: unknown field `rank`"), "{message}");
}

#[test]
fn graph_files_are_read_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("precast.toml");
    let graph = directory.path().join("g.json");
    fs_err::write(&path, "[[graph]]\nname = \"g\"\nfile = \"g.json\"\n").unwrap();
    fs_err::write(&graph, precast_graph::json::render(&declare(SCORE).unwrap().graphs()["score"].graph))
        .unwrap();
    let manifest = Manifest::read(&path).unwrap();
    assert_eq!(manifest.inputs(), [path.clone(), graph.clone()]);
    let mut declared = Declared::default();
    manifest.declare(&mut declared).unwrap();
    assert_eq!(declared.graphs()["g"].graph.outputs().len(), 1);
    fs_err::write(&graph, "{\"precast_graph\": 99}").unwrap();
    let manifest = Manifest::read(&path).unwrap();
    let message = manifest.declare(&mut Declared::default()).unwrap_err().to_string();
    assert!(
        message.contains("precast.toml:3") && message.contains("g.json") && message.contains("version 99"),
        "{message}"
    );
    assert!(message.contains("\nhint: "), "{message}");
}

#[test]
fn isa_levels_parse_and_unknown_ones_fail() {
    let isa = |text: &str| Manifest::parse(Path::new("precast.toml"), text.to_owned()).unwrap().isa();
    assert_eq!(isa(ADD), Ok(None));
    assert_eq!(isa("isa = [\"x86-64-v3\"]"), Ok(Some(vec![Isa::X86_64V3])));
    let message = isa("\nisa = [\"avx9\", \"native\"]").unwrap_err().to_string();
    assert!(message.contains("precast.toml:2: key `isa`: unknown ISA level `avx9`"), "{message}");
    assert!(message.contains("ISA level `native` depends"), "{message}");
}

#[test]
fn targets_are_checked_with_all_declarations() {
    let message =
        refusal(&format!("isa = [\"avx9\"]\ntarget = \"z80-unknown\"\n{SCORE}").replace("x + y", "x + z"));
    for part in [
        "precast.toml:1: key `isa`: unknown ISA level `avx9`",
        "precast.toml:2: key `target`: unknown target `z80-unknown`",
        "unknown name `z`",
    ] {
        assert!(message.contains(part), "`{part}` in {message}");
    }
    declare(&format!("isa = [\"aarch64\"]\ntarget = \"aarch64-unknown-linux-gnu\"\n{SCORE}")).unwrap();
}

#[test]
fn param_types_are_read_with_error_lines() {
    let directory = tempfile::tempdir().unwrap();
    fs_err::write(directory.path().join("f.c"), "#section code\nOUTPUT_0 = PARAMS->alpha;\n").unwrap();
    let path = directory.path().join("precast.toml");
    let declare = |types: &str| {
        let text = format!(
            "[[external]]\nname = \"f\"\nfiles = [\"f.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n\
             params = {{ alpha = 0.1, side = \"right\", mode = \"FE_UPWARD\", w = [1, 0.5] }}\n\
             [external.param_types]\n{types}"
        );
        fs_err::write(&path, text).unwrap();
        let mut declared = Declared::default();
        let found = Manifest::read(&path).and_then(|manifest| manifest.declare(&mut declared));
        found.map(|()| declared.graphs()["f"].graph.clone()).map_err(|error| error.to_string())
    };
    let graph = declare(
        "alpha = \"f32\"\nside = { enum = { LEFT = 3, RIGHT = 0.5 }, ctype = \"double\", aliases = { right = \"RIGHT\" } }\n\
         mode = { enum = [\"FE_TONEAREST\", \"FE_UPWARD\"], headers = [\"<fenv.h>\"] }\nw = { tensor = \"f32\" }\n",
    );
    let graph = graph.unwrap();
    let module = precast_codegen::link(&graph, Ops::standard().c()).unwrap();
    for line in ["pc_f32 alpha;", "double side;", "int mode;", "pc_tensor *w;"] {
        assert!(module.body.contains(line), "{line} in {}", module.body);
    }
    let values = precast_codegen::slots(&graph, Ops::standard().c()).unwrap();
    let dtypes: Vec<&str> = values.iter().map(|value| value.dtype().name()).collect();
    // The order is alphabetical: alpha, mode (the position of the constant), side, w.
    assert_eq!(dtypes, ["f32", "i64", "f64", "f32"]);
    assert_eq!(values[1], precast_graph::Array::from(1_i64));
    assert_eq!(values[2], precast_graph::Array::from(0.5));
    for (types, expected) in [
        (
            "alpha = \"f33\"",
            "precast.toml:8: [[external]] 1 (`f`), key `param_types`: type of `alpha`: unknown dtype `f33`",
        ),
        ("\nside = { enum = [\"A\"], aliases = { a = \"B\" } }", "precast.toml:9"),
        ("beta = \"f64\"", "`param_types` has unknown param `beta`"),
        ("side = { enum = { A = 1 }, headers = [\"<a.h>\"] }", "list their names"),
    ] {
        let error = declare(types).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn non_text_header_has_its_own_error() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs_err::write(directory.path().join(name), bytes).unwrap();
    write("f.c", b"#section support_code\n#include \"near.h\"\n#section code\nOUTPUT_0 = INPUT_0;\n");
    write("near.h", b"#include \"far.h\"\n");
    write("far.h", b"/* caf\xe9 */\n");
    write(
        "precast.toml",
        b"[[external]]\nname = \"f\"\nfiles = [\"f.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n",
    );
    let manifest = Manifest::read(&directory.path().join("precast.toml")).unwrap();
    let error = manifest.declare(&mut Declared::default()).unwrap_err().to_string();
    assert!(error.contains("far.h") && error.contains("UTF-8"), "{error}");
}

#[test]
fn partial_readers_know_every_key() {
    let error = toml::from_str::<super::schema::Document>("unknown = 1").unwrap_err().to_string();
    let listed = error.split_once("expected one of").expect("a list of the keys").1;
    let mut keys: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let mut known = precast_ops::MANIFEST_KEYS.to_vec();
    keys.sort_unstable();
    known.sort_unstable();
    assert_eq!(keys, known);
}
