#include "flopwise/weights/any_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/checkpoint/checkpoint.h"
#include "flopwise/model/read_model.h"
#include "flopwise/weights/gguf_model.h"

namespace flopwise {
namespace {

bool is_gguf(const std::filesystem::path& path) {
  if (path.extension() == ".gguf") return true;
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "GGUF";
}

// What names tensors and says nothing of the model; its config.json lies beside it.
bool is_weights_file(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
         name.ends_with(".bin.index.json");
}

// A folder of which the only thing that describes a model is a GGUF file.
bool is_gguf_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "config.json", error)) return false;
  const std::filesystem::directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().extension() == ".gguf";
  });
}

}  // namespace

Model read_any_model(const std::string& text, std::istream& standard_input, const std::string& as) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path(text);
  const bool is_folder = fs::is_directory(path, error);
  const bool is_file = fs::is_regular_file(path, error);
  if (is_file && is_weights_file(text)) {
    const fs::path config = path.parent_path() / "config.json";
    if (fs::exists(config, error)) return read_model(config.string(), standard_input, as);
    throw UserError(fmt::format("{}: names tensors and no model, expected a config.json beside it",
                                one_line(text)));
  }
  if ((is_folder && is_gguf_folder(path)) || (is_file && is_gguf(path))) {
    if (!as.empty()) {
      throw UserError(
          fmt::format("--as {}: expected a config.json, got the GGUF file {}", as, quoted(text)));
    }
    return model_of_gguf(read_checkpoint(text), text);
  }
  return read_model(text, standard_input, as);
}

}  // namespace flopwise
