// How libFuzzer changes a config.json: half of the time as bytes, else as JSON, since a change of
// bytes rarely leaves an object that is still read. A member goes, gets another value, or comes
// from another file of the corpus.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>

#include "tests/fuzz/fuzz.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace flopwise::fuzz {
namespace {

using nlohmann::json;
using Random = std::minstd_rand;

constexpr const char* kValues[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "4",
                                   "5",
                                   "6",
                                   "8",
                                   "12",
                                   "16",
                                   "32",
                                   "-1",
                                   "2.0",
                                   "0.5",
                                   "1e-9",
                                   "1e300",
                                   "true",
                                   "false",
                                   "null",
                                   "\"\"",
                                   "\"gelu\"",
                                   "[]",
                                   "[0]",
                                   "[0, 1, 1]",
                                   "{}",
                                   "[[[]]]",
                                   "{\"0\": \"a\"}",
                                   "1099511627776",
                                   "1099511627777",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "1e19"};

std::size_t below(Random& random, std::size_t end) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

std::optional<json> object_of(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || value.empty()) return std::nullopt;
  return value;
}

json::iterator any_member(json& object, Random& random) {
  return std::next(object.begin(), static_cast<std::ptrdiff_t>(below(random, object.size())));
}

// A member of `object`, or of an object or array in it.
json& any_value(json& object, Random& random) {
  json* value = &*any_member(object, random);
  while (value->is_structured() && !value->empty() && below(random, 2) == 0) {
    value = &*any_member(*value, random);
  }
  return *value;
}

void mutate(json& object, Random& random) {
  switch (below(random, 5)) {
    case 0:
      object.erase(any_member(object, random));
      return;
    case 1: {  // another name for a value, or another value for a name
      const json value = any_value(object, random);
      object[any_member(object, random).key()] = value;
      return;
    }
    case 2: {
      json& value = any_value(object, random);
      if (value.is_number_integer() && value > 1 && value < 1000) {
        value = value.get<std::int64_t>() + (below(random, 2) == 0 ? 1 : -1);
      } else if (value.is_array() && !value.empty()) {
        value.push_back(value[below(random, value.size())]);
      }
      return;
    }
    default:
      any_value(object, random) = json::parse(kValues[below(random, std::size(kValues))]);
  }
}

// The size of the result in `out`; 0 when it does not fit.
std::size_t write(const json& object, std::uint8_t* out, std::size_t max_size) {
  const std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > max_size) return 0;
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

}  // namespace
}  // namespace flopwise::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace flopwise::fuzz;
  Random random(seed);
  std::optional<json> object = object_of(text_of(data, size));
  if (!object || below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (std::size_t changes = 1 + below(random, 3); changes > 0 && !object->empty(); --changes) {
    mutate(*object, random);
  }
  return write(*object, data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* out, std::size_t max_size,
                                                 unsigned seed) {
  using namespace flopwise::fuzz;
  Random random(seed);
  std::optional<json> object = object_of(text_of(data, size));
  std::optional<json> source = object_of(text_of(other, other_size));
  if (!object || !source) return 0;
  for (std::size_t members = 1 + below(random, 3); members > 0; --members) {
    const json::iterator member = any_member(*source, random);
    (*object)[member.key()] = *member;
  }
  return write(*object, out, max_size);
}
