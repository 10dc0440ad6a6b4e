// Adapters: published numbers of trainable parameters, and what freezing all else saves.
#include "flopwise/graph/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "flopwise/model/read_model.h"
#include "flopwise/report/count.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

CountResult counted(const std::string& model, const std::string& lora, Mode mode = Mode::kTrain) {
  CountRequest request;
  request.workload.mode = mode;
  request.workload.seq_len = 64;
  if (!lora.empty()) request.workload.lora = parse_lora(lora);
  std::istringstream no_input;
  return count_model(read_model(model, no_input), request);
}

struct Row {
  const char* model;
  const char* lora;
  std::int64_t trainable;
};

TEST(Lora, PublishedTrainableParameters) {
  const Row rows[] = {
  // Hu et al. 2021, table 4: 18 million of GPT-3 are r = 4 of queries and values.
      {"gpt-3-175b",    "r=4,targets=q+v",                          18'874'368                                   },
 // What peft's print_trainable_parameters says of these.
      {"llama-2-7b",    "r=8,targets=q_proj+v_proj",                4'194'304                                    },
      {"llama-3-8b",    "r=16,targets=all-linear",                  41'943'040                                   },
      {"llama-3-8b",    "r=16,targets=q_proj+k_proj+v_proj+o_proj", 13'631'488                                   },
      {"llama-2-7b",    "r=64,targets=q+k+v+o+gate+up+down",        159'907'840                                  },
 // 2 * 128 experts * 48 layers * 8 * 3 * (2048 + 768) / 2 of the experts alone.
      {"qwen3-30b-a3b", "r=8,targets=gate+up+down",                 std::int64_t{128} * 48 * 8 * 3 * (2048 + 768)},
  };
  for (const Row& row : rows) {
    const CountResult result = counted(row.model, row.lora);
    EXPECT_EQ(result.cost.params.trainable, Count(row.trainable)) << row.model << " " << row.lora;
    EXPECT_EQ(result.cost.params.total - result.cost.params.trainable,
              counted(row.model, "").cost.params.total)
        << row.model;
  }
}

// Frozen matrices pass gradients on but get none: their backward pass costs what forward does, that
// of the adapters twice theirs.
TEST(Lora, BackwardOfFrozenMatricesIsHalf) {
  const CountResult plain = counted("llama-3-8b", "");
  const CountResult lora = counted("llama-3-8b", "r=16,targets=all");
  const Count base = plain.cost.forward.matmul;
  const Count adapters = Count(2 * 64) * Count(41'943'040);
  EXPECT_EQ(lora.cost.forward.matmul, base + adapters);
  EXPECT_EQ(lora.cost.backward.matmul, base + Count(2) * adapters);
  EXPECT_EQ(lora.cost.backward.attention, plain.cost.backward.attention);
}

// A tower beside the text model is frozen with the rest of it.
TEST(Lora, TowersAreFrozen) {
  CountRequest request;
  request.workload.seq_len = 64;
  request.workload.lora = parse_lora("r=8,targets=q+v");
  std::istringstream config(R"({"model_type": "llava", "image_seq_length": 4,
      "text_config": {"model_type": "llama", "hidden_size": 16, "intermediate_size": 24,
      "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 32},
      "vision_config": {"model_type": "clip_vision_model", "hidden_size": 16, "image_size": 28,
      "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2, "patch_size": 14,
      "projection_dim": 8}})");
  const CountResult result = count_model(read_model("-", config), request);
  EXPECT_EQ(result.cost.params.trainable, Count(3 * 2 * 8 * (16 + 16)));
}

// Adapters that are not merged stay in inference.
TEST(Lora, StaysInForward) {
  const CountResult plain = counted("llama-2-7b", "", Mode::kForward);
  const CountResult lora = counted("llama-2-7b", "r=8,targets=q+v", Mode::kForward);
  EXPECT_EQ(lora.cost.forward.matmul - plain.cost.forward.matmul, Count(2 * 64) * Count(4'194'304));
}

TEST(Lora, RefusesWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> rows[] = {
      {"r=16",                   "--lora: expected such as r=16,targets=q+v, got 'r=16'"        },
      {"targets=q",              "--lora: expected such as r=16,targets=q+v, got 'targets=q'"   },
      {"r=0,targets=q",          "--lora r: expected a whole number of 1 ... 2^40, got '0'"     },
      {"r=8,r=9,targets=q",      "--lora: r is given twice"                                     },
      {"r=8,targets=q++v",       "--lora targets: expected names such as q+v, got an empty name"},
      {"r=8,targets=q,alpha=0",  "--lora alpha: expected more than 0, got '0'"                  },
      {"r=8,targets=q,bias=all",
       "--lora: expected r=..., targets=... or alpha=..., got 'bias=all'"                       },
      {"r=8,targets=q,",         "--lora: expected r=..., targets=... or alpha=..., got ''"     },
  };
  for (const auto& [text, message] : rows) {
    EXPECT_EQ(user_error_of([&] { parse_lora(text); }), message) << text;
  }
  EXPECT_EQ(user_error_of([] { counted("llama-2-7b", "r=8,targets=query"); }),
            "--lora targets: no matrix 'query' in a layer, known: all down gate k o q up v");
}

}  // namespace
}  // namespace flopwise
