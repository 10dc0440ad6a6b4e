// The executions by kind that run_op chooses from; each is defined in one of ops_*.cc.
#pragma once

#include "flopwise/base/error.h"
#include "flopwise/exec/ops.h"

namespace flopwise::exec {

// An id or a choice, held as a scalar.
template <typename Scalar>
std::int64_t index_of(const Scalar& scalar) {
  return static_cast<std::int64_t>(value_of(scalar));
}

template <typename Scalar>
void run_kind(const Contraction& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Map& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Sum& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Broadcast& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Softmax& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const SoftmaxFromStats& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const SoftmaxBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const SinkBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Norm& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const NormBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Gather& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const GatherBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const TopK& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const TopKBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const SelectKeys& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Dispatch& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Combine& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Rotary& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Dropout& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const CrossEntropy& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const CrossEntropyBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Convolution& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const ConvolutionBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const CausalConvolution& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const CausalConvolutionBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Previous& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Prepend& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const PrependBackward& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const Relabel& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const CacheAppend& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const TakeOne& kind, OpRun<Scalar>& run);
template <typename Scalar>
void run_kind(const TakeOneBackward& kind, OpRun<Scalar>& run);
// The reference executor is one device.
template <typename Scalar>
void run_kind(const Collective& /*kind*/, OpRun<Scalar>& run) {
  FLOPWISE_CHECK(false, run.op.name + ": a collective needs several devices");
}

// For the .cc that defines run_kind(Kind): compiles it for one scalar.
#define FLOPWISE_INSTANTIATE_RUN(Kind, Scalar) \
  template void run_kind<Scalar>(const Kind& kind, OpRun<Scalar>& run);

}  // namespace flopwise::exec
