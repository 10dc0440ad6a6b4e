// Einsum notation, three lines: the expression, sizes such as B=4,D=8k, and a mesh such as X=4,Y=8;
// the last two may be absent.
#include "flopwise/graph/einsum.h"
#include "flopwise/report/einsum_report.h"
#include "tests/fuzz/fuzz.h"

namespace flopwise::fuzz {
namespace {

// The text up to the next line end, which goes too.
std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// What the parser understood, written and read again.
void check_round_trip(const EinsumSpec& spec) {
  const std::string text = describe(spec);
  const EinsumSpec again = parse_einsum(text);
  FLOPWISE_CHECK(describe(again) == text, "an expression that reads back as another");
  const auto same = [](const EinsumAxis& a, const EinsumAxis& b) {
    return a.name == b.name && a.kind == b.kind;
  };
  FLOPWISE_CHECK(
      std::equal(spec.axes.begin(), spec.axes.end(), again.axes.begin(), again.axes.end(), same),
      "axes that read back as others");
}

void check_answer(const EinsumQuery& query) {
  const EinsumAnswer answer = answer_einsum(query);
  check_formula(answer.cost.flops);
  check_formula(answer.cost.bytes);
  check_json(einsum_json(answer));
  einsum_text(answer, Explain::kYes);
}

}  // namespace
}  // namespace flopwise::fuzz

// The search for the best order takes 3^operands steps: 16, the most that is read, take seconds
// under the sanitizers, and teach nothing that 11 do not.
constexpr std::size_t kMostOperands = 11;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  std::string_view text = fuzz::text_of(data, size);
  EinsumQuery query;
  query.expression = fuzz::take_line(text);
  const std::string sizes = fuzz::take_line(text);
  const std::string mesh = fuzz::take_line(text);
  EinsumSpec spec;
  if (!fuzz::accepts([&] { spec = parse_einsum(query.expression); })) return 0;
  fuzz::check_round_trip(spec);
  if (spec.operands.size() > kMostOperands) return 0;
  if (!sizes.empty()) query.sizes = {sizes};
  if (!mesh.empty()) query.mesh = mesh;
  if (sizes.empty() && mesh.empty()) query.hardware = "h100";
  fuzz::accepts([&] { fuzz::check_answer(query); });
  return 0;
}
