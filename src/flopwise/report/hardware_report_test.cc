#include "flopwise/report/hardware_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(HardwareReport, Chips) {
  const nlohmann::json json = nlohmann::json::parse(hardware_table_json().str());
  ASSERT_EQ(json["hardware"].size(), hardware_catalog().size());
  EXPECT_THAT(hardware_table_text(), HasSubstr("TPU v5e"));
  const nlohmann::json v5e = nlohmann::json::parse(hardware_json(find_hardware("v5e")).str());
  EXPECT_EQ(v5e["peak_flops_per_s"]["bf16"], 197'000'000'000'000);
  EXPECT_DOUBLE_EQ(v5e["flops_per_byte"]["bf16"].get<double>(), 197e12 / 819e9);
  EXPECT_THAT(hardware_text(find_hardware("v5e")), HasSubstr("240.5"));
}

// A title, a line for each chip, a rule between the eight vendors, each named once.
TEST(HardwareReport, ListIsGroupedByVendor) {
  const std::vector<std::string> lines = lines_of_text(hardware_table_text());
  EXPECT_EQ(lines.size(), 1 + 89 + 7);
  std::string vendors;
  int announced = 0;
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 130) << line;
    if (line[0] != ' ') vendors += line.substr(0, line.find(' ')) + " ";
    if (line.find(" (announced) ") != std::string::npos) ++announced;
  }
  const std::string rule = std::string(127, '-') + " ";
  EXPECT_EQ(vendors, "vendor NVIDIA " + rule + "AMD " + rule + "Intel " + rule + "Google " + rule +
                         "AWS " + rule + "Apple " + rule + "Cerebras " + rule + "Groq ");
  EXPECT_EQ(announced, 2);
  EXPECT_THAT(hardware_table_text(), HasSubstr("fp16 125.0 TFLOP/s"));
  EXPECT_THAT(hardware_table_text(), HasSubstr("bf16 989.4 TFLOP/s"));
}

TEST(HardwareReport, JsonOfAChip) {
  const nlohmann::json h100 = nlohmann::json::parse(hardware_json(find_hardware("h100")).str());
  EXPECT_EQ(h100["kind"], "gpu");
  EXPECT_EQ(h100["status"], "available");
  EXPECT_EQ(h100["sparsity_factor"], 2);
  EXPECT_EQ(h100["on_chip_bytes"], 52'428'800);
  EXPECT_EQ(h100["on_chip_what"], "L2");
  EXPECT_EQ(h100["pcie_bytes_per_s"], 63'000'000'000);
  EXPECT_EQ(h100["price_date"], "2026-05-20");
  EXPECT_EQ(h100["link"]["links"], 18);
  EXPECT_EQ(h100["link"]["domain_size"], 8);
  EXPECT_EQ(h100["link"]["topology_kind"], "switched");
  EXPECT_EQ(h100["sources"][3],
            "stas00/ml-engineering@744d01e compute/accelerator/README.md, network/README.md, "
            "2026-08 (link)");
  // What is not known is null.
  const nlohmann::json a10 = nlohmann::json::parse(hardware_json(find_hardware("a10")).str());
  EXPECT_TRUE(a10["price_date"].is_null());
  EXPECT_TRUE(a10["price_usd_per_hour"].is_null());
  EXPECT_TRUE(a10["link"]["domain_size"].is_null());
  const nlohmann::json m4 = nlohmann::json::parse(hardware_json(find_hardware("m4")).str());
  EXPECT_TRUE(m4["link"].is_null());
  EXPECT_TRUE(m4["on_chip_bytes"].is_null());
}

TEST(HardwareReport, TextOfAChip) {
  const std::string v5e = hardware_text(find_hardware("v5e"));
  EXPECT_THAT(v5e, HasSubstr("ICI, leaving one device in one direction; 50.00 GB/s to one peer; "
                             "links: 4; devices: 256; axes of 16 and more are rings; a "
                             "hop 1.000 µs; 2D torus\n"));
  EXPECT_THAT(v5e, HasSubstr("PCIe          16.00 GB/s"));
  EXPECT_THAT(v5e, HasSubstr("on chip       128.0 MiB"));
  EXPECT_THAT(v5e, HasSubstr("tpu_pricing.json, 2026-08-19\n"));
  EXPECT_THAT(v5e, Not(HasSubstr("announced")));
  EXPECT_THAT(hardware_text(find_hardware("r200")), HasSubstr("  announced\n"));
  EXPECT_THAT(hardware_text(find_hardware("a100")), HasSubstr("catalogs/v8/verda (2026), no date"));
}

}  // namespace
}  // namespace flopwise
