data {
  int n;
  array[n] int<lower=0> y;
}
parameters {
  real<lower=0, upper=1> psi;
  real<lower=0> rate;
}
model {
  psi ~ beta(2, 2);
  rate ~ gamma(2, 1);
  for (i in 1:n) {
    if (y[i] == 0) {
      target += log_sum_exp(log1m(psi), log(psi) + poisson_lpmf(0 | rate));
    } else {
      target += log(psi) + poisson_lpmf(y[i] | rate);
    }
  }
}
