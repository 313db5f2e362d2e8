data {
  int n;
  array[n] real x;
  vector[n] y;
}
transformed data {
  vector[n] zero = rep_vector(0, n);
}
parameters {
  real<lower=0> eta;
  real<lower=0> ell;
  real<lower=0> noise;
}
model {
  target += normal_lupdf(eta | 0, 1) + normal_lupdf(noise | 0, 1) + 2 * log2();
  ell ~ gamma(2, 1);
  matrix[n, n] cov = add_diag(gp_matern52_cov(x, eta, ell), noise ^ 2 + 1e-6);
  y ~ multi_normal_cholesky(zero, cholesky_decompose(cov));
}
