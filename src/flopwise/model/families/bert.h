// Parts of BERT that its relatives read like it.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

// Widths, vocabulary, learned positions and the embedding's norm.
void read_bert_sizes(Config& config);
Head read_bert_head(Config& config);
void read_bert_layers(Config& config);

}  // namespace flopwise
