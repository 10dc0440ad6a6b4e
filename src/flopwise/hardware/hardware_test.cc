#include "flopwise/hardware/hardware.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

template <typename Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

constexpr std::int64_t kTera = 1'000'000'000'000;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t kGib = std::int64_t{1} << 30;

// name, dense bf16 peak in TFLOP/s, memory in GiB, memory and link bandwidth in GB/s
struct ChipRow {
  const char* name;
  Rational bf16_tflops;
  std::int64_t memory_gib;
  std::int64_t memory_gb_per_s;
  std::int64_t link_gb_per_s;
  std::int64_t domain_size;
};

TEST(HardwareCatalog, Figures) {
  const ChipRow rows[] = {
      {"A100-SXM4-40GB", 312,               40,              1555,                 300,           8                                                  },
      {"A100-SXM4-80GB", 312,               80,              2039,                 300,           8                                                  },
      {"A100-PCIe-40GB", 312,               40,              1555,                 300,           2                                                  },
      {"A100-PCIe-80GB", 312,               80,              1935,                 300,           2                                                  },
      {"H100-SXM5-80GB", Rational::of(9894, 10),             80,                   3350,          450,                                                 8},
      {"H100-PCIe-80GB",                Rational::of(7565,                  10), 80, 2000,            300,                                                           2},
      {"H100-NVL-94GB",               Rational::of(8355,                                10),                                 94,                      3938, 300,2},
      {"H800-SXM5-80GB",             Rational::of(9894,                             10),                                            80,                                                 3350,                                 200,                                                                                              8},
      {"H800-PCIe-80GB",            Rational::of(7565,                          10),                                        80,            2000,200,2},
      {"H200-SXM-141GB",              Rational::of(9894,                           10),141,        4800,                                            450,                                                                                                                                                                             8},
      {"H200-NVL-141GB",             836, 141,             4800,                       450,4},
      {"TPU v5e", 197,               16,              819,         200,                              256                                                                                                                                                                                                                  },
      {"TPU v5p",             459,              95,             2765,                      600,   8960},
  };
  for (const ChipRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Hardware& chip = find_hardware(row.name);
    EXPECT_EQ(peak_flops_per_s(chip, "bf16"), row.bf16_tflops * kTera);
    EXPECT_EQ(*chip.memory_bytes, Count(row.memory_gib * kGib));
    EXPECT_EQ(*chip.memory_bytes_per_s, Rational(row.memory_gb_per_s * kGiga));
    EXPECT_EQ(chip.link->bytes_per_s, Rational(row.link_gb_per_s * kGiga));
    EXPECT_EQ(chip.link->domain_size, row.domain_size);
    EXPECT_FALSE(chip.sources.empty());
  }
}

TEST(HardwareCatalog, NamesIgnoreCaseSpacesAndDashes) {
  struct Row {
    const char* text;
    const char* name;
  };
  const Row rows[] = {
      {"a100",      "A100-SXM4-80GB"},
      {"A100 40GB", "A100-SXM4-40GB"},
      {"h100",      "H100-SXM5-80GB"},
      {"h100-sxm",  "H100-SXM5-80GB"},
      {"H100 PCIe", "H100-PCIe-80GB"},
      {"h100nvl",   "H100-NVL-94GB" },
      {"h800",      "H800-SXM5-80GB"},
      {"h200",      "H200-SXM-141GB"},
      {"tpu-v5e",   "TPU v5e"       },
      {"v5litepod", "TPU v5e"       },
      {"TPU V5P",   "TPU v5p"       },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(find_hardware(row.text).name, row.name);
  }
}

