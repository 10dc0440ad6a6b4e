// Groq's chip.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

constexpr std::string_view kSram = "memory on the chip, decimal";

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "GroqChip 1",
        .aliases = {"Groq LPU v1", "GroqCard"},
        .year = 2022,
        .kind = ChipKind::kNpu,
        .peaks = {fp16(188_T), int8(750_T)},
        .memory = {230_MB, 80_T, kSram},
        .on_chip = {230_MB, "SRAM is the memory"},
        .tdp_w = 215,
        .sources = {{"fp16 int8 memory memory_bandwidth on_chip tdp", kEpoch}},
        .notes = "No other memory: a large model takes hundreds of chips.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> groq_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
