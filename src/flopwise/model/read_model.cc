#include "flopwise/model/read_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"

namespace flopwise {
namespace {

// At most kMaxJsonBytes: an endless stream is refused, not collected.
std::string read_all(std::istream& stream, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMaxJsonBytes) {
      throw UserError(fmt::format("{}: expected at most 16 MiB, got more", name));
    }
  }
  return text;
}

Model read_stream(std::istream& stream) {
  const std::string name = "standard input";
  return model_from_config(parse_json(read_all(stream, name), name), name);
}

Model read_directory(const std::string& directory) {
  const std::filesystem::path config = std::filesystem::path(directory) / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(config, error)) {
    throw UserError(fmt::format("{}: expected a config.json in this directory", quoted(directory)));
  }
  return model_from_config(read_json_file(config.string()), config.string());
}

}  // namespace

Model read_model(const std::string& text, std::istream& standard_input) {
  if (text == "-") return read_stream(standard_input);
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return read_directory(text);
  if (std::filesystem::exists(text, error)) return model_from_config(read_json_file(text), text);
  if (text.ends_with(".json")) throw UserError(fmt::format("{}: no such file", quoted(text)));
  if (text.find('=') != std::string::npos) return model_from_letters(text);
  return find_model(text);
}

}  // namespace flopwise
