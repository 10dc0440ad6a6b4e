#include "flopwise/model/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/graph/backward.h"
#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

StackAxes decoder_axes() {
  return {symbol_axis("B"), symbol_axis("T"), symbol_axis("S"), symbol_axis("R"), symbol_axis("D")};
}

// The encoder of an encoder-decoder attends from R positions to the same R positions.
StackAxes source_axes() {
  const Axis source = symbol_axis("R");
  return {
      symbol_axis("B"), source, {"R'", source.size},
        source, symbol_axis("D")
  };
}

std::int64_t layer_count(const Stack& stack) {
  std::int64_t count = 0;
  for (const LayerGroup& group : stack.groups) count += group.repeat;
  return count;
}

void add_layers(Program& program, const Stack& stack, const StackAxes& axes,
                const Workload& workload, const std::string& prefix) {
  for (const LayerGroup& group : stack.groups) {
    program.blocks.push_back(layer_block(group, axes, workload, prefix));
  }
}

// Where all layers of the model are alike their count prints as L.
void name_layer_count(Program& program) {
  const auto layers = std::count_if(program.blocks.begin(), program.blocks.end(),
                                    [](const Block& block) { return block.is_layer; });
  if (layers != 1) return;
  for (Block& block : program.blocks) {
    if (block.is_layer) block.repeat = Expr::symbol("L");
  }
}

// Each letter's first size becomes the program's; a block keeps those of its own that differ.
void gather_sizes(Program& program) {
  Sizes common;
  for (const Block& block : program.blocks) common.insert(block.sizes.begin(), block.sizes.end());
  for (Block& block : program.blocks) {
    std::erase_if(block.sizes,
                  [&](const auto& size) { return common.at(size.first) == size.second; });
  }
  program.sizes.merge(common);
}

void set_workload_sizes(Program& program, const Model& model, const Workload& workload) {
  const Stack& stack = model.decoder ? *model.decoder : *model.encoder;
  program.sizes["B"] = workload.batch;
  program.sizes["T"] = workload.seq_len;
  program.sizes["S"] = workload.context;
  if (workload.source != 0) program.sizes["R"] = workload.source;
  program.sizes["D"] = model.d_model;
  program.sizes["V"] = model.vocab;
  program.sizes["L"] = layer_count(stack);
}

void check_save_list(const Program& program, const RematPolicy& remat) {
  if (remat.kind != RematKind::kList) return;
  std::vector<std::string> known;
  for (const Block& block : program.blocks) {
    if (!block.is_layer) continue;
    for (std::string& name : savable_names(block.graph)) {
      if (!contains(known, name)) known.push_back(std::move(name));
    }
  }
  for (const std::string& name : remat.names) {
    if (contains(known, name)) continue;
    throw UserError(fmt::format("--remat save: no tensor {} in a layer, known: {}", quoted(name),
                                fmt::join(known, " ")));
  }
}

}  // namespace

namespace {

// Adapters in the layers; all else is frozen. They learn behind the stream of earlier layers, so
// every layer hands a gradient down.
void add_adapters(Program& program, const Lora& lora) {
  std::set<std::string> met;
  std::set<std::string> known;
  for (Block& block : program.blocks) {
    known.merge(block.is_layer ? adaptable_names(block.graph) : std::set<std::string>{});
    block.graph = block.is_layer ? with_adapters(block.graph, lora, met) : frozen(block.graph);
    if (block.is_layer) block.sizes["r"] = lora.rank;
  }
  for (const std::string& target : lora.targets) {
    if (met.count(target) > 0) continue;
    throw UserError(fmt::format("--lora targets: no matrix {} in a layer, known: all {}",
                                quoted(target), fmt::join(known, " ")));
  }
}

}  // namespace

