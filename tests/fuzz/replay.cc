// NAME_replay PATH...: the target of NAME_fuzz once for each file, and for each file of a folder;
// what a path lacks is nothing to run. Names are printed first, so that the last one crashed.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(path)) files.push_back(path);
  if (!fs::is_directory(path)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

// False when the target finds fault with the file.
bool run(const fs::path& path) {
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return true;
  } catch (const std::exception& error) {
    std::printf("  %s\n", error.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int run_files = 0;
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : files_of(argv[i])) {
      ++run_files;
      if (!run(path)) ++failed;
    }
  }
  std::printf("%d files, %d failed\n", run_files, failed);
  return run_files > 0 && failed == 0 ? 0 : 1;
}
