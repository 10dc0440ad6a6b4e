// Models that see or hear, part by part: text, tower, projector. Each total is published where a
// source stands beside it; each part follows from the layer's formula, written by hand above it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "flopwise/base/json.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/model_params.h"

namespace flopwise {
namespace {

constexpr const char* kHub = "safetensors total of the Hugging Face hub";
constexpr const char* kFormula = "layer formula";

Model read(const std::string& config) {
  return model_from_config(parse_json(config, "config.json"), "config.json");
}

// What leads from the tower into the text model; the rest of a tower are its embedding and layers,
// those that never run included.
Count projector_of(const Model& tower) {
  Count params = 0;
  for (const ParameterTensor& parameter :
       parameter_tensors(build_tower_program(tower, positions_of_tower(tower)))) {
    const std::string& name = parameter.tensor.name;
    if (name.starts_with("projector") || name.starts_with("resampler")) params += parameter.value;
  }
  return params;
}

struct Parts {
  std::int64_t text;
  std::int64_t tower;
  std::int64_t projector;
  std::int64_t total;
};

void expect_parts(const char* model, const char* source, const Parts& parts,
                  const std::string& config) {
  SCOPED_TRACE(std::string(model) + ": " + source);
  const Model read_model = read(config);
  const Params params = params_of_model(read_model);
  const Model* tower = find_tower(read_model, "vision");
  if (tower == nullptr) tower = find_tower(read_model, "audio");
  ASSERT_NE(tower, nullptr);
  const Count whole_tower = params_of_tower(*tower).total;
  const Count projector = projector_of(*tower);
  EXPECT_EQ(params.total, Count(parts.total));
  EXPECT_EQ(projector, Count(parts.projector));
  EXPECT_EQ(whole_tower - projector, Count(parts.tower));
  EXPECT_EQ(params.total - whole_tower, Count(parts.text));
}

const char* const kLlavaVision = R"("vision_config": {"hidden_size": 1024, "image_size": 336,
    "intermediate_size": 4096, "model_type": "clip_vision_model", "num_attention_heads": 16,
    "num_hidden_layers": 24, "patch_size": 14, "projection_dim": 768, "vocab_size": 32000})";

// CLIP ViT-L/14 of 336: (1 + 577 + 588)*1024 + 4*1024 + 24*(4*(1024^2 + 1024) + 2*1024*4096 + 4096
// + 1024 + 4*1024); the projector (1024 + 1)*4096 + (4096 + 1)*4096.
TEST(TowerTotals, Llava) {
  expect_parts("llava-1.5-7b-hf", kHub, {6'738'939'904, 303'507'456, 20'979'712, 7'063'427'072},
               std::string(R"({"model_type": "llava",
         "architectures": ["LlavaForConditionalGeneration"], "image_token_index": 32000,
         "projector_hidden_act": "gelu", "text_config": {"architectures": ["LlamaForCausalLM"],
         "max_position_embeddings": 4096, "model_type": "llama", "vocab_size": 32064},
         "vision_feature_layer": -2, "vision_feature_select_strategy": "default", )") +
                   kLlavaVision + "}");
  // 64 rows of the vocabulary less in both matrices.
  const std::int64_t less = std::int64_t{2} * 64 * 4096;
  expect_parts("llava-v1.5-7b", kFormula,
               {6'738'939'904 - less, 303'507'456, 20'979'712, 7'063'427'072 - less},
               R"({"model_type": "llava", "architectures": ["LlavaLlamaForCausalLM"],
         "freeze_mm_mlp_adapter": false, "hidden_act": "silu", "hidden_size": 4096,
         "image_aspect_ratio": "pad", "intermediate_size": 11008,
         "max_position_embeddings": 4096, "mm_hidden_size": 1024,
         "mm_projector_type": "mlp2x_gelu", "mm_resampler_type": null,
         "mm_use_im_patch_token": false, "mm_vision_select_feature": "patch",
         "mm_vision_select_layer": -2, "mm_vision_tower": "openai/clip-vit-large-patch14-336",
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
         "tie_word_embeddings": false, "tune_mm_mlp_adapter": false, "use_mm_proj": true,
         "vocab_size": 32000})");
}

