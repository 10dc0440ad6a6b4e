#include "flopwise/proof/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "flopwise/exec/pairs.h"
#include "flopwise/proof/job.h"
#include "flopwise/proof/ledger.h"
#include "flopwise/proof/parallel.h"
#include "flopwise/proof/shrink.h"
#include "flopwise/proof/sizes.h"

namespace flopwise {
namespace {

// ---- masks -------------------------------------------------------------------------------------

// Every T, S and mask size of a box that holds every branch of every formula.
void prove_mask(const PairMask& mask, Ledger& ledger) {
  constexpr std::int64_t kLongest = 9;
  const Expr queries = Expr::symbol("T");
  const Expr keys = Expr::symbol("S");
  const Expr pairs = live_pairs(mask, queries, keys);
  const Expr seen = keys_seen(mask, queries, keys);
  const bool sized = mask.kind != MaskKind::kFull && mask.kind != MaskKind::kCausal;
  for (std::int64_t t = 1; t <= kLongest; ++t) {
    for (std::int64_t s = 1; s <= kLongest; ++s) {
      if (!mask_problem(mask, t, s).empty()) continue;
      for (std::int64_t size = 1; size <= (sized ? kLongest + 2 : 1); ++size) {
        Sizes sizes = {
            {"T", t},
            {"S", s}
        };
        if (sized) sizes[*mask.size.symbols().begin()] = size;
        const auto live = exec::live_keys({mask.kind, size}, t, s);
        std::int64_t counted = 0;
        std::set<std::int64_t> distinct;
        for (const auto& row : live) {
          counted += static_cast<std::int64_t>(row.size());
          distinct.insert(row.begin(), row.end());
        }
        const std::string place =
            fmt::format("{} mask, T={} S={} size {}", name_of(mask.kind), t, s, size);
        ledger.equal("mask.pairs", pairs.eval_count(sizes, "pairs"), counted, place);
        ledger.equal("mask.keys_seen", seen.eval_count(sizes, "keys"),
                     static_cast<std::int64_t>(distinct.size()), place);
      }
    }
  }
}

std::vector<PairMask> masks_of(const Model& model) {
  std::vector<PairMask> masks;
  const auto add = [&](const Attention& attention) {
    const MaskKind kind = attention.mask.kind;
    const auto same = [&](const PairMask& known) { return known.kind == kind; };
    if (std::none_of(masks.begin(), masks.end(), same)) {
      masks.push_back({kind, Expr::symbol("W")});
    }
  };
  for (const std::optional<Stack>* stack : {&model.encoder, &model.decoder}) {
    if (!*stack) continue;
    for (const LayerGroup& group : (*stack)->groups) {
      add(group.layer.attention);
      if (group.layer.cross) add(*group.layer.cross);
    }
  }
  return masks;
}

std::string branches_of(const PairMask& mask) {
  switch (mask.kind) {
    case MaskKind::kFull:
    case MaskKind::kCausal:
      return fmt::format("{}: one branch", name_of(mask.kind));
    case MaskKind::kWindow:
      return "window: W < T, T <= W < S, W >= S";
    case MaskKind::kChunk:
      return "chunk: C divides T, C does not divide T, C > S";
    case MaskKind::kTwoSidedWindow:
      return "two-sided window: h < T - 1, h >= T - 1";
    case MaskKind::kPrefix:
      return "prefix: P < T, P >= T";
  }
  return "";
}

// ---- draws -------------------------------------------------------------------------------------

// Random draws through all mask regimes; then, from the first of each regime, one letter at a time,
// as often as its degree.
std::vector<SizeDraw> draws_for(const Model& model, const ProveOptions& options) {
  constexpr std::uint64_t kSeed = 2026;
  std::vector<SizeDraw> draws;
  for (int i = 0; i < options.random_draws; ++i) {
    draws.emplace_back(kSeed + static_cast<std::uint64_t>(i),
                       static_cast<MaskRegime>(i % kMaskRegimes));
  }
  if (!options.vary_each_letter) return draws;
  SizeDraw first = draws.at(0);
  shrink(model, first);
  for (const auto& [letter, size] : first.sizes()) {
    for (std::int64_t steps = 1; steps <= degree_of(letter); ++steps) {
      SizeDraw varied = draws[0];
      varied.vary(letter, steps);
      draws.push_back(varied);
    }
  }
  return draws;
}

}  // namespace

Proof prove_model(const Model& model, const ProveOptions& options) {
  std::vector<AttentionKernel> kernels = options.kernels;
  if (kernels.empty()) kernels = {AttentionKernel::kFlash, AttentionKernel::kPlain};
  std::vector<Job> jobs;
  for (const SizeDraw& draw : draws_for(model, options)) {
    for (const AttentionKernel kernel : kernels) {
      jobs.push_back({draw, kernel});
    }
  }
  std::vector<Ledger> ledgers(jobs.size());
  for_each_parallel(jobs.size(), options.threads,
                    [&](std::size_t i) { ledgers[i] = run_job(model, options, jobs[i]); });
  Proof proof;
  proof.model = model.name;
  Ledger ledger;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ledger.merge(ledgers[i]);
    if (i % kernels.size() != 0) continue;
    SizeDraw draw = jobs[i].draw;
    shrink(model, draw);
    proof.draws.push_back(draw.str());
  }
  for (const PairMask& mask : masks_of(model)) {
    prove_mask(mask, ledger);
    proof.branches.push_back(branches_of(mask));
  }
  ledger.write_to(proof);
  return proof;
}

}  // namespace flopwise
