#include "flopwise/base/json.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

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

// Whether -12.50e-1 and the like have a digit other than 0 behind the point once the exponent is
// applied.
bool has_fraction(std::string_view number) {
  const std::size_t e = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t last = mantissa.find_last_of("123456789");
  if (last == std::string_view::npos) return false;  // it is 0
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  // Of the last digit that is not 0: 0 for units, -1 for tenths.
  const auto place =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(last) - (last < point ? 1 : 0);
  constexpr long kFar = 1'000'000'000;  // beyond the digits that a text of 16 MiB can hold
  const long exponent = e == std::string_view::npos
                            ? 0
                            : std::strtol(std::string(number.substr(e + 1)).c_str(), nullptr, 10);
  return place + std::clamp(exponent, -kFar, kFar) < 0;
}

// Whether a double rounds the fraction of this number away, so that 128255.99999999999999 would
// pass for a whole number. UserError when no double is as large.
bool loses_its_fraction(std::string_view word, const std::string& name, std::string_view text) {
  constexpr std::size_t kSurelyFits = 300;  // digits; a double has up to 309
  if (word.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
  if (word.find_first_of(".eE") == std::string_view::npos && word.size() < kSurelyFits) {
    return false;
  }
  const std::string number(word);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() + number.size()) return false;  // no number: the parser says so
  if (std::isinf(value)) {
    const auto offset = static_cast<std::size_t>(word.data() - text.data());
    throw UserError(fmt::format("{}: {}: expected a number that fits a double, got {}", name,
                                position_of(text, offset), quoted(word)));
  }
  return value == std::trunc(value) && has_fraction(word);
}

// One walk before parsing: refuses deep nesting, which would cost the parser memory, and replaces
// what no number field may take by texts: NaN, Infinity and -Infinity outside strings, and numbers
// whose fraction a double would lose.
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
      const bool is_no_number = word == "NaN" || word == "Infinity" || word == "-Infinity";
      if (!is_key && (is_no_number || loses_its_fraction(word, name, text))) {
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

// Where the key number `index` of a JSON text stands, counted from 0 in the order of the text.
std::size_t offset_of_key(std::string_view text, std::size_t index) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '"') continue;
    const std::size_t start = i;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
    const bool is_key = next != std::string_view::npos && text[next] == ':';
    if (is_key && index-- == 0) return start;
  }
  return text.size();
}

// Refuses a key that stands twice in one object; all else is left to the parser that follows.
// `text` is what was read, for the place in the message.
class DuplicateKeys final : public nlohmann::json_sax<nlohmann::json> {
 public:
  DuplicateKeys(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    if (keys_.back().insert(key).second) {
      ++keys_read_;
      return true;
    }
    throw UserError(fmt::format("{}: {}: key {} occurs twice in one object", name_,
                                position_of(text_, offset_of_key(text_, keys_read_)), quoted(key)));
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
  std::string_view text_;
  const std::string& name_;
  std::size_t keys_read_ = 0;
  std::vector<std::unordered_set<std::string>> keys_;  // of each object that is open
};

// What nlohmann-json complains about, without its codes and without the token, which may be huge:
// "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while parsing
// value - invalid literal; last read: '[x'" is "invalid literal".
std::string complaint(std::string_view message) {
  message = message.substr(0, message.find("; last read: "));
  for (const std::string_view lead : {"syntax error ", " - "}) {
    const std::size_t at = message.find(lead);
    if (at != std::string_view::npos) message.remove_prefix(at + lead.size());
  }
  return std::string(message);
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
    DuplicateKeys duplicates(text, name);
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

}  // namespace flopwise
