//! The names of elements: `theta[0,2]`.

use crate::description::Variable;

/// Returns a name for each element of a variable in C order, with indices from 0: `tau`, `theta[0,2]`.
///
/// # Examples
/// ```
/// assert_eq!(precast_density::names::of_shape("m", &[1, 2]), ["m[0,0]", "m[0,1]"]);
/// assert_eq!(precast_density::names::of_shape("x", &[]), ["x"]);
/// ```
#[must_use]
pub fn of_shape(name: &str, shape: &[usize]) -> Vec<String> {
    if shape.is_empty() {
        return vec![name.to_owned()];
    }
    let indices = ndarray::indices(shape.to_vec());
    let text = |index: ndarray::IxDyn| {
        let parts: Vec<String> = ndarray::Dimension::slice(&index).iter().map(usize::to_string).collect();
        format!("{name}[{}]", parts.join(","))
    };
    indices.into_iter().map(text).collect()
}

/// Returns a name for each element of variables, in C order.
pub fn elements<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> Vec<String> {
    variables.into_iter().flat_map(|each| of_shape(&each.name, &each.shape)).collect()
}
