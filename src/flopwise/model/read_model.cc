#include "flopwise/model/read_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <istream>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/description.h"

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

// A config.json, or a description of the builder's options.
Model read_json(const nlohmann::json& json, const std::string& name, const std::string& as) {
  if (!is_description(json)) return model_from_config(json, name, as);
  if (!as.empty()) {
    throw UserError(
        fmt::format("--as {}: expected a config.json, got a description, {}", as, name));
  }
  return model_from_description(json, name);
}

Model read_stream(std::istream& stream, const std::string& as) {
  const std::string name = "standard input";
  return read_json(parse_json(read_all(stream, name), name), name, as);
}

Model read_directory(const std::string& directory, const std::string& as) {
  const std::filesystem::path config = std::filesystem::path(directory) / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(config, error)) {
    throw UserError(fmt::format("{}: expected a config.json in this directory", quoted(directory)));
  }
  return model_from_config(read_json_file(config.string()), config.string(), as);
}

}  // namespace

Model read_model(const std::string& text, std::istream& standard_input, const std::string& as) {
  if (text == "-") return read_stream(standard_input, as);
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return read_directory(text, as);
  if (std::filesystem::exists(text, error)) return read_json(read_json_file(text), text, as);
  if (text.ends_with(".json")) throw UserError(fmt::format("{}: no such file", quoted(text)));
  if (!as.empty()) {
    throw UserError(fmt::format("--as {}: expected a config.json, got {}", as, quoted(text)));
  }
  if (text.find('=') != std::string::npos) return model_from_letters(text);
  return find_model(text);
}

}  // namespace flopwise
