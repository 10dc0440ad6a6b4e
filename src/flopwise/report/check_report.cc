#include "flopwise/report/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/facts.h"

namespace flopwise {
namespace {

// Of one list; JSON has all.
constexpr std::size_t kMostLines = 20;
// A pattern with as many extra tensors stands for them in one line.
constexpr std::size_t kNamedAlone = 3;

template <typename Sizes>
std::string shape_text(const Sizes& shape) {
  std::vector<std::string> sizes;
  for (const Count size : shape) sizes.push_back(size.str());
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

template <typename Sizes>
Json shape_json(const Sizes& shape) {
  Json json = Json::array();
  for (const Count size : shape) json.push(size);
  return json;
}

std::string plural(Count count, const char* what) {
  return fmt::format("{} {}{}", count.grouped(), what, count == 1 ? "" : "s");
}

std::string format_text(const WeightCheck& check, const Checkpoint& checkpoint) {
  if (!check.has_shapes) return "an index alone";
  return checkpoint.format == CheckpointFormat::kGguf ? "GGUF" : "safetensors";
}

// "BF16", "I32, GPTQ, 4 bits".
std::string type_text(const HeldParameters& row) {
  return row.form.empty() ? std::string(row.type) : fmt::format("{}, {}", row.type, row.form);
}

std::string held_table(const WeightCheck& check) {
  std::vector<TextTable::Column> columns = {
      {"tensor", Align::kLeft },
      {"",       Align::kRight}
  };
  if (check.has_shapes)
    columns.insert(columns.end(), {
                                      {"shape",     Align::kLeft},
                                      {"stored as", Align::kLeft}
    });
  columns.insert(columns.end(), {
                                    {"parameters", Align::kRight},
                                    {"of",         Align::kLeft }
  });
  TextTable table(columns);
  for (const HeldParameters& row : check.held) {
    std::vector<std::string> cells = {one_line(row.pattern), row.tensors.grouped()};
    if (check.has_shapes) {
      cells.push_back(row.shape.empty() ? "" : shape_text(row.shape));
      cells.push_back(type_text(row));
    }
    cells.push_back(row.elements.grouped());
    cells.push_back(fmt::format("{}", fmt::join(row.parameters, " + ")));
    table.add_row(std::move(cells));
  }
  return table.str();
}

std::string besides_table(const WeightCheck& check) {
  if (check.besides.empty()) return "";
  std::vector<TextTable::Column> columns = {
      {"stored besides", Align::kLeft },
      {"",               Align::kRight}
  };
  if (check.has_shapes)
    columns.insert(columns.end(), {
                                      {"elements", Align::kRight},
                                      {"bytes",    Align::kRight}
    });
  columns.push_back({"what", Align::kLeft});
  TextTable table(columns);
  for (const Besides& row : check.besides) {
    std::vector<std::string> cells = {one_line(row.pattern), row.tensors.grouped()};
    if (check.has_shapes) {
      cells.push_back(row.elements.grouped());
      cells.push_back(row.bytes.grouped());
    }
    cells.push_back(row.what);
    table.add_row(std::move(cells));
  }
  return "\n" + table.str();
}

// ---- differences -----------------------------------------------------------------------------

// At most kMostLines, then how many more there are.
std::string capped(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.size() <= kMostLines) return lines_of(title, lines);
  std::vector<std::string> first(lines.begin(), lines.begin() + kMostLines);
  first.push_back(fmt::format("and {} more (--json has all)", lines.size() - kMostLines));
  return lines_of(title, first);
}

std::vector<std::string> missing_lines(const WeightCheck& check) {
  std::vector<std::string> lines;
  for (const MissingTensor& one : check.missing) {
    const std::string times = one.tensors == 1 ? "" : fmt::format(" x {}", one.tensors.grouped());
    lines.push_back(fmt::format("{}{}: {} of {}", one_line(one.name), times,
                                plural(one.elements, "parameter"), shape_text(one.shape)));
  }
  return lines;
}

std::vector<std::string> extra_lines(const WeightCheck& check) {
  struct Group {
    std::vector<const ExtraTensor*> tensors;
  };
  std::vector<std::pair<std::string, Group>> groups;
  std::map<std::string, std::size_t> at;
  for (const ExtraTensor& one : check.extra) {
    const auto [place, is_new] = at.emplace(one.pattern + "|" + one.why, groups.size());
    if (is_new) groups.push_back({one.pattern, {}});
    groups[place->second].second.tensors.push_back(&one);
  }
  std::vector<std::string> lines;
  const auto add = [&](const std::string& name, const std::string& times, const ExtraTensor& one) {
    const std::string shape = check.has_shapes ? " " + shape_text(one.shape) : "";
    lines.push_back(fmt::format("{}{}{}: {}", one_line(name), times, shape, one.why));
  };
  for (const auto& [pattern, group] : groups) {
    if (group.tensors.size() > kNamedAlone) {
      add(pattern, fmt::format(" x {}", group.tensors.size()), *group.tensors.front());
      continue;
    }
    for (const ExtraTensor* one : group.tensors) add(one->name, "", *one);
  }
  return lines;
}

std::vector<std::string> shape_lines(const WeightCheck& check) {
  std::vector<std::string> lines;
  for (const OtherShape& one : check.other_shape) {
    const std::string form = one.form.empty() ? "" : fmt::format(" ({})", one.form);
    lines.push_back(fmt::format("{}: stored {}{}, expected {} for {}", one_line(one.name),
                                shape_text(one.shape), form, shape_text(one.expected),
                                fmt::join(one.parameters, " + ")));
  }
  return lines;
}

// ---- totals ----------------------------------------------------------------------------------

std::string signed_text(Count count) {
  return (count > 0 ? "+" : "") + count.grouped();
}

std::string totals(const WeightCheck& check) {
  TextTable table({
      {"elements", Align::kLeft },
      {"",         Align::kRight}
  });
  table.add_row({"parameters derived", check.params.grouped()});
  for (const ExplainedElements& line : check.difference) {
    table.add_row({std::string(line.what), signed_text(line.elements)});
  }
  table.add_rule();
  table.add_row({"stored", check.stored_elements.grouped()});
  return "\n" + table.str();
}

// What an index claims, since nothing else tells the size of what it names.
std::optional<Count> claimed_bytes(const Checkpoint& checkpoint) {
  const MetadataValue* claim = checkpoint.find_metadata("total_size");
  if (claim == nullptr) return std::nullopt;
  if (const Count* bytes = std::get_if<Count>(&claim->value)) return *bytes;
  const double* bytes = std::get_if<double>(&claim->value);
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (bytes == nullptr || !(*bytes >= 0 && *bytes <= kLargestExact)) return std::nullopt;
  return Count(static_cast<std::int64_t>(*bytes));
}

// "2 B for each derived parameter and 8,192 B more".
std::string claim_text(Count claimed, Count params) {
  const Count each = Count::of(claimed.value() / params.value());
  const Count rest = claimed - each * params;
  if (each == 0) return fmt::format("less than a byte for each of {} parameters", params.grouped());
  return fmt::format("{} B for each of {} derived parameters{}", each.str(), params.grouped(),
                     rest == 0 ? "" : fmt::format(" and {} B more", rest.grouped()));
}

std::string names_only_totals(const WeightCheck& check, const Checkpoint& checkpoint) {
  Facts facts;
  facts.add("parameters derived", check.params.grouped());
  if (const auto claimed = claimed_bytes(checkpoint)) {
    facts.add("total_size", claimed->grouped() + " B",
              "as the index claims: " + claim_text(*claimed, check.params));
  }
  return "\n" + facts.str();
}

// ---- JSON ------------------------------------------------------------------------------------

const char* name_of(BesidesKind kind) {
  switch (kind) {
    case BesidesKind::kCopy:
      return "copy";
    case BesidesKind::kBuffer:
      return "buffer";
    case BesidesKind::kQuantisation:
      return "quantisation";
    case BesidesKind::kMtp:
      return "mtp";
    case BesidesKind::kOtherModel:
      return "other_model";
  }
  throw InternalError("unknown kind");
}

template <typename Row, typename Function>
Json array_of(const std::vector<Row>& rows, Function json_of) {
  Json array = Json::array();
  for (const Row& row : rows) array.push(json_of(row));
  return array;
}

}  // namespace

std::string check_text(const WeightCheck& check, const Checkpoint& checkpoint) {
  const std::string size =
      check.has_shapes
          ? fmt::format(" in {}, {} B of data",
                        plural(static_cast<std::int64_t>(checkpoint.files.size()), "file"),
                        check.stored_bytes.grouped())
          : "";
  std::string text = one_line(check.verdict()) + "\n";
  text += fmt::format("  {}: {}{}\n\n", format_text(check, checkpoint),
                      plural(check.stored_tensors, "tensor"), size);
  text += held_table(check) + besides_table(check);
  text += capped("Missing", missing_lines(check));
  text += capped("Extra", extra_lines(check));
  text += capped("Of another shape", shape_lines(check));
  text += check.has_shapes ? totals(check) : names_only_totals(check, checkpoint);
  return text + lines_of("Noted", checkpoint.notes);
}

Json check_json(const WeightCheck& check, const Checkpoint& checkpoint) {
  const auto known = [&](Count count) { return check.has_shapes ? Json(count) : Json(); };
  Json json = Json::object()
                  .add("schema", 1)
                  .add("model", check.model)
                  .add("agrees", check.agrees())
                  .add("verdict", one_line(check.verdict()))
                  .add("compared", check.has_shapes ? "shapes" : "names");
  json.add("checkpoint",
           Json::object()
               .add("format", !check.has_shapes                              ? "index"
                              : checkpoint.format == CheckpointFormat::kGguf ? "gguf"
                                                                             : "safetensors")
               .add("tensors", check.stored_tensors)
               .add("elements", known(check.stored_elements))
               .add("bytes", known(check.stored_bytes))
               .add("claimed_bytes", Json(claimed_bytes(checkpoint))));
  json.add("params", check.params);
  json.add("tensors", array_of(check.held, [&](const HeldParameters& row) {
             return Json::object()
                 .add("name", row.pattern)
                 .add("tensors", row.tensors)
                 .add("shape", row.shape.empty() ? Json() : shape_json(row.shape))
                 .add("type", check.has_shapes ? Json(row.type) : Json())
                 .add("form", row.form.empty() ? Json() : Json(row.form))
                 .add("holds", text_list(row.parameters))
                 .add("params", row.elements)
                 .add("elements", known(row.stored_elements))
                 .add("bytes", known(row.bytes));
           }));
  json.add("besides", array_of(check.besides, [&](const Besides& row) {
             return Json::object()
                 .add("name", row.pattern)
                 .add("kind", name_of(row.kind))
                 .add("what", row.what)
                 .add("tensors", row.tensors)
                 .add("elements", known(row.elements))
                 .add("bytes", known(row.bytes));
           }));
  json.add("missing", array_of(check.missing, [](const MissingTensor& one) {
             return Json::object()
                 .add("name", one.name)
                 .add("tensors", one.tensors)
                 .add("shape", shape_json(one.shape))
                 .add("params", one.elements);
           }));
  json.add("extra", array_of(check.extra, [&](const ExtraTensor& one) {
             return Json::object()
                 .add("name", one.name)
                 .add("shape", check.has_shapes ? shape_json(one.shape) : Json())
                 .add("elements", known(one.elements))
                 .add("bytes", known(one.bytes))
                 .add("why", one.why);
           }));
  json.add("other_shape", array_of(check.other_shape, [](const OtherShape& one) {
             return Json::object()
                 .add("name", one.name)
                 .add("holds", text_list(one.parameters))
                 .add("shape", shape_json(one.shape))
                 .add("form", one.form.empty() ? Json() : Json(one.form))
                 .add("expected", shape_json(one.expected));
           }));
  json.add("difference", array_of(check.difference, [](const ExplainedElements& line) {
             return Json::object().add("what", line.what).add("elements", line.elements);
           }));
  return json.add("notes", text_list(checkpoint.notes));
}

}  // namespace flopwise
