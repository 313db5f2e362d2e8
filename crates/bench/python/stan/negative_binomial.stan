data {
  int n;
  array[n] int<lower=1, upper=20> group;
  matrix[n, 5] x;
  array[n] int<lower=0> y;
}
parameters {
  real<lower=0> spread;
  vector[20] a;
  vector[5] b;
  real<lower=0> alpha;
}
model {
  target += normal_lupdf(spread | 0, 1) + log2();
  a ~ normal(0, spread);
  b ~ normal(0, 1);
  alpha ~ exponential(1);
  y ~ neg_binomial_2_log(a[group] + x * b, alpha);
}
