#!/usr/bin/env bash
# Feeds changed objects through reading, the world and four cycles, for SECONDS (default 300); not part of run.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-300}
source cmake/packages.sh
muster_packages build check

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target muster_fuzz_objects

# The article's objects as YAML, and the recorded lines that are not too long as scenarios.
corpus=build/fuzz/corpus/objects
rm -rf "$corpus"
mkdir -p "$corpus"
for file in 1-pod 2-gang 3-gang-waits 4-small 4-too-large 5-dialects; do
    sed -s '1i ---' examples/article/{node,4-queue,$file}.yaml >"$corpus/$file.yaml"
done
for family in basics seed fit gang; do
    zcat "tests/golden/volcano-$family.jsonl.gz" | sed 's/,"expect":.*$/}/' |
        awk -v to="$corpus/$family-" 'length < 8000 && NR % 8 == 0 { print > (to NR) }'
done
build/fuzz/bin/muster_fuzz_objects -max_total_time="$seconds" -seed=1 -max_len=16384 -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix=build/fuzz/objects- "$corpus"
