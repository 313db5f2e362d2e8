/* precast/ops/fft/passes.h: transforms of one line. A part of fft.h, which includes it for f32 and f64: PC_T is the type of a part, PC_NAME(name)
 * the name of a function for it.
 *
 * A line is two arrays of n parts. A transform of n = r·m elements is m transforms of r elements, a product with powers of a root of unity, and r
 * transforms of m elements; the elements end in their own order (Stockham). The factors r are 4, 2, 3, 5 and larger primes. The inverse transform
 * is the same with both parts exchanged.
 */
#ifndef PC_T
#include <precast/ops/fft/fft.h>
#else

/* A line, or a place in it. */
typedef struct PC_NAME(pc_line) {
  PC_T *re, *im;
} PC_NAME(pc_line);

static inline PC_NAME(pc_line) PC_NAME(pc_line_at)(PC_NAME(pc_line) line, int64_t i) {
  return (PC_NAME(pc_line)){line.re + i, line.im + i};
}

static inline PC_NAME(pc_line) PC_NAME(pc_line_turned)(PC_NAME(pc_line) line) { return (PC_NAME(pc_line)){line.im, line.re}; }

/* The transform of n elements, as a product of transforms of `count` factors. */
typedef struct PC_NAME(pc_fft_plan) {
  int64_t n;
  int count;
  int32_t factors[PC_FFT_FACTORS];
  /* For each factor r of a rest of r·m elements: the powers p·j of the root of the rest, at (j - 1)·m + p. */
  PC_NAME(pc_line) powers;
} PC_NAME(pc_fft_plan);

__attribute__((unused, noinline)) static PC_NAME(pc_fft_plan) PC_NAME(pc_fft_plan_make)(int64_t n, PC_NAME(pc_line) powers, pc_root *room) {
  PC_NAME(pc_fft_plan) plan = {n, 0, {0}, powers};
  pc_roots roots = pc_roots_make(n, room);
  PC_T *re = powers.re, *im = powers.im;
  plan.count = pc_fft_factors(n, plan.factors);
  for (int64_t f = 0, rest = n, step = 1; f < plan.count; f++) {
    const int64_t r = plan.factors[f], m = rest / r;
    for (int64_t j = 1; j < r; j++) {
      for (int64_t p = 0; p < m; p++) {
        pc_root power = pc_roots_at(&roots, p * j * step);
        *re++ = (PC_T)power.re;
        *im++ = (PC_T)-power.im;
      }
    }
    step *= r;
    rest = m;
  }
  return plan;
}

/* Writes a product with a power. */
static inline __attribute__((always_inline)) void PC_NAME(pc_fft_put)(PC_NAME(pc_line) y, int64_t to, PC_T re, PC_T im, PC_NAME(pc_line) w,
                                                                      int64_t j) {
  y.re[to] = re * w.re[j] - im * w.im[j];
  y.im[to] = re * w.im[j] + im * w.re[j];
}

/* Transforms of r elements, `x_step` and `y_step` apart, for `n` neighbors. The neighbors are 1 apart in x, `y_next` in y, and their powers
 * `w_next`; the powers of one are `w_step` apart. A factor 2 is the last one, whose powers are 1. */
static inline __attribute__((always_inline)) void PC_NAME(pc_fft_two)(int64_t n, PC_NAME(pc_line) x, int64_t x_step, PC_NAME(pc_line) y,
                                                                      int64_t y_step) {
  #pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    y.re[i] = x.re[i] + x.re[i + x_step];
    y.im[i] = x.im[i] + x.im[i + x_step];
    y.re[i + y_step] = x.re[i] - x.re[i + x_step];
    y.im[i + y_step] = x.im[i] - x.im[i + x_step];
  }
}

