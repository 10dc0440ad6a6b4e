#include "flopwise/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/gguf.h"
#include "flopwise/checkpoint/layout.h"
#include "flopwise/checkpoint/safetensors.h"

namespace flopwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnd = ".safetensors.index.json";
constexpr std::string_view kBinIndexEnd = ".bin.index.json";

template <typename Body>
auto in_file(const fs::path& path, Body&& body) {
  return in_context([&] { return one_line(path.string()); }, body);
}

// Adds what `part` holds, in the same arena; its metadata only when there is none yet.
void append(Checkpoint& checkpoint, Checkpoint part) {
  std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(checkpoint.tensors));
  std::move(part.files.begin(), part.files.end(), std::back_inserter(checkpoint.files));
  for (const std::string& note : part.notes) {
    checkpoint.notes.push_back(fmt::format("{}: {}", checkpoint.files.back().name, note));
  }
  if (checkpoint.metadata.empty()) checkpoint.metadata = std::move(part.metadata);
}

Checkpoint read_gguf_part(const fs::path& path, const std::shared_ptr<Arena>& arena) {
  return in_file(
      path, [&] { return read_gguf(FileSource(path.string()), path.filename().string(), arena); });
}

void add_shard(const fs::path& path, Checkpoint& checkpoint) {
  in_file(path, [&] {
    add_safetensors(FileSource(path.string()), path.filename().string(), checkpoint);
  });
}

// ---- a safetensors index ---------------------------------------------------------------------

// Tensors by file, each file's by name.
std::vector<const StoredTensor*> sorted_by_file(const Checkpoint& checkpoint) {
  std::vector<const StoredTensor*> sorted;
  sorted.reserve(checkpoint.tensors.size());
  for (const StoredTensor& tensor : checkpoint.tensors) sorted.push_back(&tensor);
  const auto by_name = [](const StoredTensor* a, const StoredTensor* b) {
    return a->name < b->name;
  };
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::find_if(begin, sorted.end(), [&](const StoredTensor* tensor) {
      return tensor->file.data() != (*begin)->file.data();
    });
    if (!std::is_sorted(begin, end, by_name)) std::sort(begin, end, by_name);
    begin = end;
  }
  return sorted;
}

// Whether map and files name the same tensors in the same places. As both are in order, the next
// tensor of a file is the next that the map has there; a name that two files store cannot be met
// in both, since the map has it once.
bool is_as_mapped(const SafetensorsIndex& index, const Checkpoint& checkpoint) {
  if (index.weight_map.size() != checkpoint.tensors.size()) return false;
  const std::vector<const StoredTensor*> sorted = sorted_by_file(checkpoint);
  std::vector<std::size_t> next(index.files.size());  // of each file, in `sorted`
  for (std::size_t i = 0, file = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i]->file.data() == sorted[i - 1]->file.data()) continue;
    while (file < next.size() && index.files[file] != sorted[i]->file) ++file;
    if (file == next.size()) return false;
    next[file] = i;
  }
  for (const SafetensorsIndex::Entry& entry : index.weight_map) {
    const std::size_t place = next[entry.file]++;
    if (place >= sorted.size()) return false;
    const StoredTensor& tensor = *sorted[place];
    if (tensor.name != entry.tensor || tensor.file != index.files[entry.file]) return false;
  }
  return true;
}

// Every tensor of the map where the map says, or an error that names the first that is not; those
// that no map names are noted.
void explain_map(const SafetensorsIndex& index, Checkpoint& checkpoint) {
  std::vector<const StoredTensor*> stored;
  for (const StoredTensor& tensor : checkpoint.tensors) stored.push_back(&tensor);
  const auto by_name = [](const StoredTensor* a, const StoredTensor* b) {
    return a->name < b->name;
  };
  std::sort(stored.begin(), stored.end(), by_name);
  for (const SafetensorsIndex::Entry& entry : index.weight_map) {
    const std::string& file = index.files[entry.file];
    const auto found = std::lower_bound(
        stored.begin(), stored.end(), entry.tensor,
        [](const StoredTensor* tensor, std::string_view name) { return tensor->name < name; });
    if (found == stored.end() || (*found)->name != entry.tensor) {
      throw UserError(
          fmt::format("weight_map: tensor {} is not in {}", quoted(entry.tensor), quoted(file)));
    }
    if ((*found)->file != file) {
      throw UserError(fmt::format("weight_map: tensor {} is not in {} but in {}",
                                  quoted(entry.tensor), quoted(file), quoted((*found)->file)));
    }
  }
  if (stored.size() > index.weight_map.size()) {
    checkpoint.notes.push_back(fmt::format("the files hold {} tensors, weight_map names {} of them",
                                           stored.size(), index.weight_map.size()));
  }
}

