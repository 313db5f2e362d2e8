//! Tests of the words and keys of arguments.

use super::*;

#[test]
fn different_arguments_have_different_words() {
    let arrays =
        DType::ALL.iter().flat_map(|dtype| (0..=15).map(|ndim| Array::zeros(*dtype, &vec![0; ndim])));
    let arrays: Vec<Array> = arrays.collect();
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let mut seen = std::collections::BTreeSet::from([kinds(&[]).unwrap()]);
    for first in &refs {
        assert!(seen.insert(kinds(std::slice::from_ref(first)).unwrap()));
        for second in &refs {
            assert!(seen.insert(kinds(&[first.clone(), second.clone()]).unwrap()));
        }
    }
    // The position uses the remaining byte.
    assert!(kinds(&vec![refs[refs.len() - 1].clone(); 6]).unwrap().leading_zeros() >= 8);
    assert_eq!(kinds(&vec![refs[0].clone(); 7]), None);
    let deep = Array::zeros(DType::F64, &[0; 16]);
    assert_eq!(kinds(&[ArrayRef::from(&deep)]), None);
}

#[test]
fn words_are_keys_of_the_compact_encoding() {
    let mut short = 0;
    for first in DType::ALL {
        for second in DType::ALL {
            for (ndim, other) in [(0, 1), (1, 1), (2, 3), (9, 0), (4, 10)] {
                let arrays = [Array::zeros(first, &vec![1; ndim]), Array::zeros(second, &vec![0; other])];
                for inputs in [&arrays[..0], &arrays[..1], &arrays[..]] {
                    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
                    let text: String = inputs.iter().map(|array| field(&array.ty())).collect();
                    let key = Key::<Compact>::parse(&(text + ")")).unwrap();
                    let Some(word) = word(&FIELDS, &refs) else { continue };
                    assert_eq!(key.words(), [word]);
                    short += 1;
                }
            }
        }
    }
    assert!(short > 2000, "{short}");
}
