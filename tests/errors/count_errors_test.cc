// Every way to get `flopwise count` and `flopwise mfu` wrong: exit status 2, nothing on stdout, and
// this line.
#include <filesystem>

#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

void write(const std::string& name, const std::string& text) {
  std::ofstream(own_folder() + name, std::ios::binary) << text;
}

TEST(CountErrors, Models) {
  constexpr Refused kRows[] = {
      {"count",                          "count: MODEL is required"                                           },
      {"count lama-3-8b",                "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-7b, llama-30b"},
      {"count D=4096,L=2,V=10",          "letters: N is missing, expected N or H"                             },
      {"count D=4096,L=2,V=10,N=3",      "letters: H = D/N: expected N to divide D, got D=4096 N=3"           },
      {"count D=0,L=2,V=10,N=1",         "letters: D: expected a whole number of 1 ... 2^40, got '0'"         },
      {"count D=-4,L=2,V=10,N=1",        "letters: D: expected a whole number of 1 ... 2^40, got '-4'"        },
      {"count D=2Ti,L=2,V=10,N=2",       "letters: D: expected a whole number of 1 ... 2^40, got '2Ti'"       },
      {"count D=8,L=2,V=nan,N=2",        "letters: V: expected a whole number of 1 ... 2^40, got 'nan'"       },
      {"count D=4096,L=2,V=10,N=32,K=7", "letters: K: expected K to divide N, got N=32 K=7"                   },
      {"count D=8,L=2,V=10,N=2,Q=7",
       "letters: unknown key 'Q', known: D, F, L, V, N, K, H, E, k, W, C, gated, tied, bias, norm, "
       "final_norm, positions, shared, causal"                                                                },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

TEST(CountErrors, Files) {
  write("truncated.json", R"({"model_type":"llama","hidden_size":4096)");
  write("words.json", "hello");
  write("deep.json", std::string(10000, '[') + std::string(10000, ']'));
  write("big.json", std::string(std::size_t{200} << 20, ' '));
  write("text_size.json", R"({"model_type":"llama","hidden_size":"4096"})");
  write("nan_size.json", R"({"model_type":"llama","hidden_size":NaN})");
  write("negative.json", R"({"model_type":"llama","hidden_size":-8})");
  write("number_type.json", R"({"model_type":7})");
  write("unknown.json", R"({"model_type":"lama"})");
  write("mtp.json",
        R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,
            "intermediate_size":8,"vocab_size":8,"num_nextn_predict_layers":1})");
  write("rounded.json", R"({"model_type":"llama","vocab_size":128255.99999999999999,
"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":8})");
  write("overflow.json", "{\"model_type\":\"llama\",\n \"vocab_size\": 1e400}");
  write("twice.json", "{\"model_type\":\"llama\",\n \"vocab_size\": 7, \"vocab_size\": 8}");
  write("bidi.json", "{\"model_type\":\"ll\u202eama\u2028\"}");
  write("odd.json",
        R"({"model_type":"llama","hidden_size":15,"num_hidden_layers":1,"num_attention_heads":3,
            "intermediate_size":8,"vocab_size":8})");
  write(
      "no_bias.json",
      R"({"model_type":"gpt2","n_embd":8,"n_layer":1,"n_head":2,"vocab_size":8,"use_bias":false})");
  write("chip.json", R"({"name":"mine","flops":1e15,"peak_flops":{"bf16":2e15}})");
  write("heads.json",
        R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":4,
            "num_key_value_heads":3,"intermediate_size":8,"vocab_size":8})");
  std::filesystem::create_directories(own_folder() + "empty_folder");
  constexpr Refused kRows[] = {
      {"count truncated.json",
       "truncated.json: line 1, column 41: not JSON: unexpected end of input; expected '}'"     },
      {"count words.json",          "words.json: line 1, column 1: not JSON: invalid literal"   },
      {"count deep.json",           "deep.json: line 1, column 65: nested deeper than 64"       },
      {"count big.json",            "big.json: larger than 16 MiB"                              },
      {"count /dev/zero",           "/dev/zero: larger than 16 MiB"                             },
      {"count empty_folder",        "'empty_folder': expected a config.json in this directory"  },
      {"count -",
       "standard input: line 1, column 1: not JSON: unexpected end of input; expected '[', '{', or "
       "a literal"                                                                              },
      {"count text_size.json",
       "text_size.json: hidden_size: expected a whole number of 1 ... 1099511627776, got '4096'"},
      {"count nan_size.json",
       "nan_size.json: hidden_size: expected a whole number of 1 ... 1099511627776, got 'NaN'"  },
      {"count negative.json",
       "negative.json: hidden_size: expected a whole number of 1 ... 1099511627776, got -8"     },
      {"count number_type.json",    "number_type.json: model_type: expected a text, got 7"      },
      {"count unknown.json",
       "unknown.json: unknown model_type 'lama', nearest: llama, llama4, mamba"                 },
      {"count mtp.json",
       "mtp.json: field 'num_nextn_predict_layers' is not understood for model_type 'llama', "
       "expected it absent, null, false, 0 or empty, got 1"                                     },
      {"count rounded.json",
       "rounded.json: vocab_size: expected a whole number of 1 ... 1099511627776, got "
       "'128255.99999999999999'"                                                                },
      {"count overflow.json",
       "overflow.json: line 2, column 16: expected a number that fits a double, got '1e400'"    },
      {"count twice.json",
       "twice.json: line 2, column 19: key 'vocab_size' occurs twice in one object"             },
      {"count bidi.json",
       "bidi.json: unknown model_type 'll\\u202eama\\u2028', nearest: llama, llama4, llava"     },
      {"count odd.json",
       "odd.json: hidden_size: expected heads that rotate an even number of elements, got 5 of "
       "head_dim = 5"                                                                           },
      {"count no_bias.json",
       "no_bias.json: use_bias: expected true, as model_type 'gpt2' and the other fields say, got "
       "false"                                                                                  },
      {"count gpt2 --on chip.json",
       "chip.json: flops: expected flops, the peak of every type, or peak_flops, those of some, "
       "got both"                                                                               },
      {"count heads.json",
       "heads.json: num_key_value_heads: expected a divisor of num_attention_heads = 4, got 3"  },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

TEST(CountErrors, Options) {
  constexpr Refused kRows[] = {
      {"count gpt2 --mode fly",                             "--mode: expected train, forward, prefill or decode, got 'fly'"  },
      {"count gpt2 --batch 0",                              "--batch: expected a whole number of 1 ... 2^40, got '0'"        },
      {"count gpt2 --batch 1.5",                            "--batch: expected a whole number of 1 ... 2^40, got '1.5'"      },
      {"count gpt2 --context 5",
       "--context: only prefill and decode attend to more than T positions, got it with --mode "
       "train"                                                                                                               },
      {"count gpt2 --mode decode",
       "--mode decode: expected --context S, all positions attended including the new ones"                                  },
      {"count gpt2 --mode prefill --seq 4 --context 2",     "--context: expected S >= T = 4, got 2"                          },
      {"count bert-base --mode decode",
       "--mode decode: bert-base is an encoder and has neither; expected train or forward"                                   },
      {"count gpt2 --source 4",                             "--source: only an encoder-decoder has a source, gpt2 is not one"},
      {"count gpt2 --logits last",
       "--logits: training needs the logits of all positions, got 'last'"                                                    },
      {"count gpt2 --logits some",                          "--logits: expected all or last, got 'some'"                     },
      {"count gpt2 --dtype bf17",
       "--dtype: unknown dtype 'bf17', known: fp64 fp32 tf32 bf16 fp16 fp8 int8 fp6 fp4 int4 q8_0 "
       "q5_1 q5_0 q4_1 q4_0 mxfp8 mxfp4 nvfp4"                                                                               },
      {"count gpt2 --attention-kernel fast",
       "--attention-kernel: expected flash or plain, got 'fast'"                                                             },
      {"count gpt2 --fusion some",                          "--fusion: expected fused, eager or unfused, got 'some'"         },
      {"count gpt2 --remat some",
       "--remat: expected none, attention, matmuls, block, full or save:NAME,NAME..., got 'some'"                            },
      {"count gpt2 --remat save:foo",
       "--remat save: no tensor 'foo' in a layer, known: attention.norm attention.q "
       "attention.q_bias "
       "attention.k attention.k_bias attention.v attention.v_bias attention.lse attention.av "
       "attention.o "
       "attention.o_bias attention.residual mlp.norm mlp.up mlp.up_bias mlp.act mlp.down "
       "mlp.down_bias "
       "mlp.residual"                                                                                                        },
      {"count gpt2 --remat save:mlp.up,attention.q,mlp.up",
       "--remat save: expected each tensor once, got 'mlp.up' again"                                                         },
      {"count gpt2 --mode forward --remat full",
       "--remat: only training recomputes, got it with --mode forward"                                                       },
      {"count gpt2 --convention foo",
       "--convention: unknown 'foo', known: exact dense 6nd megatron21 korthikanti megatron-lm "
       "megatron-bridge palm nanogpt mosaic chinchilla flash"                                                                },
      {"count gpt2 --intensity 0",                          "--intensity: expected more than 0, got '0'"                     },
      {"count gpt2 --intensity nan",
       "--intensity: expected a quantity such as 14.8T or 8Ki, got 'nan'"                                                    },
      {"count gpt2 --on h100 --intensity 3",
       "--intensity: expected --on HW or --intensity I, got both"                                                            },
      {"count gpt2 --bogus",                                "count: unexpected argument '--bogus', did you mean --logits?"   },
 // Overflow names the quantity; no number comes out.
      {"count llama-3.1-405b --batch 1Ti --seq 1Ti",
       "FLOPs of forward attention.qk: 2*B*T*S*N*H - B*T^2*N*H + B*T*N*H does not fit into 128 "
       "bits at B=1099511627776, T=1099511627776, S=1099511627776, N=128, H=128"                                             },
      {"count llama-3-8b --intensity 1e38",
       "analysis: attention relative to feed-forward: 41943040 * "
       "100000000000000000000000000000000000000 does not fit into 128 bits"                                                  },
      {"count qwen3-30b-a3b --intensity 1e30",
       "analysis: moe_critical_batch_tokens: 1000000000000000000000000000000 * 1207959552 does not "
       "fit into 128 bits"                                                                                                   },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

TEST(MfuErrors, Questions) {
  constexpr Refused kRows[] = {
      {"mfu params=7e9 --tokens 1T --hours 1",
       "mfu: expected --on HW, whose peak the run is compared with"                                              },
      {"mfu params=7e9 --tokens 0",                                       "--tokens: expected more than 0, got 0"},
      {"mfu params=7e9 --tokens 1T --target-mfu 1.5 --on h100",
       "--target-mfu: expected a share of 0 ... 1, got 1.5"                                                      },
      {"mfu gpt2 --tokens 1T --hours 1 --step-time 2 --on h100",
       "mfu: expected one of --hours, --step-time and --target-mfu, got several"                                 },
      {"roofline gpt2 --on flops=1e14,memory_bandwidth=1e12 --mesh tp=2",
       "--mesh tp=2: the link_bandwidth of the chip is not known, expected it with --on"                         },
      {"mfu params=7e9 --tokens 1T --convention palm",
       "mfu: --convention palm: bare counts have no layers, expected 6nd or a described model"                   },
      {"mfu params=7e9 --tokens 1T --seq 5",
       "mfu: --seq: bare counts have no attention, expected a described model"                                   },
      {"mfu params=7e9,active=8e9 --tokens 1",
       "active: expected at most params=7000000000, got 8000000000"                                              },
      {"mfu gpt2 --tokens 1T --hours 1 --on a100 --dtype fp8",
       "mfu: hardware 'A100-SXM4-80GB': no peak for fp8, known: fp64, fp64_matrix, fp32, tf32, "
       "fp16, bf16, int8, "
       "int4"                                                                                                    },
      {"mfu params=1e38 --tokens 1e38",
       "mfu: model FLOPs: 6 * 100000000000000000000000000000000000000 does not fit into 128 bits"                },
      {"mfu params=7e9 --tokens 1T --hours 1e38 --on h100",
       "mfu: available FLOPs: 989400000000000 * 100000000000000000000000000000000000000 does not "
       "fit into 128 bits"                                                                                       },
      {"mfu gpt2",                                                        "mfu: --tokens is required"            },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

}  // namespace
}  // namespace flopwise
