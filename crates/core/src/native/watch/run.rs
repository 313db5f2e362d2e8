//! Runs one call of a module on watched memory and records its visible effects.

use super::arena::{self, arena};
use super::child::end_copies;
use super::layout::{Layout, Steps, lay_out, offsets};
use super::process::ProcessState;
use super::region::{Flush, Region, Role};
use crate::native::DefaultFloats;
use crate::native::host::context_of;
use crate::native::load::LoadedModule;
use crate::native::load::{Instance, RunError};
use crate::native::memory::header::Header;
use crate::native::memory::object::{Owned, extents, release, strides};
use crate::{Array, DType};
use precast_abi::tensor::{FLAG_READONLY, Object, Tensor, Type};
use std::io;
use std::ptr;

/// The type of inputs and output memory. They belong to the run, so they are not freed by count.
static LENT: Type = Type { name: c"watched operand".as_ptr(), dealloc: keep };

unsafe extern "C" fn keep(_object: *mut Object) {}

/// An input of a run.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The extents.
    pub shape: &'a [usize],
    /// The elements in C order.
    pub bytes: &'a [u8],
    /// The layout in memory.
    pub layout: Layout,
    /// Whether it is marked as read-only for the op.
    pub readonly: bool,
}

/// The content of an output cell before the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Room {
    /// NULL.
    Empty,
    /// A tensor, filled with the pattern.
    Tensor {
        /// The dtype of the elements.
        dtype: DType,
        /// The extents.
        shape: Vec<usize>,
        /// The layout in memory.
        layout: Layout,
        /// Whether it is marked as read-only for the op.
        readonly: bool,
    },
}

/// The first change found in an input or in output memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// An element, by its position in C order.
    Element(usize),
    /// A byte between or around the elements.
    Outside,
}

/// An output after the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its dtype number.
    pub typenum: i32,
    /// The extents.
    pub shape: Vec<i64>,
    /// The elements in C order. `None` if they are not all inside the memory of the first one.
    pub bytes: Option<Vec<u8>>,
    /// The inputs that it shares memory with.
    pub aliases: Vec<usize>,
    /// The earlier outputs that it shares memory with.
    pub shares: Vec<usize>,
}

/// The observed effects of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The error of a failed run, and whether the op set an error.
    pub failure: Option<(RunError, bool)>,
    /// The content of each output cell.
    pub outputs: Vec<Option<Output>>,
    /// The change of each input.
    pub inputs: Vec<Option<Touched>>,
    /// The forbidden change of each output memory: any change if it is read-only, otherwise one outside its elements.
    pub rooms: Vec<Option<Touched>>,
    /// The reference count of each input after all references were released. Initially 1.
    pub references: Vec<i64>,
    /// The reference count of each output memory. Initially 1, owned by the cell.
    pub room_references: Vec<Option<i64>>,
    /// The op's own memory whose slack was overwritten.
    pub overrun: Vec<Role>,
    /// Whether the host computed a matrix product.
    pub used_gemm: bool,
    /// Descriptions of process-wide changes by the op.
    pub process: Vec<String>,
}

/// A tensor in a region.
struct Operand {
    header: Box<Header>,
    region: Region,
    /// The content of the region before the run.
    before: Vec<u8>,
    steps: Steps,
    shape: Vec<usize>,
    item: usize,
}

impl Operand {
    fn new(
        role: Role,
        (dtype, shape, layout): (DType, &[usize], Layout),
        elements: Option<&[u8]>,
        (fill, flush): (u8, Flush),
    ) -> io::Result<Self> {
        let item = dtype.itemsize_bytes();
        let steps = lay_out(shape, item, layout);
        let region = Region::new(role, steps.span, item, flush, fill)?;
        // SAFETY: the first element is within the span.
        let first = unsafe { region.data().add(steps.offset) };
        if let Some(elements) = elements {
            for (element, offset) in elements.chunks_exact(item).zip(offsets(shape, &steps.strides)) {
                // SAFETY: the steps keep every element within the span.
                let place = unsafe { first.offset(offset as isize) };
                // SAFETY: as above; `item` bytes of it.
                unsafe { ptr::copy_nonoverlapping(element.as_ptr(), place, item) };
            }
        }
        let mut header = Header::new(&LENT);
        header.tensor.dtype = dtype.typenum();
        header.tensor.ndim = shape.len() as i32;
        header.tensor.data = first.cast();
        for (axis, (extent, stride)) in shape.iter().zip(&steps.strides).enumerate() {
            header.shape[axis] = *extent as i64;
            header.strides[axis] = *stride;
        }
        let before = region.open().to_vec();
        Ok(Self { header, region, before, steps, shape: shape.to_vec(), item })
    }

