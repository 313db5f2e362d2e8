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
            /// The variance of all elements, with divisor `count - ddof`.
            var(x) [] {axis = None, dtype = None; ddof = 0, keepdims = False, acc_dtype = None} = [spread] [] [over_axes] other;
            /// The standard deviation of all elements, with divisor `count - ddof`.
            std(x) [] {axis = None, dtype = None; ddof = 0, keepdims = False, acc_dtype = None} = [spread] [] [over_axes] other;
            /// The largest element; NaN if any element is NaN.
            max(x) [amax] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// The smallest element; NaN if any element is NaN.
            min(x) [amin] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// Whether any element is true.
            any(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// Whether all elements are true.
            all(x) [] {axis = None; keepdims = False} = [reduce] [Reduce by name] [over_axes] method;
            /// The position (i64) of the largest element: the first NaN, or else the first of equal elements.
            argmax(x) [] {axis = None; keepdims = False} = [argmax] [Argmax by name] [over_axes] along;
            /// The position (i64) of the smallest element: the first NaN, or else the first of equal elements.
            argmin(x) [] {axis = None; keepdims = False} = [argmax] [Argmax by name] [over_axes] along;
            /// The running sums.
            cumsum(x) [] {axis = None, dtype = None} = [cumulative] [CumOp by name] [over_axes] along;
            /// The running products.
            cumprod(x) [] {axis = None, dtype = None} = [cumulative] [CumOp by name] [over_axes] along;

            /// The inner product of vectors, and the product of matrices.
            dot(x, y) [] {} = [product] [Dot] [pairs] method;
            /// The product of matrices, or of stacks of matrices, which are broadcast.
            matmul(x, y) [] {} = [product] [Matmul] [pairs] method;
            /// The products of corresponding matrices of two stacks.
            batched_dot(x, y) [] {} = [product] [BatchedDot] [pairs] other;
            /// The lower Cholesky factors of positive definite matrices, or with `upper=True`, the upper ones. Otherwise an error, or NaN with `on_error="nan"`.
            cholesky(x) [] {; upper = False, on_error = "raise"} = [cholesky] [Cholesky] [unary] method;
            /// The LU decompositions of matrices with partial pivoting: both triangles in one matrix, and the row (i64) that each row is exchanged with.
            lu_factor(x) [] {} = [lu_factor] [LuFactor] [unary] other;
            /// The order of rows (i64) after the exchanges of an LU decomposition: `x[p]` is the product of its triangles.
            pivot_to_permutation(pivots) [] {} = [] [PivotToPermutation] [] other;
            /// The QR decompositions of matrices: orthonormal columns `q`, and `r` with zeros below the diagonal. `mode` is `reduced`, `complete` for a square `q`, or `r` for `r` alone. With `pivoting=True`, columns are exchanged, so that the diagonal of `r` descends in size, and their indices (i64) `p` are the last result: `q @ r` is `x[:, p]`.
            qr(x) [] {mode = "reduced", pivoting = False} = [qr] [Qr] [unary] other;
            /// The eigenvalues of symmetric matrices in ascending order, and the eigenvectors as columns. One triangle is read, by default the lower one. The largest element of an eigenvector is positive.
            eigh(x) [] {UPLO = "L"} = [eigh] [Eigh] [unary] other;
            /// The eigenvalues of symmetric matrices in ascending order.
            eigvalsh(x) [] {UPLO = "L"} = [eigvalsh] [] [unary] other;
            /// The complex eigenvalues of square matrices, and the right eigenvectors as columns, with norm 1. The largest element of an eigenvector is positive. Of a conjugate pair, the value with the positive imaginary part is first.
            eig(x) [] {} = [eig] [Eig] [unary] other;
            /// The complex eigenvalues of square matrices.
            eigvals(x) [] {} = [eigvals] [] [unary] other;
            /// The Schur decompositions of square matrices: the form `t` and orthonormal columns `z`, so that `x` is `z @ t @ conj(z.mT)`. `t` is triangular, or with `output="real"`, of real matrices quasi-triangular. `sort` names the eigenvalues that come first: in the left or right half of the plane, `lhp` or `rhp`, or inside or outside the unit circle, `iuc` or `ouc`.
            schur(x) [] {output = "real"; sort = None} = [schur] [Schur] [unary] other;
            /// The generalized Schur decompositions of pairs of square matrices: the forms `aa` and `bb` and orthonormal columns `q` and `z`, so that `a` is `q @ aa @ conj(z.mT)` and `b` is `q @ bb @ conj(z.mT)`. The forms are triangular, or with `output="real"`, of real matrices `aa` is quasi-triangular. The diagonal of `bb` is not negative.
            qz(a, b) [] {output = "real"; sort = None} = [qz] [Qz] [pairs] other;
            /// The generalized Schur decompositions with some eigenvalues first, as in `schur`, but without those on the bounds: `aa`, `bb`, the numerators `alpha` and denominators `beta` of the eigenvalues, `q` and `z`.
            ordqz(a, b) [] {sort = "lhp", output = "real"} = [ordqz] [] [pairs] other;
            /// The singular value decompositions of matrices: `u`, the singular values in descending order, and `vh`, or with `compute_uv=False` only the values. The largest element of a column of `u` is positive.
            svd(x) [] {full_matrices = True, compute_uv = True, hermitian = False} = [svd] [Svd] [unary] other;
            /// The singular values of matrices in descending order.
            svdvals(x) [] {} = [svdvals] [] [unary] other;
            /// The pseudoinverses of matrices. Singular values below `rcond` times the largest one count as 0.
            pinv(x) [] {rcond = None, hermitian = False; rtol = None} = [pinv] [] [unary] other;
            /// The number of singular values above `tol`, or above `rtol` times the largest one.
            matrix_rank(x) [] {tol = None, hermitian = False; rtol = None} = [matrix_rank] [] [unary] other;
            /// The condition numbers of matrices by a norm: the quotient of the largest and the smallest singular value, or the product of the norms of a matrix and its inverse. In `numpy.linalg`, the name is `cond`.
            condition_number(x) [] {p = None} = [cond] [] [unary] other;
            /// The solutions `x` of `a @ x = b`. For a singular matrix, an error, or NaN with `on_error="nan"`.
            solve(a, b) [] {; on_error = "raise"} = [solve] [Solve] [pairs] method;
            /// The solutions `x` of `a @ x = b` for upper triangular matrices, or with `lower=True`, lower ones.
            solve_triangular(a, b) [] {trans = 0, lower = False, unit_diagonal = False; on_error = "raise"} = [solve_triangular] [SolveTriangular] [pairs] other;
            /// The solutions `x` of `a @ x = b` for matrices with nonzero elements only on `(lower, upper)` diagonals below and above the main one: `bands[upper + i - j, j]` is `a[i, j]`.
            solve_banded(l_and_u, bands, b) [] {; on_error = "raise"} = [solve_banded] [SolveBanded] [] other;
            /// The solutions `x` of `a @ x = b` for matrices with the Cholesky factors `c`, which are upper ones, or with `lower=True`, lower ones. SciPy's pair `(c, lower)` is also valid.
            cho_solve(c, b) [] {lower = False; on_error = "raise"} = [cho_solve] [] [pairs] other;
            /// The inverses of matrices. For a singular matrix, an error, or NaN with `on_error="nan"`.
            inv(x) [] {; on_error = "raise"} = [inv] [] [unary] method;
            /// The powers of square matrices with an integer exponent.
            matrix_power(x) [] {n = None} = [matrix_power] [] [] method;
            /// The determinants of matrices.
            det(x) [] {} = [det] [] [unary] method;

            /// The discrete Fourier transform of `n` elements along an axis, which is cut or filled with zeros. `norm="forward"` divides by `n`, `"ortho"` by its root, `"backward"` not at all.
            fft(x, n) [] {axis = -1, norm = "backward"} = [fft] [Fft] [unary] other;

            /// Converts the elements to another dtype. To bool: `!= 0`; integers keep their low bits; float to integer truncates and saturates, and NaN becomes 0; complex to real drops the imaginary part.
            cast(x) [astype] {dtype = None} = [cast] [] [casts] other;
            /// The axes in reverse order, or in the order of `axes`.
            transpose(x; axes) [permute_dims] {} = [transpose] [] [unary] method;
            /// The axes in a new order; -1 is a new axis of extent 1.
            dimshuffle(x) [] {order = None} = [dimshuffle] [DimShuffle] [] other;
            /// The same elements with other extents; -1 stands for the one that follows from the rest.
            reshape(x; shape) [] {; ndim = None} = [reshape] [Reshape] [reshapes] other;
            /// All elements in one dimension, in C order.
            flatten(x) [ravel] {} = [flatten] [] [unary] method;
            /// The extents as a vector of i64.
            shape(x) [] {} = [] [Shape] [unary] method;
            /// The extent (i64) of one dimension.
            shape_i(x) [] {i = None} = [shape_i] [ShapeI] [] other;
            /// A tensor of one value.
            alloc(value; shape) [] {} = [alloc] [Alloc] [filled] other;
            /// A tensor of zeros; `dtype` defaults to f64.
            zeros(; shape) [empty] {dtype = None} = [filled] [] [] other;
            /// A tensor of ones; `dtype` defaults to f64.
            ones(; shape) [] {dtype = None} = [filled] [] [] other;
            /// The numbers `start`, `start + step`, … below `stop`.
            arange(start, stop, step) [] {; dtype = None} = [arange] [ARange] [numbers] other;
            /// A matrix with ones on a diagonal.
            eye(n, m, k) [] {; dtype = None} = [eye] [Eye] [extents] other;
            /// Concatenates tensors along an axis.
            join(; tensors of rows) [concatenate concat] {axis = 0} = [join] [Join] [joins] other;
            /// Stacks tensors of the same shape along a new axis.
            stack(; tensors of rows) [] {axis = 0} = [stack] [] [] other;
            /// An array with the elements of a list of numbers or of lists.
            array(list) [asarray] {dtype = None} = [array] [] [] other;
            /// One of the pieces of a tensor that is split along an axis.
            split(x, extents) [] {; sizes = None, axis = 0, piece = None, pieces = None} = [split] [Split] [] other;
            /// A vector of numbers.
            make_vector(; numbers) [] {dtype = None} = [make_vector] [MakeVector] [] other;
            /// The first argument; the call fails with a message, and an error of a kind, unless all conditions are true.
            assert(x; conditions) [] {; message = None, error = None} = [assert] [Assert] [] other;
            /// A copy.
            deep_copy(x) [copy] {} = [] [DeepCopy] [unary] other;
            /// The same elements, without a copy.
            view(x) [] {} = [] [View] [unary] other;

            /// A part of a tensor: `x[1:n, None, ::-1]`.
            subtensor(x; numbers) [] {; index = None} = [subtensor] [Subtensor] [parts] other;
            /// The tensor with a part set to `values`: `set_subtensor(x[1:3], y)`.
            set_subtensor(part, values) [] {} = [write] [] [writes] other;
            /// The tensor with `values` added to a part: `inc_subtensor(x[1:3], y)`.
            inc_subtensor(part, values) [] {} = [write] [IncSubtensor] [writes] other;
            /// The elements at `positions` along an axis, or among all elements.
            take(x, positions) [] {axis = None} = [take] [] [takes] other;
            /// The rows at `positions`.
            advanced_subtensor1(x, positions) [] {} = [] [AdvancedSubtensor1] [] other;
            /// The tensor with the rows at `positions` set to `values` or increased by them.
            advanced_inc_subtensor1(x, values, positions) [] {; set = False, inplace = False} = [] [AdvancedIncSubtensor1] [] other;

            /// The elements along an axis in ascending order, NaN last; equal elements keep their order. With `descending=True`, in reverse.
            sort(x) [] {axis = -1, kind = None; stable = None, descending = False} = [sort] [Sort by name] [along_each] other;
            /// The positions (i64) of the elements in the order of `sort`.
            argsort(x) [] {axis = -1, kind = None; stable = None, descending = False} = [sort] [Sort by name] [along_each] other;
            /// The `k` largest elements along an axis, largest first; with `largest=False`, the `k` smallest.
            topk(x, k) [] {axis = -1, largest = True} = [topk] [] [] other;
            /// The positions (i64) of the `k` largest elements along an axis.
            argtopk(x, k) [] {axis = -1, largest = True} = [topk] [] [] other;
            /// The positions at which to insert elements into a sorted vector: before equal elements, or after them.
            searchsorted(sorted, x) [] {side = "left";; sorter} = [searchsorted] [SearchSorted] [searches] other;
            /// The distinct elements in ascending order; also the first position of each, the index of each element among them, and their counts.
            unique(x) [] {return_index = False, return_inverse = False, return_counts = False; equal_nan = True} = [unique] [] [unary] other;
            /// The distinct elements in ascending order; all NaN are distinct.
            unique_values(x) [] {} = [unique] [] [unary] other;
            /// The median: the middle element in ascending order, or the mean of the two middle elements.
            median(x) [] {axis = None; keepdims = False} = [median] [] [over_axes] other;
            /// The value below which a fraction `q` of the elements lies.
            quantile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// The value below which `q` percent of the elements lie.
            percentile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// `quantile` of the elements that are not NaN; NaN if all are.
            nanquantile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;
            /// `percentile` of the elements that are not NaN; NaN if all are.
            nanpercentile(x, q) [] {axis = None; method = "linear", keepdims = False; weights} = [quantile] [] [] other;

            /// The indices of nonzero elements, with a row for each dimension.
            nonzero(x) [] {} = [nonzero] [Nonzero] [unary] other;
            /// The positions of nonzero elements among all elements in C order.
            flatnonzero(x) [] {} = [nonzero] [] [unary] method;
            /// The indices of nonzero elements, with a row for each element.
            argwhere(x) [] {} = [nonzero] [] [unary] method;
            /// The number of nonzero elements.
            count_nonzero(x) [] {axis = None; keepdims = False} = [count_nonzero] [] [over_axes] method;
            /// The parts of a tensor where a mask of its first dimensions is true: `x[mask]`.
            boolean_index(x, mask) [] {} = [boolean_index] [BooleanIndex] [masks] method;
            /// The parts along an axis, or the elements among all, where `condition` is true.
            compress(condition, x) [] {axis = None} = [compress] [] [] other;
            /// The elements where `condition` is true, both in C order.
            extract(condition, x) [] {} = [compress] [] [] other;

            /// Sums of products that axis labels describe: `einsum("ij,jk->ik", x, y)`.
            einsum(subscripts; tensors) [] {} = [einsum] [] [] other;
            /// Sums of products over the last axes of `x` and the first of `y`, or over pairs of axes.
            tensordot(x, y) [] {axes = 2} = [tensordot] [] [] other;
            /// Sums of products over the last axis of each.
            inner(x, y) [] {} = [inner] [] [pairs] method;
            /// The products of all pairs of elements.
            outer(x, y) [] {} = [outer] [] [pairs] method;
            /// The dot product of all elements, with `x` conjugated.
            vdot(x, y) [] {} = [vdot] [] [pairs] method;
            /// The norm of a vector or matrix; by default the square root of the sum of squares.
            norm(x) [] {ord = None, axis = None, keepdims = False} = [norm] [] [unary] other;

            /// The exponentials divided by their sum.
            softmax(x) [] {axis = None} = [softmax] [] [over_axes] other;
            /// The logarithm of `softmax`, accurate for small shares.
            log_softmax(x) [] {axis = None} = [log_softmax] [] [over_axes] other;
            /// The logarithm of the sum of exponentials, without intermediate overflow.
            logsumexp(x) [] {axis = None; keepdims = False} = [logsumexp] [] [over_axes] other;
            /// `maximum(x, 0)`.
            relu(x) [] {} = [relu] [] [unary] method;
            /// Whether numbers differ by at most `atol + rtol * abs(y)`.
            isclose(x, y) [] {rtol = 1e-5, atol = 1e-8, equal_nan = False} = [isclose] [] [elementwise] other;
            /// Whether all numbers differ by at most `atol + rtol * abs(y)`.
            allclose(x, y) [] {rtol = 1e-5, atol = 1e-8, equal_nan = False} = [isclose] [] [elementwise] other;
            /// The largest element minus the smallest.
            ptp(x) [] {axis = None; keepdims = False} = [ptp] [] [over_axes] other;
            /// `log(exp(x) + exp(y))`, without intermediate overflow.
            logaddexp(x, y) [] {} = [logaddexp] [] [elementwise] method;
            /// 0 for negative numbers, 1 for positive ones, and `y` for 0.
            heaviside(x, y) [] {} = [heaviside] [] [elementwise] method;
            /// `sin(pi x) / (pi x)`, and 1 at 0.
            sinc(x) [] {} = [sinc] [] [unary] method;

            /// The sum of the elements that are not NaN.
            nansum(x) [] {axis = None, dtype = None; keepdims = False} = [total] [] [over_axes] method;
            /// The product of the elements that are not NaN.
            nanprod(x) [] {axis = None, dtype = None; keepdims = False} = [total] [] [over_axes] method;
            /// The largest element that is not NaN; NaN if all are.
            nanmax(x) [] {axis = None; keepdims = False} = [extreme] [] [over_axes] method;
            /// The smallest element that is not NaN; NaN if all are.
            nanmin(x) [] {axis = None; keepdims = False} = [extreme] [] [over_axes] method;
            /// The mean of the elements that are not NaN.
            nanmean(x) [] {axis = None; keepdims = False} = [mean] [] [over_axes] method;
            /// The variance of the elements that are not NaN, with divisor `count - ddof`.
            nanvar(x) [] {axis = None; ddof = 0, keepdims = False} = [nan_spread] [] [over_axes] other;
            /// The standard deviation of the elements that are not NaN, with divisor `count - ddof`.
            nanstd(x) [] {axis = None; ddof = 0, keepdims = False} = [nan_spread] [] [over_axes] other;
            /// The larger of two elements; if one is NaN, the other.
            fmax(x, y) [] {} = [either] [] [elementwise] method;
            /// The smaller of two elements; if one is NaN, the other.
            fmin(x, y) [] {} = [either] [] [elementwise] method;
            /// Replaces NaN by `nan`, and infinities by `posinf` and `neginf`, which default to the largest and the smallest number.
            nan_to_num(x) [] {; nan = 0.0, posinf = None, neginf = None} = [nan_to_num] [] [unary] other;

            /// The tensor without its axes of extent 1: all of them, or those in `axis`.
            squeeze(x) [] {axis = None} = [squeeze] [] [] other;
            /// The tensor with new axes of extent 1 at these positions of the result.
            expand_dims(x) [] {axis = None} = [expand_dims] [] [] other;
            /// The tensor with two axes swapped.
            swapaxes(x) [] {axis1 = None, axis2 = None} = [swapaxes] [] [] other;
            /// The tensor with axes moved to other positions; the rest keep their order.
            moveaxis(x) [] {source = None, destination = None} = [moveaxis] [] [] other;
            /// The tensor with the last two axes swapped.
            matrix_transpose(x) [] {} = [matrix_transpose] [] [] method;
            /// The elements in reverse along all axes, or along those in `axis`.
            flip(x) [] {axis = None} = [flip] [] [over_axes] other;
            /// The elements in reverse along the first axis.
            flipud(x) [] {} = [flip] [] [unary] method;
            /// The elements in reverse along the second axis.
            fliplr(x) [] {} = [flip] [] [] method;
            /// The elements shifted along an axis; elements that leave at the end come in at the beginning.
            roll(x, shift) [] {axis = None} = [roll] [] [] other;
            /// Each element repeated several times in a row.
            repeat(x, repeats) [] {axis = None} = [repeat] [] [] other;
            /// The tensor repeated along each of its last axes.
            tile(x; reps) [] {} = [tile] [] [] other;
            /// The differences of successive elements, taken `n` times.
            diff(x) [] {n = 1, axis = -1;; prepend, append} = [diff] [] [unary] other;
            /// Stacks rows, or concatenates tensors along the first axis.
            vstack(; tensors of rows) [] {} = [stacked] [] [] other;
            /// Concatenates tensors along the second axis, and vectors along their only one.
            hstack(; tensors of rows) [] {} = [stacked] [] [] other;
            /// Concatenates two tensors along an axis; without `axis`, all of their elements.
            append(x, y) [] {axis = None} = [append] [] [] other;
            /// The tensor with at least one dimension.
            atleast_1d(x) [] {} = [at_least] [] [unary] method;
            /// The tensor with at least two dimensions; new ones come first.
            atleast_2d(x) [] {} = [at_least] [] [unary] method;

            /// A tensor of one value; `dtype` defaults to the value's.
            full(shape, value) [] {dtype = None} = [full] [] [] other;
            /// A tensor of zeros with the shape of `x`.
            zeros_like(x) [empty_like] {dtype = None} = [like] [] [unary] method;
            /// A tensor of ones with the shape of `x`.
            ones_like(x) [] {dtype = None} = [like] [] [unary] method;
            /// A tensor of one value with the shape of `x`.
            full_like(x, value) [] {dtype = None} = [like] [] [] method;
            /// The tensor broadcast to a shape.
            broadcast_to(x; shape) [] {} = [broadcast_to] [] [] other;
            /// The sum over the axes along which a tensor of that shape was broadcast to `x`.
            sum_to(x; shape) [] {} = [sum_to] [SumTo] [] other;
            /// The product of the Jacobian of `y` by `x` with a direction: the derivative of `y` as `x` moves along it.
            jvp(y, x, direction) [] {} = [jvp] [] [] other;
            /// The product of the Hessian of `cost` by `x` with a direction.
            hvp(cost, x, direction) [] {} = [hvp] [] [] other;
            /// The derivatives of all elements of `y` by all elements of `x`.
            jacobian(y, x) [] {} = [jacobian] [] [] other;
            /// The second derivatives of `cost` by all pairs of elements of `x`.
            hessian(cost, x) [] {} = [hessian] [] [] other;
            /// A loop over the rows of `xs`, or of `length` steps: `f(carry, x)` returns the next carry and a row of `ys`. The last carry and `ys`. The arguments may be tuples. With `until`, `f` returns a third result, which ends the loop after this step if it is true.
            scan(f, init, xs, length) [] {reverse = False; until = False} = [scan] [Scan] [] other;
            /// The result of one of the functions in a list, the one at a position, called with the operands. Only this function is computed.
            branch(index, branches; operands) [] {} = [branch] [Branch] [] other;
            /// `value`, with a gradient of your own: `gradient(g, *inputs)` maps the gradient by the result to those by the inputs, or to `None` for an input without one. Gradients do not pass through `value`.
            custom_gradient(value, gradient; inputs) [] {} = [custom_gradient] [CustomGradient] [] other;
            /// `num` evenly spaced numbers from `start` to `stop`; without `endpoint`, `stop` is excluded.
            linspace(start, stop, num) [] {endpoint = True; dtype = None} = [linspace] [] [] other;

            /// The diagonals of the matrices in two axes.
            diagonal(x) [] {offset = 0, axis1 = 0, axis2 = 1} = [diagonal] [] [] other;
            /// The sum of a diagonal.
            trace(x) [] {offset = 0, axis1 = 0, axis2 = 1, dtype = None} = [diagonal] [] [] other;
            /// The diagonal of a matrix; for a vector, the matrix with that diagonal and otherwise zeros.
            diag(x, k) [] {} = [diag] [] [unary] other;
            /// A matrix with ones on and below a diagonal, and zeros above.
            tri(n, m, k) [] {; dtype = None} = [tri] [] [] other;
            /// The matrix with zeros above a diagonal.
            tril(x, k) [] {} = [triangle] [] [unary] other;
            /// The matrix with zeros below a diagonal.
            triu(x, k) [] {} = [triangle] [] [unary] other;
        }
    };
}
pub(crate) use structural_rows;
