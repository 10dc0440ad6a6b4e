// The whole catalog: that it is complete, what must hold of every chip, figures typed from the
// vendors' tables, and equality with the collection of facts beside the checkout.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "flopwise/base/json.h"
#include "flopwise/base/names.h"
#include "flopwise/base/units.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {
namespace {

std::optional<Rational> peak(const Hardware& chip, std::string_view type) {
  for (const PeakRate& rate : chip.peaks) {
    if (rate.dtype == type) return rate.flops_per_s;
  }
  return std::nullopt;
}

std::optional<Rational> number(const std::optional<Count>& bytes) {
  return bytes ? std::optional<Rational>(*bytes) : std::nullopt;
}

std::optional<Rational> number(const std::optional<std::int64_t>& value) {
  return value ? std::optional<Rational>(*value) : std::nullopt;
}

// Every figure of a chip by the name that its sources use; of links also the parts.
std::map<std::string, std::optional<Rational>> figures(const Hardware& chip) {
  std::map<std::string, std::optional<Rational>> all = {
      {"sparsity",         chip.sparsity_factor      },
      {"memory",           number(chip.memory_bytes) },
      {"memory_bandwidth", chip.memory_bytes_per_s   },
      {"on_chip",          number(chip.on_chip_bytes)},
      {"network",          chip.network_bytes_per_s  },
      {"pcie",             chip.pcie_bytes_per_s     },
      {"tdp",              chip.tdp_w                },
      {"price",            chip.price_usd_per_hour   },
  };
  for (const PeakRate& rate : chip.peaks) all[rate.dtype] = rate.flops_per_s;
  if (chip.link) {
    all["link"] = chip.link->bytes_per_s;
    all["peer"] = chip.link->peer_bytes_per_s;
    all["links"] = number(chip.link->links);
    all["domain"] = number(chip.link->domain_size);
  }
  return all;
}

TEST(Catalog, HasEveryChip) {
  const std::map<std::string, std::vector<std::string>> names = {
      {"NVIDIA",
       {"P100-SXM2-16GB",
        "V100-SXM2-16GB",
        "V100-SXM2-32GB",
        "V100-PCIe-32GB",
        "T4",
        "A10",
        "A10G",
        "A30",
        "A40",
        "RTX A6000",
        "L4",
        "L40",
        "L40S",
        "A100-SXM4-40GB",
        "A100-SXM4-80GB",
        "A100-PCIe-40GB",
        "A100-PCIe-80GB",
        "A800-SXM4-80GB",
        "H100-SXM5-80GB",
        "H100-PCIe-80GB",
        "H100-NVL-94GB",
        "H800-SXM5-80GB",
        "H800-PCIe-80GB",
        "H20-SXM-96GB",
        "H200-SXM-141GB",
        "H200-NVL-141GB",
        "GH200-96GB",
        "GH200-144GB",
        "B100-SXM-192GB",
        "B200-SXM-180GB",
        "B300-SXM-288GB",
        "GB200-NVL72",
        "GB300-NVL72",
        "Rubin-SXM",
        "RTX 3090",
        "RTX 4090",
        "RTX 5090",
        "RTX 6000 Ada",
        "RTX PRO 6000 Blackwell",
        "Jetson AGX Orin 64GB",
        "Jetson T5000",
        "GB10"}                                                                           },
      {"AMD",
       {"MI100-32GB", "MI210-64GB", "MI250-128GB", "MI250X-128GB", "MI300A-128GB", "MI300X-192GB",
        "MI325X-256GB", "MI350X-288GB", "MI355X-288GB", "MI455X-432GB", "RX 7900 XTX",
        "EPYC 9654"}                                                                      },
      {"Intel",    {"Gaudi2", "Gaudi3", "Data Center GPU Max 1550", "Xeon Platinum 8480+"}},
      {"Google",
       {"TPU v2", "TPU v3", "TPU v4i", "TPU v4", "TPU v5e", "TPU v5p", "TPU v6e", "TPU7x"}},
      {"AWS",      {"Trainium1", "Trainium2", "Trainium3", "Inferentia2", "AWS Graviton4"}},
      {"Apple",
       {"Apple M1", "Apple M1 Pro", "Apple M1 Max", "Apple M1 Ultra", "Apple M2", "Apple M2 Pro",
        "Apple M2 Max", "Apple M2 Ultra", "Apple M3", "Apple M3 Pro", "Apple M3 Max",
        "Apple M3 Ultra", "Apple M4", "Apple M4 Pro", "Apple M4 Max"}                     },
      {"Cerebras", {"Cerebras WSE-2", "Cerebras WSE-3"}                                   },
      {"Groq",     {"GroqChip 1"}                                                         },
  };
  std::map<std::string, std::vector<std::string>> found;
  for (const Hardware& chip : hardware_catalog()) found[chip.vendor].push_back(chip.name);
  EXPECT_EQ(found, names);
  EXPECT_EQ(hardware_catalog().size(), 89);
  // The list prints a vendor once.
  std::set<std::string> finished;
  std::string vendor;
  for (const Hardware& chip : hardware_catalog()) {
    if (chip.vendor == vendor) continue;
    EXPECT_TRUE(finished.insert(chip.vendor).second) << chip.name;
    vendor = chip.vendor;
  }
}

TEST(Catalog, ANameLeadsToOneChip) {
  std::map<std::string, std::string> owners;
  for (const Hardware& chip : hardware_catalog()) {
    std::vector<std::string> names = chip.aliases;
    names.push_back(chip.name);
    for (const std::string& name : names) {
      const auto [owner, is_new] = owners.insert({normalised_name(name), chip.name});
      EXPECT_EQ(owner->second, chip.name) << name;
      EXPECT_EQ(find_hardware(name).name, chip.name) << name;
    }
  }
}

TEST(Catalog, EveryFigureHasASource) {
  for (const Hardware& chip : hardware_catalog()) {
    SCOPED_TRACE(chip.name);
    std::map<std::string, std::optional<Rational>> stated = figures(chip);
    if (chip.price_usd_per_hour) {
      EXPECT_NE(chip.price_source, "");
    }
    for (const char* part : {"price", "peer", "links", "domain"}) stated.erase(part);
    if (chip.link && (chip.link->bytes_per_s || chip.link->links || chip.link->domain_size)) {
      stated["link"] = 1;
    }
    if (chip.sparsity_factor == Rational(1)) stated.erase("sparsity");
    std::set<std::string> sourced;
    for (const FigureSource& source : chip.sources) {
      EXPECT_NE(source.where, "");
      std::istringstream words(source.figures);
      for (std::string word; words >> word;) {
        if (word == "peaks") {
          for (const PeakRate& rate : chip.peaks) sourced.insert(rate.dtype);
          continue;
        }
        EXPECT_TRUE(stated.count(word) == 1 && stated[word]) << word << " by " << source.where;
        sourced.insert(word);
      }
    }
    for (const auto& [name, value] : stated) {
      EXPECT_TRUE(!value || sourced.count(name) == 1) << name << " has no source";
    }
  }
}

// Halving the bits of a type never makes a chip slower. Not so for int8, which Blackwell Ultra cut,
// nor for fp16, which Gaudi3 runs below bf16.
TEST(Catalog, NarrowTypesAreNotSlower) {
  const char* const chain[] = {"tf32", "bf16", "fp8", "fp6", "fp4"};
  for (const Hardware& chip : hardware_catalog()) {
    SCOPED_TRACE(chip.name);
    std::optional<Rational> wider;
    for (const char* type : chain) {
      const std::optional<Rational> rate = peak(chip, type);
      if (!rate) continue;
      if (wider) {
        EXPECT_GE(*rate, *wider) << type;
      }
      wider = rate;
    }
    const std::pair<const char*, const char*> pairs[] = {
        {"fp64", "fp64_matrix"},
        {"fp64", "fp32"       },
        {"fp32", "fp32_matrix"},
        {"fp32", "tf32"       },
        {"fp16", "fp16_acc16" },
        {"fp8",  "fp8_acc16"  },
        {"int8", "int4"       },
    };
    for (const auto& [slow, fast] : pairs) {
      const std::optional<Rational> slower = peak(chip, slow);
      const std::optional<Rational> faster = peak(chip, fast);
      if (slower && faster) {
        EXPECT_GE(*faster, *slower) << fast;
      }
    }
  }
}

TEST(Catalog, FiguresAreSane) {
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  constexpr std::int64_t kGiga = 1'000'000'000;
  for (const Hardware& chip : hardware_catalog()) {
    SCOPED_TRACE(chip.name);
    for (const auto& [name, value] : figures(chip)) {
      if (value) {
        EXPECT_GT(*value, 0) << name;
      }
    }
    EXPECT_GE(chip.year, 2016);
    EXPECT_LE(chip.year, 2026);
    EXPECT_TRUE(chip.kind);
    EXPECT_EQ(chip.status == ChipStatus::kAnnounced,
              chip.name == "Rubin-SXM" || chip.name == "MI455X-432GB");
    EXPECT_NE(chip.memory_basis, "");
    EXPECT_TRUE(chip.memory_bytes_per_s);
    // Memory is binary; SRAM that is the memory, decimal.
    if (chip.memory_bytes) {
      const bool is_decimal = chip.memory_basis.find("decimal") != std::string::npos &&
                              chip.memory_basis.find("MiB") == std::string::npos;
      const Rational unit = is_decimal ? Rational(10'000'000) : Rational(kMib);
      EXPECT_TRUE((Rational(*chip.memory_bytes) / unit).is_integer());
      EXPECT_GE(*chip.memory_bytes_per_s, 15 * kGiga);
    }
    EXPECT_EQ(chip.on_chip_bytes.has_value(), chip.on_chip_what != "");
    EXPECT_EQ(chip.price_usd_per_hour.has_value(), chip.price_source != "");
    if (!chip.link) continue;
    const Link& link = *chip.link;
    EXPECT_NE(link.topology, "");
    if (link.bytes_per_s && link.peer_bytes_per_s) {
      EXPECT_LE(*link.peer_bytes_per_s, *link.bytes_per_s);
    }
    if (link.domain_size) {
      EXPECT_GE(*link.domain_size, 2);
    }
    if (link.topology_kind == Topology::kPair) {
      EXPECT_EQ(link.domain_size, 2);
    }
    if (link.name == "PCIe only") {
      EXPECT_EQ(link.topology_kind, Topology::kTree);
      EXPECT_EQ(link.bytes_per_s, chip.pcie_bytes_per_s);
    }
    // A torus has two links an axis; a full mesh one to each peer or the same few to each.
    if (link.topology_kind == Topology::kTorus2d) {
      EXPECT_EQ(link.links, 4);
    }
    if (link.topology_kind == Topology::kTorus3d) {
      EXPECT_EQ(link.links, 6);
    }
    if (link.topology_kind == Topology::kDirect && link.peer_bytes_per_s && link.domain_size &&
        link.name != "NVLink 4 bridge") {  // its note says why
      EXPECT_EQ(*link.peer_bytes_per_s * (*link.domain_size - 1), *link.bytes_per_s);
    }
  }
}

// Typed from the vendors' tables, not from the rows: vendor by vendor, a dozen where there are as
// many.
TEST(Catalog, PublishedFigures) {
  struct Row {
    const char* chip;
    const char* figure;
    const char* value;
  };
  const Row rows[] = {
      {"P100",         "fp16",             "21.2e12"   },
      {"V100",         "fp16",             "125e12"    },
      {"V100",         "link",             "150e9"     },
      {"T4",           "int8",             "130e12"    },
      {"A10G",         "bf16",             "70e12"     },
      {"L4",           "fp8",              "242e12"    },
      {"L40S",         "memory",           "46068Mi"   },
      {"A100",         "tf32",             "156e12"    },
      {"A100",         "links",            "12"        },
      {"H100",         "fp8",              "1978.9e12" },
      {"H100",         "on_chip",          "50Mi"      },
      {"H100",         "price",            "2.95"      },
      {"H800",         "link",             "200e9"     },
      {"H20",          "bf16",             "148e12"    },
      {"H200",         "memory_bandwidth", "4.8e12"    },
      {"GH200",        "memory",           "96Gi"      },
      {"B200",         "fp4",              "9e15"      },
      {"B200",         "tdp",              "1000"      },
      {"B300",         "int8",             "153.5e12"  },
      {"GB200",        "domain",           "72"        },
      {"GB300",        "fp4",              "15e15"     },
      {"RTX 3090",     "fp16_acc16",       "142e12"    },
      {"RTX 4090",     "bf16",             "165.2e12"  },
      {"RTX 5090",     "memory_bandwidth", "1792e9"    },
      {"AGX Orin",     "int8",             "85e12"     },
      {"Jetson Thor",  "fp4",              "1035e12"   },
      {"R200",         "peer",             "1.8e12"    },
      {"MI100",        "bf16",             "92.3e12"   },
      {"MI210-64GB",   "link",             "150e9"     },
      {"MI250X",       "fp64_matrix",      "95.7e12"   },
      {"MI300A-128GB", "tdp",              "760"       },
      {"MI300X",       "bf16",             "1307.4e12" },
      {"MI300X",       "peer",             "64e9"      },
      {"MI300X",       "link",             "448e9"     },
      {"MI325X",       "memory",           "256Gi"     },
      {"MI350X",       "fp6",              "9227.5e12" },
      {"MI355X",       "fp4",              "10066.3e12"},
      {"MI355X",       "links",            "7"         },
      {"MI455X",       "memory_bandwidth", "23.3e12"   },
      {"RX 7900 XTX",  "fp16",             "122.8e12"  },
      {"Genoa 9654",   "memory_bandwidth", "460.8e9"   },
      {"Gaudi2",       "bf16",             "432e12"    },
      {"Gaudi2",       "link",             "262.5e9"   },
      {"Gaudi2",       "network",          "37.5e9"    },
      {"Gaudi2",       "memory",           "96Gi"      },
      {"Gaudi3",       "fp8",              "1677e12"   },
      {"Gaudi3",       "tf32",             "459e12"    },
      {"Gaudi3",       "links",            "21"        },
      {"Gaudi3",       "memory_bandwidth", "3.7e12"    },
      {"PVC",          "fp64",             "52.4e12"   },
      {"PVC",          "on_chip",          "408Mi"     },
      {"Xeon 8480+",   "bf16",             "114.7e12"  },
      {"Xeon 8480+",   "pcie",             "63e9"      },
      {"TPU v2",       "bf16",             "46e12"     },
      {"TPU v3",       "domain",           "1024"      },
      {"v4i",          "memory",           "8Gi"       },
      {"TPU v4",       "link",             "300e9"     },
      {"TPU v4",       "bf16",             "275e12"    },
      {"TPU v5e",      "int8",             "394e12"    },
      {"TPU v5p",      "domain",           "8960"      },
      {"TPU v5p",      "memory",           "95Gi"      },
      {"Trillium",     "bf16",             "918e12"    },
      {"Trillium",     "memory_bandwidth", "1638e9"    },
      {"Ironwood",     "fp8",              "4614e12"   },
      {"Ironwood",     "memory_bandwidth", "7.38e12"   },
      {"trn1",         "bf16",             "190e12"    },
      {"trn1",         "peer",             "48e9"      },
      {"trn1",         "network",          "6.25e9"    },
      {"trn2",         "fp8",              "1299e12"   },
      {"trn2",         "sparsity",         "3.84"      },
      {"trn2",         "link",             "640e9"     },
      {"trn2",         "on_chip",          "224Mi"     },
      {"trn3",         "fp4",              "2517e12"   },
      {"trn3",         "domain",           "144"       },
      {"trn3",         "memory_bandwidth", "4.9e12"    },
      {"inf2",         "link",             "96e9"      },
      {"Graviton4",    "memory_bandwidth", "537.6e9"   },
      {"M1",           "memory_bandwidth", "68.25e9"   },
      {"M1 Max",       "fp32",             "10.6e12"   },
      {"M1 Ultra",     "memory",           "128Gi"     },
      {"M2",           "fp16",             "3.6e12"    },
      {"M2 Pro",       "memory_bandwidth", "204.8e9"   },
      {"M2 Ultra",     "fp32",             "27.2e12"   },
      {"M3",           "memory_bandwidth", "102.4e9"   },
      {"M3 Pro",       "memory",           "36Gi"      },
      {"M3 Ultra",     "memory",           "512Gi"     },
      {"M4",           "memory_bandwidth", "120e9"     },
      {"M4 Pro",       "memory_bandwidth", "273e9"     },
      {"M4 Max",       "fp32",             "18.4e12"   },
      {"CS-2",         "fp16",             "7.5e15"    },
      {"CS-2",         "memory",           "40e9"      },
      {"CS-2",         "memory_bandwidth", "20e15"     },
      {"CS-3",         "memory",           "44e9"      },
      {"CS-3",         "memory_bandwidth", "21e15"     },
      {"CS-3",         "tdp",              "23000"     },
      {"Groq LPU v1",  "fp16",             "188e12"    },
      {"Groq LPU v1",  "int8",             "750e12"    },
      {"Groq LPU v1",  "memory",           "230e6"     },
      {"Groq LPU v1",  "memory_bandwidth", "80e12"     },
      {"Groq LPU v1",  "tdp",              "215"       },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.chip) + " " + row.figure);
    EXPECT_EQ(figures(find_hardware(row.chip))[row.figure], parse_quantity(row.value, "value"));
  }
}

