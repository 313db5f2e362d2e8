//! Builds the examples with the compiler and pkg-config, and with CMake, and runs them.

use crate::installed::{Installed, Language, answers, run};
use precast_testkit::package::root;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// sum(exp(-x*x)*y + z), exp(-0.25)*0.5
const PRINTED: &str = "score 18.661240\ngauss 0.389400\n";

const MANIFEST: &str = "examples/precast.toml";

fn example(name: &str) -> PathBuf {
    root().join("crates/capi/examples").join(name)
}

#[test]
fn examples_pass_valgrind_with_both_libraries() {
    let installed = Installed::new();
    let bundle = installed.bundle(MANIFEST);
    let everybodys = installed.path("everybodys.precast");
    fs_err::copy(&bundle, &everybodys).unwrap();
    fs_err::set_permissions(&everybodys, Permissions::from_mode(0o666)).unwrap();
    let package = fs_err::read_to_string(installed.prefix().join("lib/pkgconfig/precast.pc")).unwrap();
    let private = package.lines().find_map(|line| line.strip_prefix("Libs.private: ")).unwrap();
    let alone: Vec<&str> = ["-l:libprecast.a"].into_iter().chain(private.split(' ')).collect();
    for language in Language::all() {
        let source = example(&format!("score.{}", language.suffix()));
        for link in [&["-lprecast"][..], &alone] {
            let program = installed.path("score");
            installed.compile(language, &source, &program, link);
            assert_eq!(run(installed.command(&program).arg(&bundle)), PRINTED, "{}", source.display());
            if let Some(mut valgrind) = installed.valgrind() {
                assert_eq!(
                    run(valgrind.arg(&program).arg(&bundle)),
                    PRINTED,
                    "{} under valgrind",
                    source.display()
                );
            }
            let refused = |bundle: &Path| {
                let ended = installed.command(&program).arg(bundle).output().unwrap();
                (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
            };
            let (code, told) = refused(&installed.path("absent"));
            assert!(code == Some(1) && told.starts_with("PRECAST_ERROR_BUNDLE: bundle `"), "{told}");
            let (code, told) = refused(&everybodys);
            assert!(code == Some(1) && told.starts_with("PRECAST_ERROR_BUNDLE: cannot trust `"), "{told}");
            assert!(told.contains("\nhint: "), "{told}");
        }
    }
}

#[test]
fn examples_list_entries_and_read_strided_arrays() {
    let installed = Installed::new();
    let bundle = installed.bundle(MANIFEST);
    let listed = "gauss(x: f64) -> (out: f64)\nscore(x: f64[?], y: f64[?], z: f64[?]) -> (out: f64[])\n";
    // exp(0)*1 + 5 + exp(-0.25)*2 + 5 + exp(-1)*3 + 5
    for (name, printed) in [("inspect", listed), ("strided", "score 18.661240\n")] {
        let program = installed.path(name);
        installed.compile(Language::C, &example(&format!("{name}.c")), &program, &["-lprecast"]);
        assert_eq!(run(installed.command(&program).arg(&bundle)), printed);
    }
}

/// The means of the model of `normal.toml`, by quadrature, and the error of 20 000 draws: mu, tau.
const MEANS: [(&str, f64, f64); 2] = [("mu[0]", 1.9847, 0.05), ("tau[0]", 0.9274, 0.05)];

#[test]
fn hamiltonian_monte_carlo_samples_a_package() {
    let installed = Installed::new();
    let (bundle, program) = (installed.bundle("../density/examples/normal.toml"), installed.path("hmc"));
    installed.compile(Language::C, &example("hmc.c"), &program, &["-lprecast", "-lm"]);
    let printed = run(installed.command(&program).arg(&bundle).arg("20000"));
    for (name, mean, error) in MEANS {
        let line = printed.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let found: f64 = line.split_whitespace().next().unwrap_or_default().parse().unwrap();
        assert!((found - mean).abs() < error, "{name}: {printed}");
    }
    if let Some(mut valgrind) = installed.valgrind() {
        run(valgrind.arg(&program).arg(&bundle).arg("10"));
    }
}

/// The graph that the reload example calls.
const RELOADED: &str =
    "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = sum(x)\"]\n";

#[test]
fn threads_call_a_model_while_it_is_reloaded() {
    let installed = Installed::new();
    let (manifest, program) = (installed.path("reload.toml"), installed.path("reload"));
    fs_err::write(&manifest, RELOADED).unwrap();
    let bundle = installed.bundle(manifest.to_str().unwrap());
    fs_err::write(installed.path("lines"), "\n\n").unwrap();
    installed.compile(Language::C, &example("reload.c"), &program, &["-lprecast", "-pthread"]);
    for command in [Some(installed.command(&program)), installed.valgrind()] {
        let Some(mut command) = command else { continue };
        if command.get_program() != program {
            command.arg(&program);
        }
        command.args(["4", "5"]).args([&bundle, &bundle]);
        let (lines, _) = fs_err::File::open(installed.path("lines")).unwrap().into_parts();
        assert_eq!(run(command.stdin(lines)), "done\ndone\n");
    }
}

/// Returns the code blocks of a language in the README.
fn blocks(language: &str) -> Vec<String> {
    let readme = fs_err::read_to_string(root().join("crates/capi/README.md")).unwrap();
    let parts = readme.split("```").skip(1).step_by(2);
    parts.filter_map(|part| part.strip_prefix(&format!("{language}\n")).map(str::to_owned)).collect()
}

#[test]
fn readme_programs_and_commands_work() {
    let installed = Installed::new();
    let (source, program) = (installed.path("readme.c"), installed.path("readme"));
    let shown = blocks("c").concat().replace("return 1;", "return 3;");
    let text = "#include <precast.h>\n#include <stdio.h>\nint main(void) {\n".to_owned() + &shown;
    fs_err::write(&source, text + "printf(\"%.6f\\n\", out);\nreturn 0;\n}\n").unwrap();
    installed.compile(Language::C, &source, &program, &["-lprecast"]);
    fs_err::rename(installed.bundle(MANIFEST), installed.path("score.precast")).unwrap();
    let directory = source.parent().unwrap();
    // exp(0)*1 + 3 + exp(-0.25)*2 + 4
    assert_eq!(run(installed.command(&program).current_dir(directory)), "9.557602\n");
    let failed = installed.command(&program).current_dir("/").output().unwrap();
    assert_eq!((failed.status.code(), failed.stderr.starts_with(b"bundle `")), (Some(3), true));
    let commands = blocks("sh").concat();
    let named = commands.split([' ', '\n']).filter(|word| word.starts_with("crates/"));
    assert_eq!(named.filter(|path| !root().join(path).exists()).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn pkg_config_prints_link_flags() {
    if !answers("pkg-config") {
        return println!("skipped: what pkg-config says: it is not there");
    }
    let installed = Installed::new();
    let ask = |what: &str| {
        let path = installed.prefix().join("lib/pkgconfig");
        run(Command::new("pkg-config").env("PKG_CONFIG_PATH", path).args([what, "precast"]))
    };
    assert_eq!(ask("--modversion").trim(), env!("CARGO_PKG_VERSION"));
    let told = ask("--cflags") + &ask("--libs");
    let program = installed.path("score");
    let mut compiler = Command::new(Language::C.compiler());
    run(compiler.arg(example("score.c")).args(told.split_whitespace()).arg("-o").arg(&program));
    assert_eq!(run(installed.command(program).arg(installed.bundle(MANIFEST))), PRINTED);
}

#[test]
fn cmake_finds_the_package() {
    if !answers("cmake") {
        return println!("skipped: the package of CMake: CMake is not there");
    }
    if !answers(Language::Cxx.compiler()) {
        return println!("skipped: the package of CMake: there is no C++ compiler");
    }
    let installed = Installed::new();
    let build = installed.path("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(example("")).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed.prefix().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    let bundle = installed.bundle(MANIFEST);
    for name in ["score", "score_cc", "score_static"] {
        assert_eq!(run(Command::new(build.join(name)).arg(&bundle)), PRINTED, "{name}");
    }
}
