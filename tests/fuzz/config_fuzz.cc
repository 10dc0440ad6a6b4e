// A config.json or a description: read as a model; what is accepted is counted.
#include "flopwise/model/description.h"
#include "flopwise/model/read_model.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  const std::string_view text = fuzz::text_of(data, size);
  Model model;
  const bool is_model = fuzz::accepts([&] {
    const nlohmann::json json = parse_json(text, "config.json");
    model = is_description(json) ? model_from_description(json, "config.json")
                                 : model_from_config(json, "config.json");
  });
  if (is_model) fuzz::accepts([&] { fuzz::count_and_check(model, fuzz::hash_of(text)); });
  return 0;
}
