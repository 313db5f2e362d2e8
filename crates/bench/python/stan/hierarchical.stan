data {
  int n;
  array[n] int<lower=1, upper=6> group;
  vector[n] x;
  vector[n] y;
}
parameters {
  real centre;
  real<lower=0> spread;
  vector[6] a;
  real b;
  real<lower=0> noise;
}
model {
  centre ~ normal(0, 1);
  target += normal_lupdf(spread | 0, 1) + normal_lupdf(noise | 0, 1) + 2 * log2();
  a ~ normal(centre, spread);
  b ~ normal(0, 1);
  y ~ normal(a[group] + b * x, noise);
}