Program build_program(const Model& model, const Workload& workload) {
  Program program;
  const bool encoder_only = model.architecture == Architecture::kEncoder;
  if (model.encoder && !encoder_only && encodes_source(workload)) {
    const StackAxes axes = source_axes();
    // A source is read once and keeps no cache of its own.
    Workload source = workload;
    if (source.mode == Mode::kPrefill) source.mode = Mode::kForward;
    program.blocks.push_back(embedding_block(model, *model.encoder, axes, "encoder.embed"));
    add_layers(program, *model.encoder, axes, source, "encoder.");
    program.blocks.push_back(encoder_output_block(*model.encoder, axes));
  }
  const Stack& stack = encoder_only ? *model.encoder : *model.decoder;
  const StackAxes axes = decoder_axes();
  const bool reads_tower = !model.encoder && has_source(model);
  if (reads_tower && encodes_source(workload)) program.blocks.push_back(tower_states_block(axes));
  program.blocks.push_back(embedding_block(model, stack, axes, "embed"));
  add_layers(program, stack, axes, workload, "");
  if (model.embedding.tiles) {
    program.blocks.insert(program.blocks.end() - 1, tiles_block(model.embedding, axes));
  }
  program.blocks.push_back(head_block(model, stack, axes, workload));
  if (workload.lora) add_adapters(program, *workload.lora);
  name_layer_count(program);
  gather_sizes(program);
  set_workload_sizes(program, model, workload);
  return program;
}

Program build_one_token(const Model& model, Mode mode) {
  Workload workload;
  workload.mode = mode;
  workload.seq_len = workload.context = 1;
  workload.source = has_source(model) ? 1 : 0;
  return build_program(model, workload);
}

Program build_mtp_program(const Model& model, const Workload& workload) {
  Program program;
  if (!model.mtp) return program;
  const StackAxes axes = decoder_axes();
  program.blocks.push_back(mtp_join_block(*model.mtp, axes));
  program.blocks.push_back(layer_block(*model.mtp, axes, workload, ""));
  program.blocks.push_back(mtp_norm_block(*model.mtp, axes));
  gather_sizes(program);
  set_workload_sizes(program, model, workload);
  return program;
}

std::int64_t positions_of_tower(const Model& tower) {
  constexpr std::int64_t kUsual = 1024;
  const std::int64_t positions = tower.context > 0 ? tower.context : kUsual;
  // As many as its projector makes whole positions of.
  const Head& head = tower.head;
  const std::int64_t merge = head.kind == HeadKind::kProjector ? head.projector.merge : 1;
  return std::max(positions - positions % merge, merge);
}

Program build_tower_program(const Model& tower, std::int64_t positions) {
  Workload whole;
  whole.mode = Mode::kForward;
  whole.seq_len = whole.context = positions;
  return build_program(tower, whole);
}

Program build_unused_program(const Model& model) {
  Program program;
  if (!model.unused) return program;
  const StackAxes axes = decoder_axes();
  Workload one;
  one.mode = Mode::kForward;
  one.seq_len = one.context = 1;
  const Unused& unused = *model.unused;
  Stack stack;
  stack.groups = unused.groups;
  stack.final_norm = unused.norm.has_value();
  stack.final_norm_kind = unused.norm.value_or(NormKind::kLayer);
  add_layers(program, stack, axes, one, "unused.");
  Model rest = model;
  rest.head = {};
  rest.head.kind = unused.pooler ? HeadKind::kPooler : HeadKind::kNone;
  program.blocks.push_back(head_block(rest, stack, axes, one));
  program.blocks.back().name = "unused.head";
  if (unused.rows > 0) {
    Block rows;
    rows.name = "unused.rows";
    rows.graph.add_tensor({
        "unused.rows.weight",
        {{"rows", unused.rows}, {"Do", model.head.projector.out}},
        Role::kParameter,
        Element::kWeight,
        Component::kOther
    });
    program.blocks.push_back(std::move(rows));
  }
  gather_sizes(program);
  program.sizes["B"] = program.sizes["T"] = program.sizes["S"] = 1;
  program.sizes["D"] = model.d_model;
  return program;
}

Program build_training_program(const Model& model, const Workload& workload,
                               const RematPolicy& remat) {
  Program program = build_program(model, workload);
  check_save_list(program, remat);
  for (Block& block : program.blocks) {
    block.graph = rematerialise(differentiate(block.graph), remat, block.is_layer);
  }
  return program;
}

}  // namespace flopwise
