#include "cli/plot_output.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <ostream>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace flopwise::cli {
namespace {

enum class FileFormat { kSvg, kPng, kCsv, kJson };

FileFormat format_of(const std::string& file, const char* option) {
  constexpr struct {
    const char* ending;
    FileFormat format;
  } kFormats[] = {
      {".svg",  FileFormat::kSvg },
      {".png",  FileFormat::kPng },
      {".csv",  FileFormat::kCsv },
      {".json", FileFormat::kJson}
  };
  for (const auto& [ending, format] : kFormats) {
    if (file.size() > std::strlen(ending) && file.ends_with(ending)) return format;
  }
  throw UserError(
      fmt::format("{}: expected a file name that ends in .svg, .png, .csv or .json, "
                  "got {}",
                  option, quoted(file)));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File temporary_file() {
  File file(std::tmpfile());
  if (!file) throw UserError(fmt::format("a temporary file: {}", std::strerror(errno)));
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[1 << 16];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, n);
  }
  return text;
}

bool write_all(const std::string& text, std::FILE* file) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

// Runs gnuplot without its startup files and without a shell. Files instead of pipes: neither side
// waits for the other.
int run_gnuplot(std::FILE* in, std::FILE* out, std::FILE* err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int target = 0;
  for (std::FILE* file : {in, out, err}) {
    posix_spawn_file_actions_adddup2(&actions, fileno(file), target++);
  }
  char program[] = "gnuplot";
  char no_startup_files[] = "-d";
  char* const arguments[] = {program, no_startup_files, nullptr};
  pid_t process = 0;
  const int error = posix_spawnp(&process, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    throw UserError(
        "gnuplot is not installed, which draws .svg and .png (Debian: apt-get install "
        "gnuplot-nox); .csv, .json and the terminal need none");
  }
  if (error != 0) throw UserError(fmt::format("gnuplot: {}", std::strerror(error)));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string picture_of(const PlotData& data, PictureFormat format) {
  const File in = temporary_file();
  const File out = temporary_file();
  const File err = temporary_file();
  if (!write_all(plot_gnuplot(data, format), in.get())) {
    throw UserError(fmt::format("a temporary file: {}", std::strerror(errno)));
  }
  std::rewind(in.get());
  const int status = run_gnuplot(in.get(), out.get(), err.get());
  std::string picture = content_of(out.get());
  if (status == 0 && !picture.empty()) return picture;
  throw UserError("gnuplot failed, expected version 5.4: " + content_of(err.get()));
}

std::string file_text(const PlotData& data, FileFormat format) {
  switch (format) {
    case FileFormat::kSvg:
      return picture_of(data, PictureFormat::kSvg);
    case FileFormat::kPng:
      return picture_of(data, PictureFormat::kPng);
    case FileFormat::kCsv:
      return plot_csv(data);
    case FileFormat::kJson:
      return plot_json(data).str() + "\n";
  }
  throw InternalError("unknown format of a plot");
}

}  // namespace

void check_plot_file(const std::string& file, const char* option) {
  format_of(file, option);
}

void print_plot(const PlotData& data, bool as_json, Context& context) {
  context.out << (as_json ? plot_json(data).str() + "\n" : plot_text(data));
}

void write_plot(const PlotData& data, const std::string& file, const char* option) {
  const std::string text = file_text(data, format_of(file, option));
  const File out(std::fopen(file.c_str(), "wb"));
  if (out && write_all(text, out.get())) return;
  throw UserError(
      fmt::format("{}: cannot write {}: {}", option, quoted(file), std::strerror(errno)));
}

}  // namespace flopwise::cli
