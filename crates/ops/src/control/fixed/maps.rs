//! The C of maps: one loop for neighboring maps of the same shape.

use super::Fixed;
use super::step::Step;
use super::text::{Text, elements};
use crate::elements::steps;
use crate::scalar::{BlockFunction, ScalarOp};
use precast_codegen::{LinkError, Sub};
use precast_graph::{Apply, DType, VarId};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A map of inputs.
pub(super) struct Map<'a> {
    pub(super) scalar: &'a dyn ScalarOp,
    pub(super) inputs: &'a [VarId],
    /// The C arrays of the results.
    pub(super) results: Vec<(String, DType)>,
    /// The position of the Apply, if the map is one.
    pub(super) apply: Option<usize>,
}

/// Maps over the same shape, in order.
pub(super) struct Group<'a> {
    pub(super) shape: Vec<usize>,
    pub(super) maps: Vec<Map<'a>>,
}

/// The Applies that read each array.
pub(super) struct Readers(BTreeMap<String, Vec<usize>>);

/// The maximum number of elements that are computed one by one, where there is a function for blocks of them.
const FEW: usize = 4;

/// The reader of outputs.
const OUTPUTS: usize = usize::MAX;

impl Readers {
    /// Returns whether the Apply at a position, or a later one, reads an array.
    pub(super) fn has_later(&self, array: &str, position: usize) -> bool {
        self.0.get(array).is_some_and(|readers| readers.iter().any(|reader| *reader >= position))
    }

    /// Returns whether an Apply outside of a group reads an array.
    fn has_other(&self, array: &str, group: &[usize]) -> bool {
        self.0.get(array).is_some_and(|readers| readers.iter().any(|reader| !group.contains(reader)))
    }
}

impl Fixed {
    pub(super) fn readers(&self) -> Readers {
        let mut readers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut add =
            |variable: &VarId, reader| readers.entry(self.name(*variable)).or_default().push(reader);
        for (position, (apply, step)) in self.graph.applies().iter().zip(&self.steps).enumerate() {
            if !self.is_silent(apply, step) {
                apply.inputs.iter().for_each(|input| add(input, position));
            }
        }
        self.graph.outputs().iter().for_each(|output| add(output, OUTPUTS));
        Readers(readers)
    }

