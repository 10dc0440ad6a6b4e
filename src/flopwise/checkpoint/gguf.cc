#include "flopwise/checkpoint/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"
#include "flopwise/checkpoint/layout.h"

namespace flopwise {
namespace {

constexpr std::uint64_t kMagicAndVersion = 8;  // bytes
constexpr std::uint64_t kMaxEntries = 1 << 14;
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{12} << 20;   // of all metadata together
constexpr std::uint64_t kMaxWalkedItems = std::uint64_t{1} << 24;  // texts and arrays in arrays
constexpr int kMaxArrayDepth = 4;
constexpr std::uint32_t kMaxDimensions = 4;  // GGML_MAX_DIMS
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kMaxAlignment = 1 << 20;

// The types of a metadata value; their number is the place in this table (enum gguf_type).
struct ValueType {
  std::string_view name;
  std::uint64_t bytes;  // the least that one value takes
};
constexpr ValueType kValueTypes[] = {
    {"uint8",   1 },
    {"int8",    1 },
    {"uint16",  2 },
    {"int16",   2 },
    {"uint32",  4 },
    {"int32",   4 },
    {"float32", 4 },
    {"bool",    1 },
    {"string",  8 },
    {"array",   12},
    {"uint64",  8 },
    {"int64",   8 },
    {"float64", 8 },
};

// Numbers and texts in the byte order of the file.
class GgufCursor {
 public:
  explicit GgufCursor(const ByteSource& source) : cursor_(source, 0, source.size()) {}

  std::uint64_t offset() const { return cursor_.offset(); }
  std::uint64_t left() const { return cursor_.left(); }
  void use_big_endian() { is_big_endian_ = true; }
  void skip(std::uint64_t bytes) { cursor_.skip(bytes); }

  [[noreturn]] static void fail(std::uint64_t at, const std::string& what) {
    throw UserError(fmt::format("offset {}: {}", at, what));
  }

  // `what` names the number in the error when the file ends before it does.
  std::uint64_t number(std::uint64_t bytes, std::string_view what) {
    if (left() < bytes) {
      fail(offset(),
           fmt::format("{}: expected {} bytes, the file has {} more", what, bytes, left()));
    }
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::uint64_t>(cursor_.peek());
      cursor_.step();
      value |= byte << 8 * (is_big_endian_ ? bytes - 1 - i : i);
    }
    return value;
  }
  std::uint32_t u32(std::string_view what) { return static_cast<std::uint32_t>(number(4, what)); }
  std::uint64_t u64(std::string_view what) { return number(8, what); }

  // A length of things that take at least `item_bytes` each: no more than the file has room for.
  std::uint64_t length(std::string_view what, std::uint64_t item_bytes, std::uint64_t limit) {
    const std::uint64_t at = offset();
    const std::uint64_t count = u64(what);
    if (count > left() / item_bytes) {
      fail(at, fmt::format("{} {}, the file has {} more bytes, room for {}", what, count, left(),
                           left() / item_bytes));
    }
    if (count > limit) fail(at, fmt::format("{} {}, expected at most {}", what, count, limit));
    return count;
  }

  std::string take(std::uint64_t bytes) { return cursor_.take(bytes); }
  // A key or the name of a tensor.
  std::string name(std::string_view what) {
    const std::uint64_t at = offset();
    std::string name = take(length(fmt::format("{} of length", what), 1, kMaxNameBytes));
    names_.take(name);
    if (!is_utf8(name)) fail(at, fmt::format("{} {} is not UTF-8", what, quoted(name)));
    return name;
  }

 private:
  ByteCursor cursor_;
  NameBudget names_;
  bool is_big_endian_ = false;
};

// Metadata values. What all of them keep is bounded together, since an array of one-byte integers
// takes fifty times the room in memory.
class ValueReader {
 public:
  explicit ValueReader(GgufCursor& cursor) : cursor_(cursor) {}

  MetadataValue value(std::uint32_t type, int depth) {
    const std::string_view name = type_of(type).name;
    keep(sizeof(MetadataValue));
    if (name == "array") return {name, array(depth + 1)};
    if (name == "string") {
      const std::uint64_t length = cursor_.length("text of length", 1, kMaxTextBytes);
      keep(length);
      return {name, cursor_.take(length)};
    }
    return scalar(name, type_of(type).bytes);
  }

  std::uint32_t type() {
    const std::uint64_t at = cursor_.offset();
    const std::uint32_t type = cursor_.u32("value type");
    if (type >= std::size(kValueTypes)) {
      GgufCursor::fail(
          at, fmt::format("value type {}, expected 0 to {}", type, std::size(kValueTypes) - 1));
    }
    return type;
  }

 private:
  static const ValueType& type_of(std::uint32_t type) { return kValueTypes[type]; }

  void keep(std::uint64_t bytes) {
    kept_ += bytes;
    if (kept_ > kMaxKeptBytes) {
      GgufCursor::fail(cursor_.offset(),
                       fmt::format("metadata takes more than {} MiB", kMaxKeptBytes >> 20));
    }
  }

