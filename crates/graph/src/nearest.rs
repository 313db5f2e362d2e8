//! Finds the known name closest to a mistyped one, for messages.

/// Returns the candidate with the fewest single edits from `name`, or `None` if all candidates are too different.
///
/// An edit inserts, removes, changes or swaps letters. Ties prefer the same length, then the first candidate. A
/// single letter has no near candidates.
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let letters = name.chars().count();
    let allowed = if letters < 2 { 0 } else { (letters / 3).clamp(1, 4) };
    let near = candidates.into_iter().map(|known| (distance(name, known), known));
    let rank = |(far, known): &(usize, &str)| (*far, known.len().abs_diff(name.len()));
    near.filter(|(far, _)| *far <= allowed).min_by_key(rank).map(|(_, known)| known)
}

/// Returns the tail of a message: ``; nearest `exp` ``, or nothing.
pub(crate) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}

/// Returns the edit distance, where a swapped pair is not edited again. Very long names get the maximum, so that
/// hostile input costs no time.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > 64 { usize::MAX } else { strsim::osa_distance(a, b) }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_returns_none_without_similar_names() {
        assert_eq!(nearest("sigmiod", ["exp", "sigmoid", "sum"]), Some("sigmoid"));
        assert_eq!(nearest("exq", ["eq", "exp"]), Some("exp"));
        assert_eq!(nearest("softmax", ["exp", "sigmoid", "sum"]), None);
        assert_eq!(nearest("x", ["e", "pi", "xs"]), None);
        let hostile = "x".repeat(65);
        assert_eq!(nearest(&hostile, [hostile.as_str()]), None);
    }
}