TEST(HardwareCatalog, PeaksFollowTheDtype) {
  const Hardware& h800 = find_hardware("h800");
  EXPECT_EQ(peak_flops_per_s(h800, "fp8"), Rational::of(19789, 10) * kTera);
  EXPECT_EQ(peak_flops_per_s(h800, "bfloat16"), peak_flops_per_s(h800, "bf16"));
  const Hardware& a100 = find_hardware("a100");
  EXPECT_EQ(peak_flops_per_s(a100, "fp32"), Rational::of(195, 10) * kTera);
  EXPECT_EQ(peak_flops_per_s(a100, "fp64_matrix"), Rational::of(195, 10) * kTera);
  // 197e12/819e9
  EXPECT_EQ(intensity_of(find_hardware("v5e"), "bf16"), Rational::of(197'000, 819));
}

TEST(ReadHardware, ChipWithCountAndOverrides) {
  const HardwareChoice one = read_hardware("h100");
  EXPECT_EQ(one.count, 1);
  EXPECT_FALSE(one.count_given);
  const HardwareChoice many = read_hardware("h100:64");
  EXPECT_EQ(many.count, 64);
  EXPECT_TRUE(many.count_given);
  const HardwareChoice changed = read_hardware(
      "h100:8,memory_bandwidth=3.0e12,memory=96GiB,link_bandwidth=1T,domain_size=72,price=2.5,"
      "tdp=600,network_bandwidth=100G,vector_flops=60T");
  EXPECT_EQ(changed.count, 8);
  const Hardware& chip = changed.hardware;
  EXPECT_EQ(chip.name, "H100-SXM5-80GB");
  EXPECT_EQ(*chip.memory_bytes_per_s, Rational(3 * kTera));
  EXPECT_EQ(*chip.memory_bytes, Count(96 * kGib));
  EXPECT_EQ(chip.link->bytes_per_s, Rational(kTera));
  EXPECT_EQ(chip.link->domain_size, 72);
  EXPECT_EQ(*chip.price_usd_per_hour, Rational::of(5, 2));
  EXPECT_EQ(*chip.tdp_w, Rational(600));
  EXPECT_EQ(*chip.network_bytes_per_s, Rational(100 * kGiga));
  EXPECT_EQ(*chip.vector_flops_per_s, Rational(60 * kTera));
  EXPECT_EQ(peak_flops_per_s(read_hardware("h100,flops=1e15").hardware, "fp8"),
            Rational(1000 * kTera));
}

TEST(ReadHardware, BareFigures) {
  const Hardware chip =
      read_hardware("flops=1.513e15,memory_bandwidth=3.35e12,memory=80GiB").hardware;
  EXPECT_EQ(peak_flops_per_s(chip, "bf16"), Rational(1513 * kTera));
  EXPECT_EQ(peak_flops_per_s(chip, "fp8"), Rational(1513 * kTera));
  EXPECT_EQ(*chip.memory_bytes, Count(80 * kGib));
  EXPECT_FALSE(chip.link);
  EXPECT_EQ(intensity_of(chip, "bf16"), Rational::of(1513, 1) / Rational::of(335, 100));
}

TEST(ReadHardware, JsonFile) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / "flopwise_chip.json").string();
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write(R"({"name": "mine", "peak_flops": {"bf16": 1e15, "float8": "2000T"}, "memory": "80GiB",
            "memory_bandwidth": 3.35e12, "price": 1.5})");
  const HardwareChoice mine = read_hardware(path + ":4,price=2");
  EXPECT_EQ(mine.count, 4);
  EXPECT_EQ(mine.hardware.name, "mine");
  EXPECT_EQ(peak_flops_per_s(mine.hardware, "fp8"), Rational(2000 * kTera));
  EXPECT_EQ(*mine.hardware.memory_bytes_per_s, Rational::of(335 * kTera, 100));
  EXPECT_EQ(*mine.hardware.price_usd_per_hour, Rational(2));

  struct Row {
    const char* json;
    std::string message;
  };
  const Row rows[] = {
      {R"({"memory": 1})",                                                 path + ": name: missing, expected a text"           },
      {R"({"name": "x", "cores": 1})",
       path +
           ": cores: unknown key, known: name, peak_flops, flops, vector_flops, memory, "
           "memory_bandwidth, link_bandwidth, network_bandwidth, domain_size, wraps_from, "
           "hop_latency, tdp, price, "
           "peer_bandwidth, links, link_name, topology, pcie_bandwidth, on_chip, on_chip_what, "
           "sparsity_factor, kind, status, vendor, year, price_source, price_date, source, notes"                              },
      {R"({"name": "x", "memory": true})",
       path + ": memory: expected a number or a quantity such as \"80GiB\", got true"                                          },
      {R"({"name": "x", "tdp": -1})",                                      path + ": tdp: expected a number above 0, got '-1'" },
      {R"({"name": "x", "peak_flops": {"fp7": 1}})",
       path + ": peak_flops.fp7: unknown dtype 'fp7', known: fp64 fp32 tf32 bf16 fp16 fp8 int8 fp6 "
              "fp4 int4 q8_0 q5_1 q5_0 q4_1 q4_0 mxfp8 mxfp4 nvfp4"                                                            },
      {R"({"name": "x", "peak_flops": {"bf16": 0}})",
       path + ": peak_flops.bf16: expected a number above 0, got '0'"                                                          },
      {R"({"name": "x", "peak_flops": {"bf16": 1, "bfloat16": 2}})",
       path + ": peak_flops.bfloat16: expected 1, as another name of bf16 says, got 2"                                         },
      {R"({"name": "x", "flops": 1, "peak_flops": {"bf16": 1}})",
       path + ": flops: expected flops, the peak of every type, or peak_flops, those of some, got "
              "both"                                                                                                           },
      {R"({"name": "x", "peak_flops": {"bf16": 1, "bfloat16": 1.0}})",     "no error"                                          },
      {R"({"name": "x", "kind": "xpu"})",
       path + ": kind: expected one of gpu tpu npu soc wafer cpu, got 'xpu'"                                                   },
      {R"({"name": "x", "kind": 3})",                                      path + ": kind: expected a text, got 3"             },
      {R"({"name": "x", "status": "soon"})",
       path + ": status: expected one of available announced, got 'soon'"                                                      },
      {R"({"name": "x", "topology": "star"})",
       path +
           ": topology: expected one of unknown switched torus_2d torus_3d ring direct mesh pair "
           "tree, got 'star'"                                                                                                  },
      {R"({"name": "x", "links": 0})",
       path + ": links: expected a whole number of 1 ... 1000000, got 0"                                                       },
      {R"({"name": "x", "on_chip": "50MB/s"})",
       path + ": on_chip: expected a whole number of bytes such as 80GB or 80GiB, got '50MB/s'"                                },
      {R"({"name": "x", "sparsity_factor": 0.5})",
       path + ": sparsity_factor: expected 1 (no sparse peaks) or more, got 1/2"                                               },
      {R"({"name": "x", "memory_bandwidth": "3.35TB"})",
       path + ": memory_bandwidth: expected a quantity such as 14.8T or 8Ki, got '3.35TB'"                                     },
      {R"({"name": "x", "memory_bandwidth": "fast B/s"})",
       path + ": memory_bandwidth: expected a quantity such as 14.8TB/s, got 'fast B/s'"                                       },
      {R"({"name": "x", "tdp": "700kg"})",
       path + ": tdp: expected a quantity such as 14.8T or 8Ki, got '700kg'"                                                   },
      {R"({"name": "x", "link_bandwidth": "1T", "peer_bandwidth": "2T"})",
       path + ": peer_bandwidth: expected at most link_bandwidth, 1000000000000, got "
              "2000000000000"                                                                                                  },
      {R"({"name": "x", "price_date": "May 2026"})",
       path + ": price_date: expected a date such as 2026-05-20, got 'May 2026'"                                               },
      {R"({"name": "x", "peak_flops": 3})",                                path + ": peak_flops: expected a JSON object, got 3"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.json);
    write(row.json);
    EXPECT_EQ(error_of([&] { read_hardware(path); }), row.message);
  }
  std::filesystem::remove(path);
}

