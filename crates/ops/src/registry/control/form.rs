//! Nested tuples.

use precast_graph::Operand;

/// A nested tuple of values without the values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Leaf,
    Tuple(Vec<Self>),
    None,
}

impl Form {
    /// Takes an operand apart.
    pub(super) fn of(operand: &Operand, leaves: &mut Vec<Operand>) -> Self {
        match operand {
            Operand::List(items) => Self::Tuple(items.iter().map(|item| Self::of(item, leaves)).collect()),
            Operand::None => Self::None,
            leaf => {
                leaves.push(leaf.clone());
                Self::Leaf
            }
        }
    }

    /// Puts leaves together.
    pub(super) fn join(&self, leaves: &mut impl Iterator<Item = Operand>) -> Operand {
        match self {
            Self::Leaf => leaves.next().unwrap_or(Operand::None),
            Self::Tuple(parts) => Operand::List(parts.iter().map(|part| part.join(leaves)).collect()),
            Self::None => Operand::None,
        }
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Leaf => f.write_str("a value"),
            Self::None => f.write_str("`None`"),
            Self::Tuple(parts) => write!(f, "a tuple of {}", parts.len()),
        }
    }
}
