// What reading the worst file of each kind may cost: 64 MB beside the bytes of the file, and
// seconds. The limits are those of docs/reliability.md; each file here stands at one of them or
// beyond.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "flopwise/checkpoint/gguf.h"
#include "flopwise/checkpoint/safetensors.h"
#include "flopwise/checkpoint/test_files.h"
#include "tests/limits/heap.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

namespace fs = std::filesystem;

using test_files::Gguf;
using test_files::safetensors;

constexpr std::size_t kMostBytes = 64'000'000;
constexpr int kMostTensors = 1 << 17;
constexpr int kMostEntries = 1 << 14;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Spent {
  std::string error;  // "no error"
  std::size_t peak_bytes = 0;
  double cpu_s = 0;
};

template <typename Body>
Spent spent_by(Body&& body) {
  Spent spent;
  const std::clock_t begin = std::clock();
  spent.peak_bytes = peak_bytes_of([&] { spent.error = user_error_of(body); });
  spent.cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return spent;
}

// `item(i)` for i < count, with commas between.
template <typename Item>
std::string list_of(int count, Item&& item) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += item(i);
  }
  return text;
}

// {"000...7":{"dtype":"F32","shape":[1,1,0],"data_offsets":[0,0]},...
std::string tensors_json(int count, int name_bytes, const std::string& shape) {
  return list_of(count, [&](int i) {
    return fmt::format(R"("{:0{}}":{{"dtype":"F32","shape":[{}],"data_offsets":[0,0]}})", i,
                       name_bytes, shape);
  });
}

std::string texts_json(int count, std::size_t text_bytes) {
  const std::string text(text_bytes, 'v');
  return list_of(count, [&](int i) { return fmt::format(R"("{}":"{}")", i, text); });
}

Spent read_header(const std::string& header) {
  const std::string bytes = safetensors(header, 0);
  return spent_by([&] { read_safetensors(MemorySource(bytes), "model.safetensors"); });
}

Spent read_index(const std::string& bytes) {
  return spent_by([&] { read_safetensors_index(MemorySource(bytes)); });
}

Spent read(const Gguf& file) {
  return spent_by([&] { read_gguf(MemorySource(file.bytes), "model.gguf"); });
}

void expect(const Spent& spent, const char* error) {
  EXPECT_EQ(spent.error, error);
  EXPECT_LT(spent.peak_bytes, kMostBytes) << error;
  EXPECT_LT(spent.cpu_s, 30) << error;  // under sanitizers; docs/reliability.md measures without
}

TEST(Limits, Safetensors) {
  // As many tensors, names, dimensions and metadata as a header may have.
  expect(read_header("{" + tensors_json(kMostTensors, 96, "1,1,1,0") + R"(,"__metadata__":{)" +
                     texts_json(kMostEntries, 500) + "}}"),
         "no error");
  expect(read_header("{" + tensors_json(kMostTensors + 1, 9, "0") + "}"),
         "header: tensor '000131072': offset 7995413: expected at most 131072 tensors");
  expect(read_header("{" + tensors_json(kMostTensors, 97, "0") + "}"),
         "header: tensor '000000000000000000000000000000000000000000000000000000000000...': a name "
         "of 97 bytes, expected at most 65536, and 12 MiB of all names together");
  const std::string many = list_of(63, [](int) { return "1"; }) + ",0";
  expect(read_header("{" + tensors_json(kMostTensors, 9, many) + "}"),
         "header: tensor '000008192': offset 1532099: expected at most 524288 dimensions of all "
         "tensors together");
}

TEST(Limits, TextsOfSafetensors) {
  const auto metadata = [](const std::string& fields) {
    return read_header(R"({"__metadata__":{)" + fields + "}}");
  };
  const std::string text(8 * kMiB, 'v');
  expect(metadata(R"("k":")" + text.substr(1) + R"(")"), "no error");
  expect(metadata(R"("k":")" + text + R"(")"),
         "header: __metadata__: key 'k': offset 8388638: the text that begins at offset 29 is "
         "longer than 8388607 bytes");
  expect(metadata("\"" + text + R"(":"v")"),
         "header: __metadata__: offset 65563: the text that begins at offset 25 is longer than "
         "65536 bytes");
  expect(metadata(texts_json(kMostEntries + 1, 5)),
         "header: __metadata__: offset 251067: expected at most 16384 entries and 8 MiB of text");
  expect(read_header(R"({"t":{"dtype":")" + text + R"(x"}})"),
         "header: tensor 't': offset 8388632: the text that begins at offset 22 is longer than "
         "8388608 bytes");
  // Unknown fields, of which each alone would pass.
  const std::string unknown = R"("x":[)" + list_of(4'000'000, [](int) { return "1"; }) + "]";
  expect(read_header(R"({"a":{)" + unknown + "," + unknown + "," + unknown + "}}"),
         "header: tensor 'a': offset 16777245: unknown fields longer than 16 MiB together");
}

