// What the fuzz targets share. A target ends normally when its reader gives a result or a
// UserError; an InternalError, any other exception, a crash, a leak, 10 seconds or 512 MB are
// findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/report/count.h"

namespace flopwise::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs `body`; false when it ends in a UserError, whose message must be something to print.
template <typename Body>
bool accepts(Body&& body) {
  constexpr std::size_t kLongestMessage = 4096;
  try {
    body();
    return true;
  } catch (const UserError& error) {
    const std::string message = error.what();
    FLOPWISE_CHECK(!message.empty() && message.size() <= kLongestMessage, "a message of no use");
    FLOPWISE_CHECK(message.find('\n') == std::string::npos, "a message of several lines");
    return false;
  }
}

// FNV-1a: picks what is asked of an input, the same for the same input everywhere.
inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

inline void check_json(const Json& json) {
  FLOPWISE_CHECK(nlohmann::json::accept(json.str()), "a report that is no JSON");
}

// The formula reads back from its text, and where a value stands beside it, it is the formula's.
inline void check_formula(const Expr& formula) {
  FLOPWISE_CHECK(parse_expr(formula.str()) == formula, "a formula that reads back as another");
}

// Counts one step of `model`, which one by `choice`, and checks the report. UserError where model
// and step do not go together or a count does not fit.
inline void count_and_check(const Model& model, std::uint64_t choice) {
  constexpr std::size_t kMostKinds = 6;  // of layers: each is a graph of its own
  const auto kinds = [](const std::optional<Stack>& stack) {
    return stack ? stack->groups.size() : 0;
  };
  if (kinds(model.encoder) + kinds(model.decoder) > kMostKinds) return;
  const auto pick = [&](std::uint64_t choices) {
    const std::uint64_t picked = choice % choices;
    choice /= choices;
    return picked;
  };
  constexpr Mode kModes[] = {Mode::kTrain, Mode::kForward, Mode::kPrefill, Mode::kDecode};
  constexpr const char* kRemats[] = {"none", "attention", "matmuls", "block", "full"};
  CountRequest request;
  request.workload.mode = kModes[pick(std::size(kModes))];
  request.workload.kernel = pick(2) == 0 ? AttentionKernel::kFlash : AttentionKernel::kPlain;
  request.workload.seq_len = pick(2) == 0 ? 0 : 3;
  if (request.workload.mode == Mode::kDecode) request.workload.context = 10;
  if (request.workload.mode == Mode::kTrain) {
    request.remat = parse_remat(kRemats[pick(std::size(kRemats))]);
  }
  request.fusion = pick(2) == 0 ? Fusion::kFused : Fusion::kUnfused;
  const CountResult result = count_model(model, request);
  for (const BlockCost& block : result.cost.blocks) {
    for (const OpCost& op : block.ops) {
      check_formula(op.flops.formula);
      check_formula(op.bytes.formula);
    }
  }
  check_json(count_json({result}));
  count_text({result}, pick(2) == 0 ? Explain::kNo : Explain::kYes);
}

}  // namespace flopwise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