void compare_with_map(const SafetensorsIndex& index, Checkpoint& checkpoint) {
  if (is_as_mapped(index, checkpoint)) return;
  check_names_differ(checkpoint.tensors);
  explain_map(index, checkpoint);
}

// A claim to compare, never the answer: real files give it as 13731385408.0, leave it out, or count
// other types than they store.
void compare_with_total_size(Checkpoint& checkpoint) {
  const MetadataValue* claimed = checkpoint.find_metadata("total_size");
  const Count* total = claimed == nullptr ? nullptr : std::get_if<Count>(&claimed->value);
  if (total == nullptr) return;
  Count bytes;
  for (const StoredTensor& tensor : checkpoint.tensors) bytes += tensor.bytes;
  if (bytes != *total) {
    checkpoint.notes.push_back(fmt::format("metadata.total_size is {}, the tensors have {} bytes",
                                           total->str(), bytes.str()));
  }
}

SafetensorsIndex read_map(const fs::path& path, ShardFiles shards) {
  return in_file(path, [&] { return read_safetensors_index(FileSource(path.string()), shards); });
}

Checkpoint read_shards(const fs::path& path, const SafetensorsIndex& index) {
  Checkpoint checkpoint;
  checkpoint.tensors.reserve(index.weight_map.size());
  for (const std::string& file : index.files) {
    in_file(path, [&] { add_shard(path.parent_path() / file, checkpoint); });
  }
  std::vector<Metadata> metadata = index.metadata;
  for (Metadata& entry : checkpoint.metadata) metadata.push_back(std::move(entry));
  checkpoint.metadata = std::move(metadata);
  in_file(path, [&] {
    compare_with_map(index, checkpoint);
    compare_with_total_size(checkpoint);
  });
  return checkpoint;
}

Checkpoint names_of(const SafetensorsIndex& index) {
  Checkpoint checkpoint;
  checkpoint.has_shapes = false;
  checkpoint.metadata = index.metadata;
  checkpoint.arena = index.names;
  std::vector<std::string_view> files;
  for (const std::string& file : index.files) files.push_back(checkpoint.arena->keep(file));
  checkpoint.tensors.reserve(index.weight_map.size());
  for (const SafetensorsIndex::Entry& entry : index.weight_map) {
    StoredTensor tensor;
    tensor.name = entry.tensor;
    tensor.file = files[entry.file];
    checkpoint.tensors.push_back(tensor);
  }
  return checkpoint;
}

Checkpoint read_index(const fs::path& path) {
  return read_shards(path, read_map(path, ShardFiles::kSafetensors));
}

// The names alone where none of the shards is there, or none can be read.
Checkpoint read_index_or_names(const fs::path& path) {
  const SafetensorsIndex index = read_map(path, ShardFiles::kSafetensorsOrBin);
  const auto is_there = [&](const std::string& file) {
    std::error_code error;
    return file.ends_with(".safetensors") && fs::exists(path.parent_path() / file, error);
  };
  if (std::none_of(index.files.begin(), index.files.end(), is_there)) return names_of(index);
  const bool has_bin =
      std::any_of(index.files.begin(), index.files.end(),
                  [](const std::string& file) { return !file.ends_with(".safetensors"); });
  // Read again for the message.
  return has_bin ? read_index(path) : read_shards(path, index);
}

// ---- GGUF in parts ---------------------------------------------------------------------------

// NAME-00001-of-00003.gguf, as llama.cpp's gguf-split names parts.
struct Part {
  std::string stem;  // NAME
  int number;
  int count;

  std::string file_name(int part) const {
    return fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, count);
  }
};

std::optional<Part> part_of(const std::string& name) {
  constexpr std::string_view kPattern = "-ddddd-of-ddddd.gguf";
  if (name.size() < kPattern.size()) return std::nullopt;
  const std::size_t stem = name.size() - kPattern.size();
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    const char c = name[stem + i];
    // The d of "ddddd" only: no other d stands in the pattern.
    if (kPattern[i] == 'd' ? c < '0' || c > '9' : c != kPattern[i]) return std::nullopt;
  }
  const Part part = {name.substr(0, stem), std::stoi(name.substr(stem + 1, 5)),
                     std::stoi(name.substr(stem + 10, 5))};
  if (part.number < 1 || part.number > part.count) return std::nullopt;
  return part;
}

// What a file says about its part; absent keys are not compared.
void check_split_key(const Checkpoint& checkpoint, std::string_view key, Count expected) {
  const MetadataValue* value = checkpoint.find_metadata(key);
  const Count* count = value == nullptr ? nullptr : std::get_if<Count>(&value->value);
  if (count != nullptr && *count != expected) {
    throw UserError(fmt::format("key '{}': {}, expected {}", key, count->str(), expected.str()));
  }
}

