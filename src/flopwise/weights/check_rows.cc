#include "flopwise/weights/check_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

std::vector<std::string> names_of(const std::vector<const Parameter*>& parameters) {
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters) names.push_back(parameter->name);
  return names;
}

}  // namespace

CheckRows::CheckRows(std::string model, bool has_shapes, Count params) {
  check_.model = std::move(model);
  check_.has_shapes = has_shapes;
  check_.params = params;
}

void CheckRows::count(const StoredTensor& tensor) {
  check_.stored_tensors += 1;
  check_.stored_elements += tensor.elements;
  check_.stored_bytes += tensor.bytes;
}

void CheckRows::add_held(const Finding& finding) {
  const StoredTensor& tensor = *finding.item->tensor;
  HeldParameters& sum = check_.held[row_of(finding)];
  sum.tensors += 1;
  sum.elements += finding.reading->elements[finding.shape];
  sum.stored_elements += tensor.elements;
  sum.bytes += tensor.bytes;
}

// Most tensors are summed up in the row of the one before them that was read alike; of packed
// ones the form is part of what tells rows apart.
std::size_t CheckRows::row_of(const Finding& finding) {
  Reading& reading = *finding.reading;
  const std::string_view type = finding.item->tensor->type.name;
  const bool is_plain = !finding.unpacked && is_stored_as(finding, reading);
  if (is_plain) {
    for (const Reading::Row& row : reading.rows) {
      if (row.shape == finding.shape && row.type == type) return row.row;
    }
  }
  const std::size_t row = new_or_known_row(finding);
  if (is_plain) reading.rows.push_back({type, finding.shape, row});
  return row;
}

bool CheckRows::is_stored_as(const Finding& finding, const Reading& reading) const {
  const Shape& expected = reading.shapes[finding.shape];
  const StoredShape& stored = finding.item->tensor->shape;
  return !check_.has_shapes ||
         std::equal(stored.begin(), stored.end(), expected.begin(), expected.end(),
                    [](std::int64_t a, Count b) { return b == a; });
}

Shape CheckRows::shape_of(const Finding& finding) const {
  if (!check_.has_shapes) return {};
  if (!finding.unpacked) {
    const StoredShape& stored = finding.item->tensor->shape;
    return {stored.begin(), stored.end()};
  }
  return finding.unpacked->shape.value_or(finding.reading->shapes[finding.shape]);
}

std::size_t CheckRows::new_or_known_row(const Finding& finding) {
  HeldParameters row;
  row.pattern = finding.item->name->pattern;
  row.parameters = names_of(finding.reading->parameters);
  row.shape = shape_of(finding);
  row.type = finding.item->tensor->type.name;
  if (finding.unpacked) row.form = finding.unpacked->form;
  std::string key =
      fmt::format("{}|{}|{}|{}", row.pattern, row.type, row.form, fmt::join(row.parameters, "+"));
  for (const Count size : row.shape) key += "|" + size.str();
  const auto [at, is_new] = held_at_.emplace(std::move(key), check_.held.size());
  if (is_new) {
    check_.held.push_back(std::move(row));
    positions_.push_back(finding.reading->parameters.front()->position);
  }
  return at->second;
}

void CheckRows::add_other_shape(const Finding& finding) {
  const StoredTensor& tensor = *finding.item->tensor;
  const Reading& reading = *finding.reading;
  check_.other_shape.push_back({
      std::string(tensor.name),
      names_of(reading.parameters),
      {tensor.shape.begin(), tensor.shape.end()},
      finding.unpacked ? finding.unpacked->form : "",
      reading.shapes.front(),
      tensor.elements,
      reading.elements.front()
  });
}

void CheckRows::add_besides(BesidesKind kind, const Item& item, std::string what) {
  const std::string key = fmt::format("{}|{}", item.name->pattern, what);
  const auto [at, is_new] = besides_at_.emplace(key, check_.besides.size());
  if (is_new) check_.besides.push_back({kind, item.name->pattern, std::move(what), {}, {}, {}});
  Besides& sum = check_.besides[at->second];
  sum.tensors += 1;
  sum.elements += item.tensor->elements;
  sum.bytes += item.tensor->bytes;
}