// What is not known is absent, and never 0.
TEST(Catalog, UnknownFiguresAreAbsent) {
  EXPECT_TRUE(find_hardware("CS-3").peaks.empty());
  EXPECT_FALSE(find_hardware("CS-3").sparsity_factor);
  EXPECT_FALSE(find_hardware("a100").vector_flops_per_s);
  EXPECT_FALSE(find_hardware("xeon 8480+").memory_bytes);
  EXPECT_FALSE(find_hardware("M4").link);
  EXPECT_FALSE(find_hardware("M4").on_chip_bytes);
  EXPECT_FALSE(find_hardware("T4").link->domain_size);
  EXPECT_FALSE(find_hardware("P100").link->peer_bytes_per_s);
  EXPECT_FALSE(find_hardware("MI300A-128GB").link->bytes_per_s);
  EXPECT_FALSE(find_hardware("inf2").link->links);
  EXPECT_FALSE(find_hardware("v5e").tdp_w);
  EXPECT_FALSE(find_hardware("A10").price_usd_per_hour);
  EXPECT_EQ(find_hardware("a100").price_date, "");
  EXPECT_EQ(find_hardware("h100").price_date, "2026-05-20");
}

// ---- the collection beside the checkout ------------------------------------------------------

// The topology that the collection's words mean.
const std::map<std::string, Topology>& meaning_of_words() {
  static const std::map<std::string, Topology> kMeanings = {
      {"hybrid cube mesh (no switch)",                                      Topology::kMesh    },
      {"hybrid cube mesh (DGX-1) or NVSwitch (DGX-2)",                      Topology::kMesh    },
      {"partially connected OAM mesh",                                      Topology::kMesh    },
      {"OAM mesh",                                                          Topology::kMesh    },
      {"host PCIe tree",                                                    Topology::kTree    },
      {"broadcast/reduce tree",                                             Topology::kTree    },
      {"bridge pair",                                                       Topology::kPair    },
      {"two-node pairing",                                                  Topology::kPair    },
      {"2 sockets",                                                         Topology::kPair    },
      {"2-8 sockets",                                                       Topology::kUnknown },
      {"bridge group",                                                      Topology::kDirect  },
      {"bridge group, direct",                                              Topology::kDirect  },
      {"direct APU-APU",                                                    Topology::kDirect  },
      {"direct all-to-all",                                                 Topology::kDirect  },
      {"direct all-to-all, one link per peer",                              Topology::kDirect  },
      {"direct all-to-all, 3 ports per peer",                               Topology::kDirect  },
      {"switched",                                                          Topology::kSwitched},
      {"switched all-to-all",                                               Topology::kSwitched},
      {"switched all-to-all (NVSwitch)",                                    Topology::kSwitched},
      {"NVSwitch or NVL2; plus NVLink-C2C 450 GB/s per direction to Grace", Topology::kSwitched},
      {"ring",                                                              Topology::kRing    },
      {"ring of 4",                                                         Topology::kRing    },
      {"2D torus",                                                          Topology::kTorus2d },
      {"3D torus (OCS)",                                                    Topology::kTorus3d },
      {"3D torus (OCS), 4x4x4 cubes",                                       Topology::kTorus3d },
 // Two axes inside an instance, the third across four of them.
      {"4x4 2D torus per instance, rings across 4 instances (UltraServer)", Topology::kTorus3d },
  };
  return kMeanings;
}

