// Bytes at offsets: what the readers of checkpoints see of a file. They never see more, so that a
// fuzzer can hand them memory, and so that no read leaves the file: its size is known first, and
// every offset and length is compared with it before it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace flopwise {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;
  // Fills `bytes` from `offset` on; offset + bytes.size() <= size(). UserError when the file fails.
  virtual void read_at(std::uint64_t offset, std::span<char> bytes) const = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read_at(std::uint64_t offset, std::span<char> bytes) const override;

 private:
  std::string_view bytes_;
};

// A regular file; UserError that names no file ("is a directory, ...") for anything else.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  ~FileSource() override;
  std::uint64_t size() const override { return size_; }
  void read_at(std::uint64_t offset, std::span<char> bytes) const override;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Reads [begin, end) of a source in order, 64 KiB at a time.
class ByteCursor {
 public:
  ByteCursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end);

  std::uint64_t offset() const { return buffer_end_ - static_cast<std::uint64_t>(last_ - next_); }
  std::uint64_t left() const { return end_ - offset(); }

  // The next byte; -1 at the end.
  int peek() {
    if (next_ == last_ && !fill()) return -1;
    return static_cast<unsigned char>(*next_);
  }
  void step() { ++next_; }  // over the byte that peek() showed
  // What of the next bytes is in memory: nothing at the end, and after a skip.
  std::string_view ahead() const { return {next_, static_cast<std::size_t>(last_ - next_)}; }
  // Skips `count` <= left() bytes without reading them.
  void skip(std::uint64_t count) {
    const auto in_buffer = static_cast<std::uint64_t>(last_ - next_);
    if (count > in_buffer) {
      buffer_end_ += count - in_buffer;
      count = in_buffer;
    }
    next_ += count;
  }
  // The next `count` <= left() bytes, which the caller bounds: so much memory is taken.
  std::string take(std::uint64_t count);

 private:
  bool fill();  // the buffer, from offset() on; false at the end

  const ByteSource& source_;
  std::uint64_t end_;
  std::uint64_t buffer_end_;  // the offset of what follows the buffer
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  const char* next_ = nullptr;  // in the buffer
  const char* last_ = nullptr;  // its end
};

}  // namespace flopwise
