//! The types of arguments and results: arrays, elements, and tuples of them.

use super::{Argument, Arguments, Kind, Outcome, Outcomes};
use crate::function::{CallError, Function};
use crate::native::{ArrayMut, ArrayRef, Direct, Map, Strided};
use crate::value::{Array, DType, Element};
use ndarray::{ArrayD, ArrayView, ArrayViewMut, Dimension, Ix0, aview0};

/// Returns the error for a result that does not have its declared type. Every call checks this.
#[cold]
fn other(function: &Function, position: usize) -> CallError {
    let name = function.outputs().get(position).map(|port| port.name.clone()).unwrap_or_default();
    CallError::NoValue { name }
}

impl<T: Element, D: Dimension> Argument for ndarray::Array<T, D> {
    type Given<'a> = ArrayView<'a, T, D>;
    const KIND: Kind = (T::DTYPE, D::NDIM);

    #[inline]
    fn lend<'a>(given: &'a Self::Given<'_>) -> ArrayRef<'a> {
        given.into()
    }

    #[inline(always)]
    fn strided<'a>(given: &'a Self::Given<'_>) -> Strided<'a> {
        Strided::read(given)
    }
}

impl<T: Element, D: Dimension> Outcome for ndarray::Array<T, D>
where
    ArrayD<T>: TryFrom<Array>,
{
    type View<'a> = ArrayViewMut<'a, T, D>;
    const KIND: Kind = (T::DTYPE, D::NDIM);

    fn of(array: Array) -> Option<Self> {
        ArrayD::<T>::try_from(array).ok()?.into_dimensionality().ok()
    }

    fn lend(&mut self) -> ArrayMut<'_> {
        self.into()
    }

    fn lend_view<'a>(view: &'a mut Self::View<'_>) -> ArrayMut<'a> {
        view.into()
    }

    #[inline(always)]
    fn strided(&mut self) -> Strided<'_> {
        Strided::write(self)
    }
}

macro_rules! elements {
    ($($variant:ident => $element:ty),*) => {$(
        impl Argument for $element {
            type Given<'a> = $element;
            const KIND: Kind = (DType::$variant, Some(0));

            #[inline]
            fn lend<'a>(given: &'a Self::Given<'_>) -> ArrayRef<'a> {
                aview0(given).into()
            }

            #[inline(always)]
            fn strided<'a>(given: &'a Self::Given<'_>) -> Strided<'a> {
                Strided::element(given)
            }
        }

        impl Outcome for $element {
            type View<'a> = &'a mut $element;
            const KIND: Kind = (DType::$variant, Some(0));

            fn of(array: Array) -> Option<Self> {
                <ndarray::Array<$element, Ix0> as Outcome>::of(array).map(|array| *array.first().unwrap_or(&Self::default()))
            }

            fn lend(&mut self) -> ArrayMut<'_> {
                ArrayMut::element(self)
            }

            fn lend_view<'a>(view: &'a mut Self::View<'_>) -> ArrayMut<'a> {
                ArrayMut::element(&mut **view)
            }

            #[inline(always)]
            fn strided(&mut self) -> Strided<'_> {
                Strided::element_mut(self)
            }
        }
    )*};
}
crate::for_each_dtype!(elements);

