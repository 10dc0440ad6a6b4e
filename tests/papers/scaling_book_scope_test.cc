// "How to Scale Your Model": its tables of chips against the catalog, the rows that no cost of a
// transformer is part of, and the count of all.
#include "tests/papers/book_rows.h"

namespace flopwise {
namespace {

// ---- tables of chips (chapters 2 and 12) -------------------------------------------------------

double memory_gib(const char* name) {
  return find_hardware(name).memory_bytes->to_double() / (1 << 30);
}
double bandwidth(const char* name) {
  return find_hardware(name).memory_bytes_per_s->to_double();
}
double peak(const char* name, const char* dtype) {
  return peak_flops_per_s(find_hardware(name), dtype).to_double();
}
double link(const char* name) {
  return find_hardware(name).link->peer_bytes_per_s->to_double();
}
double pod(const char* name) {
  return static_cast<double>(*find_hardware(name).link->domain_size);
}

// clang-format off
const BookRow kChips[] = {
    {"sb2-spec-v3", "hbm_GB", 32, 0, [] { return memory_gib("v3"); }},
    {"sb2-spec-v3", "hbm_B_s", 900e9, 0.02, [] { return bandwidth("v3"); }},
    {"sb2-spec-v3", "ici_one_way_B_s_per_link", 100e9, 0.02, [] { return link("v3"); }},
    {"sb2-spec-v3", "pod", 32 * 32, 0, [] { return pod("v3"); }},
    {"sb2-spec-v4p", "hbm_GB", 32, 0, [] { return memory_gib("v4"); }},
    {"sb2-spec-v4p", "hbm_B_s", 1.2e12, 0.02, [] { return bandwidth("v4"); }},
    {"sb2-spec-v4p", "bf16_flops_s", 275e12, 0.02, [] { return peak("v4", "bf16"); }},
    {"sb2-spec-v4p", "int8_ops_s", 275e12, 0.02, [] { return peak("v4", "int8"); }},
    {"sb2-spec-v4p", "pod", 16 * 16 * 16, 0, [] { return pod("v4"); }},
    {"sb2-spec-v5p", "hbm_B_s", 2.8e12, 0.02, [] { return bandwidth("v5p"); }},
    {"sb2-spec-v5p", "bf16_flops_s", 459e12, 0.02, [] { return peak("v5p", "bf16"); }},
    {"sb2-spec-v5p", "int8_ops_s", 918e12, 0.02, [] { return peak("v5p", "int8"); }},
    {"sb2-spec-v5p", "pod", 16 * 20 * 28, 0, [] { return pod("v5p"); }},
    {"sb2-spec-v5e", "hbm_GB", 16, 0, [] { return memory_gib("v5e"); }},
    {"sb2-spec-v5e", "hbm_B_s", 810e9, 0.02, [] { return bandwidth("v5e"); }},
    {"sb2-spec-v5e", "bf16_flops_s", 197e12, 0.02, [] { return peak("v5e", "bf16"); }},
    {"sb2-spec-v5e", "int8_ops_s", 394e12, 0.02, [] { return peak("v5e", "int8"); }},
    {"sb2-spec-v5e", "pod", 16 * 16, 0, [] { return pod("v5e"); }},
    {"sb2-spec-v6e", "hbm_GB", 32, 0, [] { return memory_gib("v6e"); }},
    {"sb2-spec-v6e", "bf16_flops_s", 920e12, 0.02, [] { return peak("v6e", "bf16"); }},
    {"sb2-spec-v6e", "int8_ops_s", 1840e12, 0.02, [] { return peak("v6e", "int8"); }},
    {"sb2-spec-v6e", "pod", 16 * 16, 0, [] { return pod("v6e"); }},
    {"sb12-spec-A100", "bf16_flops_s", 310e12, 0.02, [] { return peak("a100", "bf16"); }},
    {"sb12-spec-A100", "hbm_B_s", 2e12, 0.02, [] { return bandwidth("a100"); }},
    {"sb12-spec-A100", "critical_intensity", 155, 0.03, [] { return ridge("a100"); }},
    {"sb12-spec-H100", "bf16_flops_s", 990e12, 0.02, [] { return peak("h100", "bf16"); }},
    {"sb12-spec-H100", "hbm_B_s", 3.35e12, 0.02, [] { return bandwidth("h100"); }},
    {"sb12-spec-H100", "critical_intensity", 296, 0.03, [] { return ridge("h100"); }},
    {"sb12-spec-B200", "hbm_B_s", 8e12, 0.02, [] { return bandwidth("b200"); }},
    {"sb12-spec-B200", "critical_intensity", 288, 0.03, [] { return ridge("b200"); }},
};

constexpr const char* kEffective = "the book prints what a link reaches, the catalog its rate";
const PinnedRow kChipsPinned[] = {
    {"sb2-spec-v3", "bf16_flops_s", 140e12, 123e12, 1e-9, [] { return peak("v3", "bf16"); },
     "Google's documentation prints 123"},
    {"sb2-spec-v4p", "ici_one_way_B_s_per_link", 45e9, 50e9, 1e-9, [] { return link("v4"); }, kEffective},
    {"sb2-spec-v5p", "ici_one_way_B_s_per_link", 90e9, 100e9, 1e-9, [] { return link("v5p"); }, kEffective},
    {"sb2-spec-v5p", "hbm_GB", 96, 95, 1e-9, [] { return memory_gib("v5p"); },
     "Google's documentation prints 95 GiB"},
    {"sb2-spec-v5e", "ici_one_way_B_s_per_link", 45e9, 50e9, 1e-9, [] { return link("v5e"); }, kEffective},
    {"sb2-spec-v6e", "ici_one_way_B_s_per_link", 90e9, 100e9, 1e-9, [] { return link("v6e"); }, kEffective},
    {"sb2-spec-v6e", "hbm_B_s", 1.6e12, 1.638e12, 1e-9, [] { return bandwidth("v6e"); }, "rounded"},
    {"sb12-spec-B200", "bf16_flops_s", 2.3e15, 2.25e15, 1e-9, [] { return peak("b200", "bf16"); }, "rounded"},
};
// clang-format on
const bool kChipsListed = list_rows(kChips) && list_rows(kChipsPinned);

TEST(ScalingBook, TablesOfChips) {
  expect_rows(kChips);
  expect_rows(kChipsPinned);
}

// ---- what is left out --------------------------------------------------------------------------

struct LeftOut {
  const char* id;
  const char* why;
};

// clang-format off
constexpr LeftOut kOutOfScope[] = {
    {"sb2-vpu-v5p", "lanes, units and clock of a chip; the catalog has rates"},
    {"sb8-evict", "which requests end in a step: 32 of 4,096 tokens each"},
    {"sb9-mock-transformer", "measured, before and after a change of sharding that is not stated"},
    {"sb10-collective-matmul", "measured on two chips' worth of an unnamed TPU"},
    {"sb12-cuda-cores", "units of a chip; the catalog has rates"},
    {"sb12-smem", "on-chip memory of each unit; the catalog has the level that all share"},
    {"sb12-practical-bw", "measured"},
    {"sb12-b200-clock", "clock of a chip"},
    {"sb12-tc-flops", "FLOPs of a unit and cycle"},
    {"sb12-nvswitch", "ports of a switch"},
    {"sb12-pp-comms", "counts N_mb + stages - 2 messages before the last one; a step of `train` "
                      "takes N_mb + stages - 1 each way (train_test.cc)"},
    {"sb12-megatron-70B", "sequences times length over GPUs, of the run's own figures"},
    {"sb12-megatron-314B", "the same"},
    {"sb12-ag-superpod", "the least of three given rates, of levels of a fat tree: a chip has one network"},
};
// clang-format on

int rows_that_are(BookStatus status) {
  int count = 0;
  for (const auto& [id, row_status] : book_status()) count += row_status == status ? 1 : 0;
  return count;
}

// 133 rows, 116 of them arithmetic, the rest tables of chips and measurements. A row of which one
// figure is pinned counts as pinned.
TEST(ScalingBook, EveryRowIsAccountedFor) {
  for (const LeftOut& row : kOutOfScope) set_status(row.id, BookStatus::kOutOfScope);
  EXPECT_EQ(book_status().size(), 133);
  EXPECT_EQ(rows_that_are(BookStatus::kReproduced), 101);
  EXPECT_EQ(rows_that_are(BookStatus::kPinned), 18);
  EXPECT_EQ(rows_that_are(BookStatus::kOutOfScope), std::size(kOutOfScope));
}

}  // namespace
}  // namespace flopwise