  MetadataValue scalar(std::string_view name, std::uint64_t bytes) {
    const std::uint64_t at = cursor_.offset();
    const std::uint64_t bits = cursor_.number(bytes, name);
    if (name == "bool") {
      if (bits > 1) GgufCursor::fail(at, fmt::format("bool {}, expected 0 or 1", bits));
      return {name, bits == 1};
    }
    if (name == "float64") return {name, std::bit_cast<double>(bits)};
    if (name == "float32") {
      return {name, static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))};
    }
    if (name.starts_with('u')) return {name, Count::of(bits)};
    const auto unused = static_cast<int>(64 - 8 * bytes);
    return {name, Count(static_cast<std::int64_t>(bits << unused) >> unused)};
  }

  // `depth`: how many arrays this one is the innermost of.
  MetadataArray array(int depth) {
    const std::uint64_t at = cursor_.offset();
    if (depth > kMaxArrayDepth) {
      GgufCursor::fail(at, fmt::format("arrays nested deeper than {}", kMaxArrayDepth));
    }
    const std::uint32_t element = type();
    const auto [name, bytes] = type_of(element);
    const std::uint64_t length = cursor_.length("array of length", bytes, INT64_MAX);
    MetadataArray array = {name, Count::of(length), {}};
    const std::uint64_t kept = std::min<std::uint64_t>(length, kKeptElements);
    for (std::uint64_t i = 0; i < kept; ++i) array.elements.push_back(value(element, depth));
    skip(element, length - kept, depth);
    return array;
  }

  // The rest of an array: counted, not kept.
  void skip(std::uint32_t element, std::uint64_t count, int depth) {
    const auto [name, bytes] = type_of(element);
    if (name != "string" && name != "array") {
      return cursor_.skip(count * bytes);  // length() has checked that they are there
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (++walked_ > kMaxWalkedItems) {
        GgufCursor::fail(cursor_.offset(),
                         fmt::format("more than {} texts and arrays in arrays", kMaxWalkedItems));
      }
      if (name == "string") {
        cursor_.skip(cursor_.length("text of length", 1, INT64_MAX));
      } else {
        skip_array(depth + 1);
      }
    }
  }

  void skip_array(int depth) {
    if (depth > kMaxArrayDepth) {
      GgufCursor::fail(cursor_.offset(),
                       fmt::format("arrays nested deeper than {}", kMaxArrayDepth));
    }
    const std::uint32_t element = type();
    skip(element, cursor_.length("array of length", type_of(element).bytes, INT64_MAX), depth);
  }

  GgufCursor& cursor_;
  std::uint64_t kept_ = 0;
  std::uint64_t walked_ = 0;
};

// Reads magic and version, and learns the byte order from it.
void read_version(GgufCursor& cursor) {
  if (cursor.left() < kMagicAndVersion) {
    throw UserError(
        fmt::format("has {} bytes, expected at least GGUF and a version", cursor.left()));
  }
  std::string magic;
  for (int i = 0; i < 4; ++i) magic += static_cast<char>(cursor.number(1, "magic"));
  if (magic != "GGUF") {
    throw UserError(fmt::format("begins with {}, expected 'GGUF'", quoted(magic)));
  }
  const std::uint32_t version = cursor.u32("version");
  if (version == 2 || version == 3) return;
  if (version == 2u << 24 || version == 3u << 24) return cursor.use_big_endian();
  throw UserError(fmt::format("offset 4: GGUF version {}, expected 2 or 3", version));
}

std::vector<Metadata> read_metadata(GgufCursor& cursor, std::uint64_t entries) {
  std::vector<Metadata> metadata;
  ValueReader reader(cursor);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = cursor.offset();
    std::string key = cursor.name("key");
    if (key.empty()) GgufCursor::fail(at, "an empty key");
    MetadataValue value = in_context(fmt::format("key {}", quoted(key)),
                                     [&] { return reader.value(reader.type(), 0); });
    metadata.push_back({std::move(key), std::move(value)});
  }
  std::vector<std::string_view> keys;
  for (const Metadata& entry : metadata) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) throw UserError(fmt::format("key {} occurs twice", quoted(*twice)));
  return metadata;
}

std::uint64_t alignment_of(const Checkpoint& checkpoint) {
  const MetadataValue* value = checkpoint.find_metadata("general.alignment");
  if (value == nullptr) return kDefaultAlignment;
  if (value->type != "uint32") {
    throw UserError(
        fmt::format("key 'general.alignment': expected a uint32, got a {}", value->type));
  }
  const auto alignment = static_cast<std::uint64_t>(std::get<Count>(value->value).value());
  if (alignment == 0 || alignment > kMaxAlignment ||
      (alignment % 8 != 0 && !std::has_single_bit(alignment))) {
    throw UserError(fmt::format(
        "key 'general.alignment': {}, expected a power of two or a multiple of 8, at most {}",
        alignment, kMaxAlignment));
  }
  return alignment;
}

