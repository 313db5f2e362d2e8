//! Names that stand for something without being bound.

use crate::operand::Operand;

/// NumPy's constants.
const CONSTANTS: [(&str, f64); 5] = [
    ("pi", std::f64::consts::PI),
    ("e", std::f64::consts::E),
    ("inf", f64::INFINITY),
    ("nan", f64::NAN),
    ("euler_gamma", 0.577_215_664_901_532_9),
];

/// Whether `name.function(…)` is `function(…)`: the modules whose functions the library has.
pub(super) fn is_module(name: &str) -> bool {
    matches!(name, "np" | "numpy" | "linalg" | "scipy" | "special")
}

/// What a function of NumPy is called here, whose own name means something else here.
pub(super) fn namesake(name: &str) -> Option<&'static str> {
    (name == "identity").then_some("eye")
}

/// The value of a constant.
pub(super) fn constant(name: &str) -> Option<Operand> {
    if name == "newaxis" {
        return Some(Operand::None);
    }
    CONSTANTS.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
}

/// The names of all constants.
pub(super) fn constants() -> impl Iterator<Item = &'static str> {
    CONSTANTS.into_iter().map(|(name, _)| name).chain(["newaxis"])
}
