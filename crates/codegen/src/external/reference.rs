//! Uses a plain C function, which computes one element, as the reference of an op.
//!
//! ```text
//! double within(double x, double low, double high)        inputs by position, params by name, one result
//! void split(double x, double *whole, double *part)       several results
//! ```
//! The function becomes a separate op on vectors of the function's types, and the reference becomes an expression that
//! calls this op. Inputs are broadcast, converted to these types and flattened; results are reshaped back. So all
//! references are expressions, and the function is compiled like all other C code, with its own key.

use super::declaration::Declaration;
use super::error::{ExternalError, SourceLine};
use super::function::{closing, commas};
use crate::module::SourceSet;
use crate::template::render;
use crate::tokens::{Kind, Token, tokens};
use precast_graph::{DType, nearest};
use precast_store::key::Language;

/// C's names of number types, without `const`, and their dtypes on all supported targets.
const TYPES: [(&str, DType); 48] = [
    ("double", DType::F64),
    ("float", DType::F32),
    ("bool", DType::Bool),
    ("_Bool", DType::Bool),
    ("signed char", DType::I8),
    ("unsigned char", DType::U8),
    ("short", DType::I16),
    ("short int", DType::I16),
    ("unsigned short", DType::U16),
    ("unsigned short int", DType::U16),
    ("int", DType::I32),
    ("unsigned", DType::U32),
    ("unsigned int", DType::U32),
    ("long", DType::I64),
    ("long int", DType::I64),
    ("long long", DType::I64),
    ("long long int", DType::I64),
    ("unsigned long", DType::U64),
    ("unsigned long int", DType::U64),
    ("unsigned long long", DType::U64),
    ("unsigned long long int", DType::U64),
    ("size_t", DType::U64),
    ("ssize_t", DType::I64),
    ("ptrdiff_t", DType::I64),
    ("int8_t", DType::I8),
    ("int16_t", DType::I16),
    ("int32_t", DType::I32),
    ("int64_t", DType::I64),
    ("uint8_t", DType::U8),
    ("uint16_t", DType::U16),
    ("uint32_t", DType::U32),
    ("uint64_t", DType::U64),
    ("pc_bool", DType::Bool),
    ("pc_i8", DType::I8),
    ("pc_i16", DType::I16),
    ("pc_i32", DType::I32),
    ("pc_i64", DType::I64),
    ("pc_u8", DType::U8),
    ("pc_u16", DType::U16),
    ("pc_u32", DType::U32),
    ("pc_u64", DType::U64),
    ("pc_f16", DType::F16),
    ("pc_bf16", DType::Bf16),
    ("pc_f32", DType::F32),
    ("pc_f64", DType::F64),
    ("pc_c64", DType::C64),
    ("pc_c128", DType::C128),
    ("char", DType::I8),
];

/// Words that qualify a definition but do not affect its result type.
const QUALIFIERS: [&str; 5] = ["static", "inline", "extern", "const", "register"];

/// The name for the broadcast shape of all inputs in the expressions.
const SHAPE: &str = "shape_of_elements";

/// The value passed to a parameter of the function.
enum Given {
    Input(usize),
    Param(String),
    Output,
}

/// A C number type: its spelling and its dtype.
struct Number {
    c: String,
    dtype: DType,
}

struct Signature {
    result: Option<Number>,
    parameters: Vec<(Given, Number)>,
}

impl Declaration {
    /// Makes a plain C function the reference of this op, whose inputs, outputs and params must already be declared.
    /// The file `file` of `sources` must define the function `func`.
    ///
    /// # Errors
    /// Fails if the file does not define the function, or if the function does not fit the inputs and params.
    ///
    /// # Examples
    /// ```
    /// use precast_codegen::{SourceSet, external::Declaration};
    ///
    /// let twice = Declaration::new("twice").file("twice.c", "#section code\n/* … */\n").input("{T}[?]").output("{T}[?]");
    /// let c = "double twice(double x) { return 2 * x; }\n";
    /// let twice = twice.reference_function("plain.c", SourceSet::from([("plain.c".to_owned(), c.into())]), "twice")?;
    /// # Ok::<(), precast_codegen::external::ExternalError>(())
    /// ```
    pub fn reference_function(
        mut self,
        file: &str,
        sources: SourceSet,
        func: &str,
    ) -> Result<Self, ExternalError> {
        let text = sources.get(file).map_or("", |text| text);
        let signature = Signature::find(&self, file, text, func)?;
        let name = format!("{}_reference", self.name);
        self.reference = signature.expressions(&name, self.inputs.len(), self.outputs.len());
        let is_cxx = [".cc", ".cpp", ".cxx"].iter().any(|extension| file.ends_with(extension));
        let mut elements = Self::new(&name).file("elements.c", &signature.code(file, func));
        elements.language = is_cxx.then_some(Language::Cxx).or(self.language);
        elements.sources = sources;
        elements.inputs = signature.inputs();
        elements.outputs = signature.outputs().map(|number| format!("{}[?]", number.dtype)).collect();
        elements.header_dirs.clone_from(&self.header_dirs);
        elements.libraries.clone_from(&self.libraries);
        // Functions from a math textbook usually call libm.
        elements.libraries.push("m".to_owned());
        elements.lib_dirs.clone_from(&self.lib_dirs);
        self.reference_ops.push(elements);
        Ok(self)
    }
}

