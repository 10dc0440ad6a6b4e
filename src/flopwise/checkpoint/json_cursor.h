// JSON read as it stands in a file, value by value, so that memory is what the caller keeps: the
// header of a safetensors file may have 100 MB, and base/json would hold all of it as a tree.
// The caller asks for what it expects; anything else is a UserError that names the offset.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "flopwise/base/count.h"
#include "flopwise/base/error.h"
#include "flopwise/checkpoint/byte_source.h"

namespace flopwise {

class JsonCursor {
 public:
  JsonCursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end);

  // Calls on_key(key) for each key; on_key reads the value, before which it copies what it needs of
  // the key. Whether keys repeat is left to the caller, who keeps them anyway.
  template <typename OnKey>
  void object(OnKey&& on_key) {
    if (!opens('{', '}', "an object")) return;
    do {
      const std::string_view key = key_view();
      on_key(key);
    } while (continues('}'));
  }
  // Calls on_item() for each item; on_item reads it.
  template <typename OnItem>
  void array(OnItem&& on_item) {
    if (!opens('[', ']', "an array")) return;
    do on_item();
    while (continues(']'));
  }

  // UTF-8 text of at most `limit` bytes.
  static constexpr std::size_t kMaxKeyBytes = std::size_t{64} << 10;
  static constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
  std::string text(const char* expected = "a text in quotes", std::size_t limit = kMaxTextBytes);
  // The same, to be used before anything else is read: it is seen where it lies, if it can be.
  std::string_view text_view(const char* expected = "a text in quotes",
                             std::size_t limit = kMaxTextBytes);
  // A whole number 0 ... 2^64 - 1, written without point and exponent.
  std::uint64_t whole_number();
  // A text, a number (a Count when whole, also when written 13731385408.0), or something else.
  using Scalar = std::variant<std::monostate, std::string, Count, double>;
  Scalar scalar();
  // Any value, nested at most 64 deep; at most 16 MiB in all.
  void skip();
  // Nothing but white space may follow.
  void end();

  bool next_is(char c);  // after white space
  std::uint64_t offset() const { return cursor_.offset(); }
  [[noreturn]] void fail(const std::string& what) const;
  // What stands next, as in "expected a number, got 'x'".
  [[noreturn]] void fail_expecting(const char* expected);

 private:
  std::string_view key_view();  // and the colon behind it
  bool opens(char open, char close, const char* expected);
  bool continues(char close);
  void expect(char c);
  void skip_space();
  void escape(std::string& text);
  unsigned hex4();
  std::optional<std::uint64_t> small_number();
  std::string word();  // a number, true, false or null

  ByteCursor cursor_;
  std::string scratch_;        // of text_view
  std::uint64_t skipped_ = 0;  // bytes
};

}  // namespace flopwise
