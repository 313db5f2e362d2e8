//! Tests with the real Cargo, in temporary workspaces without external dependencies.

use super::{Query, collect};
use std::path::{Path, PathBuf};

/// Creates a workspace: `app` links `mid` (a feature links `extra`), `mid` links `leaf`; `tool` is a build
/// dependency. All packages except `mid` have declarations.
fn workspace(root: &Path) -> Query {
    let table = "[[package.metadata.precast.op]]\nname = \"add\"\ndtypes = [\"f64\"]\nndim = [1]\n";
    let package = |name: &str, rest: &str| {
        let directory = root.join(name);
        fs_err::create_dir_all(directory.join("src")).unwrap();
        fs_err::write(directory.join("src/lib.rs"), "").unwrap();
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        fs_err::write(directory.join("Cargo.toml"), head + rest).unwrap();
    };
    package("leaf", table);
    package("extra", table);
    package("tool", table);
    package("mid", "[dependencies]\nleaf = { path = \"../leaf\" }\n");
    let dependencies =
        "[dependencies]\nmid = { path = \"../mid\" }\nextra = { path = \"../extra\", optional = true }\n";
    package("app", &format!("{dependencies}[build-dependencies]\ntool = {{ path = \"../tool\" }}\n{table}"));
    let members = "members = [\"app\", \"mid\", \"leaf\", \"extra\", \"tool\"]\nresolver = \"2\"\n";
    let store = "[workspace.metadata.precast]\nstore = \"artifacts\"\n";
    fs_err::write(root.join("Cargo.toml"), format!("[workspace]\n{members}{store}")).unwrap();
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let lock = std::process::Command::new(&cargo)
        .args(["generate-lockfile", "--offline"])
        .current_dir(root)
        .output();
    assert!(lock.unwrap().status.success());
    let memo = root.join("out/dependencies.json");
    let target = precast_compile::host_target();
    Query { cargo, manifest_dir: root.join("app"), target, features: Some(Vec::new()), memo }
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn root() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(directory.path()).unwrap();
    (directory, root)
}

#[cfg(unix)]
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::write(path, text).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn only_linked_packages_declare() {
    let (_guard, root) = root();
    let mut query = workspace(&root);
    let found = collect(&query).unwrap();
    assert_eq!(names(&found.declaring), ["leaf"]);
    assert_eq!(found.store, Some(root.join("artifacts")));
    assert!(
        found.inputs.contains(&root.join("Cargo.lock"))
            && found.inputs.contains(&root.join("mid/Cargo.toml"))
    );
    assert!(found.inputs.iter().all(|path| path.exists()));
    query.features = Some(vec!["extra".to_owned()]);
    assert_eq!(names(&collect(&query).unwrap().declaring), ["extra", "leaf"]);
}

#[cfg(unix)]
#[test]
fn only_a_changed_graph_starts_cargo() {
    let (_guard, root) = root();
    let mut query = workspace(&root);
    // An answer is not stored if its files were written while Cargo ran.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let first = collect(&query).unwrap();
    let counted = root.join("counted");
    let log = root.join("log");
    let text = format!("#!/bin/sh\necho >> {}\nexec {} \"$@\"\n", log.display(), query.cargo.display());
    script(&counted, &text);
    query.cargo = counted;
    let starts = || fs_err::read_to_string(&log).map_or(0, |text| text.lines().count());
    assert_eq!(collect(&query).unwrap(), first);
    assert_eq!(starts(), 1);
    assert_eq!(collect(&query).unwrap(), first);
    assert_eq!(starts(), 1, "the memo answers");
    let manifest = root.join("mid/Cargo.toml");
    let changed = fs_err::read_to_string(&manifest).unwrap() + "[package.metadata.precast]\n";
    fs_err::write(&manifest, changed).unwrap();
    assert_eq!(names(&collect(&query).unwrap().declaring), ["leaf", "mid"]);
    assert_eq!(starts(), 2);
}

#[cfg(unix)]
#[test]
fn missing_test_packages_do_not_fail_metadata() {
    let (_guard, root) = root();
    let mut query = workspace(&root);
    let expected = collect(&query).unwrap();
    fs_err::remove_file(&query.memo).ok();
    let poor = root.join("poor");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *--no-deps*) ;; metadata*) echo 'error: failed to download' >&2; exit 101;; esac\nexec {} \"$@\"\n",
        query.cargo.display()
    );
    script(&poor, &text);
    query.cargo = poor;
    assert_eq!(collect(&query).unwrap(), expected);
}

#[test]
fn cargo_failure_is_quoted() {
    let (_guard, root) = root();
    let query = workspace(&root);
    fs_err::remove_file(root.join("Cargo.lock")).unwrap();
    let message = collect(&query).unwrap_err().to_string();
    assert!(message.contains("cargo metadata") && message.contains("--locked"), "{message}");
    assert!(!root.join("Cargo.lock").exists(), "no lock file is written");
}

#[test]
fn invalid_workspace_table_is_an_error() {
    let (_guard, root) = root();
    let query = workspace(&root);
    let manifest = root.join("Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap().replace("store =", "stor =");
    fs_err::write(&manifest, text).unwrap();
    let message = collect(&query).unwrap_err().to_string();
    assert!(message.contains("[workspace.metadata.precast]`: unknown field `stor`"), "{message}");
}
