//! The table of composed functions, which have no op of their own. Several results form a list.
//!
//! ```text
//! /// Help.
//! name(arguments; repeated argument) [aliases] {keyword = default, …; keyword = default, …; argument, …} = function;
//! ```
//! The columns are those of the table of [`structural`](super::structural) functions.

/// Passes the whole table to the macro `$with`.
macro_rules! composed_rows {
    ($with:ident) => {
        $with! {
            /// `x // y` and `x % y`.
            divmod(x, y) [] {} = divmod;
            /// The parts behind and before the decimal point, each of the sign of the number.
            modf(x) [] {} = modf;
            /// Numbers from 0.5 to 1, and the exponents (i32) of 2 by which they are multiplied.
            frexp(x) [] {} = frexp;
            /// `x * 2**n` for integers `n`, rounded once.
            ldexp(x, n) [] {} = ldexp;

            /// Whether elements are among others.
            isin(x, others) [] {; assume_unique = False, invert = False, kind = None} = isin;
            /// The elements that differ in ascending order, where each is first, which of them each element is, and how often each is there.
            unique_all(x) [] {} = unique_parts;
            /// The elements that differ in ascending order, and how often each is there.
            unique_counts(x) [] {} = unique_parts;
            /// The elements that differ in ascending order, and which of them each element is.
            unique_inverse(x) [] {} = unique_parts;
            /// The elements at positions along an axis, of which each place has its own.
            take_along_axis(x, positions) [] {axis = -1} = take_along_axis;

            /// The coordinates of a grid: each vector along its own axis, and repeated along the others.
            meshgrid(; vectors) [] {; indexing = "xy", sparse = False, copy = True} = meshgrid;
            /// The parts along an axis whose extent is known.
            unstack(x) [] {; axis = 0} = unstack;
            /// The pieces between positions along an axis, or so many of nearly equal extents; with `equal=True` of equal ones.
            array_split(x, sections) [] {axis = 0; equal = False} = array_split;
            /// Vectors and matrices as columns of one matrix.
            column_stack(; tensors of rows) [] {} = column_stack;
            /// Tensors one behind the other along the third axis.
            dstack(; tensors of rows) [] {} = dstack;

            /// The dot products along an axis, the elements of `x` conjugated.
            vecdot(x, y) [] {; axis = -1} = vecdot;
            /// Products of matrices and vectors.
            matvec(x, y) [] {} = matvec;
            /// Products of vectors, conjugated, and matrices.
            vecmat(x, y) [] {} = matvec;
            /// The Kronecker product: `y` times each element of `x`.
            kron(x, y) [] {} = kron;
            /// The cross products of vectors of three elements along an axis.
            cross(x, y) [] {; axis = -1} = cross;
            /// The convolution of two vectors.
            convolve(x, y) [] {mode = "full"} = convolve;
            /// The correlation of two vectors: the convolution with the second turned round and conjugated.
            correlate(x, y) [] {mode = "valid"} = convolve;

            /// Running sums along an axis, with `include_initial` from 0 on.
            cumulative_sum(x) [] {; axis = None, dtype = None, include_initial = False} = cumulative;
            /// Running products along an axis, with `include_initial` from 1 on.
            cumulative_prod(x) [] {; axis = None, dtype = None, include_initial = False} = cumulative;
            /// The size of the elements along one axis or more, taken as a vector.
            vector_norm(x) [] {; axis = None, keepdims = False, ord = 2} = vector_norm;
            /// The size of the matrices of the last two axes.
            matrix_norm(x) [] {; keepdims = False, ord = "fro"} = matrix_norm;

            /// How often each integer is there, or the sum of its weights.
            bincount(x, weights) [] {minlength = 0} = bincount;
            /// Between which of the bounds, ascending or descending, elements lie.
            digitize(x, bins) [] {right = False} = digitize;
            /// Values between those that are known at ascending places.
            interp(x, places, values, left, right) [] {} = interp;
            /// The polynomial of these coefficients, that of the highest power first.
            polyval(coefficients, x) [] {} = polyval;
            /// The area below the points, by trapezoids.
            trapezoid(y, x) [] {dx = 1.0, axis = -1} = trapezoid;
            /// Differences to both sides divided by distances, at the ends to one side.
            gradient(x; distances) [] {; axis = None, edge_order = 1} = gradient;

            /// The choice of the first condition that is true, else `default`.
            select(conditions, choices, default) [] {} = select;
            /// The elements with more before and behind them: constants, the edge, or what is there in reverse.
            pad(x) [] {pad_width = None, mode = "constant"; constant_values = 0} = pad;
            /// Without the elements at positions along an axis.
            delete(x, positions) [] {axis = None} = delete;
            /// With values before a position along an axis.
            insert(x, position, values) [] {axis = None} = insert;
        }
    };
}
pub(crate) use composed_rows;
