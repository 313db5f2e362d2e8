//! The table of non-elementwise functions, and of the ops with their own names.
//!
//! ```text
//! /// Help.
//! name(arguments; repeated argument) [aliases] {keyword = default, …; keyword = default, …; argument, …}
//!     = [function] [op] [combinations] builder;
//! ```
//! | column | meaning | if empty |
//! |---|---|---|
//! | arguments | the inputs of the computation: arrays, numbers, and text that the function itself parses | |
//! | repeated argument | one by one or as one list: `stack(x, y)`, `stack([x, y])`; `of rows`: one array stands for its rows | |
//! | keywords | settings known at build time, before the first `;` also by position; after a second `;` optional arguments | |
//! | function | the builder of a call, in `registry` | the op is applied to the unchanged arguments |
//! | op | the Rust type with this name in JSON; `by name` if several names share it | the function is composed of other ops |
//! | combinations | the combinations of a declared `[[op]]`, in `combinations/cases.rs` | dtype and rank do not suffice |
//! | builder | `method` of `Var` with the arguments; `along` with an axis too; `other`: other methods, or only text | |

/// Passes the whole table to the macro `$with`.
macro_rules! structural_rows {
    ($with:ident) => {
        $with! {
            /// The sum of all elements.
            sum(x) [] {axis = None, dtype = None; keepdims = False, acc_dtype = None} = [reduce] [Reduce by name] [over_axes] method;
            /// The product of all elements.
            prod(x) [] {axis = None, dtype = None; keepdims = False, acc_dtype = None} = [reduce] [Reduce by name] [over_axes] method;
            /// The mean of all elements.
            mean(x) [] {axis = None, dtype = None; keepdims = False, acc_dtype = None} = [reduce] [Reduce by name] [over_axes] method;
            /// The variance of all elements, by `count - ddof`.
            var(x) [] {axis = None, dtype = None; ddof = 0, keepdims = False, acc_dtype = None} = [spread] [] [over_axes] other;
            /// The standard deviation of all elements, by `count - ddof`.
            std(x) [] {axis = None, dtype = None; ddof = 0, keepdims = False, acc_dtype = None} = [spread] [] [over_axes] other;
            /// The largest element; NaN if there is one.
            max(x) [amax] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// The smallest element; NaN if there is one.
            min(x) [amin] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// Whether any element is true.
            any(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// Whether all elements are true.
            all(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// The position (i64) of the largest element: the first NaN, else the first of equals.
            argmax(x) [] {axis = None; keepdims = False} = [argmax] [Argmax by name] [over_axes] along;
            /// The position (i64) of the smallest element: the first NaN, else the first of equals.
            argmin(x) [] {axis = None; keepdims = False} = [argmax] [Argmax by name] [over_axes] along;
            /// Running sums.
            cumsum(x) [] {axis = None, dtype = None} = [cumulative] [CumOp by name] [over_axes] along;
            /// Running products.
            cumprod(x) [] {axis = None, dtype = None} = [cumulative] [CumOp by name] [over_axes] along;

            /// Inner product: vectors and matrices.
            dot(x, y) [] {} = [product] [Dot] [pairs] method;
            /// Product of matrices, or of stacks of them, which are broadcast.
            matmul(x, y) [] {} = [product] [Matmul] [pairs] method;
            /// The products of the matrices at the same place of two stacks.
            batched_dot(x, y) [] {} = [product] [BatchedDot] [pairs] other;

            /// The elements in another dtype: to bool `!= 0`; integers keep their low bits; float to integer truncates, saturates, and makes NaN 0; complex to real drops the imaginary part.
            cast(x) [astype] {dtype = None} = [cast] [] [casts] other;
            /// The axes turned round, or in the order of `axes`.
            transpose(x; axes) [permute_dims] {} = [transpose] [] [unary] method;
            /// Axes in a new order; -1 is a new axis of extent 1.
            dimshuffle(x) [] {order = None} = [dimshuffle] [DimShuffle] [] other;
            /// The same elements in other extents; -1 for one that follows from the others.
            reshape(x; shape) [] {; ndim = None} = [reshape] [Reshape] [reshapes] other;
            /// All elements in one dimension, in C order.
            flatten(x) [ravel] {} = [flatten] [] [unary] method;
            /// The extents, a vector of i64.
            shape(x) [] {} = [] [Shape] [unary] method;
            /// The extent (i64) of one dimension.
            shape_i(x) [] {i = None} = [shape_i] [ShapeI] [] other;
            /// A tensor of one value.
            alloc(value; shape) [] {} = [alloc] [Alloc] [filled] other;
            /// A tensor of zeros, of f64 unless `dtype` says otherwise.
            zeros(; shape) [empty] {dtype = None} = [filled] [] [] other;
            /// A tensor of ones, of f64 unless `dtype` says otherwise.
            ones(; shape) [] {dtype = None} = [filled] [] [] other;
            /// `start`, `start + step`, … before `stop`.
            arange(start, stop, step) [] {; dtype = None} = [arange] [ARange] [numbers] other;
            /// A matrix with ones on a diagonal.
            eye(n, m, k) [] {; dtype = None} = [eye] [Eye] [extents] other;
            /// Tensors one behind the other along an axis.
            join(; tensors of rows) [concatenate concat] {axis = 0} = [join] [Join] [joins] other;
            /// Tensors of one shape along a new axis.
            stack(; tensors of rows) [] {axis = 0} = [stack] [] [] other;
            /// A list of numbers, or of lists, as an array.
            array(list) [asarray] {dtype = None} = [array] [] [] other;
            /// One of the pieces that a tensor is cut into along an axis.
            split(x, extents) [] {; sizes = None, axis = 0, piece = None, pieces = None} = [split] [Split] [] other;
            /// A vector of numbers.
            make_vector(; numbers) [] {dtype = None} = [make_vector] [MakeVector] [] other;
            /// The first argument; an error with a message while it runs unless all of the conditions are true.
            assert(x; conditions) [] {; message = None} = [assert] [Assert] [] other;
            /// A copy.
            deep_copy(x) [copy] {} = [] [DeepCopy] [unary] other;
            /// The same elements, not copied.
            view(x) [] {} = [] [View] [unary] other;

            /// A part: `x[1:n, None, ::-1]`.
            subtensor(x; numbers) [] {; index = None} = [subtensor] [Subtensor] [parts] other;
            /// The tensor with a part set to values: `set_subtensor(x[1:3], y)`.
            set_subtensor(part, values) [] {} = [write] [] [writes] other;
            /// The tensor with values added to a part: `inc_subtensor(x[1:3], y)`.
            inc_subtensor(part, values) [] {} = [write] [IncSubtensor] [writes] other;
            /// The elements at positions along an axis, or of all elements.
            take(x, positions) [] {axis = None} = [take] [] [takes] other;
            /// The rows of a tensor at positions.
            advanced_subtensor1(x, positions) [] {} = [] [AdvancedSubtensor1] [] other;
            /// The tensor with values set in, or added to, the rows at positions.
            advanced_inc_subtensor1(x, values, positions) [] {; set = False, inplace = False} = [] [AdvancedIncSubtensor1] [] other;

            /// The elements along an axis in ascending order, NaN last; equal ones keep their order. With `descending=True` turned round.
            sort(x) [] {axis = -1, kind = None; stable = None, descending = False} = [sort] [Sort by name] [along_each] other;
            /// The positions (i64) of the elements in the order of `sort`.
            argsort(x) [] {axis = -1, kind = None; stable = None, descending = False} = [sort] [Sort by name] [along_each] other;
            /// The `k` largest elements along an axis, the largest first; with `largest=False` the smallest.
            topk(x, k) [] {axis = -1, largest = True} = [topk] [] [] other;
            /// The positions (i64) of the `k` largest elements along an axis.
            argtopk(x, k) [] {axis = -1, largest = True} = [topk] [] [] other;
            /// Where elements would have to stand in a sorted vector: before those that are equal, or behind them.
            searchsorted(sorted, x) [] {side = "left";; sorter} = [searchsorted] [SearchSorted] [searches] other;
            /// The elements that differ, in ascending order; where each is first, which of them each element is, how often each is there.
            unique(x) [] {return_index = False, return_inverse = False, return_counts = False; equal_nan = True} = [unique] [] [unary] other;
            /// The elements that differ, in ascending order; no NaN equals another.
            unique_values(x) [] {} = [unique] [] [unary] other;
            /// The middle element in ascending order, or the mean of the two in the middle.
            median(x) [] {axis = None; keepdims = False} = [median] [] [over_axes] other;
            /// What a fraction `q` of the elements lies below.
            quantile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// What `q` percent of the elements lie below.
            percentile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// What a fraction `q` of the elements that are numbers lies below; NaN if none is.
            nanquantile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// What `q` percent of the elements that are numbers lie below; NaN if none is.
            nanpercentile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;

            /// The indices of the elements that are not 0, a row for each dimension.
            nonzero(x) [] {} = [nonzero] [Nonzero] [unary] other;
            /// The positions, among all elements in C order, of those that are not 0.
            flatnonzero(x) [] {} = [nonzero] [] [unary] method;
            /// The indices of the elements that are not 0, a row for each element.
            argwhere(x) [] {} = [nonzero] [] [unary] method;
            /// How many elements are not 0.
            count_nonzero(x) [] {axis = None; keepdims = False} = [count_nonzero] [] [over_axes] method;
            /// The parts of a tensor where a mask of its first dimensions is true: `x[mask]`.
            boolean_index(x, mask) [] {} = [boolean_index] [BooleanIndex] [masks] method;
            /// The parts along an axis, or of all elements, where a vector is true.
            compress(condition, x) [] {axis = None} = [compress] [] [] other;
            /// The elements where a condition, taken in C order, is true.
            extract(condition, x) [] {} = [compress] [] [] other;

            /// Sums of products by the labels of axes: `einsum("ij,jk->ik", x, y)`.
            einsum(subscripts; tensors) [] {} = [einsum] [] [] other;
            /// Sums of products over the last axes of `x` and the first of `y`, or over pairs of axes.
            tensordot(x, y) [] {axes = 2} = [tensordot] [] [] other;
            /// Sums of products over the last axes of both.
            inner(x, y) [] {} = [inner] [] [pairs] method;
            /// The product of each element with each.
            outer(x, y) [] {} = [outer] [] [pairs] method;
            /// The dot product of all elements, those of `x` conjugated.
            vdot(x, y) [] {} = [vdot] [] [pairs] method;
            /// The size of a vector or matrix: by default the root of the sum of squares.
            norm(x) [] {ord = None, axis = None, keepdims = False} = [norm] [] [unary] other;

            /// Exponentials by their sum.
            softmax(x) [] {axis = None} = [softmax] [] [over_axes] other;
            /// The logarithm of `softmax`, exact where that is small.
            log_softmax(x) [] {axis = None} = [log_softmax] [] [over_axes] other;
            /// The logarithm of the sum of exponentials, without overflow on the way.
            logsumexp(x) [] {axis = None; keepdims = False} = [logsumexp] [] [over_axes] other;
            /// What is above 0: `maximum(x, 0)`.
            relu(x) [] {} = [relu] [] [unary] method;
            /// Whether numbers are as near as `atol + rtol * abs(y)`.
            isclose(x, y) [] {rtol = 1e-5, atol = 1e-8, equal_nan = False} = [isclose] [] [elementwise] other;
            /// Whether all numbers are as near as `atol + rtol * abs(y)`.
            allclose(x, y) [] {rtol = 1e-5, atol = 1e-8, equal_nan = False} = [isclose] [] [elementwise] other;
            /// The largest element less the smallest.
            ptp(x) [] {axis = None; keepdims = False} = [ptp] [] [over_axes] other;
            /// `log(exp(x) + exp(y))`, without overflow on the way.
            logaddexp(x, y) [] {} = [logaddexp] [] [elementwise] method;
            /// 0 below 0, 1 above it, and `y` there.
            heaviside(x, y) [] {} = [heaviside] [] [elementwise] method;
            /// `sin(pi x) / (pi x)`, and 1 at 0.
            sinc(x) [] {} = [sinc] [] [unary] method;

            /// The sum of the elements that are numbers.
            nansum(x) [] {axis = None, dtype = None; keepdims = False} = [total] [] [over_axes] method;
            /// The product of the elements that are numbers.
            nanprod(x) [] {axis = None, dtype = None; keepdims = False} = [total] [] [over_axes] method;
            /// The largest element that is a number; NaN if none is.
            nanmax(x) [] {axis = None; keepdims = False} = [extreme] [] [over_axes] method;
            /// The smallest element that is a number; NaN if none is.
            nanmin(x) [] {axis = None; keepdims = False} = [extreme] [] [over_axes] method;
            /// The mean of the elements that are numbers.
            nanmean(x) [] {axis = None; keepdims = False} = [mean] [] [over_axes] method;
            /// The variance of the elements that are numbers, by `count - ddof`.
            nanvar(x) [] {axis = None; ddof = 0, keepdims = False} = [nan_spread] [] [over_axes] other;
            /// The standard deviation of the elements that are numbers, by `count - ddof`.
            nanstd(x) [] {axis = None; ddof = 0, keepdims = False} = [nan_spread] [] [over_axes] other;
            /// The larger of two elements; the other one where one is NaN.
            fmax(x, y) [] {} = [either] [] [elementwise] method;
            /// The smaller of two elements; the other one where one is NaN.
            fmin(x, y) [] {} = [either] [] [elementwise] method;
            /// Numbers where there are none: for NaN `nan`, for infinities `posinf` and `neginf`, or the largest and the smallest number.
            nan_to_num(x) [] {; nan = 0.0, posinf = None, neginf = None} = [nan_to_num] [] [unary] other;

            /// The tensor without axes of extent 1: all of them, or those that are named.
            squeeze(x) [] {axis = None} = [squeeze] [] [] other;
            /// New axes of extent 1 at these places of the result.
            expand_dims(x) [] {axis = None} = [expand_dims] [] [] other;
            /// Two axes exchanged.
            swapaxes(x) [] {axis1 = None, axis2 = None} = [swapaxes] [] [] other;
            /// Axes moved to other places; the others stay in their order.
            moveaxis(x) [] {source = None, destination = None} = [moveaxis] [] [] other;
            /// The last two axes exchanged.
            matrix_transpose(x) [] {} = [matrix_transpose] [] [] method;
            /// The elements in reverse along all axes, or those that are named.
            flip(x) [] {axis = None} = [flip] [] [over_axes] other;
            /// The elements in reverse along the first axis.
            flipud(x) [] {} = [flip] [] [unary] method;
            /// The elements in reverse along the second axis.
            fliplr(x) [] {} = [flip] [] [] method;
            /// The elements moved along an axis; those that leave at the end come in at the beginning.
            roll(x, shift) [] {axis = None} = [roll] [] [] other;
            /// Each element several times, one behind the other.
            repeat(x, repeats) [] {axis = None} = [repeat] [] [] other;
            /// The tensor several times along each of its last axes.
            tile(x; reps) [] {} = [tile] [] [] other;
            /// Each element less the one before, `n` times.
            diff(x) [] {n = 1, axis = -1;; prepend, append} = [diff] [] [unary] other;
            /// Rows one below the other.
            vstack(; tensors of rows) [] {} = [stacked] [] [] other;
            /// Tensors one behind the other along the second axis, vectors along their only one.
            hstack(; tensors of rows) [] {} = [stacked] [] [] other;
            /// Tensors one behind the other along an axis; without one, all of their elements.
            append(x, y) [] {axis = None} = [append] [] [] other;
            /// With a dimension at least.
            atleast_1d(x) [] {} = [at_least] [] [unary] method;
            /// With two dimensions at least; new ones come first.
            atleast_2d(x) [] {} = [at_least] [] [unary] method;

            /// A tensor of one value, of its dtype unless `dtype` says otherwise.
            full(shape, value) [] {dtype = None} = [full] [] [] other;
            /// Zeros of the shape of a tensor.
            zeros_like(x) [empty_like] {dtype = None} = [like] [] [unary] method;
            /// Ones of the shape of a tensor.
            ones_like(x) [] {dtype = None} = [like] [] [unary] method;
            /// A tensor of one value, of the shape of another.
            full_like(x, value) [] {dtype = None} = [like] [] [] method;
            /// The tensor repeated where a shape asks for it.
            broadcast_to(x; shape) [] {} = [broadcast_to] [] [] other;
            /// `num` numbers at equal distances, the last of them `stop`.
            linspace(start, stop, num) [] {endpoint = True; dtype = None} = [linspace] [] [] other;

            /// The elements of the diagonals of the matrices of two axes.
            diagonal(x) [] {offset = 0, axis1 = 0, axis2 = 1} = [diagonal] [] [] other;
            /// The sum of a diagonal.
            trace(x) [] {offset = 0, axis1 = 0, axis2 = 1, dtype = None} = [diagonal] [] [] other;
            /// The diagonal of a matrix, or the matrix of zeros with that diagonal.
            diag(x, k) [] {} = [diag] [] [unary] other;
            /// Ones on and below a diagonal, zeros above.
            tri(n, m, k) [] {; dtype = None} = [tri] [] [] other;
            /// The matrix with zeros above a diagonal.
            tril(x, k) [] {} = [triangle] [] [unary] other;
            /// The matrix with zeros below a diagonal.
            triu(x, k) [] {} = [triangle] [] [unary] other;
        }
    };
}
pub(crate) use structural_rows;
