//! The macros that sections may use: their names, sections and values.
//!
//! | macro | sections |
//! |---|---|
//! | `APPLY_SPECIFIC(name)` | all except `init_code`, `support_code` |
//! | `DTYPE_INPUT_i`, `TYPENUM_INPUT_i`, `ITEMSIZE_INPUT_i`, the same for `OUTPUT_i` | the same, if `check_input` is on |
//! | `PARAMS_TYPE`, `DTYPE_PARAM_x` | the same, if the op has params |
//! | `FAIL`, and `PARAMS` if the op has params | `init_code_struct`, `code`, `code_cleanup` |
//! | `INPUT_i`, `OUTPUT_i` | `code`, `code_cleanup` |
//!
//! Each macro is defined before a section and undefined after it. A use in any other section would only cause a
//! compiler error about an undeclared name, so it is reported here. Directives (`#define CHECK(x) if (!(x)) { FAIL }`)
//! are not checked, because their text is used only where it is expanded.

use super::error::{ExternalError, suggestion};
use super::section::{Part, Section};
use crate::tokens::{Kind, tokens};
use precast_graph::{DType, Type, nearest};

/// The facts that determine which macros are defined.
pub(super) struct Known<'a> {
    /// The maximum numbers of inputs and outputs; `None` if unlimited.
    pub(super) most: [Option<usize>; 2],
    pub(super) check_input: bool,
    /// The names of the params.
    pub(super) params: &'a [String],
}

/// A parsed macro name.
enum Macro<'n> {
    ApplySpecific,
    /// `DTYPE_`, `TYPENUM_` or `ITEMSIZE_`: whether it is for an output, and the position.
    Typed(bool, usize),
    ParamsType,
    ParamDType(&'n str),
    Fail,
    Params,
    Variable(bool, usize),
}

impl<'n> Macro<'n> {
    fn of(name: &'n str) -> Option<Self> {
        match name {
            "APPLY_SPECIFIC" => return Some(Self::ApplySpecific),
            "PARAMS_TYPE" => return Some(Self::ParamsType),
            "PARAMS" => return Some(Self::Params),
            "FAIL" => return Some(Self::Fail),
            _ => {}
        }
        if let Some(field) = name.strip_prefix("DTYPE_PARAM_") {
            return Some(Self::ParamDType(field));
        }
        let typed = ["DTYPE_", "TYPENUM_", "ITEMSIZE_"].iter().find_map(|prefix| name.strip_prefix(prefix));
        let (is_output, number) = match typed.unwrap_or(name).rsplit_once('_')? {
            ("INPUT", number) => (false, number),
            ("OUTPUT", number) => (true, number),
            _ => return None,
        };
        let position = number.parse().ok()?;
        Some(if typed.is_some() {
            Self::Typed(is_output, position)
        } else {
            Self::Variable(is_output, position)
        })
    }

    fn is_defined_in(&self, section: Section) -> bool {
        let run = matches!(section, Section::Code | Section::CodeCleanup);
        match self {
            Self::Variable(..) => run,
            Self::Fail | Self::Params => run || section == Section::InitCodeStruct,
            _ => !matches!(section, Section::InitCode | Section::SupportCode),
        }
    }
}

/// Returns whether a word is one of the macros.
pub(super) fn is_macro(word: &str) -> bool {
    Macro::of(word).is_some()
}

/// Checks that no macro is used in a section that does not define it.
pub(super) fn check(parts: &[Part], known: &Known<'_>) -> Result<(), ExternalError> {
    for part in parts {
        let words = tokens(&part.text).into_iter().filter(|t| t.kind == Kind::Word && !t.directive);
        for token in words {
            let Some(used) = Macro::of(token.text) else { continue };
            if let Some(problem) = problem(token.text, &used, part.section, known) {
                return Err(ExternalError::Macro { place: part.place(token.line), problem });
            }
        }
    }
    Ok(())
}

/// Checks that no `return` skips the clean-up. Applies to C only, since C++ code may contain functions (lambdas,
/// methods).
pub(super) fn check_returns(parts: &[Part]) -> Result<(), ExternalError> {
    let ends_itself =
        [Section::Code, Section::CodeCleanup, Section::InitCodeStruct, Section::CleanupCodeStruct];
    for part in parts.iter().filter(|part| ends_itself.contains(&part.section)) {
        let found = tokens(&part.text).into_iter().find(|t| t.is("return") && !t.directive);
        if let Some(token) = found {
            let section = part.section.tag();
            return Err(ExternalError::Return { place: part.place(token.line), section });
        }
    }
    Ok(())
}

fn problem(name: &str, used: &Macro<'_>, section: Section, known: &Known<'_>) -> Option<String> {
    if !used.is_defined_in(section) {
        let sections = Section::ALL.into_iter().filter(|section| used.is_defined_in(*section));
        let sections: Vec<String> = sections.map(|section| format!("`{}`", section.tag())).collect();
        let (section, sections) = (section.tag(), sections.join(", "));
        return Some(format!("`{name}` is not defined in section `{section}`; it is defined in {sections}"));
    }
    match used {
        Macro::Typed(..) if !known.check_input => {
            Some(format!("`{name}` is not defined, because the op declares `check_input = false`"))
        }
        Macro::Typed(is_output, position) | Macro::Variable(is_output, position) => {
            let most = known.most[usize::from(*is_output)].filter(|most| position >= most)?;
            let what = if *is_output { "output" } else { "input" };
            Some(format!("`{name}` is not defined: the op has {most} {what}(s), counted from 0"))
        }
        Macro::Params | Macro::ParamsType | Macro::ParamDType(_) if known.params.is_empty() => {
            Some(format!("`{name}` is not defined: the op has no params"))
        }
        Macro::ParamDType(field) if !known.params.iter().any(|param| param == field) => {
            let near = nearest(field, known.params.iter().map(String::as_str));
            Some(format!("`{name}` is not defined: unknown param `{field}`{}", suggestion(near)))
        }
        _ => None,
    }
}

