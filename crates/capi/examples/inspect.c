/* Lists the entries of a bundle with the types of their inputs and outputs: ./inspect score.precast */
#include <precast.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "%s: %s\n", precast_status_name(precast_last_status()), precast_last_error());
  return 1;
}

/* Prints an input or output. */
static void print(const char *before, const precast_port *port) {
  printf("%s%s: %s", before, port->name, port->type);
}

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  if (precast_bundle_open(argc > 1 ? argv[1] : "score.precast", &bundle) != PRECAST_OK) {
    return failed();
  }
  for (size_t i = 0; i < precast_bundle_entry_count(bundle); i++) {
    const char *name = precast_bundle_entry_name(bundle, i);
    precast_function *function = NULL;
    precast_port port;
    if (precast_bundle_function(bundle, name, &function) != PRECAST_OK) {
      return failed();
    }
    printf("%s(", name);
    for (size_t k = 0; k < precast_function_input_count(function); k++) {
      if (precast_function_input(function, k, &port) != PRECAST_OK) {
        return failed();
      }
      print(k > 0 ? ", " : "", &port);
    }
    for (size_t k = 0; k < precast_function_output_count(function); k++) {
      if (precast_function_output(function, k, &port) != PRECAST_OK) {
        return failed();
      }
      print(k > 0 ? ", " : ") -> (", &port);
    }
    printf(")\n");
    precast_function_free(function);
  }
  precast_bundle_free(bundle);
  return 0;
}
