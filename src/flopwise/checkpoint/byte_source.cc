#include "flopwise/checkpoint/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

constexpr std::uint64_t kBufferBytes = 64 << 10;

}  // namespace

void MemorySource::read_at(std::uint64_t offset, std::span<char> bytes) const {
  FLOPWISE_CHECK(offset <= size() && bytes.size() <= size() - offset, "a read beyond the source");
  std::copy_n(bytes_.data() + offset, bytes.size(), bytes.data());
}

FileSource::FileSource(const std::string& path) {
  // Without O_NONBLOCK opening a pipe waits for a writer, perhaps for ever.
  descriptor_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) throw UserError(std::strerror(errno));
  struct stat status = {};
  const bool is_known = fstat(descriptor_, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw UserError(is_known && S_ISDIR(status.st_mode) ? "is a directory, expected a file"
                                                        : "expected a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

FileSource::~FileSource() {
  close(descriptor_);
}

void FileSource::read_at(std::uint64_t offset, std::span<char> bytes) const {
  FLOPWISE_CHECK(offset <= size() && bytes.size() <= size() - offset, "a read beyond the source");
  while (!bytes.empty()) {
    const ssize_t count =
        pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw UserError(fmt::format("offset {}: {}", offset, std::strerror(errno)));
    if (count == 0) {
      throw UserError(
          fmt::format("offset {}: the file became shorter while it was read, expected {} bytes",
                      offset, size_));
    }
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

ByteCursor::ByteCursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end)
    : source_(source), end_(end), buffer_end_(begin) {
  FLOPWISE_CHECK(begin <= end && end <= source.size(), "a cursor beyond its source");
}

std::string ByteCursor::take(std::uint64_t count) {
  FLOPWISE_CHECK(count <= left(), "a cursor read beyond its end");
  std::string bytes;
  bytes.reserve(count);
  while (bytes.size() < count && peek() >= 0) {
    const std::string_view part = ahead().substr(0, count - bytes.size());
    bytes += part;
    next_ += part.size();
  }
  return bytes;
}

bool ByteCursor::fill() {
  const std::uint64_t length = std::min(kBufferBytes, end_ - buffer_end_);
  if (length == 0) return false;
  if (length > capacity_) {
    buffer_ = std::make_unique_for_overwrite<char[]>(length);
    capacity_ = length;
  }
  source_.read_at(buffer_end_, {buffer_.get(), length});
  buffer_end_ += length;
  next_ = buffer_.get();
  last_ = next_ + length;
  return true;
}

}  // namespace flopwise
