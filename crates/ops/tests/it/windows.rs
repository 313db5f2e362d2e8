//! Convolutions and pooling, compared with loops over their definitions.

use crate::functions::value;
use ndarray::{Array4, ArrayD, IxDyn};
use precast_graph::Array;

/// Returns small integers, so that sums are exact in any order.
fn integers(shape: [usize; 4], seed: usize) -> Array4<f64> {
    let mut at = seed;
    Array4::from_shape_simple_fn(shape, || {
        at = (at * 75 + 74) % 65537;
        (at % 19) as f64 - 9.0
    })
}

/// The settings of a convolution or of pooling along both axes.
#[derive(Debug, Clone, Copy)]
struct Setting {
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

const SETTINGS: [Setting; 4] = [
    Setting { stride: [1, 1], padding: [0, 0], dilation: [1, 1] },
    Setting { stride: [2, 1], padding: [1, 0], dilation: [1, 2] },
    Setting { stride: [1, 3], padding: [0, 1], dilation: [2, 1] },
    Setting { stride: [3, 2], padding: [1, 1], dilation: [1, 1] },
];

/// Returns the elements of the window at `[i, j]`, `None` for padding.
fn window(
    x: &Array4<f64>,
    [n, c, i, j]: [usize; 4],
    size: [usize; 2],
    by: Setting,
) -> Vec<([usize; 2], Option<f64>)> {
    let at = |place: usize, position: usize, axis: usize| {
        (position * by.stride[axis] + place * by.dilation[axis]).checked_sub(by.padding[axis])
    };
    let places = (0..size[0]).flat_map(|a| (0..size[1]).map(move |b| [a, b]));
    let value = |[a, b]: [usize; 2]| x.get([n, c, at(a, i, 0)?, at(b, j, 1)?]).copied();
    places.map(|place| (place, value(place))).collect()
}

/// Returns the number of windows along both axes.
fn counts(x: &Array4<f64>, size: [usize; 2], by: Setting) -> [usize; 2] {
    [0, 1].map(|axis| {
        let span = (size[axis] - 1) * by.dilation[axis];
        (x.shape()[axis + 2] + 2 * by.padding[axis] - span - 1) / by.stride[axis] + 1
    })
}

/// Evaluates a text over two arrays.
fn of(text: &str, x: &Array4<f64>, y: &Array4<f64>) -> ArrayD<f64> {
    let inputs = [x, y].map(|each| Array::from(each.clone().into_dyn()));
    let found = value(text, &inputs).unwrap_or_else(|error| panic!("{text}: {error}"));
    found.try_into().unwrap()
}

#[test]
fn convolutions_match_loops() {
    for (seed, by) in SETTINGS.into_iter().enumerate() {
        for groups in [1, 2] {
            let (x, weight) = (integers([2, 4, 7, 8], seed), integers([6, 4 / groups, 2, 3], seed + 9));
            let [rows, columns] = counts(&x, [2, 3], by);
            let expected = ArrayD::from_shape_fn(IxDyn(&[2, 6, rows, columns]), |index| {
                let (n, result) = (index[0], index[1]);
                let first = result / (6 / groups) * (4 / groups);
                let sum = |own: usize| {
                    let found = window(&x, [n, first + own, index[2], index[3]], [2, 3], by).into_iter();
                    found.map(|([a, b], x)| x.unwrap_or(0.0) * weight[[result, own, a, b]]).sum::<f64>()
                };
                (0..4 / groups).map(sum).sum::<f64>()
            });
            let Setting { stride: [s, t], padding: [p, q], dilation: [d, e] } = by;
            let settings =
                format!("stride=({s}, {t}), padding=({p}, {q}), dilation=({d}, {e}), groups={groups}");
            assert_eq!(of(&format!("conv2d(x, y, {settings})"), &x, &weight), expected, "{settings}");
            // One axis is a convolution along two, of which the other has one element.
            if s == 1 {
                let text = format!(
                    "conv1d(x[:, :, 0], y[:, :, 0], stride={t}, padding={q}, dilation={e}, groups={groups}) - conv2d(x[:, :, :1], y[:, :, :1], stride=(1, {t}), padding=(0, {q}), dilation=(1, {e}), groups={groups})[:, :, 0]"
                );
                assert!(of(&text, &x, &weight).iter().all(|difference| *difference == 0.0), "{text}");
            }
        }
    }
}

#[test]
fn pools_match_loops() {
    for (seed, by) in SETTINGS.into_iter().enumerate() {
        let x = integers([2, 3, 7, 8], seed);
        let pooled = |by: Setting, reduce: &dyn Fn(Vec<Option<f64>>) -> f64| {
            let [rows, columns] = counts(&x, [2, 2], by);
            ArrayD::from_shape_fn(IxDyn(&[2, 3, rows, columns]), |at| {
                let found = window(&x, [at[0], at[1], at[2], at[3]], [2, 2], by);
                reduce(found.into_iter().map(|(_, x)| x).collect())
            })
        };
        let Setting { stride: [s, t], padding: [p, q], dilation: [d, e] } = by;
        let settings = format!("(2, 2), stride=({s}, {t}), padding=({p}, {q})");
        let text = format!("max_pool(x, {settings}, dilation=({d}, {e}))");
        let largest = |all: Vec<Option<f64>>| all.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(of(&text, &x, &x), pooled(by, &largest), "{text}");
        let near = Setting { dilation: [1, 1], ..by };
        let sum = |all: &[Option<f64>]| all.iter().flatten().sum::<f64>();
        let text = format!("avg_pool(x, {settings})");
        assert_eq!(of(&text, &x, &x), pooled(near, &|all| sum(&all) / 4.0), "{text}");
        let text = format!("avg_pool(x, {settings}, count_include_pad=False)");
        let own = |all: Vec<Option<f64>>| sum(&all) / all.iter().flatten().count() as f64;
        assert_eq!(of(&text, &x, &x), pooled(near, &own), "{text}");
    }
}

#[test]
fn padding_by_name_keeps_extents() {
    let (x, weight) = (integers([1, 2, 5, 6], 3), integers([3, 2, 3, 3], 4));
    let same = "conv2d(x, ones((3, 2, 3, 2)), padding='same')";
    assert_eq!(of(same, &x, &weight).shape(), [1, 3, 5, 6]);
    let valid = of("conv2d(x[0], y, padding='valid')", &x, &weight);
    assert_eq!(valid, of("conv2d(x, y)[0]", &x, &weight));
    assert_eq!(of("max_pool(x, 2)", &x, &weight).shape(), [1, 2, 5, 3]);
}

#[test]
fn padding_of_a_largest_element_is_below_all() {
    macro_rules! pools {
        ($($dtype:ty),*) => {$(
            let x: Array = ndarray::arr1(&[<$dtype>::MIN, 3 as $dtype, <$dtype>::MIN]).into();
            let expected: Array = ndarray::arr1(&[<$dtype>::MIN, 3 as $dtype]).into();
            assert_eq!(value("max_pool(x, 2, padding=1)", &[x]), Ok(expected));
        )*};
    }
    pools!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    let x: Array = ndarray::arr1(&[f64::NEG_INFINITY, f64::NAN, 1.0]).into();
    let found: ArrayD<f64> = value("max_pool(x, 2, padding=1)", &[x]).unwrap().try_into().unwrap();
    assert!(found[0] == f64::NEG_INFINITY && found[1].is_nan(), "{found}");
}

#[test]
fn wrong_windows_are_refused() {
    let (x, weight) = (integers([1, 2, 5, 6], 3), integers([3, 2, 3, 3], 4));
    let inputs = [&x, &weight].map(|each| Array::from(each.clone().into_dyn()));
    for (text, problem) in [
        ("conv2d(x, y, dilation=3)", "a window is larger than the array"),
        ("conv2d(x, y[:, :1])", "the weight has other channels"),
        ("conv2d(x, y, stride=0)", "stride"),
        ("conv2d(x, y, groups=0)", "groups"),
        ("conv2d(x, y, padding='full')", "`valid` or `same`"),
        ("conv2d(x, y, padding='same', stride=2)", "unless all strides are 1"),
        ("conv1d(x, y)", "needs a batch, channels and spatial axis"),
        ("max_pool(x)", "kernel_size"),
        ("max_pool(x, (2, 2, 2, 2, 2))", "needs at least 5 axes"),
    ] {
        let error = value(text, &inputs).unwrap_err();
        assert!(error.contains(problem), "{text}: {error}");
    }
}
