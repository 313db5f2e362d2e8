//! The compiler arguments that authors may request; all other arguments are rejected, in any spelling.
//!
//! An allowed argument is a single word, spelled in full. It names no file and no machine, starts no process and writes
//! no file. So its effect depends only on the unit's text, and the argument is part of the `BuildKey`.
//!
//! | family | why it is allowed |
//! |---|---|
//! | `-D…`, `-U…` | affect only the text |
//! | `-O0` … `-O3`, `-Os`, `-Og`, `-Oz`, `-Ofast` | optimize only this unit; they are not passed to the linker |
//! | `-std=…`, `-ansi`, `-pedantic…`, `-trigraphs`, `-pthread` | select the language |
//! | `-W…` without commas, `-w` | control warnings; `-Wp,` `-Wa,` `-Wl,` would pass arguments to other tools |
//! | `-f…` of [`ARITHMETIC`], [`LANGUAGE`], [`OPTIMISATION`], [`VALUES`] | many other `-f` flags write or load files |
//! | `--param=name=number` | limit optimizations |
//! | `-mtune=…`, `-mno-…`, `-m…` of [`MACHINE`] | use no instructions beyond the variant's ISA level |
//!
//! An ISA level is a promise about the CPU, so a flag that exceeds it would need its own variant.

/// Names for `-f<name>` and `-fno-<name>` that affect arithmetic.
const ARITHMETIC: &str = "
    associative-math cx-fortran-rules cx-limited-range fast-math finite-math-only float-store
    fp-int-builtin-inexact honor-infinities honor-nans math-errno reciprocal-math rounding-math signaling-nans
    signed-zeros single-precision-constant strict-overflow trapping-math trapv unsafe-math-optimizations wrapv
    wrapv-pointer
";

/// Names for `-f<name>` and `-fno-<name>` that affect the language.
const LANGUAGE: &str = "
    access-control aligned-new builtin char8_t common concepts coroutines delete-null-pointer-checks
    enforce-eh-specs exceptions extern-tls-init gnu89-inline ms-extensions nonansi-builtins openmp openmp-simd
    operator-names permissive plan9-extensions rtti short-enums signed-bitfields signed-char sized-deallocation
    strict-aliasing strict-enums threadsafe-statics unsigned-bitfields unsigned-char
";

/// Names for `-f<name>` and `-fno-<name>` that control optimizations.
const OPTIMISATION: &str = "
    aggressive-loop-optimizations align-functions align-jumps align-labels align-loops
    asynchronous-unwind-tables branch-count-reg caller-saves code-hoisting combine-stack-adjustments
    conserve-stack cprop-registers crossjumping cse-follow-jumps data-sections dce defer-pop devirtualize dse
    early-inlining expensive-optimizations finite-loops forward-propagate function-sections gcse
    gcse-after-reload gcse-las gcse-lm gcse-sm graphite-identity guess-branch-probability hoist-adjacent-loads
    if-conversion if-conversion2 inline inline-functions inline-functions-called-once inline-small-functions
    ipa-cp ipa-icf ipa-pta ipa-pure-const ipa-ra ipa-reference ipa-sra isolate-erroneous-paths-dereference
    ivopts jump-tables lifetime-dse loop-interchange loop-nest-optimize loop-parallelize-all loop-unroll-and-jam
    merge-all-constants merge-constants modulo-sched move-loop-invariants move-loop-stores omit-frame-pointer
    optimize-sibling-calls optimize-strlen partial-inlining peel-loops peephole2 predictive-commoning
    prefetch-loop-arrays ree rename-registers reorder-blocks reorder-functions rerun-cse-after-loop
    schedule-insns schedule-insns2 section-anchors shrink-wrap slp-vectorize split-ivs-in-unroller split-loops
    split-paths split-wide-types ssa-phiopt stdarg-opt store-merging thread-jumps toplevel-reorder tracer
    tree-bit-ccp tree-builtin-call-dce tree-ccp tree-ch tree-coalesce-vars tree-copy-prop tree-dce
    tree-dominator-opts tree-dse tree-forwprop tree-fre tree-loop-distribute-patterns tree-loop-distribution
    tree-loop-if-convert tree-loop-im tree-loop-ivcanon tree-loop-optimize tree-loop-vectorize tree-partial-pre
    tree-phiprop tree-pre tree-pta tree-reassoc tree-scev-cprop tree-sink tree-slp-vectorize tree-slsr tree-sra
    tree-switch-conversion tree-tail-merge tree-ter tree-vectorize tree-vrp unroll-all-loops unroll-loops
    unswitch-loops unwind-tables variable-expansion-in-unroller vect-cost-model vectorize
    version-loops-for-strides web
";

/// Names for `-f<name>=<value>`, where the value is a word or a number.
const VALUES: &str = "
    align-functions align-jumps align-labels align-loops constexpr-depth constexpr-loop-limit constexpr-ops-limit
    denormal-fp-math excess-precision fp-contract fp-model inline-limit reorder-blocks-algorithm simd-cost-model
    template-depth tree-parallelize-loops vect-cost-model
";

/// `-m…` flags that select among the available instructions.
const MACHINE: &str = "
    -mfpmath=sse -minline-all-stringops -mprefer-vector-width=128 -mprefer-vector-width=256 -mprefer-vector-width=512
    -mprefer-vector-width=none -mrecip -mstackrealign -mvzeroupper
";