    fn set_readonly(&mut self, readonly: bool) {
        self.header.tensor.flags = if readonly { FLAG_READONLY } else { 0 };
    }

    fn references(&self) -> i64 {
        self.header.tensor.object.refcount
    }

    fn as_raw(&mut self) -> *mut Object {
        ptr::from_mut(&mut *self.header).cast()
    }

    /// Returns the first change of the memory. If `elements` is false, only changes around the elements count.
    fn touched(&self, elements: bool) -> Option<Touched> {
        let open = self.region.open();
        if open == self.before {
            return None;
        }
        let mut own = vec![false; open.len()];
        let mut first = None;
        let start = (self.region.offset() + self.steps.offset) as i64;
        for (position, offset) in offsets(&self.shape, &self.steps.strides).enumerate() {
            let at = (start + offset) as usize;
            own[at..at + self.item].fill(true);
            if first.is_none() && open[at..at + self.item] != self.before[at..at + self.item] {
                first = Some(Touched::Element(position));
            }
        }
        let mut bytes = open.iter().zip(&self.before).zip(&own);
        if bytes.any(|((now, was), own)| !own && now != was) {
            return Some(Touched::Outside);
        }
        first.filter(|_| elements)
    }
}

/// A module under watch. Dropping it releases its instance.
pub struct Watched {
    instance: Option<Instance>,
    outputs: Vec<Owned>,
    /// The process-wide state before the instance was created.
    process: ProcessState,
}

impl Watched {
    /// Creates an instance with these slots.
    ///
    /// # Errors
    /// The instance cannot be created.
    pub fn new(module: LoadedModule, slots: &[Array]) -> Result<Self, RunError> {
        let slots = slots.iter().cloned().map(Owned::constant).collect();
        arena().open(0, Flush::End, usize::MAX);
        let own = std::process::id();
        let process = ProcessState::now();
        let instance = Instance::on(&arena::HOST, module, slots);
        end_copies(own);
        let instance = instance?;
        Ok(Self { instance: Some(instance), outputs: Vec::new(), process })
    }

