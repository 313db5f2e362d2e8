//! The C of moves: copies of elements, as loops over parts of the result whose elements come from regular places.

use super::maps::position;
use super::step::From;
use super::text::Text;
use crate::elements::{positions, steps};
use precast_codegen::LinkError;
use precast_graph::DType;
use std::fmt::Write as _;

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
) -> Result<(), LinkError> {
    text.array(dtype, to, places.len());
    let parts = Parts { places, steps: steps(shape) };
    parts.write(0, shape, text, &mut |(at, input, from), text| {
        text.line(&format!("{to}[{at}] = {}[{from}];", inputs[input]));
        Ok(())
    })
}

/// The maximum number of elements of a part that is written without a loop.
const FEW: usize = 3;

/// The places that the elements of a result come from.
pub(super) struct Parts<'a> {
    pub(super) places: &'a [From],
    /// The step along each dimension of the result.
    pub(super) steps: Vec<usize>,
}

/// Writes an element: its position in the result, the input, and the position there.
type Element<'f> = &'f mut dyn FnMut((&str, usize, &str), &mut Text) -> Result<(), LinkError>;

impl Parts<'_> {
    /// Writes the part of the result that begins at `start`.
    pub(super) fn write(
        &self,
        start: usize,
        shape: &[usize],
        text: &mut Text,
        element: Element<'_>,
    ) -> Result<(), LinkError> {
        let all = self.positions(start, shape);
        if all.len() <= FEW {
            return all.into_iter().try_for_each(|at| {
                let (input, from) = self.places[at];
                element((&at.to_string(), input, &from.to_string()), text)
            });
        }
        if let Some(along) = self.regular(start, shape, &all) {
            let (input, first) = self.places[start];
            let mut from = first.to_string();
            for (d, step) in along.iter().enumerate().filter(|(_, step)| **step != 0) {
                // Writing to a string cannot fail.
                let _ = write!(from, " + {step} * i{d}");
            }
            text.open(shape);
            element((&format!("{start} + {}", position(shape, &self.steps)), input, &from), text)?;
            text.close(shape);
            return Ok(());
        }
        let (d, ends) = self.split(start, shape);
        let mut begin = 0;
        for end in ends {
            let mut part = shape.to_vec();
            part[d] = end - begin;
            self.write(start + begin * self.steps[d], &part, text, element)?;
            begin = end;
        }
        Ok(())
    }

    fn positions(&self, start: usize, shape: &[usize]) -> Vec<usize> {
        let signed: Vec<i64> = self.steps.iter().map(|step| *step as i64).collect();
        positions(shape, start as i64, &signed)
    }

    /// Returns the step in the input along each dimension, if one input has all elements of a part at regular
    /// distances.
    fn regular(&self, start: usize, shape: &[usize], all: &[usize]) -> Option<Vec<i64>> {
        let (input, first) = self.places[start];
        let along = |d: usize| match shape[d] {
            1 => 0,
            _ => self.places[start + self.steps[d]].1 as i64 - first as i64,
        };
        let along: Vec<i64> = (0..shape.len()).map(along).collect();
        let expected = positions(shape, first as i64, &along);
        let is_regular = all.iter().zip(expected).all(|(at, from)| self.places[*at] == (input, from));
        is_regular.then_some(along)
    }

    /// Returns the dimension along which an irregular part is split, and the ends of its parts: the dimension that is
    /// regular in the fewest parts.
    fn split(&self, start: usize, shape: &[usize]) -> (usize, Vec<usize>) {
        let ends = |d: usize| {
            let place = |k: usize| self.places[start + k * self.steps[d]];
            let (mut ends, mut begin) = (Vec::new(), 0);
            for k in 1..shape[d] {
                let distance = |k: usize| place(k).1 as i64 - place(k - 1).1 as i64;
                let continues =
                    place(k).0 == place(k - 1).0 && (k - begin < 2 || distance(k) == distance(k - 1));
                if !continues {
                    ends.push(k);
                    begin = k;
                }
            }
            ends.push(shape[d]);
            ends
        };
        let all = (0..shape.len()).map(|d| (d, ends(d))).filter(|(_, ends)| ends.len() > 1);
        all.min_by_key(|(_, ends)| ends.len()).unwrap_or_else(|| {
            // The first lines are regular, others are not.
            let d = (0..shape.len()).find(|d| shape[*d] > 1).unwrap_or(0);
            (d, vec![shape[d] / 2, shape[d]])
        })
    }
}