// What LLaVA does not run: CLIP's last layer, 12,596,224, and its final norm, 2048.
TEST(TowerTotals, LlavaReadsTheLastLayerButOne) {
  const Model model =
      read(std::string(R"({"model_type": "llava", "text_config": {}, )") + kLlavaVision + "}");
  const Model& tower = *find_tower(model, "vision");
  EXPECT_EQ(tower.encoder->groups.front().repeat, 23);
  EXPECT_EQ(unused_params_of(tower).total, Count(12'596'224 + 2048));
  EXPECT_EQ(unused_params_of(tower).active, Count(0));
  EXPECT_EQ(params_of_model(model).total - params_of_model(model).active, Count(12'596'224 + 2048));
  // 576 patches reach the text model.
  const Program program = build_tower_program(tower, positions_of_tower(tower));
  EXPECT_EQ(program.sizes.at("T"), 577);
}

// (1 + 577 + 588)*1408 + 4*1408 + 34*(4*(1408^2 + 1408) + 2*1408*5632 + 5632 + 1408 + 4*1408); the
// adapter 5632*4096 + 4096^2, the projector 4096*5120.
TEST(TowerTotals, Llama4) {
  const auto config = [](const char* experts, const char* step) {
    return std::string(R"({"model_type": "llama4",
         "architectures": ["Llama4ForConditionalGeneration"], "text_config": {
         "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
         "interleave_moe_layer_step": )") +
           step + R"(, "intermediate_size": 8192,
         "intermediate_size_mlp": 16384, "model_type": "llama4_text",
         "num_attention_heads": 40, "num_experts_per_tok": 1, "num_hidden_layers": 48,
         "num_key_value_heads": 8, "num_local_experts": )" +
           experts + R"(, "use_qk_norm": true,
         "vocab_size": 202048}, "vision_config": {"hidden_act": "gelu", "hidden_size": 1408,
         "image_size": 336, "intermediate_size": 5632, "model_type": "llama4_vision_model",
         "multi_modal_projector_bias": false, "num_attention_heads": 16, "num_channels": 3,
         "num_hidden_layers": 34, "patch_size": 14, "pixel_shuffle_ratio": 0.5,
         "projector_dropout": 0.0, "projector_input_dim": 4096, "projector_output_dim": 4096,
         "rope_theta": 10000, "vision_feature_layer": -1,
         "vision_feature_select_strategy": "default", "vision_output_dim": 4096}})";
  };
  expect_parts("Llama-4-Scout", kHub, {107'769'861'120, 811'115'008, 60'817'408, 108'641'793'536},
               config("16", "1"));
  expect_parts("Llama-4-Maverick", kHub,
               {400'711'848'960, 811'115'008, 60'817'408, 401'583'781'376}, config("128", "2"));
}

// The tower, P = 1601 (1025 for images of 448): (588 + 1 + P + 9*4*P + 2*9*4)*1280 + 3 + 4*1280 +
// 40*(4*1280^2 + 2*1280*5120 + 5120 + 1280 + 4*1280) + 8*2; the projector (7680 + 1)*4096. The
// text: 256,520*4096 + 4096 + 40*(2*4096^2 + 2*4096*1024 + 3*4096*14336 + 2*4096) + 8*(2*128 + 2).
TEST(TowerTotals, Mllama) {
  const auto config = [](const char* image) {
    return std::string(R"({"model_type": "mllama",
         "architectures": ["MllamaForConditionalGeneration"], "image_token_index": 128256,
         "text_config": {"cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
         "hidden_size": 4096, "intermediate_size": 14336, "model_type": "mllama_text_model",
         "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8,
         "tie_word_embeddings": false, "vocab_size": 128256}, "vision_config": {
         "attention_heads": 16, "hidden_act": "gelu", "hidden_size": 1280, "image_size": )") +
           image + R"(, "intermediate_layers_indices": [3, 7, 15, 23, 30],
         "intermediate_size": 5120, "max_num_tiles": 4, "model_type": "mllama_vision_model",
         "num_channels": 3, "num_global_layers": 8, "num_hidden_layers": 32, "patch_size": 14,
         "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1],
         [4, 1]], "vision_output_dim": 7680}})";
  };
  expect_parts("Llama-3.2-11B-Vision-Instruct", kHub,
               {9'775'192'080, 863'567'379, 31'461'376, 10'670'220'835}, config("560"));
  expect_parts("Llama-3.2-11B-Vision of 448 pixels", kFormula,
               {9'775'192'080, 836'288'019, 31'461'376, 10'642'941'475}, config("448"));
}

