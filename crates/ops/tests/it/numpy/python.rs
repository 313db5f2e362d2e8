//! Runs NumPy in another process: expressions in, values out.

use fs_err as fs;
use precast_graph::{Array, DType};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// NumPy's result of an expression: a value, or the error message.
pub(super) type Answer = Result<Array, String>;

/// Finds a Python with NumPy 2: the one in `PRECAST_TEST_PYTHON`, or `python3`.
pub(super) fn find() -> Option<PathBuf> {
    let python = std::env::var_os("PRECAST_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let check = "import numpy, sys; sys.exit(int(numpy.__version__.split('.')[0]) < 2)";
    let found =
        Command::new(&python).args(["-c", check]).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    found.then(|| python.into())
}

/// Evaluates a batch of expressions with inputs.
pub(super) fn evaluate(python: &Path, cases: &[(String, Vec<(String, Array)>)]) -> Vec<Answer> {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("cases.json");
    let lines: Vec<String> = cases.iter().map(|(text, inputs)| request(text, inputs)).collect();
    fs::write(&input, lines.join("\n")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numpy/evaluate.py");
    let output = Command::new(python)
        .arg(script)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(fs::File::open(&input).unwrap().into_parts().0)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Answer> = String::from_utf8(output.stdout).unwrap().lines().map(answer).collect();
    assert_eq!(answers.len(), cases.len(), "one answer a line");
    answers
}

fn request(text: &str, inputs: &[(String, Array)]) -> String {
    let value =
        |array: &Array| json!({"dtype": array.dtype().name(), "shape": array.shape(), "bits": array.bits()});
    let inputs: serde_json::Map<String, Value> =
        inputs.iter().map(|(name, array)| (name.clone(), value(array))).collect();
    json!({"text": text, "inputs": inputs}).to_string()
}

fn answer(line: &str) -> Answer {
    let value: Value = serde_json::from_str(line).unwrap();
    if let Some(error) = value["error"].as_str() {
        return Err(error.to_owned());
    }
    let dtype: DType = value["dtype"].as_str().unwrap().parse().unwrap();
    let numbers =
        |key: &str| value[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    let shape: Vec<usize> = numbers("shape").into_iter().map(|n| usize::try_from(n).unwrap()).collect();
    Ok(Array::from_bits(dtype, &shape, &numbers("bits")).unwrap())
}
