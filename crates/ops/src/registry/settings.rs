//! Settings of a call that contain axes or integers.

use super::operand::Operands;
use precast_graph::{MakeNodeError, Operand, Prop, Props};

impl Operands<'_> {
    /// Returns the arguments from `start` on as axes; negative axes count from the end.
    pub(super) fn axes(&self, start: usize, name: &str, ndim: usize) -> Result<Vec<usize>, MakeNodeError> {
        let known = self.args[start..].iter().map(Operand::prop).collect::<Option<Vec<_>>>();
        let known = known.ok_or_else(|| {
            MakeNodeError::prop(self.function, name, "must be constant when the graph is built")
        })?;
        let props = Props::from([(name.to_owned(), Prop::List(known))]);
        axes(self.function, name, &props, ndim).map(Option::unwrap_or_default)
    }

    /// Resolves an axis that may count from the end.
    pub(super) fn axis(&self, axis: i64, ndim: usize) -> Result<usize, MakeNodeError> {
        counted(self.function, "axis", axis, ndim)
    }
}

/// Returns axes given by an integer or a list; negative axes count from the end. `None` if the prop is missing.
pub(super) fn axes(
    function: &str,
    prop: &str,
    props: &Props,
    ndim: usize,
) -> Result<Option<Vec<usize>>, MakeNodeError> {
    let items = match props.get(prop) {
        None => return Ok(None),
        Some(Prop::List(items)) => items.clone(),
        Some(item) => vec![item.clone()],
    };
    let mut axes = Vec::new();
    for item in items {
        let Prop::Int(axis) = item else {
            return Err(MakeNodeError::prop(
                function,
                prop,
                format!("is `{item}`, expected an axis or a list of axes"),
            ));
        };
        let counted = counted(function, prop, axis, ndim)?;
        if axes.contains(&counted) {
            return Err(MakeNodeError::prop(function, prop, format!("has axis {axis} twice")));
        }
        axes.push(counted);
    }
    Ok(Some(axes))
}

/// Resolves an axis; a negative axis counts from the end.
fn counted(function: &str, prop: &str, axis: i64, ndim: usize) -> Result<usize, MakeNodeError> {
    let rank = i64::try_from(ndim).unwrap_or(i64::MAX);
    let counted = if axis < 0 { axis + rank } else { axis };
    usize::try_from(counted).ok().filter(|a| *a < ndim).ok_or_else(|| MakeNodeError::Axis {
        op: function.to_owned(),
        prop: prop.to_owned(),
        axis,
        ndim,
    })
}

/// Returns a list of integers, where a single integer counts as a list of one. `None` if the prop is missing.
pub(super) fn list(function: &str, prop: &str, props: &Props) -> Result<Option<Vec<i64>>, MakeNodeError> {
    let items = match props.get(prop) {
        None => return Ok(None),
        Some(Prop::List(items)) => items.clone(),
        Some(item) => vec![item.clone()],
    };
    let integer = |item: Prop| match item {
        Prop::Int(n) => Ok(n),
        other => Err(MakeNodeError::prop(
            function,
            prop,
            format!("is `{other}`, expected an integer or a list of them"),
        )),
    };
    items.into_iter().map(integer).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Rejects keyword arguments.
pub(super) fn no_props(function: &str, props: &Props) -> Result<(), MakeNodeError> {
    match props.keys().next() {
        Some(prop) => {
            Err(MakeNodeError::prop(function, prop, "is unknown; this function takes no keyword arguments"))
        }
        None => Ok(()),
    }
}
