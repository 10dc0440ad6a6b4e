#include "flopwise/proof/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

struct Claim {
  std::string_view name;
  const char* claim;
};
constexpr std::array<Claim, 21> kClaims = {
    {{"execution", "every step finds what it reads"},
     {"params.total", "elements of all parameters that the run was given = the formula"},
     {"params.by_component", "the same, of each component"},
     {"flops", "counts of all operations and layers, by class and pass = the totals"},
     {"activations.saved_bytes", "bytes alive between forward and backward = the formula"},
     {"activations.peak_bytes",
      "most bytes alive at once, every operation to memory = the formula"},
     {"kv_cache.bytes_total", "bytes of all caches after each step = the formula"},
     {"kv_cache.state_bytes", "bytes of the states of recurrences after each step = the formula"},
     {"kv_cache.keys_read", "key positions that a step reads from each cache = the formula"},
     {"mask.pairs",
      "pairs let through one by one, every T, S and mask size in a box = the formula"},
     {"mask.keys_seen", "keys that some query sees, every size in the same box = the formula"},
     {"gradients", "derived gradients, along a random direction = the derivative by dual numbers"},
     {"gradients.alive", "every parameter has a gradient that is not 0 throughout"},
     {"gradients.remat",
      "gradients under each policy = those without rematerialisation, bit for bit"},
     {"gradients.kernels", "gradients with flash attention = those with plain attention"},
     {"flash.contractions", "attention FLOPs of kernels that work block by block = the formulas"},
     {"decode", "outputs token by token with a cache = the full forward pass"},
     {"prefill", "last outputs of a prompt, in one piece or two = the full forward pass"},
     {"einsum.steps", "counts of each step = the formula that `einsum` prints for it"},
     {"einsum.flops", "counts of all steps = the FLOPs that `einsum` prints"},
     {"output", "the einsum, step by step = one loop over all axes"}}
};

}  // namespace

bool Proof::holds() const {
  const auto row_holds = [](const ProofRow& row) { return !row.mismatch; };
  const auto check_holds = [](const ProofCheck& check) { return !check.failure; };
  return std::all_of(rows.begin(), rows.end(), row_holds) &&
         std::all_of(checks.begin(), checks.end(), check_holds);
}

ProofRow& Ledger::row(const ProofRow& like) {
  const auto [place, is_new] = places_.try_emplace(
      {like.mode, like.block, like.pass, like.op, like.formula.str()}, rows_.size());
  if (is_new) {
    rows_.push_back(like);
    rows_.back().comparisons = 0;
  }
  return rows_[place->second];
}

void Ledger::count(Mode mode, const Block& block, const Op& op, const Work& work, Count predicted,
                   Count counted, const std::string& where) {
  ProofRow& entry = row(
      {mode, block.name, op.pass, op.name, work.op_class, work.flops, predicted, counted, 0, {}});
  ++entry.comparisons;
  operations_ += counted;
  if (predicted != counted && !entry.mismatch) entry.mismatch = Mismatch{where, predicted, counted};
}

ProofCheck& Ledger::check(const char* name) {
  const auto found = std::find_if(checks_.begin(), checks_.end(),
                                  [&](const ProofCheck& check) { return check.name == name; });
  if (found != checks_.end()) return *found;
  const auto claim =
      std::find_if(kClaims.begin(), kClaims.end(), [&](const Claim& c) { return c.name == name; });
  FLOPWISE_CHECK(claim != kClaims.end(), std::string("no claim is called ") + name);
  ProofCheck added;
  added.name = name;
  added.claim = claim->claim;
  checks_.push_back(added);
  return checks_.back();
}

void Ledger::equal(const char* name, Count predicted, Count measured, const std::string& where) {
  ProofCheck& entry = check(name);
  ++entry.comparisons;
  if (predicted != measured && !entry.failure) {
    entry.failure = fmt::format("predicted {}, measured {} ({})", predicted.grouped(),
                                measured.grouped(), where);
  }
}

void Ledger::close(const char* name, double difference, double scale, double allowed,
                   const std::string& where) {
  ProofCheck& entry = check(name);
  ++entry.comparisons;
  entry.allowed = allowed;
  const double relative = scale > 0 ? difference / scale : difference;
  entry.worst = worse_of(entry.worst, relative);
  // A NaN fails too.
  if (!(relative <= allowed) && !entry.failure) {
    entry.failure = fmt::format("differs by {:.3g}, allowed {:.3g} ({})", relative, allowed, where);
  }
}

void Ledger::hold(const char* name, bool holds, const std::string& where) {
  ProofCheck& entry = check(name);
  ++entry.comparisons;
  if (!holds && !entry.failure) entry.failure = where;
}

void Ledger::merge(const Ledger& other) {
  for (const ProofRow& theirs : other.rows_) {
    ProofRow& ours = row(theirs);
    ours.comparisons += theirs.comparisons;
    if (!ours.mismatch) ours.mismatch = theirs.mismatch;
  }
  for (const ProofCheck& theirs : other.checks_) {
    ProofCheck& ours = check(theirs.name.c_str());
    ours.comparisons += theirs.comparisons;
    ours.worst = worse_of(ours.worst, theirs.worst);
    ours.allowed = theirs.allowed;
    if (!ours.failure) ours.failure = theirs.failure;
  }
  runs_ += other.runs_;
  operations_ += other.operations_;
}

void Ledger::write_to(Proof& proof) const {
  proof.rows = rows_;
  proof.checks = checks_;
  proof.runs = runs_;
  proof.operations = operations_;
  proof.comparisons = 0;
  for (const ProofRow& entry : rows_) proof.comparisons += entry.comparisons;
}

}  // namespace flopwise
