#pragma once

namespace shardlab::results {

/// Small files of each format, as their programs write them.
inline constexpr const char* google_benchmark_text = R"({
  "context": {"date": "2026-11-30T02:04:39+01:00", "host_name": "box", "num_cpus": 2,
    "caches": [{"type": "Data", "level": 1, "size": 32768}], "load_avg": [2.9,3.2]},
  "benchmarks": [
    {"name": "copy<float, 2>/1024/ranks:2/real_time", "run_name": "copy<float, 2>/1024/ranks:2/real_time",
     "run_type": "iteration", "repetition_index": 0, "iterations": 10, "real_time": 1.5,
     "cpu_time": 1.0, "time_unit": "ms", "bytes_per_second": 64, "hits": NaN},
    {"name": "copy<float, 2>/1024/ranks:2/real_time", "run_name": "copy<float, 2>/1024/ranks:2/real_time",
     "run_type": "iteration", "repetition_index": 1, "iterations": 10, "real_time": 2.5,
     "cpu_time": 2.0, "time_unit": "ms", "bytes_per_second": 32, "hits": 7},
    {"name": "copy<float, 2>/1024/ranks:2/real_time_cv", "run_name": "copy<float, 2>/1024/ranks:2/real_time",
     "run_type": "aggregate", "aggregate_name": "cv", "aggregate_unit": "percentage", "real_time": 0.3, "time_unit": "ms"},
    {"name": "only_median", "run_name": "only", "run_type": "aggregate", "aggregate_name": "median", "real_time": 3, "time_unit": "ns"},
    {"name": "only_mean", "run_name": "only", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 4, "time_unit": "ns"},
    {"name": "b", "run_name": "b", "run_type": "iteration", "error_occurred": true, "error_message": "no device \"x\"", "real_time": 0, "time_unit": "ns"}
  ]
})";

/// Under a locale with decimal commas and points between groups.
inline constexpr const char* german_benchmark_text = R"({
  "context": {"num_cpus": 2, "mhz_per_cpu": 2.100,
    "load_avg": [2.9,3.2]},
  "benchmarks": [
    {
      "name": "a", "run_name": "a", "run_type": "iteration",
      "iterations": 19.635.189,
      "real_time": 1,2500000000000000e+00,
      "time_unit": "us",
      "items": 1.234.567
    }
  ]
})";

inline constexpr const char* nvbench_text =
    R"({"devices": [{"id": 0, "name": "NVIDIA H100"}], "benchmarks": [{"name": "copy", "states": [
  {"name": "a", "device": 0,
   "axis_values": [{"name": "Elements", "type": "int64", "value": "16777216"}],
   "summaries": [
    {"tag": "nv/json/bin:nv/cold/sample_times", "data": [
      {"name": "filename", "type": "string", "value": "result.json-bin/0.bin"},
      {"name": "size", "type": "int64", "value": "2"}]},
    {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": "0.375"}]},
    {"tag": "nv/cold/time/gpu/stdev/relative", "data": [{"name": "value", "type": "float64", "value": null}]}],
   "is_skipped": false},
  {"name": "b", "device": 0, "axis_values": null, "summaries": null, "is_skipped": true, "skip_reason": "too large"},
  {"name": "c", "device": 0, "axis_values": null, "summaries": [], "is_skipped": false}]}]})";

inline constexpr const char* hyperfine_text = R"({"results": [
  {"command": "sleep 1", "mean": 0.375, "stddev": null, "user": 0.5, "system": 0.25,
   "times": [0.25, 0.5], "exit_codes": [0, 0]},
  {"command": "make \"all\"", "times": [1, 2], "exit_codes": [0, null], "parameters": {"jobs": "4"}}]})";

inline constexpr const char* ring_attention_text = R"({"timestamp": "2026-05-01T10:11:12.131415",
  "benchmark_mode": "train", "distributed": true, "world_size": 4,
  "config": {"seq_len": 8192, "num_heads": 8, "head_dim": 256, "batch_size": 1, "dtype": "float32"},
  "benchmark": {"num_iterations": 2, "mean_time_s": 0.0045, "per_iteration_times_s": [0.004, 0.005]},
  "memory": {"peak_allocated_bytes": 1, "max_peak_allocated_across_ranks_bytes": 133456789}})";

inline constexpr const char* vit_csv_name =
    "results of May/benchmark_results_2bs_2d_FP16_8dp_2ddp_1024-2048px.csv";
inline constexpr const char* vit_csv_text =
    "Size (px),Global BS,Local BS,Params ,Fwd (s),Train (s),Inf. Mem (GB),Train Mem (GB)\r\n"
    "1024,2,1,126907624,0.25,0.5,1.5,2.5\r\n"
    "2048,2,1,164656360,OOM,OOM,OOM\r\n";

}  // namespace shardlab::results
