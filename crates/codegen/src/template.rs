//! C templates: files in which the generator replaces marks like `@NAME@`.
//!
//! A mark is `@`, an upper-case name of letters, digits and `_`, and `@`. Some marks are replaced only when the unit's
//! text is complete. `@M@` and `@KEY@` are the module's own name and key. `@LINE@` is the line and file that a `#line`
//! directive returns to. `@AT@` is a literal `@` in author-written text. `@APPLY3@` and `@APPLY@` surround text from
//! Apply 3; they are removed, and `Unit::text_and_origins` returns the ranges.

/// The start of text from an Apply, or of text that belongs to no Apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The first line, counting from 1.
    pub(crate) line: usize,
    /// The position of the Apply in its module.
    pub(crate) apply: Option<usize>,
}

/// Surrounds text from an Apply with its marks.
pub(crate) fn of_apply(position: usize, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("@APPLY{position}@{text}@APPLY@") }
}

/// The marks that the unit replaces.
const LATER: [&str; 4] = ["M", "KEY", "LINE", "AT"];

/// Replaces the marks of a template.
///
/// # Panics
/// Panics on a mark without a value. Templates are part of this program, and tests render each of them.
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
        if LATER.contains(&name) || name.starts_with("APPLY") {
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

/// Escapes author-written text, so that it contains no marks.
pub(crate) fn escape(text: &str) -> String {
    text.replace('@', "@AT@")
}

/// Replaces the marks that [`render`] leaves: the module's name and the bytes of its key. Appends `text` to `out`,
/// whose lines belong to `file`. Returns the start of each Apply's text.
pub(crate) fn finish(out: &mut String, text: &str, module: &str, key: &str, file: &str) -> Vec<Origin> {
    let mut line = out.matches('\n').count() + 1;
    let mut origins = vec![Origin { line, apply: None }];
    let mut rest = text;
    while let Some(start) = rest.find('@') {
        out.push_str(&rest[..start]);
        line += rest[..start].matches('\n').count();
        rest = &rest[start..];
        let (name, skip) = mark(rest).map_or(("", 1), |name| (name, name.len() + 2));
        match name {
            "M" => out.push_str(module),
            "KEY" => out.push_str(key),
            // The directive sets the number of the next line.
            "LINE" => out.push_str(&format!("{} \"{file}\"", line + 1)),
            "AT" => out.push('@'),
            // An Apply's text may end within a line, which still counts as its own.
            "APPLY" => origins.push(Origin { line: line + usize::from(!out.ends_with('\n')), apply: None }),
            _ if name.starts_with("APPLY") => origins.push(Origin { line, apply: name[5..].parse().ok() }),
            _ => out.push_str(&rest[..skip]),
        }
        rest = &rest[skip..];
    }
    out.push_str(rest);
    origins
}

/// Returns the name of the mark at the start of `text`.
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
    fn markers_are_replaced_and_other_text_kept() {
        assert_eq!(render("a @X@ @x@ @ @M@@X@ @", &[("X", "1")]), "a 1 @x@ @ @M@1 @");
    }

    #[test]
    fn final_markers_are_replaced_once() {
        let mut out = "1\n".to_owned();
        let text = format!("@M@ {} @ @x@\n#line @LINE@\n@KEY@", escape("@M@@LINE@ @"));
        finish(&mut out, &text, "m1", "k", "unit.c");
        assert_eq!(out, "1\nm1 @M@@LINE@ @ @ @x@\n#line 4 \"unit.c\"\nk");
    }

    #[test]
    fn lines_map_to_their_apply() {
        let mut out = "1\n".to_owned();
        let text = format!("2\n{}\n{{ {}}}", of_apply(7, "3\n4"), of_apply(12, "5\n"));
        let origins = finish(&mut out, &text, "m1", "k", "unit.c");
        assert_eq!(out, "1\n2\n3\n4\n{ 5\n}");
        let origins: Vec<_> = origins.iter().map(|origin| (origin.line, origin.apply)).collect();
        assert_eq!(origins, [(2, None), (3, Some(7)), (5, None), (5, Some(12)), (6, None)]);
    }

    #[test]
    #[should_panic(expected = "`@MISSING@` has no value")]
    fn marker_without_value_is_an_error() {
        let _ = render("@MISSING@", &[]);
    }
}
