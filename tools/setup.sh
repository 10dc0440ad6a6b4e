# Sourced by ./run and ./test: what they need from Debian 12, installed where it is missing.

run_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev)
test_packages=("${run_packages[@]}" libgtest-dev libgmock-dev librapidcheck-dev python3
               python3-torch gnuplot-nox clang-format-14 clang-14 libclang-rt-14-dev)
tidy_packages=("${test_packages[@]}" clang-tidy-14)

# install_missing PACKAGE...: returns at once when all are there.
install_missing() {
  local installed missing=() package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    [[ $'\n'"$installed"$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "flopwise: missing packages need root to install: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "flopwise: installing ${missing[*]}" >&2
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
             apt-get -q -y -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update >&2
  "${apt[@]}" install --no-install-recommends "${missing[@]}" >&2
}
