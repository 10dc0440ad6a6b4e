// The released models that flopwise knows by name. The rows are data, catalog/*.json, and each goes
// through the same readers as a user's file; none is parsed until it is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "flopwise/base/contains.h"
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

// The three models of which the name or an alias is nearest; ids of the Hub are too long to
// compare.
std::vector<std::string> nearest_models(std::string_view name) {
  std::vector<std::string> texts;
  std::map<std::string, std::string_view> models;
  for (const CatalogModel& row : model_catalog()) {
    texts.emplace_back(row.name);
    models.emplace(row.name, row.name);
    for (const std::string_view alias : row.aliases) {
      if (alias.find('/') != std::string_view::npos) continue;
      texts.emplace_back(alias);
      models.emplace(alias, row.name);
    }
  }
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<std::string> nearest;
  for (const std::string& text : nearest_names(lower, texts, texts.size())) {
    const std::string model(models.at(text));
    if (!contains(nearest, model)) nearest.push_back(model);
    if (nearest.size() == 3) break;
  }
  return nearest;
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
  for (const CatalogModel& row : model_catalog()) {
    if (is_called(row, key)) return read_catalog_row(row);
  }
  throw UserError(fmt::format("unknown model {}, nearest: {}", quoted(name),
                              fmt::join(nearest_models(name), ", ")));
}

}  // namespace flopwise
