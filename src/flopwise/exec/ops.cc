#include "flopwise/exec/ops.h"

#include <variant>

#include "flopwise/exec/ops_detail.h"

namespace flopwise::exec {

template <typename Scalar>
void run_op(OpRun<Scalar>& run) {
  std::visit([&](const auto& kind) { run_kind(kind, run); }, run.op.kind);
}

#define FLOPWISE_INSTANTIATE(Scalar) template void run_op<Scalar>(OpRun<Scalar> & run);
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

namespace {

// splitmix64 (Steele, Lea and Flood, 2014): each number of a counter, well mixed.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

double uniform(std::uint64_t seed, std::uint64_t index) {
  constexpr int kMantissaBits = 53;
  return static_cast<double>(mixed(mixed(seed) + index) >> (64 - kMantissaBits)) /
         static_cast<double>(std::uint64_t{1} << kMantissaBits);
}

std::uint64_t derived_seed(std::uint64_t seed, std::string_view name) {
  for (const char c : name) seed = mixed(seed + static_cast<unsigned char>(c) + 1);
  return mixed(seed);
}

}  // namespace flopwise::exec
