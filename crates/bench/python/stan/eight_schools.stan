data {
  vector[8] y;
  vector[8] error;
}
parameters {
  real centre;
  real<lower=0> spread;
  vector[8] effect;
}
model {
  centre ~ normal(0, 5);
  target += cauchy_lupdf(spread | 0, 5) + log2();
  effect ~ normal(0, 1);
  y ~ normal(centre + spread * effect, error);
}
