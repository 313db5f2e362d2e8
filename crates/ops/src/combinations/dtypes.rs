//! The dtypes that a function accepts, found by trying its combinations.

use crate::registry::Ops;
use crate::rows::Row;
use precast_graph::DType;

impl Row {
    /// Returns the dtypes that the function accepts for operands with one dimension, as far as its combinations show
    /// them.
    #[must_use]
    pub fn dtypes(&self) -> Vec<DType> {
        let ops = Ops::standard();
        let known = |dtype: &DType| super::combinations(self.name, &[*dtype], &[1], &ops).is_ok();
        DType::ALL.into_iter().filter(known).collect()
    }
    /// Describes [`Row::dtypes`] in words: `all`, or kinds and names. Empty if the combinations do not show them.
    #[must_use]
    pub fn takes(&self) -> String {
        let mut left = self.dtypes();
        if left.len() == DType::ALL.len() {
            return "all".to_owned();
        }
        let mut words = Vec::new();
        let integers = DType::ALL.into_iter().filter(|dtype| dtype.is_integer());
        let floats = DType::ALL.into_iter().filter(|dtype| dtype.is_float());
        let complex = DType::ALL.into_iter().filter(|dtype| dtype.is_complex());
        let kinds: [(&str, Vec<DType>); 3] =
            [("integers", integers.collect()), ("floats", floats.collect()), ("complex", complex.collect())];
        for (word, kind) in kinds {
            if kind.iter().all(|dtype| left.contains(dtype)) {
                left.retain(|dtype| !kind.contains(dtype));
                words.push(word);
            }
        }
        left.iter().map(|dtype| dtype.name()).chain(words).collect::<Vec<_>>().join(", ")
    }
}