const char* const kInternVit = R"("vision_config": {"hidden_act": "gelu", "hidden_size": 1024,
    "image_size": 448, "intermediate_size": 4096, "model_type": "intern_vit_6b",
    "norm_type": "layer_norm", "num_attention_heads": 16, "num_channels": 3,
    "num_hidden_layers": 24, "patch_size": 14, "qk_normalization": false, "qkv_bias": true,
    "use_flash_attn": true})";

// InternViT-300M: (1 + 1025 + 589)*1024 + 24*(4*(1024^2 + 1024) + 2*1024*4096 + 4096 + 1024 +
// 6*1024); mlp1 2*4096 + (4096 + 1)*D + (D + 1)*D.
TEST(TowerTotals, InternVl) {
  expect_parts("InternVL2-2B", kFormula, {1'889'146'880, 304'012'288, 12'595'200, 2'205'754'368},
               std::string(R"({"model_type": "internvl_chat",
         "architectures": ["InternVLChatModel"], "downsample_ratio": 0.5,
         "dynamic_image_size": true, "force_image_size": 448, "llm_config": {
         "architectures": ["InternLM2ForCausalLM"], "bias": false, "hidden_size": 2048,
         "intermediate_size": 8192, "max_position_embeddings": 512, "model_type": "internlm2",
         "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 8,
         "tie_word_embeddings": false, "vocab_size": 92553}, "max_dynamic_patch": 12,
         "min_dynamic_patch": 1, "ps_version": "v2", "select_layer": -1, )") +
                   kInternVit + "}");
  expect_parts("InternVL2-4B", kFormula, {3'820'809'216, 304'012'288, 22'034'432, 4'146'855'936},
               std::string(R"({"model_type": "internvl_chat",
         "architectures": ["InternVLChatModel"], "downsample_ratio": 0.5, "llm_config": {
         "hidden_size": 3072, "intermediate_size": 8192, "model_type": "phi3",
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
         "sliding_window": 262144, "tie_word_embeddings": false, "vocab_size": 32020}, )") +
                   kInternVit + "}");
}

// (768 + 1 + 1024)*768 + 12*(4*(768^2 + 768) + 2*768*3072 + 3072 + 768 + 4*768) + 2*768; 16 patches
// side by side through 12,288*576.
TEST(TowerTotals, Idefics3) {
  expect_parts("granite-docling-258M", kHub, {164'006'208, 86'433'024, 7'077'888, 257'517'120},
               R"({"model_type": "idefics3", "architectures": ["Idefics3ForConditionalGeneration"],
         "image_token_id": 100270, "scale_factor": 4, "text_config": {"head_dim": 64,
         "hidden_size": 576, "intermediate_size": 1536, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
         "num_key_value_heads": 3, "tie_word_embeddings": true, "vocab_size": 100352},
         "tie_word_embeddings": true, "vision_config": {"hidden_act": "gelu_pytorch_tanh",
         "hidden_size": 768, "image_size": 512, "intermediate_size": 3072,
         "max_image_size": {"longest_edge": 512}, "model_type": "idefics3_vision",
         "num_attention_heads": 12, "num_channels": 3, "num_hidden_layers": 12,
         "patch_size": 16, "size": {"longest_edge": 512}}, "vocab_size": 100352})");
}

// (1176 + 1 + 576 + 1)*1536 + 24*(4*1536^2 + 3*1536*4096 + 2*1536) + 1536; the projector
// (4*1536 + 1)*4096 + 4096^2 + 2*4096 + 3*4096*13696.
TEST(TowerTotals, Glm4v) {
  expect_parts("GLM-4.1V-9B", kFormula, {9'400'279'040, 682'246'656, 210'251'776, 10'292'777'472},
               R"({"model_type": "glm4v", "architectures": ["Glm4vForConditionalGeneration"],
         "attention_bias": true, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 13696, "num_attention_heads": 32, "num_hidden_layers": 40,
         "num_key_value_heads": 2, "partial_rotary_factor": 0.5, "tie_word_embeddings": false,
         "vision_config": {"attention_bias": false, "depth": 24, "hidden_act": "silu",
         "hidden_size": 1536, "image_size": 336, "intermediate_size": 13696, "num_heads": 12,
         "out_hidden_size": 4096, "patch_size": 14, "spatial_merge_size": 2,
         "temporal_patch_size": 2}, "vocab_size": 151552})");
}

