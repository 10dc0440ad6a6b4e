// `flopwise serve`: the estimate of a deployment, or of the best there is, as text and JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flopwise/base/json.h"
#include "flopwise/plan/serve.h"
#include "flopwise/report/explain.h"

namespace flopwise {

struct ServePlanRequest {
  std::optional<Parallelism> mesh;
  std::int64_t batch = 0;  // 0: the largest that fits and meets the times
  std::size_t top = 1;
  std::vector<std::string> weights;  // element types to choose from; empty: that of the request
};

// The element types of "bf16,fp8,int4"; none where only one is named.
std::vector<std::string> weights_to_choose_from(std::string_view text);

struct ServeAnswer {
  std::shared_ptr<const Server> server;
  ServeEstimate estimate;
  std::vector<std::string> assumptions;
  std::int64_t max_batch = 0;         // that fits
  std::optional<ServeSearch> search;  // where no mesh was given
  // Dollars per million tokens read and written; nothing without a price.
  std::optional<double> input_usd;
  std::optional<double> output_usd;

  // The answer is no where it does not fit, or is slower than asked.
  bool is_yes() const { return estimate.fits && estimate.meets_slo; }
};

// UserError where the mesh does not divide the model, or no mesh does.
ServeAnswer answer_serve(const Model& model, const ServeRequest& request,
                         const ServePlanRequest& plan);
Json serve_json(const ServeAnswer& answer);
std::string serve_text(const ServeAnswer& answer, Explain explain);

}  // namespace flopwise
