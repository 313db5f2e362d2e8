//! Tests of allowed and rejected spellings.

use super::*;

#[test]
fn flag_names_are_unique() {
    let switches = [ARITHMETIC, LANGUAGE, OPTIMISATION].concat();
    for list in [&*switches, VALUES, MACHINE, WITHOUT, WHOLE] {
        let mut names: Vec<&str> = list.split_whitespace().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

/// Flags that affect only the computation.
const COMPUTE: &str = "
    -DN=3 -UN -O2 -Ofast -std=c11 -std=gnu++20 -Wall -Wno-unused -Werror=int-conversion -w -ffast-math
    -fno-math-errno -ffp-contract=fast -fwrapv -fopenmp -fno-builtin-memcpy -funroll-loops --param=max-unroll-times=8
    -fno-unwind-tables
    -mno-fma -mtune=generic -mprefer-vector-width=256
";

/// Flags that name a file, in the spellings of gcc and clang.
const FILES: &str = "
    -specs=x --specs=x --specs -include --include=x --includ=x -includex -imacros --imacros=x -I/x
    --include-directory=/x --include-dir=/x -isystem -iquote/x -idirafter -iprefix -isysroot --sysroot=/x --sysr=/x
    -B/x --prefix=/x @file -fplugin=x -fplugin-arg-x=y -fpch-preprocess -fmodules-ts -fmodule-mapper=x
    -fprofile-use=x -fauto-profile=x -frandom-seed=x -ffile-prefix-map=a=b -fworking-directory -iplugindir=x
    -fsanitize-blacklist=x -fxray-attr-list=x --config=x -ivfsoverlay
";

/// Flags that write a file.
const WRITTEN: &str = "
    -o -ox --output=x --outp=x -MD -MMD -MFx --dependencies --write-dependencies -save-temps --save-temps
    -save-temps=obj -fdump-tree-all -fdump-rtl-all=/x -dumpdir -dumpbase -dA -aux-info -fopt-info-all=/x -time=/x
    -fstack-usage -fcallgraph-info -gsplit-dwarf --coverage --cover -ftest-coverage -fprofile-arcs
    -fsave-optimization-record -fdiagnostics-format=sarif-file -fdiagnostics-generate-patch -ftime-report
    -ftime-trace -fada-spec-dir=x -fcompare-debug -fstats -fverbose-asm -fdebug-types-section
";

/// Flags that depend on the machine or exceed the ISA level.
const MACHINES: &str = "
    -march=native -mtune=native -mcpu=native -march=x86-64-v4 --machine-arch=x --mach=x -mavx512f -mavx2 -mfma -m32
    -mx32 -m64 --target=x -target -mcmodel=large -mno-sse2 -mno-red-zone -mabi=ms -mveclibabi=svml
";

/// Flags that start another program, pass on arguments or change the compilation steps.
const STEPS: &str = "
    -wrapper -Wp,-MD,/x -Wa,--MD,/x -Wl,-T,/x -Wall,x -Xlinker -Xclang -Xassembler -Xpreprocessor -fuse-ld=x -flto
    -flto=auto -no-integrated-cpp -pass-exit-codes -pipe -fintegrated-as -fno-integrated-as -fsyntax-only -shared
    -static -c -S -E -x -v -### - -- --help --version -print-search-dirs -lm -L/x --library=m -l /x x.c -D -U --param
    --param=x=/y --par=x=1 -W -f -fno- -m -mno- -std -std= --std=c99 -fPIC -fvisibility=default -nostdinc
    -ffreestanding -fhosted -fsanitize=address -g3
";

#[test]
fn harmless_flags_are_allowed() {
    for flag in COMPUTE.split_whitespace().chain(["-DTEXT=\"a b\"", "-DEMPTY="]) {
        assert_eq!(remedy(flag), None, "{flag}");
    }
}

#[test]
fn other_flags_are_rejected_in_any_spelling() {
    let lists = [FILES, WRITTEN, MACHINES, STEPS].into_iter().flat_map(str::split_whitespace);
    for flag in lists.chain(["", "-D ", "-DX\n#include \"/x\"", "-D X", "-O2 -g", " -O2"]) {
        assert!(remedy(flag).is_some(), "{flag}");
    }
}
