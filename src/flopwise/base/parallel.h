// A loop whose rounds run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace flopwise {

// Calls body(0) ... body(count - 1), each once, on `threads` threads (0: as many as the machine
// has). After a round that throws no other begins; what it throws is thrown here, of several the
// one of the lowest number.
template <typename Body>
void for_each_parallel(std::size_t count, int threads, Body body) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        failures[i] = std::current_exception();
        next = count;
      }
    }
  };
  const std::size_t wanted =
      threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(std::max<std::size_t>(wanted, 1), count); ++i) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace flopwise
