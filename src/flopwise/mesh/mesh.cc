#include "flopwise/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

constexpr std::size_t kMaxMeshAxes = 64;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), is_name_char);
}

MeshAxis parse_axis(std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::string_view name = trimmed(item.substr(0, equals));
  if (equals == std::string_view::npos || !is_name(name)) {
    throw UserError(
        fmt::format("mesh: expected AXIS=SIZE such as X=4, got {}", quoted(trimmed(item))));
  }
  const std::string what = fmt::format("mesh axis '{}'", name);
  return {std::string(name), parse_axis_size(trimmed(item.substr(equals + 1)), what)};
}

}  // namespace

std::optional<std::int64_t> Mesh::size_of(std::string_view axis) const {
  const auto same = [&](const MeshAxis& candidate) { return candidate.name == axis; };
  const auto found = std::find_if(axes.begin(), axes.end(), same);
  if (found == axes.end()) return std::nullopt;
  return found->size;
}

Count Mesh::devices() const {
  return in_context("devices of the mesh", [&] {
    Count product = 1;
    for (const MeshAxis& axis : axes) product *= axis.size;
    return product;
  });
}

std::string Mesh::str() const {
  std::string text;
  for (const MeshAxis& axis : axes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size);
  }
  return text;
}

Mesh parse_mesh(std::string_view text) {
  Mesh mesh;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    MeshAxis axis = parse_axis(text.substr(begin, end - begin));
    if (mesh.size_of(axis.name)) {
      throw UserError(fmt::format("mesh: axis '{}' is given twice", axis.name));
    }
    if (mesh.axes.size() == kMaxMeshAxes) {
      throw UserError(fmt::format("mesh: more than {} axes", kMaxMeshAxes));
    }
    mesh.axes.push_back(std::move(axis));
    begin = end + 1;
  }
  return mesh;
}

}  // namespace flopwise