Checkpoint read_gguf_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::optional<Part> part = part_of(name);
  if (!part) {
    Checkpoint checkpoint = read_gguf_part(path, std::make_shared<Arena>());
    in_file(path, [&] {
      const MetadataValue* count = checkpoint.find_metadata("split.count");
      const Count* parts = count == nullptr ? nullptr : std::get_if<Count>(&count->value);
      if (parts != nullptr && *parts > Count(1)) {
        throw UserError(fmt::format(
            "is one of {} parts (split.count), expected a name such as NAME-00001-of-{:05}.gguf",
            parts->str(), static_cast<std::int64_t>(parts->value())));
      }
    });
    return checkpoint;
  }
  Checkpoint checkpoint;
  checkpoint.format = CheckpointFormat::kGguf;
  for (int i = 1; i <= part->count; ++i) {
    const fs::path part_path = path.parent_path() / part->file_name(i);
    Checkpoint one = read_gguf_part(part_path, checkpoint.arena);
    in_file(part_path, [&] {
      check_split_key(one, "split.no", Count(i - 1));
      check_split_key(one, "split.count", Count(part->count));
    });
    append(checkpoint, std::move(one));
  }
  in_file(path, [&] {
    check_names_differ(checkpoint.tensors);
    check_split_key(checkpoint, "split.tensors.count",
                    Count(static_cast<std::int64_t>(checkpoint.tensors.size())));
  });
  return checkpoint;
}

// ---- what a path stands for ------------------------------------------------------------------

enum class Want { kTensors, kNames };

// The file of a folder that stands for the checkpoint.
fs::path file_in(const fs::path& folder, Want want) {
  std::vector<std::string> indexes;
  std::vector<std::string> bin_indexes;
  std::vector<std::string> safetensors;
  std::vector<std::string> ggufs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::optional<Part> part = part_of(name);
    if (name.ends_with(kIndexEnd)) indexes.push_back(name);
    if (name.ends_with(kBinIndexEnd)) bin_indexes.push_back(name);
    if (name.ends_with(".safetensors")) safetensors.push_back(name);
    if (name.ends_with(".gguf") && (!part || part->number == 1)) ggufs.push_back(name);
  }
  // As the transformers library looks for them: the one file before the index.
  for (const std::string_view name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (contains(safetensors, name) || contains(indexes, name)) return folder / name;
  }
  if (indexes.size() == 1) return folder / indexes[0];
  if (indexes.empty() && safetensors.size() == 1) return folder / safetensors[0];
  if (indexes.empty() && safetensors.empty() && ggufs.size() == 1) return folder / ggufs[0];
  if (want == Want::kNames && indexes.empty() && safetensors.empty() && ggufs.empty() &&
      bin_indexes.size() == 1) {
    return folder / bin_indexes[0];
  }
  throw UserError(fmt::format(
      "expected one checkpoint (model.safetensors, its index, or one .gguf), got {} indexes, {} "
      ".safetensors and {} .gguf",
      indexes.size(), safetensors.size(), ggufs.size()));
}

bool begins_with_gguf(const fs::path& path) {
  const FileSource source(path.string());
  return source.size() >= 4 && ByteCursor(source, 0, 4).take(4) == "GGUF";
}

Checkpoint read_path(const fs::path& path, Want want) {
  const std::string name = path.filename().string();
  if (name.ends_with(".json")) {
    return want == Want::kNames ? read_index_or_names(path) : read_index(path);
  }
  if (name.ends_with(".gguf") || in_file(path, [&] { return begins_with_gguf(path); })) {
    return read_gguf_file(path);
  }
  Checkpoint checkpoint;
  add_shard(path, checkpoint);
  return checkpoint;
}

Checkpoint read_file_or_folder(const std::string& path, Want want) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return read_path(path, want);
  try {
    return read_path(in_file(path, [&] { return file_in(path, want); }), want);
  } catch (const fs::filesystem_error& failure) {
    throw UserError(fmt::format("{}: {}", one_line(path), failure.code().message()));
  }
}

}  // namespace

const MetadataValue* Checkpoint::find_metadata(std::string_view key) const {
  const auto entry = std::find_if(metadata.begin(), metadata.end(),
                                  [&](const Metadata& one) { return one.key == key; });
  return entry == metadata.end() ? nullptr : &entry->value;
}

Checkpoint read_checkpoint(const std::string& path) {
  return read_file_or_folder(path, Want::kTensors);
}

Checkpoint read_checkpoint_names(const std::string& path) {
  return read_file_or_folder(path, Want::kNames);
}

}  // namespace flopwise
