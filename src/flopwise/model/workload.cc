#include "flopwise/model/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

constexpr std::array<Mode, 4> kModes = {Mode::kTrain, Mode::kForward, Mode::kPrefill,
                                        Mode::kDecode};
constexpr std::int64_t kDefaultSeq = 2048;

void check_size(std::int64_t value, const char* option) {
  if (value >= 1 && value <= kMaxAxisSize) return;
  throw UserError(fmt::format("{}: expected a whole number of 1 ... 2^40, got {}", option, value));
}

void refuse(bool condition, const std::string& message) {
  if (condition) throw UserError(message);
}

std::int64_t default_seq(const Model& model) {
  return model.context > 0 ? std::min(kDefaultSeq, model.context) : kDefaultSeq;
}

void check_masks(const Model& model, const Workload& workload) {
  const auto check = [&](const Stack& stack, std::int64_t queries, std::int64_t keys) {
    for (const LayerGroup& group : stack.groups) {
      if (!group.layer.attention) continue;
      const AttentionMask& mask = group.layer.attention->mask;
      const std::string problem = mask_problem({mask.kind, mask.size}, queries, keys);
      refuse(!problem.empty(), fmt::format("{}: {}: {}", model.name, group.name, problem));
    }
  };
  const bool encoder_only = model.architecture == Architecture::kEncoder;
  if (model.encoder && encodes_source(workload)) {
    const std::int64_t length = encoder_only ? workload.seq_len : workload.source;
    check(*model.encoder, length, length);
  }
  if (model.decoder) check(*model.decoder, workload.seq_len, workload.context);
}

}  // namespace

bool encodes_source(const Workload& workload) {
  const bool continues_a_prompt =
      workload.mode == Mode::kPrefill && workload.context > workload.seq_len;
  return workload.mode != Mode::kDecode && !continues_a_prompt;
}

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::kTrain:
      return "train";
    case Mode::kForward:
      return "forward";
    case Mode::kPrefill:
      return "prefill";
    case Mode::kDecode:
      return "decode";
  }
  return "";
}

Mode parse_mode(std::string_view text) {
  for (const Mode mode : kModes) {
    if (text == name_of(mode)) return mode;
  }
  throw UserError(
      fmt::format("--mode: expected train, forward, prefill or decode, got {}", quoted(text)));
}

AttentionKernel parse_attention_kernel(std::string_view text) {
  if (text == "flash") return AttentionKernel::kFlash;
  if (text == "plain") return AttentionKernel::kPlain;
  throw UserError(fmt::format("--attention-kernel: expected flash or plain, got {}", quoted(text)));
}

LatentMode parse_latent_mode(std::string_view text) {
  if (text == "absorbed") return LatentMode::kAbsorbed;
  if (text == "expanded") return LatentMode::kExpanded;
  throw UserError(fmt::format("--mla: expected absorbed or expanded, got {}", quoted(text)));
}

Logits parse_logits(std::string_view text) {
  if (text == "all") return Logits::kAll;
  if (text == "last") return Logits::kLast;
  throw UserError(fmt::format("--logits: expected all or last, got {}", quoted(text)));
}

Workload resolve(const WorkloadRequest& request, const Model& model) {
  const bool decode = request.mode == Mode::kDecode;
  const bool prefill = request.mode == Mode::kPrefill;
  const bool reads_source = has_source(model);
  refuse((decode || prefill) && model.architecture == Architecture::kEncoder,
         fmt::format("--mode {}: {} is an encoder and has neither; expected train or forward",
                     name_of(request.mode), model.name));
  refuse(request.context != 0 && !decode && !prefill,
         fmt::format("--context: only prefill and decode attend to more than T positions, got it "
                     "with --mode {}",
                     name_of(request.mode)));
  refuse(decode && request.context == 0,
         "--mode decode: expected --context S, all positions attended including the new ones");
  refuse(request.source != 0 && !reads_source,
         fmt::format("--source: only an encoder-decoder has a source, {} is not one", model.name));

  refuse(
      !request.logits.empty() && model.architecture == Architecture::kEncoder,
      fmt::format("--logits: {} is an encoder and has no last position to single out", model.name));

  Workload workload;
  workload.mode = request.mode;
  workload.kernel = request.kernel;
  workload.latent = request.latent;
  workload.lora = request.lora;
  workload.batch = request.batch;
  workload.seq_len = request.seq_len != 0 ? request.seq_len : decode ? 1 : default_seq(model);
  workload.context = request.context != 0 ? request.context : workload.seq_len;
  const std::int64_t usual_source =
      model.source_context > 0 ? model.source_context : workload.seq_len;
  workload.source = !reads_source ? 0 : request.source != 0 ? request.source : usual_source;
  workload.logits = prefill ? Logits::kLast : Logits::kAll;
  if (!request.logits.empty()) workload.logits = parse_logits(request.logits);

  check_size(workload.batch, "--batch");
  check_size(workload.seq_len, "--seq");
  check_size(workload.context, "--context");
  if (reads_source) check_size(workload.source, "--source");
  refuse(workload.context < workload.seq_len, fmt::format("--context: expected S >= T = {}, got {}",
                                                          workload.seq_len, workload.context));
  refuse(workload.mode == Mode::kTrain && workload.logits == Logits::kLast,
         "--logits: training needs the logits of all positions, got 'last'");
  check_masks(model, workload);
  return workload;
}

std::vector<std::string> assumptions_of(const Workload& workload, const Model& model) {
  std::vector<std::string> assumptions;
  const std::int64_t rows = model.embedding.positions;
  if (rows > 0 && workload.context > rows) {
    assumptions.push_back(
        fmt::format("{} positions, though the model has learned {}; a longer table is not counted",
                    workload.context, rows));
  } else if (model.context > 0 && workload.context > model.context) {
    assumptions.push_back(fmt::format("{} positions, though the model is made for {}",
                                      workload.context, model.context));
  }
  const std::int64_t source_rows = model.embedding.source_positions;
  if (source_rows > 0 && workload.source > source_rows) {
    assumptions.push_back(fmt::format(
        "{} source positions, though the model has learned {}; a longer table is not counted",
        workload.source, source_rows));
  }
  return assumptions;
}

}  // namespace flopwise
