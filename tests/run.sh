#!/usr/bin/env bash
# Installs what is missing, builds the preset `release` and runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
muster_packages build test
muster_cuda_headers

cmake --preset release -DMUSTER_BUILD_TESTS=ON >/dev/null
cmake --build --preset release
ctest --preset release -j "$(nproc)"
