#include "flopwise/checkpoint/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "flopwise/base/error.h"
#include "flopwise/checkpoint/json_cursor.h"
#include "flopwise/checkpoint/layout.h"

namespace flopwise {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxMetadata = 1 << 14;       // entries
constexpr std::size_t kMaxMetadataBytes = 8 << 20;  // of all texts together
constexpr std::uint64_t kMaxIndexBytes = 50'000'000;
constexpr std::size_t kMaxIndexEntries = 1 << 18;
constexpr std::size_t kMaxIndexFiles = 1 << 14;
constexpr std::size_t kMaxFileNameBytes = 255;
constexpr std::size_t kMaxDimensions = 64;
constexpr std::size_t kMaxDimensionsTogether = 1 << 19;  // of all tensors in a file

// A file that is all text is a path (a link that was checked out as text) or a Git LFS pointer.
void check_is_no_text(const ByteSource& source) {
  constexpr std::uint64_t kLongest = 1024;
  if (source.size() < 3 || source.size() > kLongest) return;
  const std::string bytes = ByteCursor(source, 0, source.size()).take(source.size());
  const auto is_printable = [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r';
  };
  if (bytes.starts_with("version https://git-lfs")) {
    throw UserError("is a Git LFS pointer, expected the file that it stands for (git lfs pull)");
  }
  if (std::all_of(bytes.begin(), bytes.end(), is_printable)) {
    throw UserError(fmt::format(
        "is the text {}, expected a safetensors file (a link kept as text?)", quoted(bytes)));
  }
}

std::uint64_t read_header_length(const ByteSource& source) {
  check_is_no_text(source);
  if (source.size() < kLengthBytes) {
    throw UserError(fmt::format("has {} bytes, expected at least the {} of the header's length",
                                source.size(), kLengthBytes));
  }
  const std::string bytes = ByteCursor(source, 0, kLengthBytes).take(kLengthBytes);
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length > kMaxHeaderBytes) {
    throw UserError(
        fmt::format("offset 0: header of {} bytes, expected at most {} (no safetensors file?)",
                    length, kMaxHeaderBytes));
  }
  if (length > source.size() - kLengthBytes) {
    throw UserError(fmt::format("offset 0: header of {} bytes, the file has {} after its length",
                                length, source.size() - kLengthBytes));
  }
  return length;
}

const StoredType& find_type(const std::string& name) {
  const auto types = safetensors_types();
  const auto type = std::find_if(types.begin(), types.end(),
                                 [&](const StoredType& known) { return known.name == name; });
  if (type != types.end()) return *type;
  std::vector<std::string_view> names;
  for (const StoredType& known : types) names.push_back(known.name);
  throw UserError(fmt::format("dtype {}, expected one of {}", quoted(name), fmt::join(names, " ")));
}

// {"dtype": ..., "shape": ..., "data_offsets": ...} in any order; what else stands there is
// skipped, as the reference does.
class TensorReader {
 public:
  explicit TensorReader(JsonCursor& json) : json_(json) {}

  // Fills type, shape, elements and bytes; returns data_offsets as an extent of tensor 0.
  Extent read(StoredTensor& tensor) {
    json_.object([&](const std::string& key) {
      if (key == "dtype") {
        first(has_type_, key);
        tensor.type = find_type(json_.text());
      } else if (key == "shape") {
        first(has_shape_, key);
        json_.array([&] { tensor.shape.push_back(dimension(tensor.shape.size())); });
      } else if (key == "data_offsets") {
        first(has_offsets_, key);
        json_.array([&] { add_offset(json_.whole_number()); });
      } else {
        json_.skip();
      }
    });
    if (!has_type_ || !has_shape_ || !has_offsets_) {
      throw UserError(fmt::format("expected dtype, shape and data_offsets, {} is missing",
                                  !has_type_    ? "dtype"
                                  : !has_shape_ ? "shape"
                                                : "data_offsets"));
    }
    return extent_of(tensor);
  }

 private:
  static void first(bool& seen, const std::string& key) {
    if (seen) throw UserError(fmt::format("{} occurs twice", key));
    seen = true;
  }

  std::int64_t dimension(std::size_t index) {
    if (index == kMaxDimensions) json_.fail(fmt::format("more than {} dimensions", kMaxDimensions));
    const std::uint64_t size = json_.whole_number();
    if (size > INT64_MAX) json_.fail(fmt::format("dimension {}, expected at most 2^63 - 1", size));
    return static_cast<std::int64_t>(size);
  }

  void add_offset(std::uint64_t offset) {
    if (offsets_read_ < 2) offsets_[offsets_read_] = offset;
    if (++offsets_read_ > 2) json_.fail("data_offsets has more than two numbers");
  }

