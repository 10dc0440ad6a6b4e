// What DeepSeek-V2 and those after it have in common: latent attention, many small routed experts
// beside shared ones, the first layers dense, layers that predict further tokens.
#pragma once

#include <vector>

#include "flopwise/model/families/family.h"

namespace flopwise {

Attention read_latent_attention(Config& config);
// indexer_types: whether each layer attends to what the one before chose; empty where it is absent.
std::vector<bool> read_shared_choices(Config& config, std::int64_t layers);
// Experts of moe_intermediate_size; routers as scoring_func, norm_topk_prob, routed_scaling_factor
// and topk_method say.
Moe read_deepseek_moe(Config& config, const Mlp& mlp);
// num_nextn_predict_layers, each like the last layer that attends; where none does, like the last
// one with the attention of `base`.
void read_mtp_layers(Config& config, const Stack& stack, const Layer& base);

}  // namespace flopwise
