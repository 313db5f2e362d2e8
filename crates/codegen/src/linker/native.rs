//! The native function of a module: the graph as a plain C function of numbers, `double f(double, double)`.
//!
//! It uses the same declarations, the same op code and the same nested blocks as `run`, so both compute the same bits.
//! Only the surrounding code differs. A number is an argument instead of being extracted from an object, and a return
//! value instead of being synced. The function is called without a host, so it sets the default floating-point
//! environment if its caller has a different one. It keeps no state between calls: a graph whose module needs an
//! instance has no native function.
//!
//! ```text
//! cannot fail      double f(double, double)                 dd)d~
//! may fail         double f(double, double, pc_context *)   dd)d!c~
//! several results  struct { double; int32_t; } f(double)    d)T{di}~
//! ```
//! Code can fail if it mentions `ctx` or `failure`, or if it could do so invisibly: in C++, or through an author's
//! macros.

use super::instance::{self, Context};
use super::run::{self, Block};
use super::variables::{Outline, Role, Var};
use crate::ctype::scalar::assign;
use crate::error::LinkError;
use crate::template::render;
use crate::tokens::tokens;
use precast_abi::nativecall::MAX_BYTES;
use precast_core::NoNative;
use precast_graph::{DType, Type};
use precast_store::key::Profile;
use std::fmt::Write as _;

pub(super) struct Native {
    /// Its CEP 1000 signature.
    pub(super) signature: String,
    /// Its C code; the name is `@M@_native`.
    pub(super) text: String,
}

/// Facts about a module that the text of its ops and types does not show.
pub(super) struct Surroundings<'a> {
    pub(super) context: &'a Context,
    pub(super) profile: Profile,
    /// Whether code could report an error without mentioning `ctx` or `failure`.
    pub(super) may_hide: bool,
}

/// Generates the native function of a module, or returns the reason why it has none.
pub(super) fn of(
    outline: &Outline<'_>,
    around: &Surroundings<'_>,
) -> Result<Result<Native, NoNative>, LinkError> {
    if let Some(reason) = refusal(outline) {
        return Ok(Err(reason));
    }
    let code = run::steps(&outline.main, around.profile, around.context)?;
    let fails = around.may_hide || reports(outline, &code);
    let arguments: Vec<DType> = numbers(outline, |role| matches!(role, Role::Input(_)));
    let results: Vec<DType> = numbers(outline, |role| matches!(role, Role::Output(_)));
    let signature = signature(&arguments, &results, fails);
    if signature.len() > MAX_BYTES {
        return Ok(Err(NoNative::Long));
    }
    let text = function(outline, around.context, code, [&arguments, &results], &signature, fails);
    Ok(Ok(Native { signature, text }))
}

/// Returns the reason why a module has no native function.
pub(super) fn refusal(outline: &Outline<'_>) -> Option<NoNative> {
    for var in &outline.main.vars {
        let ty = || super::signature::rankless(var.ty);
        if !var.ctype.c_is_simple() {
            return Some(NoNative::Array { name: var.role.describe(), ty: ty() });
        }
        if matches!(var.role, Role::Input(_) | Role::Output(_)) {
            if !var.ctype.c_is_number() || var.ty.ndim() > 0 {
                return Some(NoNative::Array { name: var.role.describe(), ty: ty() });
            }
            if matches!(var.ty.dtype(), DType::F16 | DType::Bf16) {
                return Some(NoNative::Half { name: var.role.describe(), ty: ty() });
            }
        }
    }
    if outline.n_params > 0 {
        return Some(NoNative::Params);
    }
    let starts = |step: &super::variables::Step<'_>| {
        !step.op.c_init_code_struct(&step.node, &step.name, &step.sub(step.struct_task)).is_empty()
    };
    let keeps = !instance::members(outline).is_empty() || outline.steps().any(starts);
    keeps.then_some(NoNative::State)
}

/// Returns the dtypes of the variables with some role, in order.
fn numbers(outline: &Outline<'_>, role: fn(&Role) -> bool) -> Vec<DType> {
    outline.main.vars.iter().filter(|var| role(&var.role)).map(|var| var.ty.dtype()).collect()
}

fn signature(arguments: &[DType], results: &[DType], fails: bool) -> String {
    let codes = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.pep3118()).collect::<String>();
    let result = if results.len() == 1 { codes(results) } else { format!("T{{{}}}", codes(results)) };
    format!("{}){result}{}~", codes(arguments), if fails { "!c" } else { "" })
}

