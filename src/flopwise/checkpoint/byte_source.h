// Bytes at offsets: what the readers of checkpoints see of a file. They never see more, so that a
// fuzzer can hand them memory, and so that no read leaves the file: its size is known first, and
// every offset and length is compared with it before it is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return end_ - offset_; }

  // The next byte; -1 at the end.
  int peek() {
    if (offset_ == end_) return -1;
    // Before the buffer the difference wraps and is huge.
    if (offset_ - buffer_begin_ >= buffer_.size()) fill();
    return static_cast<unsigned char>(buffer_[offset_ - buffer_begin_]);
  }
  void step() { ++offset_; }  // over the byte that peek() showed
  // Skips `count` <= left() bytes without reading them.
  void skip(std::uint64_t count) { offset_ += count; }
  // The next `count` <= left() bytes, which the caller bounds: so much memory is taken.
  std::string take(std::uint64_t count);

 private:
  void fill();  // the buffer, from offset() on

  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::uint64_t buffer_begin_ = 0;
  std::vector<char> buffer_;
};

}  // namespace flopwise
