// The released models that flopwise knows by name. The rows are data, catalog/*.json, and each goes
// through the same readers as a user's file; none is parsed until it is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/names.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

bool is_called(const CatalogModel& row, const std::string& key) {
  return normalised_name(row.name) == key ||
         std::any_of(row.aliases.begin(), row.aliases.end(),
                     [&](std::string_view alias) { return normalised_name(alias) == key; });
}

}  // namespace

Model read_catalog_row(const CatalogModel& row) {
  const std::string name(row.name);
  const std::string description(row.description);
  Model model = description.starts_with('{')
                    ? model_from_config(parse_json(description, name), name)
                    : model_from_letters(description);
  model.name = name;
  model.source = row.source;
  return model;
}

Model find_model(std::string_view name) {
  const std::string key = normalised_name(name);
  std::vector<std::string> names;
  for (const CatalogModel& row : model_catalog()) {
    if (is_called(row, key)) return read_catalog_row(row);
    names.emplace_back(row.name);
  }
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  throw UserError(fmt::format("unknown model {}, nearest: {}", quoted(name),
                              fmt::join(nearest_names(lower, names), ", ")));
}

}  // namespace flopwise
