// Google's TPUs, each figure for a chip.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

// An axis shorter than `wraps_from` is a line; a hop takes about a microsecond.
constexpr Fabric ici(Topology topology, std::string_view in_words, std::int64_t links,
                     std::int64_t rate, std::int64_t peer_rate, std::int64_t domain_size,
                     std::int64_t wraps_from, Figure hop_latency_ns = 1000) {
  Fabric fabric = linked("ICI", topology, in_words, links, rate, peer_rate, domain_size);
  fabric.wraps_from = wraps_from;
  fabric.hop_latency_ns = hop_latency_ns;
  return fabric;
}

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "TPU v2",
        .aliases = {"v2"},
        .year = 2017,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(46_T)},
        .memory = {16_GiB, 700_G},
        .on_chip = {32_MiB, "VMEM (2 x 16 MiB)"},
        .link = ici(Topology::kTorus2d, "2D torus", 4, 248_G, 62_G, 256, 16, {}),
        .tdp_w = 280,
        .price = Price{1.5_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 memory memory_bandwidth on_chip", kJax},
                    {"bf16 tdp",                             kEpoch},
                    {"link",                                 kRecalled}},
        .notes = "Its two cores appear as two devices. Sources disagree: 600, 700 or 716 GB/s.",
    },
    Chip{
        .name = "TPU v3",
        .aliases = {"v3"},
        .year = 2018,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(123_T)},
        .memory = {32_GiB, 900_G, kStatesGib},
        .on_chip = {32_MiB, "VMEM (2 x 16 MiB)"},
        .link = ici(Topology::kTorus2d, "2D torus", 4, 400_G, 100_G, 1024, 32),
        .tdp_w = 450,
        .price = Price{2.2_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 memory memory_bandwidth", "docs.cloud.google.com/tpu/docs/v3"},
                    {"link",                         kScalingBookTpus},
                    {"bf16 tdp",                     kEpoch},
                    {"on_chip",                      kRecalled}},
        .notes = "Sources disagree: 123 bf16 (docs) or 140 (scaling book, JAX); 900 or 825 GB/s; "
                 "ICI 100 or 82 GB/s a link.",
    },
    Chip{
        .name = "TPU v4i",
        .aliases = {"v4 lite", "v4i"},
        .year = 2020,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(138_T), int8(138_T)},
        .memory = {8_GiB, 614_G},
        .on_chip = {144_MiB, "CMEM 128 MiB + VMEM 16 MiB"},
        .link = linked("ICI", Topology::kRing, "ring of 4", 2, 100_G, 50_G, 4),
        .tdp_w = 175,
        .sources = {{"bf16 memory memory_bandwidth on_chip", kJax},
                    {"bf16 memory_bandwidth tdp",            kEpoch},
                    {"int8 link",                            kRecalled}},
    },
    Chip{
        .name = "TPU v4",
        .aliases = {"v4", "v4p"},
        .year = 2021,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(275_T), int8(275_T)},
        .memory = {32_GiB, 1.2_T, kStatesGib},
        .on_chip = {160_MiB, "CMEM 128 MiB + VMEM 32 MiB"},
        .link = ici(Topology::kTorus3d, "3D torus (OCS), 4x4x4 cubes", 6, 300_G, 50_G, 4096, 4),
        .network = 6.25_G,
        .pcie = 16_G,
        .tdp_w = 192,
        .price = Price{3.22_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 int8 memory memory_bandwidth tdp", "docs.cloud.google.com/tpu/docs/v4"},
                    {"bf16 memory_bandwidth link network pcie", kScalingBookTpus},
                    {"memory_bandwidth on_chip",                kJax},
                    {"link",                                    kGlennKLockwood}},
        .notes = "ICI 50 GB/s a link nominal, 45 effective.",
    },
    Chip{
        .name = "TPU v5e",
        .aliases = {"v5e", "v5litepod", "v5 lite"},
        .year = 2023,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(197_T), int8(394_T), int4(788_T)},
        .memory = {16_GiB, 819_G, "16 GB printed; JAX says 17.2e9 bytes (16 GiB)"},
        .on_chip = {128_MiB, "VMEM"},
        .link = ici(Topology::kTorus2d, "2D torus", 4, 200_G, 50_G, 256, 16),
        .network = 3.125_G,
        .pcie = 16_G,
        .price = Price{1.2_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 int8 memory memory_bandwidth link network",
                     "docs.cloud.google.com/tpu/docs/v5e"},
                    {"bf16 int8 memory_bandwidth link",                kScalingBookTpus},
                    {"int4 memory_bandwidth on_chip",                  kJax},
                    {"pcie",                                           kRecalled}},
        .notes = "One revision of the docs prints 800 GiB/s.",
    },
    Chip{
        .name = "TPU v5p",
        .aliases = {"v5p", "v5"},
        .year = 2023,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(459_T), int8(918_T), int4(1840_T)},
        .memory = {95_GiB, 2.765_T, "95 GiB usable (docs); JAX and the scaling book use 96 GiB"},
        .on_chip = {128_MiB, "VMEM (2 x 64 MiB)"},
        .link = ici(Topology::kTorus3d, "3D torus (OCS), 4x4x4 cubes", 6, 600_G, 100_G, 8960, 4),
        .network = 6.25_G,
        .pcie = 16_G,
        .price = Price{4.2_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 memory memory_bandwidth link", "docs.cloud.google.com/tpu/docs/v5p"},
                    {"bf16 int8 memory_bandwidth link",   kScalingBookTpus},
                    {"int4",                              kJax},
                    {"on_chip network pcie",              kRecalled}},
        .notes = "Sources disagree on bandwidth: 2765 GB/s (docs), 2460 (JAX). Largest "
                 "schedulable slice: 6144 chips. ICI 100 GB/s a link nominal, 90 effective.",
    },
    Chip{
        .name = "TPU v6e",
        .aliases = {"v6e", "Trillium"},
        .year = 2024,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(918_T), fp8(918_T), int8(1836_T), int4(3680_T)},
        .memory = {32_GiB, 1.638_T, "32 GB printed; JAX says 34.4e9 bytes (32 GiB)"},
        .on_chip = {128_MiB, "VMEM"},
        .link = ici(Topology::kTorus2d, "2D torus", 4, 400_G, 100_G, 256, 16),
        .network = 12.5_G,
        .pcie = 32_G,
        .price = Price{2.7_exact, kTpuPrices, "2026-08-19"},
        .sources = {{"bf16 int8 memory memory_bandwidth link pcie",
                     "docs.cloud.google.com/tpu/docs/v6e"},
                    {"bf16 int8 link network pcie",                 kScalingBookTpus},
                    {"fp8 int4 on_chip",                            kJax}},
        .notes = "The matrix units are 256 wide: shorter dimensions are padded.",
    },
    Chip{
        .name = "TPU7x",
        .aliases = {"v7", "TPU v7", "Ironwood"},
        .year = 2025,
        .kind = ChipKind::kTpu,
        .peaks = {bf16(2307_T), fp8(4614_T)},
        .memory = {192_GiB, 7.38_T, kStatesGib},
        .link = ici(Topology::kTorus3d, "3D torus (OCS)", 6, 600_G, 100_G, 9216, 4, {}),
        .sources = {{"bf16 fp8 memory",       "docs.cloud.google.com/tpu/docs/tpu7x"},
                    {"memory_bandwidth link", kMlEngineering},
                    {"bf16",                  kTorchtitan},
                    {"memory_bandwidth",      kEpoch}},
        .notes = "A chip appears as two devices. No int8 products in JAX.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> google_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
