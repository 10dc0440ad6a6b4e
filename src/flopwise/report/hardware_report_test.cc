#include "flopwise/report/hardware_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::HasSubstr;

TEST(HardwareReport, Chips) {
  const nlohmann::json json = nlohmann::json::parse(hardware_table_json().str());
  ASSERT_EQ(json["hardware"].size(), hardware_catalog().size());
  EXPECT_THAT(hardware_table_text(), HasSubstr("TPU v5e"));
  const nlohmann::json v5e = nlohmann::json::parse(hardware_json(find_hardware("v5e")).str());
  EXPECT_EQ(v5e["peak_flops_per_s"]["bf16"], 197'000'000'000'000);
  EXPECT_DOUBLE_EQ(v5e["flops_per_byte"]["bf16"].get<double>(), 197e12 / 819e9);
  EXPECT_THAT(hardware_text(find_hardware("v5e")), HasSubstr("240.5"));
}

}  // namespace
}  // namespace flopwise
