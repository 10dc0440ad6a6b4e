// Intel's chips.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

constexpr std::string_view kDimms = "as configured";

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "Gaudi2",
        .aliases = {"Habana Gaudi2", "HL-225H"},
        .year = 2022,
        .kind = ChipKind::kNpu,
        .peaks = {bf16(432_T), fp8(865_T)},
        .memory = {96_GiB, 2.46_T},
        .on_chip = {48_MiB, "software-managed SRAM"},
        .link = linked("RoCE v2 100GbE on chip", Topology::kDirect,
                       "direct all-to-all, 3 ports per peer", 21, 262.5_G, 37.5_G, 8),
        .network = 37.5_G,
        .pcie = kGen4,
        .tdp_w = 600,
        .sources = {{"bf16 fp8 memory memory_bandwidth link network tdp", kMlEngineering},
                    {"fp8 memory_bandwidth",                              kEpoch},
                    {"on_chip pcie",                                      kRecalled}},
        .notes = "Sources disagree: 432 or 450 bf16; 262.5 GB/s are the 21 ports inside a node, "
                 "300 all 24.",
    },
    Chip{
        .name = "Gaudi3",
        .aliases = {"Habana Gaudi3", "HL-325L"},
        .year = 2024,
        .kind = ChipKind::kNpu,
        .peaks = {fp32(229_T), tf32(459_T), fp16(459_T), bf16(1677_T), fp8(1677_T)},
        .memory = {128_GiB, 3.7_T},
        .on_chip = {96_MiB, "configurable L2/L3 SRAM"},
        .link = linked("RoCE v2 200GbE on chip", Topology::kDirect,
                       "direct all-to-all, 3 ports per peer", 21, 525_G, 75_G, 8),
        .network = 75_G,
        .pcie = kGen5,
        .tdp_w = 900,
        .sources = {{"peaks on_chip tdp",                    kMlEngineering},
                    {"bf16 fp8 memory memory_bandwidth tdp", kEpoch},
                    {"memory_bandwidth",
                     "abhibambhaniya/GenZ-LLM-Analyzer@091bdd0 Systems/system_configs.py"},
                    {"link network pcie",                    kRecalled}},
        .notes = "Sources disagree: 1677 bf16 as shipped or 1835 at the white paper's clock. fp8 "
                 "is not faster.",
    },
    Chip{
        .name = "Data Center GPU Max 1550",
        .aliases = {"Ponte Vecchio", "PVC", "Max 1550"},
        .year = 2023,
        .peaks = {fp64(52.4_T), fp32(52.4_T), tf32(419_T), fp16(839_T), bf16(839_T), int8(1678_T)},
        .memory = {128_GiB, 3.2768_T},
        .on_chip = {408_MiB, "L2 (2 stacks)"},
        .link = Fabric{.name = "Xe Link", .topology = Topology::kDirect,
                       .in_words = "direct all-to-all", .links = 16, .domain_size = 8},
        .pcie = kGen5,
        .tdp_w = 600,
        .sources = {{"fp64 fp32 memory_bandwidth on_chip tdp", kTechPowerUp},
                    {"tf32 fp16 bf16 on_chip", "svethardware.cz, Hot Chips 34 (2022-08)"},
                    {"tf32 fp16 int8",
                     "Architecture Day 2021: operations a clock and Xe core (copy)"},
                    {"pcie",                                   kPcie},
                    {"memory link",                            kRecalled}},
        .notes = "Peaks are at 1600 MHz; tables with 682 bf16 take 1300. Its two stacks may "
                 "appear as two devices.",
    },
    Chip{
        .name = "Xeon Platinum 8480+",
        .aliases = {"Sapphire Rapids 8480+", "Xeon 8480+"},
        .year = 2023,
        .kind = ChipKind::kCpu,
        .peaks = {fp64(3.58_T), fp32(7.17_T), fp16(14.3_T), bf16(114.7_T), int8(229.4_T)},
        .memory = {.bytes_per_s = 307.2_G, .basis = kDimms},
        .on_chip = {103.125_MiB, "L3"},
        .link = Fabric{.name = "UPI 2.0", .topology = Topology::kUnknown,
                       .in_words = "2-8 sockets", .links = 4},
        .pcie = kGen5,
        .tdp_w = 350,
        .sources = {{"peaks memory_bandwidth",
                     "servethehome.com, Xeon Max 9480 review (cores, memory channels)"},
                    {"peaks on_chip",          "lscpu of public machines (clock, L3)"},
                    {"tdp",                    "cheap5v.com, before launch"},
                    {"pcie",                   kPcie},
                    {"link",                   kRecalled}},
        .notes = "Peaks at the base clock of 2 GHz; bf16 and int8 are AMX, whose turbo is 2.6 to "
                 "3 GHz.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> intel_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