/// Names for `-mno-…`: instruction sets to avoid.
const WITHOUT: &str = "
    adx aes avx avx2 avx512bw avx512cd avx512dq avx512f avx512vl bmi bmi2 f16c fma gather lzcnt movbe pclmul popcnt
    recip scatter sse3 sse4 sse4.1 sse4.2 ssse3 vzeroupper
";

/// Other allowed flags.
const WHOLE: &str = "
    -O -O0 -O1 -O2 -O3 -Ofast -Og -Os -Oz -ansi -pedantic -pedantic-errors -pthread -trigraphs -w
";

/// Returns what to do instead of using a flag; `None` if the flag is allowed.
pub(crate) fn remedy(flag: &str) -> Option<&'static str> {
    if is_allowed(flag) {
        return None;
    }
    if !flag.starts_with(['-', '@']) {
        return Some("begin flags with `-`; the op names its sources");
    }
    let known = INSTEAD.iter().find(|(prefix, _)| flag.starts_with(prefix));
    Some(known.map_or(OTHERWISE, |(_, remedy)| remedy))
}

fn is_allowed(flag: &str) -> bool {
    if flag.contains(char::is_control) {
        return false;
    }
    let known = |name: &str| [ARITHMETIC, LANGUAGE, OPTIMISATION].iter().any(|names| has(names, name));
    let switch = |name: &str| known(name) || name.strip_prefix("builtin-").is_some_and(is_word);
    if has(WHOLE, flag) || has(MACHINE, flag) {
        true
    } else if let Some(name) = flag.strip_prefix("-D").or_else(|| flag.strip_prefix("-U")) {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    } else if let Some(name) = flag.strip_prefix("-W") {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+=_".contains(&byte))
    } else if let Some(standard) = flag.strip_prefix("-std=") {
        is_word(standard)
    } else if let Some(value) = flag.strip_prefix("--param=") {
        value.split_once('=').is_some_and(|(name, number)| is_word(name) && number.parse::<u32>().is_ok())
    } else if let Some(name) = flag.strip_prefix("-fno-") {
        switch(name)
    } else if let Some(name) = flag.strip_prefix("-f") {
        let value = |(name, value): (&str, &str)| has(VALUES, name) && is_word(value);
        name.split_once('=').map_or_else(|| switch(name), value)
    } else if let Some(name) = flag.strip_prefix("-mno-") {
        has(WITHOUT, name)
    } else if let Some(processor) = flag.strip_prefix("-mtune=") {
        processor != "native" && is_word(processor)
    } else {
        false
    }
}

fn has(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-_.,:".contains(&byte))
}

const HEADERS: &str =
    "return the header from `c_headers`, its directory from `c_header_dirs`, or its text from `c_sources`";
const LIBRARIES: &str = "return libraries from `c_libraries`, and their directories from `c_lib_dirs`";
const LEVEL: &str = "leave the instructions to the ISA levels that the unit is compiled for";
const KEYS: &str = "name a compiler instead: no key covers this";
const WRITES: &str = "drop it: a compilation writes only its object";
const FIXED: &str = "drop it: the steps of a compilation are fixed";
const OTHERWISE: &str =
    "use macros, warnings, a standard, optimization or arithmetic flags: `-D`, `-W`, `-std=`, `-O`, `-f`";

/// The remedies by prefix of the flag; the first match applies.
const INSTEAD: &[(&str, &str)] = &[
    ("-I", HEADERS),
    ("-i", HEADERS),
    ("--i", HEADERS),
    ("-l", LIBRARIES),
    ("-L", LIBRARIES),
    ("--l", LIBRARIES),
    ("-Wl,", LIBRARIES),
    ("-Xlinker", LIBRARIES),
    ("-m", LEVEL),
    ("--mac", LEVEL),
    ("-Wp,", "use the compiler's own flag"),
    ("-Wa,", "use the compiler's own flag"),
    ("-X", "use the compiler's own flag"),
    ("-fsanitize", "compile for the profile `asan`"),
    ("-g", "compile for the profile `debug`"),
    ("-flto", "drop it: link-time optimization is not reproducible"),
    ("-fprofile", "drop it: profiles are not reproducible"),
    ("--cov", "drop it: coverage is not reproducible"),
    ("-ftest-coverage", "drop it: coverage is not reproducible"),
    ("-fplugin", "drop it: no key covers a plugin"),
    ("-spec", "drop it: no key covers a specs file"),
    ("--spec", "drop it: no key covers a specs file"),
    ("-B", KEYS),
    ("--pre", KEYS),
    ("--sys", KEYS),
    ("--tar", KEYS),
    ("-wrapper", KEYS),
    ("@", "list the arguments themselves"),
    ("--param", "write it as one word: `--param=name=number`"),
    ("-D", "write it as one word: `-DNAME=value`"),
    ("-U", "write it as one word: `-UNAME`"),
    ("-o", WRITES),
    ("--out", WRITES),
    ("-M", WRITES),
    ("-d", WRITES),
    ("-s", WRITES),
    ("-aux-info", WRITES),
    ("-time", WRITES),
    ("-fdump", WRITES),
    ("-fopt-info", WRITES),
    ("-c", FIXED),
    ("-S", FIXED),
    ("-E", FIXED),
    ("-x", FIXED),
    ("-v", FIXED),
    ("-###", FIXED),
    ("-p", FIXED),
    ("--", FIXED),
];

#[cfg(test)]
mod tests;