// A field of the collection; null is absent.
std::optional<Rational> fact(const nlohmann::json& value) {
  if (value.is_null()) return std::nullopt;
  return parse_quantity(value.dump(), "the collection");
}

void expect_link(const std::optional<Link>& link, const nlohmann::json& facts) {
  ASSERT_EQ(link.has_value(), !facts.is_null());
  if (!link) return;
  EXPECT_EQ(link->name, facts["name"].get<std::string>());
  EXPECT_EQ(link->bytes_per_s, fact(facts["bandwidth_Bps_per_direction"]));
  EXPECT_EQ(link->peer_bytes_per_s, fact(facts["peer_bandwidth_Bps_per_direction"]));
  EXPECT_EQ(number(link->links), fact(facts["links"]));
  EXPECT_EQ(number(link->domain_size), fact(facts["domain_size"]));
  const auto meaning = meaning_of_words().find(facts["topology"].get<std::string>());
  ASSERT_NE(meaning, meaning_of_words().end()) << facts["topology"];
  EXPECT_EQ(link->topology_kind, meaning->second);
}

void expect_chip(const Hardware& chip, const nlohmann::json& facts) {
  for (const nlohmann::json& alias : facts["aliases"]) {
    EXPECT_EQ(find_hardware(alias.get<std::string>()).name, chip.name) << alias;
  }
  EXPECT_EQ(chip.vendor, facts["vendor"].get<std::string>());
  EXPECT_EQ(chip.year, facts["year"].get<int>());
  EXPECT_EQ(name_of(*chip.kind), facts["kind"].get<std::string>());
  EXPECT_EQ(name_of(chip.status), facts["status"].get<std::string>());
  std::map<std::string, std::optional<Rational>> peaks;
  for (const auto& [type, rate] : facts["peak_flops"].items()) {
    if (!rate.is_null()) peaks[type] = fact(rate);
  }
  std::map<std::string, std::optional<Rational>> own;
  for (const PeakRate& rate : chip.peaks) own[rate.dtype] = rate.flops_per_s;
  EXPECT_EQ(own, peaks);
  EXPECT_EQ(chip.sparsity_factor, fact(facts["sparsity_factor"]));
  EXPECT_EQ(number(chip.memory_bytes), fact(facts["memory_bytes"]));
  EXPECT_EQ(chip.memory_bytes_per_s, fact(facts["memory_bandwidth_Bps"]));
  EXPECT_EQ(number(chip.on_chip_bytes), fact(facts["on_chip_bytes"]));
  expect_link(chip.link, facts["link"]);
  EXPECT_EQ(chip.network_bytes_per_s, fact(facts["network_Bps_per_direction"]));
  EXPECT_EQ(chip.pcie_bytes_per_s, fact(facts["pcie_Bps_per_direction"]));
  EXPECT_EQ(chip.tdp_w, fact(facts["tdp_W"]));
  const nlohmann::json& price = facts["price_usd_per_hour"];
  EXPECT_EQ(chip.price_usd_per_hour, price.is_null() ? std::nullopt : fact(price["value"]));
  const bool is_dated = !price.is_null() && !price["date"].is_null();
  EXPECT_EQ(chip.price_date, is_dated ? price["date"].get<std::string>() : "");
}

TEST(Catalog, EqualsTheCollection) {
  const std::filesystem::path file =
      std::filesystem::path(FLOPWISE_SOURCE_DIR).parent_path() / "shared" / "hardware.json";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "there is no shared/hardware.json beside the checkout";
  }
  const nlohmann::json collection = read_json_file(file.string());
  std::set<std::string> names;
  for (const nlohmann::json& facts : collection["entries"]) {
    const std::string name = facts["name"].get<std::string>();
    SCOPED_TRACE(name);
    names.insert(name);
    const Hardware& chip = find_hardware(name);
    EXPECT_EQ(chip.name, name);
    expect_chip(chip, facts);
  }
  EXPECT_EQ(names.size(), hardware_catalog().size());
}

}  // namespace
}  // namespace flopwise
