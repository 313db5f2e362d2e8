//! The spelling of names and numbers in C.

/// Keywords of C and C++, which cannot be used as names.
const KEYWORDS: &str = " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const \
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false \
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private \
    protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast \
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void \
    volatile wchar_t while xor xor_eq ";

/// Returns whether a text is a valid name of a field or a macro, in C and in C++.
pub(crate) fn is_c_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    first && text.bytes().all(part) && !KEYWORDS.contains(&format!(" {text} "))
}

/// Names that gcc, clang or common C headers define as macros, and keywords that gnu11 adds.
const DEFINED: &str = " NULL asm complex i386 imaginary linux typeof typeof_unqual unix errno assert EOF stdin stdout stderr \
    INFINITY NAN I offsetof ";

/// Returns the reason why a text cannot be the name of a struct field in C and C++; `None` if it can.
pub(crate) fn field_problem(text: &str) -> Option<&'static str> {
    let reserved = text.starts_with("__")
        || text.strip_prefix('_').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    match text {
        _ if !is_c_name(text) => Some("is not a C field name"),
        _ if reserved => Some("begins with a prefix that C reserves"),
        _ if DEFINED.contains(&format!(" {text} ")) => Some("is a macro or keyword of C compilers"),
        _ => None,
    }
}

/// Formats a float as a bit-exact C literal.
pub(crate) fn c_float(x: f64) -> String {
    if x.is_nan() {
        return "__builtin_nan(\"\")".to_owned();
    }
    if x.is_infinite() {
        return format!("{}__builtin_inf()", if x < 0.0 { "-" } else { "" });
    }
    let bits = x.to_bits();
    let (sign, exponent, fraction) = (bits >> 63, (bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let sign = if sign == 1 { "-" } else { "" };
    let (lead, exponent) = match exponent {
        0 => (0, -1022),
        biased => (1, biased as i64 - 1023),
    };
    format!("{sign}0x{lead}.{fraction:013x}p{exponent:+}")
}
