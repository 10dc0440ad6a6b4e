// Cerebras' wafers.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

constexpr std::string_view kSram = "memory on the chip, decimal";

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "Cerebras WSE-2",
        .aliases = {"CS-2"},
        .year = 2021,
        .kind = ChipKind::kWafer,
        .peaks = {fp16(7500_T)},
        .memory = {40_GB, 20000_T, kSram},
        .on_chip = {40_GB, "SRAM is the memory"},
        .link = Fabric{.name = "SwarmX", .topology = Topology::kTree,
                       .in_words = "broadcast/reduce tree"},
        .sources = {{"memory memory_bandwidth on_chip", "aiwiki.ai/wiki/cerebras_wse_3"},
                    {"fp16",                            kRecalled}},
        .notes = "Weights of large models stream in from outside.",
    },
    Chip{
        .name = "Cerebras WSE-3",
        .aliases = {"CS-3"},
        .year = 2024,
        .kind = ChipKind::kWafer,
        .sparsity = std::nullopt,
        .memory = {44_GB, 21000_T, kSram},
        .on_chip = {44_GB, "SRAM is the memory"},
        .link = Fabric{.name = "SwarmX", .topology = Topology::kTree,
                       .in_words = "broadcast/reduce tree"},
        .tdp_w = 23000,
        .sources = {{"memory memory_bandwidth on_chip",
                     "yobitel.com/knowledge-base/cerebras-wse-3"},
                    {"tdp", "awesomeagents.ai/hardware/cerebras-wse-3 (the system)"}},
        .notes = "125 PFLOP/s is called sparse fp16, fp8 or AI compute: a dense peak is not "
                 "published. Power is that of the system.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> cerebras_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
