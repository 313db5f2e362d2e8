//! Predefined names.

use crate::operand::Operand;

/// NumPy's constants.
const CONSTANTS: [(&str, f64); 5] = [
    ("pi", std::f64::consts::PI),
    ("e", std::f64::consts::E),
    ("inf", f64::INFINITY),
    ("nan", f64::NAN),
    ("euler_gamma", 0.577_215_664_901_532_9),
];

/// Returns whether `name.function(…)` means `function(…)`: true for modules whose functions the library has.
pub(super) fn is_module(name: &str) -> bool {
    matches!(name, "np" | "numpy" | "linalg" | "fft" | "scipy" | "special")
}

/// The module of random numbers: `random.normal(…)` means `random_normal(…)`.
pub(super) const RANDOM: &str = "random";

/// Returns the local name of a function of a module, where its own name has another meaning.
pub(super) fn local<'a>(module: &str, name: &'a str) -> &'a str {
    if (module, name) == ("linalg", "cond") { "condition_number" } else { name }
}

/// Returns the nearest local name of a NumPy function whose own name has another meaning here.
pub(super) fn namesake(name: &str) -> Option<&'static str> {
    (name == "identity").then_some("eye")
}

/// Returns the value of a constant.
pub(super) fn constant(name: &str) -> Option<Operand> {
    if name == "newaxis" {
        return Some(Operand::None);
    }
    CONSTANTS.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
}

/// Returns the names of all constants.
pub(super) fn constants() -> impl Iterator<Item = &'static str> {
    CONSTANTS.into_iter().map(|(name, _)| name).chain(["newaxis"])
}
