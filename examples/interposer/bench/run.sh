#!/usr/bin/env bash
# Builds the benchmarks and runs them on this machine's first card: what the library costs, how exact it is, and that
# programs run unchanged under it. README.md says how to read the report.
#
#   PARTS="overhead share workload containers smi"  which; all unless set
#   MUSTER_LIB=FILE     the library, else it is built: by cmake where that can, by g++ else
#   CUDA_HOME=DIR       the toolkit, else /usr/local/cuda
#   EXTRA_INCLUDE=DIR   where tl/expected.hpp is (and nvml.h, if the toolkit lacks it), for the build by g++
#
# Exit: 0, or 1 where something failed, or 2 where something is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
parts=${PARTS:-overhead share workload containers smi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_PRELOAD "${!CUDA_DEVICE_MEMORY_@}" "${!CUDA_DEVICE_SM_@}" "${!MUSTER_O@}" GPU_CORE_UTILIZATION_POLICY

missing() {
    echo "run.sh: $*" >&2
    exit 2
}
part() { [[ " $parts " == *" $1 "* ]]; }
title() { printf '\n-- %s\n' "$1"; }

# What is needed.
for p in $parts; do
    [[ " overhead share workload containers smi " == *" $p "* ]] || missing "PARTS: no part is called $p"
done
[[ -f $cuda/include/cuda.h ]] || missing "no include/cuda.h in $cuda: name the toolkit by CUDA_HOME"
command -v g++ >"$work/log" || missing "no g++"
stubs=$cuda/lib64/stubs
[[ -e $stubs/libcuda.so ]] || missing "no libcuda.so in $stubs, to link with"
nvcc=$(PATH=$cuda/bin:$PATH command -v nvcc) || ! part workload || missing "no nvcc, which the part workload needs"

# The library and the programs.
build_library() {
    cmake -S "$root" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DMUSTER_BUILD_TESTS=OFF \
        -DMUSTER_CUDA_INCLUDE="$cuda/include" >"$work/log" 2>&1 &&
        cmake --build "$work/build" --target muster_interposer >>"$work/log" 2>&1 &&
        [[ -f $work/build/lib/libmuster.so ]] && lib=$work/build/lib/libmuster.so && how="cmake, Release" && return
    lib=$work/libmuster.so how="g++ -O2"
    g++ -std=c++20 -O2 -fPIC -fvisibility=hidden -shared -Wl,-Bsymbolic -Wl,-z,defs -w \
        -Wl,--version-script="$here/../exports.map" -static-libstdc++ -static-libgcc -I "$root/include" \
        -I "$cuda/include" ${EXTRA_INCLUDE:+-I "$EXTRA_INCLUDE"} "$here"/../*.cpp -ldl -pthread -o "$lib" \
        2>"$work/log" && return
    cat "$work/log" >&2
    missing "libmuster.so could not be built: if a header is missing, name its folder by EXTRA_INCLUDE"
}
if [[ -n ${MUSTER_LIB:-} ]]; then
    [[ -f $MUSTER_LIB ]] || missing "MUSTER_LIB: no file $MUSTER_LIB"
    lib=$(realpath "$MUSTER_LIB") how="as it is, $lib"
else
    build_library
fi
building=()
for p in overhead share containers; do
    part "$p" || continue
    g++ -std=c++20 -O2 -I "$cuda/include" "$here/$p.cpp" -o "$work/$p" -L "$stubs" -lcuda -ldl -pthread &
    building+=($!)
done
if part workload; then
    "$nvcc" -std=c++20 -O2 --cudart=shared -L "$cuda/lib64" -Xlinker -rpath,"$cuda/lib64" \
        "$here/workload.cu" -o "$work/workload" &
    building+=($!)
fi
for p in "${building[@]}"; do wait "$p" || missing "a program could not be built"; done

# Running them.
trouble() {
    echo "!! $*"
    touch "$work/failed"
}
# Runs a command for so long at most.
bounded() { timeout -k 2 100 env "$@" || trouble "exit $?: $*"; }
# limited MEMORY SHARE COMMAND...: "-" is no limit; with a ledger of its own unless $ledger names one.
limited() {
    local set=(CUDA_DEVICE_MEMORY_SHARED_CACHE="${ledger:-$(mktemp -u "$work/ledger.XXXXXX")}")
    [[ $1 == - ]] || set+=(CUDA_DEVICE_MEMORY_LIMIT="$1")
    [[ $2 == - ]] || set+=(CUDA_DEVICE_SM_LIMIT="$2")
    bounded "${set[@]}" "${@:3}"
}
held() { limited "$1" "$2" LD_PRELOAD="$lib" "${@:3}"; }

smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader -i 0 2>/dev/null || echo "unknown: nvidia-smi doesn't say"; }
echo "card      $(smi name)"
echo "driver    $(smi driver_version)"
echo "compiler  $(g++ --version | sed -n 1p)"
echo "library   $how"

if part overhead; then
    title "overhead: microseconds a call; a limit of memory, then a share of 99 as well"
    limited 2000m - "$work/overhead" "$lib"
    limited 2000m 99 "$work/overhead" "$lib"
fi

rate=0 iterations=0
# base LABEL OPTION...: a tenant without the library; the next ones are measured against it.
base() {
    local row
    row=$(bounded "$work/share" --label="$1" --warm=0.5 --seconds=1.5 "${@:2}")
    echo "$row"
    read -r _ _ _ _ rate iterations <<<"$row"
}
tenant() { # LIMIT LABEL OPTION...
    held - "$1" "$work/share" --label="$2" --aim="$1" --base="$rate" "${@:3}" --iterations="$iterations" --seconds=4
}
if part share; then
    title "share: percent of what the same tenant gets without a limit, which is the row before"
    "$work/share" --header
    for form in "50us --us=50" "5ms --us=5000" "graph-1ms --mode=graph" "1ms --us=1000"; do
        read -ra form <<<"$form"
        base "${form[@]}"
        for limit in 30 50; do tenant "$limit" "${form[@]}"; done
    done
    one_ms="$rate $iterations"
    for form in "vary-1..10ms --vary" "vary-5..50ms --vary --us=5000" "four-threads-1ms --threads=4 --mode=ex"; do
        read -ra form <<<"$form"
        base "${form[@]}"
        tenant 30 "${form[@]}"
    done
    read -r rate iterations <<<"$one_ms"
    tenant 30 two-containers >"$work/30" &
    tenant 70 two-containers
    wait $!
    cat "$work/30"
    ledger=$work/ledger tenant 30 one-ledger >"$work/first" &
    ledger=$work/ledger tenant 30 one-ledger >"$work/second"
    wait $!
    cat "$work/first" "$work/second"
    awk '{ sum += $3 } END { printf "%-22s   %-4s   %.1f\n", "both-of-one-ledger", 30, sum }' \
        "$work/first" "$work/second"
fi

if part workload; then
    title "workload: its sums without the library, and with it"
    bounded "$work/workload" | tee "$work/native"
    for share in - 50; do
        held 2000m "$share" "$work/workload" >"$work/with"
        if diff "$work/native" "$work/with"; then
            echo "limit 2000m, share $share: runs unchanged"
        else
            trouble "limit 2000m, share $share: runs otherwise"
        fi
    done
    echo "takes all there is, and goes on:"
    held 2000m - "$work/workload" --oom
fi

if part containers; then
    title "containers: several processes under one ledger, the first line without the library"
    bounded "$work/containers" --only=start
    held 6000m - "$work/containers" --cap=6000
fi

if part smi; then
    title "nvidia-smi under a limit of 2000 MiB"
    if command -v nvidia-smi >"$work/log"; then
        held 2000m - nvidia-smi | grep -oE '[0-9]+MiB */ *[0-9]+MiB' || trouble "nvidia-smi prints no memory"
    else
        echo "no nvidia-smi here"
    fi
fi

printf '\n%s s in all\n' "$SECONDS"
[[ ! -e $work/failed ]]