StoredType find_type(std::uint32_t id) {
  for (const GgmlType& known : ggml_types()) {
    if (known.id != id) continue;
    if (known.type.block_elements == 0) {
      throw UserError(fmt::format("type {} ({}) was removed from ggml, expected one it still has",
                                  id, known.type.name));
    }
    return known.type;
  }
  throw UserError(fmt::format("type {}, expected a number of ggml's types, 0 to {}", id,
                              ggml_types().back().id));
}

// The description of one tensor behind its name; returns the offset of its data.
std::uint64_t read_tensor(GgufCursor& cursor, Arena& arena, StoredTensor& tensor) {
  const std::uint32_t dimensions = cursor.u32("number of dimensions");
  if (dimensions > kMaxDimensions) {
    throw UserError(fmt::format("{} dimensions, expected at most {}", dimensions, kMaxDimensions));
  }
  std::int64_t shape[kMaxDimensions] = {};
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::uint64_t size = cursor.u64("dimension");
    if (size > INT64_MAX) {
      throw UserError(fmt::format("dimension {}, expected at most 2^63 - 1", size));
    }
    shape[dimensions - 1 - i] = static_cast<std::int64_t>(size);  // innermost last
  }
  tensor.shape = arena.keep(std::span<const std::int64_t>(shape, dimensions));
  tensor.type = find_type(cursor.u32("type"));
  set_size(tensor, Blocks::kPerRow);
  return cursor.u64("offset");
}

Extent extent_of(const StoredTensor& tensor, std::uint64_t offset, std::uint64_t alignment,
                 std::uint64_t data_bytes) {
  if (offset % alignment != 0) {
    throw UserError(
        fmt::format("offset {} of its data, expected a multiple of {}", offset, alignment));
  }
  const auto bytes = static_cast<std::uint64_t>(tensor.bytes.value());  // below 2^63
  if (offset > data_bytes || bytes > data_bytes - offset) {
    throw UserError(fmt::format("{} bytes at offset {} end beyond the {} bytes of data", bytes,
                                offset, data_bytes));
  }
  return {offset, offset + bytes, 0};
}

// ggml refuses gaps wider than the alignment; nothing is miscounted, so here they are a note.
void note_gaps(const std::vector<Extent>& extents, std::uint64_t alignment,
               Checkpoint& checkpoint) {
  std::uint64_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin > covered && extent.begin - covered >= alignment) {
      checkpoint.notes.push_back(
          fmt::format("bytes {} to {} of the data belong to no tensor (the next is {})", covered,
                      extent.begin, quoted(checkpoint.tensors[extent.tensor].name)));
      return;  // one tells enough, and a hostile file has thousands
    }
    covered = extent.end;
  }
}

}  // namespace

Checkpoint read_gguf(const ByteSource& source, const std::string& name,
                     std::shared_ptr<Arena> arena) {
  constexpr std::uint64_t kEntryBytes = 13;   // length, type, and a value of a byte
  constexpr std::uint64_t kTensorBytes = 24;  // length, dimensions, type, offset
  GgufCursor cursor(source);
  read_version(cursor);
  const std::uint64_t tensors =
      cursor.length("number of tensors", kTensorBytes, kMaxTensorsPerFile);
  const std::uint64_t entries =
      cursor.length("number of metadata entries", kEntryBytes, kMaxEntries);

  Checkpoint checkpoint;
  checkpoint.arena = std::move(arena);
  checkpoint.format = CheckpointFormat::kGguf;
  checkpoint.metadata = read_metadata(cursor, entries);
  const std::uint64_t alignment = alignment_of(checkpoint);

  const std::string_view file = checkpoint.arena->keep(name);
  std::vector<std::uint64_t> offsets;
  checkpoint.tensors.reserve(tensors);
  for (std::uint64_t i = 0; i < tensors; ++i) {
    StoredTensor tensor;
    tensor.file = file;
    tensor.name = checkpoint.arena->keep(cursor.name("tensor name"));
    offsets.push_back(in_context([&] { return fmt::format("tensor {}", quoted(tensor.name)); },
                                 [&] { return read_tensor(cursor, *checkpoint.arena, tensor); }));
    checkpoint.tensors.push_back(tensor);
  }
  check_names_differ(checkpoint.tensors);

  const std::uint64_t padding = (alignment - cursor.offset() % alignment) % alignment;
  const std::uint64_t data_begin = cursor.offset() + std::min(padding, cursor.left());
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const StoredTensor& tensor = checkpoint.tensors[i];
    extents.push_back(in_context(
        [&] { return fmt::format("tensor {}", quoted(tensor.name)); },
        [&] { return extent_of(tensor, offsets[i], alignment, source.size() - data_begin); }));
    extents.back().tensor = i;
  }
  sort_extents(extents, checkpoint.tensors);
  note_gaps(extents, alignment, checkpoint);
  checkpoint.files.push_back({name, Count::of(source.size()), Count::of(data_begin)});
  return checkpoint;
}

}  // namespace flopwise
