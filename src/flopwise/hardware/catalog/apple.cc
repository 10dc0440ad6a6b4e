// Apple's chips: the GPU, with the memory that it shares.
#include "flopwise/hardware/catalog/chip.h"
#include "flopwise/hardware/catalog/sources.h"

namespace flopwise::catalog {
namespace {

constexpr std::string_view kLargestOption = "largest option, binary; shared with the processor";

constexpr std::string_view kUnified =
    "No matrix units. The system caps the GPU's share of memory. Power is a third party's "
    "estimate.";

// clang-format off
constexpr Chip kChips[] = {
    Chip{
        .name = "Apple M1",
        .aliases = {"M1"},
        .year = 2020,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(2.6_T), fp16(2.6_T)},
        .memory = {16_GiB, 68.25_G, kLargestOption},
        .tdp_w = 15,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kLlamaCpp}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M1 Pro",
        .aliases = {"M1 Pro"},
        .year = 2021,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(5.3_T), fp16(5.3_T)},
        .memory = {32_GiB, 204.8_G, kLargestOption},
        .tdp_w = 30,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kLlamaCpp}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M1 Max",
        .aliases = {"M1 Max"},
        .year = 2021,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(10.6_T), fp16(10.6_T)},
        .memory = {64_GiB, 409.6_G, kLargestOption},
        .tdp_w = 60,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kLlamaCpp}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M1 Ultra",
        .aliases = {"M1 Ultra"},
        .year = 2022,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(21.2_T), fp16(21.2_T)},
        .memory = {128_GiB, 819.2_G, kLargestOption},
        .tdp_w = 120,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kWccftech}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M2",
        .aliases = {"M2"},
        .year = 2022,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(3.6_T), fp16(3.6_T)},
        .memory = {24_GiB, 102.4_G, kLargestOption},
        .tdp_w = 20,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kLlamaCpp}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M2 Pro",
        .aliases = {"M2 Pro"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(6.8_T), fp16(6.8_T)},
        .memory = {32_GiB, 204.8_G, kLargestOption},
        .tdp_w = 35,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kArsTechnica}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M2 Max",
        .aliases = {"M2 Max"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(13.6_T), fp16(13.6_T)},
        .memory = {96_GiB, 409.6_G, kLargestOption},
        .tdp_w = 80,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp16",             kMetalBenchmarks},
                    {"memory_bandwidth", kRecalled}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M2 Ultra",
        .aliases = {"M2 Ultra"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(27.2_T), fp16(27.2_T)},
        .memory = {192_GiB, 819.2_G, kLargestOption},
        .tdp_w = 150,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"memory_bandwidth", kWccftech},
                    {"fp16",             kRecalled}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M3",
        .aliases = {"M3"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(4.1_T), fp16(4.1_T)},
        .memory = {24_GiB, 102.4_G, kLargestOption},
        .tdp_w = 22,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"memory_bandwidth", kArsTechnica},
                    {"fp16",             kRecalled}},
        .notes = "Sources disagree: 4.1 fp32, 3.6 by its clock. No matrix units. The system caps "
                 "the GPU's share of memory. Power is a third party's estimate.",
    },
    Chip{
        .name = "Apple M3 Pro",
        .aliases = {"M3 Pro"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(6.4_T), fp16(6.4_T)},
        .memory = {36_GiB, 153.6_G, kLargestOption},
        .tdp_w = 40,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp32 fp16",        kHmcTech},
                    {"memory_bandwidth", kArsTechnica}},
        .notes = "Sources disagree: 6.4 fp32 by its clock, or 7.4. No matrix units. The system "
                 "caps the GPU's share of memory. Power is a third party's estimate.",
    },
    Chip{
        .name = "Apple M3 Max",
        .aliases = {"M3 Max"},
        .year = 2023,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(14.3_T), fp16(14.3_T)},
        .memory = {128_GiB, 409.6_G, kLargestOption},
        .tdp_w = 90,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"fp32 fp16",        kHmcTech},
                    {"memory_bandwidth", kRecalled}},
        .notes = "The variant of 30 cores has 300 GB/s. No matrix units. The system caps the "
                 "GPU's share of memory. Power is a third party's estimate.",
    },
    Chip{
        .name = "Apple M3 Ultra",
        .aliases = {"M3 Ultra"},
        .year = 2025,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(28.4_T), fp16(28.4_T)},
        .memory = {512_GiB, 819.2_G, kLargestOption},
        .tdp_w = 180,
        .sources = {{"fp32 memory tdp",       kHuggingFace},
                    {"fp16 memory_bandwidth", kRecalled}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M4",
        .aliases = {"M4"},
        .year = 2024,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(4.6_T), fp16(4.6_T)},
        .memory = {32_GiB, 120_G, kLargestOption},
        .tdp_w = 22,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"memory_bandwidth", kArsTechnica},
                    {"fp16",             kRecalled}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M4 Pro",
        .aliases = {"M4 Pro"},
        .year = 2024,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(9.2_T), fp16(9.2_T)},
        .memory = {64_GiB, 273_G, kLargestOption},
        .tdp_w = 45,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"memory_bandwidth", kArsTechnica},
                    {"fp16",             kRecalled}},
        .notes = kUnified,
    },
    Chip{
        .name = "Apple M4 Max",
        .aliases = {"M4 Max"},
        .year = 2024,
        .kind = ChipKind::kSoc,
        .peaks = {fp32(18.4_T), fp16(18.4_T)},
        .memory = {128_GiB, 546_G, kLargestOption},
        .tdp_w = 100,
        .sources = {{"fp32 memory tdp",  kHuggingFace},
                    {"memory_bandwidth", kArsTechnica},
                    {"fp16",             kRecalled}},
        .notes = "Sources disagree: 18.4 fp32, 17.2 by its clock. The variant of 32 cores has 410 "
                 "GB/s. No matrix units. The system caps the GPU's share of memory. Power is a "
                 "third party's estimate.",
    },
};
// clang-format on

}  // namespace

std::span<const Chip> apple_chips() {
  return kChips;
}

}  // namespace flopwise::catalog
