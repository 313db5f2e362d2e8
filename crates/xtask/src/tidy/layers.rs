//! The layers of packages: dependencies point down only. crates/README.md describes them.

/// Layer of each package; a normal dependency must have a lower one.
const LAYERS: [(&str, u8); 20] = [
    ("precast-abi", 0),
    ("precast-core", 1),
    ("precast-graph", 2),
    ("precast-density", 2),
    ("precast-store", 2),
    ("precast-codegen", 3),
    ("precast-ops", 4),
    ("precast-compile", 4),
    ("precast-remote", 5),
    ("precast-acquire", 5),
    ("precast-build", 6),
    ("precast-runtime", 6),
    ("precast", 7),
    ("precast-picture", 7),
    ("precast-bridgestan", 8),
    ("precast-capi", 8),
    ("precast-cli", 8),
    ("precast-python", 9),
    ("precast-quickstart", 8),
    ("precast-training", 8),
];

/// The development packages: they may use any package, but no shipped package may use them.
const DEVELOPMENT: [&str; 4] = ["precast-bench", "precast-testkit", "precast-tests", "xtask"];

/// The lowest layer of packages for end users rather than for other packages.
const FACES: u8 = 8;

/// The position of a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tier {
    /// A shipped package in a layer.
    Layer(u8),
    /// A development package outside the layers.
    Development,
}

impl Tier {
    /// Returns the tier of a package; `None` if it is not listed.
    pub(super) fn find(package: &str) -> Option<Self> {
        let layer = LAYERS.iter().find(|(name, _)| *name == package).map(|(_, layer)| Self::Layer(*layer));
        layer.or_else(|| DEVELOPMENT.contains(&package).then_some(Self::Development))
    }

    /// Returns whether code here may have `dependency` as a normal dependency.
    pub(super) fn may_use(self, dependency: Self) -> bool {
        match (self, dependency) {
            (Self::Development, _) => true,
            (Self::Layer(_), Self::Development) => false,
            (Self::Layer(own), Self::Layer(other)) => other < own,
        }
    }

    /// Returns whether users' programs contain this code.
    pub(super) fn is_library(self) -> bool {
        matches!(self, Self::Layer(layer) if layer < FACES)
    }
}

/// Returns the packages that users' programs contain, highest layer first.
pub(crate) fn libraries() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().rev().filter(|(_, layer)| *layer < FACES).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::Tier;

    #[test]
    fn arrows_point_down_only() {
        assert!(Tier::Layer(2).may_use(Tier::Layer(1)));
        assert!(!Tier::Layer(2).may_use(Tier::Layer(2)));
        assert!(!Tier::Layer(1).may_use(Tier::Layer(2)));
        assert!(!Tier::Layer(5).may_use(Tier::Development));
        assert!(Tier::Development.may_use(Tier::Layer(5)));
    }
}
