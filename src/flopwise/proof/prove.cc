#include "flopwise/proof/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/parallel.h"
#include "flopwise/exec/pairs.h"
#include "flopwise/proof/job.h"
#include "flopwise/proof/ledger.h"
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
      if (group.layer.attention) add(*group.layer.attention);
      if (group.layer.cross) add(*group.layer.cross);
    }
  }
  return masks;
}

// Which branches of the pair counts a draw takes.
std::vector<std::string> branches_of(SizeDraw& draw) {
  const std::int64_t queries = draw.of("T");
  const std::int64_t keys = draw.positions();
  std::vector<std::string> branches;
  for (const auto& [letter, size] : draw.sizes()) {
    if (letter.size() > 1 && letter[1] != '\'') continue;  // a letter of another kind, such as Cq
    switch (letter[0]) {
      case 'W':
        branches.emplace_back(size < queries ? "W < T" : size < keys ? "T <= W < S" : "W >= S");
        break;
      case 'C':
        branches.emplace_back(size > keys           ? "C > S"
                              : queries % size == 0 ? "C divides T"
                                                    : "C does not divide T");
        break;
      case 'h':
        branches.emplace_back(size < queries - 1 ? "h < T - 1" : "h >= T - 1");
        break;
      case 'P':
        branches.emplace_back(size < queries ? "P < T" : "P >= T");
        break;
      default:
        break;
    }
  }
  return branches;
}

// ---- draws -------------------------------------------------------------------------------------

const std::vector<RematPolicy>& named_policies() {
  static const std::vector<RematPolicy> kPolicies = {
      RematPolicy{RematKind::kNone,      {}},
      RematPolicy{RematKind::kAttention, {}},
      RematPolicy{RematKind::kMatmuls,   {}},
      RematPolicy{RematKind::kBlock,     {}},
      RematPolicy{RematKind::kFull,      {}}
  };
  return kPolicies;
}

// Random draws through all mask regimes; then, from the first, one letter at a time, as often as
// its degree (docs/proof.md). The first draw of each regime and those of one letter run under every
// policy and kernel and are compared in everything; the other random ones count, under one policy
// and kernel in turn.
std::vector<Job> jobs_for(const Model& model, const ProveOptions& options) {
  constexpr std::uint64_t kSeed = 2026;
  std::vector<AttentionKernel> kernels = options.kernels;
  if (kernels.empty()) kernels = {AttentionKernel::kFlash, AttentionKernel::kPlain};
  const std::vector<RematPolicy>& policies =
      options.policies.empty() ? named_policies() : options.policies;
  std::vector<Job> jobs;
  const auto look_closely = [&](const SizeDraw& draw, bool counts_only = false) {
    for (const AttentionKernel kernel : kernels) {
      jobs.push_back({draw, kernel, policies, counts_only});
    }
  };
  for (int i = 0; i < options.random_draws; ++i) {
    const SizeDraw draw(kSeed + static_cast<std::uint64_t>(i),
                        static_cast<MaskRegime>(i % kMaskRegimes));
    if (i < kMaskRegimes) {
      look_closely(draw);
      continue;
    }
    const auto turn = static_cast<std::size_t>(i);
    jobs.push_back(
        {draw, kernels[turn % kernels.size()], {policies[turn % policies.size()]}, true});
  }
  if (!options.vary_each_letter) return jobs;
  SizeDraw base = jobs.at(0).draw;
  shrink(model, base);
  for (const auto& [letter, size] : base.sizes()) {
    for (std::int64_t steps = 1; steps <= degree_of(letter); ++steps) {
      SizeDraw varied = jobs[0].draw;
      varied.vary(letter, steps);
      look_closely(varied, !options.letters_in_full);
    }
  }
  return jobs;
}

// What holds of a tower joins what holds of the model beside it, under its own names.
void add_tower(const std::string& name, const Proof& tower, Proof& proof) {
  for (ProofRow row : tower.rows) {
    row.block = name + "." + row.block;
    proof.rows.push_back(std::move(row));
  }
  for (ProofCheck check : tower.checks) {
    check.name = name + "." + check.name;
    proof.checks.push_back(std::move(check));
  }
  proof.runs += tower.runs;
  proof.operations += tower.operations;
  proof.comparisons += tower.comparisons;
}

// ---- what a proof depends on -------------------------------------------------------------------

// All that a run sees of a model. Not in it: where the model comes from, and what no run reads.
struct Shrunk {
  Model model;
  std::string sizes;  // of the draw, those of the step included
  friend bool operator==(const Shrunk&, const Shrunk&) = default;
};

std::vector<Shrunk> subject_of(const Model& model, const ProveOptions& options) {
  std::vector<Shrunk> subject;
  for (const Job& job : jobs_for(model, options)) {
    SizeDraw draw = job.draw;
    Model shrunk = shrink(model, draw);
    shrunk.name = shrunk.family = shrunk.source = "";
    shrunk.assumptions.clear();
    shrunk.mtp.reset();
    subject.push_back({std::move(shrunk), draw.str()});
  }
  for (const Tower& tower : model.towers) {
    const std::vector<Shrunk> beside = subject_of(*tower.model, options);
    subject.insert(subject.end(), beside.begin(), beside.end());
  }
  return subject;
}

Proof prove_one(const Model& model, const ProveOptions& options) {
  const std::vector<Job> jobs = jobs_for(model, options);
  std::vector<Ledger> ledgers(jobs.size());
  std::mutex reporting;
  std::size_t done = 0;
  for_each_parallel(jobs.size(), options.threads, [&](std::size_t i) {
    ledgers[i] = run_job(model, options, jobs[i]);
    const std::lock_guard lock(reporting);
    ++done;
    if (options.progress) options.progress(done, jobs.size());
  });
  Proof proof;
  proof.model = model.name;
  proof.models = {model.name};
  Ledger ledger;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ledger.merge(ledgers[i]);
    SizeDraw draw = jobs[i].draw;
    shrink(model, draw);
    if (contains(proof.draws, draw.str())) continue;  // with another kernel
    proof.draws.push_back(draw.str());
    for (std::string& branch : branches_of(draw)) {
      if (!contains(proof.branches, branch)) proof.branches.push_back(std::move(branch));
    }
  }
  for (const PairMask& mask : masks_of(model)) prove_mask(mask, ledger);
  ledger.write_to(proof);
  return proof;
}

}  // namespace

Proof prove_model(const Model& model, const ProveOptions& options) {
  Proof proof = prove_one(model, options);
  for (const Tower& tower : model.towers) {
    add_tower(tower.name, prove_one(*tower.model, options), proof);
  }
  return proof;
}

std::vector<Proof> prove_models(const std::vector<Model>& models, const ProveOptions& options,
                                const Announce& announce) {
  struct Group {
    std::vector<Shrunk> subject;
    const Model* first;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const Model& model : models) {
    std::vector<Shrunk> subject = subject_of(model, options);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.subject == subject; });
    if (same != groups.end()) {
      same->names.push_back(model.name);
    } else {
      groups.push_back({std::move(subject), &model, {model.name}});
    }
  }
  std::vector<Proof> proofs;
  for (const Group& group : groups) {
    announce(group.first->name, proofs.size() + 1, groups.size());
    proofs.push_back(prove_model(*group.first, options));
    proofs.back().models = group.names;
  }
  return proofs;
}

}  // namespace flopwise
