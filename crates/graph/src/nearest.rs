//! The known name that a mistyped one was probably meant to be, for messages.

/// The candidate with the fewest single edits from `name`; `None` if all are too far off to help.
///
/// An edit inserts, removes, changes or swaps letters. Of equals those of the same length win, then the first.
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let near = candidates.into_iter().map(|known| (distance(name, known), known));
    let rank = |(far, known): &(usize, &str)| (*far, known.len().abs_diff(name.len()));
    near.filter(|(far, _)| *far <= allowed).min_by_key(rank).map(|(_, known)| known)
}

/// The tail of a message: ``; nearest `exp` ``, or nothing.
pub(crate) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!("; nearest `{known}`"))
}

/// Distance by single edits; beyond all bounds for names that no one types, so that hostile ones cost nothing.
///
/// # Source
/// Damerau, "A technique for computer detection and correction of spelling errors", 1964; the restricted form, in which a
/// swapped pair is not edited again.
fn distance(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Row i holds the distances of the first i letters of `a` from each beginning of `b`.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("exp", "exp"), 0);
        assert_eq!(distance("exq", "exp"), 1);
        assert_eq!(distance("sgimoid", "sigmoid"), 1);
        assert_eq!(distance("sigmod", "sigmoid"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn nearest_is_silent_when_nothing_is_near() {
        assert_eq!(nearest("sigmiod", ["exp", "sigmoid", "sum"]), Some("sigmoid"));
        assert_eq!(nearest("exq", ["eq", "exp"]), Some("exp"));
        assert_eq!(nearest("softmax", ["exp", "sigmoid", "sum"]), None);
    }
}
