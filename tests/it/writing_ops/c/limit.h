/* One number within limits: the nearest there, or wrapped round. */
static inline double limit_one(double x, double low, double high, int wraps) {
  double span = high - low;
  while (wraps && span > 0 && x < low) x += span;
  while (wraps && span > 0 && x >= high) x -= span;
  return x < low ? low : x > high ? high : x;
}
