data {
  int n;
  int levels;
  vector[n] x;
  array[n] int<lower=1, upper=levels> y;
}
parameters {
  ordered[levels - 1] cut;
  real b;
}
model {
  cut ~ normal(0, 5);
  b ~ normal(0, 1);
  y ~ ordered_logistic(b * x, cut);
}
