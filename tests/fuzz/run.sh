#!/usr/bin/env bash
# Builds the fuzz targets and gives each RUNS inputs (default 1000000), from fixed seeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-1000000}
source cmake/packages.sh
muster_packages build check

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target muster_fuzz_quantity muster_fuzz_register

# Writes each further argument into a file of a fresh corpus.
seeds() {
    local corpus=build/fuzz/corpus/$1 i=0 text
    shift
    rm -rf "$corpus"
    mkdir -p "$corpus"
    for text in "$@"; do printf '%b' "$text" >"$corpus/$((i++))"; done
}
seeds quantity '1.5Gi' '-9223372036854775808' '0.000000001' '+1E-3' '9223372036854775.807k' '500m' 'two quantities of 14 bytes..'
seeds register 'GPU-a,10,40536,NVIDIA-NVIDIA A30,true,hami-core:x:GPU-b,-1,2,T,0,mig:' \
    'GPU-a,NVIDIA,2000,30:GPU-b,NVIDIA,1,0:;;GPU-c[group1-0],NVIDIA,1,0:'

passed=0 failed=0
for name in quantity register; do
    log=build/fuzz/$name.log
    if build/fuzz/bin/muster_fuzz_$name -runs="$runs" -seed=1 -max_len=256 -artifact_prefix="build/fuzz/$name-" \
        "build/fuzz/corpus/$name" >"$log" 2>&1; then
        echo "$name: $(grep '^Done ' "$log")"
        passed=$((passed + 1))
    else
        tail -n 40 "$log"
        echo "$name: failed, see $log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
