// Amazon's chips.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

constexpr Peaks kNeuronCoreV2 = {fp32(47.5_T), tf32(190_T), fp16(190_T),
                                 bf16(190_T),  fp8(190_T),  int8(380_T)};

constexpr std::string_view kDimms = "as configured";

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "Trainium1",
        .aliases = {"trn1", "Trainium"},
        .year = 2022,
        .kind = ChipKind::kNpu,
        .peaks = kNeuronCoreV2,
        .memory = {32_GiB, 820_G, kStatesGib},
        .on_chip = {48_MiB, "SBUF"},
        .link = linked("NeuronLink-v2", Topology::kTorus2d, "2D torus", 4, 192_G, 48_G, 16),
        .network = 6.25_G,
        .sources = {{"peaks memory memory_bandwidth on_chip link network", kNeuronSdk},
                    {"tf32 fp16 bf16 fp8",                                 kEpoch}},
        .notes = "Print does not say the link's direction: halved. The docs print 820 GiB/s and "
                 "0.8 TB/s. trn1n has twice the network.",
    },
    Chip{
        .name = "Trainium2",
        .aliases = {"trn2"},
        .year = 2024,
        .kind = ChipKind::kNpu,
        .peaks = {fp32(181_T), tf32(667_T), fp16(667_T), bf16(667_T), fp8(1299_T)},
        .sparsity = 3.84_exact,
        .memory = {96_GiB, 2.9_T, kStatesGib},
        .on_chip = {224_MiB, "SBUF"},
        .link = linked("NeuronLink-v3", Topology::kTorus3d,
                       "4x4 torus in an instance, rings across four instances", 6, 640_G, 128_G,
                       64),
        .network = 25_G,
        .sources = {{"peaks sparsity memory memory_bandwidth on_chip link network", kNeuronSdk},
                    {"link",                                                        kMlEngineering},
                    {"tf32 fp16 bf16 fp8",                                          kEpoch}},
        .notes = "Links inside an instance of 16 have 512 GB/s, those of the third axis 64 GB/s "
                 "each. Sparsity gains 1.97 in fp8.",
    },
    Chip{
        .name = "Trainium3",
        .aliases = {"trn3"},
        .year = 2025,
        .kind = ChipKind::kNpu,
        .peaks = {fp32(183_T), tf32(671_T), fp16(671_T), bf16(671_T), fp8(2517_T), fp4(2517_T)},
        .sparsity = 3.75_exact,
        .memory = {144_GiB, 4.9_T, kStatesGib},
        .on_chip = {256_MiB, "SBUF"},
        .link = Fabric{.name = "NeuronLink-v4 (PCIe Gen6 switched)",
                       .topology = Topology::kSwitched, .in_words = "switched all-to-all",
                       .bytes_per_s = 1.28_T, .peer_bytes_per_s = 128_G, .domain_size = 144},
        .network = 25_G,
        .sources = {{"peaks memory memory_bandwidth on_chip link network", kNeuronSdk},
                    {"tf32 fp16 bf16 fp8 fp4",                             kEpoch},
                    {"sparsity",                                           kRecalled}},
        .notes = "Sources disagree: 2560 GB/s or 2048 GiB/s of links, halved here. fp4 is turned "
                 "into fp8.",
    },
    Chip{
        .name = "Inferentia2",
        .aliases = {"inf2"},
        .year = 2023,
        .kind = ChipKind::kNpu,
        .peaks = kNeuronCoreV2,
        .memory = {32_GiB, 820_G, kStatesGib},
        .on_chip = {48_MiB, "SBUF (as NeuronCore-v2)"},
        .link = Fabric{.name = "NeuronLink-v2", .topology = Topology::kRing, .in_words = "ring",
                       .bytes_per_s = 96_G, .domain_size = 12},
        .sources = {{"peaks memory memory_bandwidth link",  kNeuronSdk},
                    {"tf32 fp16 bf16 fp8 memory_bandwidth", kEpoch},
                    {"on_chip",                             kRecalled}},
        .notes = "Print does not say the link's direction: halved. 1 TB/s between chips in a "
                 "table is another engine's.",
    },
    Chip{
        .name = "AWS Graviton4",
        .aliases = {"Graviton4", "Neoverse V2 (AWS)"},
        .year = 2024,
        .kind = ChipKind::kCpu,
        .peaks = {fp64(4.3_T), fp32(8.6_T), fp16(17.2_T), bf16(34.4_T), int8(68.8_T)},
        .memory = {.bytes_per_s = 537.6_G, .basis = kDimms},
        .on_chip = {36_MiB, "L3 (plus 2 MB L2 per core)"},
        .pcie = kGen5,
        .sources = {{"fp64 fp32 memory_bandwidth on_chip", "a public table of server processors"},
                    {"pcie",                               kPcie},
                    {"fp16 bf16 int8",                     kRecalled}},
        .notes = "Peaks at 2.8 GHz. Sources disagree: 2.7 or 2.8 by instance.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> aws_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
