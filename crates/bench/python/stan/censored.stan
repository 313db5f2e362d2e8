data {
  int low;
  int high;
  int n;
  vector[n] y;
}
parameters {
  real centre;
  real<lower=0> s;
}
model {
  centre ~ normal(0, 2);
  target += normal_lupdf(s | 0, 2) + log2();
  target += low * normal_lcdf(0 | centre, s) + high * normal_lccdf(2 | centre, s);
  y ~ normal(centre, s);
}
