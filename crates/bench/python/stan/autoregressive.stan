data {
  int n;
  vector[n] y;
}
parameters {
  vector[2] rho;
  real<lower=0> s;
}
model {
  rho ~ normal(0, 0.5);
  target += normal_lupdf(s | 0, 1) + log2();
  y[1:2] ~ normal(0, 1);
  y[3:n] ~ normal(rho[1] * y[2:(n - 1)] + rho[2] * y[1:(n - 2)], s);
}
