//! The variants of running an Apply on one set of inputs.
//!
//! ```text
//! first      contiguous inputs, empty output cells: all other results are compared with this one
//! layouts    the inputs Fortran-ordered, strided, reversed, each of them differently, broadcast
//! rooms      the output cells hold a tensor that fits, of a wrong shape, strided, Fortran-ordered, reversed, read-only
//! both       inputs and outputs strided, Fortran-ordered, reversed
//! ```

use precast_core::native::watch::Layout;
use std::fmt;

/// The content of the output cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rooms {
    Empty,
    /// A tensor of the correct shape.
    Right(Layout),
    /// A read-only tensor of the correct shape.
    ReadOnly,
    /// A tensor with every extent increased by one.
    Larger,
    /// A tensor with every extent halved.
    Smaller,
}

/// The memory layout of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    All(Layout),
    /// A different layout for each input.
    Mixed,
}

/// One variant of running an Apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trial {
    pub(super) inputs: Inputs,
    pub(super) rooms: Rooms,
}

impl Trial {
    /// The first trial.
    pub(super) const FIRST: Self = Self { inputs: Inputs::All(Layout::C), rooms: Rooms::Empty };

    /// Returns all trials, starting with the first.
    pub(super) fn all() -> Vec<Self> {
        let layouts = Layout::ANY[1..].iter().chain([&Layout::Broadcast]);
        let layouts = layouts.map(|layout| Inputs::All(*layout)).chain([Inputs::Mixed]);
        let layouts = layouts.map(|inputs| Self { inputs, ..Self::FIRST });
        let right = Layout::ANY.into_iter().map(Rooms::Right);
        let rooms = right.chain([Rooms::Larger, Rooms::Smaller, Rooms::ReadOnly]);
        let rooms = rooms.map(|rooms| Self { rooms, ..Self::FIRST });
        let both = [Layout::Fortran, Layout::Strided, Layout::Reversed];
        let both = both.map(|layout| Self { inputs: Inputs::All(layout), rooms: Rooms::Right(layout) });
        [Self::FIRST].into_iter().chain(layouts).chain(rooms).chain(both).collect()
    }

    /// Returns the layout of an input.
    pub(super) fn layout(self, input: usize) -> Layout {
        match self.inputs {
            Inputs::All(layout) => layout,
            Inputs::Mixed => Layout::ANY[(input + 1) % Layout::ANY.len()],
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inputs {
            Inputs::All(layout) => write!(f, "inputs {}", layout.name())?,
            Inputs::Mixed => f.write_str("inputs of several layouts")?,
        }
        match self.rooms {
            Rooms::Empty => f.write_str(", output null"),
            Rooms::Right(layout) => write!(f, ", output preallocated {}", layout.name()),
            Rooms::ReadOnly => f.write_str(", output preallocated read-only"),
            Rooms::Larger | Rooms::Smaller => f.write_str(", output preallocated of a wrong shape"),
        }
    }
}
