// Checkpoints for tests of weights, from names and shapes, and what a check says of them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/safetensors.h"
#include "flopwise/checkpoint/test_files.h"
#include "flopwise/weights/check.h"

namespace flopwise::made {

// A tensor of a file that is made for a test.
struct Made {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string type = "BF16";
};
using File = std::vector<Made>;

inline const StoredType& type_called(const std::string& name) {
  for (const StoredType& type : safetensors_types()) {
    if (type.name == name) return type;
  }
  throw InternalError("no type " + name);
}

// Through the bytes of a safetensors file, as a user's is.
inline Checkpoint checkpoint_of(const File& file) {
  std::string header;
  std::int64_t end = 0;
  for (const Made& made : file) {
    Count elements = 1;
    for (const std::int64_t size : made.shape) elements *= size;
    const std::int64_t begin = end;
    end += static_cast<std::int64_t>(stored_bytes(type_called(made.type), elements)->value());
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? "{" : ",", made.name, made.type,
                          fmt::join(made.shape, ","), begin, end);
  }
  const std::string bytes = test_files::safetensors(header + "}", static_cast<std::size_t>(end));
  return read_safetensors(MemorySource(bytes), "model.safetensors");
}

inline Made& find(File& file, const std::string& name) {
  for (Made& made : file) {
    if (made.name == name) return made;
  }
  throw InternalError("no tensor " + name);
}

// The file without the tensors whose names contain `part`, and with `more`.
inline File changed(File file, const std::string& part, const File& more = {}) {
  std::erase_if(file, [&](const Made& made) { return made.name.find(part) != std::string::npos; });
  file.insert(file.end(), more.begin(), more.end());
  return file;
}

inline WeightCheck check(const Model& model, const File& file) {
  return check_weights(model, checkpoint_of(file));
}

// Each difference in a line, the verdict first.
inline std::string differences(const WeightCheck& check) {
  std::string text = check.verdict() + "\n";
  for (const MissingTensor& one : check.missing) {
    text += fmt::format("missing {} x {}: {}\n", one.name, one.tensors.str(), one.elements.str());
  }
  for (const ExtraTensor& one : check.extra)
    text += fmt::format("extra {}: {}\n", one.name, one.why);
  for (const OtherShape& one : check.other_shape) {
    std::vector<std::string> expected;
    for (const Count size : one.expected) expected.push_back(size.str());
    text += fmt::format("shape {}: [{}], expected [{}]\n", one.name, fmt::join(one.shape, ","),
                        fmt::join(expected, ","));
  }
  return text;
}

inline std::string besides(const WeightCheck& check) {
  std::string text;
  for (const Besides& one : check.besides) {
    text += fmt::format("{} x {}: {}\n", one.pattern, one.tensors.str(), one.what);
  }
  return text;
}

inline std::string agreement(int params) {
  return fmt::format("tiny: checkpoint and model agree, {} parameters\n", Count(params).grouped());
}

}  // namespace flopwise::made
