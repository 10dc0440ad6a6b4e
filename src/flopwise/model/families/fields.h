// Reading the fields of a config.json: sizes, activations, heads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/model/families/family.h"

namespace flopwise {

std::string lower_case(std::string_view text);

// A whole number of 1 ... 2^40. When the field is absent or null: `absent`, noted among the model's
// assumptions; a UserError if that is 0.
std::int64_t read_size(Config& config, std::string_view field, std::int64_t absent = 0);

// The activation named by a field, `absent` where there is none. UserError listing the known names.
Activation read_activation(Config& config, std::string_view field, std::string_view absent);
// The same for a name at hand; `where` is the place in the message.
Activation activation_called(std::string_view name, const std::string& where);
std::optional<Activation> find_activation(std::string_view name);

// The names with one chosen of each pair such as "n_embed|hidden_size".
FieldNames names_in_use(Config& config);
// A text field that must say one of `known`, `absent` when it is absent.
std::string read_choice(Config& config, std::string_view field, std::string_view absent,
                        std::initializer_list<std::string_view> known);
// Whether a field names a constant factor other than 1, by which something is multiplied.
bool is_scaled_by(Config& config, std::string_view field);

// Which of `fields`, names of one quantity, the config uses; the first when it uses none. UserError
// when two of them say different things.
std::string_view spelling_of(Config& config, std::initializer_list<std::string_view> fields);

// UserError unless a list has as many entries as there are layers.
void require_one_a_layer(const Config& config, std::string_view field, std::int64_t layers,
                         std::size_t entries);

// A head as one of the family's classes has it.
struct HeadClass {
  std::string_view suffix;  // "ForCausalLM"
  HeadKind kind;
};
// The head of the class in `architectures`, the first of `known` when absent; its labels and
// whether it is tied too. UserError for another class.
Head read_head(Config& config, const std::vector<HeadClass>& known);
// What follows the class name in `architectures`: "ForCausalLM"; "" when absent.
std::string class_suffix(Config& config);

}  // namespace flopwise
