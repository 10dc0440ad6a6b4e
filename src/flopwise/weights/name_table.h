// The vocabulary of stored names around modules: roots, leaves and how they are packed, what is no
// parameter. For names.cc, which says how a name is taken apart.
#pragma once

#include <string_view>

#include "flopwise/weights/names.h"

namespace flopwise {

// What stands before a container of layers or a module outside them, and which stack that is.
struct Root {
  std::string_view name;
  StackId stack = StackId::kMain;
  bool is_second = false;  // its layers are numbered from 0 behind those of another list
};
inline constexpr Root kRoots[] = {
    {""},
    {"model"},
    {"transformer"},
    {"gpt_neox"},
    {"backbone"},
    {"bert"},
    {"bert.encoder"},
    {"roberta"},
    {"roberta.encoder"},
    {"albert"},
    {"albert.encoder"},
    {"albert.encoder.albert_layer_groups.0"},
    {"encoder.albert_layer_groups.0"},
    {"deberta"},
    {"deberta.encoder"},
    {"distilbert"},
    {"distilbert.transformer"},
    {"decoder"},
    {"decoder.transformer"},
    {"dec"},
    {"model.decoder"},
    {"transformer.encoder"},
    {"language_model"},
    {"language_model.model"},
    {"model.language_model"},
    {"llm"},
    {"llm.model"},
    {"thinker"},
    {"thinker.model"},
    {"vit"},
    {"vit.encoder"},
    {"text_model"},
    {"text_model.encoder"},
    {"model.text_model"},

    // the encoder beside a decoder
    {"encoder", StackId::kEncoder},
    {"encoder.encoder", StackId::kEncoder},
    {"enc", StackId::kEncoder},
    {"model.encoder", StackId::kEncoder},

    // a tower of images, and what leads from a tower to the text model
    {"vision_model", StackId::kTower},
    {"vision_model.encoder", StackId::kTower},
    {"vision_model.model", StackId::kTower},
    {"vision_model.transformer", StackId::kTower},
    {"vision_model.global_transformer", StackId::kTower, true},
    {"model.vision_model", StackId::kTower},
    {"model.vision_model.encoder", StackId::kTower},
    {"model.vision_model.transformer", StackId::kTower},
    {"model.vision_model.global_transformer", StackId::kTower, true},
    {"visual", StackId::kTower},
    {"model.visual", StackId::kTower},
    {"thinker.visual", StackId::kTower},
    {"vpm", StackId::kTower},
    {"vpm.encoder", StackId::kTower},
    {"vision_tower", StackId::kTower},
    {"vision_tower.encoder", StackId::kTower},
    {"vision_tower.vision_model", StackId::kTower},
    {"vision_tower.vision_model.encoder", StackId::kTower},
    {"model.vision_tower", StackId::kTower},
    {"model.vision_tower.encoder", StackId::kTower},
    {"model.vision_tower.vision_model", StackId::kTower},
    {"model.vision_tower.vision_model.encoder", StackId::kTower},
    {"model.vision_tower.vision_tower.vision_model", StackId::kTower},
    {"model.vision_tower.vision_tower.vision_model.encoder", StackId::kTower},
    {"multi_modal_projector", StackId::kTower},
    {"model.multi_modal_projector", StackId::kTower},
    {"model.connector", StackId::kTower},

    // one of sound
    {"audio_tower", StackId::kAudio},
    {"thinker.audio_tower", StackId::kAudio},
};

// NAME.7 is layer 7.
inline constexpr std::string_view kLayerContainers[] = {
    "layers", "layer", "h", "blocks", "block", "blk", "albert_layers"};

// The leaves of a module. What a quantised weight is called and what accompanies it:
// stored_form.cc.
inline constexpr Leaf kLeaves[] = {
    {".weight", "weight"},
    {".bias", "bias"},
    {".gamma", "weight"},
    {".beta", "bias"},
    {".scale", "weight"},
    {"", "weight"},
    {"_bias", "bias"},
    {"_weight", "weight"},
    {".qweight", "weight"},
    {".weight_packed", "weight"},
    {"_blocks", "weight"},
    {"_scales", "weight", LeafKind::kCompanion},
    {".qzeros", "weight", LeafKind::kCompanion},
    {".scales", "weight", LeafKind::kCompanion},
    {".biases", "weight", LeafKind::kCompanion},
    {".g_idx", "weight", LeafKind::kCompanion},
    {".SCB", "weight", LeafKind::kCompanion},
    {".weight_format", "weight", LeafKind::kCompanion},
    {".weight.absmax", "weight", LeafKind::kCompanion},
    {".weight.quant_map", "weight", LeafKind::kCompanion},
    {".weight.nested_absmax", "weight", LeafKind::kCompanion},
    {".weight.nested_quant_map", "weight", LeafKind::kCompanion},
    {".weight.quant_state.bitsandbytes__nf4", "weight", LeafKind::kCompanion},
    {".weight.quant_state.bitsandbytes__fp4", "weight", LeafKind::kCompanion},
    {".weight_scale", "weight", LeafKind::kCompanion},
    {".weight_scale_inv", "weight", LeafKind::kCompanion},
    {".weight_scale_2", "weight", LeafKind::kCompanion},
    {".weight_global_scale", "weight", LeafKind::kCompanion},
    {".weight_zero_point", "weight", LeafKind::kCompanion},
    {".weight_g_idx", "weight", LeafKind::kCompanion},
    {".weight_shape", "weight", LeafKind::kCompanion},
    {".input_scale", "weight", LeafKind::kCompanion},
    {".input_global_scale", "weight", LeafKind::kCompanion},
    {".input_zero_point", "weight", LeafKind::kCompanion},
    {".output_scale", "weight", LeafKind::kCompanion},
    {".k_scale", "weight", LeafKind::kCompanion},
    {".v_scale", "weight", LeafKind::kCompanion},
};

// Ends of names that are no parameters of any model: tables that the code computes and saves.
struct BufferRule {
  std::string_view end;
  std::string_view comment;
};
inline constexpr BufferRule kBuffers[] = {
    {"rotary_emb.inv_freq", "rotary frequencies"},
    {"rotary_pos_emb.inv_freq", "rotary frequencies"},
    {"rope_freqs.weight", "rotary frequency factors"},
    {"rope_factors_long.weight", "rotary frequency factors"},
    {"rope_factors_short.weight", "rotary frequency factors"},
    {"rotary_emb.cos_cached", "rotary cosines"},
    {"rotary_emb.sin_cached", "rotary sines"},
    {"attn.bias", "causal mask"},
    {"attn.causal_mask", "causal mask"},
    {"attn.masked_bias", "value of masked scores"},
    {"attention.bias", "causal mask"},
    {"attention.masked_bias", "value of masked scores"},
    {"crossattention.bias", "causal mask"},
    {"crossattention.masked_bias", "value of masked scores"},
    {"layer_scalar", "factor of a layer's output"},
    {"resampler.pos_embed", "fixed rows of positions"},
    {"embeddings.position_ids", "position numbers"},
    {"embeddings.token_type_ids", "token type numbers"},
    {"final_logits_bias", "bias that stays zero"},
};

// Models beside the one that understands, which are not counted with it.
struct OtherModel {
  std::string_view root;
  std::string_view comment;
};
inline constexpr OtherModel kOtherModels[] = {
    {"talker", "another model: it speaks"},
    {"token2wav", "another model: it makes sound of tokens"},
};

// Segments that only the layers of multi-token prediction have in their names.
inline constexpr std::string_view kMtpRoots[] = {"mtp", "mtp_layers"};
inline constexpr std::string_view kMtpModules[] = {
    "eh_proj", "enorm", "hnorm", "shared_head", "embed_tokens", "nextn", "hidden_layernorm"};

}  // namespace flopwise
