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
            /// The fractional and integer parts, both with the sign of the number.
            modf(x) [] {} = modf;
            /// The mantissas, from 0.5 to 1, and the exponents of 2 (i32).
            frexp(x) [] {} = frexp;
            /// `x * 2**n` for integers `n`, rounded once.
            ldexp(x, n) [] {} = ldexp;

            /// The gradient of a cost without dimensions by a variable, or a list of gradients by several variables.
            grad(cost, variables) [] {} = grad;
            /// The gradient of `sum(y * weights)` by a variable, or a list of gradients by several variables.
            vjp(y, variables, weights) [] {} = vjp;

            /// The result of `if_true` or of `if_false`, called with the operands. Only this function is computed.
            cond(predicate, if_true, if_false; operands) [] {} = cond;
            /// Applies `body` as long as the result satisfies `condition`, beginning with `init`.
            while_loop(condition, body, init) [] {} = while_loop;
            /// Applies `body(i, carry)` for each integer `i` from `lower` to below `upper`.
            fori_loop(lower, upper, body, init) [] {} = fori_loop;

            /// Whether each element of `x` occurs in `others`.
            isin(x, others) [] {; assume_unique = False, invert = False, kind = None} = isin;
            /// The distinct elements in ascending order, the first position of each, the index of each element among them, and their counts.
            unique_all(x) [] {} = unique_parts;
            /// The distinct elements in ascending order, and their counts.
            unique_counts(x) [] {} = unique_parts;
            /// The distinct elements in ascending order, and the index of each element among them.
            unique_inverse(x) [] {} = unique_parts;
            /// The elements at `positions` along an axis, with separate positions for each slice.
            take_along_axis(x, positions) [] {axis = -1} = take_along_axis;

            /// The coordinates of a grid: each vector lies along its own axis and is repeated along all other axes.
            meshgrid(; vectors) [] {; indexing = "xy", sparse = False, copy = True} = meshgrid;
            /// The parts along an axis of known extent.
            unstack(x) [] {; axis = 0} = unstack;
            /// The pieces between positions along an axis, or that number of pieces of nearly equal extents; with `equal=True`, of equal extents.
            array_split(x, sections) [] {axis = 0; equal = False} = array_split;
            /// Vectors and matrices as columns of one matrix.
            column_stack(; tensors of rows) [] {} = column_stack;
            /// Concatenates tensors along the third axis.
            dstack(; tensors of rows) [] {} = dstack;

            /// The dot products along an axis, with `x` conjugated.
            vecdot(x, y) [] {; axis = -1} = vecdot;
            /// The products of matrices and vectors.
            matvec(x, y) [] {} = matvec;
            /// The products of conjugated vectors and matrices.
            vecmat(x, y) [] {} = matvec;
            /// The Kronecker product: `y` times each element of `x`.
            kron(x, y) [] {} = kron;
            /// The cross products of vectors of three elements along an axis.
            cross(x, y) [] {; axis = -1} = cross;
            /// The convolution of two vectors.
            convolve(x, y) [] {mode = "full"} = convolve;
            /// The correlation of two vectors: the convolution with the second one reversed and conjugated.
            correlate(x, y) [] {mode = "valid"} = convolve;

            /// The correlations of `x[batch, channel, i]`, or of `x[channel, i]`, with the kernels `weight[result, channel, i]`; with `groups`, each group of results has its own channels. `padding` is a number, `"valid"` or `"same"`.
            conv1d(x, weight) [] {stride = 1, padding = 0, dilation = 1, groups = 1} = convolution;
            /// `conv1d` along two axes: of `x[batch, channel, i, j]` with `weight[result, channel, i, j]`. Settings are numbers, or one for each axis.
            conv2d(x, weight) [] {stride = 1, padding = 0, dilation = 1, groups = 1} = convolution;
            /// The largest elements of windows along the last axes, one for each number of `kernel_size`; by default, windows do not overlap.
            max_pool(x) [] {kernel_size = None, stride = None, padding = 0, dilation = 1} = pool;
            /// The means of windows along the last axes, with or without the zeros of the padding.
            avg_pool(x) [] {kernel_size = None, stride = None, padding = 0, count_include_pad = True} = pool;

            /// The inverse Fourier transform. `norm="backward"` divides by `n`, `"ortho"` by its root, `"forward"` not at all.
            ifft(x, n) [] {axis = -1, norm = "backward"} = fft_by_name;
            /// The Fourier transform of real elements: the first `n/2 + 1` results, of which the others are conjugates.
            rfft(x, n) [] {axis = -1, norm = "backward"} = fft_by_name;
            /// The real elements whose Fourier transform begins with the `n/2 + 1` elements; `n` is even by default.
            irfft(x, n) [] {axis = -1, norm = "backward"} = fft_by_name;
            /// The real Fourier transform of elements that are conjugates of their mirror images, from the first `n/2 + 1`.
            hfft(x, n) [] {axis = -1, norm = "backward"} = fft_by_name;
            /// The inverse of `hfft`.
            ihfft(x, n) [] {axis = -1, norm = "backward"} = fft_by_name;
            /// The Fourier transform along the last two axes, or those of `axes`.
            fft2(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The inverse of `fft2`.
            ifft2(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// `fft2` of real elements: the first half of the results along the last axis.
            rfft2(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The inverse of `rfft2`.
            irfft2(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The Fourier transform along all axes, or those of `axes`, of `s` elements each.
            fftn(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The inverse of `fftn`.
            ifftn(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// `fftn` of real elements: the first half of the results along the last axis.
            rfftn(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The inverse of `rfftn`.
            irfftn(x, s) [] {axes = None, norm = "backward"} = fft_over_axes;
            /// The frequencies of the results of `fft` for `n` samples at distance `d`.
            fftfreq(n) [] {d = 1.0} = fft_frequencies;
            /// The frequencies of the results of `rfft` for `n` samples at distance `d`.
            rfftfreq(n) [] {d = 1.0} = fft_frequencies;
            /// The frequencies in ascending order: the second half of each axis comes first.
            fftshift(x) [] {axes = None} = fft_shifted;
            /// The inverse of `fftshift`.
            ifftshift(x) [] {axes = None} = fft_shifted;

            /// The running sums along an axis, starting with 0 if `include_initial`.
            cumulative_sum(x) [] {; axis = None, dtype = None, include_initial = False} = cumulative;
            /// The running products along an axis, starting with 1 if `include_initial`.
            cumulative_prod(x) [] {; axis = None, dtype = None, include_initial = False} = cumulative;
            /// The matrix with the powers of the elements of a vector as columns, descending unless `increasing`.
            vander(x) [] {N = None, increasing = False} = vander;
            /// The matrix with constant diagonals, from its first column and its first row. By default, the row is the conjugated column.
            toeplitz(c, r) [] {} = toeplitz;
            /// The matrix with these matrices on its diagonal, and otherwise zeros.
            block_diag(; matrices) [] {} = block_diag;
            /// The norm of the vectors that lie along one or more axes.
            vector_norm(x) [] {; axis = None, keepdims = False, ord = 2} = vector_norm;
            /// The norm of the matrices in the last two axes.
            matrix_norm(x) [] {; keepdims = False, ord = "fro"} = matrix_norm;
            /// The signs of the determinants of matrices, and the logarithms of their absolute values.
            slogdet(x) [] {} = slogdet;
            /// The exponentials of square matrices.
            expm(x) [] {} = expm;
            /// The LU decompositions of matrices: the permutation `p`, and `lower` and `upper` with `x = p @ lower @ upper`. With `permute_l`, `p @ lower` and `upper`; with `p_indices`, `p` as the order of rows.
            lu(x) [] {permute_l = False; p_indices = False} = lu;
            /// The solutions `x` of `a @ x = b`, or with `trans=1` of `a.T @ x = b`, from the pair of results of `lu_factor(a)`. Those of a singular matrix are NaN.
            lu_solve(factors, b) [] {trans = 0} = lu_solve;
            /// The solutions `x` of `a @ x = b` for matrices with three diagonals: the element below `d[i]` is `dl[i + 1]`, the one above it `du[i - 1]`; the first of `dl` and the last of `du` are not read.
            tridiagonal_solve(dl, d, du, b) [] {; on_error = "raise"} = tridiagonal_solve;
            /// The solutions `x` of `a @ x = b` for the Toeplitz matrix with this first column, or with the pair `(c, r)` of the first column and the first row.
            solve_toeplitz(c, b) [] {; on_error = "raise"} = solve_toeplitz;
            /// The solution `x` of Sylvester's equation `a @ x + x @ b = q`.
            solve_sylvester(a, b, q) [] {} = solve_sylvester;
            /// The solution `x` of Lyapunov's equation `a @ x + x @ conj(a.T) = q`.
            solve_continuous_lyapunov(a, q) [] {} = solve_continuous_lyapunov;
            /// The solution `x` of `a @ x @ conj(a.T) - x + q = 0`, unless -1 is an eigenvalue of `a`.
            solve_discrete_lyapunov(a, q) [] {} = solve_discrete_lyapunov;
            /// The solutions of `a @ x = b` with the least squares and the smallest norm, the sums of squared residuals, the rank, and the singular values of `a`. Singular values below `rcond` times the largest one count as 0; by default, the precision times the larger extent.
            lstsq(a, b) [] {rcond = None} = lstsq;

            /// The count of each integer, or the sum of its weights.
            bincount(x, weights) [] {minlength = 0} = bincount;
            /// The index of the bin of each element; the bounds are in ascending or descending order.
            digitize(x, bins) [] {right = False} = digitize;
            /// Linear interpolation between `values` at the ascending `places`.
            interp(x, places, values, left, right) [] {} = interp;
            /// The value of a polynomial at `x`; the coefficient of the highest power comes first.
            polyval(coefficients, x) [] {} = polyval;
            /// The integral by the trapezoidal rule.
            trapezoid(y, x) [] {dx = 1.0, axis = -1} = trapezoid;
            /// The gradient by central differences, with one-sided differences at the ends.
            gradient(x; distances) [] {; axis = None, edge_order = 1} = gradient;

            /// The choice for the first condition that is true, or `default`.
            select(conditions, choices, default) [] {} = select;
            /// The elements padded on both sides with constants, edge values or reflected values.
            pad(x) [] {pad_width = None, mode = "constant"; constant_values = 0} = pad;
            /// The tensor without the elements at `positions` along an axis.
            delete(x, positions) [] {axis = None} = delete;
            /// The tensor with `values` inserted before a position along an axis.
            insert(x, position, values) [] {axis = None} = insert;

            /// The key of an integer, for the functions of `random`: an array of two u32.
            random_key(seed) [random_PRNGKey] {} = key;
            /// `num` keys derived from a key, 2 by default, or an array of keys of a shape.
            random_split(key, num) [] {} = split;
            /// The key derived from a key and a number of 32 bits, or keys for an array of numbers.
            random_fold_in(key, data) [] {} = fold_in;
            /// Random bits of an unsigned dtype, u64 by default.
            random_bits(key, shape) [] {dtype = None} = bits;
            /// Uniform numbers from `minval` to `maxval`, by default from 0 to 1, excluding the latter.
            random_uniform(key, shape) [] {dtype = None;; minval, maxval} = uniform;
            /// Uniform integers from `minval` to `maxval`, excluding `maxval`; i64 by default.
            random_randint(key, shape, minval, maxval) [] {dtype = None} = randint;
            /// True with probability `p`, by default 1/2.
            random_bernoulli(key, p, shape) [] {} = bernoulli;
            /// Normal numbers of mean 0 and deviation 1.
            random_normal(key, shape) [] {dtype = None} = normal;
            /// Normal numbers between two bounds.
            random_truncated_normal(key, lower, upper, shape) [] {dtype = None} = truncated_normal;
            /// Numbers of the exponential distribution with mean 1.
            random_exponential(key, shape) [] {dtype = None} = transformed;
            /// Numbers of the Laplace distribution with mean 0 and scale 1.
            random_laplace(key, shape) [] {dtype = None} = transformed;
            /// Numbers of the logistic distribution with mean 0 and scale 1.
            random_logistic(key, shape) [] {dtype = None} = transformed;
            /// Numbers of the Cauchy distribution with median 0 and scale 1.
            random_cauchy(key, shape) [] {dtype = None} = transformed;
            /// Numbers of the Gumbel distribution with mode 0 and scale 1.
            random_gumbel(key, shape) [] {dtype = None} = transformed;
            /// Numbers of the gamma distribution with shape `a` and scale 1.
            random_gamma(key, a, shape) [] {dtype = None} = gamma;
            /// The logarithm of `random.gamma`, accurate for small `a`.
            random_loggamma(key, a, shape) [] {dtype = None} = gamma;
            /// Numbers of the beta distribution.
            random_beta(key, a, b, shape) [] {dtype = None} = beta;
            /// Numbers of Student's t-distribution with `df` degrees of freedom.
            random_student_t(key, df, shape) [random_t] {dtype = None} = student_t;
            /// Angles of the von Mises distribution about `mu` with concentration `kappa`, from -pi to pi.
            random_von_mises(key, mu, kappa, shape) [] {dtype = None} = von_mises;
            /// Counts of the Poisson distribution with mean `lam`; -1, or NaN of a float dtype, if it is invalid.
            random_poisson(key, lam, shape) [] {dtype = None} = poisson;
            /// The successes in `n` trials of probability `p`.
            random_binomial(key, n, p, shape) [] {dtype = None} = binomial;
            /// The failures before `n` successes of probability `p`.
            random_negative_binomial(key, n, p, shape) [] {dtype = None} = negative_binomial;
            /// The counts of each category in `n` trials, in the last axis. The probabilities `p` need not add up to 1.
            random_multinomial(key, n, p, shape) [] {dtype = None} = multinomial;
            /// Vectors of probabilities with the parameters `alpha` in the last axis.
            random_dirichlet(key, alpha, shape) [] {dtype = None} = dirichlet;
            /// Normal vectors with a mean and a covariance; NaN if the covariance is not positive definite.
            random_multivariate_normal(key, mean, cov, shape) [] {dtype = None} = multivariate_normal;
            /// Matrices of the Wishart distribution with `df` degrees of freedom; NaN if `scale` is not positive definite.
            random_wishart(key, df, scale, shape) [] {dtype = None} = wishart;
            /// The position of a category along an axis, whose probabilities have these logarithms up to a constant.
            random_categorical(key, logits) [] {axis = -1;; shape} = categorical;
            /// The elements of an array along an axis, or the numbers below an integer, in random order; with `independent=True` a different order for each line.
            random_permutation(key, x) [] {axis = 0, independent = False} = permutation;
            /// Elements of an array along an axis, or numbers below an integer: with replacement, or distinct ones; with probabilities `p`.
            random_choice(key, a, shape) [] {replace = True; axis = 0; p} = choice;
        }
    };
}
pub(crate) use composed_rows;