  Extent extent_of(StoredTensor& tensor) const {
    if (offsets_read_ != 2) {
      throw UserError(fmt::format("data_offsets: expected two numbers, got {}", offsets_read_));
    }
    const auto [begin, end] = offsets_;
    if (begin > end) {
      throw UserError(fmt::format("data_offsets [{},{}]: expected begin <= end", begin, end));
    }
    set_size(tensor, Blocks::kPerTensor);
    if (Count::of(Int128{end} - Int128{begin}) != tensor.bytes) {
      throw UserError(fmt::format("data_offsets [{},{}] are {} bytes, expected {} for {} of {}",
                                  begin, end, end - begin, tensor.bytes.str(),
                                  shape_text(tensor.shape), tensor.type.name));
    }
    return {begin, end, 0};
  }

  JsonCursor& json_;
  bool has_type_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::uint64_t offsets_[2] = {0, 0};
  std::size_t offsets_read_ = 0;
};

void check_keys_differ(const std::vector<Metadata>& metadata) {
  std::vector<std::string_view> keys;
  for (const Metadata& entry : metadata) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) throw UserError(fmt::format("key {} occurs twice", quoted(*twice)));
}

// Collects metadata, bounded in number and in size of what is kept.
class MetadataList {
 public:
  explicit MetadataList(JsonCursor& json) : json_(json) {}

  // What a text may still take when it stands under `key`.
  std::size_t room_for_text(const std::string& key) {
    if (list_.size() == kMaxMetadata || key.size() > kMaxMetadataBytes - bytes_) refuse();
    return kMaxMetadataBytes - bytes_ - key.size();
  }
  void add(const std::string& key, MetadataValue value) {
    auto* text = std::get_if<std::string>(&value.value);
    const std::size_t text_bytes = text == nullptr ? 0 : text->size();
    if (text_bytes > room_for_text(key)) refuse();
    bytes_ += key.size() + text_bytes;
    if (text != nullptr) text->shrink_to_fit();  // it was read with room to grow
    list_.push_back({key, std::move(value)});
  }
  std::vector<Metadata> take() {
    check_keys_differ(list_);
    return std::move(list_);
  }

 private:
  [[noreturn]] void refuse() {
    json_.fail(fmt::format("expected at most {} entries and {} MiB of text", kMaxMetadata,
                           kMaxMetadataBytes >> 20));
  }

  JsonCursor& json_;
  std::vector<Metadata> list_;
  std::size_t bytes_ = 0;
};

std::vector<Metadata> read_texts(JsonCursor& json) {
  MetadataList texts(json);
  json.object([&](const std::string& key) {
    const std::size_t room = texts.room_for_text(key);
    std::string text = in_context(fmt::format("key {}", quoted(key)),
                                  [&] { return json.text("a text in quotes", room); });
    texts.add(key, {"string", std::move(text)});
  });
  return texts.take();
}

// Every byte of the data in exactly one tensor.
void check_extents(std::vector<Extent>& extents, const std::vector<StoredTensor>& tensors,
                   std::uint64_t data_bytes) {
  for (const Extent& extent : extents) {
    if (extent.end > data_bytes) {
      throw UserError(fmt::format("tensor {}: data_offsets [{},{}] end beyond the {} bytes of data",
                                  quoted(tensors[extent.tensor].name), extent.begin, extent.end,
                                  data_bytes));
    }
  }
  sort_extents(extents, tensors);
  std::uint64_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != covered) {
      throw UserError(fmt::format("bytes {} to {} of the data belong to no tensor (the next is {})",
                                  covered, extent.begin, quoted(tensors[extent.tensor].name)));
    }
    covered = extent.end;
  }
  if (covered != data_bytes) {
    throw UserError(
        fmt::format("bytes {} to {} of the data belong to no tensor", covered, data_bytes));
  }
}

// `dimensions`: of the tensors so far.
void read_tensor(JsonCursor& json, const std::string& tensor_name, const std::string& file,
                 Checkpoint& checkpoint, std::vector<Extent>& extents, std::size_t& dimensions) {
  if (extents.size() == kMaxTensorsPerFile) {
    json.fail(fmt::format("expected at most {} tensors", kMaxTensorsPerFile));
  }
  StoredTensor tensor;
  tensor.name = tensor_name;
  tensor.file = file;
  Extent extent = TensorReader(json).read(tensor);
  dimensions += tensor.shape.size();
  if (dimensions > kMaxDimensionsTogether) {
    json.fail(fmt::format("expected at most {} dimensions of all tensors together",
                          kMaxDimensionsTogether));
  }
  tensor.shape.shrink_to_fit();
  extent.tensor = checkpoint.tensors.size();
  extents.push_back(extent);
  checkpoint.tensors.push_back(std::move(tensor));
}

}  // namespace