static inline __attribute__((always_inline)) void PC_NAME(pc_fft_three)(int64_t n, PC_NAME(pc_line) x, int64_t x_step, PC_NAME(pc_line) y,
                                                                        int64_t y_step, const int64_t y_next, PC_NAME(pc_line) w,
                                                                        const int64_t w_next, int64_t w_step) {
  const PC_T sine = (PC_T)0.86602540378443865;
  #pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int64_t j = i * w_next, to = i * y_next, one = i + x_step, two = one + x_step;
    PC_T t_re = x.re[one] + x.re[two], t_im = x.im[one] + x.im[two];
    PC_T v_re = sine * (x.re[one] - x.re[two]), v_im = sine * (x.im[one] - x.im[two]);
    PC_T u_re = x.re[i] - (PC_T)0.5 * t_re, u_im = x.im[i] - (PC_T)0.5 * t_im;
    y.re[to] = x.re[i] + t_re;
    y.im[to] = x.im[i] + t_im;
    PC_NAME(pc_fft_put)(y, to + y_step, u_re + v_im, u_im - v_re, w, j);
    PC_NAME(pc_fft_put)(y, to + 2 * y_step, u_re - v_im, u_im + v_re, w, j + w_step);
  }
}

static inline __attribute__((always_inline)) void PC_NAME(pc_fft_four)(int64_t n, PC_NAME(pc_line) x, int64_t x_step, PC_NAME(pc_line) y,
                                                                       int64_t y_step, const int64_t y_next, PC_NAME(pc_line) w,
                                                                       const int64_t w_next, int64_t w_step) {
  #pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int64_t j = i * w_next, to = i * y_next, one = i + x_step, two = one + x_step, three = two + x_step;
    PC_T s_re = x.re[i] + x.re[two], s_im = x.im[i] + x.im[two], d_re = x.re[i] - x.re[two], d_im = x.im[i] - x.im[two];
    PC_T t_re = x.re[one] + x.re[three], t_im = x.im[one] + x.im[three];
    PC_T e_re = x.re[one] - x.re[three], e_im = x.im[one] - x.im[three];
    y.re[to] = s_re + t_re;
    y.im[to] = s_im + t_im;
    PC_NAME(pc_fft_put)(y, to + y_step, d_re + e_im, d_im - e_re, w, j);
    PC_NAME(pc_fft_put)(y, to + 2 * y_step, s_re - t_re, s_im - t_im, w, j + w_step);
    PC_NAME(pc_fft_put)(y, to + 3 * y_step, d_re - e_im, d_im + e_re, w, j + 2 * w_step);
  }
}

static inline __attribute__((always_inline)) void PC_NAME(pc_fft_five)(int64_t n, PC_NAME(pc_line) x, int64_t x_step, PC_NAME(pc_line) y,
                                                                       int64_t y_step, const int64_t y_next, PC_NAME(pc_line) w,
                                                                       const int64_t w_next, int64_t w_step) {
  const PC_T c1 = (PC_T)0.30901699437494742, c2 = (PC_T)-0.80901699437494742, s1 = (PC_T)0.95105651629515357, s2 = (PC_T)0.58778525229247313;
  #pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const int64_t j = i * w_next, to = i * y_next, one = i + x_step, two = one + x_step, three = two + x_step, four = three + x_step;
    PC_T t_re = x.re[one] + x.re[four], t_im = x.im[one] + x.im[four], d_re = x.re[one] - x.re[four], d_im = x.im[one] - x.im[four];
    PC_T p_re = x.re[two] + x.re[three], p_im = x.im[two] + x.im[three], e_re = x.re[two] - x.re[three], e_im = x.im[two] - x.im[three];
    PC_T u_re = x.re[i] + c1 * t_re + c2 * p_re, u_im = x.im[i] + c1 * t_im + c2 * p_im, v_re = s1 * d_re + s2 * e_re, v_im = s1 * d_im + s2 * e_im;
    PC_T q_re = x.re[i] + c2 * t_re + c1 * p_re, q_im = x.im[i] + c2 * t_im + c1 * p_im, z_re = s2 * d_re - s1 * e_re, z_im = s2 * d_im - s1 * e_im;
    y.re[to] = x.re[i] + t_re + p_re;
    y.im[to] = x.im[i] + t_im + p_im;
    PC_NAME(pc_fft_put)(y, to + y_step, u_re + v_im, u_im - v_re, w, j);
    PC_NAME(pc_fft_put)(y, to + 2 * y_step, q_re + z_im, q_im - z_re, w, j + w_step);
    PC_NAME(pc_fft_put)(y, to + 3 * y_step, q_re - z_im, q_im + z_re, w, j + 2 * w_step);
    PC_NAME(pc_fft_put)(y, to + 4 * y_step, u_re - v_im, u_im + v_re, w, j + 3 * w_step);
  }
}

