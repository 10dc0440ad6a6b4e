// A config.json: read as a model; what is accepted is counted.
#include "flopwise/model/read_model.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  const std::string_view text = fuzz::text_of(data, size);
  Model model;
  const bool is_model = fuzz::accepts(
      [&] { model = model_from_config(parse_json(text, "config.json"), "config.json"); });
  if (is_model) fuzz::accepts([&] { fuzz::count_and_check(model, fuzz::hash_of(text)); });
  return 0;
}
