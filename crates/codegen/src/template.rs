//! Templates of C: files in which marks like `@NAME@` stand for what the generator fills in.
//!
//! A mark is `@`, an upper-case name of letters, digits and `_`, `@`. `@M@` and `@KEY@` are left alone: they stand for
//! the module's own name and key, which are known only once its text is complete.

/// Marks that the unit fills in.
const LATER: [&str; 2] = ["M", "KEY"];

/// Fills the marks of a template.
///
/// # Panics
/// On a mark without a value: templates are part of this program, and each is rendered in its tests.
///
/// # Examples
/// ```
/// let c = precast_codegen::template::render("static @T@ @M@_x;", &[("T", "int")]);
/// assert_eq!(c, "static int @M@_x;");
/// ```
#[must_use]
pub fn render(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some(start) = rest.find('@') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(name) = mark(rest) else {
            out.push('@');
            rest = &rest[1..];
            continue;
        };
        if LATER.contains(&name) {
            out.push_str(&rest[..name.len() + 2]);
        } else {
            let value = values.iter().find(|(known, _)| *known == name);
            let (_, value) = value.unwrap_or_else(|| panic!("template mark `@{name}@` has no value"));
            out.push_str(value);
        }
        rest = &rest[name.len() + 2..];
    }
    out.push_str(rest);
    out
}

/// The name of the mark that `text` starts with.
fn mark(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('@')?;
    let name = &rest[..rest.find('@')?];
    let valid = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
    (!name.is_empty() && name.bytes().all(valid)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_filled_and_other_at_signs_kept() {
        assert_eq!(render("a @X@ @x@ @ @M@@X@ @", &[("X", "1")]), "a 1 @x@ @ @M@1 @");
    }

    #[test]
    #[should_panic(expected = "`@MISSING@` has no value")]
    fn a_mark_without_a_value_is_a_defect() {
        let _ = render("@MISSING@", &[]);
    }
}