impl<O: Outcome + 'static> Outcomes for O {
    type Reused<'a> = &'a mut O;
    type Views<'a> = O::View<'a>;

    fn kinds() -> Vec<Kind> {
        vec![O::KIND]
    }

    #[cold]
    fn call(function: &Function, inputs: &[ArrayRef<'_>]) -> Result<Self, CallError> {
        function.call(inputs)?.pop().and_then(O::of).ok_or_else(|| other(function, 0))
    }

    #[inline(always)]
    fn map(output: &mut &mut O, map: &Map, inputs: &[Strided<'_>]) -> bool {
        map.serve(inputs.iter().copied(), [output.strided()].into_iter())
    }

    fn write(output: &mut &mut O, direct: &Direct, inputs: &[Strided<'_>]) -> bool {
        direct.serve(inputs, &[output.strided()])
    }

    fn lend<R>(output: &mut &mut O, call: impl FnOnce(&mut [ArrayMut<'_>]) -> R) -> R {
        call(&mut [Outcome::lend(*output)])
    }

    fn lend_views<R>(view: &mut O::View<'_>, call: impl FnOnce(&mut [ArrayMut<'_>]) -> R) -> R {
        call(&mut [O::lend_view(view)])
    }

    fn replace(self, output: &mut &mut O) {
        **output = self;
    }
}

/// Expands to 1, for counting.
macro_rules! one {
    ($type:ident) => {
        1
    };
}

/// Implements [`Arguments`] for a tuple.
macro_rules! arguments {
    ($($type:ident $value:ident),*) => {
        impl<$($type: Argument),*> Arguments for ($($type,)*) {
            type Given<'a> = ($($type::Given<'a>,)*);

            fn kinds() -> Vec<Kind> {
                vec![$($type::KIND),*]
            }

            type Lying<'a> = [Strided<'a>; 0 $(+ one!($type))*];

            #[inline(always)]
            fn strided<'a>(given: &'a Self::Given<'_>) -> Self::Lying<'a> {
                let ($($value,)*) = given;
                [$($type::strided($value)),*]
            }

            fn lend<R>(given: &Self::Given<'_>, call: impl FnOnce(&[ArrayRef<'_>]) -> R) -> R {
                let ($($value,)*) = given;
                call(&[$($type::lend($value)),*])
            }
        }
    };
}

/// Implements [`Outcomes`] for a tuple of several results.
macro_rules! outcomes {
    ($($type:ident $value:ident),*) => {
        impl<$($type: Outcome + 'static),*> Outcomes for ($($type,)*) {
            type Reused<'a> = ($(&'a mut $type,)*);
            type Views<'a> = ($($type::View<'a>,)*);

            fn kinds() -> Vec<Kind> {
                vec![$($type::KIND),*]
            }

            fn call(function: &Function, inputs: &[ArrayRef<'_>]) -> Result<Self, CallError> {
                let mut results = function.call(inputs)?.into_iter().enumerate();
                $(
                    let next = results.next();
                    let position = next.as_ref().map_or(0, |(position, _)| *position);
                    let $value = next.and_then(|(_, array)| $type::of(array));
                    let $value = $value.ok_or_else(|| other(function, position))?;
                )*
                Ok(($($value,)*))
            }

            #[inline(always)]
            fn map(($($value,)*): &mut Self::Reused<'_>, map: &Map, inputs: &[Strided<'_>]) -> bool {
                map.serve(inputs.iter().copied(), [$($value.strided()),*].into_iter())
            }

            fn write(($($value,)*): &mut Self::Reused<'_>, direct: &Direct, inputs: &[Strided<'_>]) -> bool {
                direct.serve(inputs, &[$($value.strided()),*])
            }

            fn lend<R>(
                ($($value,)*): &mut Self::Reused<'_>,
                call: impl FnOnce(&mut [ArrayMut<'_>]) -> R,
            ) -> R {
                call(&mut [$(Outcome::lend(*$value)),*])
            }

            fn lend_views<R>(
                ($($value,)*): &mut Self::Views<'_>,
                call: impl FnOnce(&mut [ArrayMut<'_>]) -> R,
            ) -> R {
                call(&mut [$($type::lend_view($value)),*])
            }

            #[allow(non_snake_case, reason = "a result is named as its type")]
            fn replace(self, outputs: &mut Self::Reused<'_>) {
                let ($($type,)*) = self;
                let ($($value,)*) = outputs;
                $(**$value = $type;)*
            }
        }
    };
}

macro_rules! tuples {
    ($callback:ident, $($type:ident $value:ident),+; $($more:ident $name:ident),*) => {
        $callback!($($type $value),+);
        tuples!(@more $callback, $($type $value),+; $($more $name),*);
    };
    (@more $callback:ident, $($type:ident $value:ident),+;) => {};
    (@more $callback:ident, $($type:ident $value:ident),+; $next:ident $its:ident $(, $more:ident $name:ident)*) => {
        tuples!($callback, $($type $value,)+ $next $its; $($more $name),*);
    };
}

arguments!();
tuples!(arguments, A a; B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
tuples!(outcomes, A a, B b; C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