// Every field that a file may have, with the units that it may have.
TEST(ReadHardware, JsonFileWithEveryField) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / "flopwise_whole_chip.json").string();
  std::ofstream(path) << R"({"name": "mine", "vendor": "me", "year": 2026, "kind": "npu",
    "status": "announced", "peak_flops": {"bf16": "1 PFLOP/s", "fp16_acc16": 2e15,
    "float64_matrix": "60T"}, "sparsity_factor": 3.84, "vector_flops": "20TFLOP/s",
    "memory": "96 GiB", "memory_bandwidth": "3.35 TB/s", "on_chip": "50MiB", "on_chip_what": "L2",
    "link_name": "ring", "link_bandwidth": "200GB/s", "peer_bandwidth": "100GB/s", "links": 2,
    "topology": "ring", "domain_size": 4, "wraps_from": 4, "hop_latency": 2e-6, "network_bandwidth": null, "pcie_bandwidth": "63GB/s",
    "tdp": "700W", "price": 2.5, "price_source": "a bill", "price_date": "2026-05-20",
    "source": "measured", "notes": "loud"})";
  const Hardware chip = read_hardware(path).hardware;
  std::filesystem::remove(path);
  EXPECT_EQ(chip.vendor, "me");
  EXPECT_EQ(chip.year, 2026);
  EXPECT_EQ(chip.kind, ChipKind::kNpu);
  EXPECT_EQ(chip.status, ChipStatus::kAnnounced);
  EXPECT_EQ(peak_flops_per_s(chip, "bf16"), Rational(1000 * kTera));
  EXPECT_EQ(peak_flops_per_s(chip, "fp16_acc16"), Rational(2000 * kTera));
  EXPECT_EQ(peak_flops_per_s(chip, "fp64_matrix"), Rational(60 * kTera));
  EXPECT_EQ(*chip.sparsity_factor, Rational::of(384, 100));
  EXPECT_EQ(*chip.vector_flops_per_s, Rational(20 * kTera));
  EXPECT_EQ(*chip.memory_bytes, Count(96 * kGib));
  EXPECT_EQ(*chip.memory_bytes_per_s, Rational::of(335 * kTera, 100));
  EXPECT_EQ(*chip.on_chip_bytes, Count(50 * kGib / 1024));
  EXPECT_EQ(chip.on_chip_what, "L2");
  EXPECT_EQ(chip.link->name, "ring");
  EXPECT_EQ(*chip.link->bytes_per_s, Rational(200 * kGiga));
  EXPECT_EQ(*chip.link->peer_bytes_per_s, Rational(100 * kGiga));
  EXPECT_EQ(chip.link->links, 2);
  EXPECT_EQ(chip.link->topology_kind, Topology::kRing);
  EXPECT_EQ(chip.link->domain_size, 4);
  EXPECT_EQ(chip.link->wraps_from, 4);
  EXPECT_EQ(*chip.link->hop_latency_s, Rational::of(2, 1'000'000));
  EXPECT_FALSE(chip.network_bytes_per_s);
  EXPECT_EQ(*chip.pcie_bytes_per_s, Rational(63 * kGiga));
  EXPECT_EQ(*chip.tdp_w, Rational(700));
  EXPECT_EQ(*chip.price_usd_per_hour, Rational::of(5, 2));
  EXPECT_EQ(chip.price_source, "a bill");
  EXPECT_EQ(chip.price_date, "2026-05-20");
  EXPECT_EQ(chip.sources.back().where, "measured");
  EXPECT_EQ(chip.notes, "loud");
}

