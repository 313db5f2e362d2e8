// Calls the entries of a bundle, in C++: ./score_cc score.precast
#include <precast.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(precast_status status) {
  if (status != PRECAST_OK) {
    throw std::runtime_error(std::string(precast_status_name(status)) + ": " + precast_last_error());
  }
}

struct Free {
  void operator()(precast_bundle *bundle) const { precast_bundle_free(bundle); }
  void operator()(precast_function *function) const { precast_function_free(function); }
  void operator()(DLManagedTensorVersioned *tensor) const { tensor->deleter(tensor); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

Owned<precast_bundle> open(const char *path) {
  precast_bundle *bundle = nullptr;
  check(precast_bundle_open(path, &bundle));
  return Owned<precast_bundle>(bundle);
}

Owned<precast_function> find(const precast_bundle &bundle, const char *name) {
  precast_function *function = nullptr;
  check(precast_bundle_function(&bundle, name, &function));
  return Owned<precast_function>(function);
}

}  // namespace

int main(int argc, char **argv) try {
  const auto bundle = open(argc > 1 ? argv[1] : "score.precast");
  const auto score = find(*bundle, "score");

  // Arrays of this program; the result is a new one, as a tensor of DLPack.
  std::vector<double> x{0.0, 0.5, 1.0}, y{1.0, 2.0, 3.0}, z{4.0, 5.0, 6.0};
  const std::int64_t shape[] = {3};
  const auto array = [&](std::vector<double> &values) {
    return precast_array{values.data(), shape, nullptr, 1, PRECAST_F64, 0};
  };
  const precast_array inputs[] = {array(x), array(y), array(z)};
  DLManagedTensorVersioned *result = nullptr;
  check(precast_call_new(score.get(), inputs, 3, &result, 1));
  const Owned<DLManagedTensorVersioned> out(result);
  std::printf("score %.6f\n", *static_cast<const double *>(out->dl_tensor.data));

  // A plain C function: its type is checked once, and a call is an indirect call.
  const auto gauss = find(*bundle, "gauss");
  precast_native native = nullptr;
  check(precast_function_native(gauss.get(), "d)d", &native));
  std::printf("gauss %.6f\n", reinterpret_cast<double (*)(double)>(native)(0.5));
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