// (588 + 1 + 4096)*1152 + 27*(4*(1152^2 + 1152) + 2*1152*4304 + 4304 + 1152 + 4*1152) + 2*1152; the
// projector 2*1152 + (4608 + 1)*4608 + (4608 + 1)*7168.
TEST(TowerTotals, KimiK25) {
  expect_parts("Kimi-K2.5", kFormula,
               {1'026'408'232'448, 416'866'032, 54'277'888, 1'026'879'376'368},
               R"({"model_type": "kimi_k25", "architectures": ["KimiK25ForConditionalGeneration"],
         "text_config": {"architectures": ["DeepseekV3ForCausalLM"], "first_k_dense_replace": 1,
         "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
         "model_type": "kimi_k2", "moe_intermediate_size": 2048, "moe_layer_freq": 1,
         "n_group": 1, "n_routed_experts": 384, "n_shared_experts": 1, "norm_topk_prob": true,
         "num_attention_heads": 64, "num_experts_per_tok": 8, "num_hidden_layers": 61,
         "num_key_value_heads": 64, "num_nextn_predict_layers": 0, "q_lora_rank": 1536,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "routed_scaling_factor": 2.827,
         "scoring_func": "sigmoid", "tie_word_embeddings": false, "topk_group": 1,
         "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 163840},
         "tie_word_embeddings": false, "use_unified_vision_chunk": true, "vision_config": {
         "init_pos_emb_height": 64, "init_pos_emb_time": 4, "init_pos_emb_width": 64,
         "merge_kernel_size": [2, 2], "merge_type": "sd2_tpool", "mm_hidden_size": 1152,
         "mm_projector_type": "patchmerger", "patch_size": 14,
         "pos_emb_type": "divided_fixed", "projector_hidden_act": "gelu",
         "text_hidden_size": 7168, "video_attn_type": "spatial_temporal",
         "vt_hidden_size": 1152, "vt_intermediate_size": 4304, "vt_num_attention_heads": 16,
         "vt_num_hidden_layers": 27}})");
}

// (588 + 1 + P)*1152 + L*(4*(1152^2 + 1152) + 2*1152*4304 + 4304 + 1152 + 4*1152) + 2*1152, with
// 70^2 rows and 27 layers, or 27^2 rows and 26 layers; the resampler 64*D + 1152*D + 4*(D + 1)*D +
// 6*D + D^2.
TEST(TowerTotals, MiniCpmV) {
  expect_parts("MiniCPM-V-2_6", kHub, {7'612'763'648, 417'792'240, 68'619'264, 8'099'175'152},
               R"({"model_type": "minicpmv", "version": 2.6, "architectures": ["MiniCPMV"],
         "batch_vision_input": true, "drop_vision_last_layer": false, "hidden_size": 3584,
         "image_size": 448, "intermediate_size": 18944, "max_window_layers": 28,
         "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
         "patch_size": 14, "query_num": 64, "slice_config": {"max_slice_nums": 9},
         "slice_mode": true, "tie_word_embeddings": false, "use_sliding_window": false,
         "vision_config": {"hidden_size": 1152, "image_size": 980, "intermediate_size": 4304,
         "model_type": "siglip", "num_attention_heads": 16, "num_hidden_layers": 27,
         "patch_size": 14}, "vocab_size": 151666})");
  expect_parts("MiniCPM-V-2", kFormula, {3'007'703'808, 397'747'744, 29'366'784, 3'434'818'336},
               R"({"model_type": "minicpmv", "architectures": ["MiniCPMV"],
         "attention_bias": false, "dim_model_base": 256, "drop_vision_last_layer": true,
         "hidden_size": 2304, "image_size": 448, "intermediate_size": 5760,
         "mm_use_im_start_end": true, "num_attention_heads": 36, "num_hidden_layers": 40,
         "num_key_value_heads": 36, "patch_size": 14, "query_num": 64, "scale_depth": 1.4,
         "scale_emb": 12, "slice_mode": true, "tie_word_embeddings": false,
         "vision_encoder": "vit_so400m_patch14_siglip_384.webli", "vocab_size": 122753})");
}