/// The macro definitions before a section and the `#undef` lines after it.
#[derive(Default)]
pub(super) struct Defined {
    pub(super) define: String,
    pub(super) undefine: String,
}

impl Defined {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let plain = name.split('(').next().unwrap_or(name);
        self.define.push_str(&format!("#define {name} {}\n", value.trim().replace('\n', " \\\n")));
        self.undefine.push_str(&format!("#undef {plain}\n"));
    }

    /// Adds `DTYPE_INPUT_0` and similar macros for the variables of one side.
    pub(super) fn types(&mut self, side: &str, types: &[Type], is_compat: bool) {
        // A user type has no element type that C could name.
        let plain = types.iter().enumerate().filter(|(_, ty)| !matches!(ty, Type::User(_)));
        for (position, ty) in plain {
            let dtype = ty.dtype();
            let name = if is_compat { numpy_name(dtype) } else { format!("pc_{dtype}") };
            self.add(&format!("DTYPE_{side}_{position}"), &name);
            self.add(&format!("TYPENUM_{side}_{position}"), &dtype.typenum().to_string());
            self.add(&format!("ITEMSIZE_{side}_{position}"), &dtype.itemsize_bytes().to_string());
        }
    }
}

/// Returns NumPy's C name of an element type: `npy_float32`. A dtype that NumPy lacks keeps precast's name.
pub(super) fn numpy_name(dtype: DType) -> String {
    let name = dtype.name();
    let bits = || name[1..].parse::<u32>().unwrap_or(0);
    match name.as_bytes()[0] {
        _ if matches!(name, "bool") => "npy_bool".to_owned(),
        b'i' => format!("npy_int{}", bits()),
        b'u' => format!("npy_uint{}", bits()),
        b'f' => format!("npy_float{}", bits()),
        b'c' => format!("npy_complex{}", bits()),
        _ => format!("pc_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::section::split;
    use super::*;

    fn problem(text: &str) -> Option<String> {
        let params = ["alpha".to_owned()];
        let known = Known { most: [Some(2), None], check_input: true, params: &params };
        check(&split("op/f.c", text).unwrap(), &known).err().map(|error| error.to_string())
    }

    #[test]
    fn a_macro_in_the_wrong_section_is_located() {
        assert_eq!(
            problem("#section support_code\nint x;\nint y = FAIL;\n").unwrap(),
            "op/f.c:3: `FAIL` is not defined in section `support_code`; it is defined in `init_code_struct`, `code`, `code_cleanup`"
        );
        let text = problem("#section support_code_apply\nINPUT_0\n").unwrap();
        assert!(text.ends_with("it is defined in `code`, `code_cleanup`"), "{text}");
        assert!(problem("#section init_code\nDTYPE_INPUT_0 x;\n").is_some());
        assert!(problem("#section init_code\nAPPLY_SPECIFIC(x);\n").is_some());
        assert!(problem("#section support_code_apply\nPARAMS->alpha\n").is_some());
        assert!(problem("#section code\nINPUT_2\n").unwrap().contains("has 2 input(s)"));
        assert!(problem("#section code\nDTYPE_PARAM_alpa x;\n").unwrap().ends_with("nearest `alpha`"));
    }

    #[test]
    fn valid_uses_and_mentions_are_accepted() {
        for text in [
            "#section code\nif (INPUT_0) { FAIL } OUTPUT_7 = PARAMS->alpha; DTYPE_PARAM_alpha a;\n",
            "#section init_code_struct\nFAIL; PARAMS; TYPENUM_OUTPUT_3; APPLY_SPECIFIC(x) = 1;\n",
            "#section cleanup_code_struct\nAPPLY_SPECIFIC(x) = ITEMSIZE_INPUT_1;\n",
            "#section support_code\n// FAIL\n#define CHECK(x) if (!(x)) \\\n { FAIL }\n\"INPUT_0\"\n",
            "#section support_code\nint INPUT_x, FAILED, DTYPE_INPUT;\n",
        ] {
            assert_eq!(problem(text), None, "{text}");
        }
    }

    #[test]
    fn return_that_skips_cleanup_is_located() {
        let returns =
            |text: &str| check_returns(&split("op/f.c", text).unwrap()).err().map(|e| e.to_string());
        let text = returns("#section code\nif (1)\n  return 1;\n").unwrap();
        assert!(text.starts_with("op/f.c:3: `return` in section `code` "), "{text}");
        assert!(returns("#section cleanup_code_struct\nreturn;\n").is_some());
        assert_eq!(
            returns("#section support_code\nint f(void) { return 1; }\n#section init_code\nreturn 1;\n"),
            None
        );
        assert_eq!(returns("#section code\n// return\n\"return\"\n#define R return\nint returned;\n"), None);
    }

    #[test]
    fn dtypes_have_numpy_names() {
        let names: Vec<String> = DType::ALL.into_iter().map(numpy_name).collect();
        for name in ["npy_bool", "npy_int64", "npy_float32", "npy_float64"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }
}
