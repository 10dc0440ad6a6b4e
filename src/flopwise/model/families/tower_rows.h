// Rows of towers whose projector or layers a row of vision_rows.h cannot say by itself.
#pragma once

#include "flopwise/model/families/family.h"
#include "flopwise/model/families/llama_rows.h"
#include "flopwise/model/families/vision.h"

namespace flopwise {

void adjust_llava_tower(TowerFields& fields);
void adjust_llama4_tower(TowerFields& fields);
void adjust_mllama_tower(TowerFields& fields);
void adjust_internvl_tower(TowerFields& fields);
void adjust_idefics3_tower(TowerFields& fields);
void adjust_glm4v_tower(TowerFields& fields);
void adjust_kimi_tower(TowerFields& fields);
void adjust_minicpmv_tower(TowerFields& fields);

// CLIP (arXiv:2103.00020) with two dense layers (arXiv:2310.03744).
inline constexpr TowerRow kLlavaTower = {
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
    .position = Projector::Position::kAllButFirst,
    .adjust = adjust_llava_tower,
    .ignored = {"projection_dim", "vocab_size"},
};
inline constexpr Family kLlava = {
    .model_type = "llava",
    .class_name = "Llava",
    .read = read_llava,
    .ignored = {"image_seq_length", "freeze_mm_*", "tune_mm_*", "unfreeze_mm_*", "mm_use_im_*",
                "use_mm_proj"},
    .text_type = "*",
    .tower = &kLlavaTower,
};
inline constexpr Family kLlavaLlama = renamed(kLlava, "llava_llama", "LlavaLlama");

inline constexpr TowerRow kLlama4Tower = {
    .absent_d_model = 768,
    .absent_layers = 34,
    .absent_heads = 16,
    .absent_d_ff = 5632,
    .absent_patch = 14,
    .absent_image = 448,
    .activation = "gelu",
    .rotary = true,
    .learned_positions = true,
    .class_token = true,
    .norm_first = true,
    .position = Projector::Position::kAllButFirst,
    .adjust = adjust_llama4_tower,
};

// Two kinds of layers over the tiles of an image, the second with gates (arXiv:2407.21783, 7.1).
inline constexpr TowerRow kMllamaTower = {
    .heads = "attention_heads",
    .absent_d_model = 1280,
    .absent_layers = 32,
    .absent_heads = 16,
    .absent_d_ff = 5120,
    .absent_patch = 14,
    .absent_image = 448,
    .qkv_bias = false,
    .o_bias = false,
    .activation = "gelu",
    .learned_positions = true,
    .class_token = true,
    .norm_first = true,
    .final_norm = false,
    .projector_bias = true,
    .adjust = adjust_mllama_tower,
};
inline constexpr Family kMllama = {
    .model_type = "mllama",
    .class_name = "Mllama",
    .read = read_mllama,
    .text_type = "mllama_text_model",
    .tower = &kMllamaTower,
};
inline constexpr Family kMllamaText = {
    .model_type = "mllama_text_model",
    .class_name = "Mllama",
    .read = read_decoder,
    .names = {.head_dim = "" },
    .absent = { .d_model = 4096,
              .layers = 40,
              .heads = 32,
              .kv_heads = 8,
              .d_ff = 14336,
              .positions = 131072,
              .vocab = 128256},
};

// InternViT: LayerScale, no norm behind the layers.
inline constexpr TowerRow kInternVlTower = {
    .absent_d_model = 3200,
    .absent_layers = 48,
    .absent_heads = 25,
    .absent_d_ff = 12800,
    .absent_patch = 14,
    .absent_image = 224,
    .qkv_bias = false,
    .branch_scale = BranchScale::kPerElement,
    .activation = "gelu",
    .patch_bias = true,
    .learned_positions = true,
    .class_token = true,
    .final_norm = false,
    .position = Projector::Position::kAllButFirst,
    .projector_norm = true,
    .projector_bias = true,
    .adjust = adjust_internvl_tower,
};
inline constexpr Family kInternVl = {
    .model_type = "internvl_chat",
    .class_name = "InternVLChat",
    .read = read_with_tower,
    .heads = internvl_heads,
    .ignored = {"dynamic_image_size", "max_dynamic_patch", "min_dynamic_patch"},
    .text_type = "*",
    .text_field = "llm_config",
    .tower = &kInternVlTower,
};

// SigLIP, neighbours side by side, one matrix.
inline constexpr TowerRow kIdefics3Tower = {
    .absent_d_model = 1152,
    .absent_layers = 12,
    .absent_heads = 16,
    .absent_d_ff = 3072,
    .absent_patch = 32,
    .absent_image = 224,
    .patch_bias = true,
    .learned_positions = true,
    .adjust = adjust_idefics3_tower,
    .ignored = {"max_image_size"},
};
inline constexpr Family kIdefics3 = {
    .model_type = "idefics3",
    .class_name = "Idefics3",
    .read = read_with_tower,
    .text_type = "*",
    .tower = &kIdefics3Tower,
    .join = join_idefics3,
};
inline constexpr Family kSmolVlm = renamed(kIdefics3, "smolvlm", "SmolVLM");

inline constexpr TowerRow kGlm4vTower = {
    .layers = "depth",
    .heads = "num_heads",
    .channels = "in_channels",
    .d_ff = "out_hidden_size",
    .absent_d_model = 1536,
    .absent_layers = 24,
    .absent_heads = 12,
    .absent_d_ff = 4096,
    .absent_patch = 14,
    .absent_image = 336,
    .absent_merge = 2,
    .norm = NormKind::kRms,
    .gated = true,
    .qkv_bias_field = "attention_bias",
    .qkv_bias = false,
    .o_bias = false,
    .mlp_bias = false,
    .activation = "silu",
    .patch_bias = true,
    .rotary = true,
    .learned_positions = true,
    .norm_first = true,
    .adjust = adjust_glm4v_tower,
    .out = "out_hidden_size",
};
constexpr Family glm4v_text() {
  Family row = renamed(kGlm4, "glm4v_text", "Glm4v");
  row.attention_bias = Bias::kQkv;
  row.ignored = {"attention_bias"};
  return row;
}
inline constexpr Family kGlm4vText = glm4v_text();
inline constexpr Family kGlm4v = {
    .model_type = "glm4v",
    .class_name = "Glm4v",
    .read = read_with_tower,
    .ignored = {"attention_bias"},
    .text_type = "glm4v_text",
    .tower = &kGlm4vTower,
};

// MoonViT (arXiv:2504.07491).
inline constexpr TowerRow kKimiTower = {
    .d_model = "vt_hidden_size",
    .layers = "vt_num_hidden_layers",
    .heads = "vt_num_attention_heads",
    .d_ff = "vt_intermediate_size",
    .absent_d_model = 1152,
    .absent_layers = 27,
    .absent_heads = 16,
    .absent_d_ff = 4304,
    .absent_patch = 14,
    .patch_bias = true,
    .rotary = true,
    .projector_norm = true,
    .projector_bias = true,
    .adjust = adjust_kimi_tower,
    .out = "text_hidden_size",
};
inline constexpr Family kKimiK25 = {
    .model_type = "kimi_k25",
    .class_name = "KimiK25",
    .read = read_with_tower,
    .ignored = {"use_unified_vision_chunk"},
    .text_type = "*",
    .tower = &kKimiTower,
};

// SigLIP, and a few queries in place of its patches.
inline constexpr TowerRow kMiniCpmVTower = {
    .absent_d_model = 1152,
    .absent_layers = 27,
    .absent_heads = 16,
    .absent_d_ff = 4304,
    .absent_patch = 14,
    .absent_image = 980,
    .patch_bias = true,
    .learned_positions = true,
    .adjust = adjust_minicpmv_tower,
};
inline constexpr Family kMiniCpmV = {
    .model_type = "minicpmv",
    .class_name = "MiniCPMV",
    .read = read_minicpmv,
    .ignored = {"mm_use_im_*", "batch_vision_input", "slice_config"},
    .tower = &kMiniCpmVTower,
};

}  // namespace flopwise
