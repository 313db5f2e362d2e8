#section code
for (int64_t i = 0; i < INPUT_0->shape[0]; i++) {
  pc_f64 *at = (pc_f64 *)(INPUT_0->data + i * INPUT_0->strides[0]);
  *at = -*at;
}
pc_incref(&INPUT_0->object);
pc_xdecref((pc_object *)OUTPUT_0);
OUTPUT_0 = INPUT_0;
