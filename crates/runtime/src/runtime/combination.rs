//! Selects the combination of an entry for some inputs; if none matches, finds the input that does not match.

use precast_graph::Type;

/// The most types that a message lists.
const LISTED: usize = 8;

/// Returns whether an input of type `mine` accepts an array of type `its`: a C scalar is passed as an array of rank
/// 0.
pub(super) fn takes(mine: &Type, its: &Type) -> bool {
    mine.covers(its) || (matches!(mine, Type::Scalar(_)) && its.ndim() == 0 && mine.dtype() == its.dtype())
}

/// Describes why no combination accepts the inputs: their number, or the rank or dtype of one of them.
pub(super) fn mismatch(combinations: &[Vec<Type>], found: &[Type]) -> String {
    let same: Vec<&[Type]> =
        combinations.iter().map(Vec::as_slice).filter(|types| types.len() == found.len()).collect();
    if same.is_empty() {
        let counts = distinct(combinations.iter().map(|types| types.len().to_string()));
        return format!("expected {} input(s), found {}", listed(&counts, "or"), found.len());
    }
    let fits = |types: &[Type]| types.iter().zip(found).filter(|(mine, its)| takes(mine, its)).count();
    let best = same.iter().map(|types| fits(types)).max().unwrap_or_default();
    let nearest: Vec<&[Type]> = same.into_iter().filter(|types| fits(types) == best).collect();
    // The first input that a nearest combination rejects, and the types that these combinations accept there.
    let refused = |at: &usize| nearest.iter().any(|types| !takes(&types[*at], &found[*at]));
    let at = (0..found.len()).find(refused).unwrap_or_default();
    let wanted = nearest.iter().map(|types| &types[at]).filter(|wanted| !takes(wanted, &found[at]));
    let wanted: Vec<&Type> = wanted.collect();
    let its = &found[at];
    let (what, found_is, expected) = if wanted.iter().all(|wanted| wanted.ndim() != its.ndim()) {
        let ranks = distinct(wanted.iter().map(|wanted| wanted.ndim().to_string()));
        ("dimension(s)", its.ndim().to_string(), ranks)
    } else if wanted.iter().all(|wanted| wanted.dtype() != its.dtype()) {
        let dtypes = wanted.iter().filter(|wanted| wanted.ndim() == its.ndim());
        (
            "",
            format!("dtype `{}`", its.dtype()),
            distinct(dtypes.map(|wanted| format!("`{}`", wanted.dtype()))),
        )
    } else {
        ("", format!("type `{its}`"), distinct(wanted.iter().map(|wanted| format!("`{wanted}`"))))
    };
    let what = if what.is_empty() { String::new() } else { format!(" {what}") };
    let others = if found.len() > 1 && best > 0 { " with the other inputs" } else { "" };
    format!("input {at} has {found_is}{what}, expected {}{others}", listed(&expected, "or"))
}

/// Removes duplicates, keeping the order of first appearance.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    texts.for_each(|text| {
        if !found.contains(&text) {
            found.push(text);
        }
    });
    found
}

/// Renders a list: `a, b or c`.
fn listed(texts: &[String], last: &str) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        many if many.len() > LISTED => {
            format!("{} and {} more", many[..LISTED].join(", "), many.len() - LISTED)
        }
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(texts: &[&str]) -> Vec<Type> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// Returns pairs of four dtypes with `f64` and `i8`, in one and two dimensions, and a combination of three
    /// inputs.
    fn all() -> Vec<Vec<Type>> {
        let mut all = vec![types(&["f64[?]", "f64[?]", "f64"])];
        for dtype in ["f32", "f64", "i32", "u8"] {
            for second in ["f64", "i8"] {
                for extents in ["[?]", "[?,?]"] {
                    all.push(types(&[&format!("{dtype}{extents}"), &format!("{second}{extents}")]));
                }
            }
        }
        all
    }

    #[test]
    fn error_names_the_mismatched_input() {
        for (found, expected) in [
            (&["f64[?]"][..], "expected 3 or 2 input(s), found 1"),
            (&["f64[3]", "u64[3]"], "input 1 has dtype `u64`, expected `f64` or `i8` with the other inputs"),
            (
                &["bool[3]", "i8[3]"],
                "input 0 has dtype `bool`, expected `f32`, `f64`, `i32` or `u8` with the other inputs",
            ),
            (&["f64[3]", "f64[3,3]"], "input 0 has 1 dimension(s), expected 2 with the other inputs"),
            (&["f64[]", "f64[3]"], "input 0 has 0 dimension(s), expected 1 with the other inputs"),
            (&["f64[3]", "f64[3]", "f32[]"], "input 2 has dtype `f32`, expected `f64` with the other inputs"),
        ] {
            assert_eq!(mismatch(&all(), &types(found)), expected, "{found:?}");
        }
        assert!(takes(&types(&["f64"])[0], &types(&["f64[]"])[0]));
    }
}
