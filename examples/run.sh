#!/usr/bin/env bash
# Installs what is missing, builds the preset `release` and runs the article's experiments.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
muster_packages build

cmake --preset release -DMUSTER_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release --target muster-tool
muster=build/release/bin/muster
article=examples/article

experiment() {
    local title=$1
    shift
    printf '\n==== %s\n\n$ muster simulate %s\n\n' "$title" "$*"
    "$muster" simulate "$@"
}

experiment 'Experiment 1: one pod takes 2000 MiB and 30 % of the card' -f $article/node.yaml -f $article/1-pod.yaml -o wide
experiment 'Experiment 2: a gang of two that fits' -f $article/node.yaml -f $article/2-gang.yaml
experiment 'Experiment 3: a gang of two that does not fit waits whole' -f $article/node.yaml -f $article/3-gang-waits.yaml
experiment 'Experiment 4a: a gang within its queue'"'"'s capability' \
    -f $article/node.yaml -f $article/4-queue.yaml -f $article/4-small.yaml
experiment 'Experiment 4b: a gang beyond its queue'"'"'s capability' \
    -f $article/node.yaml -f $article/4-queue.yaml -f $article/4-too-large.yaml
experiment 'Experiment 5: pods and nodes that mix dialects' -f $article/node.yaml -f $article/5-dialects.yaml

printf '\nAll experiments ran; the tool is %s\n' "$muster"
