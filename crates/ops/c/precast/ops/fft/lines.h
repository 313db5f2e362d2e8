/* precast/ops/fft/lines.h: transforms of lines of any length, of complex or real numbers, over stacks of any strides. A part of fft.h, which
 * includes it for f32 and f64, as passes.h.
 *
 * A length with a large prime factor is transformed by a convolution with a chirp (Bluestein), which has a length of small factors. An even number n
 * of real elements is transformed as n/2 complex ones.
 */
#ifndef PC_T
#include <precast/ops/fft/fft.h>
#else

/* What transforms n complex elements. */
typedef struct PC_NAME(pc_fft_any) {
  int64_t n;
  PC_NAME(pc_fft_plan) plan;
  /* Lines of the plan's length, if it is longer: exp(-πi·k²/n), and the transform of its conjugate, divided by the length. */
  PC_NAME(pc_line) chirp, spectrum;
} PC_NAME(pc_fft_any);

static inline PC_NAME(pc_line) PC_NAME(pc_line_take)(PC_T **room, int64_t n) {
  PC_NAME(pc_line) line = {*room, *room + n};
  *room += 2 * n;
  return line;
}

__attribute__((unused, noinline)) static PC_NAME(pc_fft_any) PC_NAME(pc_fft_any_make)(int64_t n, PC_T **room, pc_root *roots) {
  const int64_t m = pc_fft_length(n);
  PC_NAME(pc_fft_any) any = {n, PC_NAME(pc_fft_plan_make)(m, PC_NAME(pc_line_take)(room, m), roots), {0, 0}, {0, 0}};
  if (m == n) return any;
  any.chirp = PC_NAME(pc_line_take)(room, m);
  any.spectrum = PC_NAME(pc_line_take)(room, m);
  PC_NAME(pc_line) from = PC_NAME(pc_line_take)(room, m), to = any.spectrum;
  const PC_T scale = (PC_T)(1 / (double)m);
  const pc_roots table = pc_roots_make(2 * n, roots);
  for (int64_t k = 0, turn = 0; k < n; k++) {
    pc_root root = pc_roots_at(&table, turn);
    any.chirp.re[k] = (PC_T)root.re;
    any.chirp.im[k] = (PC_T)-root.im;
    turn += 2 * k + 1;
    turn -= turn < 2 * n ? 0 : 2 * n;
  }
  for (int64_t k = 0; k < m; k++) {
    const int64_t near = k < n ? k : m - k < n ? m - k : -1;
    from.re[k] = near < 0 ? 0 : any.chirp.re[near];
    from.im[k] = near < 0 ? 0 : -any.chirp.im[near];
  }
  PC_NAME(pc_line) made = PC_NAME(pc_fft_run)(&any.plan, from, to);
  for (int64_t k = 0; k < m; k++) {
    any.spectrum.re[k] = made.re[k] * scale;
    any.spectrum.im[k] = made.im[k] * scale;
  }
  *room = from.re;
  return any;
}

/* z = x·w for n elements; z may be x. */
static inline void PC_NAME(pc_line_times)(int64_t n, PC_NAME(pc_line) z, PC_NAME(pc_line) x, PC_NAME(pc_line) w) {
  for (int64_t k = 0; k < n; k++) {
    PC_T re = x.re[k] * w.re[k] - x.im[k] * w.im[k];
    z.im[k] = x.re[k] * w.im[k] + x.im[k] * w.re[k];
    z.re[k] = re;
  }
}

/* Transforms the n elements of x, which has the plan's length, with y as room of the same length; returns the one that holds the result. */
__attribute__((unused)) static PC_NAME(pc_line) PC_NAME(pc_fft_any_run)(const PC_NAME(pc_fft_any) *any, PC_NAME(pc_line) x, PC_NAME(pc_line) y) {
  const int64_t n = any->n, m = any->plan.n;
  if (m == n) return PC_NAME(pc_fft_run)(&any->plan, x, y);
  PC_NAME(pc_line_times)(n, x, x, any->chirp);
  for (int64_t k = n; k < m; k++) x.re[k] = x.im[k] = 0;
  PC_NAME(pc_line) made = PC_NAME(pc_fft_run)(&any->plan, x, y), other = made.re == x.re ? y : x;
  PC_NAME(pc_line_times)(m, made, made, any->spectrum);
  made = PC_NAME(pc_line_turned)(
      PC_NAME(pc_fft_run)(&any->plan, PC_NAME(pc_line_turned)(made), PC_NAME(pc_line_turned)(other)));
  PC_NAME(pc_line_times)(n, made, made, any->chirp);
  return made;
}

