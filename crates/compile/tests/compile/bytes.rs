//! The same `ActionKey` gives the same bytes, whatever the environment, the directory and the parallelism.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use object::{Object as _, ObjectSymbol as _};
use precast_codegen::Unit;
use precast_compile::{action, compile};
use precast_store::key::{Language, Profile};

use crate::modules::{kernel, module, single, toolchain, variant};

#[test]
fn archive_has_unit_sources_and_objects() {
    let unit = single(kernel(3));
    let compiled = compile(&unit, toolchain(), &variant()).unwrap();
    let names: Vec<&str> = compiled.archive.members.keys().map(String::as_str).collect();
    let headers = [
        "include/precast/context.h",
        "include/precast/driver.h",
        "include/precast/module.h",
        "include/precast/tensor.h",
    ];
    assert_eq!(names, [headers.as_slice(), &["manifest.json", "unit.c", "unit.o", "unit.so"]].concat());
    assert_eq!(compiled.archive.get("unit.c").unwrap(), unit.text().as_bytes());
    assert_eq!(compiled.record.digest, compiled.archive.digest().unwrap());
    assert_eq!(compiled.record.action, action(&unit, toolchain(), &variant()).unwrap().key());
    compiled.record.check().unwrap();
}

#[test]
fn lean_unit_requires_no_library() {
    let requires = compile(&single(kernel(3)), toolchain(), &variant()).unwrap().record.requires;
    assert_eq!(
        (requires.arch.as_str(), requires.os.as_str()),
        (std::env::consts::ARCH, std::env::consts::OS)
    );
    assert_eq!((requires.libc, requires.libc_version), (None, None));
    assert!(requires.needed.is_empty() && requires.undefined.is_empty());
    assert_eq!(requires.cpu, variant().isa.cpu_features());
    assert_eq!(requires.abi, (precast_abi::ABI_VERSION, precast_abi::ABI_VERSION | 0xffff));
}

#[test]
fn table_is_exported_and_entries_stay_linkable() {
    let unit = &Unit::batches(vec![Arc::new(kernel(1)), Arc::new(kernel(2))])[0];
    let compiled = compile(unit, toolchain(), &variant()).unwrap();
    let globals = |member: &str, dynamic: bool| -> BTreeSet<String> {
        let file = object::File::parse(compiled.archive.get(member).unwrap()).unwrap();
        let names =
            |symbol: object::Symbol<'_, '_>| symbol.is_global().then(|| symbol.name().unwrap().to_owned());
        if dynamic {
            file.dynamic_symbols().filter_map(names).collect()
        } else {
            file.symbols().filter_map(names).collect()
        }
    };
    let table = BTreeSet::from(["precast_module_v1".to_owned()]);
    assert_eq!(globals("unit.so", true), table);
    let entries = unit.members().iter().map(|(key, _)| Unit::entry_symbol(key));
    assert_eq!(globals("unit.o", false), entries.chain(table).collect());
}

#[test]
fn non_static_helpers_are_not_exported() {
    let helper = "__attribute__((visibility(\"default\"))) int helper(int x) { return x + 1; }\n";
    let unit = single(module("helped() -> f64", helper, "    return helper(args[0] != NULL) == 9;"));
    compile(&unit, toolchain(), &variant()).unwrap();
}

#[test]
fn builtins_may_stay_undefined_and_are_recorded() {
    let unit = single(module(
        "copy(f64[..]) -> f64[..]",
        "",
        "    __builtin_memcpy(args[1], args[0], (size_t)((pc_tensor *)args[0])->ndim);",
    ));
    let requires = compile(&unit, toolchain(), &variant()).unwrap().record.requires;
    assert_eq!(requires.undefined, ["memcpy"]);
    assert!(requires.needed.is_empty());
}

