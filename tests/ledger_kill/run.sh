#!/usr/bin/env bash
# Kills 10,000 processes that use a ledger, at moments that nobody chose; part of no other script.
#
#     tests/ledger_kill/run.sh [ROUNDS [SEED]]
set -euo pipefail
cd "$(dirname "$0")/../.."
source cmake/packages.sh
muster_packages build test
cmake --preset release >/dev/null
cmake --build --preset release --target muster-ledger-kill
exec build/release/bin/muster-ledger-kill "${1:-10000}" "${2:-1}"