/* An odd number r of elements, of which j and r - j are added and subtracted first. c, s: the cosines and sines of j/r of a turn. */
__attribute__((unused, noinline)) static void PC_NAME(pc_fft_odd)(int r, const PC_T *c, const PC_T *s, int64_t n, PC_NAME(pc_line) x,
                                                                  int64_t x_step, PC_NAME(pc_line) y, int64_t y_step, int64_t y_next,
                                                                  PC_NAME(pc_line) w, int64_t w_next, int64_t w_step) {
  const int half = r / 2;
  PC_T sum_re[PC_FFT_HALF][PC_FFT_LANES], sum_im[PC_FFT_HALF][PC_FFT_LANES], rest_re[PC_FFT_HALF][PC_FFT_LANES], rest_im[PC_FFT_HALF][PC_FFT_LANES];
  for (int64_t at = 0; at < n; at += PC_FFT_LANES) {
    const int lanes = n - at < PC_FFT_LANES ? (int)(n - at) : PC_FFT_LANES;
    PC_T a_re[PC_FFT_LANES], a_im[PC_FFT_LANES], u_re[PC_FFT_LANES], u_im[PC_FFT_LANES], v_re[PC_FFT_LANES], v_im[PC_FFT_LANES];
    for (int i = 0; i < lanes; i++) {
      a_re[i] = x.re[at + i];
      a_im[i] = x.im[at + i];
    }
    for (int k = 1; k <= half; k++) {
      const PC_T *near_re = x.re + at + k * x_step, *near_im = x.im + at + k * x_step;
      const PC_T *far_re = x.re + at + (r - k) * x_step, *far_im = x.im + at + (r - k) * x_step;
      for (int i = 0; i < lanes; i++) {
        sum_re[k - 1][i] = near_re[i] + far_re[i];
        sum_im[k - 1][i] = near_im[i] + far_im[i];
        rest_re[k - 1][i] = near_re[i] - far_re[i];
        rest_im[k - 1][i] = near_im[i] - far_im[i];
      }
    }
    for (int i = 0; i < lanes; i++) {
      u_re[i] = a_re[i];
      u_im[i] = a_im[i];
    }
    for (int k = 0; k < half; k++) {
      for (int i = 0; i < lanes; i++) {
        u_re[i] += sum_re[k][i];
        u_im[i] += sum_im[k][i];
      }
    }
    for (int i = 0; i < lanes; i++) {
      y.re[(at + i) * y_next] = u_re[i];
      y.im[(at + i) * y_next] = u_im[i];
    }
    for (int j = 1; j <= half; j++) {
      for (int i = 0; i < lanes; i++) {
        u_re[i] = a_re[i];
        u_im[i] = a_im[i];
        v_re[i] = v_im[i] = 0;
      }
      for (int k = 1, turn = 0; k <= half; k++) {
        turn = turn + j < r ? turn + j : turn + j - r;
        for (int i = 0; i < lanes; i++) {
          u_re[i] += c[turn] * sum_re[k - 1][i];
          u_im[i] += c[turn] * sum_im[k - 1][i];
          v_re[i] += s[turn] * rest_re[k - 1][i];
          v_im[i] += s[turn] * rest_im[k - 1][i];
        }
      }
      const PC_T *w_re = w.re + at * w_next + (j - 1) * w_step, *w_im = w.im + at * w_next + (j - 1) * w_step;
      const PC_T *z_re = w.re + at * w_next + (r - j - 1) * w_step, *z_im = w.im + at * w_next + (r - j - 1) * w_step;
      PC_T *near_re = y.re + at * y_next + j * y_step, *near_im = y.im + at * y_next + j * y_step;
      PC_T *far_re = y.re + at * y_next + (r - j) * y_step, *far_im = y.im + at * y_next + (r - j) * y_step;
      for (int i = 0; i < lanes; i++) {
        PC_T re = u_re[i] + v_im[i], im = u_im[i] - v_re[i];
        near_re[i * y_next] = re * w_re[i * w_next] - im * w_im[i * w_next];
        near_im[i * y_next] = re * w_im[i * w_next] + im * w_re[i * w_next];
      }
      for (int i = 0; i < lanes; i++) {
        PC_T re = u_re[i] - v_im[i], im = u_im[i] + v_re[i];
        far_re[i * y_next] = re * z_re[i * w_next] - im * z_im[i * w_next];
        far_im[i * y_next] = re * z_im[i * w_next] + im * z_re[i * w_next];
      }
    }
  }
}

