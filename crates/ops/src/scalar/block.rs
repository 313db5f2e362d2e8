//! Functions that kernels call by block.

use precast_codegen::template::render;
use precast_graph::DType;

/// The header of the C functions that compute a block; documented in the header itself.
pub(super) const HEADER: &str = "precast/ops/block.h";

/// A C function of floats that kernels call block by block, so that a module has its code once: `pc_<name>_block`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockFunction {
    /// The C name without the dtype, e.g. `sin`.
    pub name: &'static str,
    /// The dtype of the operands and of the result: f32 or f64.
    pub dtype: DType,
    /// The number of operands.
    pub operands: usize,
    /// The regions with C forms of their own, in the order in which they are tried.
    pub regions: &'static [&'static str],
    /// Whether the general form has branches or loops, so that compilers do not vectorise it.
    pub branches: bool,
}

impl BlockFunction {
    /// Returns the name of the C function.
    #[must_use]
    pub fn c_name(&self) -> String {
        format!("pc_{}_{}_block", self.name, self.dtype)
    }

    /// Returns the definition of the C function. A guard lets each kernel that calls it repeat the text.
    #[must_use]
    pub fn c_text(&self) -> String {
        let (dtype, bits) = (self.dtype.name(), (8 * self.dtype.itemsize_bytes()).to_string());
        let each = |of: &dyn Fn(usize) -> String, separator: &str| {
            (0..self.operands).map(of).collect::<Vec<_>>().join(separator)
        };
        let function = format!("{}_{dtype}", self.name);
        let item = each(&|k| format!("p{k}[i]"), ", ");
        let mut counts = String::new();
        let mut loops = String::new();
        if !self.regions.is_empty() {
            let add =
                |region: &&str| format!("      {region} += pc_{}_is_{region}_{dtype}({item});", self.name);
            let adds: Vec<String> = self.regions.iter().map(add).collect();
            let zeros: Vec<String> = self.regions.iter().map(|region| format!("{region} = 0")).collect();
            let marks = [("BITS", bits.as_str()), ("ZEROS", &zeros.join(", ")), ("ADDS", &adds.join("\n"))];
            counts = render(include_str!("../../c/block_regions.c.in"), &marks);
        }
        for region in self.regions {
            let form = format!("pc_{}_{region}_{dtype}", self.name);
            let marks = [("REGION", *region), ("BITS", &bits), ("FORM", &form), ("ITEM", &item)];
            loops.push_str(&render(include_str!("../../c/block_region.c.in"), &marks));
        }
        let general = if self.branches { format!("pc_{function}_one") } else { format!("pc_{function}") };
        let (count, hint) =
            if self.branches { ("(m < w ? m : w)", "") } else { ("(w & -lanes)", "#pragma GCC ivdep\n") };
        let marks = [("HINT", hint), ("COUNT", count), ("FORM", &general), ("ITEM", &item)];
        loops.push_str(&render(include_str!("../../c/block_general.c.in"), &marks));
        let pad =
            |k| format!("      p{k} = (const pc_{dtype} *)pc_block_pad_{bits}(room{k}, p{k}, m, lanes);");
        render(
            include_str!("../../c/block.c.in"),
            &[
                ("NAME", &function),
                ("DTYPE", dtype),
                ("PARAMETERS", &each(&|k| format!("pc_{dtype} x{k}"), ", ")),
                ("ARGUMENTS", &each(&|k| format!("x{k}"), ", ")),
                ("OPERANDS", &each(&|k| format!("const pc_{dtype} *x{k}"), ", ")),
                ("ROOMS", &each(&|k| format!("room{k}"), ", ")),
                ("PLACES", &each(&|k| format!("*p{k} = x{k} + at"), ", ")),
                ("PADS", &each(&pad, "\n")),
                ("LAST", &each(&|k| format!("x{k}[at]"), ", ")),
                ("COUNTS", &counts),
                ("LOOPS", loops.trim_end()),
            ],
        )
    }
}
