#include "flopwise/base/json.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

// ---- reading ---------------------------------------------------------------------------------

[[noreturn]] void too_large(const std::string& name) {
  throw UserError(fmt::format("{}: larger than {} MiB", name, kMaxJsonBytes >> 20));
}

// "line 3, column 5" of the character at `offset`.
std::string position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, 1 + utf8_length(before.substr(line_start)));
}

constexpr int kPipeWaitMs = 2000;  // for somebody to write to a pipe

// What nlohmann-json parses, and where it differs from what was read.
struct Prepared {
  std::string text;
  std::vector<std::size_t> inserted;  // offsets in `text` of characters that were not there

  std::size_t original_offset(std::size_t offset) const {
    const auto before = std::upper_bound(inserted.begin(), inserted.end(), offset);
    return offset - static_cast<std::size_t>(before - inserted.begin());
  }
};

// One walk before parsing: refuses deep nesting, which would cost the parser memory, and replaces
// NaN, Infinity and -Infinity outside strings by texts, which no number field takes.
Prepared prepare(std::string_view text, const std::string& name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '.';
  };
  Prepared prepared;
  prepared.text.reserve(text.size() + 8);
  bool in_string = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      prepared.text += c;
      if (c == '\\' && i + 1 < text.size()) {
        prepared.text += text[++i];
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (is_word(c)) {
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      const std::size_t next = text.find_first_not_of(" \t\r\n", end);
      const bool is_key = next != std::string_view::npos && text[next] == ':';
      if (!is_key && (word == "NaN" || word == "Infinity" || word == "-Infinity")) {
        prepared.inserted.push_back(prepared.text.size());
        prepared.inserted.push_back(prepared.text.size() + word.size() + 1);
        prepared.text += fmt::format("\"{}\"", word);
      } else {
        prepared.text += word;
      }
      i = end - 1;
      continue;
    }
    if (c == '\0') {
      throw UserError(fmt::format("{}: {}: not JSON: a NUL byte", name, position_of(text, i)));
    }
    prepared.text += c;
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxJsonDepth) {
      throw UserError(
          fmt::format("{}: {}: nested deeper than {}", name, position_of(text, i), kMaxJsonDepth));
    }
  }
  return prepared;
}

// Refuses a key that stands twice in one object; all else is left to the parser that follows.
class DuplicateKeys final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DuplicateKeys(const std::string& name) : name_(name) {}

  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    if (keys_.back().insert(key).second) return true;
    throw UserError(fmt::format("{}: key {} occurs twice in one object", name_, quoted(key)));
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  const std::string& name_;
  std::vector<std::unordered_set<std::string>> keys_;  // of each object that is open
};

// What nlohmann-json complains about, without its codes and without the token, which may be huge:
// "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while parsing
// value - invalid literal; last read: '[x'" is "invalid literal".
std::string complaint(std::string_view message) {
  if (message.find("number overflow") != std::string_view::npos) {
    return "a number is too large for a double";
  }
  message = message.substr(0, message.find("; last read: "));
  for (const std::string_view lead : {"syntax error ", " - "}) {
    const std::size_t at = message.find(lead);
    if (at != std::string_view::npos) message.remove_prefix(at + lead.size());
  }
  return std::string(message);
}

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

nlohmann::json read_json_file(const std::string& path) {
  const std::string name = one_line(path);
  // The size is asked first; the reading is bounded all the same, since a pipe or a device has
  // none.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    throw UserError(fmt::format("{}: {}", name, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw UserError(fmt::format("{}: is a directory, expected a JSON file", name));
  }
  if (S_ISREG(status.st_mode) && status.st_size > static_cast<off_t>(kMaxJsonBytes)) {
    too_large(name);
  }
  // Without O_NONBLOCK opening a pipe waits for a writer, perhaps for ever.
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw UserError(fmt::format("{}: {}", name, std::strerror(errno)));
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(fdopen(descriptor, "rb"), close);
  if (!file) throw UserError(fmt::format("{}: {}", name, std::strerror(errno)));
  pollfd writer = {descriptor, POLLIN, 0};
  if (S_ISFIFO(status.st_mode) && poll(&writer, 1, kPipeWaitMs) == 0) {
    throw UserError(fmt::format("{}: nobody writes to this pipe, expected a JSON file", name));
  }
  fcntl(descriptor, F_SETFL, O_RDONLY);

  std::string text;
  char buffer[1 << 16];
  std::size_t length = 0;
  while ((length = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) {
    text.append(buffer, length);
    if (text.size() > kMaxJsonBytes) too_large(name);
  }
  if (std::ferror(file.get()) != 0) {
    throw UserError(fmt::format("{}: {}", name, std::strerror(errno)));
  }
  return parse_json(text, name);
}

nlohmann::json parse_json(std::string_view text, const std::string& name) {
  if (text.size() > kMaxJsonBytes) too_large(name);
  const Prepared prepared = prepare(text, name);

  try {
    DuplicateKeys duplicates(name);
    nlohmann::json::sax_parse(prepared.text, &duplicates);
    return nlohmann::json::parse(prepared.text);
  } catch (const nlohmann::json::parse_error& error) {
    // `byte` counts from 1 and is the last character read; 0 stands for an empty text.
    const std::size_t offset = prepared.original_offset(error.byte > 0 ? error.byte - 1 : 0);
    throw UserError(fmt::format("{}: {}: not JSON: {}", name, position_of(text, offset),
                                complaint(error.what())));
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("{}: not JSON: {}", name, complaint(error.what())));
  }
}

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
  if (std::find(read_.begin(), read_.end(), field) == read_.end()) read_.emplace_back(field);
}

std::vector<std::string> JsonFields::unread() const {
  std::vector<std::string> fields;
  for (const auto& [field, value] : object_->items()) {
    if (std::find(read_.begin(), read_.end(), field) == read_.end()) fields.push_back(field);
  }
  return fields;
}

std::string JsonFields::where(std::string_view field) const {
  return fmt::format("{}: {}{}{}", file_, path_, path_.empty() ? "" : ".", field);
}

// ---- writing ---------------------------------------------------------------------------------

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