    /// Runs the module. Output memory, and memory that the op requests, is filled with `fill`. There must be one input for
    /// each input of the module, and one room for each output.
    ///
    /// # Errors
    /// The number of inputs or rooms is wrong, or memory for the regions cannot be mapped.
    pub fn run(
        &mut self,
        inputs: &[Input<'_>],
        rooms: &[Room],
        (fill, flush): (u8, Flush),
        limit_bytes: usize,
    ) -> io::Result<Seen> {
        let Some(instance) = self.instance.as_mut() else { return Err(io::ErrorKind::InvalidInput.into()) };
        if instance.arity() != (inputs.len(), rooms.len()) {
            return Err(io::Error::other("the module has another number of inputs or outputs"));
        }
        arena().open(fill, flush, limit_bytes);
        let mut lent = operands(inputs, fill, flush)?;
        let mut cells = cells(rooms, fill, flush)?;
        let mut args: Vec<*mut Object> = lent.iter_mut().map(Operand::as_raw).collect();
        args.extend(cells.iter_mut().map(|cell| cell.as_mut().map_or(ptr::null_mut(), Operand::as_raw)));
        let _floats = DefaultFloats::set();
        let mut ctx = context_of(&arena::HOST);
        let own = std::process::id();
        // SAFETY: the number of arguments matches the arity, and all are alive until the end of this function.
        let result = unsafe { instance.run_raw(&raw mut ctx, args.as_mut_ptr()) };
        end_copies(own);
        let failure = result.err().map(|error| (error, ctx.error.kind != 0));
        let mut outputs: Vec<Option<Output>> = Vec::new();
        for object in &args[inputs.len()..] {
            // SAFETY: a cell is NULL or holds a tensor.
            let tensor = unsafe { object.cast::<Tensor>().as_ref() };
            let seen =
                tensor.map(|tensor| look(tensor, &lent, &cells, &args[inputs.len()..][..outputs.len()]));
            outputs.push(seen);
        }
        for object in &args[inputs.len()..] {
            // SAFETY: each cell owns one reference to its content.
            self.outputs.push(unsafe { Owned::from_raw(*object) });
        }
        self.outputs.clear();
        let mut arena = arena();
        arena.inspect();
        let strictly = |room: &Room| matches!(room, Room::Tensor { readonly: true, .. });
        let touched = |(room, cell): (&Room, &Option<Operand>)| cell.as_ref()?.touched(strictly(room));
        Ok(Seen {
            failure,
            outputs,
            inputs: lent.iter().map(|operand| operand.touched(true)).collect(),
            rooms: rooms.iter().zip(&cells).map(touched).collect(),
            references: lent.iter().map(Operand::references).collect(),
            room_references: cells.iter().map(|cell| cell.as_ref().map(Operand::references)).collect(),
            overrun: std::mem::take(&mut arena.overrun),
            used_gemm: arena.used_gemm,
            process: ProcessState::now().since(&self.process),
        })
    }

    /// Drops the instance. Returns the number of tensors and blocks that were not freed.
    pub fn end(mut self) -> usize {
        self.instance = None;
        arena().close()
    }
}

fn operands(inputs: &[Input<'_>], fill: u8, flush: Flush) -> io::Result<Vec<Operand>> {
    let operand = |(position, input): (usize, &Input<'_>)| {
        let form = (input.dtype, input.shape, input.layout);
        let mut operand = Operand::new(Role::Input(position), form, Some(input.bytes), (fill, flush))?;
        operand.set_readonly(input.readonly);
        Ok(operand)
    };
    inputs.iter().enumerate().map(operand).collect()
}

fn cells(rooms: &[Room], fill: u8, flush: Flush) -> io::Result<Vec<Option<Operand>>> {
    let cell = |(position, room): (usize, &Room)| {
        let Room::Tensor { dtype, shape, layout, readonly } = room else { return Ok(None) };
        let mut operand = Operand::new(Role::Room(position), (*dtype, shape, *layout), None, (fill, flush))?;
        operand.set_readonly(*readonly);
        Ok(Some(operand))
    };
    rooms.iter().enumerate().map(cell).collect()
}

/// Reads an output and finds the memory that contains it.
fn look(tensor: &Tensor, lent: &[Operand], cells: &[Option<Operand>], before: &[*mut Object]) -> Output {
    let shape = extents(tensor).to_vec();
    let mut output =
        Output { typenum: tensor.dtype, shape, bytes: None, aliases: Vec::new(), shares: Vec::new() };
    let Some((first, bytes)) = reach(tensor) else { return output };
    output.aliases = (0..lent.len()).filter(|i| lent[*i].region.meets(first, bytes)).collect();
    let shares = |object: &*mut Object| {
        // SAFETY: as in `run`: a cell is NULL or holds a tensor.
        let other = unsafe { object.cast::<Tensor>().as_ref() };
        let other = other.and_then(reach);
        other.is_some_and(|(start, length)| first < start + length && start < first + bytes)
    };
    output.shares = (0..before.len()).filter(|i| bytes > 0 && shares(&before[*i])).collect();
    if bytes > 0 {
        let arena = arena();
        let operands = lent.iter().chain(cells.iter().flatten()).map(|operand| &operand.region);
        let mut regions = operands.chain(&arena.live);
        // Memory outside of all regions belongs to the op; it is read as the tensor describes it.
        let home = regions.find(|region| region.meets(tensor.data.addr(), 1));
        if home.is_some_and(|region| !region.covers(first, bytes)) {
            return output;
        }
    }
    output.bytes = gather(tensor);
    output
}

/// Returns the lowest address of a tensor's elements and the number of bytes that they span, or `None` if the description
/// is invalid.
fn reach(tensor: &Tensor) -> Option<(usize, usize)> {
    let item = DType::from_typenum(tensor.dtype)?.itemsize_bytes() as i64;
    let (mut low, mut high) = (0_i64, item);
    for (extent, stride) in extents(tensor).iter().zip(strides(tensor)) {
        match extent {
            ..0 => return None,
            0 => return Some((tensor.data.addr(), 0)),
            _ => {
                let reach = stride.checked_mul(extent - 1)?;
                low = low.checked_add(reach.min(0))?;
                high = high.checked_add(reach.max(0))?;
            }
        }
    }
    let first = tensor.data.addr().checked_add_signed(isize::try_from(low).ok()?)?;
    Some((first, usize::try_from(high - low).ok()?))
}

/// Returns the elements in C order.
fn gather(tensor: &Tensor) -> Option<Vec<u8>> {
    let item = DType::from_typenum(tensor.dtype)?.itemsize_bytes();
    let shape: Option<Vec<usize>> = extents(tensor).iter().map(|n| usize::try_from(*n).ok()).collect();
    let mut bytes = Vec::new();
    for offset in offsets(&shape?, strides(tensor)) {
        // SAFETY: within the span of the tensor, which `look` found in one region, or which the op claims. In a child
        // process, a wrong claim is a fault that is reported.
        let place = unsafe { tensor.data.cast::<u8>().offset(offset as isize) };
        // SAFETY: as above; bytes have no invalid values.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(place, item) });
    }
    Some(bytes)
}

impl Drop for Operand {
    fn drop(&mut self) {
        // SAFETY: an operand owns its memory; it was created without an owner, but an op may have set one.
        unsafe { release(self.header.tensor.owner) };
    }
}
