// fuzz_seeds FOLDER: writes the files that the tests build, one folder for each fuzzer.
#include <filesystem>
#include <fstream>
#include <string>

#include "flopwise/checkpoint/test_files.h"

namespace {

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  namespace files = flopwise::test_files;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  write(folder / "safetensors" / "good", files::good_safetensors());
  write(folder / "safetensors" / "empty", files::safetensors("{}", 0));
  write(folder / "safetensors" / "index",
        R"({"metadata": {"total_size": 11.0}, "weight_map": {"a": "m-1.safetensors"}})");
  write(folder / "gguf" / "little", files::good_gguf());
  write(folder / "gguf" / "big", files::good_gguf(true));
  write(folder / "gguf" / "version_2", files::good_gguf(false, 2));
  return 0;
}