// A peer keeps its share of a link that is overridden: a quarter on a 2D torus, all behind a
// switch.
TEST(ReadHardware, LinkBandwidthKeepsTheShareOfAPeer) {
  EXPECT_EQ(read_hardware("v5e,link_bandwidth=400G").hardware.link->peer_bytes_per_s,
            Rational(100 * kGiga));
  EXPECT_EQ(read_hardware("h100,link_bandwidth=400G").hardware.link->peer_bytes_per_s,
            Rational(400 * kGiga));
  EXPECT_EQ(read_hardware("link_bandwidth=400G").hardware.link->peer_bytes_per_s,
            Rational(400 * kGiga));
  EXPECT_FALSE(read_hardware("p100,link_bandwidth=400G").hardware.link->peer_bytes_per_s);
}

TEST(ReadHardware, Errors) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"",                 "hardware: expected a chip, figures or a JSON file, got ''"                      },
      {"this",
       "hardware 'this' is not calibrated on this machine, expected a chip, figures such as "
       "flops=1e15, or a JSON file"                                                                         },
      {"h101",             "unknown hardware 'h101', nearest: H100-SXM5-80GB, H100-PCIe-80GB, H100-NVL-94GB"},
      {"wse 3",            "unknown hardware 'wse 3', nearest: Cerebras WSE-3"                              },
      {"qqq",              "unknown hardware 'qqq', nearest: T4, A10, A30"                                  },
      {"tpu v5x",          "unknown hardware 'tpu v5x', nearest: TPU v5e, TPU v5p"                          },
      {"h100:0",           "hardware count: expected a whole number of 1 ... 2^40, got '0'"                 },
      {"h100:2.5",         "hardware count: expected a whole number of 1 ... 2^40, got '2.5'"               },
      {"h100:2T",          "hardware count: expected a whole number of 1 ... 2^40, got '2T'"                },
      {"h100:many",        "hardware count: expected a whole number of 1 ... 2^40, got 'many'"              },
      {"h100,colour=1",
       "hardware 'h100,colour=1': unknown key 'colour', known: flops, vector_flops, memory, "
       "memory_bandwidth, link_bandwidth, network_bandwidth, domain_size, wraps_from, hop_latency, "
       "tdp, price"                                                                                         },
      {"h100,tdp=1,tdp=2", "hardware 'h100,tdp=1,tdp=2': key 'tdp' is given twice"                          },
      {"h100,",            "hardware 'h100,': expected KEY=VALUE, got ''"                                   },
      {"h100,fast",        "hardware 'h100,fast': expected KEY=VALUE, got 'fast'"                           },
      {"flops=0",          "hardware 'flops=0': flops: expected a number above 0, got '0'"                  },
      {"flops=nan",
       "hardware 'flops=nan': flops: expected a quantity such as 14.8T or 8Ki, got 'nan'"                   },
      {"memory=0",         "hardware 'memory=0': memory: expected at least 1 byte, got '0'"                 },
      {"domain_size=-1",
       "hardware 'domain_size=-1': domain_size: expected a whole number of 1 ... 2^40, got '-1'"            },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(error_of([&] { read_hardware(row.text); }), row.message);
  }
}

TEST(PeakFlops, Errors) {
  EXPECT_EQ(error_of([] { peak_flops_per_s(find_hardware("a100"), "fp8"); }),
            "hardware 'A100-SXM4-80GB': no peak for fp8, known: fp64, fp64_matrix, fp32, tf32, "
            "fp16, bf16, int8, int4");
  EXPECT_EQ(error_of([] { peak_flops_per_s(find_hardware("a100"), "fp7"); }),
            "unknown dtype 'fp7', known: fp64 fp32 tf32 bf16 fp16 fp8 int8 fp6 fp4 int4 q8_0 q5_1 "
            "q5_0 q4_1 q4_0 mxfp8 mxfp4 nvfp4");
  EXPECT_EQ(error_of([] { peak_flops_per_s(read_hardware("memory=1GB").hardware, "bf16"); }),
            "hardware 'memory=1GB': no peak for bf16, known: none");
  EXPECT_EQ(error_of([] { intensity_of(read_hardware("flops=1T").hardware, "bf16"); }),
            "hardware 'flops=1T': memory_bandwidth is not known, expected "
            "memory_bandwidth=BYTES_PER_S");
}

}  // namespace
}  // namespace flopwise
