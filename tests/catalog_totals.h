// tests/catalog_totals.csv: the parameters of every model of the catalog and where they are known
// from.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "flopwise/model/read_model.h"

namespace flopwise {

struct CatalogTotal {
  std::string name;
  std::int64_t total = 0;
  std::int64_t active = 0;
  std::string provenance;
};

inline std::vector<CatalogTotal> catalog_totals() {
  std::ifstream file(FLOPWISE_SOURCE_DIR "/tests/catalog_totals.csv");
  std::vector<CatalogTotal> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("name,")) continue;
    std::istringstream cells(line);
    CatalogTotal row;
    std::string total;
    std::string active;
    std::getline(cells, row.name, ',');
    std::getline(cells, total, ',');
    std::getline(cells, active, ',');
    std::getline(cells, row.provenance);
    row.total = std::stoll(total);
    row.active = std::stoll(active);
    rows.push_back(row);
  }
  return rows;
}

// A model without a number and a number without a model both fail.
inline void expect_a_number_for_every_model() {
  std::multiset<std::string> numbered;
  std::multiset<std::string> named;
  for (const CatalogTotal& row : catalog_totals()) {
    numbered.insert(row.name);
    EXPECT_FALSE(row.provenance.empty()) << row.name;
  }
  for (const CatalogModel& row : model_catalog()) named.emplace(row.name);
  EXPECT_EQ(numbered, named);
}

}  // namespace flopwise
