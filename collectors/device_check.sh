#!/bin/sh
# Everything that needs a GPU, in one go, in under ten minutes: for a machine with one GPU and ncu.
#
#   collectors/device_check.sh [FOLDER]
#
# runs the collectors small, collects the M sweep with cold and with warm caches and the movers with the counters of
# all rules, calibrates, analyses, and compares the reader with NVIDIA's package where that is installed. FOLDER
# (device-check) then holds summary.tsv, one log per step, the reports and their tables: small enough to be kept as
# sample reports. Reports hold the host's name and the command line: look before publishing them.
#
# Settings (environment): PYTHON (with torch), NCUROOF (the command), DEVICE (cuda, or cpu for a dry try with a
# stand-in for ncu), LIMIT (seconds for everything, 560).
set -u

out=${1:-device-check}
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
ncuroof=${NCUROOF:-ncuroof}
device=${DEVICE:-cuda}
limit=${LIMIT:-560}
begin=$(date +%s)

mkdir -p "$out/log" "$out/results" || exit 2
out=$(cd "$out" && pwd)
printf 'step\tstatus\tseconds\n' > "$out/summary.tsv"

# step NAME SECONDS COMMAND...: runs it within its own time limit and what is left of the whole.
step() {
  name=$1; most=$2; shift 2
  left=$((limit - ($(date +%s) - begin)))
  if [ "$left" -lt 5 ]; then
    printf '%s\tno time left\t0\n' "$name" >> "$out/summary.tsv"
    echo "$name: no time left"
    return
  fi
  [ "$most" -gt "$left" ] && most=$left
  from=$(date +%s)
  timeout -k 10 "$most" "$@" > "$out/log/$name.txt" 2>&1
  status=$?
  printf '%s\t%s\t%s\n' "$name" "$status" "$(($(date +%s) - from))" >> "$out/summary.tsv"
  echo "$name: status $status"
}

collector() {
  name=$1; shift
  step "$name" 90 "$python" "$here/$name.py" --device "$device" --json "$out/results/$name.json" "$@"
}

if [ "$device" = cpu ]; then
  movers="--bytes 1048576" squares="--sizes 64,128" sweep="--m 1,2,4 --n 64 --k 64 --dtypes fp32"
  fma="--bytes 65536 --r 1,2" launches="--launches 100" layers="--scale 16 --batches 1 --prompt 8"
  decode="--scale 16 --layers 1 --batches 1 --prompts 16" profiled="--m 1,2,8 --n 64 --k 64 --dtypes fp32"
else
  movers="" squares="--sizes 256,512,1024,4096,8192 --repeats 10" sweep="--repeats 10 --dtypes fp16,bf16,fp32"
  fma="--r 1,8,64,512,2048 --repeats 10" launches="" layers="--batches 1,8 --repeats 10"
  decode="--layers 4 --batches 1,16 --prompts 128 --repeats 10" profiled="--dtypes fp16"
fi

step doctor 60 "$ncuroof" doctor --format json
# shellcheck disable=SC2086  the settings above are lists of words
{
  collector bandwidth $movers
  collector gemm_square $squares
  collector gemm_msweep $sweep
  collector fma_sweep $fma
  collector launch_floor $launches
  collector qwen_layers $layers
  collector decode_step $decode

  step collect_both 150 "$ncuroof" collect --force --annotated --cache both --timeout 60 -o "$out/msweep" -- \
    "$python" "$here/gemm_msweep.py" --device "$device" $profiled
  step collect_rules 100 "$ncuroof" collect --force --annotated --tier rules --plan none --timeout 90 -o "$out/movers" -- \
    "$python" "$here/bandwidth.py" --device "$device" --dtypes fp32 $movers
}
step calibrate 60 "$ncuroof" calibrate --force -o "$out/roofs.toml" --from "$out/results/bandwidth.json" \
  --from "$out/results/gemm_square.json" --from "$out/results/gemm_msweep.json" --from "$out/results/fma_sweep.json"
step analyze 60 "$ncuroof" analyze --roofs "$out/roofs.toml" --html "$out/roofline.html" "$out"/*.ncu-rep
if "$python" -c 'import ncu_report' 2> /dev/null; then
  report=$out/movers.ncu-rep
  step ingest_ours 60 "$ncuroof" ingest -o "$out/ours" "$report"
  step ingest_theirs 60 "$ncuroof" ingest --reader ncu-report -o "$out/theirs" "$report"
  step compare 60 "$python" "$here/compare_tables.py" "$out/ours/metrics.parquet" "$out/theirs/metrics.parquet"
else
  printf 'compare\tleft out: ncu_report is not installed\t0\n' >> "$out/summary.tsv"
fi

{
  echo "Made by collectors/device_check.sh on $(date -u +%Y-%m-%d)."
  nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2> /dev/null || echo "no nvidia-smi"
} > "$out/origin.txt"
cat "$out/summary.tsv"
! awk -F '\t' 'NR > 1 && $2 != 0 && $2 !~ /^left out/ { bad = 1 } END { exit !bad }' "$out/summary.tsv"
