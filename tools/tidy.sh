#!/bin/bash
# The second opinion: builds everything with clang 14 and runs clang-tidy over all but the tests.
# tools/tidy.sh [REGEX]: only the sources whose path matches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cmake --preset tidy >/dev/null
cmake --build build/tidy
# What GoogleTest's macros expand to does not follow our naming, so tests are only compiled.
run-clang-tidy-14 -quiet -j "$(nproc)" -p build/tidy "${1:-^$PWD/(src|cli)/.*(?<!_test)\.cc\$}"