/// Returns whether any code mentions the names that errors are reported with.
fn reports(outline: &Outline<'_>, code: &[Block]) -> bool {
    let of_types = outline.main.vars.iter().flat_map(|var| {
        let sub = var.sub(var.task);
        [var.ctype.c_declare(&var.name, &sub, false), first(var), var.ctype.c_cleanup(&var.name, &sub)]
    });
    let of_ops = code.iter().flat_map(|(front, behind)| [front.clone(), behind.clone()]);
    let says = |text: String| tokens(&text).iter().any(|token| token.is("ctx") || token.is("failure"));
    of_types.chain(of_ops).any(says)
}

/// Renders the initialization of a variable.
fn first(var: &Var<'_>) -> String {
    match &var.role {
        Role::Literal(value) => assign(&var.name, value),
        Role::Input(i) => taken(&var.name, &format!("pc_in{i}"), var.ty),
        _ => var.ctype.c_init(&var.name, &var.sub(var.task)),
    }
}

/// Renders the assignment of an argument to a C variable.
fn taken(name: &str, argument: &str, ty: &Type) -> String {
    match ty.dtype() {
        DType::C64 | DType::C128 => {
            format!("{name}.re = __real__ {argument};\n{name}.im = __imag__ {argument};\n")
        }
        _ => format!("{name} = {argument};\n"),
    }
}

/// Renders the assignment of a C variable to a result.
fn given(name: &str, result: &str, dtype: DType) -> String {
    match dtype {
        DType::C64 | DType::C128 => {
            format!("__real__ {result} = {name}.re;\n__imag__ {result} = {name}.im;\n")
        }
        _ => format!("{result} = {name};\n"),
    }
}

/// Returns the C type of a number as an argument or result.
fn c_type(dtype: DType) -> String {
    match dtype {
        DType::Bool | DType::C64 | DType::C128 => format!("pc_native_{dtype}"),
        _ => format!("pc_{dtype}"),
    }
}

/// Returns the C expression of the result at a position.
fn result(position: usize, count: usize) -> String {
    if count == 1 { "pc_result".to_owned() } else { format!("pc_result.pc_{position}") }
}

fn function(
    outline: &Outline<'_>,
    context: &Context,
    code: Vec<Block>,
    [arguments, results]: [&[DType]; 2],
    signature: &str,
    fails: bool,
) -> String {
    let parameters = arguments.iter().enumerate().map(|(i, dtype)| format!("{} pc_in{i}", c_type(*dtype)));
    let mut parameters: Vec<String> = parameters.collect();
    parameters.extend(fails.then(|| "pc_context *ctx".to_owned()));
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let (mut structure, mut ty) = (String::new(), "@M@_results".to_owned());
    match results {
        [one] => ty = c_type(*one),
        _ => {
            let member = |(i, dtype): (usize, &DType)| format!("  {} pc_{i};\n", c_type(*dtype));
            let members: String = results.iter().enumerate().map(member).collect();
            structure = render(include_str!("../../c/native_results.c.in"), &[("MEMBERS", &members)]);
        }
    }
    let clear = (0..results.len()).map(|i| format!("  {} = 0;\n", result(i, results.len())));
    let mut clear: String = clear.collect();
    let mut names: Vec<String> = (0..arguments.len()).map(|i| format!("pc_in{i}")).collect();
    names.extend(fails.then(|| "ctx".to_owned()));
    let (parameters, names) = (parameters.join(", "), names.join(", "));
    if fails {
        clear.push_str("  int failure = 0;\n  (void)ctx;\n");
    }
    let mut blocks: Vec<Block> =
        outline.main.vars.iter().map(|var| block(var, results.len(), fails)).collect();
    blocks.extend(code);
    let body = format!(
        "{}{}{}{}",
        context.enter,
        run::nested(&blocks),
        if outline.is_foreign { "PC_SETTLE(pc_result)\n" } else { "" },
        context.leave
    );
    render(
        include_str!("../../c/native.c.in"),
        &[
            ("RESULTS", &structure),
            ("NATIVE", signature),
            ("RESULT", &ty),
            ("PARAMETERS", &parameters),
            ("ARGUMENTS", &names),
            ("CLEAR", &clear),
            ("BODY", &body),
        ],
    )
}

/// Renders the block of a variable, as in `run`.
fn block(var: &Var<'_>, results: usize, fails: bool) -> Block {
    let (name, sub) = (&var.name, var.sub(var.task));
    let declare = var.ctype.c_declare(name, &sub, false);
    let front = format!("{{ /* {name}: {} */\n{declare}{}", var.role.describe(), first(var));
    let mut behind = String::new();
    if let Role::Output(position) = var.role {
        let give = given(name, &result(position, results), var.ty.dtype());
        behind += &if fails { format!("if (!failure) {{\n{give}}}\n") } else { give };
    }
    // Writing to a string cannot fail.
    if fails {
        let _ = writeln!(behind, "label_{}: ;", var.task);
    }
    let _ = writeln!(behind, "{}}} /* {name} */", var.ctype.c_cleanup(name, &sub));
    (front, behind)
}
