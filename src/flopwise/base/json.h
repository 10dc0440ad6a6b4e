// JSON in and out. Reading goes through nlohmann-json behind limits and errors that name file and
// path; writing is our own, because a Count has up to 39 digits and must come out as a number with
// all of them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flopwise/base/count.h"

namespace flopwise {

// ---- reading ---------------------------------------------------------------------------------

inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;
inline constexpr int kMaxJsonDepth = 64;

// Reads and parses a file. UserError (one line, file named) when it is missing, a directory, over
// 16 MiB, nested deeper than 64, not UTF-8 or not JSON (with line and column), or holds the same
// key twice in one object.
nlohmann::json read_json_file(const std::string& path);
// The same for text at hand; `name` stands for the file in messages ("standard input").
// Infinity, -Infinity and NaN are accepted where a value stands, as Python writes them, and become
// texts of that name: a field nobody reads may hold one, a number field refuses it.
nlohmann::json parse_json(std::string_view text, const std::string& name);

// A JSON object that is read field by field. Each getter names "file: path.field" and the value it
// met in its UserError, and remembers that the field was read, so that what nobody read can be
// reported.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string file, std::string path = "");

  bool has(std::string_view field) const;  // present and not null
  // A whole number (an integer, or a float without fraction such as 4096.0) within [min, max]; what
  // does not fit int64 never is.
  std::int64_t integer(std::string_view field, std::int64_t min, std::int64_t max);
  std::int64_t integer_or(std::string_view field, std::int64_t fallback, std::int64_t min,
                          std::int64_t max);
  double number_or(std::string_view field, double fallback);
  bool boolean_or(std::string_view field, bool fallback);
  std::string text(std::string_view field);
  std::string text_or(std::string_view field, const std::string& fallback);
  std::vector<std::string> texts_or(std::string_view field,
                                    const std::vector<std::string>& fallback);
  std::vector<std::int64_t> integers_or(std::string_view field,
                                        const std::vector<std::int64_t>& fallback);
  // The raw value, null when absent; counts as read.
  const nlohmann::json& raw(std::string_view field);
  JsonFields object(std::string_view field);  // UserError unless it is an object
  void mark_read(std::string_view field);

  std::vector<std::string> unread() const;  // present, never asked for; in alphabetical order
  std::string where(std::string_view field) const;  // "config.json: text_config.hidden_size"
  const std::string& file() const { return file_; }

 private:
  const nlohmann::json* object_;
  std::string file_;
  std::string path_;
  std::vector<std::string> read_;
};

// A value as it stands in a message: 'text', 1.5, true, null, "an array", "an object".
std::string shown(const nlohmann::json& value);

// ---- writing ---------------------------------------------------------------------------------

// A JSON value to be written. Objects keep the order in which fields were added.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() : value_(nullptr) {}
  Json(std::nullptr_t) : value_(nullptr) {}                // NOLINT(google-explicit-constructor)
  Json(bool value) : value_(value) {}                      // NOLINT(google-explicit-constructor)
  Json(int value) : value_(Count(value)) {}                // NOLINT(google-explicit-constructor)
  Json(std::int64_t value) : value_(Count(value)) {}       // NOLINT(google-explicit-constructor)
  Json(Count value) : value_(value) {}                     // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}
  template <typename T>
  Json(const std::optional<T>& value) {  // NOLINT(google-explicit-constructor)
    if (value) *this = Json(*value);
  }
  static Json array(Array items = {});
  static Json object(Object fields = {});

  Json& add(std::string key, Json value);  // to an object; returns *this
  Json& push(Json item);                   // to an array

  // Counts with all their digits; doubles as a whole number when they are one below 2^53, else with
  // 17 significant digits; a double that is not finite is null. Text that is not UTF-8 gets U+FFFD.
  // indent < 0: one line; else a short array of scalars still takes one line.
  std::string str(int indent = 2) const;

 private:
  void write(std::string& out, int indent, int depth) const;

  std::variant<std::nullptr_t, bool, Count, double, std::string, Array, Object> value_;
};

}  // namespace flopwise