    /// Returns the map of an Apply, if it is one.
    pub(super) fn map<'a>(&'a self, position: usize, apply: &'a Apply, step: &'a Step) -> Option<Map<'a>> {
        let Step::Map(scalar) = step else { return None };
        let result = |output: &VarId| (self.name(*output), self.value(*output).dtype);
        let results = apply.outputs.iter().map(result).collect();
        Some(Map { scalar: &**scalar, inputs: &apply.inputs, results, apply: Some(position) })
    }

    /// Returns whether a map can join a group: it reads results of the group at the same positions only.
    pub(super) fn joins(&self, map: &Map<'_>, shape: &[usize], group: &Group<'_>) -> bool {
        let is_result =
            |name: &str| group.maps.iter().flat_map(|map| &map.results).any(|(own, _)| own == name);
        let fits = |input: &VarId| !is_result(&self.name(*input)) || self.value(*input).shape == shape;
        group.shape == shape && map.inputs.iter().all(fits)
    }

    /// Returns the block function of a map, if the map has enough elements for one.
    pub(super) fn block(&self, map: &Map<'_>, shape: &[usize]) -> Option<BlockFunction> {
        let dtypes: Vec<DType> = map.inputs.iter().map(|input| self.value(*input).dtype).collect();
        let size: usize = shape.iter().product();
        map.scalar.block(&dtypes).filter(|_| size > FEW && map.apply.is_some())
    }

    /// Writes the call of a block function. Operands that are broadcast are laid out first.
    pub(super) fn write_block(&self, map: &Map<'_>, text: &mut Text) {
        let (result, dtype) = &map.results[0];
        let Some(apply) = map.apply.map(|position| &self.graph.applies()[position]) else { return };
        let shape = &self.value(apply.outputs[0]).shape;
        let Some(block) = self.block(map, shape) else { return };
        let size: usize = shape.iter().product();
        let mut operands = vec![size.to_string()];
        for (k, input) in map.inputs.iter().enumerate() {
            let (value, array) = (self.value(*input), self.name(*input));
            if value.shape == *shape {
                operands.push(array);
                continue;
            }
            let own = format!("{result}_{k}");
            text.array(value.dtype, &own, size);
            text.open(shape);
            let (to, from) = (position(shape, &steps(shape)), broadcast(&value.shape, shape));
            text.line(&format!("{own}[{to}] = {array}[{from}];"));
            text.close(shape);
            operands.push(own);
        }
        text.array(*dtype, result, size);
        operands.push(result.clone());
        text.line(&format!("{}({});", block.c_name(), operands.join(", ")));
    }

    /// Writes copies of the arrays of bools that a group reads, as wide as its other elements, and returns the name of the
    /// copy of each array: gcc does not vectorise a loop that chooses between wide elements by bytes.
    fn write_masks(&self, group: &Group<'_>, text: &mut Text) -> BTreeMap<String, String> {
        let results = || group.maps.iter().flat_map(|map| &map.results);
        let inputs = || group.maps.iter().flat_map(|map| map.inputs);
        let dtypes = results().map(|(_, dtype)| *dtype).chain(inputs().map(|input| self.value(*input).dtype));
        let wide = match dtypes.map(DType::itemsize_bytes).max() {
            Some(8) => DType::U64,
            Some(4) => DType::U32,
            _ => return BTreeMap::new(),
        };
        let mut masks = BTreeMap::new();
        for input in inputs() {
            let (value, array) = (self.value(*input), self.name(*input));
            let is_result = results().any(|(own, _)| *own == array);
            if value.dtype != DType::Bool || value.size() == 1 || is_result || masks.contains_key(&array) {
                continue;
            }
            let mask = format!("{}_{array}", group.maps[0].results[0].0);
            text.array(wide, &mask, value.size());
            elements(value.size(), &mask, &array, text);
            masks.insert(array, mask);
        }
        masks
    }

    /// Writes the loop of a group. Results that only the group reads have no array.
    pub(super) fn write_group(
        &self,
        group: &Group<'_>,
        readers: &Readers,
        name: &str,
        text: &mut Text,
    ) -> Result<(), LinkError> {
        let shape = &group.shape;
        let size: usize = shape.iter().product();
        let operands = || group.maps.iter().flat_map(|map| map.inputs).map(|input| &self.value(*input).shape);
        let is_flat = operands().all(|own| own == shape || own.iter().product::<usize>() == 1);
        let own: Vec<usize> = group.maps.iter().filter_map(|map| map.apply).collect();
        let is_stored = |map: &Map<'_>, array: &str| map.apply.is_none() || readers.has_other(array, &own);
        let results =
            || group.maps.iter().flat_map(|map| map.results.iter().map(move |result| (map, result)));
        for (_, (array, dtype)) in results().filter(|(map, (array, _))| is_stored(map, array)) {
            text.array(*dtype, array, size);
        }
        let loops: Vec<usize> = match (size, is_flat) {
            (1, _) => Vec::new(),
            (_, true) => vec![size],
            _ => shape.clone(),
        };
        let masks = if loops.is_empty() { BTreeMap::new() } else { self.write_masks(group, text) };
        text.open(&loops);
        let place = if loops.is_empty() { "0".to_owned() } else { position(&loops, &steps(&loops)) };
        let mut computed: Vec<&str> = Vec::new();
        for map in &group.maps {
            let own = &map.results[0].0;
            let mut operands = Vec::new();
            for (k, input) in map.inputs.iter().enumerate() {
                let (value, array) = (self.value(*input), self.name(*input));
                if computed.contains(&array.as_str()) {
                    operands.push(format!("{array}_x"));
                    continue;
                }
                let at = if value.size() == 1 {
                    "0".to_owned()
                } else if is_flat {
                    place.clone()
                } else {
                    broadcast(&value.shape, shape)
                };
                text.line(&match masks.get(&array) {
                    Some(mask) => format!("const pc_bool {own}_{k} = {mask}[{at}] != 0;"),
                    None => format!("const pc_{} {own}_{k} = {array}[{at}];", value.dtype),
                });
                operands.push(format!("{own}_{k}"));
            }
            let results: Vec<String> = map.results.iter().map(|(array, _)| format!("{array}_x")).collect();
            for (result, (_, dtype)) in results.iter().zip(&map.results) {
                text.line(&format!("pc_{dtype} {result};"));
            }
            let dtypes: Vec<DType> = map.inputs.iter().map(|input| self.value(*input).dtype).collect();
            let sub = Sub { fail: text.fail.to_owned(), ..Sub::default() };
            let code = map.scalar.c_code(&dtypes, &format!("{name}_{own}"), &operands, &results, &sub)?;
            text.lines(&code);
            for (array, _) in &map.results {
                if is_stored(map, array) {
                    text.line(&format!("{array}[{place}] = {array}_x;"));
                }
                text.line(&format!("(void){array}_x;"));
                computed.push(array);
            }
        }
        text.close(&loops);
        Ok(())
    }
}

/// Returns the position at the loop variables, given the step along each dimension.
pub(super) fn position(shape: &[usize], steps: &[usize]) -> String {
    let mut text = String::new();
    for (d, step) in steps.iter().enumerate().filter(|(d, step)| **step != 0 && shape[*d] != 1) {
        let plus = if text.is_empty() { "" } else { " + " };
        // Writing to a string cannot fail.
        let _ = match step {
            1 => write!(text, "{plus}i{d}"),
            step => write!(text, "{plus}{step} * i{d}"),
        };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Returns the position in an operand of shape `own` that is broadcast to `shape`.
fn broadcast(own: &[usize], shape: &[usize]) -> String {
    let shift = shape.len() - own.len();
    let own_steps = steps(own);
    let step = |d: usize| if d < shift || own[d - shift] == 1 { 0 } else { own_steps[d - shift] };
    position(shape, &(0..shape.len()).map(step).collect::<Vec<_>>())
}
