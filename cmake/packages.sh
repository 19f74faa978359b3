#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing; sourced by the run scripts. Say which sets: build, test, bench, check.
# `muster_cuda_headers` fetches the headers that the interposer is compiled with.
set -euo pipefail

muster_packages() {
    local want=() missing=() name
    for name in "$@"; do
        case "$name" in
        build) want+=(g++ cmake ninja-build libboost-dev librange-v3-dev libexpected-dev libfmt-dev libyaml-cpp-dev
            nlohmann-json3-dev libcli11-dev zlib1g-dev) ;;
        test) want+=(doctest-dev librapidcheck-dev) ;;
        bench) want+=(libbenchmark-dev) ;;
        cuda) want+=(python3-pip ca-certificates) ;;
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

# The headers of CUDA's driver API and of NVML, from their wheels on PyPI to build/cuda/include. Where they can't be
# had the interposer is left out, and everything else builds.
muster_cuda_headers() {
    local scratch wheel
    if [ -f build/cuda/include/cuda.h ] && [ -f build/cuda/include/nvml.h ]; then return 0; fi
    scratch=$(mktemp -d)
    if { python3 -m pip --version >/dev/null 2>&1 || muster_packages cuda; } &&
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch" \
            nvidia-cuda-runtime==13.0.96 nvidia-nvml-dev==13.0.87; then
        for wheel in "$scratch"/*.whl; do python3 -m zipfile -e "$wheel" "$scratch"; done
        mkdir -p build/cuda
        cp -r "$scratch"/nvidia/cu13/include build/cuda/
    else
        echo "CUDA's headers can't be had; the interposer is left out" >&2
    fi
    rm -rf "$scratch"
}
