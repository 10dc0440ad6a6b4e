// From what the user typed to a Model: a catalog name, letters, a config.json, a directory that
// holds one, or "-".
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/model/model.h"

namespace flopwise {

// Resolves MODEL. What exists as a file or directory is read as one; else text with '=' is letters;
// else a catalog name or alias. "-" reads a config from `standard_input`. UserError otherwise, with
// the nearest catalog names.
//
// With `as`, a model_type: a config is read as one of that family whatever it says itself, and what
// the family does not know is left out; both stand among the model's assumptions.
Model read_model(const std::string& text, std::istream& standard_input, const std::string& as = "");

// "D=4096,F=16384,L=64,V=32000,N=32": required D, L, V and N (or H); defaults H = D/N, K = N, F =
// 4D, gated=1, tied=0, bias=0, norm=rms, final_norm=1, positions=0 (rotary; a number is that many
// learned rows), E=0, k=1, shared=0, W=0, C=0, causal=1. Quantities take suffixes (V=32k is 32000).
Model model_from_letters(const std::string& text);

// A Hugging Face config. `name` is the file or catalog name in messages and in Model::name.
Model model_from_config(const nlohmann::json& config, const std::string& name,
                        const std::string& as = "");

// Bare counts where only a rule of thumb is asked: "params=671e9,active=37e9" (active defaults to
// params). Nothing when the text does not start with params= or active=.
struct BareCounts {
  Count params;
  Count active;
};
std::optional<BareCounts> read_bare_counts(const std::string& text);

// A row of the catalog, compiled in from catalog/*.json.
struct CatalogModel {
  std::string_view publisher;                 // "Meta"; rows of one stand together
  std::string_view name;                      // "llama-3-8b"
  std::span<const std::string_view> aliases;  // "meta-llama/Meta-Llama-3-8B", ...
  std::string_view description;               // letters, or the config fields as JSON
  std::string_view source;                    // citation of the facts
};
std::span<const CatalogModel> model_catalog();
Model read_catalog_row(const CatalogModel& row);
Model find_model(std::string_view name);  // UserError with the nearest names
std::vector<std::string> known_model_types();

}  // namespace flopwise