void CheckRows::add_extra(const Item& item, std::string why) {
  const StoredTensor& tensor = *item.tensor;
  check_.extra.push_back({
      std::string(tensor.name),
      item.name->pattern,
      {tensor.shape.begin(), tensor.shape.end()},
      tensor.elements,
      tensor.bytes,
      std::move(why)
  });
}

WeightCheck CheckRows::finish(std::vector<MissingTensor> missing) {
  check_.missing = std::move(missing);
  std::vector<std::size_t> order(check_.held.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return positions_[a] < positions_[b]; });
  std::vector<HeldParameters> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(check_.held[i]));
  check_.held = std::move(sorted);
  std::stable_sort(check_.besides.begin(), check_.besides.end(),
                   [](const Besides& a, const Besides& b) { return a.kind < b.kind; });
  if (check_.has_shapes) explain_difference();
  return std::move(check_);
}

Count CheckRows::besides_elements(BesidesKind kind) const {
  Count elements = 0;
  for (const Besides& row : check_.besides) {
    if (row.kind == kind) elements += row.elements;
  }
  return elements;
}

void CheckRows::explain_difference() {
  Count packing = 0;
  for (const HeldParameters& row : check_.held) packing += row.stored_elements - row.elements;
  Count missing = 0;
  for (const MissingTensor& one : check_.missing) missing += one.elements;
  Count extra = 0;
  for (const ExtraTensor& one : check_.extra) extra += one.elements;
  Count other_shape = 0;
  for (const OtherShape& one : check_.other_shape) {
    other_shape += one.stored_elements - one.expected_elements;
  }
  const std::pair<std::string_view, Count> parts[] = {
      {"copies of what is stored elsewhere", besides_elements(BesidesKind::kCopy)        },
      {"buffers of the code",                besides_elements(BesidesKind::kBuffer)      },
      {"scales, zeros and maps",             besides_elements(BesidesKind::kQuantisation)},
      {"multi-token prediction",             besides_elements(BesidesKind::kMtp)         },
      {"other models",                       besides_elements(BesidesKind::kOtherModel)  },
      {"several weights in an element",      packing                                     },
      {"missing",                            Count(0) - missing                          },
      {"extra",                              extra                                       },
      {"of another shape",                   other_shape                                 },
  };
  Count sum = check_.params;
  for (const auto& [what, elements] : parts) {
    sum += elements;
    if (elements != 0) check_.difference.push_back({what, elements});
  }
  FLOPWISE_CHECK(sum == check_.stored_elements, "the difference of the totals is explained");
}

Count WeightCheck::missing_tensors() const {
  Count count = 0;
  for (const MissingTensor& one : missing) count += one.tensors;
  return count;
}

std::string WeightCheck::verdict() const {
  if (!agrees()) {
    std::vector<std::string> parts;
    const Count absent = missing_tensors();
    if (absent != 0) {
      parts.push_back(fmt::format("{} tensor{} missing", absent.grouped(), absent == 1 ? "" : "s"));
    }
    if (!extra.empty()) parts.push_back(fmt::format("{} extra", extra.size()));
    if (!other_shape.empty())
      parts.push_back(fmt::format("{} of another shape", other_shape.size()));
    return fmt::format("{}: checkpoint and model differ{}: {}", model,
                       has_shapes ? "" : " in their names", fmt::join(parts, ", "));
  }
  if (!has_shapes) {
    return fmt::format(
        "{}: names agree, {} tensors; shapes and sizes are not known, the index stands alone",
        model, stored_tensors.grouped());
  }
  return fmt::format("{}: checkpoint and model agree, {} parameters", model, params.grouped());
}

}  // namespace flopwise
