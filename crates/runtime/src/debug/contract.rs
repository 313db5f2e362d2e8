//! The contract that the C of an Apply must fulfil.

use precast_codegen::UserTypes;
use precast_graph::Type;

/// The contract of an Apply.
#[derive(Debug, Clone)]
pub(super) struct Contract {
    pub(super) outputs: Vec<Type>,
    /// The user types, whose rules define equal values.
    pub(super) types: UserTypes,
    pub(super) view_map: Vec<(usize, usize)>,
    pub(super) destroy_map: Vec<(usize, usize)>,
    /// Whether results may differ from `perform` by rounding.
    pub(super) approximate: bool,
    /// Whether its C can check for read-only tensors; code for NumPy's interface does not.
    pub(super) knows_readonly: bool,
}