/* A transform of lines. */
typedef struct PC_NAME(pc_fft_work) {
  /* n: elements of the longer of both sides; half: whether n real elements are n/2 complex ones. */
  int64_t n, kind;
  int inverse, half;
  PC_T scale;
  PC_NAME(pc_fft_any) any;
  /* exp(-2πi·k/n) for k <= n/4, if half. */
  PC_NAME(pc_line) turns;
  PC_NAME(pc_line) x, y;
} PC_NAME(pc_fft_work);

/* Reads the first `count` elements of a line; those up to n are 0. step: in bytes; parts: of an element. */
static inline __attribute__((always_inline)) void PC_NAME(pc_fft_read)(PC_NAME(pc_line) x, int64_t n, const char *from, int64_t step, int64_t count,
                                                                       const int parts) {
  #pragma GCC ivdep
  for (int64_t i = 0; i < count; i++) {
    x.re[i] = *(const PC_T *)(from + i * step);
    x.im[i] = parts == 2 ? ((const PC_T *)(from + i * step))[1] : 0;
  }
  for (int64_t i = count; i < n; i++) x.re[i] = x.im[i] = 0;
}

/* Writes a line of complex elements, times a scale. */
static inline __attribute__((always_inline)) void PC_NAME(pc_fft_write)(char *to, int64_t step, int64_t n, PC_NAME(pc_line) z, PC_T scale) {
  #pragma GCC ivdep
  for (int64_t k = 0; k < n; k++) {
    ((PC_T *)(to + k * step))[0] = z.re[k] * scale;
    ((PC_T *)(to + k * step))[1] = z.im[k] * scale;
  }
}

__attribute__((unused, noinline)) static void PC_NAME(pc_fft_complex)(const PC_NAME(pc_fft_work) *work, const char *from, int64_t from_step,
                                                                      int64_t count, char *to, int64_t to_step, int64_t results) {
  PC_NAME(pc_line) x = work->x, y = work->y;
  const int64_t given = count < work->n ? count : work->n, pair = 2 * (int64_t)sizeof(PC_T);
  if (work->kind == PC_FFT_FROM_REAL) PC_NAME(pc_fft_read)(x, work->n, from, from_step, given, 1);
  else if (from_step == pair) PC_NAME(pc_fft_read)(x, work->n, from, pair, given, 2);
  else PC_NAME(pc_fft_read)(x, work->n, from, from_step, given, 2);
  if (work->inverse) {
    x = PC_NAME(pc_line_turned)(x);
    y = PC_NAME(pc_line_turned)(y);
  }
  PC_NAME(pc_line) made = PC_NAME(pc_fft_any_run)(&work->any, x, y);
  if (work->inverse) made = PC_NAME(pc_line_turned)(made);
  if (to_step == pair) PC_NAME(pc_fft_write)(to, pair, results, made, work->scale);
  else PC_NAME(pc_fft_write)(to, to_step, results, made, work->scale);
}

/* n real elements to n/2 + 1 complex ones; n is even. */
__attribute__((unused, noinline)) static void PC_NAME(pc_fft_from_pairs)(const PC_NAME(pc_fft_work) *work, const char *from, int64_t from_step,
                                                                         int64_t count, char *to, int64_t to_step) {
  const int64_t half = work->n / 2, given = count < work->n ? count : work->n;
  const PC_T scale = work->scale;
  PC_NAME(pc_line) x = work->x, w = work->turns;
  if (from_step == (int64_t)sizeof(PC_T)) {
    PC_NAME(pc_fft_read)(x, half, from, 2 * (int64_t)sizeof(PC_T), given / 2, 2);
  } else {
    for (int64_t i = 0; i < half; i++) {
      x.re[i] = 2 * i < given ? *(const PC_T *)(from + 2 * i * from_step) : 0;
      x.im[i] = 2 * i + 1 < given ? *(const PC_T *)(from + (2 * i + 1) * from_step) : 0;
    }
  }
  if (given % 2) x.re[given / 2] = *(const PC_T *)(from + (given - 1) * from_step);
  PC_NAME(pc_line) z = PC_NAME(pc_fft_any_run)(&work->any, x, work->y);
  PC_T *first = (PC_T *)to, *last = (PC_T *)(to + half * to_step);
  first[0] = (z.re[0] + z.im[0]) * scale;
  last[0] = (z.re[0] - z.im[0]) * scale;
  first[1] = last[1] = 0;
  for (int64_t k = 1; k <= half / 2; k++) {
    const int64_t far = half - k;
    PC_T e_re = (PC_T)0.5 * (z.re[k] + z.re[far]), e_im = (PC_T)0.5 * (z.im[k] - z.im[far]);
    PC_T d_re = (PC_T)0.5 * (z.re[k] - z.re[far]), d_im = (PC_T)0.5 * (z.im[k] + z.im[far]);
    PC_T t_re = w.re[k] * d_im + w.im[k] * d_re, t_im = w.im[k] * d_im - w.re[k] * d_re;
    first = (PC_T *)(to + k * to_step);
    last = (PC_T *)(to + far * to_step);
    last[0] = (e_re - t_re) * scale;
    last[1] = (t_im - e_im) * scale;
    first[0] = (e_re + t_re) * scale;
    first[1] = (e_im + t_im) * scale;
  }
}

