// The chips that flopwise knows by name: one entry per SKU that differs in a number.
//
// Peaks are dense (vendors often print twice as much, with 2:4 sparsity) and those of the matrix
// units with fp32 accumulation; fp32 and fp64 are vector rates. Where public sources disagree, the
// notes say so. Sources were read 2025-08 to 2026-08; "recalled" marks a figure without a text.
#include <utility>

#include "flopwise/base/units.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {
namespace {

const char* const kLightning =
    "Lightning-AI/pytorch-lightning@7f0c343 src/lightning/fabric/utilities/throughput.py (peaks)";
const char* const kLlmAnalysis =
    "cli99/llm-analysis@d841e40 llm_analysis/gpu_configs (memory bandwidth)";
const char* const kAiConfigurator =
    "ai-dynamo/aiconfigurator@095f58a aic-core/src/aiconfigurator_core/systems (peaks, memory, "
    "links, network)";
const char* const kMlEngineering =
    "stas00/ml-engineering@744d01e network/README.md, compute/accelerator/README.md (links, power)";
const char* const kEpoch =
    "Epoch AI, Data on Machine Learning Hardware (CC BY), snapshot 2026-04 (peaks, memory, power)";

Rational rate(const char* text) {
  return parse_quantity(text, "hardware catalog");
}

Count bytes(const char* text) {
  return parse_bytes(text, "hardware catalog");
}

Hardware nvidia(const char* name, std::vector<std::string> aliases, int year) {
  Hardware chip;
  chip.name = name;
  chip.aliases = std::move(aliases);
  chip.vendor = "NVIDIA";
  chip.year = year;
  chip.memory_basis = "vendor prints GB; binary (GiB) used";
  return chip;
}

std::vector<PeakRate> a100_peaks() {
  return {
      {"fp64",        rate("9.7T") },
      {"fp64_matrix", rate("19.5T")},
      {"fp32",        rate("19.5T")},
      {"tf32",        rate("156T") },
      {"fp16",        rate("312T") },
      {"bf16",        rate("312T") },
      {"int8",        rate("624T") },
      {"int4",        rate("1248T")}
  };
}

std::vector<PeakRate> hopper_sxm_peaks() {
  return {
      {"fp64",        rate("33.5T")  },
      {"fp64_matrix", rate("66.9T")  },
      {"fp32",        rate("66.9T")  },
      {"tf32",        rate("494.7T") },
      {"fp16",        rate("989.4T") },
      {"bf16",        rate("989.4T") },
      {"fp8",         rate("1978.9T")},
      {"int8",        rate("1978.9T")}
  };
}

// `per_direction`: leaving one device over all its links; behind a switch or on a bridge all of it
// can reach a single peer.
Link nvlink(const char* name, const char* per_direction, std::int64_t domain_size,
            const char* topology) {
  return {.name = name,
          .bytes_per_s = rate(per_direction),
          .peer_bytes_per_s = rate(per_direction),
          .domain_size = domain_size,
          .topology = topology};
}

const char* const kSwitched = "switched all-to-all (NVSwitch)";
const char* const kBridgePair = "bridge pair";

Hardware a100_sxm4_40gb() {
  Hardware chip = nvidia("A100-SXM4-40GB", {"A100 SXM 40GB", "A100-40GB"}, 2020);
  chip.peaks = a100_peaks();
  chip.memory_bytes = bytes("40GiB");
  chip.memory_bytes_per_s = rate("1.555T");
  chip.link = nvlink("NVLink 3", "300G", 8, kSwitched);
  chip.network_bytes_per_s = rate("25G");
  chip.tdp_w = 400;
  chip.sources = {kLightning, kLlmAnalysis, kAiConfigurator, kMlEngineering};
  chip.notes = "No fp8. The fp16 vector rate is 78 TFLOP/s.";
  return chip;
}

Hardware a100_sxm4_80gb() {
  Hardware chip =
      nvidia("A100-SXM4-80GB", {"A100 SXM 80GB", "A100", "A100-80GB", "A100-SXM"}, 2020);
  chip.peaks = a100_peaks();
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("2.039T");
  chip.link = nvlink("NVLink 3", "300G", 8, kSwitched);
  chip.network_bytes_per_s = rate("25G");
  chip.tdp_w = 400;
  chip.price_usd_per_hour = rate("1.29");
  chip.price_source = "skypilot-org/skypilot-catalog@000c1d0 catalogs/v8/verda (2026, on demand)";
  chip.sources = {kLightning, kLlmAnalysis, kAiConfigurator, kMlEngineering};
  chip.notes = "No fp8. The fp16 vector rate is 78 TFLOP/s.";
  return chip;
}

Hardware a100_pcie_40gb() {
  Hardware chip = nvidia("A100-PCIe-40GB", {"A100 PCIE 40GB"}, 2020);
  chip.peaks = a100_peaks();
  chip.memory_bytes = bytes("40GiB");
  chip.memory_bytes_per_s = rate("1.555T");
  chip.link = nvlink("NVLink 3 bridge", "300G", 2, kBridgePair);
  chip.network_bytes_per_s = rate("25G");
  chip.tdp_w = 250;
  chip.sources = {kAiConfigurator, kLlmAnalysis, kMlEngineering, kEpoch};
  chip.notes = "NVLink only with a two-way bridge, otherwise PCIe Gen4.";
  return chip;
}

Hardware a100_pcie_80gb() {
  Hardware chip = nvidia("A100-PCIe-80GB", {"A100 PCIE 80GB"}, 2021);
  chip.peaks = a100_peaks();
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("1.935T");
  chip.link = nvlink("NVLink 3 bridge", "300G", 2, kBridgePair);
  chip.network_bytes_per_s = rate("25G");
  chip.tdp_w = 300;
  chip.price_usd_per_hour = rate("1.64");
  chip.price_source = "skypilot-org/skypilot-catalog@46062ac catalogs/v8/runpod (on demand)";
  chip.sources = {kAiConfigurator, kLlmAnalysis, kMlEngineering, kEpoch};
  chip.notes = "NVLink only with a two-way bridge, otherwise PCIe Gen4.";
  return chip;
}

Hardware h100_sxm5_80gb() {
  Hardware chip =
      nvidia("H100-SXM5-80GB", {"H100", "H100 SXM", "H100-SXM", "H100 80GB HBM3"}, 2022);
  chip.peaks = hopper_sxm_peaks();
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("3.35T");
  chip.link = nvlink("NVLink 4", "450G", 8, kSwitched);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 700;
  chip.price_usd_per_hour = rate("2.95");
  chip.price_source = "aimultiple.com/gpu-index, median of posted on-demand rates, 2026-05-20";
  chip.sources = {kLightning, kEpoch, kAiConfigurator, kMlEngineering,
                  "fp64_matrix: recalled, twice the vector rate"};
  chip.notes =
      "The vendor's page prints sparse peaks (1979 bf16, 3958 fp8). Peaks assume 1830 MHz; the "
      "clock can reach 1980 MHz.";
  return chip;
}

Hardware h100_pcie_80gb() {
  Hardware chip = nvidia("H100-PCIe-80GB", {"H100 PCIe"}, 2022);
  chip.peaks = {
      {"fp64",        rate("25.6T") },
      {"fp64_matrix", rate("51.2T") },
      {"fp32",        rate("51.2T") },
      {"tf32",        rate("378T")  },
      {"fp16",        rate("756.5T")},
      {"bf16",        rate("756.5T")},
      {"fp8",         rate("1513T") },
      {"int8",        rate("1513T") }
  };
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("2T");
  chip.link = nvlink("NVLink 4 bridge", "300G", 2, kBridgePair);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 350;
  chip.sources = {kAiConfigurator, kLightning, kEpoch,
                  "NVIDIA H100 PCIe product brief PB-11133-001 (bandwidth, power)"};
  return chip;
}

Hardware h100_nvl_94gb() {
  Hardware chip = nvidia("H100-NVL-94GB", {"H100 NVL"}, 2023);
  chip.peaks = {
      {"fp64",        rate("30T")    },
      {"fp64_matrix", rate("60T")    },
      {"fp32",        rate("60T")    },
      {"tf32",        rate("417.5T") },
      {"fp16",        rate("835.5T") },
      {"bf16",        rate("835.5T") },
      {"fp8",         rate("1670.5T")},
      {"int8",        rate("1670.5T")}
  };
  chip.memory_bytes = bytes("94GiB");
  chip.memory_bytes_per_s = rate("3.938T");
  chip.link = nvlink("NVLink 4 bridge", "300G", 2, kBridgePair);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 400;
  chip.sources = {kLightning, kEpoch, kMlEngineering, "fp64_matrix: recalled"};
  chip.notes = "Per card; early datasheets print the pair (188 GB, 7.8 TB/s).";
  return chip;
}

Hardware h800_sxm5_80gb() {
  Hardware chip = nvidia("H800-SXM5-80GB", {"H800", "H800 SXM"}, 2023);
  chip.peaks = {
      {"fp64", rate("1T")     },
      {"fp32", rate("66.9T")  },
      {"tf32", rate("494.7T") },
      {"fp16", rate("989.4T") },
      {"bf16", rate("989.4T") },
      {"fp8",  rate("1978.9T")},
      {"int8", rate("1978.9T")}
  };
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("3.35T");
  chip.link = nvlink("NVLink 4", "200G", 8, kSwitched);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 700;
  chip.sources = {kEpoch, "alibaba/InferSim@f2293da hardware/gpu.py (peaks, NVLink)",
                  "philisun.com, H800 vs H100 (NVLink, fp64)",
                  "volcengine/verl@b178a3c verl/utils/flops_counter.py (bf16)"};
  chip.notes = "Sources disagree: 756 bf16 belongs to the PCIe card, 989 to SXM.";
  return chip;
}

Hardware h800_pcie_80gb() {
  Hardware chip = nvidia("H800-PCIe-80GB", {"H800 PCIe"}, 2023);
  chip.peaks = {
      {"fp64", rate("0.8T")  },
      {"fp32", rate("51.2T") },
      {"tf32", rate("378T")  },
      {"fp16", rate("756.5T")},
      {"bf16", rate("756.5T")},
      {"fp8",  rate("1513T") },
      {"int8", rate("1513T") }
  };
  chip.memory_bytes = bytes("80GiB");
  chip.memory_bytes_per_s = rate("2T");
  chip.link = nvlink("NVLink 4 bridge", "200G", 2, kBridgePair);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 350;
  chip.sources = {"TechPowerUp as mirrored in reox007/RightNow-GPU-Database@77fae38 (peaks, power)",
                  "karpathy/nanochat@92d63d4 nanochat/common.py (bf16)", "fp64, bridge: recalled"};
  return chip;
}

Hardware h200_sxm_141gb() {
  Hardware chip = nvidia("H200-SXM-141GB", {"H200", "H200 SXM"}, 2024);
  chip.peaks = hopper_sxm_peaks();
  chip.memory_bytes = bytes("141GiB");
  chip.memory_bytes_per_s = rate("4.8T");
  chip.link = nvlink("NVLink 4", "450G", 8, kSwitched);
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 700;
  chip.price_usd_per_hour = rate("3.39");
  chip.price_source = "skypilot-org/skypilot-catalog@000c1d0 catalogs/v8/verda (2026, on demand)";
  chip.sources = {kLightning, kEpoch, kAiConfigurator, kMlEngineering};
  return chip;
}

Hardware h200_nvl_141gb() {
  Hardware chip = nvidia("H200-NVL-141GB", {"H200 NVL"}, 2024);
  chip.peaks = {
      {"fp64",        rate("30T")  },
      {"fp64_matrix", rate("60T")  },
      {"fp32",        rate("60T")  },
      {"tf32",        rate("418T") },
      {"fp16",        rate("836T") },
      {"bf16",        rate("836T") },
      {"fp8",         rate("1671T")},
      {"int8",        rate("1671T")}
  };
  chip.memory_bytes = bytes("141GiB");
  chip.memory_bytes_per_s = rate("4.8T");
  chip.link = nvlink("NVLink 4 bridge", "450G", 4, "bridge group");
  chip.network_bytes_per_s = rate("50G");
  chip.tdp_w = 600;
  chip.sources = {"karpathy/nanochat@92d63d4 nanochat/common.py (bf16)", kLightning, kMlEngineering,
                  "bridge: recalled"};
  chip.notes = "Sources disagree: 836 bf16 (half the datasheet's sparse peak) or 840 (rounded).";
  return chip;
}

Hardware tpu_v5e() {
  Hardware chip;
  chip.name = "TPU v5e";
  chip.aliases = {"v5e", "v5litepod", "v5 lite"};
  chip.vendor = "Google";
  chip.year = 2023;
  chip.peaks = {
      {"bf16", rate("197T")},
      {"int8", rate("394T")},
      {"int4", rate("788T")}
  };
  chip.memory_bytes = bytes("16GiB");
  chip.memory_basis = "16 GB printed; JAX says 17.2e9 bytes (16 GiB)";
  chip.memory_bytes_per_s = rate("819G");
  chip.link = Link{.name = "ICI",
                   .bytes_per_s = rate("200G"),
                   .peer_bytes_per_s = rate("50G"),
                   .domain_size = 256,
                   .topology = "2D torus"};
  chip.network_bytes_per_s = rate("3.125G");
  chip.price_usd_per_hour = rate("1.2");
  chip.price_source = "dstackai/gpuhunt@3584151 tpu_pricing.json (on demand), 2026-08-19";
  chip.sources = {"docs.cloud.google.com/tpu/docs/v5e (peaks, memory, ICI, network)",
                  "jax-ml/scaling-book@54e2c43 tpus.md (peaks, ICI)",
                  "jax-ml/jax@04c6362 jax/_src/pallas/mosaic/tpu_info.py (int4, memory)"};
  chip.notes = "ICI wraps around only on axes of 16.";
  return chip;
}

Hardware tpu_v5p() {
  Hardware chip;
  chip.name = "TPU v5p";
  chip.aliases = {"v5p", "v5"};
  chip.vendor = "Google";
  chip.year = 2023;
  chip.peaks = {
      {"bf16", rate("459T") },
      {"int8", rate("918T") },
      {"int4", rate("1840T")}
  };
  chip.memory_bytes = bytes("95GiB");
  chip.memory_basis = "95 GiB usable (docs); JAX and the scaling book use 96 GiB";
  chip.memory_bytes_per_s = rate("2.765T");
  chip.link = Link{.name = "ICI",
                   .bytes_per_s = rate("600G"),
                   .peer_bytes_per_s = rate("100G"),
                   .domain_size = 8960,
                   .topology = "3D torus (OCS), 4x4x4 cubes"};
  chip.network_bytes_per_s = rate("6.25G");
  chip.price_usd_per_hour = rate("4.2");
  chip.price_source = "dstackai/gpuhunt@3584151 tpu_pricing.json (on demand), 2026-08-19";
  chip.sources = {"docs.cloud.google.com/tpu/docs/v5p (bf16, memory, ICI)",
                  "jax-ml/scaling-book@54e2c43 tpus.md (peaks, ICI)",
                  "jax-ml/jax@04c6362 jax/_src/pallas/mosaic/tpu_info.py (int4)"};
  chip.notes =
      "Sources disagree on bandwidth: 2765 GB/s (docs), 2460 (JAX). Largest schedulable slice: "
      "6144 chips. ICI 100 GB/s a link nominal, 90 effective.";
  return chip;
}

}  // namespace

const std::vector<Hardware>& hardware_catalog() {
  static const std::vector<Hardware> kCatalog = {
      a100_sxm4_40gb(), a100_sxm4_80gb(), a100_pcie_40gb(), a100_pcie_80gb(), h100_sxm5_80gb(),
      h100_pcie_80gb(), h100_nvl_94gb(),  h800_sxm5_80gb(), h800_pcie_80gb(), h200_sxm_141gb(),
      h200_nvl_141gb(), tpu_v5e(),        tpu_v5p()};
  return kCatalog;
}

}  // namespace flopwise
