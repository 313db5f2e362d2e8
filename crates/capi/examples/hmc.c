/* Samples a model package with Hamiltonian Monte Carlo: ./hmc model.precast [draws]
 *
 * The step size is adapted while the chain warms up; all masses are 1. `precast.pymc.export` writes packages. */
#include <math.h>
#include <precast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAPS = 12, MAX_DATA = 16, MAX_OUTPUTS = 64 };

static int failed(void) {
  fprintf(stderr, "%s: %s\n", precast_status_name(precast_last_status()), precast_last_error());
  return 1;
}

/* A generator of 64-bit numbers (splitmix64), and the numbers that it gives. */
static uint64_t state = 1;

static double uniform(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

/* A function of `q` and of data of the model, whose defaults the entry `data` gives. */
typedef struct {
  precast_function *function;
  precast_array inputs[1 + MAX_DATA];
  size_t count;
} entry;

static precast_function *data_entry;
static struct DLManagedTensorVersioned *data[MAX_DATA];

static int find(precast_bundle *bundle, const char *name, const precast_array *q, entry *found) {
  if (precast_bundle_function(bundle, name, &found->function) != PRECAST_OK) {
    return failed();
  }
  found->count = precast_function_input_count(found->function);
  if (found->count > 1 + MAX_DATA || found->count == 0) {
    fprintf(stderr, "%s has %zu inputs\n", name, found->count);
    return 1;
  }
  found->inputs[0] = *q;
  for (size_t i = 1; i < found->count; i++) {
    precast_port wanted, given;
    size_t k = 0;
    if (precast_function_input(found->function, i, &wanted) != PRECAST_OK) {
      return failed();
    }
    for (; k < precast_function_output_count(data_entry); k++) {
      if (precast_function_output(data_entry, k, &given) == PRECAST_OK && strcmp(wanted.name, given.name) == 0) {
        break;
      }
    }
    if (k == precast_function_output_count(data_entry) ||
        precast_array_from_dlpack(&data[k]->dl_tensor, PRECAST_READ_ONLY, &found->inputs[i]) != PRECAST_OK) {
      fprintf(stderr, "the package has no data `%s`\n", wanted.name);
      return 1;
    }
  }
  return 0;
}

/* The log density and its gradient. A point that the model rejects has density 0. */
static double density(const entry *gradient, precast_array *outputs) {
  double *value = outputs[0].data;
  if (precast_call(gradient->function, gradient->inputs, gradient->count, outputs, 2) != PRECAST_OK) {
    if (precast_last_status() != PRECAST_ERROR_OP) {
      exit(failed());
    }
    return -INFINITY;
  }
  return isfinite(*value) ? *value : -INFINITY;
}

/* The state of a chain: a point, its log density and gradient, and momenta; `old` has the point before the trajectory. */
typedef struct {
  size_t n;
  double *q, *g, *p, *old;
  double value;
} chain;

/* Moves along a trajectory. Returns the chance to accept its end. The old point is in `old`. */
static double move(chain *c, const entry *gradient, precast_array *outputs, double step) {
  memcpy(c->old, c->q, 2 * c->n * sizeof(double));
  double energy = 0, before = c->value, after = -INFINITY;
  for (size_t i = 0; i < c->n; i++) {
    c->p[i] = normal();
    before -= c->p[i] * c->p[i] / 2;
  }
  for (int leap = 0; leap < LEAPS; leap++) {
    for (size_t i = 0; i < c->n; i++) {
      c->p[i] += step / 2 * c->g[i];
      c->q[i] += step * c->p[i];
    }
    after = density(gradient, outputs);
    if (!isfinite(after)) {
      return 0;
    }
    for (size_t i = 0; i < c->n; i++) {
      c->p[i] += step / 2 * c->g[i];
    }
  }
  for (size_t i = 0; i < c->n; i++) {
    energy += c->p[i] * c->p[i] / 2;
  }
  return fmin(1, exp(after - energy - before));
}

/* The sums of each constrained number and of its square. Only variables of f64 are summed. */
static double *sums[MAX_OUTPUTS];
static int64_t sizes[MAX_OUTPUTS];

/* Adds the constrained values of the current point. */
static int add(const entry *constrain, size_t variables) {
  struct DLManagedTensorVersioned *values[MAX_OUTPUTS];
  if (precast_call_new(constrain->function, constrain->inputs, constrain->count, values, variables) != PRECAST_OK) {
    return failed();
  }
  for (size_t k = 0; k < variables; k++) {
    precast_array array;
    if (precast_array_from_dlpack(&values[k]->dl_tensor, PRECAST_READ_ONLY, &array) != PRECAST_OK) {
      return failed();
    }
    if (sums[k] == NULL) {
      sizes[k] = array.dtype == PRECAST_F64;
      for (int32_t axis = 0; axis < array.ndim; axis++) {
        sizes[k] *= array.shape[axis];
      }
      sums[k] = calloc(2 * (size_t)sizes[k] + 1, sizeof(double));
      if (sums[k] == NULL) {
        return 1;
      }
    }
    for (int64_t i = 0; i < sizes[k]; i++) {
      const double x = ((double *)array.data)[i];
      sums[k][i] += x;
      sums[k][sizes[k] + i] += x * x;
    }
    values[k]->deleter(values[k]);
  }
  return 0;
}

/* Prints mean and standard deviation of each constrained number. */
static int print(const entry *constrain, size_t variables, double draws) {
  for (size_t k = 0; k < variables; k++) {
    precast_port port;
    if (precast_function_output(constrain->function, k, &port) != PRECAST_OK) {
      return failed();
    }
    for (int64_t i = 0; i < sizes[k]; i++) {
      const double mean = sums[k][i] / draws, square = sums[k][sizes[k] + i] / draws;
      printf("%s[%lld] %.3f +- %.3f\n", port.name, (long long)i, mean, sqrt(square - mean * mean));
    }
    free(sums[k]);
  }
  return 0;
}

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  precast_function *initial = NULL;
  struct DLManagedTensorVersioned *start = NULL;
  size_t data_count = 0;
  const long draws = argc > 2 ? atol(argv[2]) : 4000, warm = 1000;
  if (precast_bundle_open(argc > 1 ? argv[1] : "model.precast", &bundle) != PRECAST_OK ||
      precast_bundle_function(bundle, "initial", &initial) != PRECAST_OK ||
      precast_call_new(initial, NULL, 0, &start, 1) != PRECAST_OK) {
    return failed();
  }
  if (precast_bundle_function(bundle, "data", &data_entry) == PRECAST_OK) {
    data_count = precast_function_output_count(data_entry);
    if (data_count > MAX_DATA || precast_call_new(data_entry, NULL, 0, data, data_count) != PRECAST_OK) {
      return failed();
    }
  }

  const size_t n = (size_t)start->dl_tensor.shape[0];
  const int64_t shape[] = {(int64_t)n};
  double *memory = calloc(5 * n + 1, sizeof(double)), step = 0.1;
  chain c = {n, memory, memory + n, memory + 2 * n, memory + 3 * n, 0}; /* q and g lie together, as in `old` */
  precast_array first = {0};
  if (memory == NULL || precast_array_from_dlpack(&start->dl_tensor, PRECAST_READ_ONLY, &first) != PRECAST_OK) {
    return failed();
  }
  memcpy(c.q, first.data, n * sizeof(double));
  const precast_array point = {c.q, shape, NULL, 1, PRECAST_F64, 0};
  double value = 0;
  precast_array outputs[] = {{&value, NULL, NULL, 0, PRECAST_F64, 0}, {c.g, shape, NULL, 1, PRECAST_F64, 0}};
  entry gradient, constrain;
  if (find(bundle, "log_density_gradient", &point, &gradient) != 0 || find(bundle, "constrain", &point, &constrain) != 0) {
    return 1;
  }
  const size_t variables = precast_function_output_count(constrain.function);
  if (variables > MAX_OUTPUTS) {
    fprintf(stderr, "the model has %zu variables, expected at most %d\n", variables, MAX_OUTPUTS);
    return 1;
  }

  long accepted = 0;
  c.value = density(&gradient, outputs);
  for (long draw = 0; draw < warm + draws; draw++) {
    const double chance = move(&c, &gradient, outputs, step * (0.8 + 0.4 * uniform()));
    if (uniform() < chance) {
      c.value = value;
      accepted += draw >= warm;
    } else {
      memcpy(c.q, c.old, 2 * n * sizeof(double));
    }
    if (draw < warm) {
      step *= exp((chance - 0.8) / sqrt((double)draw + 10));
    } else if (add(&constrain, variables) != 0) {
      return 1;
    }
  }
  printf("%ld draws, step %.3f, %.0f %% accepted\n", draws, step, 100.0 * (double)accepted / (double)draws);
  const int status = print(&constrain, variables, (double)draws);

  for (size_t k = 0; k < data_count; k++) {
    data[k]->deleter(data[k]);
  }
  start->deleter(start);
  precast_function_free(gradient.function);
  precast_function_free(constrain.function);
  precast_function_free(data_entry);
  precast_function_free(initial);
  precast_bundle_free(bundle);
  free(memory);
  return status;
}