/* A part of element k of a line of complex elements, of which `count` are there. */
static inline PC_T PC_NAME(pc_fft_part)(const char *from, int64_t step, int64_t count, int64_t k, int part) {
  return k < count ? ((const PC_T *)(from + k * step))[part] : 0;
}

/* n/2 + 1 complex elements to n real ones; n is even. */
__attribute__((unused, noinline)) static void PC_NAME(pc_fft_to_pairs)(const PC_NAME(pc_fft_work) *work, const char *from, int64_t from_step,
                                                                       int64_t count, char *to, int64_t to_step) {
  const int64_t half = work->n / 2;
  PC_NAME(pc_line) x = work->x, w = work->turns;
  PC_T zero = PC_NAME(pc_fft_part)(from, from_step, count, 0, 0), last = PC_NAME(pc_fft_part)(from, from_step, count, half, 0);
  x.re[0] = zero + last;
  x.im[0] = zero - last;
  for (int64_t k = 1; k <= half / 2; k++) {
    const int64_t far = half - k;
    PC_T a_re = PC_NAME(pc_fft_part)(from, from_step, count, k, 0), a_im = PC_NAME(pc_fft_part)(from, from_step, count, k, 1);
    PC_T b_re = PC_NAME(pc_fft_part)(from, from_step, count, far, 0), b_im = -PC_NAME(pc_fft_part)(from, from_step, count, far, 1);
    PC_T e_re = a_re + b_re, e_im = a_im + b_im, d_re = a_re - b_re, d_im = a_im - b_im;
    PC_T o_re = d_re * w.re[k] + d_im * w.im[k], o_im = d_im * w.re[k] - d_re * w.im[k];
    x.re[far] = e_re + o_im;
    x.im[far] = o_re - e_im;
    x.re[k] = e_re - o_im;
    x.im[k] = e_im + o_re;
  }
  PC_NAME(pc_line) z = PC_NAME(pc_line_turned)(
      PC_NAME(pc_fft_any_run)(&work->any, PC_NAME(pc_line_turned)(x), PC_NAME(pc_line_turned)(work->y)));
  if (to_step == (int64_t)sizeof(PC_T)) {
    PC_NAME(pc_fft_write)(to, 2 * (int64_t)sizeof(PC_T), half, z, work->scale);
    return;
  }
  for (int64_t i = 0; i < half; i++) {
    *(PC_T *)(to + 2 * i * to_step) = z.re[i] * work->scale;
    *(PC_T *)(to + (2 * i + 1) * to_step) = z.im[i] * work->scale;
  }
}

/* The same for an odd n. */
__attribute__((unused, noinline)) static void PC_NAME(pc_fft_to_odd)(const PC_NAME(pc_fft_work) *work, const char *from, int64_t from_step,
                                                                     int64_t count, char *to, int64_t to_step) {
  PC_NAME(pc_line) x = work->x;
  x.re[0] = PC_NAME(pc_fft_part)(from, from_step, count, 0, 0);
  x.im[0] = 0;
  for (int64_t k = 1; k <= work->n / 2; k++) {
    PC_T re = PC_NAME(pc_fft_part)(from, from_step, count, k, 0), im = PC_NAME(pc_fft_part)(from, from_step, count, k, 1);
    x.re[k] = x.re[work->n - k] = re;
    x.im[k] = im;
    x.im[work->n - k] = -im;
  }
  PC_NAME(pc_line) z = PC_NAME(pc_line_turned)(
      PC_NAME(pc_fft_any_run)(&work->any, PC_NAME(pc_line_turned)(x), PC_NAME(pc_line_turned)(work->y)));
  for (int64_t i = 0; i < work->n; i++) *(PC_T *)(to + i * to_step) = z.re[i] * work->scale;
}

