/* Calls a function with parts of arrays, which are read in place: ./strided score.precast */
#include <precast.h>
#include <stdio.h>

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  precast_function *score = NULL;
  if (precast_bundle_open(argc > 1 ? argv[1] : "score.precast", &bundle) != PRECAST_OK ||
      precast_bundle_function(bundle, "score", &score) != PRECAST_OK) {
    fprintf(stderr, "%s\n", precast_last_error());
    return 1;
  }
  precast_bundle_free(bundle);

  /* x is the second column of a matrix, y a vector from its end to its start, z one number for all elements. Strides are in
   * elements. */
  double matrix[3][2] = {{9.0, 0.0}, {9.0, 0.5}, {9.0, 1.0}}, vector[] = {3.0, 2.0, 1.0}, number = 5.0, out = 0.0;
  int64_t shape[] = {3}, columns[] = {2}, backward[] = {-1}, same[] = {0};
  precast_array inputs[] = {
      {&matrix[0][1], shape, columns, 1, PRECAST_F64, PRECAST_READ_ONLY},
      {&vector[2], shape, backward, 1, PRECAST_F64, PRECAST_READ_ONLY},
      {&number, shape, same, 1, PRECAST_F64, PRECAST_READ_ONLY},
  };
  precast_array output = {&out, NULL, NULL, 0, PRECAST_F64, 0};
  if (precast_call(score, inputs, 3, &output, 1) != PRECAST_OK) {
    fprintf(stderr, "%s\n", precast_last_error());
    return 1;
  }
  printf("score %.6f\n", out);
  precast_function_free(score);
  return 0;
}