static inline __attribute__((always_inline)) void PC_NAME(pc_fft_pass)(const int r, int64_t n, PC_NAME(pc_line) x, int64_t x_step,
                                                                       PC_NAME(pc_line) y, int64_t y_step, const int64_t y_next,
                                                                       PC_NAME(pc_line) w, const int64_t w_next, int64_t w_step) {
  if (r == 3) PC_NAME(pc_fft_three)(n, x, x_step, y, y_step, y_next, w, w_next, w_step);
  else if (r == 4) PC_NAME(pc_fft_four)(n, x, x_step, y, y_step, y_next, w, w_next, w_step);
  else PC_NAME(pc_fft_five)(n, x, x_step, y, y_step, y_next, w, w_next, w_step);
}

/* Computes one factor of a rest of r·m elements, of which `step` are neighbors. The first factor has one neighbor for each power, later ones
 * have `step` neighbors with the same power. */
static inline __attribute__((always_inline)) void PC_NAME(pc_fft_factor)(const int r, int64_t m, int64_t step, PC_NAME(pc_line) x,
                                                                         PC_NAME(pc_line) y, PC_NAME(pc_line) w) {
  if (step == 1) {
    PC_NAME(pc_fft_pass)(r, m, x, m, y, 1, r, w, 1, m);
    return;
  }
  for (int64_t p = 0; p < m; p++) {
    PC_NAME(pc_fft_pass)
    (r, step, PC_NAME(pc_line_at)(x, p * step), m * step, PC_NAME(pc_line_at)(y, p * r * step), step, 1, PC_NAME(pc_line_at)(w, p), 0, m);
  }
}

__attribute__((unused, noinline)) static void PC_NAME(pc_fft_odd_factor)(const int r, int64_t m, int64_t step, PC_NAME(pc_line) x,
                                                                         PC_NAME(pc_line) y, PC_NAME(pc_line) w) {
  PC_T c[PC_FFT_PRIME], s[PC_FFT_PRIME];
  for (int j = 0; j < r; j++) {
    pc_root root = pc_root_of(j, r);
    c[j] = (PC_T)root.re;
    s[j] = (PC_T)root.im;
  }
  if (step == 1) {
    PC_NAME(pc_fft_odd)(r, c, s, m, x, m, y, 1, r, w, 1, m);
    return;
  }
  for (int64_t p = 0; p < m; p++) {
    PC_NAME(pc_fft_odd)
    (r, c, s, step, PC_NAME(pc_line_at)(x, p * step), m * step, PC_NAME(pc_line_at)(y, p * r * step), step, 1, PC_NAME(pc_line_at)(w, p), 0, m);
  }
}

/* Transforms x, with y as room of the same length; returns the one that holds the result. */
__attribute__((unused, noinline)) static PC_NAME(pc_line) PC_NAME(pc_fft_run)(const PC_NAME(pc_fft_plan) *plan, PC_NAME(pc_line) x,
                                                                              PC_NAME(pc_line) y) {
  PC_NAME(pc_line) w = plan->powers;
  int64_t rest = plan->n, step = 1;
  for (int f = 0; f < plan->count; f++) {
    const int r = plan->factors[f];
    const int64_t m = rest / r;
    if (r == 4) PC_NAME(pc_fft_factor)(4, m, step, x, y, w);
    else if (r == 2) PC_NAME(pc_fft_two)(step, x, step, y, step);
    else if (r == 3) PC_NAME(pc_fft_factor)(3, m, step, x, y, w);
    else if (r == 5) PC_NAME(pc_fft_factor)(5, m, step, x, y, w);
    else PC_NAME(pc_fft_odd_factor)(r, m, step, x, y, w);
    w = PC_NAME(pc_line_at)(w, (r - 1) * m);
    rest = m;
    step *= r;
    PC_NAME(pc_line) other = x;
    x = y;
    y = other;
  }
  return x;
}
#endif
