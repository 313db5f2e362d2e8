static int tadd_same_shape(const pc_tensor *a, const pc_tensor *b) {
  return a->ndim == 1 && b->ndim == 1 && a->shape[0] == b->shape[0];
}
