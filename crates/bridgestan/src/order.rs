//! Column-major order, as Stan has it, of values in C order.

/// Returns the positions in C order of the elements of a container, in column-major order.
pub(crate) fn column_major(shape: &[usize]) -> Vec<usize> {
    let size: usize = shape.iter().product();
    let mut index = vec![0; shape.len()];
    let mut positions = Vec::with_capacity(size);
    for _ in 0..size {
        positions.push(index.iter().zip(shape).fold(0, |at, (i, extent)| at * extent + i));
        // The first axis runs fastest.
        for (i, extent) in index.iter_mut().zip(shape) {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    positions
}

/// Returns the names of the elements of a container in column-major order: `theta.1.2`.
pub(crate) fn names(name: &str, shape: &[usize]) -> Vec<String> {
    let all = row_major_names(name, shape);
    column_major(shape).into_iter().map(|position| all[position].clone()).collect()
}

/// Returns the names of the elements of a container in C order, which unconstrained values have.
pub(crate) fn row_major_names(name: &str, shape: &[usize]) -> Vec<String> {
    // Commas separate names, and dots separate indices.
    let name = name.replace([',', '.'], "_");
    let named = |position: usize| {
        let mut rest = position;
        let mut indices: Vec<String> = shape
            .iter()
            .rev()
            .map(|extent| {
                let index = rest % extent + 1;
                rest /= extent;
                index.to_string()
            })
            .collect();
        indices.push(name.clone());
        indices.reverse();
        indices.join(".")
    };
    (0..shape.iter().product()).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::{column_major, names, row_major_names};

    #[test]
    fn first_index_runs_fastest() {
        assert_eq!(column_major(&[2, 3]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(names("m", &[2, 2]), ["m.1.1", "m.2.1", "m.1.2", "m.2.2"]);
        assert_eq!(row_major_names("m", &[2, 2]), ["m.1.1", "m.1.2", "m.2.1", "m.2.2"]);
        assert_eq!(names("x", &[]), ["x"]);
        assert!(names("none", &[0, 2]).is_empty() && column_major(&[3, 0]).is_empty());
        assert_eq!(names("a,b.c", &[1]), ["a_b_c.1"]);
    }
}
