#!/bin/bash
# Fails on a C++ file that clang-format 14 would change, and names it.
#   tools/check_format.sh [--fix] [FILE...]    --fix: changes it; without files: all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fix=false
if [[ "${1:-}" == --fix ]]; then
  fix=true
  shift
fi
if [[ $# -gt 0 ]]; then
  files=("$@")
elif git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.h' '*.cc')
else  # an unpacked archive
  mapfile -t files < <(find src cli tests bench -name '*.h' -o -name '*.cc')
fi

existing=()
for file in "${files[@]}"; do
  [[ ! -f "$file" ]] || existing+=("$file")  # not one that is deleted and not yet committed
done

# Mostly all is well, and a few processes say so quickly.
if ! $fix && printf '%s\0' "${existing[@]}" | xargs -0 -n 20 -P "$(nproc)" \
    clang-format-14 --dry-run -Werror >/dev/null 2>&1; then
  exit 0
fi

# AlignArrayOfStructures makes clang-format 14 crash on some tables, and move others at every run;
# such a file may also be as clang-format leaves it without that option.
unaligned=$(grep -v '^AlignArrayOfStructures' .clang-format)
unaligned="{${unaligned//$'\n'/, }}"
is_like() { [[ "$(cat "$1"; echo .)" == "$2" ]]; }

bad=0
for file in "${existing[@]}"; do
  text=$(clang-format-14 "$file" 2>/dev/null || echo crashed; echo .)
  if is_like "$file" "$text"; then
    continue
  fi
  if [[ "$text" == *crashed$'\n'. || "$text" != "$(printf '%s' "${text%.}" |
      clang-format-14 --assume-filename="$file" 2>/dev/null || true; echo .)" ]]; then
    text=$(clang-format-14 --style="$unaligned" "$file"; echo .)
    if is_like "$file" "$text"; then
      continue
    fi
  fi
  if $fix; then
    printf '%s' "${text%.}" >"$file"
    echo "formatted $file"
  else
    echo "$file: not formatted; tools/check_format.sh --fix does it"
    diff -u "$file" <(printf '%s' "${text%.}") | sed -n '3,12p' || true
    bad=1
  fi
done
exit $bad
