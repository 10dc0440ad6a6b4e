// The little that flopwise has to know about UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace flopwise {

// The bytes of the well-formed sequence that `text` starts with; 0 if it starts with none (overlong
// forms, surrogates and what lies above U+10FFFF are not well-formed). `text` is not empty.
std::size_t utf8_sequence_length(std::string_view text);

// Whether all of `text` is well-formed.
bool is_utf8(std::string_view text);

// Code points; in broken text, the bytes that are not continuations.
std::size_t utf8_length(std::string_view text);

}  // namespace flopwise
