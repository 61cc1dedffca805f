#!/usr/bin/env bash
# Solves the games that ship with the package, to a thousandth of a per cent.
set -euo pipefail
cd "$(dirname "$0")"
for game in kuhn leduc "ocp(13)" "dudo(6,1,1)" "domino(2,2)" "domino(3,3)" "domino(3,4)"; do
    tapete solve "$game" --algorithm pdcfr+ --until 0.001% --save "$game.safetensors"
done
