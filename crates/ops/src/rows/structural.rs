//! The table of functions that are not elementwise, and of the ops that go by a name of their own.
//!
//! ```text
//! /// Help.
//! name(arguments; those that there may be more of) [aliases] {keyword = default, …; keyword = default, …}
//!     = [function] [op] [combinations] builder;
//! ```
//! | column | says | none |
//! |---|---|---|
//! | arguments | what is computed with: arrays, numbers, and what the function itself reads, as a text | |
//! | of which there may be more | they come one by one or as one list: `stack(x, y)`, `stack([x, y])` | |
//! | keywords | settings, known when the graph is built; before the `;` by position, too. The default is for people | |
//! | function | what a call does, in `registry` | the op is applied to its arguments as they are |
//! | op | the Rust type behind the name in JSON; `by name` if several names share it | a function made of other ops |
//! | combinations | what a declared `[[op]]` stands for, in `combinations/cases.rs` | dtype and rank do not say it |
//! | builder | `method` of `Var`, which takes the arguments; `along` an axis, too; `other` methods, or only text | |

/// Gives the whole table to the macro `$with`.
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
            max(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// The smallest element; NaN if there is one.
            min(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
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
            transpose(x; axes) [] {} = [transpose] [] [unary] method;
            /// Axes in a new order; -1 is a new axis of extent 1.
            dimshuffle(x) [] {order = None} = [dimshuffle] [DimShuffle] [] other;
            /// The same elements in other extents; -1 for one that follows from the others.
            reshape(x; shape) [] {; ndim = None} = [reshape] [Reshape] [reshapes] other;
            /// All elements in one dimension, in C order.
            flatten(x) [] {} = [flatten] [] [unary] method;
            /// The extents, a vector of i64.
            shape(x) [] {} = [] [Shape] [unary] method;
            /// The extent (i64) of one dimension.
            shape_i(x) [] {i = None} = [shape_i] [ShapeI] [] other;
            /// A tensor of one value.
            alloc(value; shape) [] {} = [alloc] [Alloc] [filled] other;
            /// A tensor of zeros, of f64 unless `dtype` says otherwise.
            zeros(; shape) [] {dtype = None} = [filled] [] [] other;
            /// A tensor of ones, of f64 unless `dtype` says otherwise.
            ones(; shape) [] {dtype = None} = [filled] [] [] other;
            /// `start`, `start + step`, … before `stop`.
            arange(start, stop, step) [] {; dtype = None} = [arange] [ARange] [numbers] other;
            /// A matrix with ones on a diagonal.
            eye(n, m, k) [] {; dtype = None} = [eye] [Eye] [extents] other;
            /// Tensors one behind the other along an axis.
            join(; tensors) [concatenate] {axis = 0} = [join] [Join] [joins] other;
            /// Tensors of one shape along a new axis.
            stack(; tensors) [] {axis = 0} = [stack] [] [] other;
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
        }
    };
}
pub(crate) use structural_rows;
