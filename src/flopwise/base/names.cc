#include "flopwise/base/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace flopwise {

std::string normalised_name(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c == ' ' || c == '_' || c == '-') continue;
    key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       std::size_t count) {
  struct Candidate {
    std::size_t distance;
    const std::string* name;
  };
  // No known name is near 100 characters; the cut keeps a megabyte of text from costing seconds.
  const std::string_view head = name.substr(0, 100);
  std::vector<Candidate> candidates;
  candidates.reserve(names.size());
  for (const std::string& known : names) candidates.push_back({edit_distance(head, known), &known});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> nearest;
  for (const Candidate& candidate : candidates) {
    if (nearest.size() < count) nearest.push_back(*candidate.name);
  }
  return nearest;
}

}  // namespace flopwise
