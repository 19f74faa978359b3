#!/usr/bin/env bash
# Installs what is missing, builds the benchmarks, runs them and prints how the kernel compares with its rivals.
#
#     bench/run.sh [argument of Google Benchmark]...
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
muster_packages build bench

cmake --preset bench >/dev/null
cmake --build --preset bench --target muster_bench
results=$(mktemp)
trap 'rm -f "$results"' EXIT
build/bench/bin/muster_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true \
    --benchmark_report_aggregates_only=true --benchmark_out="$results" --benchmark_out_format=csv "$@"

# Items a second are decisions: pods that were given a node or refused one.
awk -F, '
    /^"scheduler\// && /_(median|min)"/ {
        split($1, part, "/"); size = part[4]; sub(/nodes:/, "", size); sub(/"/, "", size)
        kind = size ~ /_min$/ ? "min" : "median"; sub(/_.*/, "", size)
        time[part[3], size, kind] = $4; rate[part[3], size, kind] = $7
        if (!(size in seen)) { seen[size] = 1; sizes[++n] = size }
    }
    END {
        printf "\n%8s %18s %18s %16s %16s\n", "nodes", "kernel, pods/s", "plain, pods/s", "ratio of medians", "ratio of minima"
        for (i = 1; i <= n; ++i)
            for (j = i; j > 1 && sizes[j] + 0 < sizes[j - 1] + 0; --j) { s = sizes[j]; sizes[j] = sizes[j - 1]; sizes[j - 1] = s }
        for (i = 1; i <= n; ++i) {
            s = sizes[i]
            printf "%8s %18.0f %18.0f %16.2f %16.2f\n", s, rate["kernel", s, "median"], rate["plain", s, "median"],
                time["kernel", s, "median"] / time["plain", s, "median"], time["kernel", s, "min"] / time["plain", s, "min"]
        }
    }' "$results"
