//! The known name that a mistyped one was probably meant to be, for messages.

/// The candidate with the fewest single edits from `name`; `None` if all are too far off to help.
///
/// An edit inserts, removes, changes or swaps letters. Of equals those of the same length win, then the first. Nothing is near a
/// single letter.
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let letters = name.chars().count();
    let allowed = if letters < 2 { 0 } else { (letters / 3).clamp(1, 4) };
    let near = candidates.into_iter().map(|known| (distance(name, known), known));
    let rank = |(far, known): &(usize, &str)| (*far, known.len().abs_diff(name.len()));
    near.filter(|(far, _)| *far <= allowed).min_by_key(rank).map(|(_, known)| known)
}

/// The tail of a message: ``; nearest `exp` ``, or nothing.
pub(crate) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}

/// Distance by single edits, in which a swapped pair is not edited again; beyond all bounds for names that nobody types, so
/// that hostile ones cost nothing.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > 64 { usize::MAX } else { strsim::osa_distance(a, b) }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_is_silent_when_nothing_is_near() {
        assert_eq!(nearest("sigmiod", ["exp", "sigmoid", "sum"]), Some("sigmoid"));
        assert_eq!(nearest("exq", ["eq", "exp"]), Some("exp"));
        assert_eq!(nearest("softmax", ["exp", "sigmoid", "sum"]), None);
        assert_eq!(nearest("x", ["e", "pi", "xs"]), None);
        let hostile = "x".repeat(65);
        assert_eq!(nearest(&hostile, [hostile.as_str()]), None);
    }
}
