//! The known name that a mistyped one was probably meant to be, for messages.

/// The candidate with the fewest insertions, removals and changes from `name`; `None` if all are too far off to help.
///
/// The first of equals wins, so the answer depends on the order of the candidates alone.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let near = candidates.into_iter().map(|known| (distance(name, known), known));
    near.filter(|(far, _)| *far <= allowed).min_by_key(|(far, _)| *far).map(|(_, known)| known)
}

/// The tail of a message: ``; nearest `exp` ``, or nothing.
pub(crate) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}

/// Levenshtein's distance; beyond all bounds for names that no one types, so that hostile ones cost nothing.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 16 || a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("exp", "exp"), 0);
        assert_eq!(distance("exq", "exp"), 1);
        assert_eq!(distance("sgimoid", "sigmoid"), 2);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn nearest_is_silent_when_nothing_is_near() {
        assert_eq!(nearest("sigmiod", ["exp", "sigmoid", "sum"]), Some("sigmoid"));
        assert_eq!(nearest("softmax", ["exp", "sigmoid", "sum"]), None);
    }
}
