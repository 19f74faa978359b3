#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing; sourced by the run scripts. Say which sets: build, test, bench, check.
set -euo pipefail

muster_packages() {
    local want=() missing=() name
    for name in "$@"; do
        case "$name" in
        build) want+=(g++ cmake ninja-build libboost-dev librange-v3-dev libexpected-dev libfmt-dev libyaml-cpp-dev
            nlohmann-json3-dev libcli11-dev zlib1g-dev) ;;
        test) want+=(doctest-dev librapidcheck-dev) ;;
        bench) want+=(libbenchmark-dev) ;;
        check) want+=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev) ;;
        esac
    done
    for name in "${want[@]}"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
    done
    if [ ${#missing[@]} -eq 0 ]; then return 0; fi
    echo "installing ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        echo "these packages are missing; as root: apt-get install ${missing[*]}" >&2
        return 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