impl Signature {
    fn find(op: &Declaration, file: &str, text: &str, func: &str) -> Result<Self, ExternalError> {
        let found = tokens(text);
        let found: Vec<&Token<'_>> = found.iter().filter(|token| !token.directive).collect();
        let wrong = |line: u32, problem: String| ExternalError::Reference {
            place: SourceLine { file: file.to_owned(), line: line + 1 },
            problem,
        };
        let ends = |at: &usize| {
            let close = closing(&found, at + 1)?;
            found.get(close + 1).is_some_and(|token| token.is("{")).then_some(close)
        };
        let named = |at: &usize| found[*at].is(func);
        let Some((at, close)) = (0..found.len()).filter(named).find_map(|at| Some((at, ends(&at)?))) else {
            let words = found.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text);
            let near = super::error::suggestion(nearest(func, words));
            return Err(wrong(0, format!("function `{func}` is not defined in it{near}")));
        };
        let begins = |token: &&Token<'_>| token.is(";") || token.is("}");
        let start = found[..at].iter().rposition(begins).map_or(0, |before| before + 1);
        let line = found[at].line;
        let number = |tokens: &[&Token<'_>], what: &str| {
            Number::of(tokens).map_err(|found| {
                wrong(line, format!("`{func}` {what} `{found}`, which is not a C number type"))
            })
        };
        let result = &found[start..at];
        let result =
            if result.iter().any(|token| token.is("void")) { None } else { Some(number(result, "returns")?) };
        let mut signature = Self { result, parameters: Vec::new() };
        let mut inputs = 0;
        for parameter in split(&found[at + 2..close]) {
            let Some((name, ty)) = parameter.split_last() else { continue };
            let (given, ty) = match ty.split_last() {
                Some((star, ty)) if star.is("*") && !ty.iter().any(|token| token.is("const")) => {
                    (Given::Output, ty)
                }
                _ if op.params.contains_key(name.text) => (Given::Param(name.text.to_owned()), ty),
                _ => (Given::Input(inputs), ty),
            };
            inputs += usize::from(matches!(given, Given::Input(_)));
            let number = number(ty, &format!("takes for `{}`", name.text))?;
            signature.parameters.push((given, number));
        }
        signature.check(op, inputs).map_err(|problem| wrong(line, format!("`{func}` {problem}")))?;
        Ok(signature)
    }

    fn check(&self, op: &Declaration, inputs: usize) -> Result<(), String> {
        let (expected, outputs) = (op.inputs.len(), self.outputs().count());
        if inputs != expected || inputs == 0 {
            let params: Vec<String> = op.params.keys().map(|name| format!("`{name}`")).collect();
            let params = if params.is_empty() {
                String::new()
            } else {
                format!(", in addition to params named {}", params.join(", "))
            };
            return Err(format!(
                "takes {inputs} number(s), expected one for each of {expected} input(s){params}"
            ));
        }
        if self.result.is_some() && outputs > 1 {
            return Err(
                "returns a number and takes output pointers, expected `void` or no pointers".to_owned()
            );
        }
        match (outputs, op.outputs.len()) {
            (found, expected) if found == expected => Ok(()),
            (found, expected) => Err(format!("returns {found} number(s) for {expected} output(s)")),
        }
    }

    /// Returns the number types of the results.
    fn outputs(&self) -> impl Iterator<Item = &Number> {
        let pointers = self.parameters.iter().filter(|(given, _)| matches!(given, Given::Output));
        self.result.iter().chain(pointers.map(|(_, number)| number))
    }

    /// Returns the types of the op's inputs: a vector for each input, a C scalar for each param.
    fn inputs(&self) -> Vec<String> {
        let ty = |(given, number): &(Given, Number)| match given {
            Given::Input(_) => Some(format!("{}[?]", number.dtype)),
            Given::Param(_) => Some(number.dtype.to_string()),
            Given::Output => None,
        };
        self.parameters.iter().filter_map(ty).collect()
    }

    /// Returns an expression for each output.
    fn expressions(&self, name: &str, inputs: usize, outputs: usize) -> Vec<String> {
        let argument = |(given, number): &(Given, Number)| match given {
            Given::Input(i) => Some(format!("cast(ravel(broadcast_to(x{i}, {SHAPE})), {})", number.dtype)),
            Given::Param(param) => Some(format!("cast({param}, {})", number.dtype)),
            Given::Output => None,
        };
        let arguments: Vec<String> = self.parameters.iter().filter_map(argument).collect();
        let arguments = arguments.join(", ");
        let all: Vec<String> = (0..inputs).map(|i| format!("zeros_like(x{i}, dtype=bool)")).collect();
        let expression = |output: usize| {
            let shape =
                if output == 0 { format!("{SHAPE} = ({}).shape; ", all.join(" | ")) } else { String::new() };
            let which = if outputs > 1 { format!(", output={output}") } else { String::new() };
            format!("{shape}reshape({name}({arguments}{which}), {SHAPE})")
        };
        (0..outputs).map(expression).collect()
    }

    /// Returns the C file of the op that calls the function for each element.
    fn code(&self, file: &str, func: &str) -> String {
        let (mut arguments, mut declared, mut stored) = (Vec::new(), String::new(), String::new());
        let mut taken = 0;
        let mut first = None;
        let mut give = |number: &Number, value: Option<&str>| {
            let j = stored.lines().count();
            let value = value.map_or_else(String::new, |value| format!(" = {value}"));
            stored.push_str(&format!(
                "  *(DTYPE_OUTPUT_{j} *)(OUTPUT_{j}->data + i * OUTPUT_{j}->strides[0]) = y{j};\n"
            ));
            (format!("  {} y{j}{value};\n", number.c), format!("&y{j}"))
        };
        for (given, number) in &self.parameters {
            match given {
                Given::Input(_) => {
                    first.get_or_insert(taken);
                    let element = format!("INPUT_{taken}->data + i * INPUT_{taken}->strides[0]");
                    arguments.push(format!("*(const DTYPE_INPUT_{taken} *)({element})"));
                }
                Given::Param(_) => arguments.push(format!("INPUT_{taken}")),
                Given::Output => {
                    let (declaration, address) = give(number, None);
                    declared.push_str(&declaration);
                    arguments.push(address);
                }
            }
            taken += usize::from(!matches!(given, Given::Output));
        }
        let call = format!("{func}({})", arguments.join(", "));
        let call = match &self.result {
            Some(number) => give(number, Some(&call)).0,
            None => format!("{declared}  {call};\n"),
        };
        let outputs: String = (0..self.outputs().count())
            .map(|j| render(include_str!("../../c/reference_output.c.in"), &[("J", &j.to_string())]))
            .collect();
        let first = first.unwrap_or(0).to_string();
        let values = [
            ("FILE", file),
            ("FIRST", first.as_str()),
            ("ALLOCATE", outputs.trim_end()),
            ("CALL", &format!("{call}{}", stored.trim_end())),
        ];
        render(include_str!("../../c/reference.c.in"), &values)
    }
}

impl Number {
    /// Returns the number type with this spelling, or the spelling as the error.
    fn of(tokens: &[&Token<'_>]) -> Result<Self, String> {
        let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        let plain: Vec<&str> = words.iter().copied().filter(|word| !QUALIFIERS.contains(word)).collect();
        let c = plain.join(" ");
        let found = TYPES.iter().find(|(known, _)| *known == c);
        found.map(|(_, dtype)| Self { c: c.clone(), dtype: *dtype }).ok_or_else(|| words.join(" "))
    }
}

/// Splits the parameters between the parentheses; empty for `void`.
fn split<'a, 't>(inside: &'a [&'t Token<'t>]) -> Vec<&'a [&'t Token<'t>]> {
    if inside.len() == 1 && inside[0].is("void") {
        return Vec::new();
    }
    let mut start = 0;
    let ends = commas(inside).into_iter().chain([inside.len()]);
    ends.map(|end| &inside[std::mem::replace(&mut start, end + 1)..end]).collect()
}
