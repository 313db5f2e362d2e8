//! Tests of argument and result types: other dtypes are rejected, and typed calls behave like untyped ones.

use super::{Array, ArrayRef, CASES, CallError, DType};
use ndarray::{Array1, ArrayD, Axis, Slice, aview0, s};

#[test]
fn arrays_of_another_dtype_are_rejected() {
    let function = CASES[0].function(true);
    let right = Array::zeros(DType::F64, &[4]);
    assert!(function.is_direct(&[(&right).into(), (&right).into()]));
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::F64) {
        let wrong = Array::zeros(dtype, &[4]);
        for refs in [[&wrong, &right], [&right, &wrong], [&wrong, &wrong]] {
            let refs = refs.map(ArrayRef::from);
            assert!(!function.is_direct(&refs) && function.call(&refs).is_err(), "{dtype}");
        }
        let refs = [&right, &right].map(ArrayRef::from);
        assert!(function.call_into(&refs, &mut [wrong]).is_err(), "{dtype}");
    }
    assert!(!function.is_direct(&[&right; 1].map(ArrayRef::from)));
    assert!(!function.is_direct(&[&right; 3].map(ArrayRef::from)));
    assert!(function.call_into(&[&right; 2].map(ArrayRef::from), &mut []).is_err());
    let twice = &mut [right.clone(), right.clone()];
    assert!(function.call_into(&[&right; 2].map(ArrayRef::from), twice).is_err());
}

/// Tests arrays of every layout, with and without ranks in their types.
#[test]
fn typed_calls_match_frame_calls() {
    let (map, sum) = (CASES[0].function(true), CASES[9].function(true));
    let known = map.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>().unwrap();
    let any = map.typed::<(ArrayD<f64>, ArrayD<f64>), ArrayD<f64>>().unwrap();
    let number = sum.typed::<(Array1<f64>, Array1<f64>, f64), f64>().unwrap();
    let (in_a_frame, sum_in_a_frame) = (CASES[0].function(false), CASES[9].function(false));
    let memory: Vec<f64> = (0..16).map(|i| f64::from(i * i)).collect();
    let memory = Array1::from(memory);
    let steps = [1, 2, -1];
    for (n, m, step, its) in steps.iter().flat_map(|step| {
        steps
            .iter()
            .flat_map(move |its| [(0, 0), (1, 1), (4, 4), (1, 4), (4, 3)].map(|(n, m)| (n, m, *step, *its)))
    }) {
        let view = |n: usize, step: isize| {
            let mut view = memory.slice(s![..2 * n]);
            view.slice_axis_inplace(Axis(0), Slice::new(0, None, step));
            view.slice_axis_inplace(Axis(0), Slice::from(..n));
            view
        };
        let (x, y) = (view(n, step), view(m, its));
        let expected = in_a_frame.call(&[x.into(), y.into()]).map(|mut results| results.remove(0));
        let expected = expected.map_err(|error| error.to_string());
        let seen = |result: Result<ArrayD<f64>, CallError>| {
            result.map(Array::from).map_err(|error| error.to_string())
        };
        assert_eq!(seen(known.call((x, y)).map(Array1::into_dyn)), expected, "{n} {m} {step} {its}");
        assert_eq!(seen(any.call((x.into_dyn(), y.into_dyn()))), expected, "{n} {m} {step} {its}");
        // Outputs with the right size, and with another one.
        for size in [n.max(m), 2] {
            let (mut out, mut spread) = (Array1::zeros(size), Array1::zeros(2 * size));
            spread.slice_collapse(s![..;2]);
            for out in [&mut out, &mut spread] {
                let result = known.call_into((x, y), out).map(|()| out.clone().into_dyn());
                assert_eq!(seen(result), expected, "{n} {m} {step} {its}");
            }
        }
        let expected = sum_in_a_frame.call(&[x.into(), y.into(), aview0(&0.5).into()]);
        let result = number.call((x, y, 0.5)).map(|result| vec![result.into()]);
        assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(|error| error.to_string()));
    }
    let matrix = ArrayD::zeros(vec![2, 2]);
    assert!(any.call((matrix.view(), matrix.view())).is_err());
    assert!(any.call_into((matrix.view(), matrix.view()), &mut matrix.clone()).is_err());
}
