// JSON written with all digits of a Count.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

constexpr std::size_t kShortArray = 80;  // characters of an array that stays on its line

std::string escaped(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const char c = text[0];
    if (length == 0) {
      result += "\uFFFD";
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result + "\"";
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  if (value == std::trunc(value) && std::abs(value) < 0x1p53) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{:.17g}", value);
}

void new_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

}  // namespace

Json Json::array(Array items) {
  Json json;
  json.value_ = std::move(items);
  return json;
}

Json Json::object(Object fields) {
  Json json;
  json.value_ = std::move(fields);
  return json;
}

Json& Json::add(std::string key, Json value) {
  auto* fields = std::get_if<Object>(&value_);
  FLOPWISE_CHECK(fields != nullptr, "a field is added to a JSON object");
  fields->emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::push(Json item) {
  auto* items = std::get_if<Array>(&value_);
  FLOPWISE_CHECK(items != nullptr, "an item is pushed to a JSON array");
  items->push_back(std::move(item));
  return *this;
}

std::string Json::str(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void Json::write(std::string& out, int indent, int depth) const {
  if (std::holds_alternative<std::nullptr_t>(value_)) {
    out += "null";
  } else if (const auto* boolean = std::get_if<bool>(&value_)) {
    out += *boolean ? "true" : "false";
  } else if (const auto* count = std::get_if<Count>(&value_)) {
    out += count->str();
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out += number_text(*number);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    out += escaped(*text);
  } else if (const auto* items = std::get_if<Array>(&value_)) {
    const auto is_scalar = [](const Json& item) {
      return !std::holds_alternative<Array>(item.value_) &&
             !std::holds_alternative<Object>(item.value_);
    };
    if (indent >= 0 && std::all_of(items->begin(), items->end(), is_scalar)) {
      std::string line;
      for (const Json& item : *items) {
        if (!line.empty()) line += ", ";
        item.write(line, -1, 0);
      }
      if (line.size() <= kShortArray) {
        out += '[' + line + ']';
        return;
      }
    }
    out += '[';
    for (const Json& item : *items) {
      if (&item != items->data()) out += ',';
      new_line(out, indent, depth + 1);
      item.write(out, indent, depth + 1);
    }
    new_line(out, indent, depth);
    out += ']';
  } else if (const auto* fields = std::get_if<Object>(&value_)) {
    if (fields->empty()) {
      out += "{}";
      return;
    }
    out += '{';
    for (const auto& field : *fields) {
      if (&field != fields->data()) out += ',';
      new_line(out, indent, depth + 1);
      out += escaped(field.first) + (indent < 0 ? ":" : ": ");
      field.second.write(out, indent, depth + 1);
    }
    new_line(out, indent, depth);
    out += '}';
  }
}

}  // namespace flopwise
