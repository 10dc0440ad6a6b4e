// The tables that are judged, each with what its source says of all its rows.
#pragma once

#include <span>

#include "bench/accuracy/decode_rows.h"
#include "bench/accuracy/h100_rows.h"
#include "bench/accuracy/maxtext_rows.h"
#include "bench/accuracy/megatron_rows.h"
#include "bench/accuracy/memory_rows.h"
#include "bench/accuracy/mosaic_rows.h"

namespace flopwise {

enum class Unit { kSeconds, kTokensPerDevice, kTflopsPerDevice, kMfuPercent };

struct StepTable {
  const char* name;
  std::span<const StepRow> rows;
  Unit unit;
  const char* chip;
  const char* letters;  // behind those of each row; "{}" is its sequence length
  const char* recipe;
  const char* kernel = "flash";
  const char* flash = "2";
  const char* fusion = "eager";
  const char* convention = "dense";  // by which its FLOP/s and MFU are counted
  const char* matmul_dtype = "";
  double dropout = 0;              // of attention's weights and behind both halves of a layer
  bool micro_batch_stated = true;  // otherwise the fastest of 1 2 4 8 that the batch allows
  bool interleave_stated = true;   // otherwise the fastest of 1 2 4 7
};

inline constexpr char kGpt[] = ",gated=0,norm=layer,tied=1,positions={},bias=1";
// MPT has no biases. Its harness ran the Triton kernel of the first FlashAttention by default
// (submit_benchmarks.py of 2023: --attn_impl, default triton; sweep.sh names no other).
inline constexpr char kMpt[] = ",gated=0,norm=layer,tied=1,positions={},bias=0";
// The layers of Korthikanti's GPT alone.
inline constexpr char kGptLayers[] = ",gated=0,norm=layer,tied=1,bias=1";
inline constexpr char kA100[] = "A100-SXM4-80GB";
inline constexpr char kH100[] = "H100-SXM5-80GB";

inline const StepTable kStepTables[] = {
    {.name = "Korthikanti 2022, table 5",
     .rows = kKorthikanti,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "megatron",
     .kernel = "plain",
     .dropout = 0.1},
    {.name = "Korthikanti 2022, 530B with dp 8",
     .rows = kKorthikantiDataParallel,
     .unit = Unit::kMfuPercent,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "megatron",
     .kernel = "plain",
     .convention = "korthikanti",
     .dropout = 0.1},
    {.name = "Megatron 2021, table 1",
     .rows = kMegatronTable1,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "megatron",
     .kernel = "plain",
     .dropout = 0.1,
     .micro_batch_stated = false,
     .interleave_stated = false},
    {.name = "Megatron 2021, table 2, PTD-P",
     .rows = kMegatronPtdp,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "megatron",
     .kernel = "plain",
     .dropout = 0.1},
    {.name = "Megatron 2021, table 2, ZeRO-3",
     .rows = kMegatronZero3,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "zero",
     .kernel = "plain",
     .dropout = 0.1},
    {.name = "MT-NLG 2022",
     .rows = kMtNlg,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kGpt,
     .recipe = "megatron",
     .kernel = "plain",
     .dropout = 0.1},
    {.name = "MosaicML LLM-Foundry, A100-80GB",
     .rows = kMosaicA100Gib80,
     .unit = Unit::kSeconds,
     .chip = kA100,
     .letters = kMpt,
     .recipe = "fp32",
     .flash = "1"},
    {.name = "MosaicML LLM-Foundry, A100-40GB",
     .rows = kMosaicA100Gib40,
     .unit = Unit::kSeconds,
     .chip = "A100-SXM4-40GB",
     .letters = kMpt,
     .recipe = "fp32",
     .flash = "1"},
    {.name = "MosaicML LLM-Foundry, H100",
     .rows = kMosaicH100,
     .unit = Unit::kSeconds,
     .chip = kH100,
     .letters = kMpt,
     .recipe = "fp32",
     .flash = "1"},
    {.name = "fms-fsdp",
     .rows = kFms,
     .unit = Unit::kTokensPerDevice,
     .chip = nullptr,
     .letters = nullptr,
     .recipe = "fp32",
     .fusion = "fused"},
    {.name = "Llama 3, table 4, T 8192",
     .rows = kLlama3,
     .unit = Unit::kTflopsPerDevice,
     .chip = kH100,
     .letters = nullptr,
     .recipe = "megatron",
     .micro_batch_stated = false,
     .interleave_stated = false},
    {.name = "NeMo 24.07, fp8",
     .rows = kNemo,
     .unit = Unit::kTokensPerDevice,
     .chip = kH100,
     .letters = nullptr,
     .recipe = "megatron",
     .flash = "3",
     .matmul_dtype = "fp8"},
    {.name = "Megatron-Bridge, fp8",
     .rows = kBridge,
     .unit = Unit::kTokensPerDevice,
     .chip = kH100,
     .letters = nullptr,
     .recipe = "megatron",
     .flash = "3",
     .matmul_dtype = "fp8"},
    {.name = "Megatron-Bridge, GPT-OSS 120B",
     .rows = kBridgeGptOss,
     .unit = Unit::kTokensPerDevice,
     .chip = kH100,
     .letters = nullptr,
     .recipe = "megatron",
     .flash = "3"},
    {.name = "MaxText, v5e",
     .rows = kMaxTextV5e,
     .unit = Unit::kTflopsPerDevice,
     .chip = nullptr,
     .letters = nullptr,
     .recipe = "maxtext",
     .fusion = "fused"},
    {.name = "MaxText, v5p",
     .rows = kMaxTextV5p,
     .unit = Unit::kTflopsPerDevice,
     .chip = nullptr,
     .letters = nullptr,
     .recipe = "maxtext",
     .fusion = "fused"},
    {.name = "MaxText, v4",
     .rows = kMaxTextV4,
     .unit = Unit::kTflopsPerDevice,
     .chip = nullptr,
     .letters = nullptr,
     .recipe = "maxtext",
     .fusion = "fused"},
};

struct DecodeTable {
  const char* name;
  std::span<const DecodeRow> rows;
  // New requests keep coming: for each sequence that ends another prompt is read, between two
  // steps.
  bool prefills_between = false;
};
inline const DecodeTable kDecodeTables[] = {
    {"gpt-fast, decoding", kGptFast},
    {"gpt-fast, decoding, MI250X", kGptFastMi250x},
    {"llama.cpp q4_0, decoding, Apple", kLlamaCpp},
    {"vLLM, Llama-3.1-70B on 8 TPU v6e", kVllmTpu, true},
};

}  // namespace flopwise