/* Transforms all lines along the last axis. room: of pc_fft_room(n) bytes. */
__attribute__((unused, noinline)) static void PC_NAME(pc_fft_lines)(PC_NAME(pc_fft_work) *work, const pc_tensor *in, const pc_tensor *out, int64_t lines,
                                                                    double *room) {
  const int64_t n = work->n, length = work->half ? n / 2 : n, whole = pc_fft_length(length);
  pc_root *roots = (pc_root *)room;
  PC_T *rest = (PC_T *)(roots + pc_roots_room(4 * n));
  work->any = PC_NAME(pc_fft_any_make)(length, &rest, roots);
  work->x = PC_NAME(pc_line_take)(&rest, whole);
  work->y = PC_NAME(pc_line_take)(&rest, whole);
  if (work->half) {
    const pc_roots table = pc_roots_make(n, roots);
    work->turns = PC_NAME(pc_line_take)(&rest, n / 4 + 1);
    for (int64_t k = 0; k <= n / 4; k++) {
      pc_root root = pc_roots_at(&table, k);
      work->turns.re[k] = (PC_T)root.re;
      work->turns.im[k] = (PC_T)-root.im;
    }
  }
  const int64_t from_step = in->strides[in->ndim - 1], count = in->shape[in->ndim - 1], to_step = out->strides[out->ndim - 1];
  for (int64_t i = 0; i < lines; i++) {
    const char *from = in->data + pc_item_offset(in, 1, i);
    char *to = out->data + pc_item_offset(out, 1, i);
    if (work->kind == PC_FFT_TO_REAL && work->half) PC_NAME(pc_fft_to_pairs)(work, from, from_step, count, to, to_step);
    else if (work->kind == PC_FFT_TO_REAL) PC_NAME(pc_fft_to_odd)(work, from, from_step, count, to, to_step);
    else if (work->half) PC_NAME(pc_fft_from_pairs)(work, from, from_step, count, to, to_step);
    else PC_NAME(pc_fft_complex)(work, from, from_step, count, to, to_step, out->shape[out->ndim - 1]);
  }
}

/* props: the kind, whether the inverse is meant, the scale (0: 1, 1: 1/n, 2: 1/√n), and n; -1 for all elements. in: x, and n if it is computed. */
__attribute__((unused)) static int PC_NAME(pc_fft)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const pc_tensor *x = in[0];
  const int32_t last = x->ndim - 1;
  const int64_t kind = props[0], given = x->shape[last], all = kind == PC_FFT_TO_REAL ? 2 * (given - 1) * (given > 0) : given;
  const int64_t n = n_in > 1 ? pc_integer(in[1]) : props[3] >= 0 ? props[3] : all;
  int64_t shape[PC_MAX_NDIM], lines = 1;
  if (n < 1 || n > PC_FFT_MOST) {
    pc_error_format(ctx, PC_ERROR_VALUE, "a Fourier transform needs 1 to %lld elements, found %lld", (long long)PC_FFT_MOST, (long long)n);
    return -1;
  }
  for (int32_t d = 0; d < last; d++) lines *= shape[d] = x->shape[d];
  shape[last] = kind == PC_FFT_FROM_REAL ? n / 2 + 1 : n;
  const int32_t single = kind == PC_FFT_TO_REAL ? PC_F32 : PC_C64, wide = kind == PC_FFT_TO_REAL ? PC_F64 : PC_C128;
  pc_tensor *made = pc_output_ready(ctx, &out[0], sizeof(PC_T) == sizeof(float) ? single : wide, last + 1, shape);
  if (made == NULL) return -1;
  if (lines == 0) return 0;
  double *room = (double *)ctx->host->alloc(ctx, pc_fft_room(n));
  if (room == NULL) return -1;
  const double scale = props[2] == 1 ? 1 / (double)n : props[2] == 2 ? 1 / pc_sqrt_f64((double)n) : 1;
  PC_NAME(pc_fft_work) work;
  work.n = n;
  work.kind = kind;
  work.inverse = props[1] != 0;
  work.half = kind != PC_FFT_COMPLEX && n % 2 == 0;
  work.scale = (PC_T)scale;
  PC_NAME(pc_fft_lines)(&work, x, made, lines, room);
  ctx->host->release(ctx, room);
  return 0;
}

#endif
