// Rows of models that see images or hear.
#pragma once

#include "flopwise/model/families/encoder_rows.h"
#include "flopwise/model/families/family.h"
#include "flopwise/model/families/vision.h"

namespace flopwise {

// SigLIP (arXiv:2303.15343) without its head; the mean of neighbours, a norm and one matrix.
inline constexpr TowerRow kGemma3Tower = {
    .absent_d_model = 1152,
    .absent_layers = 27,
    .absent_heads = 16,
    .absent_d_ff = 4304,
    .absent_patch = 14,
    .absent_image = 896,
    .patch_bias = true,
    .learned_positions = true,
    .projector_norm_kind = NormKind::kRms,
    .projector_norm = true,
    .pools = true,
    .ignored = {"vision_use_head"},
};
inline constexpr Family kGemma3 = {
    .model_type = "gemma3",
    .class_name = "Gemma3",
    .read = read_with_tower,
    .tied = true,
    .text_type = "gemma3_text",
    .tower = &kGemma3Tower,
};

inline constexpr TowerRow kQwen2VlTower = {
    .d_model = "embed_dim",
    .layers = "depth",
    .heads = "num_heads",
    .channels = "in_channels|in_chans",
    .absent_d_model = 1280,
    .absent_layers = 32,
    .absent_heads = 16,
    .d_ff_ratio = 4,
    .absent_patch = 14,
    .absent_frames = 2,
    .absent_merge = 2,
    .activation = "quick_gelu",
    .rotary = true,
    .final_norm = false,
    .projector_norm = true,
    .projector_dense = true,
    .projector_bias = true,
    .out = "hidden_size",
};
inline constexpr Family kQwen2Vl = {
    .model_type = "qwen2_vl",
    .class_name = "Qwen2VL",
    .read = read_with_tower,
    .text_type = "qwen2_vl_text",
    .tower = &kQwen2VlTower,
};

inline constexpr TowerRow kQwen25VlTower = {
    .layers = "depth",
    .heads = "num_heads",
    .channels = "in_channels|in_chans",
    .absent_d_model = 3584,
    .absent_layers = 32,
    .absent_heads = 16,
    .absent_d_ff = 3420,
    .absent_patch = 14,
    .absent_frames = 2,
    .absent_merge = 2,
    .norm = NormKind::kRms,
    .gated = true,
    .activation = "silu",
    .rotary = true,
    .final_norm = false,
    .projector_norm_kind = NormKind::kRms,
    .projector_norm = true,
    .projector_dense = true,
    .projector_bias = true,
    .out = "out_hidden_size",
    .ignored = {"tokens_per_second"},
};
inline constexpr Family kQwen25Vl = {
    .model_type = "qwen2_5_vl",
    .class_name = "Qwen2_5_VL",
    .read = read_with_tower,
    .text_type = "qwen2_5_vl_text",
    .tower = &kQwen25VlTower,
};

constexpr TowerRow omni_tower() {
  TowerRow row = kQwen25VlTower;
  row.ignored = {"tokens_per_second", "embed_dim"};
  return row;
}
inline constexpr TowerRow kQwen25OmniTower = omni_tower();
inline constexpr Family kQwen25OmniThinker = {
    .model_type = "qwen2_5_omni_thinker",
    .class_name = "Qwen2_5OmniThinker",
    .read = read_qwen25_omni_thinker,
    .ignored = {"position_id_per_seconds", "seconds_per_chunk"},
    .text_type = "qwen2_5_omni_text",
    .tower = &kQwen25OmniTower,
};
inline constexpr Family kQwen25Omni = {
    .model_type = "qwen2_5_omni",
    .class_name = "Qwen2_5Omni",
    .read = read_qwen25_omni,
    .ignored = {"enable_*"},
};
inline constexpr Family kQwen2Audio = {
    .model_type = "qwen2_audio",
    .class_name = "Qwen2Audio",
    .read = read_qwen2_audio,
    .text_type = "*",
};
inline constexpr Family kVisionEncoderDecoder = {
    .model_type = "vision-encoder-decoder",
    .class_name = "VisionEncoderDecoder",
    .read = read_vision_encoder_decoder,
};

inline constexpr std::int64_t kQwen3VlDeepstack[] = {8, 16, 24};
inline constexpr TowerRow kQwen3VlTower = {
    .layers = "depth",
    .heads = "num_heads",
    .channels = "in_channels",
    .absent_d_model = 1152,
    .absent_layers = 27,
    .absent_heads = 16,
    .absent_d_ff = 4304,
    .absent_patch = 16,
    .absent_frames = 2,
    .absent_merge = 2,
    .patch_bias = true,
    .rotary = true,
    .positions = "num_position_embeddings",
    .absent_positions = 2304,
    .learned_positions = true,
    .final_norm = false,
    .projector_norm = true,
    .projector_dense = true,
    .projector_bias = true,
    .deepstack = "deepstack_visual_indexes",
    .deepstack_absent = kQwen3VlDeepstack,
    .out = "out_hidden_size",
};
inline constexpr Family kQwen3Vl = {
    .model_type = "qwen3_vl",
    .class_name = "Qwen3VL",
    .read = read_with_tower,
    .text_type = "qwen3_vl_text",
    .tower = &kQwen3VlTower,
};
inline constexpr Family kQwen3VlMoe = {
    .model_type = "qwen3_vl_moe",
    .class_name = "Qwen3VLMoe",
    .read = read_with_tower,
    .text_type = "qwen3_vl_moe_text",
    .tower = &kQwen3VlTower,
};
constexpr TowerRow qwen35_tower() {
  TowerRow row = kQwen3VlTower;
  row.deepstack_absent = {};
  return row;
}
inline constexpr TowerRow kQwen35Tower = qwen35_tower();
inline constexpr Family kQwen35 = {
    .model_type = "qwen3_5",
    .class_name = "Qwen3_5",
    .read = read_with_tower,
    .text_type = "qwen3_5_text",
    .tower = &kQwen35Tower,
};
inline constexpr Family kQwen35Moe = {
    .model_type = "qwen3_5_moe",
    .class_name = "Qwen3_5Moe",
    .read = read_with_tower,
    .text_type = "qwen3_5_moe_text",
    .tower = &kQwen35Tower,
};

inline constexpr TowerRow kVitLayers = {
    .absent_d_model = 768,
    .absent_layers = 12,
    .absent_heads = 12,
    .absent_d_ff = 3072,
    .absent_patch = 16,
    .absent_image = 224,
    .activation = "gelu",
    .patch_bias = true,
    .learned_positions = true,
    .class_token = true,
};
inline constexpr Family kVit = {
    .model_type = "vit",
    .class_name = "ViT",
    .read = read_vit,
    .names = {.d_ff = "intermediate_size", .positions = ""},
    .heads = vit_heads,
    .ignored = {"encoder_stride",            "pooler_*"     },
};

inline constexpr TowerRow kClipTower = {
    .absent_d_model = 768,
    .absent_layers = 12,
    .absent_heads = 12,
    .absent_d_ff = 3072,
    .absent_patch = 32,
    .absent_image = 224,
    .activation = "quick_gelu",
    .learned_positions = true,
    .class_token = true,
    .norm_first = true,
    .position = Projector::Position::kFirst,
    .out = "projection_dim",
    .ignored = {"tie_word_embeddings"},
};
inline constexpr Family kClip = {
    .model_type = "clip",
    .class_name = "CLIP",
    .read = read_clip,
    .ignored = {"text_config_dict", "vision_config_dict", "logit_scale_init_value",
                "tie_word_embeddings"},
};

inline constexpr Family kWhisper = {
    .model_type = "whisper",
    .class_name = "Whisper",
    .read = read_whisper,
    .names = {.d_model = "d_model",
              .activation = "activation_function",
              .positions = "max_target_positions"                      },
    .absent = {                      .positions = 448},
    .heads = bart_heads,
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .tied = true,
    .ignored = { "is_encoder_decoder", "forced_decoder_ids", "classifier_proj_size",
              "use_weighted_layer_sum", "mask_feature_*", "mask_time_*", "median_filter_width",
              "apply_spec_augment"},
};

}  // namespace flopwise
