// `flopwise models --check`: what it refuses, and its verdict as text, JSON and exit status.
#include "flopwise/checkpoint/test_files.h"
#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

// One layer with D=4, F=6, N=2, V=5, and its names in an index without shards.
constexpr const char* kConfig = R"({"model_type": "llama", "hidden_size": 4, "intermediate_size": 6,
    "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 5,
    "max_position_embeddings": 8, "hidden_act": "silu", "tie_word_embeddings": true})";

void write(const std::string& name, const std::string& bytes) {
  std::ofstream(own_folder() + name, std::ios::binary) << bytes;
}

std::string index_of(const std::string& last) {
  std::string map;
  for (const char* name : {"input_layernorm", "self_attn.q_proj", "self_attn.k_proj",
                           "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm",
                           "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
    map += "\"model.layers.0." + std::string(name) + ".weight\": \"m-1.safetensors\", ";
  }
  map += R"("model.embed_tokens.weight": "m-1.safetensors", ")" + last + R"(": "m-1.safetensors")";
  return R"({"metadata": {"total_size": 336.0}, "weight_map": {)" + map + "}}";
}

TEST(CheckErrors, Refused) {
  write("a.safetensors", test_files::good_safetensors());
  write("text.safetensors", "hello");
  struct Row {
    const char* arguments;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"models --check a.safetensors",
       "a.safetensors: no config.json beside it, expected --config with a config.json or a "
       "model's name"                                                                                },
      {"models --check ''",                               "models: --check: expected a value, got ''"},
      {"models --config gpt2",                            "models: --config requires --check"        },
      {"models gpt2 --check a.safetensors",               "models: NAME excludes --check"            },
      {"models --check a.safetensors --config lama-3-8b",
       "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-7b, llama-30b"                         },
      {"models --check none.safetensors --config gpt2",
       "none.safetensors: No such file or directory"                                                 },
      {"models --check text.safetensors --config gpt2",
       "text.safetensors: is the text 'hello', expected a safetensors file (a link kept as text?)"   },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.arguments);
    const Ran ran = run_program(row.arguments);
    EXPECT_EQ(ran.exit_status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err, std::string("flopwise: ") + row.message + "\n");
  }
}

TEST(Check, VerdictAndExitStatus) {
  write("config.json", kConfig);
  write("model.safetensors.index.json", index_of("model.norm.weight"));
  const Ran same = run_program("models --check .");
  EXPECT_EQ(same.exit_status, 0) << same.err;
  EXPECT_EQ(same.out.substr(0, same.out.find('\n')),
            "./config.json: names agree, 11 tensors; shapes and sizes are not known, the index "
            "stands alone");
  EXPECT_NE(same.out.find("2 B for each of 168 derived parameters"), std::string::npos) << same.out;

  write("model.safetensors.index.json", index_of("model.gorm.weight"));
  const Ran other = run_program("models --check .");
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_EQ(other.out.substr(0, other.out.find('\n')),
            "./config.json: checkpoint and model differ in their names: 1 tensor missing, 1 extra");
  EXPECT_NE(other.out.find("\nMissing:\n  final.norm.weight: 4 parameters of [4]\n"),
            std::string::npos)
      << other.out;
  const Ran json = run_program("models --check . --json");
  EXPECT_EQ(json.exit_status, 1);
  EXPECT_NE(json.out.find("\"agrees\": false"), std::string::npos);
  EXPECT_NE(json.out.find("\"compared\": \"names\""), std::string::npos);
}

}  // namespace
}  // namespace flopwise
