// Where figures of the catalog come from. Texts were read 2025-08 to 2026-08.
#pragma once

#include <string_view>

namespace flopwise::catalog {

using Where = std::string_view;

inline constexpr Where kEpoch =
    "Epoch AI, Data on Machine Learning Hardware (CC BY), snapshot 2026-04";
inline constexpr Where kTechPowerUp =
    "TechPowerUp as mirrored in reox007/RightNow-GPU-Database@77fae38, 2026-02";
inline constexpr Where kMlEngineering =
    "stas00/ml-engineering@744d01e compute/accelerator/README.md, network/README.md, 2026-08";
inline constexpr Where kLightning =
    "Lightning-AI/pytorch-lightning@7f0c343 src/lightning/fabric/utilities/throughput.py";
inline constexpr Where kHuggingFace =
    "huggingface/huggingface.js@fe42e68 packages/tasks/src/hardware.ts";
inline constexpr Where kAiConfigurator =
    "ai-dynamo/aiconfigurator@095f58a aic-core/src/aiconfigurator_core/systems";
inline constexpr Where kLlmAnalysis = "cli99/llm-analysis@d841e40 llm_analysis/gpu_configs";
inline constexpr Where kTorchtitan = "pytorch/torchtitan@b5bcd76 torchtitan/tools/utils.py";
inline constexpr Where kRocm =
    "ROCm/ROCm@e396b48 docs/conceptual/gpu-arch, docs/reference/gpu-arch-specs.rst";
inline constexpr Where kNanochat = "karpathy/nanochat@92d63d4 nanochat/common.py";
inline constexpr Where kScalingBookGpus = "jax-ml/scaling-book@1a55377 gpus.md, 2025-08";
inline constexpr Where kScalingBookTpus = "jax-ml/scaling-book@54e2c43 tpus.md";
inline constexpr Where kJax = "jax-ml/jax@04c6362 jax/_src/pallas/mosaic/tpu_info.py";
inline constexpr Where kMetalBenchmarks =
    "philipturner/metal-benchmarks@dc2adc6 README.md (clock times cores)";
inline constexpr Where kArsTechnica = "Ars Technica, M4 comparison (copies)";
inline constexpr Where kComposer = "mosaicml/composer@6405188 composer/callbacks/speed_monitor.py";
inline constexpr Where kHmcTech = "hmc-tech.com, comparison pages (rates by accumulation)";
inline constexpr Where kLlmViewer = "hahnyuan/LLM-Viewer@472f71f hardwares/hardware_params.py";
inline constexpr Where kNeuronSdk =
    "aws-neuron/aws-neuron-sdk@81ce03a about-neuron/arch/neuron-hardware, 2026-08";
inline constexpr Where kLlamaCpp = "ggml-org/llama.cpp pull request 1642";
inline constexpr Where kLlmCounts =
    "harleyszhang/llm_counts@ad30c18 llm_counts/configs/gpu_configs.json";
inline constexpr Where kGpuBenches = "RRZE-HPC/gpu-benches@1038c5d README.md (measured)";
inline constexpr Where kInferSim = "alibaba/InferSim@f2293da hardware/gpu.py";
inline constexpr Where kLlmRoofline = "feifeibear/LLMRoofline@fdb54c1 hardware_dict.py";
inline constexpr Where kGlennKLockwood = "glennklockwood.com/garden/processors, citing vendors";
inline constexpr Where kWccftech = "wccftech, as marketed (copy)";
inline constexpr Where kLambdaCatalog = "skypilot-org/skypilot-catalog@0f40703 catalogs/v8/lambda";
inline constexpr Where kHalfOfNarrower = "arithmetic: half the rate of the next narrower type";

// Prices on demand, of one device.
inline constexpr Where kLambdaPrices =
    "skypilot-org/skypilot-catalog@0f40703 catalogs/v8/lambda (2026)";
inline constexpr Where kVerdaPrices =
    "skypilot-org/skypilot-catalog@000c1d0 catalogs/v8/verda (2026)";
inline constexpr Where kRunpodPrices = "skypilot-org/skypilot-catalog@46062ac catalogs/v8/runpod";
inline constexpr Where kMedianPrices = "aimultiple.com/gpu-index, median of posted rates";
inline constexpr Where kTpuPrices =
    "dstackai/gpuhunt@3584151 src/gpuhunt/resources/tpu_pricing.json";

// What no text read for this catalog says.
inline constexpr Where kRecalled = "recalled, no text at hand";
inline constexpr Where kPcie =
    "PCI Express line rate of 16 lanes after encoding; generation recalled";
inline constexpr Where kProductName = "the product's name";

}  // namespace flopwise::catalog
