data {
  int n;
  vector[n] y;
}
parameters {
  real<lower=0> s;
  vector[n] walk;
  real<lower=0> noise;
}
model {
  target += normal_lupdf(s | 0, 1) + normal_lupdf(noise | 0, 1) + 2 * log2();
  walk[1] ~ normal(0, 1);
  walk[2:n] ~ normal(walk[1:(n - 1)], s);
  y ~ student_t(4, walk, noise);
}