TEST(Limits, SafetensorsIndex) {
  const auto map = [](int entries, int files) {
    return list_of(entries, [&](int i) {
      return fmt::format(R"("{:047}":"{:070}.safetensors")", i, i % files);
    });
  };
  expect(read_index(R"({"weight_map":{)" + map(1 << 18, 1 << 14) + R"(},"metadata":{)" +
                    texts_json(kMostEntries, 500) + "}}"),
         "no error");
  expect(read_index(R"({"weight_map":{)" + map((1 << 18) + 1, 2) + "}}"),
         "weight_map: offset 35389505: expected at most 262144 tensors");
  expect(read_index(R"({"weight_map":{)" + map((1 << 14) + 1, 1 << 15) + "}}"),
         "weight_map: offset 2211989: expected at most 16384 files");
  expect(read_index(R"({"metadata":{)" + texts_json(1 << 13, 1024) + "}}"),
         "metadata: offset 8438410: expected at most 16384 entries and 8 MiB of text");
  expect(read_index(std::string(50'000'001, ' ')), "has 50000001 bytes, expected at most 50000000");
}

TEST(Limits, Gguf) {
  // As many keys, texts, tensors and names as a file may have.
  Gguf most;
  most.header(kMostTensors, kMostEntries);
  const std::string text(600, 'v');
  for (int i = 0; i < kMostEntries; ++i) most.key(fmt::format("{:032}", i), 8).text(text);
  for (int i = 0; i < kMostTensors; ++i) {
    most.tensor(fmt::format("{:090}", i), {0, 1, 1, 1}, 0, 0);
  }
  expect(read(most.data(0)), "no error");
  expect(read(Gguf().header(kMostTensors + 1, 0).data(24 * (kMostTensors + 1))),
         "offset 8: number of tensors 131073, expected at most 131072");
  expect(read(Gguf().header(0, kMostEntries + 1).data(13 * (kMostEntries + 1))),
         "offset 16: number of metadata entries 16385, expected at most 16384");
  expect(read(Gguf().header(0, 1).key("k", 8).text(std::string(8 * kMiB + 1, 'v'))),
         "key 'k': offset 37: text of length 8388609, expected at most 8388608");
  Gguf two;
  two.header(0, 2).key("a", 8).text(std::string(8 * kMiB, 'v'));
  expect(read(two.key("b", 8).text(std::string(8 * kMiB, 'v'))),
         "key 'b': offset 8388674: metadata takes more than 12 MiB");
}

// A small value in memory is fifty times as long as in the file.
TEST(Limits, ArraysOfGguf) {
  Gguf bytes;
  bytes.header(0, 400);
  for (int i = 0; i < 400; ++i) {
    bytes.key(fmt::format("{}", i), 9).u32(0).u64(1024).bytes += std::string(1024, '\0');
  }
  expect(read(bytes), "key '127': offset 134314: metadata takes more than 12 MiB");
  Gguf arrays;
  arrays.header(0, 1).key("k", 9).u32(9).u64(1024);
  for (int i = 0; i < 1024; ++i) {
    arrays.u32(9).u64(1024);
    for (int j = 0; j < 1024; ++j) arrays.u32(0).u64(0);
  }
  expect(read(arrays), "key 'k': offset 1572901: metadata takes more than 12 MiB");
  Gguf vocabulary;  // only counted
  vocabulary.header(0, 1).key("k", 9).u32(8).u64(1'000'000).data(8'000'000);
  expect(read(vocabulary), "no error");
}

// ---- files from elsewhere ----------------------------------------------------------------------

// FLOPWISE_CHECKPOINTS or the folder beside the checkout: EXPECT.tsv (file, verdict, reason) and
// its files.
fs::path collected_folder() {
  const char* folder = std::getenv("FLOPWISE_CHECKPOINTS");
  if (folder != nullptr) return folder;
  return fs::path(FLOPWISE_SOURCE_DIR).parent_path() / "shared/checkpoints/malformed/made";
}

// "error", "ok", or "error or ok" where a reader may choose.
void expect_verdict(const fs::path& path, const std::string& verdict) {
  SCOPED_TRACE(path.string());
  const Spent spent = spent_by([&] { read_checkpoint(path.string()); });
  const bool is_read = spent.error == "no error";
  EXPECT_NE(verdict.find(is_read ? "ok" : "error"), std::string::npos) << spent.error;
  EXPECT_LT(spent.peak_bytes, kMostBytes);
  EXPECT_LT(spent.cpu_s, 1);
  if (is_read) return;
  // One line: the file, and where in it or which field, or what it is.
  EXPECT_EQ(spent.error.find('\n'), std::string::npos);
  EXPECT_TRUE(spent.error.starts_with(path.string() + ": ")) << spent.error;
  EXPECT_LT(spent.error.size(), path.string().size() + 300) << spent.error;
}

TEST(Limits, CollectedFiles) {
  std::ifstream rows(collected_folder() / "EXPECT.tsv");
  if (!rows) GTEST_SKIP() << "no EXPECT.tsv in " << collected_folder();
  std::string row;
  std::getline(rows, row);  // the names of the columns
  int files = 0;
  while (std::getline(rows, row)) {
    std::istringstream columns(row);
    std::string name;
    std::string verdict;
    std::getline(columns, name, '\t');
    std::getline(columns, verdict, '\t');
    expect_verdict(collected_folder() / name, verdict);
    ++files;
  }
  EXPECT_GT(files, 0);
}

// What was found in the wild beside those, all of it broken.
TEST(Limits, CollectedFilesFromTheWild) {
  const fs::path folder = collected_folder().parent_path();
  if (!fs::is_regular_file(collected_folder() / "EXPECT.tsv")) {
    GTEST_SKIP() << "no EXPECT.tsv in " << collected_folder();
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) expect_verdict(entry.path(), "error");
  }
}

}  // namespace
}  // namespace flopwise
