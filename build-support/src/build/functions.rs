//! Assigns Rust names to graphs.
//!
//! Two graph names may map to one Rust name: `a-b` and `a.b` both become `a_b`. A new graph must never change the
//! graph that a Rust name refers to:
//!
//! 1. The package's own graphs are named before those of its dependencies, which never get a name that a package
//!    graph wants.
//! 2. A graph whose name equals the Rust name wins: `a_b`.
//! 3. Otherwise, a name that several graphs want is assigned to none of them. Within the package that is a compile
//!    error. Among dependencies, which the package cannot rename, it is a warning, and calling the name does not
//!    compile.

use super::rust::{identifier, is_exact, literal};
use crate::declared::Owner;
use std::collections::{BTreeMap, BTreeSet};

/// The names of the generated functions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Functions {
    /// The Rust name of each graph that has one.
    pub(super) named: BTreeMap<String, String>,
    /// Warnings about graphs without a function.
    pub(super) warnings: Vec<String>,
    /// Errors: collisions within the package.
    pub(super) errors: Vec<String>,
}

/// Assigns the functions' names; `taken` are the names of the generated module itself.
pub(super) fn functions(graphs: &[(&str, Owner)], taken: &[&str]) -> Functions {
    let mut taken: BTreeSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let mut found = Functions::default();
    for owner in [Owner::Package, Owner::Dependency] {
        let mut wanting: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (graph, _) in graphs.iter().filter(|(_, its)| *its == owner) {
            wanting.entry(identifier(graph)).or_default().push(graph);
        }
        for (name, graphs) in wanting {
            let is_free = taken.insert(name.clone());
            found.settle(&name, &graphs, is_free, owner);
        }
    }
    found
}

impl Functions {
    fn settle(&mut self, name: &str, graphs: &[&str], is_free: bool, owner: Owner) {
        let exact = graphs.iter().find(|graph| is_exact(name, graph)).or(match graphs {
            [only] => Some(only),
            _ => None,
        });
        let winner = exact.filter(|_| is_free);
        if let Some(winner) = winner {
            self.named.insert((*winner).to_owned(), name.to_owned());
        } else if is_free && owner == Owner::Package {
            let list: Vec<String> = graphs.iter().map(|graph| format!("`{graph}`")).collect();
            self.errors.push(format!(
                "graphs {} have the same Rust name `{name}`\nhint: rename all but one, or name one of them `{name}`",
                list.join(", ")
            ));
            return;
        }
        for graph in graphs.iter().filter(|graph| Some(*graph) != winner) {
            self.warnings.push(format!(
                "`include_model!` has no function for graph `{graph}`: the name `{name}` is taken\nhint: call the \
                 graph with `loader()?.entry({})`",
                literal(graph)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Functions, Owner, functions};

    const OWN: Owner = Owner::Package;
    const DEPENDENCY: Owner = Owner::Dependency;

    fn named(found: &Functions) -> Vec<(&str, &str)> {
        found.named.iter().map(|(graph, name)| (graph.as_str(), name.as_str())).collect()
    }

    #[test]
    fn an_exact_name_wins() {
        let found = functions(&[("huber.f64", OWN), ("huber_f64", OWN), ("x", OWN)], &["loader"]);
        assert_eq!(named(&found), [("huber_f64", "huber_f64"), ("x", "x")]);
        assert_eq!((found.warnings.len(), found.errors.len()), (1, 0));
    }

    #[test]
    fn name_collisions_are_errors() {
        let found = functions(&[("a-b", OWN), ("a.b", OWN)], &["loader"]);
        assert!(found.named.is_empty() && found.warnings.is_empty());
        assert!(found.errors[0].contains("`a-b`, `a.b`"), "{:?}", found.errors);
    }

    #[test]
    fn dependencies_cannot_take_names_of_the_package() {
        for dependency in ["a.b", "a_b", "a-b"] {
            let found = functions(&[("a-b.f64", OWN), ("a-b", OWN), (dependency, DEPENDENCY)], &[]);
            assert_eq!(found.named.get("a-b").map(String::as_str), Some("a_b"), "{dependency}");
        }
        // A dependency does not get a name whose package graphs collide, either.
        let found = functions(&[("a-b", OWN), ("a.b", OWN), ("a_b", DEPENDENCY)], &[]);
        assert_eq!((found.named.len(), found.errors.len(), found.warnings.len()), (0, 1, 1));
    }

    #[test]
    fn colliding_dependencies_get_no_function() {
        let found = functions(&[("a-b", DEPENDENCY), ("a.b", DEPENDENCY), ("loader", OWN)], &["loader"]);
        assert_eq!((found.named.len(), found.errors.len(), found.warnings.len()), (0, 0, 3));
    }
}