#[test]
fn cxx_modules_are_compiled_by_the_cxx_driver() {
    let mut cxx = module(
        "cxx() -> f64",
        "template <class T> static T twice(T x) { return x + x; }",
        "    return twice(0);",
    );
    cxx.language = Language::Cxx;
    let compiled = compile(&single(cxx), toolchain(), &variant()).unwrap();
    assert!(compiled.archive.get("unit.cc").is_some());
    assert!(compiled.record.requires.needed.is_empty());
    assert_eq!(compiled.record.toolchain, Some(toolchain().id(Language::Cxx).unwrap()));
}

#[test]
fn debug_objects_contain_no_build_path() {
    let mut debug = kernel(3);
    debug.profile = Profile::Debug;
    let unit = single(debug);
    let variant = precast_compile::Variant { profile: Profile::Debug, ..variant() };
    let (first, second) =
        (compile(&unit, toolchain(), &variant).unwrap(), compile(&unit, toolchain(), &variant).unwrap());
    assert_eq!(first, second);
    let shared = first.archive.get("unit.so").unwrap();
    let holds = |text: &[u8]| shared.windows(text.len()).any(|window| window == text);
    assert!(holds(b"/precast"), "no debug information");
    assert!(!holds(std::env::temp_dir().display().to_string().as_bytes()));
}

/// Compiles one unit and prints its digest; the test below runs it in different environments.
#[test]
#[ignore = "the child of environment_does_not_change_the_bytes"]
fn child_prints_digest() {
    let digest = compile(&single(kernel(7)), toolchain(), &variant()).unwrap().record.digest;
    println!("digest={digest}");
}

#[test]
fn environment_does_not_change_the_bytes() {
    let poison = tempfile::tempdir().unwrap();
    for header in ["stdint.h", "stddef.h", "stdarg.h", "module.h"] {
        fs_err::write(poison.path().join(header), "#error poisoned\n").unwrap();
    }
    let long = poison.path().join("a/rather/long/path/for/temporary/files");
    fs_err::create_dir_all(&long).unwrap();
    let mine = compile(&single(kernel(7)), toolchain(), &variant()).unwrap().record.digest;
    let poison = poison.path().to_str().unwrap();
    let settings: &[&[(&str, &str)]] = &[
        &[("CPATH", poison), ("C_INCLUDE_PATH", poison), ("CPLUS_INCLUDE_PATH", poison)],
        &[
            ("TMPDIR", long.to_str().unwrap()),
            ("HOME", "/nonexistent"),
            ("TZ", "Asia/Tokyo"),
            ("LANG", "de_DE.UTF-8"),
        ],
        &[
            ("GCC_COMPARE_DEBUG", "1"),
            ("SOURCE_DATE_EPOCH", "99"),
            ("CFLAGS", "-O0 -DX"),
            ("LD_RUN_PATH", "/x"),
        ],
        &[
            ("GCC_EXEC_PREFIX", "/nonexistent/"),
            ("COMPILER_PATH", poison),
            ("LIBRARY_PATH", poison),
            ("USER", "other"),
        ],
    ];
    for setting in settings {
        // Only a shell can set the umask.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "bytes::child_prints_digest", "--nocapture"]);
        command.envs(setting.iter().copied()).current_dir("/");
        let out = command.output().unwrap();
        let words = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            words.contains(&format!("digest={mine}")),
            "{setting:?}: {words}{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

#[test]
fn action_key_follows_isa_flags_and_neighbours() {
    let base = action(&single(kernel(3)), toolchain(), &variant()).unwrap().key();
    let mut seen = BTreeSet::from([base]);
    for isa in precast_compile::Isa::defaults(toolchain().target()).into_iter().skip(1) {
        let variant = precast_compile::Variant { isa, ..variant() };
        assert!(seen.insert(action(&single(kernel(3)), toolchain(), &variant).unwrap().key()));
    }
    let mut flagged = kernel(3);
    flagged.flags = vec!["-DX=1".to_owned()];
    assert!(seen.insert(action(&single(flagged), toolchain(), &variant()).unwrap().key()));
    let pair = &Unit::batches(vec![Arc::new(kernel(3)), Arc::new(kernel(4))])[0];
    assert!(seen.insert(action(pair, toolchain(), &variant()).unwrap().key()));
}