Checkpoint read_safetensors(const ByteSource& source, const std::string& name) {
  const std::uint64_t data_begin = kLengthBytes + read_header_length(source);
  JsonCursor json(source, kLengthBytes, data_begin);
  Checkpoint checkpoint;
  std::vector<Extent> extents;
  NameBudget names;
  std::size_t dimensions = 0;
  bool has_metadata = false;
  in_context("header", [&] {
    json.object([&](const std::string& key) {
      if (key != "__metadata__") {
        in_context(fmt::format("tensor {}", quoted(key)), [&] {
          names.take(key);
          read_tensor(json, key, name, checkpoint, extents, dimensions);
        });
        return;
      }
      if (has_metadata) json.fail("__metadata__ occurs twice");
      has_metadata = true;
      checkpoint.metadata = in_context(key, [&] { return read_texts(json); });
    });
    json.end();
  });
  check_names_differ(checkpoint.tensors);
  check_extents(extents, checkpoint.tensors, source.size() - data_begin);
  checkpoint.files.push_back({name, Count::of(source.size()), Count::of(data_begin)});
  return checkpoint;
}

namespace {

// A shard lies beside its index; a path could lead anywhere.
void check_is_shard(const std::string& file, ShardFiles shards) {
  const bool may_be_bin = shards == ShardFiles::kSafetensorsOrBin;
  const bool is_shard = file.ends_with(".safetensors") || (may_be_bin && file.ends_with(".bin"));
  if (file.find_first_of("/\\") != std::string::npos || file.find('\0') != std::string::npos ||
      file.size() > kMaxFileNameBytes || !is_shard) {
    throw UserError(
        fmt::format("expected the name of a .safetensors{} file in the same folder, got {}",
                    may_be_bin ? " or .bin" : "", quoted(file)));
  }
}

// Puts the files into alphabetical order; `numbers`: of each name in the entries.
void order_files(const std::map<std::string, std::size_t>& numbers, SafetensorsIndex& index) {
  std::vector<std::size_t> places(numbers.size());
  for (const auto& [file, number] : numbers) {
    places[number] = index.files.size();
    index.files.push_back(file);
  }
  for (SafetensorsIndex::Entry& entry : index.weight_map) entry.file = places[entry.file];
}

void read_weight_map(JsonCursor& json, SafetensorsIndex& index, ShardFiles shards) {
  NameBudget names;
  std::map<std::string, std::size_t> files;
  json.object([&](const std::string& tensor) {
    names.take(tensor);
    if (index.weight_map.size() == kMaxIndexEntries) {
      json.fail(fmt::format("expected at most {} tensors", kMaxIndexEntries));
    }
    const std::string file = in_context(quoted(tensor), [&] {
      std::string name = json.text("a file name");
      check_is_shard(name, shards);
      return name;
    });
    const std::size_t number = files.emplace(file, files.size()).first->second;
    if (files.size() > kMaxIndexFiles) {
      json.fail(fmt::format("expected at most {} files", kMaxIndexFiles));
    }
    index.weight_map.push_back({tensor, number});
  });
  order_files(files, index);
  auto& map = index.weight_map;
  std::sort(map.begin(), map.end(),
            [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
  const auto twice = std::adjacent_find(
      map.begin(), map.end(), [](const auto& a, const auto& b) { return a.tensor == b.tensor; });
  if (twice != map.end()) {
    throw UserError(fmt::format("tensor {}: the name occurs twice", quoted(twice->tensor)));
  }
}

// Numbers and texts; what else stands there (some tools add objects) is skipped.
std::vector<Metadata> read_index_metadata(JsonCursor& json) {
  MetadataList metadata(json);
  json.object([&](const std::string& key) {
    JsonCursor::Scalar value = json.scalar();
    if (auto* text = std::get_if<std::string>(&value)) {
      metadata.add(key, {"string", std::move(*text)});
    } else if (const auto* whole = std::get_if<Count>(&value)) {
      metadata.add(key, {"int64", *whole});
    } else if (const auto* number = std::get_if<double>(&value)) {
      metadata.add(key, {"float64", *number});
    }
  });
  return metadata.take();
}

}  // namespace

SafetensorsIndex read_safetensors_index(const ByteSource& source, ShardFiles shards) {
  if (source.size() > kMaxIndexBytes) {
    throw UserError(
        fmt::format("has {} bytes, expected at most {}", source.size(), kMaxIndexBytes));
  }
  JsonCursor json(source, 0, source.size());
  SafetensorsIndex index;
  bool has_map = false;
  bool has_metadata = false;
  json.object([&](const std::string& key) {
    if (key != "weight_map" && key != "metadata") return json.skip();
    bool& seen = key == "metadata" ? has_metadata : has_map;
    if (seen) json.fail(fmt::format("{} occurs twice", key));
    seen = true;
    in_context(key, [&] {
      if (key == "weight_map") {
        read_weight_map(json, index, shards);
      } else if (json.next_is('{')) {
        index.metadata = read_index_metadata(json);
      } else {
        json.skip();
      }
    });
  });
  json.end();
  if (!has_map) throw UserError("expected a field weight_map, as a safetensors index has");
  if (index.weight_map.empty()) throw UserError("weight_map: expected at least one tensor");
  return index;
}

}  // namespace flopwise