// Whisper's encoder of 128 mel bins: 3*128*1280 + 1280 + 3*1280^2 + 1280 + 1500*1280 + 32*(4*1280^2
// + 3*1280 + 2*1280*5120 + 5120 + 1280 + 4*1280); the projector 2*1280 + (1280 + 1)*4096.
TEST(TowerTotals, Qwen2Audio) {
  expect_parts("Qwen2-Audio-7B", kFormula, {7'754'878'976, 636'966'400, 5'249'536, 8'397'094'912},
               R"({"model_type": "qwen2_audio",
         "architectures": ["Qwen2AudioForConditionalGeneration"], "audio_config": {
         "activation_function": "gelu", "d_model": 1280, "encoder_attention_heads": 20,
         "encoder_ffn_dim": 5120, "encoder_layers": 32, "max_source_positions": 1500,
         "model_type": "qwen2_audio_encoder", "num_mel_bins": 128, "scale_embedding": false},
         "text_config": {"intermediate_size": 11008, "max_position_embeddings": 8192,
         "model_type": "qwen2", "sliding_window": 32768, "vocab_size": 156032},
         "vocab_size": 156032})");
}

// The thinker alone: Qwen2.5-7B, the tower of Qwen2.5-VL, and Whisper's without rows of positions,
// with two rows that mark a sound.
TEST(TowerTotals, Qwen25Omni) {
  const Model model = read(R"({"model_type": "qwen2_5_omni",
         "architectures": ["Qwen2_5OmniForConditionalGeneration"], "enable_audio_output": true,
         "talker_config": {"hidden_size": 896}, "thinker_config": {"audio_config": {
         "activation_function": "gelu", "d_model": 1280, "encoder_attention_heads": 20,
         "encoder_ffn_dim": 5120, "encoder_layers": 32, "max_source_positions": 1500,
         "model_type": "qwen2_5_omni_audio_encoder", "n_window": 100, "num_mel_bins": 128,
         "output_dim": 3584}, "model_type": "qwen2_5_omni_thinker",
         "position_id_per_seconds": 25, "text_config": {"hidden_size": 3584,
         "intermediate_size": 18944, "max_window_layers": 28,
         "model_type": "qwen2_5_omni_text", "num_attention_heads": 28,
         "num_hidden_layers": 28, "num_key_value_heads": 4, "use_sliding_window": false,
         "vocab_size": 152064}, "vision_config": {"depth": 32, "embed_dim": 1280,
         "fullatt_block_indexes": [7, 15, 23, 31], "hidden_act": "silu", "hidden_size": 1280,
         "in_channels": 3, "in_chans": 3, "intermediate_size": 3420,
         "model_type": "qwen2_5_omni_vision_encoder", "num_heads": 16,
         "out_hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2,
         "temporal_patch_size": 2, "window_size": 112}}, "token2wav_config": {}})");
  const Count vision = params_of_tower(*find_tower(model, "vision")).total;
  const Count audio = params_of_tower(*find_tower(model, "audio")).total;
  EXPECT_EQ(vision, Count(676'550'144));
  EXPECT_EQ(audio, Count(636'968'960 - 1500 * 1280 + 1281 * 3584 + 2 * 3584));
  EXPECT_EQ(params_of_model(model).total, Count(8'931'813'888)) << "total of a file without talker";
}

// ViT 85,798,656 with its pooler 768*769, GPT-2 124,439,808, and in each of its 12 layers
// 4*(768^2 + 768) + 2*768 to see the image.
TEST(TowerTotals, VisionEncoderDecoder) {
  const Model model = read(R"({"model_type": "vision-encoder-decoder",
         "architectures": ["VisionEncoderDecoderModel"], "decoder": {
         "add_cross_attention": true, "architectures": ["GPT2LMHeadModel"], "is_decoder": true,
         "model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_inner": null, "n_layer": 12,
         "n_positions": 1024, "tie_word_embeddings": true, "vocab_size": 50257}, "encoder": {
         "architectures": ["ViTModel"], "hidden_act": "gelu", "hidden_size": 768,
         "image_size": 224, "intermediate_size": 3072, "model_type": "vit",
         "num_attention_heads": 12, "num_channels": 3, "num_hidden_layers": 12,
         "patch_size": 16, "qkv_bias": true}, "is_encoder_decoder": true,
         "tie_word_embeddings": false})");
  const std::int64_t cross = std::int64_t{12} * (4 * (768 * 768 + 768) + 2 * 768);
  EXPECT_EQ(params_of_model(model).total, Count(85'798'656 + 768 * 769 + 124'439'808 + cross));
  EXPECT_EQ(params_of_model(model).total, Count(239'195'904));
  EXPECT_EQ(unused_params_of(model).total, Count(768 * 769));
}

}  // namespace
}  // namespace flopwise
