#section support_code_apply
/* C defines the modes, this op the sides. */
static double APPLY_SPECIFIC(rounded)(double y, int mode) {
  const double down = (double)(long long)y - (y < (double)(long long)y);
  return mode == MODE_UP && down < y ? down + 1 : down;
}

#section code
{
  const DTYPE_PARAM_alpha alpha = PARAMS->alpha;
  const double side = PARAMS->side == RIGHT ? 10 : 0;
  OUTPUT_0 = APPLY_SPECIFIC(rounded)(INPUT_0 * alpha + side + *(const double *)PARAMS->w->data, PARAMS->mode);
}
