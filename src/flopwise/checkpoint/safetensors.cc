#include "flopwise/checkpoint/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

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

const StoredType& find_type(std::string_view name) {
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
  TensorReader(JsonCursor& json, Arena& arena) : json_(json), arena_(arena) {}

  // Fills type, shape, elements and bytes; returns data_offsets as an extent of tensor 0.
  Extent read(StoredTensor& tensor) {
    has_type_ = has_shape_ = has_offsets_ = false;
    offsets_read_ = 0;
    json_.object([&](std::string_view key) {
      if (key == "dtype") {
        first(has_type_, key);
        const std::string_view name = json_.text_view();
        // Before the first tensor no type is known, and its name is empty.
        if (name.empty() || name != type_.name) type_ = find_type(name);
        tensor.type = type_;
      } else if (key == "shape") {
        first(has_shape_, key);
        std::size_t axes = 0;
        json_.array([&] {
          shape_[axes] = dimension(axes);
          ++axes;
        });
        tensor.shape = keep_shape({shape_, axes});
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
  // Most tensors of a file have one of a few shapes: the last ones are looked at again.
  StoredShape keep_shape(StoredShape shape) {
    for (const StoredShape& known : kept_) {
      if (known == shape) return known;
    }
    StoredShape& place = kept_[next_kept_++ % std::size(kept_)];
    place = arena_.keep(shape);
    return place;
  }

  static void first(bool& seen, std::string_view key) {
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
    if (Int128{end - begin} != tensor.bytes.value()) {
      throw UserError(fmt::format("data_offsets [{},{}] are {} bytes, expected {} for {} of {}",
                                  begin, end, end - begin, tensor.bytes.str(),
                                  shape_text(tensor.shape), tensor.type.name));
    }
    return {begin, end, 0};
  }

  JsonCursor& json_;
  Arena& arena_;
  std::int64_t shape_[kMaxDimensions] = {};
  StoredShape kept_[8];
  std::size_t next_kept_ = 0;
  StoredType type_ = {};  // of the tensor before: most are alike
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
  json.object([&](std::string_view seen) {
    const std::string key(seen);
    const std::size_t room = texts.room_for_text(key);
    std::string text = in_context(fmt::format("key {}", quoted(key)),
                                  [&] { return json.text("a text in quotes", room); });
    texts.add(key, {"string", std::move(text)});
  });
  return texts.take();
}

// Every byte of the data in exactly one tensor.
void check_extents(std::vector<Extent>& extents, std::span<const StoredTensor> tensors,
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

// The tensors of one header, added to a checkpoint.
class HeaderReader {
 public:
  HeaderReader(JsonCursor& json, std::string_view file, Checkpoint& checkpoint)
      : json_(json),
        file_(file),
        checkpoint_(checkpoint),
        tensor_reader_(json, *checkpoint.arena) {}

  // Returns where the tensors' data lie.
  std::vector<Extent> read() {
    const bool keeps_metadata = checkpoint_.metadata.empty();
    json_.object([&](std::string_view key) {
      if (key != kMetadata) return read_tensor(checkpoint_.arena->keep(key));
      if (has_metadata_) json_.fail("__metadata__ occurs twice");
      has_metadata_ = true;
      std::vector<Metadata> texts = in_context(kMetadata, [&] { return read_texts(json_); });
      if (keeps_metadata) checkpoint_.metadata = std::move(texts);
    });
    json_.end();
    return std::move(extents_);
  }

 private:
  static constexpr std::string_view kMetadata = "__metadata__";

  void read_tensor(std::string_view name) {
    in_context([&] { return fmt::format("tensor {}", quoted(name)); },
               [&] {
                 names_.take(name);
                 add_tensor(name);
               });
  }

  void add_tensor(std::string_view name) {
    if (extents_.size() == kMaxTensorsPerFile) {
      json_.fail(fmt::format("expected at most {} tensors", kMaxTensorsPerFile));
    }
    StoredTensor tensor;
    tensor.name = name;
    tensor.file = file_;
    Extent extent = tensor_reader_.read(tensor);
    dimensions_ += tensor.shape.size();
    if (dimensions_ > kMaxDimensionsTogether) {
      json_.fail(fmt::format("expected at most {} dimensions of all tensors together",
                             kMaxDimensionsTogether));
    }
    extent.tensor = checkpoint_.tensors.size();
    extents_.push_back(extent);
    checkpoint_.tensors.push_back(tensor);
  }

  JsonCursor& json_;
  std::string_view file_;
  Checkpoint& checkpoint_;
  TensorReader tensor_reader_;
  std::vector<Extent> extents_;
  NameBudget names_;
  std::size_t dimensions_ = 0;
  bool has_metadata_ = false;
};

}  // namespace

void add_safetensors(const ByteSource& source, const std::string& name, Checkpoint& checkpoint) {
  const std::uint64_t data_begin = kLengthBytes + read_header_length(source);
  JsonCursor json(source, kLengthBytes, data_begin);
  const std::size_t before = checkpoint.tensors.size();
  HeaderReader reader(json, checkpoint.arena->keep(name), checkpoint);
  std::vector<Extent> extents = in_context("header", [&] { return reader.read(); });
  check_names_differ(std::span(checkpoint.tensors).subspan(before));
  check_extents(extents, checkpoint.tensors, source.size() - data_begin);
  checkpoint.files.push_back({name, Count::of(source.size()), Count::of(data_begin)});
}

Checkpoint read_safetensors(const ByteSource& source, const std::string& name) {
  Checkpoint checkpoint;
  add_safetensors(source, name, checkpoint);
  return checkpoint;
}

namespace {

// A shard lies beside its index; a path could lead anywhere.
void check_is_shard(std::string_view file, ShardFiles shards) {
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
void order_files(const std::map<std::string, std::size_t, std::less<>>& numbers,
                 SafetensorsIndex& index) {
  std::vector<std::size_t> places(numbers.size());
  for (const auto& [file, number] : numbers) {
    places[number] = index.files.size();
    index.files.push_back(file);
  }
  for (SafetensorsIndex::Entry& entry : index.weight_map) entry.file = places[entry.file];
}

void read_weight_map(JsonCursor& json, SafetensorsIndex& index, ShardFiles shards) {
  NameBudget names;
  std::map<std::string, std::size_t, std::less<>> files;
  auto last = files.end();  // neighbours are mostly in one file
  json.object([&](std::string_view key) {
    names.take(key);
    if (index.weight_map.size() == kMaxIndexEntries) {
      json.fail(fmt::format("expected at most {} tensors", kMaxIndexEntries));
    }
    const std::string_view tensor = index.names->keep(key);
    in_context([&] { return quoted(tensor); },
               [&] {
                 const std::string_view file = json.text_view("a file name");
                 if (last != files.end() && file == last->first) return;
                 check_is_shard(file, shards);
                 last = files.find(file);
                 if (last == files.end()) last = files.emplace(file, files.size()).first;
               });
    if (files.size() > kMaxIndexFiles) {
      json.fail(fmt::format("expected at most {} files", kMaxIndexFiles));
    }
    index.weight_map.push_back({tensor, last->second});
  });
  order_files(files, index);
  auto& map = index.weight_map;
  const auto is_before = [](const auto& a, const auto& b) { return a.tensor < b.tensor; };
  if (!std::is_sorted(map.begin(), map.end(), is_before)) {
    std::sort(map.begin(), map.end(), is_before);
  }
  const auto twice = std::adjacent_find(
      map.begin(), map.end(), [](const auto& a, const auto& b) { return a.tensor == b.tensor; });
  if (twice != map.end()) {
    throw UserError(fmt::format("tensor {}: the name occurs twice", quoted(twice->tensor)));
  }
}

// Numbers and texts; what else stands there (some tools add objects) is skipped.
std::vector<Metadata> read_index_metadata(JsonCursor& json) {
  MetadataList metadata(json);
  json.object([&](std::string_view seen) {
    const std::string key(seen);
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
  constexpr std::uint64_t kUsualEntryBytes = 100;
  index.weight_map.reserve(source.size() / kUsualEntryBytes);
  bool has_map = false;
  bool has_metadata = false;
  json.object([&](std::string_view seen_key) {
    if (seen_key != "weight_map" && seen_key != "metadata") return json.skip();
    const std::string key(seen_key);
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
