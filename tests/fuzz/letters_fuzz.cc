// A model in letters, D=4096,L=64,...: what is accepted is counted. The same text as bare counts,
// params=671e9,active=37e9.
#include "flopwise/model/read_model.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  const std::string text(fuzz::text_of(data, size));
  Model model;
  if (fuzz::accepts([&] { model = model_from_letters(text); })) {
    fuzz::accepts([&] { fuzz::count_and_check(model, fuzz::hash_of(text)); });
  }
  fuzz::accepts([&] {
    const std::optional<BareCounts> bare = read_bare_counts(text);
    FLOPWISE_CHECK(!bare || bare->active <= bare->params, "more active parameters than there are");
  });
  return 0;
}
