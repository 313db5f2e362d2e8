//! The C of moves: copies of elements.

use super::maps::position;
use super::step::From;
use super::text::Text;
use crate::elements::{positions, steps};
use precast_graph::DType;

/// Returns whether the result has all elements of the only input in their order.
pub(super) fn is_same(places: &[From], size: usize) -> bool {
    places.len() == size && places.iter().enumerate().all(|(i, place)| *place == (0, i))
}

/// Writes a move to the array `to` of shape `shape`. `inputs` are the arrays of the inputs.
pub(super) fn write(
    places: &[From],
    inputs: &[String],
    (to, dtype): (&str, DType),
    shape: &[usize],
    text: &mut Text,
) {
    text.array(dtype, to, places.len());
    if let Some((input, start, along)) = regular(places, shape) {
        text.open(shape);
        let start = if start == 0 { String::new() } else { format!("{start} + ") };
        let (at, from) = (position(shape, &steps(shape)), position(shape, &along));
        text.line(&format!("{to}[{at}] = {}[{start}{from}];", inputs[input]));
        text.close(shape);
    } else {
        for (i, (input, at)) in places.iter().enumerate() {
            text.line(&format!("{to}[{i}] = {}[{at}];", inputs[*input]));
        }
    }
}

/// Returns the input, the first position and the step along each dimension, if one input has all elements at regular
/// distances.
fn regular(places: &[From], shape: &[usize]) -> Option<(usize, usize, Vec<usize>)> {
    let (input, start) = places[0];
    let own = steps(shape);
    let along = |d: usize| if shape[d] == 1 { Some(0) } else { places[own[d]].1.checked_sub(start) };
    let along = (0..shape.len()).map(along).collect::<Option<Vec<usize>>>()?;
    let signed: Vec<i64> = along.iter().map(|step| *step as i64).collect();
    let expected = positions(shape, start as i64, &signed);
    let is_regular =
        places.len() > 4 && expected.iter().zip(places).all(|(at, place)| (input, *at) == *place);
    is_regular.then_some((input, start, along))
}
