// A program of Stan as a library with three functions, compiled with `-DPROGRAM="the header that stanc writes"`.
#include PROGRAM

#include <algorithm>
#include <iostream>
#include <sstream>
#include <stan/io/json/json_data.hpp>

namespace {
template <bool has_constants>
double gradient(const stan::model::model_base *model, const double *q, double *out) {
    const Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(q, model->num_params_r());
    Eigen::VectorXd slope;
    double value;
    const auto density = [&](auto &x) {
        return has_constants ? model->log_prob_jacobian(x, &std::cerr)
                             : model->log_prob_propto_jacobian(x, &std::cerr);
    };
    stan::math::gradient(density, at, value, slope);
    std::copy_n(slope.data(), slope.size(), out);
    return value;
}
} // namespace

// Creates a model from its data, a JSON object; it is never freed.
extern "C" const void *density_open(const char *data) {
    std::istringstream in(data);
    stan::json::json_data values(in);
    return static_cast<stan::model::model_base *>(new stan_model(values, 1, &std::cerr));
}

// Returns the log density with all constants, and writes its gradient.
extern "C" double density_whole(const void *model, const double *q, double *out) {
    return gradient<true>(static_cast<const stan::model::model_base *>(model), q, out);
}

// Returns the log density without constants, which samplers use, and writes its gradient.
extern "C" double density_gradient(const void *model, const double *q, double *out) {
    return gradient<false>(static_cast<const stan::model::model_base *>(model), q, out);
}
