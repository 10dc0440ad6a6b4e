// The two kinds of failure, and how context is added to them on the way up.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace flopwise {

// The input is wrong. what() is one line: the place, the offending value, and what was expected.
// The program prints it and ends with exit status 2.
class UserError : public std::invalid_argument {
 public:
  explicit UserError(const std::string& message) : std::invalid_argument(message) {}
};

// An exact result does not fit into 128 bits. A UserError, since only sizes given by the user lead
// to it; whoever knows which quantity was computed adds its name with `in_context`.
class OverflowError : public UserError {
 public:
  explicit OverflowError(const std::string& message) : UserError(message) {}
};

// flopwise itself is wrong. Raised by FLOPWISE_CHECK.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message) : std::logic_error(message) {}
};

// `text` with control characters and broken UTF-8 escaped (\n, \x1b): one line, harmless in a
// terminal. Whoever prints a message calls it.
std::string one_line(std::string_view text);

// quoted(text): 'text' as a value stands in a message: in quotes, one line, cut after 60
// characters. An object, since for a std::string argument a function would lose to std::quoted of
// <iomanip>.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;  // NOLINT(readability-identifier-naming)

namespace detail {
[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line,
                               const std::string& message);
}  // namespace detail

// Runs `body`; a UserError that leaves it is thrown again as "context: message", same type.
template <typename Body>
auto in_context(std::string_view context, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const OverflowError& error) {
    throw OverflowError(std::string(context) + ": " + error.what());
  } catch (const UserError& error) {
    throw UserError(std::string(context) + ": " + error.what());
  }
}

// The same where the context costs something to write: describe() is called when an error passes.
template <typename Describe, typename Body>
requires std::is_invocable_v<Describe>
auto in_context(Describe&& describe, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const UserError&) {
    return in_context(std::string_view(std::string(describe())),
                      [&]() -> decltype(body()) { throw; });
  }
}

}  // namespace flopwise

// For what only a bug in flopwise can violate; bad input is a UserError.
#define FLOPWISE_CHECK(condition, message)                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ::flopwise::detail::check_failed(#condition, __FILE__, __LINE__, (message)); \
    }                                                                              \
  } while (false)
