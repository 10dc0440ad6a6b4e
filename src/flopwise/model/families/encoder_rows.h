// Rows of encoders and encoder-decoders beside BERT and T5.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

inline constexpr Family kRoberta = {
    .model_type = "roberta",
    .class_name = "Roberta",
    .read = read_bert,
    .absent = {.positions = 512},
    .heads = roberta_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .unused_position_rows = 2,
    .tied = true,
};

inline constexpr Family kXlmRoberta = renamed(kRoberta, "xlm-roberta", "XLMRoberta");

inline constexpr Family kCamembert = renamed(kRoberta, "camembert", "Camembert");

inline constexpr Family kAlbert = {
    .model_type = "albert",
    .class_name = "Albert",
    .read = read_albert,
    .absent = {.positions = 512    },
    .heads = albert_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu_new",
    .gated = false,
    .tied = true,
    .ignored = { "gap_size", "net_structure_type", "num_memory_blocks", "down_scale_factor"},
};

inline constexpr Family kDebertaV2 = {
    .model_type = "deberta-v2",
    .class_name = "DebertaV2",
    .read = read_deberta,
    .absent = {.positions = 512},
    .heads = deberta_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .tied = true,
    .ignored = {"pooler_dropout"},
};

inline constexpr FieldNames kDistilbertNames = {.d_model = "dim",
                                                .layers = "n_layers",
                                                .heads = "n_heads",
                                                .d_ff = "hidden_dim",
                                                .activation = "activation"};
inline constexpr Family kDistilbert = {
    .model_type = "distilbert",
    .class_name = "DistilBert",
    .read = read_distilbert,
    .names = kDistilbertNames,
    .absent = {.positions = 512},
    .heads = distilbert_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .tied = true,
    .ignored = {"tie_weights_"},
};

inline constexpr IgnoredFields kModernbertIgnored = {
    "*_rope_theta", "classifier_pooling", "sparse_pred_ignore_index", "position_embedding_type"};
inline constexpr Family kModernbert = {
    .model_type = "modernbert",
    .class_name = "ModernBert",
    .read = read_modernbert,
    .names = {.activation = "hidden_activation"},
    .absent = {.positions = 8192},
    .heads = modernbert_heads,
    .activation = "gelu",
    .tied = true,
    .ignored = kModernbertIgnored,
};

inline constexpr FieldNames kNomicBertNames = {.d_model = "n_embd",
                                               .layers = "n_layer",
                                               .heads = "n_head",
                                               .d_ff = "n_inner",
                                               .activation = "activation_function",
                                               .positions = "n_positions"};
inline constexpr IgnoredFields kNomicBertIgnored = {"dense_seq_output",
                                                    "fused_*",
                                                    "max_trained_positions",
                                                    "pad_vocab_size_multiple",
                                                    "rotary_emb_*",
                                                    "rotary_scaling_factor",
                                                    "summary_*"};
inline constexpr Family kNomicBert = {
    .model_type = "nomic_bert",
    .class_name = "NomicBert",
    .read = read_nomic_bert,
    .names = kNomicBertNames,
    .absent = {.positions = 8192},
    .heads = nomic_bert_heads,
    .ignored = kNomicBertIgnored,
};

inline constexpr Family kBart = {
    .model_type = "bart",
    .class_name = "Bart",
    .read = read_bart,
    .names = {.d_model = "d_model",               .activation = "activation_function"},
    .absent = {.positions = 1024                 },
    .heads = bart_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .learned_positions = true,
    .extra_position_rows = 2,
    .tied = true,
    .ignored = {"is_encoder_decoder", "force_bos_token_to_be_generated"                                   },
};

inline constexpr Family kMbart = {
    .model_type = "mbart",
    .class_name = "MBart",
    .read = read_bart,
    .names = {.d_model = "d_model", .activation = "activation_function"},
    .absent = {.positions = 1024                   },
    .heads = bart_heads,
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .gated = false,
    .learned_positions = true,
    .extra_position_rows = 2,
    .tied = true,
    .ignored = {"is_encoder_decoder"},
};

inline constexpr Family kMarian = {
    .model_type = "marian",
    .class_name = "Marian",
    .read = read_bart,
    .names = {.d_model = "d_model",    .activation = "activation_function"},
    .absent = {.positions = 1024      },
    .heads = bart_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .tied = true,
    .ignored = {"is_encoder_decoder", "extra_pos_embeddings"                                   },
};

}  // namespace flopwise
