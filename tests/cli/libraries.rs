//! The user's own libraries: static ones become part of a module, shared ones are loaded with it or rejected by the
//! build.

use crate::sandbox::Sandbox;
use std::process::Command;

const OWN: &str = "static int calls;\nint own_counter;\nint own_table[4] = {3, 3, 3, 3};\n\
                   double own_helper(double x) { own_counter++; calls++; return own_table[own_counter & 3] * x; }\n\
                   double own_triple(double x) { return own_helper(x) + 0 * own_counter; }\n";

/// Creates a place with an op that calls `own_triple` of the library `own` in `lib`.
fn place() -> Sandbox {
    let place = Sandbox::new();
    fs_err::create_dir(place.path("lib")).unwrap();
    place.write("own.c", OWN);
    place.write(
        "t.c",
        "#section support_code\ndouble own_triple(double);\n#section code\nOUTPUT_0 = own_triple(INPUT_0);\n",
    );
    place.write(
        "precast.toml",
        "[[external]]\nname = \"trip\"\nfiles = [\"t.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n\
         libraries = [\"own\"]\nlib_dirs = [\"lib\"]\n\n\
         [[graph]]\nname = \"g\"\ninputs = [\"x: f64[]\"]\noutputs = [\"exp(trip(x) - trip(x)) + trip(1)\"]\n",
    );
    place.npy("x.npy", &[], vec![2.0]);
    place
}

fn run(place: &Sandbox, program: &str, arguments: &[&str]) {
    let directory = place.path("lib");
    let status = Command::new(program).args(arguments).current_dir(directory).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}

/// Builds a static library with the given flags, as its author would.
fn archive(place: &Sandbox, flags: &[&str]) {
    run(place, "cc", &[&["-c", "../own.c", "-o", "own.o"], flags].concat());
    run(place, "ar", &["rcs", "libown.a", "own.o"]);
}

/// Checks that the op builds, and runs by name after all files of the library are removed.
fn works(place: &Sandbox) {
    place.run(&["build", "--store", "s"]).ok();
    fs_err::rename(place.path("lib"), place.path("gone")).unwrap();
    let run = ["run", "--entry", "g", "-i", "x=x.npy", "-o", "0=z.npy", "--store", "s", "--policy", "strict"];
    place.run(&run).ok();
    assert_eq!(place.read_npy::<f64>("z.npy").into_raw_vec_and_offset().0, [4.0]);
}

#[test]
fn static_libraries_link_as_gcc_makes_them() {
    for flags in [&["-fPIC"][..], &["-fPIC", "-O2"], &["-fPIC", "-g", "-fvisibility=hidden"]] {
        let place = place();
        archive(&place, flags);
        works(&place);
    }
}

#[test]
fn position_dependent_static_library_is_rejected() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: other architectures have other relocations");
        return;
    }
    let place = place();
    archive(&place, &["-fno-pic", "-fno-pie", "-O0"]);
    let told = ["libown.a` has position-dependent code", "hint: compile it with `-fPIC`"];
    place.run(&["build", "--store", "s"]).fails(1, &told);
}

#[test]
fn unfindable_shared_library_is_rejected() {
    let place = place();
    run(&place, "cc", &["-shared", "-fPIC", "../own.c", "-o", "libown.so"]);
    let told = [
        "lib/libown.so` is a shared library outside the dynamic linker's search path",
        "hint: provide a static library of objects compiled with `-fPIC`",
    ];
    place.run(&["build", "--store", "s"]).fails(1, &told);
    // The remedy from the hint: the static library is used, and no file of either library is needed.
    archive(&place, &["-fPIC"]);
    works(&place);
}
