// JSON objects read field by field.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/json.h"

namespace flopwise {
namespace {

std::string range_text(std::int64_t min, std::int64_t max) {
  const bool has_min = min != INT64_MIN;
  const bool has_max = max != INT64_MAX;
  if (has_min && has_max) return fmt::format("a whole number of {} ... {}", min, max);
  if (has_min) return fmt::format("a whole number of at least {}", min);
  if (has_max) return fmt::format("a whole number of at most {}", max);
  return "a whole number that fits 64 bits";
}

std::int64_t whole_number(const nlohmann::json& value, const std::string& place, std::int64_t min,
                          std::int64_t max) {
  std::optional<std::int64_t> number;
  if (value.is_number_unsigned()) {
    const auto unsigned_number = value.get<std::uint64_t>();
    if (unsigned_number <= INT64_MAX) number = static_cast<std::int64_t>(unsigned_number);
  } else if (value.is_number_integer()) {
    number = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const auto real = value.get<double>();
    constexpr double kLimit = 0x1p63;
    if (real == std::trunc(real) && real >= -kLimit && real < kLimit) {
      number = static_cast<std::int64_t>(real);
    }
  }
  if (!number || *number < min || *number > max) {
    throw UserError(
        fmt::format("{}: expected {}, got {}", place, range_text(min, max), shown(value)));
  }
  return *number;
}

std::string text_value(const nlohmann::json& value, const std::string& place) {
  if (!value.is_string()) {
    throw UserError(fmt::format("{}: expected a text, got {}", place, shown(value)));
  }
  return value.get<std::string>();
}

void require_array(const nlohmann::json& value, const std::string& place,
                   std::string_view expected) {
  if (!value.is_array()) {
    throw UserError(fmt::format("{}: expected {}, got {}", place, expected, shown(value)));
  }
}

}  // namespace

std::string shown(const nlohmann::json& value) {
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return value.dump();
}

JsonFields::JsonFields(const nlohmann::json& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {
  if (!object.is_object()) {
    throw UserError(fmt::format("{}{}: expected a JSON object, got {}", file_,
                                path_.empty() ? "" : ": " + path_, shown(object)));
  }
}

bool JsonFields::has(std::string_view field) const {
  const auto found = object_->find(field);
  return found != object_->end() && !found->is_null();
}

const nlohmann::json& JsonFields::raw(std::string_view field) {
  static const nlohmann::json kNull;
  mark_read(field);
  const auto found = object_->find(field);
  return found == object_->end() ? kNull : *found;
}

std::int64_t JsonFields::integer(std::string_view field, std::int64_t min, std::int64_t max) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) {
    throw UserError(fmt::format("{}: missing, expected {}", where(field), range_text(min, max)));
  }
  return whole_number(value, where(field), min, max);
}

std::int64_t JsonFields::integer_or(std::string_view field, std::int64_t fallback, std::int64_t min,
                                    std::int64_t max) {
  const nlohmann::json& value = raw(field);
  return value.is_null() ? fallback : whole_number(value, where(field), min, max);
}

double JsonFields::number_or(std::string_view field, double fallback) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) return fallback;
  if (!value.is_number()) {
    throw UserError(fmt::format("{}: expected a number, got {}", where(field), shown(value)));
  }
  return value.get<double>();
}

bool JsonFields::boolean_or(std::string_view field, bool fallback) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) return fallback;
  if (!value.is_boolean()) {
    throw UserError(fmt::format("{}: expected true or false, got {}", where(field), shown(value)));
  }
  return value.get<bool>();
}

std::string JsonFields::text(std::string_view field) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) {
    throw UserError(fmt::format("{}: missing, expected a text", where(field)));
  }
  return text_value(value, where(field));
}

std::string JsonFields::text_or(std::string_view field, const std::string& fallback) {
  const nlohmann::json& value = raw(field);
  return value.is_null() ? fallback : text_value(value, where(field));
}

std::vector<std::string> JsonFields::texts_or(std::string_view field,
                                              const std::vector<std::string>& fallback) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) return fallback;
  require_array(value, where(field), "an array of texts");
  std::vector<std::string> texts;
  for (const nlohmann::json& item : value) {
    texts.push_back(text_value(item, fmt::format("{}[{}]", where(field), texts.size())));
  }
  return texts;
}

std::vector<std::int64_t> JsonFields::integers_or(std::string_view field,
                                                  const std::vector<std::int64_t>& fallback) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) return fallback;
  require_array(value, where(field), "an array of whole numbers");
  std::vector<std::int64_t> integers;
  for (const nlohmann::json& item : value) {
    const std::string place = fmt::format("{}[{}]", where(field), integers.size());
    integers.push_back(whole_number(item, place, INT64_MIN, INT64_MAX));
  }
  return integers;
}

JsonFields JsonFields::object(std::string_view field) {
  const nlohmann::json& value = raw(field);
  if (value.is_null()) {
    throw UserError(fmt::format("{}: missing, expected a JSON object", where(field)));
  }
  return JsonFields(value, file_,
                    path_.empty() ? std::string(field) : fmt::format("{}.{}", path_, field));
}

void JsonFields::mark_read(std::string_view field) {
  if (!contains(read_, field)) read_.emplace_back(field);
}

std::vector<std::string> JsonFields::unread() const {
  std::vector<std::string> fields;
  for (const auto& [field, value] : object_->items()) {
    if (!contains(read_, field)) fields.push_back(field);
  }
  return fields;
}

std::string JsonFields::where(std::string_view field) const {
  return fmt::format("{}: {}{}{}", file_, path_, path_.empty() ? "" : ".", one_line(field));
}

}  // namespace flopwise
